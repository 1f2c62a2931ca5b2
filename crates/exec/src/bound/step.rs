//! One step of a plan, bound to memory: its operation, its state and the sources of its events.

use super::aligner::AlignerOp;
use super::banks::BankPlace;
use super::stage_buffer::StageBufferMemory;
use crate::processors::ProcessorEntry;
use graph::NodeId;
use processor::{Event, Processor, RawChannel, RawDelayLine, RawEvents, RowKind, StepIo};
use rt::countdown::Countdown;
use std::cell::UnsafeCell;
use std::sync::Arc;

/// Position of an event that was queued since the last cycle began: its block is that of the next cycle, whose position
/// is not known yet. See [`PipelineLag`].
pub(crate) const NO_POSITION: u64 = u64::MAX;

/// Operation of a step.
pub(crate) enum Operation {
    /// Runs a processor.
    Process(*mut dyn Processor),
    /// Writes its input to a delay line.
    WriteLine(Box<RawDelayLine>),
    /// Copies the input of a sink to a slot of its own, which no step overwrites in this cycle, and silences samples
    /// that are not finite.
    Sink,
    /// Sends its input to a later pipeline stage.
    Send(Arc<StageBufferMemory>),
    /// Receives what an earlier pipeline stage sent.
    Receive(Arc<StageBufferMemory>),
    /// Delays its input, by one delay per output.
    Align(Box<AlignerOp>),
    /// Writes silence.
    Silence,
    /// Runs the inner steps `from..to` again and again, on parts of the block of at most `sub_block` frames.
    Loop { from: u32, to: u32, sub_block: u32 },
}

impl Operation {
    /// Returns true if this is the node's own work, and not the transport of its input or output.
    pub(crate) fn is_node_work(&self) -> bool {
        let is_transport = matches!(self, Self::WriteLine(_) | Self::Send(_) | Self::Receive(_));
        !(is_transport || matches!(self, Self::Align(_)))
    }
}

/// Mutable state of a step. It belongs to the holder of the step's claim.
pub(crate) struct StepState {
    pub(crate) io: StepIo,
    /// The processor waits for sound or events and need not run on silence.
    pub(crate) is_asleep: bool,
    /// The processor slept when the plan was bound, and the step has not run since: it may have been woken.
    pub(crate) is_new: bool,
    /// The processor panicked, did not return, or never existed: the step writes silence.
    pub(crate) is_quarantined: bool,
    /// `inbox` is not empty.
    pub(crate) has_inbox: bool,
    /// Events that the user sent for the coming block, sorted by frame. A step that gathers none from others, and runs once
    /// in each block, has one room for events: the inbox lends it to the block (`take_inbox`) and gets it back.
    pub(crate) inbox: Vec<Event>,
}

impl StepState {
    /// State of a step that can receive `event_room` events in a block. More are counted as lost.
    pub(crate) fn new(
        io: StepIo,
        (is_asleep, is_quarantined): (bool, bool),
        event_room: usize,
    ) -> Self {
        Self {
            io,
            is_asleep,
            is_new: is_asleep,
            is_quarantined,
            has_inbox: false,
            inbox: Vec::with_capacity(event_room),
        }
    }

    /// Returns true if the step has to be computed, and nothing else is to be done before.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        // Only a step that sleeps is new. All four are one number then, for which one word is read.
        let flags = [
            self.is_asleep,
            self.is_new,
            self.is_quarantined,
            self.has_inbox,
        ];
        u32::from_ne_bytes(flags.map(u8::from)) == 0
    }

    /// Adds an event to the inbox, which has room for it.
    pub(crate) fn push_inbox(&mut self, event: Event) {
        self.inbox.push(event);
        self.has_inbox = true;
    }
}

/// An event input port, and the output buffers that feed it.
pub(crate) struct EventInput {
    pub(crate) port: u16,
    pub(crate) sources: Box<[*mut RawEvents]>,
}

/// Several channels to be added up before the step runs.
pub(crate) struct Sum {
    /// In the order in which they are added, which decides the bits of the result.
    pub(crate) from: Box<[RawChannel]>,
    pub(crate) into: RawChannel,
}

