//! Between messages and signals: `line~`, `vline~`, `sig~`, `snapshot~`, `vsnapshot~`, `env~`, `bang~`, `threshold~`, `samphold~`,
//! `samplerate~` (`d_ctl.c`).

use crate::constants::{LN_10, PI};
use crate::control::{Context, Handled, Making, Message, Object, Value, words};
use crate::signal::loops::each_in_turn;
use crate::signal::{Accesses, BLOCK, Inlets, RowFormat, SignalWorld};
use crate::state::held;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    Some(match making.class {
        "sig~" => Box::new(Constant(making.number(0, 0.0))),
        "line~" => Box::new(Line::default()),
        "vline~" => Box::new(SampleLine::default()),
        "snapshot~" => Box::new(Snapshot { value: 0.0 }),
        "vsnapshot~" => Box::new(SampleSnapshot {
            block: Vec::new(),
            time: 0.0,
            per_ms: 0.0,
        }),
        "env~" => Box::new(Envelope::new(making.number(0, 0.0), making.number(1, 0.0))),
        "bang~" => Box::new(BlockBang),
        "threshold~" => Box::new(Threshold::new(making)),
        "samphold~" => Box::new(SampleHold {
            held: 0.0,
            last: 0.0,
        }),
        "samplerate~" => Box::new(Rate(making.globals.rate)),
        _ => return None,
    })
}

#[expect(clippy::cast_possible_truncation, reason = "Pd's signals are floats")]
fn narrow(x: f64) -> f32 {
    x as f32
}

struct Constant(f32);

impl Object for Constant {
    held!(tuple number);

    fn may_join(&self) -> bool {
        true
    }

    fn float(&mut self, number: f32, _: &mut Context<'_>) -> Handled {
        self.0 = number;
        Handled::Yes
    }

    fn perform(&mut self, _: &Inlets<'_>, outlets: &mut [Box<[f32]>], _: &mut SignalWorld<'_>) {
        outlets[0].fill(self.0);
    }
}

/// The rate of the canvas, in which an overlap does not count.
struct Rate(f32);

impl Object for Rate {
    held!(nothing);

    fn prepare(&mut self, format: &RowFormat) {
        self.0 = format.nominal_rate;
    }

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        context.send_float(0, self.0);
        Handled::Yes
    }
}

/// A ramp that begins and ends with blocks.
#[derive(Default)]
struct Line {
    target: f32,
    value: f32,
    big_step: f32,
    step: f32,
    blocks_left: u32,
    /// Length of the next ramp, from the right inlet.
    next_ms: f32,
    /// Length of the ramp that begins with the next block.
    ramp_ms: f32,
    has_new_target: bool,
}

impl Object for Line {
    held!(
        target,
        value,
        big_step,
        step,
        blocks_left,
        next_ms,
        ramp_ms,
        has_new_target
    );

    fn float(&mut self, number: f32, _: &mut Context<'_>) -> Handled {
        if self.next_ms <= 0.0 {
            self.target = number;
            self.value = number;
            self.blocks_left = 0;
            self.has_new_target = false;
        } else {
            self.target = number;
            self.has_new_target = true;
            // Used up at once: a second number in the same block is a jump.
            self.ramp_ms = std::mem::take(&mut self.next_ms);
        }
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match message.values.first() {
            Some(Value::Float(ms)) => self.next_ms = *ms,
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        if message.selector != words::STOP {
            return Handled::No;
        }
        self.target = self.value;
        self.blocks_left = 0;
        self.has_new_target = false;
        Handled::Yes
    }

    fn perform(&mut self, _: &Inlets<'_>, outlets: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        #[expect(clippy::cast_precision_loss, reason = "a block is short")]
        let frames = outlets[0].len() as f32;
        // Denormals and huge numbers end here.
        if is_odd(self.value) {
            self.value = 0.0;
        }
        if self.has_new_target {
            let blocks = self.ramp_ms * (world.rate() / (1000.0 * frames));
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "larger ones saturate"
            )]
            let blocks = (blocks as u32).max(1);
            self.blocks_left = blocks;
            self.has_new_target = false;
            #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
            let count = blocks as f32;
            self.big_step = (self.target - self.value) / count;
            self.step = (1.0 / frames) * self.big_step;
        }
        if self.blocks_left > 0 {
            let mut x = self.value;
            each_in_turn(&mut outlets[0], |_| {
                let now = x;
                x += self.step;
                now
            });
            self.value += self.big_step;
            self.blocks_left -= 1;
        } else {
            self.value = self.target;
            outlets[0].fill(self.target);
        }
    }
}

