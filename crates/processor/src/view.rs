//! What a step sees of one block: its inputs, its outputs, its events, its line.
//!
//! # Who may touch what
//!
//! 1. An executor binds an [`Io`] to memory once, when it is made. The plan has proved that no two steps which may run
//!    together share a slot, and that no step reads a slot that it writes.
//! 2. While a step runs, it alone reads its `Io` and writes its outputs; its inputs were written by steps that have
//!    finished, and the count that released the step made those writes visible.
//! 3. Between cycles nobody runs, and the executor may change what an `Io` points to.

use crate::{Body, Event, Events, Runtime, Target};
use rt::deferred::{Owner, Pieces};
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
    pub fn of(channels: &[RawChannel]) -> Self {
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
pub struct RawLine {
    /// The first frame of the first channel; the others follow, `capacity` frames each.
    pub data: *mut f32,
    /// Frames in the ring: a power of two.
    pub capacity: u32,
    /// How many channels.
    pub channels: u32,
    /// The shortest delay that may be asked for, in frames: what is more recent may be being written.
    pub least: u32,
    /// The longest.
    pub most: u32,
}

/// Room for the events that a step sends from one port.
#[derive(Debug)]
pub struct RawEvents {
    /// As many as were sent this cycle; its capacity is all there is room for.
    pub sent: Vec<Event>,
    /// How many found no room, since the start.
    pub lost: u64,
}

impl RawPorts {
    /// These ports, which must not move as long as they are used.
    pub fn of(ports: &[RawPort]) -> Self {
        Self {
            first: ports.as_ptr(),
            count: ports.len() as u32,
        }
    }
}

/// What one step reads and writes, bound to memory. Small, since every step's is read in every cycle.
#[derive(Debug)]
pub struct Io {
    /// Input ports, in order; event ports have no channels.
    pub inputs: RawPorts,
    /// Output ports, in order.
    pub outputs: RawPorts,
    /// Whether there are events in this cycle.
    pub has_events: bool,
    /// What most steps do without.
    pub more: Box<IoMore>,
}

/// The rarer part of an [`Io`].
#[derive(Debug, Default)]
pub struct IoMore {
    /// For each output port the room for its events; null for audio. Nothing where no port sends.
    pub sends: Box<[*mut RawEvents]>,
    /// This cycle's events for the step, sorted by frame.
    pub events: Vec<Event>,
    /// The line it reads, if it is a delay's reading half.
    pub line: Option<RawLine>,
}

impl Io {
    #[inline]
    fn inputs(&self) -> &[RawPort] {
        // SAFETY: the executor that binds an `Io` makes `inputs` point to so many ports, which live as long as it.
        unsafe { std::slice::from_raw_parts(self.inputs.first, self.inputs.count as usize) }
    }

    #[inline]
    fn outputs(&self) -> &[RawPort] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.outputs.first, self.outputs.count as usize) }
    }
}

// SAFETY: the rules at the head of this file let one thread at a time follow the pointers, and hand over by a count or
// a gate that orders memory; the executor that binds an `Io` keeps the memory alive as long.
unsafe impl Send for Io {}
// SAFETY: as above; an `Io` is only read while steps run.
unsafe impl Sync for Io {}

/// What is the same for every step of a cycle (or of one round of a loop).
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    /// Frames in this block, or this part of it.
    pub frames: u32,
    /// Where this part begins in the block; 0 for a whole one.
    pub offset: u32,
    /// Frames played before this part's first one, since the start.
    pub position: u64,
    /// Whether this is the whole block: only then may a slot be marked silent.
    pub whole: bool,
    /// The cycle's number.
    pub cycle: u64,
    /// The device's input channels for the whole block; nobody writes them during the cycle.
    pub device: &'a [RawChannel],
    /// What the executor lends.
    pub runtime: &'a dyn Runtime,
}

