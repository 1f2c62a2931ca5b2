//! What a step sees of one block: its inputs, its outputs, its events, its line.
//!
//! # Who may touch what
//!
//! 1. An executor binds an [`StepIo`] to memory once, when it is made. The plan has proved that no two steps which may run
//!    together share a slot, and that no step reads a slot that it writes.
//! 2. While a step runs, it alone reads its `StepIo` and writes its outputs; its inputs were written by steps that have
//!    finished, and the count that released the step made those writes visible.
//! 3. Between cycles nobody runs, and the executor may change what an `StepIo` points to.

use crate::{Event, EventBody, EventTarget, Events, ProcessServices};
use rt::deferred::{DeferredJob, PiecewiseJob};
use units::Channels;

/// One channel of one slot.
#[derive(Clone, Copy, Debug)]
pub struct RawChannel {
    /// The first frame of the block.
    pub data: *mut f32,
    /// Whether the whole slot is known to be +0.0; 0 or 1.
    pub silent: *mut u8,
}

/// One port.
#[derive(Clone, Copy, Debug)]
pub struct RawPort {
    /// Its first channel, here rather than behind a pointer: most ports have no other. Unused where there is none.
    pub first: RawChannel,
    /// All of them, one after the other; the first again too. Dangling where there is none.
    pub all: *const RawChannel,
    /// How many.
    pub channels: u32,
}

impl RawPort {
    /// The port whose channels are `channels`, which must not move as long as the port is used.
    pub fn new(channels: &[RawChannel]) -> Self {
        const NOWHERE: RawChannel = RawChannel {
            data: std::ptr::null_mut(),
            silent: std::ptr::null_mut(),
        };
        Self {
            first: *channels.first().unwrap_or(&NOWHERE),
            all: channels.as_ptr(),
            channels: channels.len() as u32,
        }
    }
}

/// Ports, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct RawPorts {
    /// The first of them; dangling where there is none.
    pub first: *const RawPort,
    /// How many.
    pub count: u32,
}

/// A delay line: a ring of frames for each channel, addressed by absolute frame.
#[derive(Clone, Copy, Debug)]
pub struct RawDelayLine {
    /// The first frame of the first channel; the others follow, `capacity` frames each.
    pub data: *mut f32,
    /// Frames in the ring: a power of two.
    pub capacity: u32,
    /// How many channels.
    pub channels: u32,
    /// The shortest delay that may be asked for, in frames: what is more recent may be being written.
    pub min_delay: u32,
    /// The longest.
    pub max_delay: u32,
}

/// Room for the events that a step sends from one port.
#[derive(Debug)]
pub struct RawEvents {
    /// As many as were sent this cycle; its capacity is all there is room for.
    pub events: Vec<Event>,
    /// How many found no room, since the start.
    pub dropped: u64,
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

/// What one step reads and writes, bound to memory. Small, since every step's is read in every cycle.
#[derive(Debug)]
pub struct StepIo {
    /// Input ports, in order; event ports have no channels.
    pub inputs: RawPorts,
    /// Output ports, in order.
    pub outputs: RawPorts,
    /// Whether there are events in this cycle.
    pub has_events: bool,
    /// What most steps do without.
    pub cold: Box<IoCold>,
}

/// The rarer part of an [`StepIo`].
#[derive(Debug, Default)]
pub struct IoCold {
    /// For each output port the room for its events; null for audio. Nothing where no port sends.
    pub event_outputs: Box<[*mut RawEvents]>,
    /// This cycle's events for the step, sorted by frame.
    pub events: Vec<Event>,
    /// The line it reads, if it is a delay's reading half.
    pub delay_line: Option<RawDelayLine>,
}

impl StepIo {
    #[inline]
    fn inputs(&self) -> &[RawPort] {
        // SAFETY: the executor that binds an `StepIo` makes `inputs` point to so many ports, which live as long as it.
        unsafe { std::slice::from_raw_parts(self.inputs.first, self.inputs.count as usize) }
    }

    #[inline]
    fn outputs(&self) -> &[RawPort] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.outputs.first, self.outputs.count as usize) }
    }
}

// SAFETY: the rules at the head of this file let one thread at a time follow the pointers, and hand over by a count or
// a gate that orders memory; the executor that binds an `StepIo` keeps the memory alive as long.
unsafe impl Send for StepIo {}
// SAFETY: as above; an `StepIo` is only read while steps run.
unsafe impl Sync for StepIo {}

/// What is the same for every step of a cycle (or of one round of a loop).
#[derive(Clone, Copy)]
pub struct ProcessInfo<'a> {
    /// Frames in this block, or this part of it.
    pub frames: u32,
    /// Where this part begins in the block; 0 for a whole one.
    pub offset: u32,
    /// Frames played before this part's first one, since the start.
    pub position: u64,
    /// Whether this is the whole block: only then may a slot be marked silent.
    pub is_whole_block: bool,
    /// The cycle's number.
    pub cycle: u64,
    /// The device's input channels for the whole block; nobody writes them during the cycle.
    pub device_inputs: &'a [RawChannel],
    /// What the executor lends.
    pub services: &'a dyn ProcessServices,
}

