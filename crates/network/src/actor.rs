//! [`Actor`]: the code that a node runs in a firing, on windows that lie in its queues.

use crate::run::queue_ends::{InputEnd, OutputEnd};
use crate::topology::NodePorts;
use rt::mirror;

/// The code of a node.
///
/// A firing sees one window of each input and one of each output, and depends on nothing else. Then the
/// network's output does not depend on the order of firings (Kahn, 1974). It may wait, for a file for instance; the
/// thread that fires it waits too.
pub trait Actor: Send {
    /// The actor's ports. They never change.
    fn ports(&self) -> NodePorts;

    /// Fires once: reads the input windows, and writes each output window as far as it produces.
    fn fire(&mut self, windows: &mut Windows<'_>) -> FireStatus;

    /// Returns to the state of a new actor.
    fn reset(&mut self) {}

    /// State beside its windows, as a number.
    fn progress(&self) -> u64 {
        0
    }

    /// Goes on from the [`progress`](Self::progress) of another one, which may be wrong.
    fn go_on_from(&mut self, _progress: u64) {}
}

/// Status of a node after a firing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FireStatus {
    /// It fires again as soon as it can.
    Continue,
    /// Its stream has ended: only this number of frames of each output is produced.
    Finished(usize),
    /// It has failed, for this reason; the network stops.
    Failed(String),
}

/// The windows of one firing.
pub struct Windows<'a> {
    /// One of each input.
    pub inputs: InputWindows<'a>,
    /// One of each output.
    pub outputs: OutputWindows<'a>,
}

/// One window of each input.
pub struct InputWindows<'a>(pub(crate) &'a mut [InputEnd]);

/// One window of each output.
pub struct OutputWindows<'a>(pub(crate) &'a mut [OutputEnd]);

/// Frames to be read in place.
pub struct InputWindow<'a>(pub(crate) WindowSource<'a>);

pub(crate) enum WindowSource<'a> {
    Ring(mirror::ReadChunk<'a, f32>),
    /// The last frames of a stream, padded with silence.
    Padded(&'a [Box<[f32]>]),
}

/// Frames to be written in place. What a firing writes behind the frames that it produces is there again in its next window.
pub struct OutputWindow<'a>(pub(crate) WindowTarget<'a>);

pub(crate) enum WindowTarget<'a> {
    Ring(mirror::WriteChunk<'a, f32>),
    /// The reader has ended.
    Discarded(&'a mut [Box<[f32]>]),
}

impl Windows<'_> {
    /// Passes the samples of each of `channels` channels, of the first input and the first output, to `work`.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn each_channel(&mut self, channels: usize, mut work: impl FnMut(&[f32], &mut [f32])) {
        let (input, mut output) = (self.inputs.window(0), self.outputs.window(0));
        for channel in 0..channels {
            work(input.channel(channel), output.channel(channel));
        }
    }
}

impl InputWindows<'_> {
    /// Number of inputs.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Window of one input.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn window(&mut self, input: usize) -> InputWindow<'_> {
        self.0[input].window()
    }

    /// Windows of all inputs, in order.
    ///
    /// Real-time: hot.
    pub fn windows(&mut self) -> impl Iterator<Item = InputWindow<'_>> {
        self.0.iter_mut().map(InputEnd::window)
    }
}

impl OutputWindows<'_> {
    /// Number of outputs.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Window of one output.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn window(&mut self, output: usize) -> OutputWindow<'_> {
        self.0[output].window_mut()
    }

    /// Windows of all outputs, in order.
    ///
    /// Real-time: hot.
    pub fn windows(&mut self) -> impl Iterator<Item = OutputWindow<'_>> {
        self.0.iter_mut().map(OutputEnd::window_mut)
    }
}

impl InputWindow<'_> {
    /// Samples of one channel: as many as the input's window has frames.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn channel(&self, channel: usize) -> &[f32] {
        match &self.0 {
            WindowSource::Ring(chunk) => chunk.channel(channel),
            WindowSource::Padded(channels) => &channels[channel],
        }
    }
}

impl OutputWindow<'_> {
    /// Samples of one channel: as many as the output's window has frames.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn channel(&mut self, channel: usize) -> &mut [f32] {
        match &mut self.0 {
            WindowTarget::Ring(chunk) => chunk.channel(channel),
            WindowTarget::Discarded(channels) => &mut channels[channel],
        }
    }
}