/// Returns true for a number outside 2⁻⁶³ to 2⁶⁵.
#[inline(always)]
pub(in super::super) fn is_odd(x: f32) -> bool {
    let exponent = x.to_bits() & 0x6000_0000;
    exponent == 0 || exponent == 0x6000_0000
}

/// One segment that waits.
#[derive(Clone, Copy, Default)]
struct Segment {
    target: f64,
    begin: f64,
    end: f64,
}

impl crate::state::Held for Segment {
    held!(target, begin, end);
}

/// A ramp whose begins and ends lie between samples. Times are in milliseconds of logical time.
struct SampleLine {
    value: f64,
    /// Difference between samples.
    step: f64,
    target: f64,
    end: f64,
    next_ms: f32,
    delay_ms: f32,
    /// Logical time at which the last block was computed, and the begin of the next one if it is still the same.
    last_now: f64,
    next_block: f64,
    waiting: std::collections::VecDeque<Segment>,
}

/// Segments that wait, at most.
const MAX_SEGMENTS: usize = 65_536;

impl Default for SampleLine {
    fn default() -> Self {
        Self {
            value: 0.0,
            step: 0.0,
            target: 0.0,
            end: 1e20,
            next_ms: 0.0,
            delay_ms: 0.0,
            last_now: 0.0,
            next_block: 0.0,
            waiting: std::collections::VecDeque::with_capacity(256),
        }
    }
}

impl SampleLine {
    fn stop(&mut self) {
        self.waiting.clear();
        (self.step, self.end) = (0.0, 1e20);
        (self.next_ms, self.delay_ms) = (0.0, 0.0);
    }

    /// Takes what begins before `next`: its target becomes the present one.
    fn begin_segments(&mut self, next: f64, value: &mut f64, ms_per_sample: f64) {
        while let Some(segment) = self.waiting.front().copied().filter(|s| s.begin < next) {
            self.waiting.pop_front();
            if self.end <= next {
                *value = self.target;
                self.step = 0.0;
            }
            if segment.end <= segment.begin {
                *value = segment.target;
                self.step = 0.0;
            } else {
                let step = (segment.target - *value) / (segment.end - segment.begin);
                *value += step * (next - segment.begin);
                self.step = step * ms_per_sample;
            }
            (self.target, self.end) = (segment.target, segment.end);
        }
    }
}

impl SampleLine {
    /// Returns true if nothing begins or ends before `time`.
    fn is_steady_before(&self, time: f64) -> bool {
        let begins = self.waiting.front().is_some_and(|next| next.begin < time);
        !begins && self.end > time
    }

    /// Goes on as before.
    fn go_on(&mut self, to: &mut [f32]) {
        if self.step == 0.0 && (self.value + 0.0).to_bits() == self.value.to_bits() {
            return to.fill(narrow(self.value));
        }
        for to in to {
            *to = narrow(self.value);
            self.value += self.step;
        }
    }
}