/// One block as one step sees it.
pub struct Block<'a> {
    pub(crate) io: &'a StepIo,
    pub(crate) info: &'a ProcessInfo<'a>,
}

impl<'a> Block<'a> {
    /// The block of `io` at `moment`.
    ///
    /// # Safety
    ///
    /// Every pointer in `io` and `moment` is valid for the plan's block (`moment.offset + moment.frames` is within it), and for as
    /// long as `'a` no one else writes what the inputs point to, or touches what the outputs, sends and flags point to.
    ///
    /// Real-time: hot.
    #[inline]
    pub unsafe fn new(io: &'a StepIo, info: &'a ProcessInfo<'a>) -> Self {
        Self { io, info }
    }

    /// How many frames to play now: at least 1, at most what `setup` said.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn frames(&self) -> usize {
        self.info.frames as usize
    }

    /// Frames played since the start, before this block's first one.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn position(&self) -> u64 {
        self.info.position
    }

    /// How many inputs there are.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn input_count(&self) -> usize {
        self.io.inputs.count as usize
    }

    /// The input `port`, counted from 0. There must be one.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn input(&self, port: usize) -> InputBuffer<'a> {
        InputBuffer {
            port: &self.io.inputs()[port],
            moment: self.info,
        }
    }

    /// How many outputs there are.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn output_count(&self) -> usize {
        self.io.outputs.count as usize
    }

    /// The output `port`, counted from 0. There must be one.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn output(&mut self, port: usize) -> OutputBuffer<'_> {
        OutputBuffer {
            port: &self.io.outputs()[port],
            moment: self.info,
        }
    }

    /// Every output, all at once.
    ///
    /// Real-time: hot.
    pub fn outputs(&mut self) -> impl ExactSizeIterator<Item = OutputBuffer<'_>> {
        let moment = self.info;
        // Each port has channels of its own (rule 1), so the outputs do not overlap.
        self.io
            .outputs()
            .iter()
            .map(move |port| OutputBuffer { port, moment })
    }

    /// Fills every output with silence and marks it so.
    ///
    /// Real-time: hot.
    pub fn silence_outputs(&mut self) {
        self.outputs().for_each(|mut out| out.silence());
    }

    /// Whether every channel of every input is known to be silent.
    ///
    /// Real-time: hot.
    pub fn is_silent(&self) -> bool {
        (0..self.input_count()).all(|port| self.input(port).is_silent())
    }

    /// This block's events.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn events(&self) -> Events<'a> {
        let all: &[Event] = if self.io.has_events {
            &self.io.cold.events
        } else {
            &[]
        };
        Events::in_range(all, self.info.offset, self.info.frames)
    }

    /// Sends an event from the event output `port` at `frame` of this block; frames must not go back within a block.
    /// Without room (64 a port and block) it is lost and counted.
    ///
    /// Real-time: hot.
    pub fn send_event(&mut self, port: usize, frame: u32, body: EventBody) {
        let Some(room) = self
            .io
            .cold
            .event_outputs
            .get(port)
            .filter(|room| !room.is_null())
        else {
            return;
        };
        // SAFETY: rule 2: while the step runs, what it sends is its own; `&mut self` keeps a second borrow out.
        let room = unsafe { &mut **room };
        if room.events.len() == room.events.capacity() {
            room.dropped += 1;
            return;
        }
        room.events.push(Event {
            frame: self.info.offset + frame,
            target: EventTarget::Input(0),
            body,
        });
    }

    /// The device's input `channel` for this block, counted from 0; `None` where the device has fewer.
    ///
    /// Real-time: hot.
    pub fn device_input(&self, channel: usize) -> Option<&'a [f32]> {
        let raw = self.info.device_inputs.get(channel)?;
        // SAFETY: `Block::new`'s promise: the channel holds the whole block and nobody writes it now.
        Some(unsafe {
            std::slice::from_raw_parts(raw.data.add(self.info.offset as usize), self.frames())
        })
    }

    /// The delay line that this step reads; `None` but in a delay.
    ///
    /// Real-time: hot.
    pub fn delay_line(&self) -> Option<DelayLineView<'a>> {
        Some(DelayLineView {
            line: self.io.cold.delay_line.as_ref()?,
            position: self.info.position,
        })
    }

    /// Runs `work(0)` to `work(lanes - 1)`, on idle workers too, and comes back when all have run.
    ///
    /// Real-time: hot.
    pub fn fork(&self, lanes: u32, work: &(dyn Fn(u32) + Sync)) {
        self.info.services.fork(lanes, work);
    }

    /// How many workers there are to play this cycle, this one included: with one alone nothing is gained by a fork.
    ///
    /// Real-time: hot.
    pub fn workers(&self) -> u32 {
        self.info.services.workers()
    }

    /// The result of deferred work that is due now. Where it is not there yet, the work is helped: offline to its end,
    /// live until 20 % of the period is left; then it is counted as late and `None`.
    ///
    /// Real-time: hot.
    pub fn take_deferred<'o, T: PiecewiseJob>(
        &self,
        owner: &'o mut DeferredJob<T>,
    ) -> Option<&'o mut T> {
        while !owner.is_available() && self.info.services.may_help() {
            owner.run_piece();
        }
        if !owner.is_available() {
            self.info.services.count_late();
        }
        owner.get()
    }

    /// Counts something that was not there in time and was replaced by silence.
    ///
    /// Real-time: hot.
    pub fn count_late(&self) {
        self.info.services.count_late();
    }
}

