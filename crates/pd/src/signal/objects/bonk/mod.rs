//! `bonk~`: attacks in a signal, found by the growth of power in bands.
//!
//! | file | holds |
//! |---|---|
//! | `bands` | the filters, one for each band |

mod bands;

use super::functions::RootTables;
use crate::control::{Context, Handled, Making, Message, Object, Value};
use crate::signal::{Accesses, Inlets, SignalWorld};
use crate::state::{Held, StateReader, StateWriter, Unfit, held, held_arrays};
use bands::{Band, BandSettings, bands};

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    (making.class == "bonk~").then(|| Box::new(Bonk::new(making)) as Box<dyn Object>)
}

/// Windows whose masks are remembered.
const MASKS: usize = 8;
/// Windows after which an attack is over.
const MAX_ATTACK: u32 = 4;
/// Most bands, channels and templates.
const MAX_BANDS: usize = 200;
const MAX_CHANNELS: usize = 8;
const MAX_TEMPLATES: usize = 10_000;

/// What a band was like in the last windows.
#[derive(Clone, Copy, Debug, Default)]
struct BandState {
    power: f32,
    /// Power that is given out.
    given: f32,
    windows: f32,
    masks: [f32; MASKS],
}

/// A channel.
struct Channel {
    samples: Vec<f32>,
    bands: Vec<BandState>,
}

/// Attacks that were learned: the amplitudes of each.
struct Templates(Vec<Vec<f32>>);

struct Bonk {
    bands: Vec<Band>,
    channels: Vec<Channel>,
    points: usize,
    period: usize,
    high: f32,
    low: f32,
    min_velocity: f32,
    mask_windows: f32,
    mask_decay: f32,
    is_loudness: bool,
    debounce_decay: f32,
    debounce: f32,
    attack_windows: usize,
    is_spewing: bool,
    filled: usize,
    countdown: usize,
    /// Windows since the begin of an attack, from 1.
    attack: u32,
    is_reported: bool,
    /// True if a clock is for an attack.
    is_hit: bool,
    now: usize,
    /// Amplitudes of each band of each channel, for the outlets.
    amplitudes: Vec<f32>,
    templates: Templates,
    learn: u32,
    learned: u32,
    /// Time of the last attack.
    last_hit: f64,
}

impl Held for BandState {
    held!(power, given, windows, masks);
}

impl Held for Channel {
    held!(samples, bands);
}

held_arrays!(BandState, Channel);

