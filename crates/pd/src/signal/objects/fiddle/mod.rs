//! `fiddle~`: up to three pitches of a signal, their notes, attacks and partials, after Puckette, Apel and Zicarelli (1998).
//!
//! | file | holds |
//! |---|---|
//! | `spectrum` | a window of samples to peaks |
//! | `pitch` | peaks to fundamentals |
//! | `tracks` | fundamentals to tracks, notes and attacks |

mod pitch;
mod spectrum;
mod tracks;

use crate::control::{Context, Handled, Making, Message, Object, Value};
use crate::signal::{Accesses, Inlets, RowFormat, SignalWorld};
use crate::state::{Held, StateReader, StateWriter, Unfit, held, held_arrays};
use pitch::{DB, DB_OFFSET, Found, MAX_PITCHES, Sound, Votes};
use spectrum::{LoudPeak, Spectrum};
use tracks::{Rules, Tracks, windows};

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    (making.class == "fiddle~").then(|| Box::new(Fiddle::new(making)) as Box<dyn Object>)
}

/// Shortest and longest window.
const POINTS: std::ops::RangeInclusive<usize> = 128..=8192;
/// Samples of a window where nothing is said of them.
const DEFAULT_POINTS: usize = 1024;
/// Most peaks.
const MAX_PEAKS: f32 = 100.0;

/// Settings by messages, in their units.
#[derive(Clone, Copy, Debug)]
struct Settings {
    low_db: f32,
    high_db: f32,
    attack_ms: f32,
    attack_db: f32,
    vibrato_ms: f32,
    vibrato: f32,
    half_partial: f32,
    is_auto: bool,
}

/// The last window, the older half first, and the samples of the newer half that have come.
#[derive(Default)]
struct HalfWindow {
    samples: Vec<f32>,
    filled: usize,
}

struct Fiddle {
    settings: Settings,
    pitches: usize,
    max_peaks: usize,
    rate: f32,
    window: HalfWindow,
    spectrum: Spectrum,
    votes: Votes,
    tracks: Tracks,
    /// Peaks for the outlet.
    given: Vec<LoudPeak>,
}

impl Held for Settings {
    held!(
        low_db,
        high_db,
        attack_ms,
        attack_db,
        vibrato_ms,
        vibrato,
        half_partial,
        is_auto
    );
}

impl Held for LoudPeak {
    held!(frequency, width, power, loudness);
}

held_arrays!(LoudPeak);

impl Held for HalfWindow {
    fn save(&self, state: &mut StateWriter<'_>) {
        self.samples.save(state);
        self.filled.save(state);
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        let points = { *state }.len()?;
        if allowed_points(points) != (points, None) {
            return Err(Unfit);
        }
        self.samples.resize(points, 0.0);
        self.samples.load(state)?;
        self.filled.load(state)?;
        (self.filled < points / 2).then_some(()).ok_or(Unfit)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and below 0 is 0"
)]
fn whole(number: f32) -> usize {
    number as usize
}

#[expect(clippy::cast_precision_loss, reason = "a small number")]
fn number_of(at: usize) -> f32 {
    at as f32
}

/// Pitch in semitones.
fn to_pitch(hertz: f32) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "Pd's numbers are floats")]
    let pitch = (17.312_340_504_6 * libm::log(0.122_312_205_85 * f64::from(hertz))) as f32;
    if hertz > 0.0 { pitch } else { -1500.0 }
}

/// The window length for a wish, and what Pd says where it is another one.
fn allowed_points(wish: usize) -> (usize, Option<&'static str>) {
    if !POINTS.contains(&wish) {
        return (DEFAULT_POINTS, Some("out of range"));
    }
    let below = 1 << wish.ilog2();
    (below, (below != wish).then_some("not a power of 2"))
}

impl Fiddle {
    fn new(making: &mut Making<'_>) -> Self {
        let number = |at: usize| making.values.get(at).map_or(0.0, |value| value.number());
        let or = |number: f32, other: f32| if number >= 1.0 { number } else { other };
        let max_peaks = whole(or(number(2), 20.0).min(MAX_PEAKS));
        let given = whole(number(3).clamp(0.0, number_of(max_peaks)));
        let wish = match whole(number(0)) {
            0 => DEFAULT_POINTS,
            wish => wish,
        };
        let (points, warning) = allowed_points(wish);
        let mut new = Self {
            settings: Settings {
                low_db: 40.0,
                high_db: 50.0,
                attack_ms: 100.0,
                attack_db: 10.0,
                vibrato_ms: 50.0,
                vibrato: 0.5,
                half_partial: 7.0,
                is_auto: true,
            },
            pitches: whole(number(1)).clamp(1, MAX_PITCHES),
            max_peaks,
            rate: making.globals.rate,
            window: HalfWindow::default(),
            spectrum: Spectrum::default(),
            votes: Votes::default(),
            tracks: Tracks::default(),
            given: vec![LoudPeak::default(); given],
        };
        if let Some(warning) = warning {
            let line = format!("error: fiddle~: npoints {warning}; using {points}");
            making.globals.print(&line);
        }
        new.set_points(points);
        new
    }

    /// Samples of a window.
    fn points(&self) -> usize {
        self.window.samples.len()
    }

    fn set_points(&mut self, points: usize) {
        if points != self.points() {
            self.window.samples = vec![0.0; points];
            self.window.filled = 0;
            self.spectrum.prepare(points, self.max_peaks);
            self.tracks = Tracks::default();
        }
    }

    /// Returns true if its fields can be true together. A state may have brought another window.
    fn is_sound(&mut self) -> bool {
        if self.spectrum.points() != self.points() {
            self.spectrum.prepare(self.points(), self.max_peaks);
        }
        self.tracks.is_sound()
    }