/// One input of one block.
#[derive(Clone, Copy)]
pub struct InputBuffer<'a> {
    port: &'a RawPort,
    moment: &'a ProcessInfo<'a>,
}

impl<'a> InputBuffer<'a> {
    /// How many channels it has.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn channels(&self) -> Channels {
        Channels(self.port.channels as u16)
    }

    /// The frames of one channel.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn channel(&self, channel: usize) -> &'a [f32] {
        let raw = raw_channel(self.port, channel);
        // SAFETY: `Block::new`'s promise: the slot holds the whole block and nobody writes it now.
        unsafe {
            std::slice::from_raw_parts(
                raw.data.add(self.moment.offset as usize),
                self.moment.frames as usize,
            )
        }
    }

    /// Whether every channel is known to be +0.0 throughout. A channel may be silent without anyone knowing.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_silent(&self) -> bool {
        (0..self.port.channels as usize).all(|c| {
            // SAFETY: `Block::new`'s promise; flags are written with their slot.
            unsafe { *raw_channel(self.port, c).silent != 0 }
        })
    }
}

/// One output of one block. It holds what an earlier step left there: every frame must be written.
pub struct OutputBuffer<'a> {
    port: &'a RawPort,
    moment: &'a ProcessInfo<'a>,
}

impl OutputBuffer<'_> {
    /// How many channels it has.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn channels(&self) -> Channels {
        Channels(self.port.channels as u16)
    }

    /// The frames of one channel, to be written.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn channel(&mut self, channel: usize) -> &mut [f32] {
        let raw = raw_channel(self.port, channel);
        // SAFETY: `Block::new`'s promise: the slot holds the whole block and is this step's alone; `&mut self` keeps a
        // second borrow of the same port out, and ports share no channel.
        unsafe {
            std::slice::from_raw_parts_mut(
                raw.data.add(self.moment.offset as usize),
                self.moment.frames as usize,
            )
        }
    }

    /// Fills every channel with +0.0 and marks it silent.
    ///
    /// Real-time: hot.
    pub fn silence(&mut self) {
        for c in 0..self.port.channels as usize {
            self.channel(c).fill(0.0);
            // A flag speaks for the whole slot, so a part of a block must not raise it.
            if self.moment.is_whole_block {
                // SAFETY: as for the samples: flags belong to whoever may write the slot.
                unsafe { *raw_channel(self.port, c).silent = 1 };
            }
        }
    }
}

#[inline]
fn raw_channel(port: &RawPort, channel: usize) -> &RawChannel {
    assert!(
        channel < port.channels as usize,
        "a port has no such channel"
    );
    if channel == 0 {
        return &port.first;
    }
    // SAFETY: `all` points to `channels` of them (the executor binds it so), and `channel` is below that.
    unsafe { &*port.all.add(channel) }
}

/// A delay line as its reading half sees it: what was written, by how long ago.
#[derive(Clone, Copy)]
pub struct DelayLineView<'a> {
    line: &'a RawDelayLine,
    position: u64,
}

impl DelayLineView<'_> {
    /// How many channels it has.
    ///
    /// Real-time: hot.
    pub fn channels(&self) -> Channels {
        Channels(self.line.channels as u16)
    }

    /// The shortest delay that can be read, in frames.
    ///
    /// Real-time: hot.
    pub fn min_delay(&self) -> u32 {
        self.line.min_delay
    }

    /// The longest delay that can be read, in frames.
    ///
    /// Real-time: hot.
    pub fn max_delay(&self) -> u32 {
        self.line.max_delay
    }

    /// The frame of `channel` that was written `delay` frames before frame `frame` of this block; 0 before the start.
    /// A delay below [`least`](Self::least) or above [`most`](Self::most) is read as that: the plan has made sure that the
    /// line is written in time for what lies between.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn read(&self, channel: usize, frame: usize, delay: u32) -> f32 {
        assert!(
            channel < self.line.channels as usize,
            "a line has no such channel"
        );
        let now = self.position + frame as u64;
        let Some(then) = now.checked_sub(u64::from(
            delay.max(self.line.min_delay).min(self.line.max_delay),
        )) else {
            return 0.0;
        };
        let index = then as usize & (self.line.capacity as usize - 1);
        // SAFETY: `channel` and `index` are within the ring; the plan keeps the writing half out of the frames that may
        // be read now, by order or by the ring's size (see `Plan::lines`).
        unsafe {
            *self
                .line
                .data
                .add(channel * self.line.capacity as usize + index)
        }
    }
}
