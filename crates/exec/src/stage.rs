//! A plan bound to memory and processors: what every executor runs steps of.
//!
//! # Who may touch what
//!
//! 1. Only the executor that has the floor's turn gives out tasks of a stage. While none is given out, between two cycles,
//!    its callback thread alone touches the stage.
//! 2. Inside a cycle the `Own` parts, processors, outputs and sums of a task's steps belong to the worker that runs the
//!    task, and the executor's protocol gives each task to one worker a cycle, after all it waits for.
//! 3. What a task reads was written by tasks it waits for; the order is carried by the executor's counts.

use crate::aligners::Aligning;
use crate::executor::ErrorCounts;
use crate::lines::LineMemory;
use crate::passages::PassageMemory;
use crate::pipeline::Lagged;
use crate::pool::Resident;
use crate::sum::Sum;
use crate::table::Table;
use graph::NodeId;
pub(crate) use plan::EVENTS_PER_PORT;
use processor::{Event, Processor, RawChannel, RawDelayLine, RawEvents, RawPort, StepIo};
use rt::arena::Arena;
use rt::countdown::Countdown;
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use units::Frames;
use workers::DeferredJobs;

/// How many events one step can receive in a block; what comes beyond is counted as lost.
pub(crate) const EVENTS_A_STEP: usize = 256;

/// What a step does when its turn comes.
pub(crate) enum Act {
    /// Runs a processor.
    Process(*mut dyn Processor),
    /// Copies its input to a line.
    Write(Box<RawDelayLine>),
    /// Copies its input to its output, with what is not finite made silent.
    Keep,
    /// Hands its input on to a later stage.
    Send(Arc<PassageMemory>),
    /// Takes up what an earlier stage has handed on.
    Receive(Arc<PassageMemory>),
    /// Gives its input again, later.
    Align(Box<Aligning>),
    /// Gives silence.
    Mute,
    /// Runs the inner steps `from .. to` on parts of at most `part` frames.
    Loop { from: u32, to: u32, part: u32 },
}

impl Act {
    /// Whether it is what its node does, and not what is done with what goes into or out of it.
    pub(crate) fn is_own(&self) -> bool {
        let hands_on = matches!(self, Self::Write(_) | Self::Send(_) | Self::Receive(_));
        !(hands_on || matches!(self, Self::Align(_)))
    }
}

/// What belongs to the worker that runs a step.
pub(crate) struct Own {
    pub(crate) io: StepIo,
    pub(crate) asleep: bool,
    /// Its processor panicked, did not return, or was never there.
    pub(crate) dead: bool,
    /// Whether `inbox` holds something.
    pub(crate) has_post: bool,
    /// Events that the user posted for the coming block, sorted by frame.
    pub(crate) inbox: Vec<Event>,
}

/// An event input, and whose events go there.
pub(crate) struct Hears {
    pub(crate) port: u16,
    pub(crate) rooms: Box<[*mut RawEvents]>,
}

/// One step, bound. All that a plain step's turn needs stands in two cache lines that are fetched together.
#[repr(align(128))]
pub(crate) struct Bound {
    pub(crate) act: Act,
    /// The flag of its output, where that has one channel and there is no other; else null.
    pub(crate) flag: *mut u8,
    pub(crate) own: UnsafeCell<Own>,
    /// For how many tasks the task that begins here still waits in this cycle; an executor's, to use as it likes.
    pub(crate) waits: Countdown,
    /// Whether it has sums to make, events to gather or a rate of its own: off for most, who then take the short way.
    pub(crate) special: bool,
    pub(crate) rare: Box<Rare>,
}

/// The rarer part of a [`Bound`].
pub(crate) struct Rare {
    pub(crate) every: u32,
    pub(crate) phase: u32,
    pub(crate) reads_line: bool,
    /// In a later stage of a pipeline.
    pub(crate) lagged: Option<Lagged>,
    pub(crate) sums: Box<[Sum]>,
    pub(crate) hears: Box<[Hears]>,
    pub(crate) node: Option<NodeId>,
    pub(crate) resident: Option<Arc<Resident>>,
    /// Which copy of the node it runs; 0 is the original.
    pub(crate) copy: u16,
    /// Whether the node has copies.
    pub(crate) shared: bool,
}

