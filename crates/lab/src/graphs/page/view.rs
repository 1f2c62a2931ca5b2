//! The table, asked for what the page needs. A run that is void gives no numbers; in tables it is there, and marked.

use crate::graphs::cells::{CONTROL, Shape, ways};
use crate::{Row, Table, state};

/// The table, asked for what the page needs.
pub(super) struct View<'a> {
    pub(super) table: &'a Table,
    /// How many cores the machine has.
    pub(super) cores: usize,
}

/// Which runs.
#[derive(Clone, Copy)]
pub(super) struct Which<'a> {
    pub(super) shape: Shape,
    pub(super) inner: &'a str,
    pub(super) threads: usize,
    pub(super) block: u32,
    pub(super) load: &'a str,
    pub(super) fuse: &'a str,
    pub(super) pace: &'a str,
}

impl<'a> Which<'a> {
    /// A cell of the report: at rest, at the beat, not fused.
    pub(super) fn own(shape: Shape, inner: &'a str, threads: usize, block: u32) -> Self {
        Self {
            shape,
            inner,
            threads,
            block,
            load: "rest",
            fuse: "off",
            pace: "beat",
        }
    }
}

impl<'a> View<'a> {
    /// A run, be it void.
    pub(super) fn any(&self, which: Which<'_>, way: &str) -> Option<Row<'a>> {
        let alone = way == "sequential" || which.shape == CONTROL;
        let threads = if alone { 1 } else { which.threads };
        self.table.find(&[
            ("shape", which.shape.name),
            ("nodes", &which.shape.nodes.to_string()),
            ("inner", which.inner),
            ("threads", &threads.to_string()),
            ("block", &which.block.to_string()),
            ("load", which.load),
            ("scheduler", way),
            ("fuse", which.fuse),
            ("pace", which.pace),
        ])
    }

    /// A run that says something.
    pub(super) fn run(&self, which: Which<'_>, way: &str) -> Option<Row<'a>> {
        let run = self.any(which, way);
        run.filter(|run| state::void(run, self.cores).is_none())
    }

    pub(super) fn number(&self, which: Which<'_>, way: &str, column: &str) -> Option<f64> {
        self.run(which, way)?.number(column)
    }

    /// Mean and worst, in µs.
    pub(super) fn span(&self, which: Which<'_>, way: &str) -> Option<(f64, f64)> {
        let run = self.run(which, way)?;
        Some((run.number("mean_us")?, run.number("worst_us")?))
    }

    /// How many times as fast as the sequential run beside it.
    pub(super) fn gain(&self, which: Which<'_>, way: &str) -> Option<f64> {
        let bare = Which {
            fuse: "off",
            ..which
        };
        let alone = self.number(bare, "sequential", "mean_us")?;
        Some(alone / self.number(which, way, "mean_us")?)
    }

    /// A row for each way of playing, fused and not, that has anything in its cells.
    pub(super) fn rows(&self, cells: impl Fn(&str, &str) -> Vec<String>) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for way in ways() {
            for fuse in ["off", "on"] {
                let cells = cells(way.name(), fuse);
                if cells.iter().any(|cell| !cell.is_empty()) {
                    rows.push(
                        std::iter::once(named(way.name(), fuse))
                            .chain(cells)
                            .collect(),
                    );
                }
            }
        }
        rows
    }

    /// A run in few words, nothing where there is none: mean / worst in µs, missed cycles where there were any.
    pub(super) fn told(&self, which: Which<'_>, way: &str) -> String {
        let Some(run) = self.any(which, way) else {
            return String::new();
        };
        let (mean, worst) = (run.text("mean_us"), run.text("worst_us"));
        let mut told = format!("{mean} / {worst}");
        let missed = run.text("missed");
        if missed != "0" {
            told += &format!(", {missed} of {} missed", run.text("cycles"));
        }
        if state::void(&run, self.cores).is_some() {
            told += " (void)";
        }
        told
    }

    /// Every size of a shape that was played.
    pub(super) fn sizes(&self, shape: &str) -> Vec<usize> {
        let rows = self.table.rows().filter(|row| row.text("shape") == shape);
        let mut sizes: Vec<usize> = rows
            .filter_map(|row| row.text("nodes").parse().ok())
            .collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

/// A way of playing as rows are called.
pub(super) fn named(way: &str, fuse: &str) -> String {
    match fuse {
        "on" => format!("{way}, fused"),
        _ => way.to_owned(),
    }
}

/// The middle one of several numbers.
pub(super) fn median(mut all: Vec<f64>) -> Option<f64> {
    all.retain(|x| x.is_finite());
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_of_what_is_a_number() {
        assert_eq!(median(vec![3.0, f64::NAN, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(Vec::new()), None);
    }
}
