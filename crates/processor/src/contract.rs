//! What every processor promises.

use crate::{BackgroundTask, Block, Gauge};
use std::fmt;
use units::{Frames, SampleRate};

/// Whether somebody is listening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In real time: what is late is replaced by silence and counted.
    Live,
    /// As fast as it goes: nothing is dropped, whoever must wait waits.
    Offline,
    /// As offline, but only to see what it costs: files are read, and nothing outside the process is changed.
    DryRun,
}

/// Whether a processor needs to be called while nothing reaches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessStatus {
    /// Call again next block.
    Continue,
    /// Until an input is not silent or an event comes, every output would be exactly silent and no state would change:
    /// the executor may skip the step and give silence. Whoever says this has just given silence on every output.
    Sleep,
}

/// How long the outputs may go on after the inputs have become silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// At most this long. Zero: silence in gives silence out in the same frame.
    Frames(u64),
    /// Forever: a source, or feedback that may ring on.
    Infinite,
}

/// Everything a processor is told before it plays.
pub struct Setup<'a> {
    /// Frames a second.
    pub rate: SampleRate,
    /// The most frames that one block has.
    pub block: Frames,
    /// Whether somebody is listening.
    pub mode: Mode,
    /// Where it registers work beside the step, and what it shows.
    pub services: &'a mut dyn SetupServices,
}

/// What a processor may ask for in [`Processor::setup`], and only there.
pub trait SetupServices {
    /// Has `work` run in pieces beside the graph; see [`rt::deferred`].
    fn defer(&mut self, work: rt::deferred::JobRunner);

    /// Has `task` run on a thread that may wait.
    fn spawn_background(&mut self, task: Box<dyn BackgroundTask>);

    /// A number to show under `name`.
    fn gauge(&mut self, name: &str) -> Gauge;

    /// Has the user told something that was done and that nobody asked for: lower case, no full stop. Whoever has no
    /// user to tell does nothing.
    fn notify_user(&mut self, _told: String) {}
}

/// A saved state that a processor cannot take up. It goes on with the state it has.
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
/// Promises that a shared test holds every unit to: blocks of one frame give the bits of one big block; after
/// [`reset`](Self::reset) it is as new; silence in gives silence out after the tail; [`process`](Self::process)
/// allocates nothing; denormals are flushed; finite input gives finite output.
pub trait Processor: Send {
    /// Gets ready to play: allocates, asks for services. Called once, before everything else; and again with another
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

    /// How many frames the outputs lag behind the inputs. Asked once, after the setup: it may hang on the block, and does not
    /// change while it plays. The plan has whatever meets these outputs wait as long.
    ///
    /// Real-time: hot.
    fn latency(&self) -> Frames {
        Frames(0)
    }

    /// How long the outputs go on after the inputs.
    ///
    /// Real-time: hot.
    fn tail(&self) -> Tail {
        Tail::Frames(0)
    }

    /// Into how many lanes a step of it forks at most ([`Block::fork`]); 1 for one that does not. More tell the executor
    /// that workers beyond those that the graph keeps busy are of use.
    ///
    /// Real-time: setup.
    fn max_parallelism(&self) -> u32 {
        1
    }

    /// For sources that end by themselves (players): after how many frames. `None`: it does not end, or is no source.
    ///
    /// Real-time: setup.
    fn length(&self) -> Option<u64> {
        None
    }

    /// Appends what [`load`](Self::load) needs in order to go on from here. A kind that can be copied appends as many bytes
    /// whenever it is asked: copies take states up on audio threads, where the room for them cannot grow.
    ///
    /// Real-time: hot for a kind that can be copied, where there is room for it; else setup.
    fn save(&self, _state: &mut Vec<u8>) {}

    /// Goes on from a saved state, which may come from a file: it is checked.
    ///
    /// # Errors
    ///
    /// What is wrong with it; nothing has changed then.
    ///
    /// Real-time: hot for a kind that can be copied, where the state is from such a node; else setup.
    fn load(&mut self, state: &[u8]) -> Result<(), StateError> {
        if state.is_empty() {
            Ok(())
        } else {
            Err(StateError("this kind keeps no state".into()))
        }
    }

    /// A copy that goes on from the same state, for schedulers that run a node on several workers; `None` where it
    /// cannot be (files, devices).
    ///
    /// Real-time: setup.
    fn duplicate(&self) -> Option<Box<dyn Processor>> {
        None
    }
}
