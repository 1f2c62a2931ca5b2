//! `vline~`: ramps that begin and end between samples (`d_ctl.c`).

use super::arithmetic::set;
use super::even_sums;
use super::ramps::is_odd;
use crate::control::{Context, EarlyWords, Handled, Message, Object, Value, words};
use crate::signal::loops::RUN;
use crate::signal::{Inlets, SignalWorld};
use crate::state::held;

#[expect(clippy::cast_possible_truncation, reason = "Pd's signals are floats")]
fn narrow(x: f64) -> f32 {
    x as f32
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
pub(super) struct SampleLine {
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

/// Samples that are worth it to be computed at once.
const MIN_AT_ONCE: usize = 8;
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
    /// Begins a ramp to a number that came at the logical time `now_ms`, in milliseconds, or jumps there.
    fn go_to(&mut self, target: f32, now_ms: f64) {
        let number = if is_odd(target) { 0.0 } else { target };
        if self.delay_ms < 0.0 {
            self.stop();
            self.value = f64::from(number);
            return;
        }
        let over = f64::from(if self.next_ms < 0.0 {
            0.0
        } else {
            self.next_ms
        });
        let begin = now_ms + f64::from(self.delay_ms);
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
    }

    /// Returns true if nothing begins or ends before `time`.
    fn is_steady_before(&self, time: f64) -> bool {
        let begins = self.waiting.front().is_some_and(|next| next.begin < time);
        !begins && self.end > time
    }

    /// Computes samples, and takes what begins and ends between them.
    fn run(&mut self, mut to: &mut [f32], mut time: f64, ms_per_sample: f64) {
        while !to.is_empty() {
            let quiet = self.run_quietly(to, &mut time, ms_per_sample);
            let Some((to_here, behind)) = to[quiet..].split_first_mut() else {
                return;
            };
            let next = time + ms_per_sample;
            let mut value = self.value;
            self.begin_segments(next, &mut value, ms_per_sample);
            if self.end <= next {
                value = self.target;
                (self.step, self.end) = (0.0, 1e20);
            }
            *to_here = narrow(value);
            (self.value, time) = (value + self.step, next);
            to = behind;
        }
    }

    /// Computes the samples up to one at which something begins or ends. Gives their number.
    #[inline(always)]
    fn run_quietly(&mut self, to: &mut [f32], time: &mut f64, ms_per_sample: f64) -> usize {
        let begin = self.waiting.front().map_or(f64::INFINITY, |it| it.begin);
        let (end, step) = (self.end, self.step);
        let mut count = self.run_surely(to, time, begin.min(end), ms_per_sample);
        let (mut value, mut now) = (self.value, *time);
        for to in &mut to[count..] {
            let next = now + ms_per_sample;
            if begin < next || end <= next {
                break;
            }
            *to = narrow(value);
            (value, now) = (value + step, next);
            count += 1;
        }
        (self.value, *time) = (value, now);
        count
    }

    /// Computes samples that end before `event`, however the sums of times are rounded: some of those that do. Gives their number.
    #[inline(always)]
    fn run_surely(
        &mut self,
        to: &mut [f32],
        time: &mut f64,
        event: f64,
        ms_per_sample: f64,
    ) -> usize {
        let mut done = 0;
        loop {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "others saturate"
            )]
            let sure = ((event - *time) / ms_per_sample - 2.0) as usize;
            let to = &mut to[done..];
            let count = sure.min(to.len()).min(RUN);
            let after = even_sums::doubles_after(*time, ms_per_sample, count);
            let Some(after) = after.filter(|_| count >= MIN_AT_ONCE) else {
                return done;
            };
            self.value = even_sums::write_doubles(&mut to[..count], self.value, self.step);
            *time = after;
            done += count;
        }
    }

    /// Goes on as before.
    fn go_on(&mut self, to: &mut [f32]) {
        if self.step == 0.0 && (self.value + 0.0).to_bits() == self.value.to_bits() {
            return to.fill(narrow(self.value));
        }
        self.value = even_sums::write_doubles(to, self.value, self.step);
    }
}

impl Object for SampleLine {
    held!(
        value, step, target, end, next_ms, delay_ms, last_now, next_block, waiting
    );

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        self.go_to(number, context.clocks().ms_since(0.0));
        Handled::Yes
    }

    fn takes_early(&self, inlet: usize, words: EarlyWords) -> bool {
        inlet == 0 || matches!(words, EarlyWords::One(_))
    }

    fn take_early(&mut self, inlet: usize, words: EarlyWords, now_ms: f64) {
        match (inlet, words) {
            (0, EarlyWords::One(target)) => self.go_to(target, now_ms),
            (1, EarlyWords::One(ms)) => self.next_ms = ms,
            (_, EarlyWords::One(ms)) => self.delay_ms = ms,
            (_, EarlyWords::Two([target, ms])) => {
                self.next_ms = ms;
                self.go_to(target, now_ms);
            }
        }
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        if message.selector != words::STOP {
            return Handled::No;
        }
        self.stop();
        Handled::Yes
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        match values {
            [Value::Float(target), Value::Float(ms)] => {
                self.next_ms = *ms;
                self.float(*target, context)
            }
            _ => Handled::No,
        }
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        let ms = match inlet {
            1 => &mut self.next_ms,
            _ => &mut self.delay_ms,
        };
        set(message, Some(ms))
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
        let time = self.next_block;
        self.next_block = time + frames * ms_per_sample;
        if self.is_steady_before(time + (frames + 1.0) * ms_per_sample) {
            return self.go_on(&mut outlets[0]);
        }
        self.run(&mut outlets[0], time, ms_per_sample);
    }
}
