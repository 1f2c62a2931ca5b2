//! The callback of a live run: file input, engine, recorder and block counter.

use crate::failure::Failure;
use crate::files::write_failure;
use crate::playback::file_input::{FileInput, FileInputHandle, InputFile, start_file_input};
use crate::playback::recorder::{RecorderHandle, RecorderTap, TakePlan, start_recorder};
use divisi::driver::MidiEvent;
use divisi::graph::error_chain;
use divisi::prelude::{AudioCallback, CallbackInfo, Frames};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A callback that plays, with a file input and a recorder around it.
pub(crate) struct RecordingPlayer {
    player: Box<dyn AudioCallback>,
    input: Option<FileInput>,
    recorder: Option<RecorderTap>,
    block_counter: BlockCount,
    peak: PeakMeter,
    /// Blocks until the end; then it is silent.
    blocks_left: u64,
}

/// Shared counter of played blocks.
#[derive(Clone, Default)]
pub(crate) struct BlockCount(Arc<AtomicU64>);

/// Shared largest magnitude of the output.
#[derive(Clone, Default)]
pub(crate) struct PeakMeter(Arc<AtomicU32>);

impl PeakMeter {
    /// The largest magnitude so far; 1 is full scale.
    pub(crate) fn get(&self) -> f32 {
        // Relaxed: only the number matters, no data travels with it.
        f32::from_bits(self.0.load(Ordering::Relaxed))
    }

    /// Raises the peak to that of a block.
    ///
    /// Real-time: hot.
    fn add(&self, channels: &[&mut [f32]]) {
        let loudest = loudest(channels.iter().map(|channel| &**channel));
        if loudest > self.get() {
            // Relaxed: as in `get`; only the audio thread writes.
            self.0.store(loudest.to_bits(), Ordering::Relaxed);
        }
    }
}

/// The largest magnitude in `channels`; NaN counts as nothing. Eight samples at once: one after the other takes longer than
/// many a small session.
///
/// Real-time: hot.
pub(crate) fn loudest<'c>(channels: impl Iterator<Item = &'c [f32]>) -> f32 {
    let mut lanes = [0.0_f32; 8];
    for channel in channels {
        let (groups, rest) = channel.as_chunks::<8>();
        for group in groups {
            for (lane, sample) in lanes.iter_mut().zip(group) {
                *lane = if sample.abs() > *lane {
                    sample.abs()
                } else {
                    *lane
                };
            }
        }
        lanes[0] = rest
            .iter()
            .fold(lanes[0], |max, sample| max.max(sample.abs()));
    }
    lanes.into_iter().fold(0.0, f32::max)
}

impl BlockCount {
    /// Number of blocks.
    pub(crate) fn get(&self) -> u64 {
        // Relaxed: only the count matters, no data travels with it.
        self.0.load(Ordering::Relaxed)
    }
}

impl RecordingPlayer {
    /// Wraps the callback that plays, without file input or recorder.
    pub(crate) fn new(player: Box<dyn AudioCallback>) -> Self {
        Self {
            player,
            input: None,
            recorder: None,
            block_counter: BlockCount::default(),
            peak: PeakMeter::default(),
            blocks_left: u64::MAX,
        }
    }

    /// Sets the length: what follows is silent, and no node sees it.
    pub(crate) fn end_after(&mut self, frames: u64, block: Frames) {
        self.blocks_left = frames.div_ceil(u64::from(block.0.max(1)));
    }

    /// Feeds `source` to the engine in place of the device's inputs.
    pub(crate) fn set_input(
        &mut self,
        source: InputFile,
        inputs: u16,
        format: (Frames, u32),
    ) -> Result<FileInputHandle, Failure> {
        let (input, file_input) =
            start_file_input(source, inputs, format).map_err(|error| no_thread(&error))?;
        self.input = Some(input);
        Ok(file_input)
    }

