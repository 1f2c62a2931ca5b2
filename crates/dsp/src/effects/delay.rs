//! `delay`: a delay line, read at whole frames.
//!
//! ```text
//! write step ──▶ [ line: as long as `max_time` ] ──▶ read step: y[n] = x[n - time × rate, rounded]
//! change of `time`: crossfade of 20 ms, y = old × w + new × (1 - w), w from 1 to 0
//! ```
//!
//! The line belongs to the executor (a delay is two steps on one line, so that a cycle can go through it); this is the half
//! that reads. A change of `time` during a crossfade waits for its end. `min_time` and `max_time` bound what `time` may become:
//! the line is as long as `max_time`, and a cycle through the delay is computed in sub-blocks no longer than `min_time`.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `time` 0 to 1200 s, live; `min_time`, `max_time` in seconds |
//! | latency | none: its delay is meant |
//! | tail | `max_time`, and two crossfades |
//! | driven | `time` at audio rate, within `min_time` and `max_time`: no crossfade, read between two frames on a straight line |

use crate::param::{ParamSpec, channels};
use crate::sample::{channel_count, clamp_sample};
use crate::state;
use crate::steps::{BlockSpan, block_spans};
use graph::{DelayParams, Kind, KindPicture, Param};
use processor::{
    Block, DelayLineView, InRow, MakeContext, MakeError, ProcessStatus, Processor, RowKind,
    RowStatus, Setup, StateError, StepRow, Tail,
};
use rt::vectors::{WideWork, widest};
use std::ops::Range;
use units::{Frames, SampleRate};

const MAX_DELAY_S: f64 = 1200.0;
const FADE_S: f64 = 0.02;

const TIME: ParamSpec = ParamSpec::new(0, "time", (0.0, MAX_DELAY_S), f64::NAN)
    .unit("s")
    .doc("Delay, to the nearest frame; between frames if it is driven at audio rate.")
    .audio_rate();

