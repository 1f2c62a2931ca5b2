//! [`Processor`]: the running half of a node, and what every processor promises.

use crate::{Block, SetupServices};
use std::fmt;
use units::{Frames, SampleRate};

/// How a graph is played: with a deadline, or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In real time: what is late is replaced by silence and counted.
    Live,
    /// As fast as possible: nothing is dropped, and a step waits for what it needs.
    Offline,
    /// As offline, but only to measure costs: files are read, and nothing outside the process is changed.
    DryRun,
}

/// Answer of a processor after a block: it must be called for the next one, or may sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessStatus {
    /// Call again next block.
    Continue,
    /// Until an input is not silent or an event comes, every output would be exactly silent and no state would change:
    /// the executor may skip the step and write silence. The processor has just written silence on every output.
    Sleep,
}

/// Time that the outputs may go on after the inputs have become silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// At most this many frames. Zero: silence in gives silence out in the same frame.
    Frames(u64),
    /// For ever: a source, or feedback that may ring on.
    Infinite,
}

/// Everything that a processor knows before it plays.
pub struct Setup<'a> {
    /// Sample rate.
    pub rate: SampleRate,
    /// Largest number of frames in a block.
    pub block: Frames,
    /// How the graph is played.
    pub mode: Mode,
    /// Where the processor registers work beside the step and numbers to show.
    pub services: &'a mut dyn SetupServices,
}

/// A saved state that a processor cannot load. It goes on with the state it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateError(pub String);

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StateError {}

/// The running half of a node.
///
/// One shared test (`check::conformance`) holds every processor to these promises:
///
/// - blocks of one frame give the bits of one large block;
/// - after [`reset`](Self::reset) it is as new;
/// - silence in gives silence out after the [`tail`](Self::tail);
/// - [`process`](Self::process) allocates nothing;
/// - denormals are flushed, and finite input gives finite output;
/// - a state that was [saved](Self::save) and [loaded](Self::load) goes on with the same bits.
pub trait Processor: Send {
    /// Prepares for playing: allocates, asks for services. Called once, before everything else, and again with another
    /// rate or block, after which the processor is as new.
    ///
    /// Real-time: setup.
    fn setup(&mut self, setup: &mut Setup<'_>);

    /// Plays one block, or one part of it: reads the inputs, writes every frame of every output.
    ///
    /// Real-time: hot.
    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus;

    /// Becomes as new, at once.
    ///
    /// Real-time: hot.
    fn reset(&mut self);

    /// Delay of the outputs against the inputs, in frames. It is asked for once, after the setup: it may depend on the
    /// block, and does not change while it plays. The plan delays whatever meets these outputs by as much.
    ///
    /// Real-time: hot.
    fn latency(&self) -> Frames {
        Frames(0)
    }

    /// Time that the outputs go on after the inputs.
    ///
    /// Real-time: hot.
    fn tail(&self) -> Tail {
        Tail::Frames(0)
    }

    /// Largest number of branches into which a step of it forks ([`Block::fork`]); 1 if it does not fork. A larger
    /// number tells the executor that more workers help than those that the graph itself keeps busy.
    ///
    /// Real-time: setup.
    fn max_parallelism(&self) -> u32 {
        1
    }

    /// Length in frames, for a source that ends by itself (a player). `None`: it does not end, or is no source.
    ///
    /// Real-time: setup.
    fn length(&self) -> Option<u64> {
        None
    }

    /// Appends the bytes that [`load`](Self::load) needs in order to go on from here. A kind that can be duplicated
    /// ([`graph::Kind::duplicable`]) always appends the same number of bytes: its copies load states on audio threads,
    /// where the memory for them cannot grow.
    ///
    /// Real-time: hot for a kind that can be duplicated, where there is room; else setup.
    fn save(&self, _state: &mut Vec<u8>) {}

    /// Goes on from a saved state. The state may come from a file: it is checked.
    ///
    /// # Errors
    ///
    /// The mistake in the state; then nothing has changed.
    ///
    /// Real-time: hot for a kind that can be duplicated, where the state is from such a node; else setup.
    fn load(&mut self, state: &[u8]) -> Result<(), StateError> {
        if state.is_empty() {
            Ok(())
        } else {
            Err(StateError("this kind keeps no state".into()))
        }
    }
}
