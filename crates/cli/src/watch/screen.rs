//! Content of the live view: lines made from `LiveStats`, for any size of terminal.

use super::meters::Meters;
use super::styled_line::{Color, StyledLine};
use divisi::report::{LiveStats, WorkerLoad};
use divisi::units::Nanos;

/// Data for one redraw.
pub(crate) struct ScreenInput<'a> {
    /// Title: the session.
    pub(crate) title: &'a str,
    /// Description: scheduler, workers, driver.
    pub(crate) description: &'a str,
    /// Time played.
    pub(crate) seconds: f64,
    /// Number of worker threads.
    pub(crate) workers: usize,
    pub(crate) now: &'a LiveStats,
    /// Stats of about a second ago, for rates.
    pub(crate) before: &'a LiveStats,
    /// Notes to the user, oldest first.
    pub(crate) notes: &'a [String],
}

/// Width of the label before a bar, in characters.
pub(super) const LABEL_WIDTH: usize = 10;
/// Width of the percentage after a bar.
const PERCENT_WIDTH: usize = 7;
/// Narrowest bar that is drawn.
const MIN_BAR_WIDTH: usize = 8;
/// Loads above which the colour changes, as a share of the period.
const WARN_LOAD: f64 = 0.7;
const BAD_LOAD: f64 = 0.9;

/// Lays the view out in `columns` x `rows` characters. No line is wider, and there are no more lines.
pub(crate) fn screen_lines(view: &ScreenInput<'_>, columns: usize, rows: usize) -> Vec<StyledLine> {
    let mut lines = vec![head(view, columns)];
    lines.push(StyledLine::new(Color::Faint, view.description));
    lines.push(StyledLine::default());
    lines.extend(cycle(view, columns));
    // The lines below matter more than the last workers.
    lines.extend(workers(view, columns, rows.saturating_sub(lines.len() + 4)));
    lines.extend(counts(view, columns));
    lines.push(StyledLine::new(Color::Plain, &rates(view)));
    lines.extend(late(view, columns));
    let notes = view.notes.iter().rev().take(3).rev();
    lines.extend(notes.map(|note| StyledLine::new(Color::Bad, note)));
    let meters = Meters::of(&view.now.gauges);
    lines.extend(meters.lines(columns));
    lines.extend(gauges(&meters, columns));
    if lines.len() > rows {
        lines.truncate(rows.saturating_sub(1));
        lines.push(StyledLine::new(Color::Faint, "…"));
    }
    lines.truncate(rows);
    lines.iter_mut().for_each(|line| line.clip(columns));
    lines
}

/// The view in one line, where there is no terminal.
pub(crate) fn summary_line(view: &ScreenInput<'_>) -> String {
    let LiveStats {
        missed,
        late,
        abandoned,
        faults,
        recent,
        period_ns,
        ..
    } = view.now;
    let [p50, p99, max, period] = [recent.p50, recent.p99, recent.max, *period_ns].map(Nanos);
    let loads = loads(view).into_iter().map(percent);
    let loads: Vec<String> = loads.collect();
    format!(
        "{:.0} s: cycle p50 {p50}, p99 {p99}, max {max} of {period}; workers {}; \
         missed {missed}, late {late}, abandoned {abandoned}, faults {faults}; {}",
        view.seconds,
        loads.join(" "),
        rates(view)
    )
}

fn head(view: &ScreenInput<'_>, columns: usize) -> StyledLine {
    let clock = format!("{:.1} s", view.seconds);
    let mut line = StyledLine::new(Color::Bold, view.title);
    let room = columns.saturating_sub(clock.len() + 1);
    line.clip(room);
    line.push(
        Color::Plain,
        &" ".repeat(columns.saturating_sub(line.width() + clock.len())),
    );
    line.push(Color::Plain, &clock);
    line
}

/// Time of the last cycles; a full bar is the deadline.
fn cycle(view: &ScreenInput<'_>, columns: usize) -> Vec<StyledLine> {
    let recent = view.now.recent;
    let period = view.now.period_ns.max(1) as f64;
    let [p50, p99, max] = [recent.p50, recent.p99, recent.max].map(|ns| ns as f64 / period);
    let mut line = StyledLine::new(Color::Plain, &format!("{:LABEL_WIDTH$}", "cycle"));
    let fill = |at: f64| match at {
        at if at < p50 => '█',
        at if at < p99 => '▓',
        at if at < max => '░',
        _ => '·',
    };
    if let Some(width) = bar_width(columns) {
        let cells = (0..width).map(|i| fill((i as f64 + 0.5) / width as f64));
        line.push(color_of_load(max), &cells.collect::<String>());
    }
    line.push(
        color_of_load(max),
        &format!("{:>PERCENT_WIDTH$}", percent(max)),
    );
    let times = [recent.p50, recent.p99, recent.max, view.now.period_ns].map(Nanos);
    let [p50, p99, max, period] = times;
    let longest = Nanos(view.now.max_ns);
    let below = format!("p50 {p50}, p99 {p99}, max {max} of {period}; ever {longest}");
    let indent = if columns < 60 { 0 } else { LABEL_WIDTH };
    let below = format!("{}{below}", " ".repeat(indent));
    vec![line, StyledLine::new(Color::Faint, &below)]
}

