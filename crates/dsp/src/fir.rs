//! `fir`: a filter by its impulse response, computed directly.
//!
//! One input, one output, as wide as `channels` says. Each output frame is the sum of the last input frames, each times
//! one coefficient; without delay, whatever the block. The coefficients are, in this order of precedence, those of a
//! sound `file`, those written as `coefs`, or a designed low-pass or high-pass of `taps` coefficients at `freq`. A mono
//! file is for every channel; of any other file channel k is for channel k, and what it has not stays silent. A file of
//! another sample rate is converted.
//!
//! The cost is that of `taps` multiplications a sample, so there are at most 65,536 of them; what is longer is for
//! partitioned convolution. A block is split by frames over several cores where that pays.

mod design;
mod history;
mod sum;

use crate::knob::{channels, choice, fixed};
use crate::sample::channels_of;
use crate::split::{Split, split};
use crate::state;
use design::{Recipe, Shape};
use graph::{Kind, Param, ParamRange, PortSpec};
use history::History;
use processor::{
    Block, BlockPart, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError, Tail,
};
use std::sync::Arc;
use units::Frames;

/// The most coefficients.
pub(crate) const MOST_TAPS: usize = 65_536;
/// What one coefficient costs for one sample.
const TAP_NS: f64 = 0.05;

pub(crate) fn kind() -> Kind {
    let words = |name, range, doc| Param {
        name,
        unit: "",
        range,
        live: false,
        doc,
    };
    let taps = (1.0, MOST_TAPS as f64);
    Kind {
        inputs: vec![PortSpec::audio("in")],
        outputs: vec![PortSpec::audio("out")],
        params: vec![
            words(
                "file",
                ParamRange::File(false),
                "A sound file of at most 65,536 frames whose samples are the coefficients.",
            ),
            words(
                "coefs",
                ParamRange::Text,
                "The coefficients, the one for the newest frame first, with blanks or commas between.",
            ),
            fixed(
                "freq",
                "Hz",
                (1.0, 384_000.0),
                1000.0,
                "Where a designed filter is 6 dB down; held below 0.49 of the sample rate.",
            ),
            fixed(
                "taps",
                "",
                taps,
                127.0,
                "How many coefficients a designed filter has: the more, the steeper; an odd number for a high-pass.",
            ),
            choice(
                "mode",
                &["lowpass", "highpass"],
                "Which side of `freq` passes.",
            ),
            split(),
            channels(),
        ],
        typical_ns: 700,
        ..Kind::new(
            "fir",
            "A filter by its impulse response, computed directly.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    Ok(Box::new(Fir {
        recipe: Recipe::of(creation)?,
        shape: Arc::default(),
        lines: vec![History::default(); channels_of(creation.node)].into(),
        silent: 0,
        split: Split::of(creation)?,
    }))
}

#[derive(Clone)]
struct Fir {
    recipe: Recipe,
    shape: Arc<Shape>,
    lines: Box<[History]>,
    /// For how many frames nothing but silence has come in, as far as that is known.
    silent: usize,
    split: Split,
}

impl Fir {
    /// How many frames before the newest one are heard.
    fn reach(&self) -> usize {
        self.shape.taps() - 1
    }

    /// Whether all that is remembered is silence.
    fn is_at_rest(&self) -> bool {
        self.silent >= self.reach()
    }

    fn hear(&mut self, block: &Block<'_>) {
        let input = block.input(0);
        self.silent = if input.is_silent() {
            self.silent.saturating_add(block.frames())
        } else {
            0
        };
        for (c, line) in self.lines.iter_mut().enumerate() {
            line.write(input.channel(c), self.shape.loudest());
        }
    }

    fn play(&self, part: &mut BlockPart<'_>, frames: usize) {
        let range = part.range();
        let mut output = part.output(0);
        for (c, line) in self.lines.iter().enumerate() {
            let to = output.channel(c);
            match self.shape.channel(c) {
                Some(taps) => sum::sums(taps, line.last(frames), range.start, to),
                None => to.fill(0.0),
            }
        }
    }
}

impl Processor for Fir {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.shape = Arc::new(self.recipe.shape(setup.rate));
        let (taps, block) = (self.shape.taps(), setup.block.count());
        self.lines.fill(History::new(taps - 1, block));
        self.silent = usize::MAX;
        let channels = self.lines.len();
        let frame_ns = (taps * channels) as f64 * TAP_NS;
        self.split.set_up(setup, frame_ns, 2 * channels);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let silent = block.is_silent();
        let rested = self.is_at_rest();
        self.hear(block);
        if silent && rested {
            block.silence_outputs();
            return ProcessStatus::Sleep;
        }
        let frames = block.frames();
        let split = self.split;
        split.play(block, 0..frames, |part| self.play(part, frames));
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.lines.iter_mut().for_each(History::forget);
        self.silent = usize::MAX;
    }

    fn latency(&self) -> Frames {
        // A designed filter is symmetric: all of its sound is late by the half of it.
        let middle = if self.recipe.is_designed() {
            self.reach() / 2
        } else {
            0
        };
        Frames(middle as u32)
    }

    fn tail(&self) -> Tail {
        Tail::Frames(self.reach() as u64)
    }

    fn max_parallelism(&self) -> u32 {
        self.split.lanes()
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        for line in &self.lines {
            state::put(bytes, line.words());
        }
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let each = History::words_of(self.reach());
        let words = state::words(bytes, each * self.lines.len())?;
        for c in 0..self.lines.len() {
            // All are looked at before one is taken: a state that is refused changes nothing.
            History::check(words.from(c * each), self.reach())?;
        }
        for (c, line) in self.lines.iter_mut().enumerate() {
            line.take(words.from(c * each));
        }
        let silent = self.lines.iter().map(History::silent);
        self.silent = silent.min().unwrap_or(usize::MAX);
        Ok(())
    }
}
