//! Pointers to the slots of one step, bound by an executor under the rules of [`block`](super).
//!
//! ```text
//!   StepIo ── inputs ──▶ RawPort ── first: RawChannel ──▶ data   │ f f f f … │  a slot: one block of one channel
//!     │                     │                          └▶ content│ b │
//!     │                     └─ all ──▶ [RawChannel; channels]
//!     ├───── outputs ──▶ RawPort …
//!     └───── cold ─────▶ events, event buffers, delay line: most steps have none
//! ```

use crate::Event;

/// Content of one channel in one block, as far as it is known.
///
/// A channel of which nothing is known may all the same be silent or constant: the knowledge saves work, and the bits are
/// those of the full work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Content {
    /// Nothing.
    Unknown = 0,
    /// All are +0.0.
    Silent = 1,
    /// All have the bits of the first one.
    Constant = 2,
}

impl RawChannel {
    /// Knowledge of its samples.
    ///
    /// # Safety
    ///
    /// The pointer is valid, and no thread writes what it points to now.
    #[inline]
    pub(super) unsafe fn known(&self) -> Content {
        // SAFETY: this function's contract.
        match unsafe { *self.content } {
            known if known == Content::Silent as u8 => Content::Silent,
            known if known == Content::Constant as u8 => Content::Constant,
            _ => Content::Unknown,
        }
    }

    /// Returns true if that is what is known of its samples.
    ///
    /// # Safety
    ///
    /// The pointer is valid, and no thread writes what it points to now.
    #[inline]
    pub unsafe fn is(&self, content: Content) -> bool {
        // SAFETY: this function's contract.
        unsafe { *self.content == content as u8 }
    }

    /// Sets what is known. Written only if it changes: neighbouring channels share its cache line.
    ///
    /// # Safety
    ///
    /// The pointer is valid, and no other thread reads or writes what it points to now.
    #[inline]
    pub unsafe fn set(&self, content: Content) {
        // SAFETY: this function's contract.
        unsafe {
            if *self.content != content as u8 {
                *self.content = content as u8;
            }
        }
    }
}

/// One channel of one slot.
#[derive(Clone, Copy, Debug)]
pub struct RawChannel {
    /// First frame of the block.
    pub data: *mut f32,
    /// Content of the whole slot, as [`Content`] says; written together with the samples.
    pub content: *mut u8,
}

/// One port.
#[derive(Clone, Copy, Debug)]
pub struct RawPort {
    /// Its first channel, stored here and not behind a pointer: most ports have only one. Unused for a port without
    /// channels.
    pub first: RawChannel,
    /// All its channels, contiguous, with the first. Dangling for a port without channels.
    pub all: *const RawChannel,
    /// Number of channels.
    pub channels: u32,
    /// False for an output that no step reads: what it has may be anything.
    pub is_read: bool,
}

impl RawPort {
    /// The port with these channels, taken as read. They must not move as long as the port is used.
    pub fn new(channels: &[RawChannel]) -> Self {
        const NULL: RawChannel = RawChannel {
            data: std::ptr::null_mut(),
            content: std::ptr::null_mut(),
        };
        Self {
            first: *channels.first().unwrap_or(&NULL),
            all: channels.as_ptr(),
            channels: channels.len() as u32,
            is_read: true,
        }
    }

    /// The channel `channel`, counted from 0. Panics if the port has fewer.
    #[inline]
    pub(super) fn channel(&self, channel: usize) -> &RawChannel {
        assert!(
            channel < self.channels as usize,
            "a port has no such channel"
        );
        if channel == 0 {
            return &self.first;
        }
        // SAFETY: `all` points to `channels` of them (the executor binds it so), and `channel` is below that.
        unsafe { &*self.all.add(channel) }
    }
}

impl RawPort {
    /// Returns true if `test` is true of every channel.
    #[inline]
    pub(super) fn all_channels(&self, test: impl Fn(&RawChannel) -> bool) -> bool {
        // SAFETY: `all` points to `channels` of them (the executor binds it so).
        let rest = |c| unsafe { &*self.all.add(c as usize) };
        self.channels == 0 || test(&self.first) && (1..self.channels).all(|c| test(rest(c)))
    }
}

