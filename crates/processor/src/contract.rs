//! [`Processor`]: the running half of a node, and the promises of every processor.

use crate::{BankKind, Block, RowKind, SetupServices};
use std::any::Any;
use units::{Frames, SampleRate};

/// Mode in which a graph runs: with a deadline, or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In real time. Late results are replaced by silence and counted.
    Live,
    /// As fast as possible. Nothing is dropped: a step waits for the results that it needs.
    Offline,
    /// As offline, but only to measure costs: files are read, and nothing outside the process is changed.
    DryRun,
}

/// Result of [`Processor::process`]: the processor must be called for the next block, or it may sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessStatus {
    /// The processor must be called for the next block.
    Continue,
    /// The processor has just written silence to every output. As long as all inputs are silent and no event comes,
    /// every output would be exactly silent and no state would change. So the executor may skip the step and write
    /// silence. It wakes the step where the [`Transport`](crate::Transport) changes.
    Sleep,
}

/// Duration of the outputs after the inputs have become silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// At most this many frames. With 0, a silent input frame gives a silent output frame.
    Frames(u64),
    /// Not limited: a source, or feedback that may not decay.
    Infinite,
}

/// Argument of [`Processor::setup`].
pub struct Setup<'a> {
    /// Sample rate.
    pub rate: SampleRate,
    /// Largest number of frames in a block.
    pub block: Frames,
    /// Mode in which the graph runs.
    pub mode: Mode,
    /// Registers deferred and background work, and gauges.
    pub services: &'a mut dyn SetupServices,
}

/// Error of [`Processor::load`]: the saved state does not fit. The processor keeps its present state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StateError(pub String);

/// Input that a node has heard: a ring of samples for each channel of its input, one behind the other. Absolute frame `position`
/// is at `position & (capacity - 1)`.
pub struct Past<'a> {
    /// The rings.
    pub samples: &'a mut [f32],
    /// Frames of a ring, a power of two.
    pub capacity: usize,
    /// Bounds that [`Processor::load_past`] must know: from where to where the samples are true, and more.
    pub bounds: [u64; 4],
}

/// The running half of a node.
///
/// One shared test (`check::conformance`) holds every processor to these promises:
///
/// - blocks of one frame give the bits of one large block;
/// - after [`reset`](Self::reset) it behaves as after the setup;
/// - silence in gives silence out after the [`tail`](Self::tail);
/// - [`process`](Self::process) allocates nothing;
/// - denormals are flushed, and finite input gives finite output;
/// - with a state that was [saved](Self::save) and [loaded](Self::load) it continues with the same bits.
pub trait Processor: Any + Send {
    /// Prepares for processing: allocates, registers services. Called once, before everything else, and again with
    /// another rate or block. Each call resets the processor.
    ///
    /// Real-time: setup.
    fn setup(&mut self, setup: &mut Setup<'_>);

    /// Processes one block, or one part of it: reads the inputs, writes every frame of every output.
    ///
    /// Real-time: hot.
    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus;

    /// Returns to the state after the setup, in this call.
    ///
    /// Real-time: hot.
    fn reset(&mut self);

    /// Delay of the outputs relative to the inputs, in frames. It is read once, after the setup: it may depend on the
    /// block size and must not change later. The plan delays parallel paths by as much.
    ///
    /// Real-time: hot.
    fn latency(&self) -> Frames {
        Frames(0)
    }

    /// Duration of the outputs after the inputs have become silent.
    ///
    /// Real-time: hot.
    fn tail(&self) -> Tail {
        Tail::Frames(0)
    }

    /// Largest number of branches into which a step of it forks ([`Block::fork`]); 1 if it does not fork. With more
    /// than 1, the executor may use more workers than the graph itself keeps busy.
    ///
    /// Real-time: setup.
    fn max_parallelism(&self) -> u32 {
        1
    }

    /// The way in which it is computed side by side with others of its type, if that is faster; then it never forks.
    ///
    /// Real-time: setup.
    fn bank(&self) -> Option<BankKind> {
        None
    }

    /// The way in which it is processed in a row with others of its type ([`InRow`](crate::InRow)), if a step costs as much as its
    /// samples; then it never forks.
    ///
    /// Real-time: setup.
    fn row(&self) -> Option<RowKind> {
        None
    }

    /// Length in frames, for a source that ends by itself (a player). `None`: it does not end, or is no source.
    ///
    /// Real-time: setup.
    fn length(&self) -> Option<u64> {
        None
    }

    /// Appends the bytes that [`load`](Self::load) needs to continue from here. It always appends the same number of
    /// bytes: states are saved on audio threads, where the buffer cannot grow.
    ///
    /// Real-time: hot if `state` has the capacity.
    fn save(&self, _state: &mut Vec<u8>) {}

    /// Number of parts of what it holds for which [`save`](Self::save) has no room: they begin anew where a state is loaded. If there is no room for
    /// any, no byte is saved.
    ///
    /// Real-time: setup.
    fn unsaved(&self) -> usize {
        0
    }

    /// Continues from a saved state. The state may come from a file, so it is checked.
    ///
    /// # Errors
    ///
    /// The state does not fit. Then the processor has not changed.
    ///
    /// Real-time: hot for a kind that can be duplicated, with a state of such a node; else setup.
    fn load(&mut self, state: &[u8]) -> Result<(), StateError> {
        if state.is_empty() {
            Ok(())
        } else {
            Err(StateError("this kind keeps no state".into()))
        }
    }

    /// Begins to keep what it hears, for a kind whose state is its input of some time and too long for
    /// [`save`](Self::save).
    ///
    /// Real-time: setup.
    fn keep_past(&mut self) {}

    /// The input that it has kept since [`keep_past`](Self::keep_past); `None` before.
    ///
    /// Real-time: hot.
    fn past(&mut self) -> Option<Past<'_>> {
        None
    }

    /// Goes on at absolute frame `position` after what another processor of this node had heard, whose samples now are
    /// in the [`past`](Self::past). `bounds` are those of that one; they may come from a file, so they are checked.
    ///
    /// Real-time: setup.
    fn load_past(&mut self, _bounds: [u64; 4], _position: u64) {}
}
