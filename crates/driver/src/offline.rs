//! The offline driver: as fast as possible, from a source to a sink, on the caller's thread.
//!
//! Nobody waits for a block, so callbacks have no time budget. The length is exact in frames: the last block is played
//! whole and written as far as it counts.
//!
//! ```text
//!   source  │ block │ block │ block │ bl░░░ │       ░ silence after the source's end
//!   played  │ block │ block │ block │ block │
//!   sink      ─lat─▶│◀── frames ────────▶│         the first `latency` frames are left out
//! ```

use std::error::Error;
use std::ops::{ControlFlow, Range};

use units::Frames;

use crate::block_buffers::BlockBuffers;
use crate::slice_list::SliceList;
use crate::{AudioCallback, CallbackInfo, DriverConfig, DriverError};

/// Error of an [`OfflineSource`] or an [`OfflineSink`].
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Input of an offline run.
pub trait OfflineSource {
    /// Fills each channel from its start and returns the number of frames. Fewer frames than asked mean the end:
    /// silence follows.
    ///
    /// # Errors
    ///
    /// The input cannot be read; the run ends.
    fn read(&mut self, channels: &mut [&mut [f32]]) -> Result<usize, BoxError>;
}

/// Output of an offline run.
pub trait OfflineSink {
    /// Takes one block: channels x frames.
    ///
    /// # Errors
    ///
    /// The output cannot be written; the run ends.
    fn write(&mut self, channels: &[&[f32]]) -> Result<(), BoxError>;
}

impl<F: FnMut(&mut [&mut [f32]]) -> Result<usize, BoxError>> OfflineSource for F {
    fn read(&mut self, channels: &mut [&mut [f32]]) -> Result<usize, BoxError> {
        self(channels)
    }
}

impl<F: FnMut(&[&[f32]]) -> Result<(), BoxError>> OfflineSink for F {
    fn write(&mut self, channels: &[&[f32]]) -> Result<(), BoxError> {
        self(channels)
    }
}

/// A source without any input.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence;

impl OfflineSource for Silence {
    fn read(&mut self, _: &mut [&mut [f32]]) -> Result<usize, BoxError> {
        Ok(0)
    }
}

/// Reason for which an offline run ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// It never began; the cause says what to change.
    #[error("this cannot be rendered")]
    Config(#[source] DriverError),
    /// The source could not be read; what came before it is in the sink.
    #[error("the input could not be read")]
    Source(#[source] BoxError),
    /// The sink takes no more; the disk may be full.
    #[error("the output could not be written: is the disk full")]
    Sink(#[source] BoxError),
}

/// Plays `frames` frames from `source` through `callback` to `sink`, and returns the number of frames that were
/// written. The first `latency` frames of what is played are left out: the callback's output is late by that.
///
/// `progress` is called with the number of frames written after every block. It ends the run by `Break`; then the
/// result is smaller.
///
/// # Errors
///
/// The configuration is out of range, or the source or the sink fails.
///
/// Real-time: waits, on the source, the callback and the sink.
pub fn render(
    config: &DriverConfig,
    (latency, frames): (u64, u64),
    callback: &mut dyn AudioCallback,
    source: &mut dyn OfflineSource,
    sink: &mut dyn OfflineSink,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<u64, RenderError> {
    config.check().map_err(RenderError::Config)?;
    let block = config.block;
    let mut blocks = OfflineBlocks::new(config);
    let (mut latency, mut done) = (latency, 0);
    while done < frames {
        blocks.read(source).map_err(RenderError::Source)?;
        blocks.process(callback);
        let skipped = latency.min(block.0.into());
        latency -= skipped;
        let wanted = (u64::from(block.0) - skipped).min(frames - done);
        let range = skipped as usize..(skipped + wanted) as usize;
        blocks.write(range, sink).map_err(RenderError::Sink)?;
        done += wanted;
        if progress(done).is_break() {
            break;
        }
    }
    Ok(done)
}

/// The two blocks between source, callback and sink.
struct OfflineBlocks {
    block: Frames,
    has_ended: bool,
    buffers: BlockBuffers,
    source_list: SliceList,
    sink_list: SliceList,
}

impl OfflineBlocks {
    fn new(config: &DriverConfig) -> Self {
        Self {
            block: config.block,
            has_ended: config.inputs == 0,
            buffers: BlockBuffers::new(config.block, config.inputs, config.outputs),
            source_list: SliceList::new(config.inputs.into()),
            sink_list: SliceList::new(config.outputs.into()),
        }
    }

    /// Fills the inputs, with silence after the source's end.
    fn read(&mut self, source: &mut dyn OfflineSource) -> Result<(), BoxError> {
        let inputs = &mut self.buffers.inputs;
        let mut filled = 0;
        while filled < self.block.count() && !self.has_ended {
            let rest = inputs.iter_mut().map(|channel| &mut channel[filled..]);
            let frames = self.source_list.with(rest, |list| source.read(list))?;
            self.has_ended = frames == 0;
            filled += frames.min(self.block.count() - filled);
        }
        for channel in inputs {
            channel[filled..].fill(0.0);
        }
        Ok(())
    }

    fn process(&mut self, callback: &mut dyn AudioCallback) {
        let info = CallbackInfo::default();
        self.buffers
            .call(|inputs, outputs| callback.process(info, inputs, outputs));
    }

    /// Writes the frames `range` of the outputs.
    fn write(&mut self, range: Range<usize>, sink: &mut dyn OfflineSink) -> Result<(), BoxError> {
        if range.is_empty() {
            return Ok(());
        }
        let outputs = self.buffers.outputs.iter();
        let outputs = outputs.map(|channel| &channel[range.clone()]);
        self.sink_list.with(outputs, |list| sink.write(list))
    }
}
