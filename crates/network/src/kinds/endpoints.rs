//! Sources and sinks: where samples enter and leave a network. From and to memory, or by a caller's function.

use super::{KindError, nonzero};
use crate::actor::{Actor, FireStatus, InputWindow, OutputWindow, Windows};
use crate::topology::{InputPort, NodePorts, OutputPort};
use std::sync::{Arc, Mutex, PoisonError};

/// Samples that a [`MemorySink`] has recorded, channel by channel.
pub type Recording = Arc<Mutex<Vec<Vec<f32>>>>;

/// Source of samples in memory.
pub struct MemorySource {
    channels: Vec<Vec<f32>>,
    piece: usize,
    at: usize,
}

/// Sink that records in memory.
pub struct MemorySink {
    channels: usize,
    piece: usize,
    recording: Recording,
}

/// Writes up to this number of frames into the window, and returns how many there were before the end of the stream.
type ReadFrames = Box<dyn FnMut(&mut OutputWindow<'_>, usize) -> Result<usize, String> + Send>;

/// Reads this number of frames of the window.
type WriteFrames = Box<dyn FnMut(&InputWindow<'_>, usize) -> Result<(), String> + Send>;

/// Source of frames that a caller's function reads, from a file for instance.
pub struct CallbackSource {
    channels: usize,
    piece: usize,
    read: ReadFrames,
}

/// Sink that passes frames to a caller's function, which writes them to a file for instance.
pub struct CallbackSink {
    channels: usize,
    piece: usize,
    write: WriteFrames,
}

impl MemorySource {
    /// A source that moves `piece` frames a firing. Channels are as long as the first.
    ///
    /// # Errors
    ///
    /// There are no channels, or `piece` is 0.
    pub fn new(mut channels: Vec<Vec<f32>>, piece: usize) -> Result<Self, KindError> {
        nonzero(channels.len(), "channels")?;
        let frames = channels[0].len();
        channels
            .iter_mut()
            .for_each(|channel| channel.resize(frames, 0.0));
        Ok(Self {
            channels,
            piece: nonzero(piece, "piece")?,
            at: 0,
        })
    }
}

impl MemorySink {
    /// A sink that moves `piece` frames a firing, and its recording.
    ///
    /// # Errors
    ///
    /// There are no channels, or `piece` is 0.
    pub fn new(channels: usize, piece: usize) -> Result<(Self, Recording), KindError> {
        let recording = Arc::new(Mutex::new(vec![Vec::new(); nonzero(channels, "channels")?]));
        let sink = Self {
            channels,
            piece: nonzero(piece, "piece")?,
            recording: recording.clone(),
        };
        Ok((sink, recording))
    }
}

impl CallbackSource {
    /// A source of `piece` frames a firing, which `read` writes into the window; fewer end the stream. Its error ends the
    /// network.
    ///
    /// # Errors
    ///
    /// There are no channels, or `piece` is 0.
    pub fn new(
        channels: usize,
        piece: usize,
        read: impl FnMut(&mut OutputWindow<'_>, usize) -> Result<usize, String> + Send + 'static,
    ) -> Result<Self, KindError> {
        Ok(Self {
            channels: nonzero(channels, "channels")?,
            piece: nonzero(piece, "piece")?,
            read: Box::new(read),
        })
    }
}

impl CallbackSink {
    /// A sink that passes `piece` frames a firing to `write`. Its error ends the network.
    ///
    /// # Errors
    ///
    /// There are no channels, or `piece` is 0.
    pub fn new(
        channels: usize,
        piece: usize,
        write: impl FnMut(&InputWindow<'_>, usize) -> Result<(), String> + Send + 'static,
    ) -> Result<Self, KindError> {
        Ok(Self {
            channels: nonzero(channels, "channels")?,
            piece: nonzero(piece, "piece")?,
            write: Box::new(write),
        })
    }
}

fn source(channels: usize, piece: usize) -> NodePorts {
    NodePorts::source(OutputPort::new("out", piece, piece).channels(channels))
}

fn sink(channels: usize, piece: usize) -> NodePorts {
    NodePorts::sink(InputPort::new("in", piece, piece).channels(channels))
}

impl Actor for MemorySource {
    fn ports(&self) -> NodePorts {
        source(self.channels.len(), self.piece)
    }

    fn fire(&mut self, windows: &mut Windows<'_>) -> FireStatus {
        let mut output = windows.outputs.window(0);
        let count = self.piece.min(self.channels[0].len() - self.at);
        let end = self.at + count;
        for (i, channel) in self.channels.iter().enumerate() {
            output.channel(i)[..count].copy_from_slice(&channel[self.at..end]);
        }
        self.at = end;
        match end < self.channels[0].len() {
            true => FireStatus::Continue,
            false => FireStatus::Finished(count),
        }
    }

    fn reset(&mut self) {
        self.at = 0;
    }
}

impl Actor for MemorySink {
    fn ports(&self) -> NodePorts {
        sink(self.channels, self.piece)
    }

    fn fire(&mut self, windows: &mut Windows<'_>) -> FireStatus {
        let input = windows.inputs.window(0);
        let mut recording = self
            .recording
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for (i, channel) in recording.iter_mut().enumerate() {
            channel.extend_from_slice(input.channel(i));
        }
        FireStatus::Continue
    }
}

impl Actor for CallbackSource {
    fn ports(&self) -> NodePorts {
        source(self.channels, self.piece)
    }

    fn fire(&mut self, windows: &mut Windows<'_>) -> FireStatus {
        match (self.read)(&mut windows.outputs.window(0), self.piece) {
            Ok(frames) if frames >= self.piece => FireStatus::Continue,
            Ok(frames) => FireStatus::Finished(frames),
            Err(reason) => FireStatus::Failed(reason),
        }
    }
}

impl Actor for CallbackSink {
    fn ports(&self) -> NodePorts {
        sink(self.channels, self.piece)
    }

    fn fire(&mut self, windows: &mut Windows<'_>) -> FireStatus {
        match (self.write)(&windows.inputs.window(0), self.piece) {
            Ok(()) => FireStatus::Continue,
            Err(reason) => FireStatus::Failed(reason),
        }
    }
}