    /// Records the output, at most `frames` frames.
    pub(crate) fn start_recording(
        &mut self,
        plan: TakePlan,
        block: Frames,
        frames: Option<u64>,
    ) -> Result<RecorderHandle, Failure> {
        let path = plan.path.clone();
        let begun = start_recorder(plan, block, frames);
        let (tap, recorder) = begun.map_err(|error| write_failure(&path, &error))?;
        self.recorder = Some(tap);
        Ok(recorder)
    }

    /// The peak, for reading while it plays.
    pub(crate) fn peak(&self) -> PeakMeter {
        self.peak.clone()
    }

    /// The counter, for reading while it plays.
    pub(crate) fn block_count(&self) -> BlockCount {
        self.block_counter.clone()
    }
}

impl AudioCallback for RecordingPlayer {
    fn process(&mut self, info: CallbackInfo, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        if self.blocks_left == 0 {
            // Relaxed: as below.
            self.block_counter.0.fetch_add(1, Ordering::Relaxed);
            return outputs.iter_mut().for_each(|channel| channel.fill(0.0));
        }
        self.blocks_left -= 1;
        match &mut self.input {
            Some(input) => input.with_block(|inputs| self.player.process(info, inputs, outputs)),
            None => self.player.process(info, inputs, outputs),
        }
        self.peak.add(outputs);
        if let Some(tap) = &mut self.recorder {
            tap.push_block(outputs);
        }
        // Relaxed: as in `BlockCount::get`.
        self.block_counter.0.fetch_add(1, Ordering::Relaxed);
    }

    fn push_midi(&mut self, event: MidiEvent<'_>) {
        self.player.push_midi(event);
    }

    fn pop_midi(&mut self, end: u32, send: &mut dyn FnMut(MidiEvent<'_>)) {
        self.player.pop_midi(end, send);
    }
}

fn no_thread(error: &std::io::Error) -> Failure {
    Failure::failed(format!(
        "cannot start a thread for files: {}",
        error_chain(error)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::load::LoadedSession;
    use check::alloc::{Counting, calls, is_installed};
    use divisi::media::{SampleFormat, Writer};
    use divisi::prelude::{EngineOptions, SampleRate};
    use divisi::units::Channels;

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    const SESSION: &str = "edges = [\"ear -> out\"]\n[nodes.ear]\nkind = \"input\"\n\
        [nodes.out]\nkind = \"sink\"\n";

    #[test]
    fn a_block_is_read_played_and_recorded_without_an_allocation() {
        let folder = std::env::temp_dir().join(format!("divisi-player-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (rate, block) = (SampleRate::new(48_000).unwrap(), Frames(64));
        let wav =
            |name| Writer::create(folder.join(name), rate, Channels(1), SampleFormat::F32).unwrap();
        let mut input = wav("in.wav");
        input.write(&[&[0.5; 6400]]).unwrap();
        input.finish().unwrap();
        std::fs::write(folder.join("ear.toml"), SESSION).unwrap();
        let loaded = LoadedSession::read_valid(&folder.join("ear.toml")).unwrap();
        let mut options = EngineOptions::new(block, rate);
        (options.input_channels, options.workers) = (1, 1);
        let (engine, player) = loaded.make_engine(options).unwrap();
        let mut player = RecordingPlayer::new(Box::new(player));
        let format = (block, rate.hz());
        let source = InputFile::open(&folder.join("in.wav"), rate).unwrap();
        let file_input = player.set_input(source, 1, format).unwrap();
        let recorder = player
            .start_recording(
                TakePlan {
                    path: folder.join("out.wav"),
                    rate,
                    channels: 1,
                    is_kept: false,
                },
                block,
                None,
            )
            .unwrap();
        assert!(is_installed());
        let before = calls();
        for _ in 0..100 {
            let mut out = [9.0; 64];
            player.process(CallbackInfo::default(), &[], &mut [&mut out]);
            assert_eq!(out, [0.5; 64]);
        }
        assert_eq!(calls(), before);
        assert_eq!(
            (player.block_count().get(), player.peak().get()),
            (100, 0.5)
        );
        drop((player, engine));
        assert_eq!(file_input.finish(), (0, None));
        assert_eq!(recorder.finish().unwrap(), 0);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
