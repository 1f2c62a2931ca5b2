//! [`WholePatch`]: a patch as one processor, on one worker.

use crate::load::LoadedPatch;
use crate::signal::PatchPlayer;
use processor::{Block, Mode, ProcessStatus, Processor, Setup, Tail};

/// A patch as one processor. An engine plays its nodes instead; this is for those who make processors by themselves.
///
/// It plays in blocks of 64 frames, and is silent in any other.
pub(super) struct WholePatch {
    patch: LoadedPatch,
    channels: (usize, usize),
    rate: f32,
    /// True in a run that is only measured.
    is_dry: bool,
    player: Option<PatchPlayer>,
}

impl WholePatch {
    pub(super) fn new(patch: LoadedPatch, channels: (usize, usize)) -> Self {
        Self {
            patch,
            channels,
            rate: 44_100.0,
            is_dry: false,
            player: None,
        }
    }

    fn begin(&mut self) {
        let (inputs, outputs) = self.channels;
        let player = match self.is_dry {
            true => PatchPlayer::dry(&self.patch, self.rate, inputs, outputs),
            false => PatchPlayer::new(&self.patch, self.rate, inputs, outputs).0,
        };
        self.player = Some(player);
    }
}

impl Processor for WholePatch {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        #[expect(clippy::cast_precision_loss, reason = "rates are small")]
        let rate = setup.rate.hz() as f32;
        self.rate = rate;
        self.is_dry = setup.mode == Mode::DryRun;
        self.begin();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let is_whole = block.frames() == PatchPlayer::BLOCK;
        let Some(player) = self.player.as_mut().filter(|_| is_whole) else {
            block.silence_outputs();
            return ProcessStatus::Continue;
        };
        // The first input and the first output are those of MIDI, which this one leaves alone.
        player.play_with(|at, to| to.copy_from_slice(block.input(at + 1).channel(0)));
        for (channel, mut output) in block.outputs().skip(1).enumerate() {
            output.channel(0).copy_from_slice(player.output(channel));
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.begin();
    }

    fn tail(&self) -> Tail {
        Tail::Infinite
    }
}
