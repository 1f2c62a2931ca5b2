//! [`RunPart`]: what one process plays of a run that several may play one after another.

use crate::failure::Failure;
use crate::playback::file_input::{FileInputHandle, InputFile};
use crate::playback::recording_player::RecordingPlayer;
use divisi::prelude::{Frames, SampleRate};

/// The part of a run that this process plays.
pub(super) struct RunPart {
    /// Frames that other processes have played before.
    pub(super) begin: u64,
    /// Length of the whole run.
    pub(super) frames: Option<u64>,
    pub(super) block: Frames,
    pub(super) rate: SampleRate,
}

impl RunPart {
    /// Frames until the end.
    pub(super) fn left(&self) -> Option<u64> {
        self.frames.map(|frames| frames.saturating_sub(self.begin))
    }

    /// Plays `source` from here on into so many inputs.
    pub(super) fn play_input(
        &self,
        mut source: InputFile,
        inputs: u16,
        player: &mut RecordingPlayer,
    ) -> Result<FileInputHandle, Failure> {
        source.seek(self.begin);
        player.set_input(source, inputs, (self.block, self.rate.hz()))
    }
}
