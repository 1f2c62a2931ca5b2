//! `sigmund~`: pitch, power, notes and sinusoids of a signal.
//!
//! | file | holds |
//! |---|---|
//! | `spectrum` | a window of samples to sinusoids |
//! | `pitch` | sinusoids to a fundamental, and to tracks |
//! | `notes` | fundamentals to notes |

mod notes;
mod pitch;
mod spectrum;

use crate::control::{Context, Handled, Making, Message, Object, Symbol, Value};
use crate::signal::{Accesses, Inlets, RowFormat, SignalWorld};
use crate::state::{Held, StateReader, StateWriter, Unfit, held, held_arrays};
use notes::{NoteFinder, NoteRules};
use pitch::{Guess, MAX_WEIGHTS, follow, fundamental};
use spectrum::{Analysis, Peak, narrow, to_db, to_pitch};
use std::f64::consts::LN_10;

/// What an outlet gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Output {
    Pitch,
    Power,
    Notes,
    Peaks,
    Tracks,
}

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    (making.class == "sigmund~").then(|| Box::new(Sigmund::new(making)) as Box<dyn Object>)
}

/// Most peaks.
const MAX_PEAKS: f32 = 4096.0;

struct Sigmund {
    outputs: Vec<Output>,
    points: usize,
    hop: usize,
    max_peaks: usize,
    max_hertz: f32,
    vibrato: f32,
    stable_ms: f32,
    growth: f32,
    min_power: f32,
    guess: Guess,
    /// False if it analyses arrays, at a list.
    is_stream: bool,
    samples: Vec<f32>,
    filled: usize,
    countdown: usize,
    rate: f32,
    analysis: Analysis,
    weights: Box<[f32; MAX_WEIGHTS]>,
    notes: NoteFinder,
    tracks: Vec<Peak>,
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and below 0 is 0"
)]
fn whole(number: f32) -> usize {
    number as usize
}

/// The power of two at or below a number.
fn power_below(number: usize) -> usize {
    1 << number.max(1).ilog2()
}

impl Held for Sigmund {
    held!(hop, max_peaks, max_hertz, vibrato, stable_ms, growth, min_power, guess, samples, filled, countdown, notes, tracks;
        not outputs, points, is_stream, rate, analysis, weights; check |it| it.is_sound());
}

impl Held for Guess {
    held!(partials, power);
}

impl Held for Peak {
    held!(frequency, amplitude, re, im, db, age);
}

held_arrays!(Peak);

impl Sigmund {
    /// Returns true if its fields can be true together.
    fn is_sound(&self) -> bool {
        let is_hop = self.hop <= 1 << 32;
        is_hop && self.filled <= self.points && (1..=whole(MAX_PEAKS)).contains(&self.max_peaks)
    }

    fn new(making: &mut Making<'_>) -> Self {
        let mut new = Self {
            outputs: Vec::new(),
            points: 1024,
            hop: 512,
            max_peaks: 20,
            max_hertz: 1e6,
            vibrato: 1.0,
            stable_ms: 50.0,
            growth: 7.0,
            min_power: 50.0,
            guess: Guess {
                partials: 6.0,
                power: 0.5,
            },
            is_stream: true,
            samples: Vec::new(),
            filled: 0,
            countdown: 0,
            rate: making.globals.rate,
            analysis: Analysis::default(),
            weights: Box::new([0.0; MAX_WEIGHTS]),
            notes: NoteFinder::default(),
            tracks: Vec::new(),
        };
        let mut words = making.values.iter();
        while let Some(word) = words.next() {
            let Value::Symbol(symbol) = *word else {
                continue;
            };
            let name = making.globals.symbols.text(symbol).to_owned();
            match &name[..] {
                "-t" => new.is_stream = false,
                "-s" => new.is_stream = true,
                "pitch" => new.outputs.push(Output::Pitch),
                "env" => new.outputs.push(Output::Power),
                "note" | "notes" => new.outputs.push(Output::Notes),
                "peaks" => new.outputs.push(Output::Peaks),
                "tracks" => new.outputs.push(Output::Tracks),
                option => {
                    if let Some(option) = option.strip_prefix('-') {
                        let number = words.next().map_or(0.0, |value| value.number());
                        new.set(option, number);
                    }
                }
            }
        }
        if new.outputs.is_empty() {
            new.outputs = vec![Output::Pitch, Output::Power];
        }
        if new.gives(Output::Tracks) {
            new.tracks = vec![Peak::default(); new.max_peaks];
        }
        new.set_points(new.points);
        new
    }

