//! [`RunPart`]: what one process plays of a run that several may play one after another.

use crate::failure::Failure;
use crate::playback::file_input::InputFile;
use crate::playback::live::FileHandles;
use crate::playback::recorder::TakePlan;
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
    fn left(&self) -> Option<u64> {
        self.frames.map(|frames| frames.saturating_sub(self.begin))
    }

    /// Has `player` end with the run, play an input file into so many inputs, and record a take.
    pub(super) fn open_files(
        &self,
        player: &mut RecordingPlayer,
        input: Option<(InputFile, u16)>,
        take: Option<TakePlan>,
    ) -> Result<FileHandles, Failure> {
        if let Some(left) = self.left() {
            player.end_after(left, self.block);
        }
        let mut files = FileHandles::default();
        if let Some((mut source, inputs)) = input {
            source.seek(self.begin);
            let format = (self.block, self.rate.hz());
            files.file_input = Some(player.set_input(source, inputs, format)?);
        }
        if let Some(take) = take {
            files.recorder = Some(player.start_recording(take, self.block, self.left())?);
        }
        Ok(files)
    }
}
