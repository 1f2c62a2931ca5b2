//! `fir`: a filter by its impulse response, computed directly.
//!
//! ```text
//! y[n] = Σk h[k] x[n - k]        k from 0 to taps - 1
//! ```
//!
//! The taps are, in this order of precedence, those of a sound `file`, those in the list `coefs`, or a designed low-pass or
//! high-pass of `taps` taps at `freq` (`design.rs`). A mono file is used on every channel; of any other file channel k is used
//! on channel k, and missing ones are silent. A file of another sample rate is resampled.
//!
//! The cost is `taps` multiplications a sample, so there are at most 65,536 of them; longer responses are for the node
//! `convolver`. A block is split by frames over several cores if that pays.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `file`, `coefs`, `freq`, `taps`, `mode`, `split` |
//! | latency | (`taps` - 1) / 2 for a designed filter, which is symmetric; none for others |
//! | tail | `taps` - 1 frames |
//!
//! | file | holds |
//! |---|---|
//! | `fir/design.rs` | where the taps come from |
//! | `fir/history.rs` | the last frames of each channel |
//! | `fir/convolve.rs` | the sum itself |

mod convolve;
mod design;
mod history;

use crate::param::channels;
use crate::sample::channel_count;
use crate::split::{BlockSplit, split};
use crate::state;
use design::{ImpulseResponse, TapSource};
use graph::{Kind, Param};
use history::History;
use processor::{
    Block, BlockPart, ForkState, MakeContext, MakeError, ProcessStatus, Processor, Setup,
    StateError, Tail,
};
use std::sync::Arc;
use units::Frames;

/// Largest number of taps.
pub(crate) const MAX_TAPS: usize = 65_536;
/// Cost of one tap for one sample, in ns.
const TAP_NS: f64 = 0.05;

pub(crate) fn kind() -> Kind {
    let taps = (1.0, MAX_TAPS as f64);
    Kind {
        params: vec![
            Param::file("file", false).doc("Sound file with the taps, at most 65,536 frames."),
            Param::text("coefs").doc(
                "List of taps, the one for the newest frame first, with blanks or commas \
                 between.",
            ),
            Param::number("freq", (1.0, 384_000.0), 1000.0)
                .unit("Hz")
                .doc(
                    "Frequency at which a designed filter is 6 dB down; held below 0.49 of the \
                 sample rate.",
                ),
            Param::number("taps", taps, 127.0)
                .doc("Number of taps of a designed filter: more are steeper; odd for a high-pass."),
            Param::choice("mode", &["lowpass", "highpass"]).doc("Side of `freq` that passes."),
            split(),
            channels(),
        ],
        typical_ns: 700,
        ..Kind::effect(
            "fir",
            "A filter by its impulse response, computed directly.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    Ok(Box::new(Fir {
        source: TapSource::from_node(creation)?,
        taps: ForkState::new(TapLines {
            response: Arc::default(),
            lines: vec![History::default(); channel_count(creation.node)].into(),
        }),
        silent: 0,
        split: BlockSplit::from_node(creation)?,
    }))
}

#[derive(Clone)]
struct Fir {
    source: TapSource,
    taps: ForkState<TapLines>,
    /// Frames since the last input that was not silent, as far as known.
    silent: usize,
    split: BlockSplit,
}

/// The response and the input, which all parts of a block read.
#[derive(Clone)]
struct TapLines {
    response: Arc<ImpulseResponse>,
    lines: Box<[History]>,
}

impl Fir {
    /// Frames before the newest one that a sum needs.
    fn memory(&self) -> usize {
        self.taps.response.taps() - 1
    }

    /// Returns true if the history holds nothing but silence.
    fn is_silent(&self) -> bool {
        self.silent >= self.memory()
    }

    fn write_input(&mut self, block: &Block<'_>) {
        let input = block.input(0);
        self.silent = if input.is_silent() {
            self.silent.saturating_add(block.frames())
        } else {
            0
        };
        let TapLines { response, lines } = &mut *self.taps;
        for (c, line) in lines.iter_mut().enumerate() {
            line.write(input.channel(c), response.max_input());
        }
    }
}

impl TapLines {
    fn process_part(&self, part: &mut BlockPart<'_>, frames: usize) {
        let range = part.range();
        let mut output = part.output(0);
        for (c, line) in self.lines.iter().enumerate() {
            let to = output.channel(c);
            match self.response.channel(c) {
                Some(taps) => convolve::convolve(taps, line.last(frames), range.start, to),
                None => to.fill(0.0),
            }
        }
    }
}

impl Processor for Fir {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.taps.response = Arc::new(self.source.response(setup.rate));
        let (taps, block) = (self.taps.response.taps(), setup.block.count());
        self.taps.lines.fill(History::new(taps - 1, block));
        self.silent = usize::MAX;
        let channels = self.taps.lines.len();
        let frame_ns = (taps * channels) as f64 * TAP_NS;
        self.split.setup(setup, frame_ns, 2 * channels);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let silent = block.is_silent();
        let rested = self.is_silent();
        self.write_input(block);
        if silent && rested {
            block.silence_outputs();
            return ProcessStatus::Sleep;
        }
        let frames = block.frames();
        let split = self.split;
        split.process_with(block, &mut self.taps, 0..frames, move |taps, part| {
            taps.process_part(part, frames);
        });
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.taps.lines.iter_mut().for_each(History::clear);
        self.silent = usize::MAX;
    }

    fn latency(&self) -> Frames {
        // A designed filter is symmetric: its group delay is half its length.
        let middle = if self.source.is_designed() {
            self.memory() / 2
        } else {
            0
        };
        Frames(middle as u32)
    }

    fn tail(&self) -> Tail {
        Tail::Frames(self.memory() as u64)
    }

    fn max_parallelism(&self) -> u32 {
        self.split.max_parallelism()
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        for line in &self.taps.lines {
            state::put(bytes, line.words());
        }
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let each = History::state_words(self.memory());
        let words = state::words(bytes, each * self.taps.lines.len())?;
        for c in 0..self.taps.lines.len() {
            // All are checked before one is loaded: a state that is refused changes nothing.
            History::check(words.from(c * each), self.memory())?;
        }
        for (c, line) in self.taps.lines.iter_mut().enumerate() {
            line.load(words.from(c * each));
        }
        let silent = self.taps.lines.iter().map(History::silent);
        self.silent = silent.min().unwrap_or(usize::MAX);
        Ok(())
    }
}