    fn gives(&self, output: Output) -> bool {
        self.outputs.contains(&output)
    }

    /// Sets a parameter; false if there is none of that name.
    fn set(&mut self, name: &str, number: f32) -> bool {
        let positive = number.max(0.0);
        match name {
            "npts" => self.set_points(whole(number)),
            "hop" if number < 0.0 => {}
            "hop" => {
                let hop = whole(number);
                self.hop = if hop == 0 { 0 } else { power_below(hop) };
            }
            "npeak" => self.max_peaks = whole(number.clamp(1.0, MAX_PEAKS)),
            "maxfreq" => self.max_hertz = number,
            "vibrato" => self.vibrato = positive,
            "stabletime" => self.stable_ms = positive,
            "growth" => self.growth = positive,
            "minpower" => self.min_power = positive,
            "param1" => self.guess.partials = number,
            "param2" => self.guess.power = number,
            "param3" | "printnext" => {}
            _ => return false,
        }
        true
    }

    fn set_points(&mut self, points: usize) {
        let points = power_below(points.clamp(128, 1 << 22));
        if points != self.points {
            (self.filled, self.countdown) = (0, 0);
        }
        self.points = points;
        if self.is_stream {
            self.samples.resize(points, 0.0);
            // A state that is refused may have left any number.
            let max_peaks = self.max_peaks.min(whole(MAX_PEAKS));
            self.analysis.prepare(points, max_peaks);
        }
    }

    /// Analyses a window and sends what it found, from the last outlet to the first.
    fn analyse(&mut self, window: &[f32], rate: f32, context: &mut Context<'_>) {
        let points = window.len();
        self.analysis
            .run(window, rate, self.max_peaks, self.max_hertz);
        let power = self.analysis.power;
        let frequency = match self.gives(Output::Pitch) || self.gives(Output::Notes) {
            true => fundamental(
                &self.analysis.peaks,
                points,
                rate,
                self.guess,
                &mut self.weights,
            ),
            false => 0.0,
        };
        let note = match self.gives(Output::Notes) {
            true => self.notes.push(frequency, power, &self.rules(rate)),
            false => None,
        };
        if self.gives(Output::Tracks) {
            #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
            let max_error = 2.0 * rate / points as f32;
            follow(&mut self.analysis.peaks, &mut self.tracks, max_error);
        }
        for (outlet, output) in self.outputs.iter().enumerate().rev() {
            match output {
                Output::Pitch => context.send_float(outlet, to_pitch(frequency)),
                Output::Power => context.send_float(outlet, to_db(power)),
                Output::Notes => {
                    if let Some(note) = note {
                        context.send_float(outlet, to_pitch(note));
                    }
                }
                Output::Peaks => send_peaks(&self.analysis.peaks, outlet, context),
                Output::Tracks => send_tracks(&self.tracks, outlet, context),
            }
        }
    }

    fn rules(&self, rate: f32) -> NoteRules {
        #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
        let per_window = f64::from(rate) / f64::from(self.hop as f32);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates"
        )]
        let windows = (1.0 + f64::from(self.stable_ms) * 0.001 * per_window) as usize;
        NoteRules {
            vibrato: self.vibrato,
            windows,
            power: narrow(libm::exp(LN_10 * 0.1 * (f64::from(self.min_power) - 100.0))),
            growth: self.growth,
        }
    }

    /// `ARRAY POINTS ONSET RATE PRINT`: analyses a part of an array.
    fn analyse_array(&mut self, values: &[Value], context: &mut Context<'_>) {
        let [Value::Symbol(name), rest @ ..] = values else {
            return;
        };
        let number = |at: usize| rest.get(at).map_or(0.0, |value| value.number());
        let (points, onset) = (whole(number(0)), whole(number(1)));
        if points < 64 || !points.is_power_of_two() || rest.len() < 4 {
            context.print_with(|_, line| {
                line.write_str("error: sigmund: array-name, npts, array-onset, samplerate, loud")
            });
            return;
        }
        let Some(window) = part_of(*name, points, onset, context) else {
            context.print_with(|_, line| {
                line.write_str("error: sigmund~: array missing or too small")
            });
            return;
        };
        self.analysis.prepare(points, self.max_peaks);
        self.analyse(&window, number(2), context);
    }
}

