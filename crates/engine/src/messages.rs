//! Messages between the control thread and the audio thread. All go through rings that never make the audio thread
//! wait.
//!
//! | message | from | to | ring of |
//! |---|---|---|---|
//! | [`SwapMessage`]: an executor for the next plan | control | audio | 1 |
//! | the same, retired, to be freed | audio | control | 1 |
//! | [`EventMessage`]: a parameter's new value, a ramp, MIDI | control | audio | 4096 |
//! | [`TransportCommand`]: start, stop, locate | control | audio | 256 |
//! | a [`ControllerMap`] | control | audio | 1 |
//! | the same, replaced, to be freed | audio | control | 1 |
//! | [`ControllerMessage`]: what a MIDI controller sent | audio | control | 1024 |
//! | [`CycleMessage`]: how a cycle went | audio | control | 32768 |
//!
//! Errors are counts that the control thread reads where they are ([`SharedErrors`]).

use crate::controllers::ControllerMap;
use crate::transport::{COMMANDS, TransportCommand};
use exec::{CycleStatus, ErrorCounts, Executor};
use graph::NodeId;
use processor::Event;
use rt::ring::ring;
use rtrb::{Consumer, Producer, RingBuffer};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Capacity of the ring of cycle messages: several seconds of the shortest blocks, until the control thread reads them.
const CYCLES: usize = 1 << 15;
/// Capacity of the ring of events, and of the audio thread's schedule behind it.
pub(crate) const EVENTS: usize = 1 << 12;

/// Capacity of the ring of controller messages. What finds no room is applied, and the graph's values follow later.
const CONTROLLERS: usize = 1 << 10;

/// To the audio thread: the executor to go on with. It comes back when it has been replaced in its turn, to be dropped.
pub(crate) type SwapMessage = Box<dyn Executor>;

/// To the audio thread: an event for a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventMessage {
    pub(crate) node: NodeId,
    /// Its frame is set when it is due.
    pub(crate) event: Event,
    /// Absolute frame at which it takes effect; one that has passed means the next block.
    pub(crate) at: u64,
    /// Set where the value is reached in a ramp.
    pub(crate) ramp: Option<Ramp>,
    /// Number of the swap with which it takes effect, at the earliest; 0 for one that waits for none.
    pub(crate) after_swap: u32,
}

/// A ramp of a parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ramp {
    pub(crate) from: f32,
    pub(crate) to: f32,
    pub(crate) frames: u32,
    pub(crate) law: RampLaw,
}

/// The way from one value to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RampLaw {
    /// A straight line.
    #[default]
    Linear,
    /// Equal ratios in equal times: a straight line in octaves. Between values that are not both positive it is a
    /// straight line.
    Geometric,
}

/// From the audio thread, once a cycle: half a cache line, since each is written to memory that no core holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CycleMessage {
    pub(crate) duration_ns: u64,
    /// Number of event messages that have been taken from their ring so far, before this cycle.
    pub(crate) events_taken: u64,
    /// Lower half of the number of the cycle.
    pub(crate) cycle: u32,
    pub(crate) wakes: u32,
    pub(crate) acquisitions: u32,
    /// Number of times that the device lost sound.
    pub(crate) xruns: u16,
    pub(crate) outcome: CycleOutcome,
    /// True in the first cycle of another executor.
    pub(crate) is_swapped: bool,
}

const _: () = assert!(size_of::<CycleMessage>() == 32);

/// Errors so far, in executors that have been replaced too. The callback writes them where they have changed, before the message
/// of the cycle.
#[derive(Debug, Default)]
pub(crate) struct SharedErrors([AtomicU64; 4]);