impl Object for SampleLine {
    held!(
        value, step, target, end, next_ms, delay_ms, last_now, next_block, waiting
    );

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        let number = if is_odd(number) { 0.0 } else { number };
        if self.delay_ms < 0.0 {
            self.stop();
            self.value = f64::from(number);
            return Handled::Yes;
        }
        let over = f64::from(if self.next_ms < 0.0 {
            0.0
        } else {
            self.next_ms
        });
        let begin = context.clocks().ms_since(0.0) + f64::from(self.delay_ms);
        (self.next_ms, self.delay_ms) = (0.0, 0.0);
        // What begins later goes; of what begins at the same time a jump stays, if what comes now is a ramp.
        let keeps =
            |s: &Segment| s.begin < begin || (s.begin == begin && s.end <= s.begin && over > 0.0);
        let kept = self
            .waiting
            .iter()
            .position(|s| !keeps(s))
            .unwrap_or(self.waiting.len());
        self.waiting.truncate(kept.min(MAX_SEGMENTS));
        self.waiting.push_back(Segment {
            target: f64::from(number),
            begin,
            end: begin + over,
        });
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        if message.selector != words::STOP {
            return Handled::No;
        }
        self.stop();
        Handled::Yes
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match message.values.first() {
            Some(Value::Float(ms)) if inlet == 1 => self.next_ms = *ms,
            Some(Value::Float(ms)) => self.delay_ms = *ms,
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn perform(&mut self, _: &Inlets<'_>, outlets: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        #[expect(clippy::cast_precision_loss, reason = "a block is short")]
        let frames = outlets[0].len() as f64;
        let ms_per_sample = 1000.0 / f64::from(world.rate());
        let now = world.ms_since(0.0);
        if now != self.last_now {
            // The first of several short blocks within 64 frames begins where all of them do.
            self.last_now = now;
            self.next_block = now - frames.max(64.0) * ms_per_sample;
        }
        let mut time = self.next_block;
        self.next_block = time + frames * ms_per_sample;
        if self.is_steady_before(time + (frames + 1.0) * ms_per_sample) {
            return self.go_on(&mut outlets[0]);
        }
        let mut value = self.value;
        for to in &mut outlets[0] {
            let next = time + ms_per_sample;
            self.begin_segments(next, &mut value, ms_per_sample);
            if self.end <= next {
                value = self.target;
                (self.step, self.end) = (0.0, 1e20);
            }
            *to = narrow(value);
            value += self.step;
            time = next;
        }
        self.value = value;
    }
}

struct Snapshot {
    value: f32,
}

impl Object for Snapshot {
    held!(value);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        context.send_float(0, self.value);
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        if message.selector != words::SET {
            return Handled::No;
        }
        self.value = message.number();
        Handled::Yes
    }

    fn perform(&mut self, inlets: &Inlets<'_>, _: &mut [Box<[f32]>], _: &mut SignalWorld<'_>) {
        self.value = inlets.get(0).last().copied().unwrap_or(0.0);
    }
}

/// The sample at the time of the bang, of the block before.
struct SampleSnapshot {
    block: Vec<f32>,
    /// Logical time at the end of that block.
    time: f64,
    /// Frames in a millisecond.
    per_ms: f32,
}

impl Object for SampleSnapshot {
    held!(block, time; not per_ms);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        let passed = context.clocks().ms_since(self.time) * f64::from(self.per_ms);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below 0 is 0"
        )]
        let index = (passed as usize).min(self.block.len().saturating_sub(1));
        let value = self.block.get(index).copied().unwrap_or(0.0);
        context.send_float(0, value);
        Handled::Yes
    }

    fn prepare(&mut self, format: &RowFormat) {
        self.per_ms = format.rate * 0.001;
        self.block.resize(format.frames, 0.0);
    }

    fn perform(&mut self, inlets: &Inlets<'_>, _: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        for (to, x) in self.block.iter_mut().zip(inlets.get(0)) {
            *to = *x;
        }
        self.time = world.now();
    }
}

/// Power over a window, in decibels.
struct Envelope {
    /// Weights, and a block of zeros behind them.
    window: Vec<f32>,
    points: usize,
    /// Sums that overlap.
    sums: Vec<f32>,
    phase: usize,
    asked_period: usize,
    period: usize,
    result: f32,
}

impl Envelope {
    fn new(points: f32, period: f32) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bounded"
        )]
        let whole = |x: f32| x.clamp(0.0, 1e7) as usize;
        let points = match whole(points) {
            0 => 1024,
            n => n.max(BLOCK),
        };
        let period = match whole(period) {
            0 => points / 2,
            n => n,
        };
        let period = period.max(points / 32 + 1);
        #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
        let weight = |i: usize| {
            narrow((1.0 - ((2.0 * PI * i as f64) / points as f64).cos()) / points as f64)
        };
        let mut new = Self {
            window: (0..points).map(weight).collect(),
            points,
            sums: Vec::new(),
            phase: 0,
            asked_period: period,
            period,
            result: 0.0,
        };
        new.fit(BLOCK);
        new
    }

    /// Rounds the period up to whole blocks.
    fn fit(&mut self, frames: usize) {
        self.window.resize(self.points + frames, 0.0);
        self.period = self.asked_period.max(frames).div_ceil(frames) * frames;
        self.sums.resize(self.points / self.period + 2, 0.0);
    }
}

/// Sum of the squares of `signal`, each times its weight; the first weight is that of the last sample. Four sums run side by side, as
/// in Pd, which is built with vectors.
fn weighted_power(weights: &[f32], signal: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 4];
    for (weights, samples) in weights.chunks_exact(4).zip(signal.rchunks_exact(4)) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            let x = samples[3 - lane];
            *sum += weights[lane] * (x * x);
        }
    }
    let rest = signal.len() % 4;
    let later = weights[(signal.len() - rest).min(weights.len())..].iter();
    let rest: f32 = later
        .zip(signal[..rest].iter().rev())
        .map(|(weight, x)| weight * (x * x))
        .sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

