//! `delwrite~` and its readers (`d_delay.c`).
//!
//! A reader that computes before its writer reads the block before: it then subtracts one block from its time, and cannot read what is
//! newer.

use super::cubic::{CubicRun, RUN, floor, index};
use super::ramps::is_odd;
use crate::control::{Context, Handled, Making, Message, Object, SampleBudget, Symbol, words};
use crate::signal::{Accesses, Inlets, RowFormat, SharedName, SharedSamples, SignalWorld};
use crate::state::held;
use rt::vectors::{WideWork, widest};

/// Frames that are repeated before the begin of a line, for the cubic.
const MARGIN: usize = 4;

/// The least index at which a line is written.
pub(in crate::signal) const FIRST_OF_LINE: usize = MARGIN;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    let name = making.symbol(0).unwrap_or(words::EMPTY);
    Some(match making.class {
        "delwrite~" => {
            let ms = making.number(1, 0.0).max(0.0);
            let globals = &mut *making.globals;
            globals.delay_lines += 1;
            globals.silenced_lines.reserve(globals.delay_lines);
            Box::new(DelayWrite {
                name,
                ms,
                format: RowFormat::outermost(globals.rate),
                budget: globals.arrays.budget.clone(),
            })
        }
        "delread~" => Box::new(DelayRead {
            name,
            ms: making.number(1, 0.0),
        }),
        "delread4~" => Box::new(DelayRead4 { name }),
        _ => return None,
    })
}

struct DelayWrite {
    name: Symbol,
    ms: f32,
    format: RowFormat,
    budget: SampleBudget,
}

/// Longest line, in frames.
const MAX_FRAMES: f32 = 268_435_456.0;

impl DelayWrite {
    fn new_line(&self) -> SharedSamples {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bounded"
        )]
        let frames = (self.ms * self.format.rate * 0.001).clamp(1.0, MAX_FRAMES) as usize;
        let frames = if self.budget.claim(frames) { frames } else { 1 };
        let frames = frames.next_multiple_of(4) + self.format.frames;
        SharedSamples {
            samples: vec![0.0; frames + MARGIN],
            phase: MARGIN,
        }
    }
}

impl Object for DelayWrite {
    held!(; not name, ms, format, budget);

    fn accesses(&self, list: &mut Accesses) {
        let line = SharedName::Delay(self.name);
        list.makes(line, self.new_line()).writes(line);
    }

    fn prepare(&mut self, format: &RowFormat) {
        self.format = *format;
    }

    fn may_join(&self) -> bool {
        true
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        if message.selector != words::CLEAR {
            return Handled::No;
        }
        let lines = &mut context.globals().silenced_lines;
        if !lines.contains(&self.name) {
            lines.push(self.name);
        }
        Handled::Yes
    }

    fn perform(&mut self, inlets: &Inlets<'_>, _: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        let Some(mut line) = world.write(SharedName::Delay(self.name)) else {
            return;
        };
        let line = &mut *line;
        let end = line.samples.len();
        let mut rest = inlets.get(0);
        while !rest.is_empty() {
            let (run, after) = rest.split_at(rest.len().min(end - line.phase));
            let to = &mut line.samples[line.phase..line.phase + run.len()];
            for (to, x) in to.iter_mut().zip(run) {
                *to = if is_odd(*x) { 0.0 } else { *x };
            }
            (line.phase, rest) = (line.phase + run.len(), after);
            if line.phase == end {
                line.samples.copy_within(end - MARGIN.., 0);
                line.phase = MARGIN;
            }
        }
    }
}

struct DelayRead {
    name: Symbol,
    ms: f32,
}

impl DelayRead {
    /// Frames from the sample that is read to the next one that is written, if `count` frames are read at once from a line of `frames`.
    fn delay(&self, world: &SignalWorld<'_>, frames: usize, count: usize) -> usize {
        let block = world.frames();
        let asked = 0.5 + f64::from(self.ms * per_ms(world.rate()));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below 0 is 0"
        )]
        let asked = asked as usize;
        match world.is_written(SharedName::Delay(self.name)) {
            true => asked.saturating_add(block).clamp(block, frames) - block + count,
            false => asked.clamp(block, frames),
        }
    }
}

impl Object for DelayRead {
    held!(ms; not name);

    fn may_join(&self) -> bool {
        true
    }

    fn joins(&self, world: &SignalWorld<'_>) -> usize {
        let name = SharedName::Delay(self.name);
        let Some(line) = world.read(name) else {
            return usize::MAX;
        };
        let (block, frames) = (world.frames(), line.samples.len() - MARGIN);
        // What is read must have been written, and not be written over yet.
        match world.is_written(name) {
            true => (frames - self.delay(world, frames, 0)) / block,
            false => self.delay(world, frames, block) / block,
        }
    }