/// A task that waits for another, and for how many in all: what its releaser must know stands here, so that the task's
/// own lines need not travel.
#[derive(Clone, Copy)]
pub(crate) struct Waiting {
    pub(crate) task: u32,
    /// Its first step, where its count stands.
    pub(crate) first: u32,
    pub(crate) activation: u32,
}

/// What is given to a worker: the steps `from .. to`, and which part of [`Stage::successors`] waits for them.
#[derive(Clone, Copy)]
pub(crate) struct Task {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) releases: (u32, u32),
    /// For how many tasks it waits in each cycle.
    pub(crate) activation: u32,
}

/// What went wrong while playing, since the stage was bound.
#[derive(Default)]
pub(crate) struct Troubles {
    /// Deferred results that were not there in time.
    pub(crate) late: AtomicU64,
    /// Nodes that panicked or did not return.
    pub(crate) faults: AtomicU64,
    /// Samples at a sink that were not finite, made silent.
    pub(crate) not_finite: AtomicU64,
    /// Events that found no room.
    pub(crate) events_lost: AtomicU64,
}

/// One output channel's share of the sound.
pub(crate) struct Voice {
    pub(crate) channel: u16,
    pub(crate) from: RawChannel,
}

/// See the module.
pub(crate) struct Stage {
    pub(crate) block: Frames,
    /// By how many cycles the last stage of a pipeline lags; 0 where there is none.
    pub(crate) ahead: u32,
    /// The steps that have posts without a date; inner ones are counted on after the others.
    pub(crate) undated: UnsafeCell<Vec<u32>>,
    pub(crate) steps: Box<[Bound]>,
    pub(crate) inner: Box<[Bound]>,
    pub(crate) tasks: Box<[Task]>,
    pub(crate) successors: Box<[Waiting]>,
    pub(crate) voices: Box<[Voice]>,
    /// By node: its step, and whether that is an inner one.
    pub(crate) steps_of: Box<[Option<(u32, bool)>]>,
    /// The steps of copies: (the original's, the copy's), sorted.
    pub(crate) copies: Box<[(u32, u32)]>,
    pub(crate) deferred: DeferredJobs,
    pub(crate) troubles: Troubles,
    /// The device's input for this cycle, copied: a step that never returns may hold on to it.
    pub(crate) device: Box<[RawChannel]>,
    /// What the steps point into.
    pub(crate) _memory: Memory,
}

/// What the steps of a stage point into; kept alive, never read through here.
pub(crate) struct Memory {
    pub(crate) _arena: Arena,
    pub(crate) _channels: Table<RawChannel>,
    pub(crate) _ports: Table<RawPort>,
    pub(crate) _sends: Box<[UnsafeCell<RawEvents>]>,
    pub(crate) _lines: Vec<Arc<LineMemory>>,
}

// SAFETY: the rules at the head of this file; all that the pointers point to is owned by the stage, or kept alive by it
// through `Arc`s.
unsafe impl Send for Stage {}
// SAFETY: as above.
unsafe impl Sync for Stage {}

impl Stage {
    /// Which tasks wait for `task`.
    #[inline]
    pub(crate) fn successors(&self, task: u32) -> &[Waiting] {
        let (from, to) = self.tasks[task as usize].releases;
        &self.successors[from as usize..to as usize]
    }