impl Object for Envelope {
    held!(sums, phase, result; not window, points, asked_period, period; check |it| it.phase <= it.period);

    fn prepare(&mut self, format: &RowFormat) {
        self.fit(format.frames);
    }

    fn accesses(&self, list: &mut Accesses) {
        list.sets_clocks();
    }

    fn clock(&mut self, _: u32, context: &mut Context<'_>) {
        let power = self.result;
        let db = if power <= 0.0 {
            0.0
        } else {
            narrow(100.0 + 10.0 / LN_10 * f64::from(power).ln()).max(0.0)
        };
        context.send_float(0, db);
    }

    fn perform(&mut self, inlets: &Inlets<'_>, _: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        let signal = inlets.get(0);
        let points = self.points;
        let mut at = self.phase;
        for sum in &mut self.sums {
            if at < points {
                *sum += weighted_power(&self.window[at..], signal);
            }
            at += self.period;
        }
        match self.phase.checked_sub(signal.len()) {
            Some(phase) if self.phase > 0 => self.phase = phase,
            _ => {
                self.result = self.sums[0];
                self.sums.rotate_left(1);
                if let Some(last) = self.sums.last_mut() {
                    *last = 0.0;
                }
                self.phase = self.period - signal.len();
                world.set_clock(0, 0.0);
            }
        }
    }
}

struct BlockBang;

impl Object for BlockBang {
    held!();

    fn accesses(&self, list: &mut Accesses) {
        list.sets_clocks();
    }

    fn clock(&mut self, _: u32, context: &mut Context<'_>) {
        context.send_bang(0);
    }

    fn perform(&mut self, _: &Inlets<'_>, _: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        world.set_clock(0, 0.0);
    }
}

struct Threshold {
    high: f32,
    low: f32,
    high_dead: f32,
    low_dead: f32,
    is_high: bool,
    wait_ms: f32,
}

impl Threshold {
    fn new(making: &Making<'_>) -> Self {
        let [high, high_dead, low, low_dead] = [0, 1, 2, 3].map(|at| making.number(at, 0.0));
        Self {
            high,
            low: low.min(high),
            high_dead,
            low_dead,
            is_high: false,
            wait_ms: 0.0,
        }
    }
}

impl Object for Threshold {
    held!(high, low, high_dead, low_dead, is_high, wait_ms);

    fn accesses(&self, list: &mut Accesses) {
        list.sets_clocks();
    }

    fn clock(&mut self, _: u32, context: &mut Context<'_>) {
        context.send_bang(usize::from(!self.is_high));
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        self.is_high = message.number() != 0.0;
        self.wait_ms = 0.0;
        Handled::Yes
    }

    fn perform(&mut self, inlets: &Inlets<'_>, _: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        let signal = inlets.get(0);
        #[expect(clippy::cast_precision_loss, reason = "a block is short")]
        let period = signal.len() as f32 / world.rate() * 1000.0;
        if self.wait_ms > 0.0 {
            self.wait_ms -= period;
            return;
        }
        let crossed = match self.is_high {
            true => signal.iter().any(|x| *x < self.low),
            false => signal.iter().any(|x| *x >= self.high),
        };
        if crossed {
            self.is_high = !self.is_high;
            self.wait_ms = if self.is_high {
                self.high_dead
            } else {
                self.low_dead
            };
            world.set_clock(0, 0.0);
        }
    }
}

struct SampleHold {
    held: f32,
    last: f32,
}

impl Object for SampleHold {
    held!(held, last);

    fn may_join(&self) -> bool {
        true
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        let (mut held, mut last) = (self.held, self.last);
        let signals = inlets.get(0).iter().zip(inlets.get(1));
        for (to, (x, control)) in outlets[0].iter_mut().zip(signals) {
            held = if *control < last { *x } else { held };
            (*to, last) = (held, *control);
        }
        (self.held, self.last) = (held, last);
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match message.selector {
            words::SET => self.held = message.number(),
            words::RESET => self.last = message.values.first().map_or(1e20, |value| value.number()),
            _ => return Handled::No,
        }
        Handled::Yes
    }
}