/// One block as one step sees it.
pub struct Block<'a> {
    pub(crate) io: &'a Io,
    pub(crate) moment: &'a Moment<'a>,
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
    pub unsafe fn new(io: &'a Io, moment: &'a Moment<'a>) -> Self {
        Self { io, moment }
    }

    /// How many frames to play now: at least 1, at most what `setup` said.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn frames(&self) -> usize {
        self.moment.frames as usize
    }

    /// Frames played since the start, before this block's first one.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn position(&self) -> u64 {
        self.moment.position
    }

    /// How many inputs there are.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn inputs(&self) -> usize {
        self.io.inputs.count as usize
    }

    /// The input `port`, counted from 0. There must be one.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn input(&self, port: usize) -> Input<'a> {
        Input {
            port: &self.io.inputs()[port],
            moment: self.moment,
        }
    }

    /// How many outputs there are.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn outputs(&self) -> usize {
        self.io.outputs.count as usize
    }

    /// The output `port`, counted from 0. There must be one.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn output(&mut self, port: usize) -> Output<'_> {
        Output {
            port: &self.io.outputs()[port],
            moment: self.moment,
        }
    }

    /// Every output, all at once.
    ///
    /// Real-time: hot.
    pub fn all_outputs(&mut self) -> impl ExactSizeIterator<Item = Output<'_>> {
        let moment = self.moment;
        // Each port has channels of its own (rule 1), so the outputs do not overlap.
        self.io
            .outputs()
            .iter()
            .map(move |port| Output { port, moment })
    }

    /// Fills every output with silence and marks it so.
    ///
    /// Real-time: hot.
    pub fn silence(&mut self) {
        self.all_outputs().for_each(|mut out| out.silence());
    }

    /// Whether every channel of every input is known to be silent.
    ///
    /// Real-time: hot.
    pub fn is_silent(&self) -> bool {
        (0..self.inputs()).all(|port| self.input(port).is_silent())
    }

    /// This block's events.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn events(&self) -> Events<'a> {
        let all: &[Event] = if self.io.has_events {
            &self.io.more.events
        } else {
            &[]
        };
        Events::within(all, self.moment.offset, self.moment.frames)
    }

    /// Sends an event from the event output `port` at `frame` of this block; frames must not go back within a block.
    /// Without room (64 a port and block) it is lost and counted.
    ///
    /// Real-time: hot.
    pub fn send(&mut self, port: usize, frame: u32, body: Body) {
        let Some(room) = self.io.more.sends.get(port).filter(|room| !room.is_null()) else {
            return;
        };
        // SAFETY: rule 2: while the step runs, what it sends is its own; `&mut self` keeps a second borrow out.
        let room = unsafe { &mut **room };
        if room.sent.len() == room.sent.capacity() {
            room.lost += 1;
            return;
        }
        room.sent.push(Event {
            frame: self.moment.offset + frame,
            target: Target::Input(0),
            body,
        });
    }

    /// The device's input `channel` for this block, counted from 0; `None` where the device has fewer.
    ///
    /// Real-time: hot.
    pub fn device(&self, channel: usize) -> Option<&'a [f32]> {
        let raw = self.moment.device.get(channel)?;
        // SAFETY: `Block::new`'s promise: the channel holds the whole block and nobody writes it now.
        Some(unsafe {
            std::slice::from_raw_parts(raw.data.add(self.moment.offset as usize), self.frames())
        })
    }

    /// The delay line that this step reads; `None` but in a delay.
    ///
    /// Real-time: hot.
    pub fn line(&self) -> Option<LineView<'a>> {
        Some(LineView {
            line: self.io.more.line.as_ref()?,
            position: self.moment.position,
        })
    }

    /// Runs `work(0)` to `work(lanes - 1)`, on idle workers too, and comes back when all have run.
    ///
    /// Real-time: hot.
    pub fn fork(&self, lanes: u32, work: &(dyn Fn(u32) + Sync)) {
        self.moment.runtime.fork(lanes, work);
    }

    /// How many workers there are to play this cycle, this one included: with one alone nothing is gained by a fork.
    ///
    /// Real-time: hot.
    pub fn workers(&self) -> u32 {
        self.moment.runtime.workers()
    }

    /// The result of deferred work that is due now. Where it is not there yet, the work is helped: offline to its end,
    /// live until 20 % of the period is left; then it is counted as late and `None`.
    ///
    /// Real-time: hot.
    pub fn finish<'o, T: Pieces>(&self, owner: &'o mut Owner<T>) -> Option<&'o mut T> {
        while !owner.is_here() && self.moment.runtime.may_help() {
            owner.help();
        }
        if !owner.is_here() {
            self.moment.runtime.count_late();
        }
        owner.get()
    }

    /// Counts something that was not there in time and was replaced by silence.
    ///
    /// Real-time: hot.
    pub fn count_late(&self) {
        self.moment.runtime.count_late();
    }
}

/// One input of one block.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    port: &'a RawPort,
    moment: &'a Moment<'a>,
}

impl<'a> Input<'a> {
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
pub struct Output<'a> {
    port: &'a RawPort,
    moment: &'a Moment<'a>,
}

impl Output<'_> {
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
            if self.moment.whole {
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
pub struct LineView<'a> {
    line: &'a RawLine,
    position: u64,
}

impl LineView<'_> {
    /// How many channels it has.
    ///
    /// Real-time: hot.
    pub fn channels(&self) -> Channels {
        Channels(self.line.channels as u16)
    }

    /// The shortest delay that can be read, in frames.
    ///
    /// Real-time: hot.
    pub fn least(&self) -> u32 {
        self.line.least
    }

    /// The longest delay that can be read, in frames.
    ///
    /// Real-time: hot.
    pub fn most(&self) -> u32 {
        self.line.most
    }

    /// The frame of `channel` that was written `delay` frames before frame `frame` of this block; 0 before the start.
    /// A delay below [`least`](Self::least) or above [`most`](Self::most) is read as that: the plan has made sure that the
    /// line is written in time for what lies between.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn ago(&self, channel: usize, frame: usize, delay: u32) -> f32 {
        assert!(
            channel < self.line.channels as usize,
            "a line has no such channel"
        );
        let now = self.position + frame as u64;
        let Some(then) = now.checked_sub(u64::from(delay.max(self.line.least).min(self.line.most)))
        else {
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