/// A part of an array.
fn part_of(
    name: Symbol,
    points: usize,
    onset: usize,
    context: &mut Context<'_>,
) -> Option<Vec<f32>> {
    let all = context.arrays().named(name)?;
    let part = all.get(onset..onset.checked_add(points)?)?;
    Some(part.to_vec())
}

#[expect(clippy::cast_precision_loss, reason = "a small number")]
fn number_of(at: usize) -> Value {
    Value::Float(at as f32)
}

fn send_peaks(peaks: &[Peak], outlet: usize, context: &mut Context<'_>) {
    for (at, peak) in peaks.iter().enumerate() {
        let doubled = |x: f32| Value::Float(2.0 * x);
        let values = [
            number_of(at),
            Value::Float(peak.frequency),
            doubled(peak.amplitude),
            doubled(peak.re),
            doubled(peak.im),
        ];
        context.send_list(outlet, &values);
    }
}

fn send_tracks(tracks: &[Peak], outlet: usize, context: &mut Context<'_>) {
    for (at, track) in tracks.iter().enumerate() {
        let values = [
            number_of(at),
            Value::Float(track.frequency),
            Value::Float(2.0 * track.amplitude),
            Value::Float(track.age),
        ];
        context.send_list(outlet, &values);
    }
}

impl Object for Sigmund {
    fn save(&self, state: &mut StateWriter<'_>) {
        // Lengths depend on it.
        self.points.save(state);
        Held::save(self, state);
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        let mut points = 0_usize;
        Held::load(&mut points, state)?;
        // The samples of the window follow.
        if !self.is_stream || { *state }.take(points.saturating_mul(4)).is_ok() {
            self.set_points(points);
        }
        if self.points != points {
            return Err(Unfit);
        }
        Held::load(self, state)
    }

    fn accesses(&self, list: &mut Accesses) {
        list.sets_clocks();
    }

    fn joins(&self, world: &SignalWorld<'_>) -> usize {
        if !self.is_stream {
            return usize::MAX;
        }
        // Up to the block that fills the window.
        let waits = self.countdown.div_ceil(world.frames());
        let left = self.points.saturating_sub(self.filled) / world.frames();
        (waits + left).max(1)
    }

    fn prepare(&mut self, format: &RowFormat) {
        self.rate = format.rate;
        if self.is_stream && !self.hop.is_multiple_of(format.frames) {
            self.hop = format.frames * (self.hop / format.frames);
        }
    }

    fn clock(&mut self, _: u32, context: &mut Context<'_>) {
        if self.filled != self.points {
            return;
        }
        let mut samples = std::mem::take(&mut self.samples);
        self.analysis.prepare(self.points, self.max_peaks);
        self.analyse(&samples, self.rate, context);
        if self.hop >= self.points {
            (self.filled, self.countdown) = (0, self.hop - self.points);
        } else {
            samples.copy_within(self.hop.., 0);
            (self.filled, self.countdown) = (self.points - self.hop, 0);
        }
        self.samples = samples;
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        if !matches!(values, [Value::Symbol(_), ..]) {
            return Handled::No;
        }
        self.analyse_array(values, context);
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        let name = context.symbols().text(message.selector);
        match self.set(name, message.number()) {
            true => Handled::Yes,
            false => Handled::No,
        }
    }

    fn perform(&mut self, inlets: &Inlets<'_>, _: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        let signal = inlets.get(0);
        if !self.is_stream || !self.hop.is_multiple_of(signal.len()) {
            return;
        }
        if self.countdown > 0 {
            self.countdown = self.countdown.saturating_sub(signal.len());
            return;
        }
        let end = self.filled + signal.len();
        if let Some(to) = self.samples.get_mut(self.filled..end) {
            to.copy_from_slice(signal);
            self.filled = end;
            if end == self.points {
                world.set_clock(0, 0.0);
            }
        }
    }
}
