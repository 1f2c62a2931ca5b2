//! Level meters of the live view: in dB of full scale, with peak hold and clips.

use super::screen::{LABEL_WIDTH, bar};
use super::styled_line::{Color, StyledLine};
use std::collections::BTreeMap;

/// Level at the left end of a bar, in dB.
const MIN_DB: f64 = -60.0;
/// Levels above which the colour changes, in dB.
const WARN_DB: f64 = -6.0;
/// Width of the figures after a bar, and of the narrowest bar.
const FIGURES_WIDTH: usize = 32;
const MIN_BAR_WIDTH: usize = 8;

/// Gauges of a view: those of level meters together, and all others.
pub(super) struct Meters<'a> {
    levels: Vec<Level<'a>>,
    /// Gauges that belong to no meter, by name.
    pub(super) others: Vec<(&'a str, f32)>,
}

/// One channel of a meter; levels are factors of full scale.
struct Level<'a> {
    /// Node and number of the channel.
    node: &'a str,
    channel: &'a str,
    peak: f32,
    rms: f32,
    hold: f32,
    clips: f32,
}

impl<'a> Meters<'a> {
    /// Sorts gauges, which are called `NODE.NAME`; a meter has `peak`, `rms`, `hold` and `clips`, with the channel's number.
    pub(super) fn of(gauges: &'a BTreeMap<String, f32>) -> Self {
        let mut meters = Self {
            levels: Vec::new(),
            others: Vec::new(),
        };
        for (name, value) in gauges {
            let (node, gauge) = name.rsplit_once('.').unwrap_or(("", name));
            let stem = gauge.trim_end_matches(|c: char| c.is_ascii_digit());
            let channel = &gauge[stem.len()..];
            let of = |stem: &str| gauges.get(&format!("{node}.{stem}{channel}")).copied();
            match (stem, of("peak"), of("rms"), of("hold"), of("clips")) {
                ("peak", Some(peak), Some(rms), Some(hold), Some(clips)) => {
                    meters.levels.push(Level {
                        node,
                        channel,
                        peak,
                        rms,
                        hold,
                        clips,
                    });
                }
                ("rms" | "hold" | "clips", Some(_), Some(_), Some(_), Some(_)) => {}
                _ => meters.others.push((name, *value)),
            }
        }
        meters
    }

    /// A line for each channel.
    pub(super) fn lines(&self, columns: usize) -> Vec<StyledLine> {
        self.levels
            .iter()
            .map(|level| level.line(columns))
            .collect()
    }
}

impl Level<'_> {
    fn line(&self, columns: usize) -> StyledLine {
        let mut label = StyledLine::new(
            Color::Plain,
            &match self.channel {
                "" => self.node.to_owned(),
                channel => format!("{} {channel}", self.node),
            },
        );
        label.clip(LABEL_WIDTH - 1);
        let pad = LABEL_WIDTH - label.width();
        label.push(Color::Plain, &" ".repeat(pad));
        let color = match decibels(self.hold) {
            _ if self.clips > 0.0 => Color::Bad,
            db if db >= WARN_DB => Color::Warn,
            _ => Color::Good,
        };
        let room = columns.saturating_sub(LABEL_WIDTH + FIGURES_WIDTH);
        if room >= MIN_BAR_WIDTH {
            label.push(color, &self.bar(room));
        }
        let (rms, hold) = (figure(self.rms), figure(self.hold));
        label.push(color, &format!(" {rms} dB, peak {hold}"));
        if self.clips > 0.0 {
            label.push(Color::Bad, &format!(" CLIP {}", self.clips));
        }
        label
    }

    /// The peak as a bar, and the hold as a stroke on it.
    fn bar(&self, width: usize) -> String {
        let mut cells: Vec<char> = bar(share(self.peak), width).chars().collect();
        let hold = (share(self.hold) * width as f64) as usize;
        if self.hold > 0.0 && decibels(self.hold) > MIN_DB {
            cells[hold.min(width - 1)] = '│';
        }
        cells.into_iter().collect()
    }
}

/// Level in dB of full scale.
fn decibels(level: f32) -> f64 {
    20.0 * f64::from(level).log10()
}

/// Position of a level on a bar, 0 to 1.
fn share(level: f32) -> f64 {
    (1.0 - decibels(level) / MIN_DB).clamp(0.0, 1.0)
}

/// A level in dB, six characters wide.
fn figure(level: f32) -> String {
    match decibels(level) {
        db if db > -100.0 => format!("{db:>6.1}"),
        _ => format!("{:>6}", "-∞"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(gauges: &[(&str, f32)], columns: usize) -> Vec<String> {
        let gauges: BTreeMap<String, f32> =
            gauges.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect();
        let meters = Meters::of(&gauges);
        let lines = meters.lines(columns);
        lines.iter().map(StyledLine::to_plain).collect()
    }

    #[test]
    fn a_meter_shows_its_level_the_held_peak_and_clips() {
        let gauges = [
            ("master.peak1", 0.1),
            ("master.rms1", 0.05),
            ("master.hold1", 1.5),
            ("master.clips1", 12.0),
            ("master.peak2", 0.0),
            ("master.rms2", 0.0),
            ("master.hold2", 0.0),
            ("master.clips2", 0.0),
        ];
        assert_eq!(
            lines(&gauges, 62),
            [
                "master 1  █████████████▍·····│  -26.0 dB, peak    3.5 CLIP 12",
                "master 2  ····················     -∞ dB, peak     -∞",
            ]
        );
        assert_eq!(lines(&gauges, 20)[1], "master 2       -∞ dB, peak     -∞");
    }

    #[test]
    fn other_gauges_are_no_meters() {
        let gauges: BTreeMap<String, f32> = [("rec.lost", 1.0), ("x.peak", 0.5)]
            .map(|(name, value)| (name.to_owned(), value))
            .into();
        let meters = Meters::of(&gauges);
        assert!(meters.lines(80).is_empty());
        assert_eq!(meters.others, [("rec.lost", 1.0), ("x.peak", 0.5)]);
    }
}
