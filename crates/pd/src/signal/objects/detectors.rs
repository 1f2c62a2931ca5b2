//! Signals to messages: `snapshot~`, `vsnapshot~`, `env~`, `bang~`, `threshold~`; and `samphold~` (`d_ctl.c`).

use crate::constants::{LN_10, PI};
use crate::control::{Context, Handled, Making, Message, Object, words};
use crate::signal::{Accesses, BLOCK, Inlets, RowFormat, SignalWorld};
use crate::state::held;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    Some(match making.class {
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
        _ => return None,
    })
}

#[expect(clippy::cast_possible_truncation, reason = "Pd's numbers are floats")]
fn narrow(x: f64) -> f32 {
    x as f32
}

struct Snapshot {
    value: f32,
}

impl Object for Snapshot {
    held!(value);

    fn may_batch(&self) -> bool {
        true
    }

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
    /// Squares of a block, that of its last sample first.
    squares: Vec<f32>,
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
            squares: Vec::new(),
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
        self.squares.resize(frames, 0.0);
        self.period = self.asked_period.max(frames).div_ceil(frames) * frames;
        self.sums.resize(self.points / self.period + 2, 0.0);
    }
}

/// Writes the squares of a signal, that of its last sample first.
fn square_backwards(squares: &mut [f32], signal: &[f32]) {
    let (fours, rest) = signal.as_chunks::<4>();
    let backwards = fours.iter().rev();
    for (to, [a, b, c, d]) in squares.as_chunks_mut().0.iter_mut().zip(backwards) {
        *to = [d * d, c * c, b * b, a * a];
    }
    if !rest.is_empty() {
        // A block of one frame or of two.
        for (to, x) in squares.iter_mut().zip(signal.iter().rev()) {
            *to = x * x;
        }
    }
}

/// Sum of squares, each times its weight.
fn weighted_power(weights: &[f32], squares: &[f32]) -> f32 {
    let (fours, rest) = squares.as_chunks();
    let sums = sums_of_fours(weights.as_chunks().0, fours);
    let later = weights.iter().skip(squares.len() - rest.len());
    let rest: f32 = later.zip(rest).map(|(weight, x)| weight * x).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

/// Four sums side by side, as in Pd, which is built with vectors. A function of its own, so that they stay in one vector.
#[inline(never)]
fn sums_of_fours(weights: &[[f32; 4]], squares: &[[f32; 4]]) -> [f32; 4] {
    let mut sums = [0.0; 4];
    for (weights, squares) in weights.iter().zip(squares) {
        for (sum, (weight, square)) in sums.iter_mut().zip(weights.iter().zip(squares)) {
            *sum += weight * square;
        }
    }
    sums
}

impl Object for Envelope {
    held!(sums, phase, result; not window, points, squares, asked_period, period; check |it| it.phase <= it.period);

    fn prepare(&mut self, format: &RowFormat) {
        self.fit(format.frames);
    }

    fn accesses(&self, list: &mut Accesses) {
        list.sets_clocks();
    }

    fn may_batch(&self) -> bool {
        true
    }

    fn joins(&self, world: &SignalWorld<'_>) -> usize {
        // Up to the block with which a period ends.
        self.phase / world.frames() + 1
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
        for block in inlets.get(0).chunks(world.frames()) {
            self.take_block(block, world);
        }
    }
}

impl Envelope {
    /// Adds a block to the sums; with the last one of a period the result is there.
    fn take_block(&mut self, signal: &[f32], world: &mut SignalWorld<'_>) {
        square_backwards(&mut self.squares, signal);
        let mut at = self.phase;
        for sum in &mut self.sums {
            if at >= self.points {
                break;
            }
            *sum += weighted_power(&self.window[at..], &self.squares);
            at += self.period;
        }
        match self.phase.checked_sub(signal.len()) {
            Some(phase) if self.phase > 0 => self.phase = phase,
            _ => {
                self.result = self.sums[0];
                // They are few: a loop in place of a call.
                for at in 1..self.sums.len() {
                    self.sums[at - 1] = self.sums[at];
                }
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

    fn joins(&self, _: &SignalWorld<'_>) -> usize {
        1
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

    fn joins(&self, _: &SignalWorld<'_>) -> usize {
        1
    }

    fn clock(&mut self, _: u32, context: &mut Context<'_>) {
        context.send_bang(usize::from(!self.is_high));
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        let Some(number) = message.first_number() else {
            return Handled::No;
        };
        self.is_high = number != 0.0;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_is_summed_backwards_in_four_sums() {
        for frames in [1, 2, 4, 64, 128] {
            #[expect(clippy::cast_precision_loss, reason = "small")]
            let numbers = |factor: f32| -> Vec<f32> {
                (0..frames).map(|at| (at as f32 * factor).sin()).collect()
            };
            let (signal, weights) = (numbers(0.7), numbers(0.3));
            let mut squares = vec![0.0; frames];
            square_backwards(&mut squares, &signal);
            let expected = signal.iter().rev().map(|x| x * x);
            assert!(squares.iter().copied().eq(expected), "{frames}");
            let (mut sums, mut rest) = ([0.0_f32; 4], 0.0);
            for (at, (weight, square)) in weights.iter().zip(&squares).enumerate() {
                match at < frames / 4 * 4 {
                    true => sums[at % 4] += weight * square,
                    false => rest += weight * square,
                }
            }
            let sum = (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest;
            assert_eq!(weighted_power(&weights, &squares), sum, "{frames}");
        }
    }
}