/// Load of each worker in at most `max` lines. Workers that do not fit share a line.
fn workers(view: &ScreenInput<'_>, columns: usize, max: usize) -> Vec<StyledLine> {
    let loads = loads(view);
    let shown = match loads.len() <= max.max(1) {
        true => loads.len(),
        false => max.saturating_sub(1),
    };
    let mut lines: Vec<StyledLine> = loads[..shown]
        .iter()
        .enumerate()
        .map(|(worker, load)| {
            let mut line = StyledLine::new(Color::Plain, &format!("worker {worker:<3}"));
            if let Some(width) = bar_width(columns) {
                line.push(color_of_load(*load), &bar(*load, width));
            }
            line.push(
                color_of_load(*load),
                &format!("{:>PERCENT_WIDTH$}", percent(*load)),
            );
            line
        })
        .collect();
    let rest = &loads[shown..];
    if !rest.is_empty() {
        let mean = rest.iter().sum::<f64>() / rest.len() as f64;
        let max = rest.iter().copied().fold(0.0, f64::max);
        let (count, mean, max) = (rest.len(), percent(mean), percent(max));
        let message = format!("{count} more workers: {mean} on average, {max} at most");
        lines.push(StyledLine::new(Color::Plain, &message));
    }
    lines
}

/// Load of each worker in the last second, as a share of the period.
fn loads(view: &ScreenInput<'_>) -> Vec<f64> {
    let (now, before) = (&view.now.load, &view.before.load);
    let cycles = now.cycles.saturating_sub(before.cycles).max(1);
    let time = (cycles * view.now.period_ns.max(1)) as f64;
    let busy = |load: &WorkerLoad, worker: usize| load.busy.get(worker).map_or(0, |t| t.0);
    (0..view.workers.max(now.busy.len()))
        .map(|worker| busy(now, worker).saturating_sub(busy(before, worker)) as f64 / time)
        .collect()
}

/// Counts of errors so far.
fn counts(view: &ScreenInput<'_>, columns: usize) -> Vec<StyledLine> {
    let now = view.now;
    let counts = [
        ("missed", now.missed),
        ("late", now.late),
        ("abandoned", now.abandoned),
        ("faults", now.faults),
        ("muted", now.muted),
        ("xruns", now.xruns),
    ];
    let words = counts.map(|(what, count)| {
        let color = if count > 0 { Color::Bad } else { Color::Plain };
        (color, format!("{what} {count}"))
    });
    wrap("", words, columns)
}

/// Wakes and steals per cycle, in the last second.
fn rates(view: &ScreenInput<'_>) -> String {
    let (now, before) = (view.now, view.before);
    let cycles = now.cycles.saturating_sub(before.cycles).max(1) as f64;
    let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / cycles;
    let acquisitions = rate(now.acquisitions, before.acquisitions);
    let wakes = rate(now.wakes, before.wakes);
    format!("{acquisitions:.1} acquisitions and {wakes:.1} wakes a cycle")
}

fn late(view: &ScreenInput<'_>, columns: usize) -> Vec<StyledLine> {
    let late = view.now.misses_by_node.iter();
    let words = late.map(|(node, times)| (Color::Bad, format!("{node} {times}")));
    let mut lines = wrap("late nodes: ", words, columns);
    lines.truncate(2);
    lines
}

fn gauges(meters: &Meters<'_>, columns: usize) -> Vec<StyledLine> {
    let words =
        (meters.others.iter()).map(|(name, value)| (Color::Plain, format!("{name} {value:.3}")));
    wrap("", words, columns)
}

/// Wraps words into as many lines as needed; no line for no words.
fn wrap(
    label: &str,
    words: impl IntoIterator<Item = (Color, String)>,
    columns: usize,
) -> Vec<StyledLine> {
    let mut lines: Vec<StyledLine> = Vec::new();
    for (color, word) in words {
        let width = word.chars().count();
        match lines.last_mut() {
            Some(line) if line.width() + 3 + width <= columns => line.push(Color::Plain, "   "),
            Some(_) => lines.push(StyledLine::default()),
            None => lines.push(StyledLine::new(Color::Plain, label)),
        }
        if let Some(line) = lines.last_mut() {
            line.push(color, &word);
        }
    }
    lines
}

/// Width of bars; `None` if there is no room.
fn bar_width(columns: usize) -> Option<usize> {
    let width = columns.checked_sub(LABEL_WIDTH + PERCENT_WIDTH)?;
    (width >= MIN_BAR_WIDTH).then_some(width)
}

/// A bar, exact to an eighth of a cell.
pub(super) fn bar(share: f64, width: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    let drawn = eighths / 8 + usize::from(!part.is_empty());
    format!(
        "{}{part}{}",
        "█".repeat(eighths / 8),
        "·".repeat(width - drawn)
    )
}

fn color_of_load(share: f64) -> Color {
    match share {
        share if share >= BAD_LOAD => Color::Bad,
        share if share >= WARN_LOAD => Color::Warn,
        _ => Color::Good,
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

#[cfg(test)]
mod tests;
