//! Where samples come into a network and leave it: slices in memory, and whatever a caller reads and writes.

use super::{KindError, some};
use crate::fire::{Actor, FireStatus, InputWindow, InputWindows, OutputWindow, OutputWindows};
use crate::shape::{InputPort, OutputPort, Ports};
use std::sync::{Arc, Mutex, PoisonError};

/// What a [`MemorySink`] has heard, a channel after the other.
pub type Recording = Arc<Mutex<Vec<Vec<f32>>>>;

/// Plays samples from memory, once.
pub struct MemorySource {
    channels: Vec<Vec<f32>>,
    piece: usize,
    at: usize,
}

/// Keeps what it hears in memory.
pub struct MemorySink {
    channels: usize,
    piece: usize,
    heard: Recording,
}

/// Fills a room of so many frames; how many there were before the end.
type Read = Box<dyn FnMut(&mut OutputWindow<'_>, usize) -> Result<usize, String> + Send>;

/// Takes so many frames of a view.
type Write = Box<dyn FnMut(&InputWindow<'_>, usize) -> Result<(), String> + Send>;

/// Plays what a caller reads, from a file for instance.
pub struct CallbackSource {
    channels: usize,
    piece: usize,
    read: Read,
}

/// Hands what it hears to a caller, who writes it to a file for instance.
pub struct CallbackSink {
    channels: usize,
    piece: usize,
    write: Write,
}

impl MemorySource {
    /// `piece` frames a firing. Channels are as long as the first.
    ///
    /// # Errors
    ///
    /// No channels, or no frames a firing.
    pub fn new(mut channels: Vec<Vec<f32>>, piece: usize) -> Result<Self, KindError> {
        some(channels.len(), "channels")?;
        let frames = channels[0].len();
        channels
            .iter_mut()
            .for_each(|channel| channel.resize(frames, 0.0));
        Ok(Self {
            channels,
            piece: some(piece, "piece")?,
            at: 0,
        })
    }
}

impl MemorySink {
    /// `piece` frames a firing.
    ///
    /// # Errors
    ///
    /// No channels, or no frames a firing.
    pub fn new(channels: usize, piece: usize) -> Result<(Self, Recording), KindError> {
        let heard = Arc::new(Mutex::new(vec![Vec::new(); some(channels, "channels")?]));
        let sink = Self {
            channels,
            piece: some(piece, "piece")?,
            heard: heard.clone(),
        };
        Ok((sink, heard))
    }
}

impl CallbackSource {
    /// `piece` frames a firing, which `read` writes into the room; fewer are the last. Its error ends the network.
    ///
    /// # Errors
    ///
    /// No channels, or no frames a firing.
    pub fn new(
        channels: usize,
        piece: usize,
        read: impl FnMut(&mut OutputWindow<'_>, usize) -> Result<usize, String> + Send + 'static,
    ) -> Result<Self, KindError> {
        Ok(Self {
            channels: some(channels, "channels")?,
            piece: some(piece, "piece")?,
            read: Box::new(read),
        })
    }
}

impl CallbackSink {
    /// `piece` frames a firing, which `write` takes. Its error ends the network.
    ///
    /// # Errors
    ///
    /// No channels, or no frames a firing.
    pub fn new(
        channels: usize,
        piece: usize,
        write: impl FnMut(&InputWindow<'_>, usize) -> Result<(), String> + Send + 'static,
    ) -> Result<Self, KindError> {
        Ok(Self {
            channels: some(channels, "channels")?,
            piece: some(piece, "piece")?,
            write: Box::new(write),
        })
    }
}

fn source(channels: usize, piece: usize) -> Ports {
    Ports::source(OutputPort::new("out", piece, piece).channels(channels))
}

fn sink(channels: usize, piece: usize) -> Ports {
    Ports::sink(InputPort::new("in", piece, piece).channels(channels))
}

impl Actor for MemorySource {
    fn ports(&self) -> Ports {
        source(self.channels.len(), self.piece)
    }

    fn fire(&mut self, _: &mut InputWindows<'_>, outputs: &mut OutputWindows<'_>) -> FireStatus {
        let mut room = outputs.window(0);
        let count = self.piece.min(self.channels[0].len() - self.at);
        let end = self.at + count;
        for (i, channel) in self.channels.iter().enumerate() {
            room.channel(i)[..count].copy_from_slice(&channel[self.at..end]);
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
    fn ports(&self) -> Ports {
        sink(self.channels, self.piece)
    }

    fn fire(&mut self, inputs: &mut InputWindows<'_>, _: &mut OutputWindows<'_>) -> FireStatus {
        let view = inputs.window(0);
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        for (i, channel) in heard.iter_mut().enumerate() {
            channel.extend_from_slice(view.channel(i));
        }
        FireStatus::Continue
    }
}

impl Actor for CallbackSource {
    fn ports(&self) -> Ports {
        source(self.channels, self.piece)
    }

    fn fire(&mut self, _: &mut InputWindows<'_>, outputs: &mut OutputWindows<'_>) -> FireStatus {
        match (self.read)(&mut outputs.window(0), self.piece) {
            Ok(frames) if frames >= self.piece => FireStatus::Continue,
            Ok(frames) => FireStatus::Finished(frames),
            Err(why) => FireStatus::Failed(why),
        }
    }
}

impl Actor for CallbackSink {
    fn ports(&self) -> Ports {
        sink(self.channels, self.piece)
    }

    fn fire(&mut self, inputs: &mut InputWindows<'_>, _: &mut OutputWindows<'_>) -> FireStatus {
        match (self.write)(&inputs.window(0), self.piece) {
            Ok(()) => FireStatus::Continue,
            Err(why) => FireStatus::Failed(why),
        }
    }
}