    /// Counts `task` off for those that wait for it: which of them are ready now.
    #[inline]
    pub(crate) fn release(&self, task: u32) -> impl Iterator<Item = u32> + '_ {
        let waiting = self.successors(task).iter();
        // One that waits for one task only is ready when that has run: nothing to count.
        let ready = waiting.filter(|w| {
            let waits = &self.steps[w.first as usize].waits;
            w.activation == 1 || waits.decrement(1, w.activation)
        });
        ready.map(|w| w.task)
    }

    /// How many steps a cycle has.
    pub(crate) fn len(&self) -> u32 {
        self.steps.len() as u32
    }

    /// For how many tasks `task` still waits; an executor's, to use as it likes.
    #[inline]
    pub(crate) fn waits(&self, task: u32) -> &Countdown {
        let first = self.tasks[task as usize].from;
        &self.steps[first as usize].waits
    }

    /// The tasks that wait for nothing.
    pub(crate) fn sources(&self) -> impl Iterator<Item = u32> + '_ {
        let tasks = (0..).zip(&self.tasks);
        tasks.filter(|(_, t)| t.activation == 0).map(|(i, _)| i)
    }

    /// Every task waits for all it ever waits for.
    pub(crate) fn arm_all(&self) {
        for task in &self.tasks {
            self.steps[task.from as usize].waits.reset(task.activation);
        }
    }
}

impl Stage {
    /// Copies the device's input in; channels that are missing are silent.
    ///
    /// # Safety
    ///
    /// The caller is alone (rule 1).
    pub(crate) unsafe fn take_device(&self, device: &[&[f32]]) {
        for (c, raw) in self.device.iter().enumerate() {
            // SAFETY: the row is a block long, and we are alone.
            let row = unsafe { std::slice::from_raw_parts_mut(raw.data, self.block.count()) };
            match device.get(c).filter(|d| d.len() == row.len()) {
                Some(channel) => row.copy_from_slice(channel),
                None => row.fill(0.0),
            }
        }
    }

    /// Adds what the sinks of `channel` kept to `into`.
    ///
    /// # Safety
    ///
    /// All tasks have run, and no cycle has begun since.
    pub(crate) unsafe fn add_output(&self, channel: u16, into: &mut [f32]) {
        for voice in self.voices.iter().filter(|v| v.channel == channel) {
            // SAFETY: a sink's slot holds the block until the next cycle, and nobody writes it before.
            let from = unsafe { std::slice::from_raw_parts(voice.from.data, self.block.count()) };
            into.iter_mut().zip(from).for_each(|(to, x)| *to += x);
        }
    }

    /// Whether `node` has a step.
    pub(crate) fn knows(&self, node: NodeId) -> bool {
        matches!(self.steps_of.get(node.0 as usize), Some(Some(_)))
    }

    /// Leaves `event` for the next cycle's step of `node`.
    ///
    /// # Safety
    ///
    /// The caller is alone (rule 1).
    pub(crate) unsafe fn post(&self, node: NodeId, event: Event) -> Result<(), Event> {
        let Some(Some((index, is_inner))) = self.steps_of.get(node.0 as usize) else {
            return Err(event);
        };
        let steps = if *is_inner { &self.inner } else { &self.steps };
        let step = &steps[*index as usize];
        if let Some(lagged) = &step.rare.lagged {
            let at = if *is_inner { self.len() } else { 0 } + index;
            // SAFETY: we are alone.
            return unsafe { self.post_later(at, lagged, event) };
        }
        // SAFETY: we are alone.
        let own = unsafe { &mut *step.own.get() };
        if own.inbox.len() == own.inbox.capacity() {
            return Err(event);
        }
        own.inbox.push(event);
        own.has_post = true;
        if step.rare.shared {
            // SAFETY: as above.
            unsafe { self.post_to_copies(*index, event) };
        }
        Ok(())
    }

    /// What went wrong so far.
    pub(crate) fn counts(&self) -> ErrorCounts {
        // Relaxed: only counts.
        ErrorCounts {
            late_results: self.troubles.late.load(Ordering::Relaxed),
            node_faults: self.troubles.faults.load(Ordering::Relaxed),
            non_finite_samples: self.troubles.not_finite.load(Ordering::Relaxed),
            lost_events: self.troubles.events_lost.load(Ordering::Relaxed),
        }
    }
}
