//! [`InputBuffer`] and [`OutputBuffer`]: the channels of one port for one block.

use super::{ProcessInfo, RawPort};
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
        (0..self.port.channels as usize).all(|c| {
            // SAFETY: `Block::new`'s promise; a flag is written together with its slot.
            unsafe { *self.port.channel(c).silent != 0 }
        })
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

    /// Fills every channel with +0.0 and marks it silent.
    ///
    /// Real-time: hot.
    pub fn silence(&mut self) {
        for c in 0..self.port.channels as usize {
            self.channel(c).fill(0.0);
            // A flag describes the whole slot, so a part of a block must not set it.
            if self.info.is_whole_block {
                // SAFETY: `Block::new`'s promise: the flag belongs to the step that may write the slot, which is this one.
                unsafe { *self.port.channel(c).silent = 1 };
            }
        }
    }
}