/// Ports, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct RawPorts {
    /// The first port; dangling if there is none.
    pub first: *const RawPort,
    /// Number of ports.
    pub count: u32,
}

impl RawPorts {
    /// These ports, which must not move as long as they are used.
    pub fn new(ports: &[RawPort]) -> Self {
        Self {
            first: ports.as_ptr(),
            count: ports.len() as u32,
        }
    }
}

/// A delay line: for each channel a ring of frames, addressed by the absolute frame.
#[derive(Clone, Copy, Debug)]
pub struct RawDelayLine {
    /// First frame of the first channel; the other channels follow, `capacity` frames each.
    pub data: *mut f32,
    /// Frames in the ring: a power of two.
    pub capacity: u32,
    /// Number of channels.
    pub channels: u32,
    /// Shortest delay that may be read, in frames: another step may be writing newer frames.
    pub min_delay: u32,
    /// Longest delay that may be read, in frames.
    pub max_delay: u32,
}

/// One value a frame for a parameter that is driven at audio rate.
#[derive(Clone, Copy, Debug)]
pub struct RawParamSignal {
    /// Index of the parameter.
    pub param: u16,
    /// True if every value of this block is 0 because what drives it is silent.
    pub is_zero: bool,
    /// True if every value of this block has the same bits, because nothing that drives it moves.
    pub is_constant: bool,
    /// First frame of the slot, as for a channel.
    pub data: *const f32,
}

/// Buffer for the events that a step sends from one port.
#[derive(Debug)]
pub struct RawEvents {
    /// Events that were sent this cycle. The capacity never grows.
    pub events: Vec<Event>,
    /// Number of events that found no room, since the executor last read it.
    pub dropped: u64,
}

/// The inputs and outputs of one step, bound to memory. Small: each is read in every cycle.
#[derive(Debug)]
pub struct StepIo {
    /// Input ports, in order; event ports have no channels.
    pub inputs: RawPorts,
    /// Output ports, in order.
    pub outputs: RawPorts,
    /// True if there are events in this cycle.
    pub has_events: bool,
    /// The part that most steps do not use.
    pub cold: Box<IoCold>,
}

/// The part of a [`StepIo`] that is rarely read.
#[derive(Debug, Default)]
pub struct IoCold {
    /// For each output port the buffer of its events; null for audio. Empty where no port sends events.
    pub event_outputs: Box<[*mut RawEvents]>,
    /// The step's events of this cycle, sorted by frame.
    pub events: Vec<Event>,
    /// The delay line that the step reads, if it is the reading half of a delay.
    pub delay_line: Option<RawDelayLine>,
    /// The parameters that are driven at audio rate. Executors leave it empty: the wrapper of a driven processor fills it.
    pub param_signals: Box<[RawParamSignal]>,
}

impl StepIo {
    #[inline]
    pub(super) fn inputs(&self) -> &[RawPort] {
        // SAFETY: the executor that binds a `StepIo` makes `inputs` point to this many ports, which live as long as it.
        unsafe { std::slice::from_raw_parts(self.inputs.first, self.inputs.count as usize) }
    }

    #[inline]
    pub(super) fn outputs(&self) -> &[RawPort] {
        // SAFETY: the executor that binds a `StepIo` makes `outputs` point to this many ports, which live as long as
        // it.
        unsafe { std::slice::from_raw_parts(self.outputs.first, self.outputs.count as usize) }
    }
}

// SAFETY: the rules of `block` let one thread at a time follow the pointers; they change hands by a count or an epoch
// that orders memory, and the executor that binds a `StepIo` keeps the memory alive as long.
unsafe impl Send for StepIo {}
// SAFETY: while steps run a `StepIo` is only read, and by rule 2 of `block` by its step alone.
unsafe impl Sync for StepIo {}