/// Delay of a step in a later pipeline stage, and the events that wait for its block.
pub(crate) struct PipelineLag {
    /// Number of cycles by which the stage is behind.
    pub(crate) cycles: u32,
    /// Maximum number of events of one block.
    pub(crate) event_room: usize,
    /// Events that the user sent, with the position of their block: [`NO_POSITION`] until the next cycle begins.
    pub(crate) events: UnsafeCell<Vec<(u64, Event)>>,
}

impl PipelineLag {
    pub(crate) fn new(cycles: u32, event_room: usize) -> Self {
        let capacity = event_room * (cycles as usize + 1);
        Self {
            cycles,
            event_room,
            events: UnsafeCell::new(Vec::with_capacity(capacity)),
        }
    }
}

/// Work before the operation of a step in each block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preparation {
    /// Nothing.
    None,
    /// Nothing, and it is in a bank.
    Bank,
    /// Nothing, and it runs with those behind it.
    Row,
    /// It has event ports, and nothing else of what follows.
    Events,
    /// It has sums, duplicates, a lag or a rate of its own.
    Full,
}

/// One step. A plain step runs on two cache lines, which the hardware fetches as a pair.
#[repr(align(128))]
pub(crate) struct BoundStep {
    pub(crate) operation: Operation,
    /// Content of its output channel ([`processor::Content`]) if it has exactly one (most steps); else null.
    pub(crate) mono_content: *mut u8,
    pub(crate) state: UnsafeCell<StepState>,
    /// Number of tasks that the task which begins here still waits for in this cycle.
    pub(crate) pending: Countdown,
    /// Most steps need none and take a shorter path.
    pub(crate) preparation: Preparation,
    /// Number of steps that it may run as a row, from itself on; 0 if it is in none.
    pub(crate) row: u8,
    pub(crate) cold: Box<StepCold>,
}

const _: () = assert!(size_of::<BoundStep>() == 128);

/// The part of a [`BoundStep`] that plain steps do not read.
pub(crate) struct StepCold {
    /// The step runs in cycles whose number modulo `every` is `phase`.
    pub(crate) every: u32,
    pub(crate) phase: u32,
    pub(crate) reads_delay_line: bool,
    /// For a step in a later pipeline stage.
    pub(crate) lag: Option<PipelineLag>,
    pub(crate) sums: Box<[Sum]>,
    pub(crate) event_inputs: Box<[EventInput]>,
    /// The buffers of all its event inputs, and those of its event outputs.
    pub(crate) received: Box<[*mut RawEvents]>,
    pub(crate) sent: Box<[*mut RawEvents]>,
    pub(crate) node: Option<NodeId>,
    pub(crate) processor: Option<Arc<ProcessorEntry>>,
    /// Content flags of each channel of its outputs ([`processor::Content`]); empty where `mono_content` is set.
    pub(crate) contents: Box<[*mut u8]>,
    /// Number of the duplicate that it runs; 0 is the original.
    pub(crate) copy: u16,
    pub(crate) has_copies: bool,
    /// Its place in a bank, if it is in one.
    pub(crate) bank: Option<BankPlace>,
    /// Its place in a row, if it is in one.
    pub(crate) row: Option<RowPlace>,
}

/// A step's place in a row.
#[derive(Clone, Copy)]
pub(crate) struct RowPlace {
    /// The processors of the row; `None` if its steps write to delay lines.
    pub(crate) kind: Option<RowKind>,
    /// Its number among the plan's members of rows of processors, or among its writes in rows.
    pub(crate) at: u32,
}

/// A step of a row that writes to a delay line.
#[derive(Clone, Copy)]
pub(crate) struct RowWrite {
    pub(crate) line: RawDelayLine,
    /// The first channel of its input.
    pub(crate) from: RawChannel,
}

#[cfg(test)]
mod tests {
    use super::*;
    use processor::{IoCold, RawPorts};

    fn state(is_asleep: bool, is_quarantined: bool) -> StepState {
        let io = StepIo {
            inputs: RawPorts::new(&[]),
            outputs: RawPorts::new(&[]),
            has_events: false,
            cold: Box::new(IoCold::default()),
        };
        StepState::new(io, (is_asleep, is_quarantined), 1)
    }

    #[test]
    fn a_step_is_plain_if_it_is_awake_and_allowed_and_was_sent_nothing() {
        assert!(state(false, false).is_plain());
        assert!(!state(true, false).is_plain());
        assert!(!state(false, true).is_plain());
        let mut sent = state(false, false);
        sent.has_inbox = true;
        assert!(!sent.is_plain());
    }
}