    fn accesses(&self, list: &mut Accesses) {
        list.reads(SharedName::Delay(self.name));
    }

    fn float(&mut self, number: f32, _: &mut Context<'_>) -> Handled {
        self.ms = number;
        Handled::Yes
    }

    fn perform(&mut self, _: &Inlets<'_>, outlets: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        let out = &mut outlets[0];
        let Some(line) = world.read(SharedName::Delay(self.name)) else {
            return out.fill(0.0);
        };
        let frames = line.samples.len() - MARGIN;
        let delay = self.delay(world, frames, out.len());
        let mut at = match line.phase.checked_sub(delay) {
            Some(at) if at >= MARGIN => at,
            Some(at) => at + frames,
            None => line.phase + frames - delay,
        };
        let mut rest = &mut out[..];
        while !rest.is_empty() {
            let count = rest.len().min(line.samples.len() - at);
            let (run, after) = rest.split_at_mut(count);
            run.copy_from_slice(&line.samples[at..at + count]);
            (at, rest) = (at + count, after);
            if at == line.samples.len() {
                at -= frames;
            }
        }
    }
}

struct DelayRead4 {
    name: Symbol,
}

impl Object for DelayRead4 {
    held!(; not name);

    fn accesses(&self, list: &mut Accesses) {
        list.reads(SharedName::Delay(self.name));
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let out = &mut outlets[0];
        let Some(line) = world.read(SharedName::Delay(self.name)) else {
            return out.fill(0.0);
        };
        #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
        let (block, frames) = (out.len() as f32, (line.samples.len() - MARGIN) as f32);
        let before = if world.is_written(SharedName::Delay(self.name)) {
            0.0
        } else {
            block
        };
        let limit = frames - block;
        if limit < 0.0 {
            return out.fill(0.0);
        }
        let places = LinePlaces {
            per_ms: per_ms(world.rate()),
            before,
            limit,
            size: bounded(line.samples.len() - MARGIN),
            phase: bounded(line.phase),
        };
        let mut last = block - 1.0;
        let runs = inlets.get(0).chunks(RUN);
        for (to, times) in out.chunks_mut(RUN).zip(runs) {
            widest(ReadLine(&places, (times, last), &line.samples, to));
            last -= RUN as f32;
        }
    }
}

/// Numbers by which places in a line follow from times.
struct LinePlaces {
    per_ms: f32,
    /// Frames that are taken away from a delay.
    before: f32,
    /// The longest delay.
    limit: f32,
    size: i32,
    phase: i32,
}

impl LinePlaces {
    /// The places of `times`, of which the first is `last` frames before the end of the block.
    #[inline(always)]
    fn find(&self, (times, last): (&[f32], f32), run: &mut CubicRun) {
        for ((frame, (first, fraction)), ms) in FRAMES.iter().zip(run.places()).zip(times) {
            let delay = self.per_ms * ms - self.before;
            let delay = if delay >= 1.00001 { delay } else { 1.00001 };
            let limit = self.limit;
            let delay = if delay > limit { limit } else { delay } + (last - frame);
            let whole = floor(f64::from(delay));
            #[expect(clippy::cast_possible_truncation, reason = "a fraction of a float")]
            let part = (f64::from(delay) - whole) as f32;
            *fraction = part;
            let at = self.phase - index(whole).cast_signed();
            let at = if at < MARGIN as i32 {
                at + self.size
            } else {
                at
            };
            // Its last point is three before.
            *first = (at - 3).cast_unsigned();
        }
    }
}

/// The loops of `delread4~`.
struct ReadLine<'s>(&'s LinePlaces, (&'s [f32], f32), &'s [f32], &'s mut [f32]);

impl WideWork for ReadLine<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(places, times, samples, to) = self;
        let mut run = CubicRun::new();
        places.find(times, &mut run);
        run.read_wide::<true>(samples, to);
    }
}

/// Frames of a run, counted from 0.
const FRAMES: [f32; RUN] = {
    let mut frames = [0.0; RUN];
    let mut at = 1;
    while at < RUN {
        frames[at] = frames[at - 1] + 1.0;
        at += 1;
    }
    frames
};

/// An index of a line, which is at most [`MAX_FRAMES`] long.
fn bounded(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}

/// Frames in a millisecond, rounded once.
#[expect(clippy::cast_possible_truncation, reason = "Pd's numbers are floats")]
fn per_ms(rate: f32) -> f32 {
    (f64::from(rate) * 0.001) as f32
}