pub(crate) fn kind() -> Kind {
    let bound = |name, doc| {
        Param::number(name, (0.0, MAX_DELAY_S), 0.0)
            .unit("s")
            .doc(doc)
    };
    Kind {
        params: vec![
            TIME.param(),
            bound(
                "min_time",
                "Smallest value that `time` may take; `time` if absent.",
            ),
            bound(
                "max_time",
                "Largest value that `time` may take; `time` if absent.",
            ),
            channels(),
        ],
        renamed: vec![("least", "min_time"), ("most", "max_time")],
        delay: Some(DelayParams {
            time: "time",
            min: "min_time",
            max: "max_time",
        }),
        typical_ns: 200,
        picture: KindPicture::Step,
        ..Kind::effect("delay", "A delay line.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let time = TIME.read(creation)?;
    let bound = |key| match creation.node.param(key) {
        Some(_) => creation.number(key),
        None => Ok(time),
    };
    let range = (bound("min_time")?.min(time), bound("max_time")?.max(time));
    let channels = channel_count(creation.node);
    if creation.is_driven(TIME.index) {
        return Ok(Box::new(DrivenDelay {
            range,
            rate: None,
            channels,
        }));
    }
    Ok(Box::new(Delay {
        initial: time,
        range,
        rate: None,
        fade: TapFade::default(),
        channels,
    }))
}

#[derive(Clone)]
struct Delay {
    initial: f64,
    range: (f64, f64),
    rate: Option<SampleRate>,
    fade: TapFade,
    channels: usize,
}

/// Crossfade between two taps of the line, in frames of delay.
#[derive(Clone, Copy, Default)]
struct TapFade {
    from: u32,
    to: u32,
    /// Tap of the crossfade after this one.
    next: u32,
    left: u32,
    length: u32,
}

impl TapFade {
    fn set(&mut self, tap: u32) {
        (self.from, self.to, self.next, self.left) = (tap, tap, tap, 0);
    }

    /// Returns true if no crossfade is under way or waits.
    #[inline]
    fn is_settled(&self) -> bool {
        self.left == 0 && self.next == self.to
    }

    /// Begins the next crossfade if this one is over and there is one.
    fn start_next(&mut self) {
        if self.left == 0 && self.next != self.to {
            (self.from, self.to, self.left) = (self.to, self.next, self.length);
        }
    }

    fn read(
        mut self,
        line: DelayLineView<'_>,
        channel: usize,
        range: Range<usize>,
        to: &mut [f32],
    ) -> Self {
        if self.is_settled() {
            line.read_run(channel, range.start, self.to, to);
            return self;
        }
        for (frame, y) in range.zip(to) {
            self.start_next();
            let new = line.read(channel, frame, self.to);
            *y = new;
            if self.left > 0 {
                let old = line.read(channel, frame, self.from);
                let weight = self.left as f32 / self.length as f32;
                *y = clamp_sample(old * weight + new * (1.0 - weight));
                self.left -= 1;
            }
        }
        self
    }
}

impl Delay {
    /// `time` in frames, rounded, within its range.
    fn tap(&self, time: f64) -> u32 {
        let rate = self.rate.map_or(0.0, |r| f64::from(r.hz()));
        let (min, max) = self.range;
        // The plan has rounded `min` down and `max` up.
        (time.clamp(min, max) * rate + 0.5) as u32
    }

    fn process_range(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let Some(line) = block.delay_line() else {
            block.silence_outputs();
            return;
        };
        let mut after = self.fade;
        let mut output = block.output(0);
        for c in 0..self.channels {
            let to = &mut output.channel(c)[range.clone()];
            after = self.fade.read(line, c, range.clone(), to);
        }
        self.fade = after;
    }
}

impl Delay {
    /// Copies the only channel of a block in which the delay does not change, if its frames lie behind each other in the line. Returns false
    /// if there is more to do.
    #[inline(always)]
    fn copy_line(&self, line: DelayLineView<'_>, to: &mut [f32]) -> bool {
        match line.run(0, self.fade.to, to.len()) {
            Some(from) => copy_sounding(from, to),
            None => false,
        }
    }

    /// Returns true for nearly all blocks: the delay does not change.
    #[inline(always)]
    fn is_steady(&self, block: &Block<'_>) -> bool {
        self.fade.is_settled() && !block.may_have_events()
    }

    /// Copies a steady block as [`copy_line`](Self::copy_line) does. Returns false if there is more to do.
    #[inline(always)]
    fn copy_run(&self, block: &mut Block<'_>) -> bool {
        let (Some(line), 1) = (block.delay_line(), self.channels) else {
            return false;
        };
        self.copy_line(line, block.output(0).channel(0))
    }

    /// Processes a block in which the delay may change, or whose frames may be silent.
    #[inline(never)]
    fn process_moving(&mut self, block: &mut Block<'_>) {
        if self.is_steady(block) {
            self.process_range(block, 0..block.frames());
        } else {
            self.process_steps(block);
        }
        let mut output = block.output(0);
        let is_zero = |x: &f32| x.to_bits() == 0;
        if (0..self.channels).all(|c| output.channel(c).iter().all(is_zero)) {
            output.silence();
        }
    }

    /// Processes a block in which the delay may change.
    #[inline(never)]
    fn process_steps(&mut self, block: &mut Block<'_>) {
        for span in block_spans(block) {
            match span {
                BlockSpan::Event(event) => {
                    if let Some(time) = TIME.value_of(&event) {
                        self.fade.next = self.tap(time);
                    }
                }
                BlockSpan::Process(range) => self.process_range(block, range),
            }
        }
    }
}

impl Processor for Delay {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.rate = Some(setup.rate);
        self.fade.length = Frames::from_seconds_ceil(FADE_S, setup.rate).0.max(1);
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        if !(self.is_steady(block) && widest(Steady(self, block))) {
            self.process_moving(block);
        }
        // Not asleep: the line may still hold sound, which this half does not see.
        ProcessStatus::Continue
    }

    fn row(&self) -> Option<RowKind> {
        Some(RowKind::of::<Self>())
    }

    fn reset(&mut self) {
        self.fade.set(self.tap(self.initial));
    }

    fn tail(&self) -> Tail {
        let fade = 2 * u64::from(self.fade.length);
        Tail::Frames(u64::from(self.tap(self.range.1)) + fade)
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let TapFade {
            from,
            to,
            next,
            left,
            ..
        } = self.fade;
        state::put(bytes, [self.initial.to_bits()]);
        state::put(bytes, [from, to, next, left].map(u64::from));
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 5)?;
        let initial = words.number(0)?;
        let (min, max) = (self.tap(self.range.0), self.tap(self.range.1));
        let tap = |word: u64| word.clamp(u64::from(min), u64::from(max)) as u32;
        self.fade.from = tap(words.at(1));
        self.fade.to = tap(words.at(2));
        self.fade.next = tap(words.at(3));
        self.fade.left = words.at(4).min(u64::from(self.fade.length)) as u32;
        if initial != self.initial {
            self.fade.next = self.tap(self.initial);
        }
        Ok(())
    }
}

