//! [`Actor`]: what a node does, on windows and rooms that lie in its queues.

use crate::ends::{InEnd, OutEnd};
use crate::shape::Ports;
use rt::mirror;

/// The running half of a node of a network.
///
/// A firing sees one window of each input and one room of each output, and nothing else of the world that matters to
/// the sound: then the network's output is the same whatever the schedule (Kahn). It may wait, on files of its own for
/// instance; what waits with it is one thread.
pub trait Actor: Send {
    /// What a firing asks for, takes and gives. It never changes.
    fn ports(&self) -> Ports;

    /// Fires once: reads the windows, writes each room as far as it gives it away.
    fn fire(
        &mut self,
        inputs: &mut InputWindows<'_>,
        outputs: &mut OutputWindows<'_>,
    ) -> FireStatus;

    /// Becomes as new.
    fn reset(&mut self) {}
}

/// How the node goes on after a firing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FireStatus {
    /// It fires again when it can.
    Continue,
    /// It has ended: of this firing, so many frames of each output count.
    Finished(usize),
    /// It has failed, and the network ends: the reason.
    Failed(String),
}

/// One window of each input.
pub struct InputWindows<'a>(pub(crate) &'a mut [InEnd]);

/// One room of each output.
pub struct OutputWindows<'a>(pub(crate) &'a mut [OutEnd]);

/// Frames to read in place.
pub struct InputWindow<'a>(pub(crate) Seen<'a>);

pub(crate) enum Seen<'a> {
    Ring(mirror::ReadChunk<'a, f32>),
    /// The last frames of a stream with silence behind.
    Padded(&'a [Box<[f32]>]),
}

/// Frames to write in place. What a firing wrote behind what it gave away is there again in the next.
pub struct OutputWindow<'a>(pub(crate) Lent<'a>);

pub(crate) enum Lent<'a> {
    Ring(mirror::WriteChunk<'a, f32>),
    /// Nobody listens any more.
    Scrap(&'a mut [Box<[f32]>]),
}

impl InputWindows<'_> {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The window of one input.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn window(&mut self, input: usize) -> InputWindow<'_> {
        self.0[input].view()
    }

    /// The windows of all inputs, in order.
    ///
    /// Real-time: hot.
    pub fn windows(&mut self) -> impl Iterator<Item = InputWindow<'_>> {
        self.0.iter_mut().map(InEnd::view)
    }
}

impl OutputWindows<'_> {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The room of one output.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn window(&mut self, output: usize) -> OutputWindow<'_> {
        self.0[output].lend()
    }

    /// The rooms of all outputs, in order.
    ///
    /// Real-time: hot.
    pub fn windows(&mut self) -> impl Iterator<Item = OutputWindow<'_>> {
        self.0.iter_mut().map(OutEnd::lend)
    }
}

impl InputWindow<'_> {
    /// The frames of one channel.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn channel(&self, channel: usize) -> &[f32] {
        match &self.0 {
            Seen::Ring(window) => window.channel(channel),
            Seen::Padded(channels) => &channels[channel],
        }
    }
}

impl OutputWindow<'_> {
    /// The frames of one channel.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn channel(&mut self, channel: usize) -> &mut [f32] {
        match &mut self.0 {
            Lent::Ring(room) => room.channel(channel),
            Lent::Scrap(channels) => &mut channels[channel],
        }
    }
}
