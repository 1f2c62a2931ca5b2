//! [`InputBuffer`] and [`OutputBuffer`]: the channels of one port for one block.

use super::{Content, ProcessInfo, RawPort};
use units::Channels;

/// One input for one block: channels x frames, read only.
#[derive(Clone, Copy)]
pub struct InputBuffer<'a> {
    port: &'a RawPort,
    info: &'a ProcessInfo<'a>,
}

impl<'a> InputBuffer<'a> {
    #[inline]
    pub(super) fn new(port: &'a RawPort, info: &'a ProcessInfo<'a>) -> Self {
        Self { port, info }
    }

    /// Number of channels.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn channels(&self) -> Channels {
        Channels(self.port.channels as u16)
    }

    /// The frames of one channel, counted from 0.
    ///
    /// # Panics
    ///
    /// The port has no such channel.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn channel(&self, channel: usize) -> &'a [f32] {
        let raw = self.port.channel(channel);
        // SAFETY: `Block::new`'s promise: the slot holds the whole block and nobody writes it now.
        unsafe {
            std::slice::from_raw_parts(
                raw.data.add(self.info.offset as usize),
                self.info.frames as usize,
            )
        }
    }

    /// Returns true if every channel is marked silent: all its samples are +0.0. A silent channel need not be marked.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_silent(&self) -> bool {
        // SAFETY: `Block::new`'s promise; a flag is written together with its slot.
        self.port
            .all_channels(|raw| unsafe { raw.is(Content::Silent) })
    }

    /// Value of all frames of `channel`, if the channel is marked constant or silent. A channel that is constant need not be
    /// marked. A unit that uses it must give the bits that it would give without.
    ///
    /// # Panics
    ///
    /// The port has no such channel.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn constant(&self, channel: usize) -> Option<f32> {
        let raw = self.port.channel(channel);
        // SAFETY: `Block::new`'s promise, as above; a slot has at least one frame.
        unsafe { (!raw.is(Content::Unknown)).then(|| *raw.data) }
    }

    /// Returns true if every channel is marked constant or silent.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_constant(&self) -> bool {
        // SAFETY: as above.
        self.port
            .all_channels(|raw| unsafe { !raw.is(Content::Unknown) })
    }
}

/// One output for one block: channels x frames. Every frame must be written: the memory holds samples of earlier steps.
pub struct OutputBuffer<'a> {
    port: &'a RawPort,
    info: &'a ProcessInfo<'a>,
}

impl<'a> OutputBuffer<'a> {
    #[inline]
    pub(super) fn new(port: &'a RawPort, info: &'a ProcessInfo<'a>) -> Self {
        Self { port, info }
    }

    /// Number of channels.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn channels(&self) -> Channels {
        Channels(self.port.channels as u16)
    }

    /// Returns false if nothing reads this output in this plan: then its frames need not be written.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_read(&self) -> bool {
        self.port.is_read
    }

    /// The frames of one channel, counted from 0, to be written.
    ///
    /// # Panics
    ///
    /// The port has no such channel.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn channel(&mut self, channel: usize) -> &mut [f32] {
        let raw = self.port.channel(channel);
        // SAFETY: `Block::new`'s promise: the slot holds the whole block and is this step's alone; `&mut self` keeps a
        // second borrow of the same port out, and ports share no channel.
        unsafe {
            std::slice::from_raw_parts_mut(
                raw.data.add(self.info.offset as usize),
                self.info.frames as usize,
            )
        }
    }

    /// As [`channel`](Self::channel), for as long as the output is borrowed.
    ///
    /// # Panics
    ///
    /// The port has no such channel.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn into_channel(self, channel: usize) -> &'a mut [f32] {
        let raw = self.port.channel(channel);
        // SAFETY: as in `channel`; the buffer is used up, so no second borrow of the port comes of it.
        unsafe {
            std::slice::from_raw_parts_mut(
                raw.data.add(self.info.offset as usize),
                self.info.frames as usize,
            )
        }
    }

    /// Fills every channel with +0.0 and marks it silent.
    ///
    /// Real-time: hot.
    pub fn silence(&mut self) {
        for c in 0..self.port.channels as usize {
            self.channel(c).fill(0.0);
            // A flag describes the whole slot, so a part of a block must not set it.
            if self.info.is_whole_block {
                // SAFETY: `Block::new`'s promise: the flag belongs to the step that may write the slot, which is this one.
                unsafe { self.port.channel(c).set(Content::Silent) };
            }
        }
    }

    /// Fills `channel` with `value` and marks it constant.
    ///
    /// # Panics
    ///
    /// The port has no such channel.
    ///
    /// Real-time: hot.
    pub fn fill_constant(&mut self, channel: usize, value: f32) {
        self.channel(channel).fill(value);
        self.mark_constant(channel);
    }

    /// Marks `channel`, of which every frame has the same bits, constant.
    ///
    /// # Panics
    ///
    /// The port has no such channel.
    ///
    /// Real-time: hot.
    pub fn mark_constant(&mut self, channel: usize) {
        if self.info.is_whole_block {
            // SAFETY: as above.
            unsafe { self.port.channel(channel).set(Content::Constant) };
        }
    }
}
