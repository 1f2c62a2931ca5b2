//! Offline: as fast as it goes, from a source to a sink, on the caller's thread.
//!
//! Nobody waits for a block, so beats have no budget. The length is exact in frames: the last block is played whole
//! and written as far as it counts.

use std::error::Error;
use std::fmt;
use std::ops::{ControlFlow, Range};

use units::Frames;

use crate::recycle::{Inputs, Outputs};
use crate::{AudioCallback, CallbackInfo, DriverConfig, DriverError};

/// What went wrong on the other side of a [`OfflineSource`] or a [`OfflineSink`].
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Where an offline run hears from.
pub trait OfflineSource {
    /// Fills each channel from its start; how many frames there were. Fewer than asked is the end: silence follows.
    fn read(&mut self, into: &mut [&mut [f32]]) -> Result<usize, BoxError>;
}

/// Where an offline run plays to.
pub trait OfflineSink {
    /// Takes one block, all channels of one length.
    fn write(&mut self, block: &[&[f32]]) -> Result<(), BoxError>;
}

impl<F: FnMut(&mut [&mut [f32]]) -> Result<usize, BoxError>> OfflineSource for F {
    fn read(&mut self, into: &mut [&mut [f32]]) -> Result<usize, BoxError> {
        self(into)
    }
}

impl<F: FnMut(&[&[f32]]) -> Result<(), BoxError>> OfflineSink for F {
    fn write(&mut self, block: &[&[f32]]) -> Result<(), BoxError> {
        self(block)
    }
}

/// No input at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence;

impl OfflineSource for Silence {
    fn read(&mut self, _: &mut [&mut [f32]]) -> Result<usize, BoxError> {
        Ok(0)
    }
}

/// Why an offline run ended early.
#[derive(Debug)]
#[non_exhaustive]
pub enum RenderError {
    /// It never began; the cause says what to change.
    Request(DriverError),
    /// The source could not be read; what came before it is in the sink.
    Source(BoxError),
    /// The sink takes no more; the disk may be full.
    Sink(BoxError),
}

/// Plays `frames` frames from `source` through `player` to `sink`; how many were written. Of what is played the first
/// `late` frames are left out: by so many the player's output lags.
///
/// `progress` is told the count after every block, and ends the run by `Break`: then the count is smaller.
///
/// Real-time: waits, on the source, the player and the sink.
pub fn render(
    request: &DriverConfig,
    (late, frames): (u64, u64),
    player: &mut dyn AudioCallback,
    source: &mut dyn OfflineSource,
    sink: &mut dyn OfflineSink,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<u64, RenderError> {
    request.check().map_err(RenderError::Request)?;
    let block = request.block;
    let mut desk = Desk::new(request);
    let (mut late, mut done) = (late, 0);
    while done < frames {
        desk.read(source).map_err(RenderError::Source)?;
        desk.play(player);
        let skipped = late.min(block.0.into());
        late -= skipped;
        let wanted = (u64::from(block.0) - skipped).min(frames - done);
        let heard = skipped as usize..(skipped + wanted) as usize;
        desk.write(heard, sink).map_err(RenderError::Sink)?;
        done += wanted;
        if progress(done).is_break() {
            break;
        }
    }
    Ok(done)
}

/// The two blocks between source, player and sink.
struct Desk {
    block: Frames,
    ended: bool,
    inputs: Vec<Box<[f32]>>,
    outputs: Vec<Box<[f32]>>,
    input_list: Inputs,
    output_list: Outputs,
    written_list: Inputs,
}

impl Desk {
    fn new(request: &DriverConfig) -> Self {
        let channel = || vec![0.0; request.block.count()].into_boxed_slice();
        Self {
            block: request.block,
            ended: request.inputs == 0,
            inputs: (0..request.inputs).map(|_| channel()).collect(),
            outputs: (0..request.outputs).map(|_| channel()).collect(),
            input_list: Inputs::new(request.inputs.into()),
            output_list: Outputs::new(request.inputs.max(request.outputs).into()),
            written_list: Inputs::new(request.outputs.into()),
        }
    }

    /// Fills the inputs, with silence after the source's end.
    fn read(&mut self, source: &mut dyn OfflineSource) -> Result<(), BoxError> {
        let mut have = 0;
        while have < self.block.count() && !self.ended {
            let inputs = self.inputs.iter_mut().map(|channel| &mut channel[have..]);
            let got = self.output_list.with(inputs, |into| source.read(into))?;
            self.ended = got == 0;
            have += got.min(self.block.count() - have);
        }
        for channel in &mut self.inputs {
            channel[have..].fill(0.0);
        }
        Ok(())
    }

    fn play(&mut self, player: &mut dyn AudioCallback) {
        let outputs = self.outputs.iter_mut().map(|channel| &mut channel[..]);
        self.input_list
            .with(self.inputs.iter().map(|channel| &channel[..]), |inputs| {
                self.output_list.with(outputs, |outputs| {
                    player.process(CallbackInfo::default(), inputs, outputs);
                });
            });
    }

    fn write(&mut self, heard: Range<usize>, sink: &mut dyn OfflineSink) -> Result<(), BoxError> {
        if heard.is_empty() {
            return Ok(());
        }
        let outputs = self.outputs.iter().map(|channel| &channel[heard.clone()]);
        self.written_list.with(outputs, |block| sink.write(block))
    }
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Request(_) => "this cannot be rendered",
            Self::Source(_) => "the input could not be read",
            Self::Sink(_) => "the output could not be written: is the disk full",
        })
    }
}

impl Error for RenderError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Request(cause) => Some(cause),
            Self::Source(cause) | Self::Sink(cause) => Some(&**cause),
        }
    }
}