impl Held for Templates {
    fn save(&self, state: &mut StateWriter<'_>) {
        state.put_len(self.0.len());
        for template in &self.0 {
            state.put_len(template.len());
            template.iter().for_each(|x| x.save(state));
        }
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        let count = state.len()?;
        self.0.clear();
        for _ in 0..count.min(MAX_TEMPLATES) {
            let mut template = vec![0.0; { *state }.len()?];
            template.load(state)?;
            self.0.push(template);
        }
        (count <= MAX_TEMPLATES).then_some(()).ok_or(Unfit)
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

impl Bonk {
    fn new(making: &mut Making<'_>) -> Self {
        let mut channels = 1;
        let mut period = 128;
        let mut settings = BandSettings::default();
        let mut is_spewing = false;
        if let Some(Value::Float(first)) = making.values.first() {
            period = whole(*first);
            channels = whole(making.number(1, 1.0));
        } else {
            for pair in making.values.chunks_exact(2) {
                let Value::Symbol(name) = pair[0] else {
                    break;
                };
                let number = pair[1].number();
                match making.globals.symbols.text(name) {
                    "-npts" => settings.points = whole(number),
                    "-hop" => period = whole(number),
                    "-nsigs" => channels = whole(number),
                    "-nfilters" => settings.count = whole(number),
                    "-halftones" => settings.halftones = number,
                    "-overlap" => settings.overlap = number,
                    "-firstbin" => settings.first_bin = number,
                    "-minbandwidth" => settings.min_width = number,
                    "-spew" => is_spewing = number != 0.0,
                    _ => break,
                }
            }
        }
        settings.hold();
        let (points, count) = (settings.points, settings.count);
        let channel = |_| Channel {
            samples: vec![0.0; points],
            bands: vec![BandState::default(); count],
        };
        let channels: Vec<Channel> = (0..channels.clamp(1, MAX_CHANNELS)).map(channel).collect();
        Self {
            bands: bands(&settings),
            amplitudes: vec![0.0; count * channels.len()],
            channels,
            points,
            period: if period == 0 { points / 2 } else { period },
            high: 5.0,
            low: 2.5,
            min_velocity: 7.0,
            mask_windows: 4.0,
            mask_decay: 0.7,
            is_loudness: false,
            debounce_decay: 0.0,
            debounce: 0.0,
            attack_windows: 1,
            is_spewing,
            filled: 0,
            countdown: 0,
            attack: 0,
            is_reported: false,
            is_hit: false,
            now: 0,
            templates: Templates(Vec::new()),
            learn: 0,
            learned: 0,
            last_hit: 0.0,
        }
    }

    /// Returns true if its fields can be true together.
    fn is_sound(&self) -> bool {
        (1..=MASKS).contains(&self.attack_windows)
            && self.filled < self.points
            && self.attack <= MAX_ATTACK + 1
            && self.now < MASKS
            && (self.learn == 0 || self.learned < self.learn)
    }

    /// Analyses a full window. Returns true if something is to be given out.
    fn analyse(&mut self) -> bool {
        let before = self.now;
        let now = (before + 1) % MASKS;
        self.now = now;
        let compared = (now + MASKS - self.attack_windows) % MASKS;
        let mut growth = 0.0_f32;
        for channel in &mut self.channels {
            for (band, state) in self.bands.iter().zip(&mut channel.bands) {
                let power = band.power(&channel.samples);
                let mut mask = state.masks[before];
                let old = state.masks[compared];
                if power > old {
                    let ratio = power / narrow(f64::from(old) + 1.0e-15);
                    growth += match self.is_loudness {
                        true => fourth_root_inverse(ratio) - 1.0,
                        false => ratio - 1.0,
                    };
                }
                if self.attack == 0 && state.windows >= self.mask_windows {
                    mask *= self.mask_decay;
                }
                if power > mask {
                    (mask, state.windows) = (power, 0.0);
                }
                state.windows += 1.0;
                state.masks[now] = mask;
                state.power = power;
            }
        }
        let is_given = self.is_given(growth);
        self.debounce *= self.debounce_decay;
        is_given
    }

    /// Follows an attack by the growth of power. Returns true if something is to be given out.
    fn is_given(&mut self, growth: f32) -> bool {
        let now = self.now;
        let all = |channels: &mut Vec<Channel>, change: &dyn Fn(&mut BandState)| {
            let bands = channels.iter_mut().flat_map(|channel| &mut channel.bands);
            bands.for_each(change);
        };
        let mut is_given = false;
        if self.attack > 0 {
            let is_over = self.attack > MAX_ATTACK || growth < self.low;
            if is_over && !self.is_spewing && !self.is_reported {
                all(&mut self.channels, &|band| band.given = band.masks[now]);
                self.is_hit = true;
                is_given = true;
            }
            self.attack = if growth < self.low {
                0
            } else {
                self.attack + 1
            };
        } else if growth > self.high {
            self.attack = 1;
            self.is_reported = false;
            all(&mut self.channels, &|band| {
                band.masks[now] = band.power;
                band.windows = 0.0;
            });
        }
        if self.is_spewing {
            all(&mut self.channels, &|band| band.given = band.power);
            self.is_hit = false;
            is_given = true;
        }
        is_given
    }

    /// Gives out an attack, or what a bang asks for.
    fn give(&mut self, context: &mut Context<'_>) {
        let roots = RootTables::get();
        let (mut velocity, mut temperature) = (0.0_f32, 0.0_f32);
        let count = self.bands.len();
        let bands = self.channels.iter().flat_map(|channel| &channel.bands);
        for (at, (band, to)) in bands.zip(&mut self.amplitudes).enumerate() {
            let is_loud = band.given > 0.0;
            let root = || 100.0 * roots.rough_inverse_root(roots.rough_inverse_root(band.given));
            *to = if is_loud { root() } else { 0.0 };
            velocity += *to;
            #[expect(clippy::cast_precision_loss, reason = "a small number")]
            let place = (at % count) as f32;
            temperature += *to * place;
        }
        temperature = if velocity > 0.0 {
            temperature / velocity
        } else {
            0.0
        };
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let channels = self.channels.len() as f32;
        velocity *= narrow(0.5 / f64::from(channels));
        let mut number = -1.0;
        if self.is_hit {
            if velocity < self.debounce || velocity < self.min_velocity {
                return;
            }
            self.debounce = velocity;
            if self.learn > 0 && !self.learn_hit(context.clocks().ms_since(self.last_hit)) {
                return;
            }
            self.last_hit = context.clocks().now();
            number = self.nearest_template();
        }
        self.is_reported = true;
        let cooked = [number, velocity, temperature].map(Value::Float);
        context.send_list(self.channels.len(), &cooked);
        for (outlet, amplitudes) in self.amplitudes.chunks_exact(count).enumerate().rev() {
            let mut values = [Value::Float(0.0); MAX_BANDS];
            for (to, x) in values.iter_mut().zip(amplitudes) {
                *to = Value::Float(*x);
            }
            context.send_list(outlet, &values[..count]);
        }
    }

    /// Adds an attack to the present template; false if it comes too soon after the last one.
    fn learn_hit(&mut self, ms: f64) -> bool {
        if !self.templates.0.is_empty() && ms <= 200.0 {
            return false;
        }
        let power: f32 = self.amplitudes.iter().map(|x| x * x).sum();
        let scale = 100.0 * RootTables::get().rough_inverse_root(power.max(1.0e-15));
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let count = self.learned as f32;
        let has_room = self.templates.0.len() < MAX_TEMPLATES;
        match self.templates.0.last_mut() {
            Some(template) if self.learned > 0 => {
                for (to, x) in template.iter_mut().zip(&self.amplitudes) {
                    *to = (count * *to + x * scale) / (count + 1.0);
                }
            }
            _ if has_room => {
                let scaled = self.amplitudes.iter().map(|x| x * scale);
                self.templates.0.push(scaled.collect());
            }
            _ => {}
        }
        self.learned = (self.learned + 1) % self.learn;
        true
    }

    /// Number of the template that is most like the attack; 0 if there is none.
    fn nearest_template(&self) -> f32 {
        let (mut best, mut found) = (-1e30_f32, 0.0);
        for (at, template) in self.templates.0.iter().enumerate() {
            let product = template.iter().zip(&self.amplitudes).map(|(a, b)| a * b);
            let product: f32 = product.sum();
            if product > best {
                #[expect(clippy::cast_precision_loss, reason = "a small number")]
                let number = at as f32;
                (best, found) = (product, number);
            }
        }
        found
    }

    /// Sets a parameter; false if there is none of that name.
    fn set(&mut self, name: &str, values: &[Value]) -> bool {
        let number = |at: usize| values.get(at).map_or(0.0, |value| value.number());
        let is_on = number(0) != 0.0;
        let above_zero = |x: f32| if x <= 0.0 { 0.0001 } else { x };
        match name {
            "thresh" => (self.low, self.high) = (above_zero(number(0)), above_zero(number(1))),
            "mask" => {
                self.mask_windows = number(0).max(0.0).trunc();
                self.mask_decay = number(1).clamp(0.0, 1.0);
            }
            "debounce" => self.debounce_decay = number(0).clamp(0.0, 1.0),
            "minvel" => self.min_velocity = number(0).max(0.0),
            "spew" => self.is_spewing = is_on,
            "useloudness" => self.is_loudness = is_on,
            "attack-bins" | "attack-frames" => {
                self.attack_windows = whole(number(0)).clamp(1, MASKS);
            }
            "learn" => {
                if number(0) >= 1.0 {
                    self.templates.0.clear();
                }
                self.learn = u32::try_from(whole(number(0))).unwrap_or(u32::MAX);
                self.learned = 0;
            }
            "forget" => {
                self.templates.0.pop();
                self.learned = 0;
            }
            "debug" | "print" => {}
            _ => return false,
        }
        true
    }
}

#[expect(clippy::cast_possible_truncation, reason = "Pd's numbers are floats")]
fn narrow(x: f64) -> f32 {
    x as f32
}

/// One over the fourth root, twice inverted: the fourth root.
fn fourth_root_inverse(x: f32) -> f32 {
    let roots = RootTables::get();
    roots.rough_inverse_root(roots.rough_inverse_root(x))
}

impl Object for Bonk {
    held!(channels, high, low, min_velocity, mask_windows, mask_decay, is_loudness, debounce_decay, debounce, attack_windows,
        is_spewing, filled, countdown, attack, is_reported, is_hit, now, amplitudes, templates, learn, learned, last_hit;
        not bands, points, period; check |it| it.is_sound());

    fn accesses(&self, list: &mut Accesses) {
        list.sets_clocks();
    }

    fn joins(&self, _: &SignalWorld<'_>) -> usize {
        1
    }

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.is_hit = false;
        let bands = self
            .channels
            .iter_mut()
            .flat_map(|channel| &mut channel.bands);
        bands.for_each(|band| band.given = band.power);
        self.give(context);
        Handled::Yes
    }

    fn clock(&mut self, _: u32, context: &mut Context<'_>) {
        self.give(context);
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        let name = context.symbols().text(message.selector);
        match self.set(name, message.values) {
            true => Handled::Yes,
            false => Handled::No,
        }
    }

    fn perform(&mut self, inlets: &Inlets<'_>, _: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        let mut rest = inlets.get(0).len();
        if self.countdown >= rest {
            self.countdown -= rest;
            return;
        }
        let mut from = std::mem::take(&mut self.countdown);
        rest -= from;
        while rest > 0 {
            let count = rest.min(self.points - self.filled);
            for (at, channel) in self.channels.iter_mut().enumerate().take(inlets.len()) {
                let to = &mut channel.samples[self.filled..self.filled + count];
                to.copy_from_slice(&inlets.get(at)[from..from + count]);
            }
            self.filled += count;
            rest -= count;
            from += count;
            if self.filled < self.points {
                continue;
            }
            if self.analyse() {
                world.set_clock(0, 0.0);
            }
            self.countdown = self.period.saturating_sub(self.points);
            self.filled = self.points.saturating_sub(self.period);
            if self.filled > 0 {
                for channel in &mut self.channels {
                    channel.samples.copy_within(self.period.., 0);
                }
                // Pd leaves out what is left of the block.
                return;
            }
        }
    }
}
