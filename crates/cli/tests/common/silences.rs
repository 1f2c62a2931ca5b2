//! Prints for how long failures have silenced a cell, while a long test runs and at its end: one that is stopped has printed some.

/// Failures between two lines.
const EVERY: usize = 200;

/// Prints the figures of all silences in milliseconds, if another [`EVERY`] have come since there were `before`.
pub(crate) fn report_on_the_way(what: &str, before: usize, all: &[f64]) {
    if all.len() / EVERY > before / EVERY {
        report(what, all);
    }
}

/// Prints the figures of all silences in milliseconds.
pub(crate) fn report(what: &str, all: &[f64]) {
    println!("{}", figures(what, all));
}

fn figures(what: &str, all: &[f64]) -> String {
    let mut sorted = all.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1) as f64;
    let at = |share: f64| sorted.get((last * share) as usize).copied().unwrap_or(0.0);
    format!(
        "{} x {what}: silent for p50 {:.1} ms, p99 {:.1} ms, at most {:.1} ms",
        sorted.len(),
        at(0.5),
        at(0.99),
        at(1.0)
    )
}