    fn rules(&self) -> Rules {
        let settings = &self.settings;
        let per_ms = self.rate * 0.001 / number_of(self.points() / 2);
        Rules {
            low_db: settings.low_db,
            high_db: settings.high_db,
            steady_windows: windows(settings.vibrato_ms * per_ms),
            vibrato: settings.vibrato,
            attack_windows: windows(settings.attack_ms * per_ms),
            attack_db: settings.attack_db,
        }
    }

    /// Analyses the window.
    fn analyse(&mut self) {
        self.spectrum.run(&self.window.samples);
        let rules = self.rules();
        let sound = Sound {
            points: self.points(),
            rate: self.rate,
            total: self.spectrum.total,
            half_partial: self.settings.half_partial,
            max_pitches: self.pitches,
        };
        let db = db_of(sound.total, self.points());
        self.tracks.begin(db);
        if db < rules.low_db {
            self.tracks.pass_silence();
            return;
        }
        self.spectrum.find_peaks();
        let peaks = &self.spectrum.peaks;
        let found = peaks
            .iter()
            .copied()
            .chain(std::iter::repeat(LoudPeak::default()));
        for (to, peak) in self.given.iter_mut().zip(found) {
            *to = peak;
        }
        let mut found = [Found::default(); MAX_PITCHES];
        let count = self.votes.find(peaks, &sound, &mut found);
        self.tracks.push(&found[..count], self.pitches, &rules);
    }

    /// Gives out the last analysis, from the last outlet to the first.
    fn give(&self, context: &mut Context<'_>) {
        let points = number_of(self.points());
        let hertz = self.rate / (2.0 * points);
        for (at, peak) in self.given.iter().enumerate() {
            let amplitude = 2.0 / points * (peak.loudness * peak.loudness);
            let values = [number_of(at + 1), hertz * peak.frequency, amplitude];
            context.send_list(3 + self.pitches, &values.map(Value::Float));
        }
        context.send_float(2 + self.pitches, self.tracks.db());
        for track in 0..self.pitches {
            let (pitch, db) = self.tracks.raw(track);
            context.send_list(2 + track, &[pitch, db].map(Value::Float));
        }
        if self.tracks.is_attack {
            context.send_bang(1);
        }
        for pitch in (0..self.pitches).filter_map(|track| self.tracks.note(track)) {
            context.send_float(0, pitch);
        }
    }

    /// Sets a parameter; false if there is none of that name.
    fn set(&mut self, name: &str, values: &[Value]) -> bool {
        let number = |at: usize| values.get(at).map_or(0.0, |value| value.number());
        let settings = &mut self.settings;
        match name {
            "amp-range" => (settings.low_db, settings.high_db) = (number(0), number(1)),
            "reattack" => {
                (settings.attack_ms, settings.attack_db) = (number(0).trunc(), number(1));
            }
            "vibrato" => (settings.vibrato_ms, settings.vibrato) = (number(0).trunc(), number(1)),
            "npartial" => settings.half_partial = number(0),
            "auto" => settings.is_auto = number(0) != 0.0,
            _ => return false,
        }
        true
    }

    /// Prints what is set.
    fn print(&self, context: &mut Context<'_>) {
        let settings = self.settings;
        let lines = [
            format!("npoints {},", self.points()),
            format!("amp-range {:.6} {:.6},", settings.low_db, settings.high_db),
            format!("reattack {} {:.6},", settings.attack_ms, settings.attack_db),
            format!("vibrato {} {:.6}", settings.vibrato_ms, settings.vibrato),
            format!("npartial {:.6}", settings.half_partial),
            format!("auto {}", u8::from(settings.is_auto)),
        ];
        for line in lines {
            context.print_with(|_, to| to.write_str(&line));
        }
    }
}

/// Power of a window in decibels.
fn db_of(total: f32, points: usize) -> f32 {
    if total <= 1e-9 {
        return 0.0;
    }
    #[expect(clippy::cast_possible_truncation, reason = "Pd's numbers are floats")]
    let log = libm::log(f64::from(total / number_of(points))) as f32;
    ((100.0 - DB_OFFSET) + DB * log).max(0.0)
}

impl Object for Fiddle {
    held!(settings, window, tracks, given; not pitches, max_peaks, rate, spectrum, votes; check |it| it.is_sound());

    fn accesses(&self, list: &mut Accesses) {
        list.sets_clocks();
    }

    fn joins(&self, _: &SignalWorld<'_>) -> usize {
        1
    }

    fn prepare(&mut self, format: &RowFormat) {
        self.rate = format.rate;
    }

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.give(context);
        Handled::Yes
    }

    fn clock(&mut self, _: u32, context: &mut Context<'_>) {
        self.give(context);
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        let name = context.symbols().text(message.selector);
        match name {
            "print" => self.print(context),
            "npoints" => {
                let (points, warning) = allowed_points(whole(message.number()));
                self.set_points(points);
                if let Some(warning) = warning {
                    context.print(format!("error: fiddle~: npoints {warning}; using {points}"));
                }
            }
            _ if self.set(name, message.values) => {}
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn perform(&mut self, inlets: &Inlets<'_>, _: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        let half = self.points() / 2;
        let mut left = inlets.get(0);
        while !left.is_empty() {
            let HalfWindow { samples, filled } = &mut self.window;
            let (part, behind) = left.split_at((half - *filled).min(left.len()));
            samples[half + *filled..][..part.len()].copy_from_slice(part);
            *filled += part.len();
            left = behind;
            if *filled == half {
                self.analyse();
                self.window.samples.copy_within(half.., 0);
                self.window.filled = 0;
                if self.settings.is_auto {
                    world.set_clock(0, 0.0);
                }
            }
        }
    }
}
