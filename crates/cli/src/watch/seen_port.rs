//! A port that is looked at: its waveform and its spectrum, with `--see`.

use super::screen::LABEL_WIDTH;
use super::styled_line::{Color, StyledLine};
use divisi::control::{BandLevel, MeasuredPort, TapHost};
use divisi::engine::Engine;

/// Lines of a waveform. A character of Braille has four rows and two columns of dots.
const WAVE_LINES: usize = 4;
/// Most columns of a waveform.
const MAX_COLUMNS: usize = 96;
/// Level at the foot of a bar, in dB.
const MIN_DB: f64 = -72.0;
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The dots of a character of Braille, by column and row.
const DOTS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// An output port, as `--see` names it.
pub(crate) struct SeenPort(MeasuredPort);

impl SeenPort {
    pub(crate) fn new(name: String, rate_hz: u32) -> Self {
        Self(MeasuredPort::new(name, f64::from(rate_hz)))
    }

    /// Takes what has come. Returns false if there is no such port: it may have gone by an edit.
    pub(super) fn listen(&mut self, engine: &mut Engine, cells: TapHost<'_>) -> bool {
        self.0.measure(engine, cells)
    }

    /// The waveform of the first channel, and the spectrum.
    pub(super) fn lines(&mut self, columns: usize) -> Vec<StyledLine> {
        let name = self.0.name().to_owned();
        let Some(meter) = self.0.meter() else {
            return Vec::new();
        };
        let wave = meter.waves().swap_remove(0);
        let bands = meter.bands();
        let room = columns.saturating_sub(LABEL_WIDTH).min(MAX_COLUMNS);
        let scale = peak(&wave);
        let labels = [name, format!("±{scale:.3}")];
        let drawn = wave_lines(&wave, scale, room);
        let mut lines = Vec::new();
        for (row, drawn) in drawn.into_iter().enumerate() {
            let label = labels.get(row).map_or("", String::as_str);
            lines.push(labelled(label, &drawn));
        }
        lines.push(labelled("25 Hz-20k", &spectrum_line(&bands)));
        lines
    }

    /// The peak of the first channel and the loudest band, in words.
    pub(super) fn words(&mut self) -> Option<String> {
        let name = self.0.name().to_owned();
        let meter = self.0.meter()?;
        let peak_db = 20.0 * f64::from(peak(&meter.waves()[0])).log10();
        let loudest = meter
            .bands()
            .into_iter()
            .filter_map(|band| Some((band.hz, band.db?)));
        Some(match loudest.max_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((hz, _)) => format!("{name} {peak_db:.1} dB, most around {hz:.0} Hz"),
            None => format!("{name} silent"),
        })
    }
}

fn labelled(label: &str, text: &str) -> StyledLine {
    let mut line = StyledLine::new(Color::Plain, label);
    line.clip(LABEL_WIDTH - 1);
    let pad = LABEL_WIDTH - line.width();
    line.push(Color::Plain, &" ".repeat(pad));
    line.push(Color::Good, text);
    line
}

fn peak(wave: &[f32]) -> f32 {
    wave.iter().fold(0.0, |peak, x| peak.max(x.abs()))
}

/// The waveform in dots, from `scale` at the top to `-scale` at the bottom.
fn wave_lines(wave: &[f32], scale: f32, columns: usize) -> Vec<String> {
    let (width, height) = (2 * columns, 4 * WAVE_LINES);
    let mut cells = vec![vec![0u32; columns]; WAVE_LINES];
    let row = |x: f32| {
        let share = if scale > 0.0 { x / scale } else { 0.0 };
        let row = (0.5 - 0.5 * share) * (height - 1) as f32;
        (row.round() as usize).min(height - 1)
    };
    for dot in 0..width {
        let first = dot * wave.len() / width;
        let end = ((dot + 1) * wave.len() / width).max(first + 1);
        // All rows through which it goes here, and to the next dot.
        let part = wave[first.min(wave.len())..(end + 1).min(wave.len())].iter();
        let rows = part.map(|x| row(*x));
        let (Some(low), Some(high)) = (rows.clone().min(), rows.max()) else {
            continue;
        };
        for row in low..=high {
            cells[row / 4][dot / 2] |= DOTS[dot % 2][row % 4];
        }
    }
    let character = |dots: u32| char::from_u32(0x2800 + dots).unwrap_or(' ');
    let lines = cells.into_iter();
    lines
        .map(|line| line.into_iter().map(character).collect())
        .collect()
}

/// A bar for each band, from -72 dB to full scale.
fn spectrum_line(bands: &[BandLevel]) -> String {
    let bar = |band: &BandLevel| {
        let share = band
            .db
            .map_or(0.0, |db| (1.0 - db / MIN_DB).clamp(0.0, 1.0));
        BARS[(share * (BARS.len() - 1) as f64).round() as usize]
    };
    bands.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_is_drawn_in_dots() {
        let saw: Vec<f32> = (0..64).map(|i| i as f32 / 31.5 - 1.0).collect();
        let lines = wave_lines(&saw, 1.0, 4);
        assert_eq!(lines, ["⠀⠀⠀⡼", "⠀⢀⡞⠁", "⢀⡞⠀⠀", "⡞⠀⠀⠀"]);
        let silent = wave_lines(&[0.0; 64], 0.0, 3);
        assert_eq!(silent.iter().filter(|line| **line != "⠀⠀⠀").count(), 1);
        // More columns than frames.
        assert_eq!(wave_lines(&[1.0, -1.0], 1.0, 8).len(), WAVE_LINES);
        assert!(wave_lines(&[], 0.0, 0).iter().all(String::is_empty));
    }

    #[test]
    fn a_spectrum_is_a_row_of_bars() {
        let band = |db| BandLevel { hz: 100.0, db };
        let bands = [None, Some(-72.0), Some(-36.0), Some(0.0), Some(6.0)].map(band);
        assert_eq!(spectrum_line(&bands), "  ▄██");
    }
}