/// Copies samples. Returns false if all are +0.0.
#[inline(always)]
fn copy_sounding(from: &[f32], to: &mut [f32]) -> bool {
    rt::vectors::copy_any(
        from,
        to,
        #[inline(always)]
        |x| x.to_bits(),
    )
}

/// A steady block of a delay.
struct Steady<'a, 'b>(&'a Delay, &'a mut Block<'b>);

impl WideWork for Steady<'_, '_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        self.0.copy_run(self.1)
    }
}

/// Blocks of delays whose steps follow each other.
struct Blocks<'a>(StepRow<'a, Delay>);

impl WideWork for Blocks<'_> {
    type Output = RowStatus;

    #[inline(always)]
    fn run(self) -> RowStatus {
        self.0.process_lines(
            #[inline(always)]
            |delay, line, to| delay.fade.is_settled() && delay.copy_line(line, to),
            |delay, block| {
                delay.process_moving(block);
                ProcessStatus::Continue
            },
        )
    }
}

impl InRow for Delay {
    const OUTPUTS: usize = 1;

    fn process_row(row: StepRow<'_, Self>) -> RowStatus {
        widest(Blocks(row))
    }
}

/// A delay whose `time` is driven at audio rate.
#[derive(Clone)]
struct DrivenDelay {
    range: (f64, f64),
    rate: Option<SampleRate>,
    channels: usize,
}

impl Processor for DrivenDelay {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.rate = Some(setup.rate);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let (line, time) = (block.delay_line(), block.param_signal(TIME.index));
        let (Some(line), Some(time)) = (line, time) else {
            block.silence_outputs();
            return ProcessStatus::Continue;
        };
        let rate = self.rate.map_or(0.0, |rate| rate.hz() as f32);
        let mut output = block.output(0);
        let mut is_silent = true;
        for c in 0..self.channels {
            for (frame, (y, time)) in output.channel(c).iter_mut().zip(time).enumerate() {
                let delay = time * rate;
                let whole = delay as u32;
                let fraction = delay - whole as f32;
                let newer = line.read(c, frame, whole);
                let older = line.read(c, frame, whole.saturating_add(1));
                *y = clamp_sample(newer * (1.0 - fraction) + older * fraction);
                is_silent &= y.to_bits() == 0;
            }
        }
        if is_silent {
            output.silence();
        }
        // Not asleep: the line may still hold sound, which this half does not see.
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        let rate = self.rate.map_or(0, SampleRate::hz);
        Tail::Frames((self.range.1 * f64::from(rate)) as u64 + 2)
    }
}
