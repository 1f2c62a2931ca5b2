//! [`Fire`]: what a node does, on windows and rooms that lie in its queues.

use crate::ends::{InEnd, OutEnd};
use crate::shape::Ports;
use rt::mirror;

/// The running half of a node of a network.
///
/// A firing sees one window of each input and one room of each output, and nothing else of the world that matters to
/// the sound: then the network's output is the same whatever the schedule (Kahn). It may wait, on files of its own for
/// instance; what waits with it is one thread.
pub trait Fire: Send {
    /// What a firing asks for, takes and gives. It never changes.
    fn ports(&self) -> Ports;

    /// Fires once: reads the windows, writes each room as far as it gives it away.
    fn fire(&mut self, inputs: &mut Inputs<'_>, outputs: &mut Outputs<'_>) -> Flow;

    /// Becomes as new.
    fn reset(&mut self) {}
}

/// How the node goes on after a firing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It fires again when it can.
    Go,
    /// It has ended: of this firing, so many frames of each output count.
    End(usize),
    /// It has failed, and the network ends: the reason.
    Fail(String),
}

/// One window of each input.
pub struct Inputs<'a>(pub(crate) &'a mut [InEnd]);

/// One room of each output.
pub struct Outputs<'a>(pub(crate) &'a mut [OutEnd]);

/// Frames to read in place.
pub struct View<'a>(pub(crate) Seen<'a>);

pub(crate) enum Seen<'a> {
    Ring(mirror::Window<'a, f32>),
    /// The last frames of a stream with silence behind.
    Padded(&'a [Box<[f32]>]),
}

/// Frames to write in place. What a firing wrote behind what it gave away is there again in the next.
pub struct Room<'a>(pub(crate) Lent<'a>);

pub(crate) enum Lent<'a> {
    Ring(mirror::Room<'a, f32>),
    /// Nobody listens any more.
    Scrap(&'a mut [Box<[f32]>]),
}

impl Inputs<'_> {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The window of one input.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn view(&mut self, input: usize) -> View<'_> {
        self.0[input].view()
    }

    /// The windows of all inputs, in order.
    ///
    /// Real-time: hot.
    pub fn views(&mut self) -> impl Iterator<Item = View<'_>> {
        self.0.iter_mut().map(InEnd::view)
    }
}

impl Outputs<'_> {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The room of one output.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn room(&mut self, output: usize) -> Room<'_> {
        self.0[output].lend()
    }

    /// The rooms of all outputs, in order.
    ///
    /// Real-time: hot.
    pub fn rooms(&mut self) -> impl Iterator<Item = Room<'_>> {
        self.0.iter_mut().map(OutEnd::lend)
    }
}

impl View<'_> {
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

impl Room<'_> {
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
