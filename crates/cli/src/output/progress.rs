//! Progress line: on a terminal only.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Interval at which the line is redrawn.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);
/// Width of the bar, in characters.
const BAR_WIDTH: usize = 30;

/// The progress line.
pub(crate) struct ProgressLine {
    is_shown: bool,
    begun: Instant,
    last: Option<Instant>,
    /// Frames a second, and the total if it is known.
    rate: f64,
    total: Option<u64>,
}

impl ProgressLine {
    /// Makes a line; nothing is shown yet.
    pub(crate) fn new(rate_hz: u32, total: Option<u64>) -> Self {
        Self {
            is_shown: std::io::stderr().is_terminal(),
            begun: Instant::now(),
            last: None,
            rate: f64::from(rate_hz),
            total,
        }
    }

    /// A line for work that is not counted in frames.
    pub(crate) fn without_total() -> Self {
        Self::new(1, None)
    }

    /// Shows the done share of the work, 0 to 1.
    pub(crate) fn show_fraction(&mut self, share: f64) {
        if self.is_due() {
            self.draw(&format!("{} {:.0} %", bar(share), 100.0 * share));
        }
    }

    /// Shows the number of done frames.
    pub(crate) fn show(&mut self, frames: u64) {
        if self.is_due() {
            let line = line(frames, self.total, self.rate, self.begun.elapsed());
            self.draw(&line);
        }
    }

    fn is_due(&self) -> bool {
        self.is_shown
            && self
                .last
                .is_none_or(|last| last.elapsed() >= REDRAW_INTERVAL)
    }

    fn draw(&mut self, line: &str) {
        self.last = Some(Instant::now());
        let _ = write!(std::io::stderr().lock(), "\r\x1b[K{line}");
    }

    /// Clears the line.
    pub(crate) fn clear(&mut self) {
        if self.last.take().is_some() {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.clear();
    }
}

fn bar(share: f64) -> String {
    let full = (share.clamp(0.0, 1.0) * BAR_WIDTH as f64) as usize;
    format!("{}{}", "█".repeat(full), "░".repeat(BAR_WIDTH - full))
}

fn line(frames: u64, total: Option<u64>, rate: f64, took: Duration) -> String {
    let seconds = frames as f64 / rate;
    let speed = seconds / took.as_secs_f64().max(1e-3);
    let Some(total) = total.filter(|total| *total > 0) else {
        return format!("{seconds:.1} s");
    };
    let bar = bar(frames as f64 / total as f64);
    let all = total as f64 / rate;
    format!("{bar} {seconds:.1} of {all:.1} s, {speed:.1} times real time")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_shows_the_done_part_and_the_total() {
        let half = line(24_000, Some(48_000), 48_000.0, Duration::from_millis(250));
        assert!(half.starts_with(&"█".repeat(15)) && half.contains("░"));
        assert!(half.ends_with("0.5 of 1.0 s, 2.0 times real time"));
        assert_eq!(line(24_000, None, 48_000.0, Duration::ZERO), "0.5 s");
        assert!(!line(9, Some(3), 48_000.0, Duration::ZERO).contains('░'));
    }
}