impl SharedErrors {
    /// Replaces the counts.
    ///
    /// Real-time: hot.
    pub(crate) fn set(&self, errors: ErrorCounts) {
        let ErrorCounts {
            late_results,
            node_faults,
            non_finite_samples,
            lost_events,
        } = errors;
        let counts = [late_results, node_faults, non_finite_samples, lost_events];
        // Relaxed, here and below: the message of the cycle orders them for who has read it, and each count stands for itself.
        for (cell, count) in self.0.iter().zip(counts) {
            cell.store(count, Ordering::Relaxed);
        }
    }

    /// The counts.
    pub(crate) fn get(&self) -> ErrorCounts {
        let [late_results, node_faults, non_finite_samples, lost_events] =
            std::array::from_fn(|kind| self.0[kind].load(Ordering::Relaxed));
        ErrorCounts {
            late_results,
            node_faults,
            non_finite_samples,
            lost_events,
        }
    }
}

/// Times and state of one cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CycleOutcome {
    /// It was complete in time.
    InTime,
    /// It was complete after its deadline.
    Missed,
    /// It was abandoned, or nothing could run.
    Abandoned,
    /// It was left out, the first of those after too many misses.
    MuteBegins,
    /// It was left out as well.
    Muted,
}

impl CycleOutcome {
    pub(crate) fn new(status: CycleStatus, is_late: bool) -> Self {
        match status {
            CycleStatus::Complete if is_late => Self::Missed,
            CycleStatus::Complete => Self::InTime,
            _ => Self::Abandoned,
        }
    }
}

/// From the audio thread: a message of a MIDI controller, which it has applied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ControllerMessage {
    pub(crate) port: u16,
    pub(crate) message: [u8; 3],
}

/// The control thread's ends.
pub(crate) struct ControlRings {
    pub(crate) swaps: Producer<SwapMessage>,
    pub(crate) retired: Consumer<SwapMessage>,
    pub(crate) events: Producer<EventMessage>,
    pub(crate) transport: Producer<TransportCommand>,
    pub(crate) cycles: Consumer<CycleMessage>,
    pub(crate) errors: Arc<SharedErrors>,
    pub(crate) maps: Producer<Box<ControllerMap>>,
    pub(crate) retired_maps: Consumer<Box<ControllerMap>>,
    pub(crate) controllers: Consumer<ControllerMessage>,
}

/// The audio thread's ends.
pub(crate) struct CallbackRings {
    pub(crate) swaps: Consumer<SwapMessage>,
    pub(crate) retired: Producer<SwapMessage>,
    pub(crate) events: Consumer<EventMessage>,
    pub(crate) transport: Consumer<TransportCommand>,
    pub(crate) cycles: Producer<CycleMessage>,
    pub(crate) errors: Arc<SharedErrors>,
    pub(crate) maps: Consumer<Box<ControllerMap>>,
    pub(crate) retired_maps: Producer<Box<ControllerMap>>,
    pub(crate) controllers: Producer<ControllerMessage>,
}

/// All rings, empty.
pub(crate) fn rings() -> (ControlRings, CallbackRings) {
    let (swaps, swaps_in) = RingBuffer::new(1);
    let (retired_out, retired) = RingBuffer::new(1);
    let (events, events_in) = ring(EVENTS);
    let (cycles_out, cycles) = ring(CYCLES);
    let (transport, transport_in) = ring(COMMANDS);
    let (maps, maps_in) = RingBuffer::new(1);
    let (retired_maps_out, retired_maps) = RingBuffer::new(1);
    let (controllers_out, controllers) = ring(CONTROLLERS);
    let errors = Arc::<SharedErrors>::default();
    let control = ControlRings {
        errors: errors.clone(),
        swaps,
        retired,
        events,
        transport,
        cycles,
        maps,
        retired_maps,
        controllers,
    };
    let callback = CallbackRings {
        errors,
        swaps: swaps_in,
        retired: retired_out,
        events: events_in,
        transport: transport_in,
        cycles: cycles_out,
        maps: maps_in,
        retired_maps: retired_maps_out,
        controllers: controllers_out,
    };
    (control, callback)
}
