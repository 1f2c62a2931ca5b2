//! Recorder: the audio thread writes blocks to a ring, and another thread writes them to a file.
//!
//! A block is one message: the number of blocks lost before it, then its channels one after another.
//! The file begins with the first block: until then an earlier take is as it was.
//! A lost block becomes silence of the same length in the file, so that later blocks keep their place.

use crate::output::messages;
use divisi::files::check_writable;
use divisi::media::{MediaError, SampleFormat, Writer};
use divisi::prelude::SampleRate;
use divisi::units::{Channels, Frames};
use rtrb::{Consumer, Producer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Length of the ring, in seconds: how long the disk may be slow.
const RING_SECONDS: usize = 2;
/// Largest ring, in samples; it holds `MIN_BLOCKS` blocks in any case.
const MAX_SAMPLES: usize = 1 << 24;
const MIN_BLOCKS: usize = 4;
/// Interval at which the writer polls the ring.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Producer half, on the audio thread.
pub(crate) struct RecorderTap {
    ring: Producer<f32>,
    /// Blocks lost since the last one that fitted.
    pending_gaps: u32,
    /// Number of blocks lost so far.
    lost: Arc<AtomicU64>,
}

/// Handle of the writing thread.
pub(crate) struct RecorderHandle {
    thread: JoinHandle<(Result<(), MediaError>, Option<PathBuf>)>,
    path: PathBuf,
    lost: Arc<AtomicU64>,
}

/// State of the writing thread.
struct RecorderThread {
    ring: Consumer<f32>,
    plan: TakePlan,
    /// `None` until the first block.
    writer: Option<Writer>,
    block: usize,
    /// Frames left to record.
    remaining_frames: u64,
    /// Lost blocks that were written as silence already.
    filled_gaps: u64,
}

/// Path and format of a recording that has not begun.
#[derive(Clone, Debug)]
pub(crate) struct TakePlan {
    /// The file.
    pub(crate) path: PathBuf,
    /// Its rate.
    pub(crate) rate: SampleRate,
    /// Its number of channels.
    pub(crate) channels: u16,
    /// True if each block is to be on the disk as soon as it is there.
    pub(crate) is_kept: bool,
}

/// Starts a recording of at most `frames` frames. An error says why the file cannot be written, or that there is no thread.
pub(crate) fn start_recorder(
    plan: TakePlan,
    block: Frames,
    frames: Option<u64>,
) -> std::io::Result<(RecorderTap, RecorderHandle)> {
    check_writable(&plan.path)?;
    let (channels, rate_hz) = (plan.channels, plan.rate.hz());
    let path = plan.path.clone();
    let message = 1 + usize::from(channels) * block.count();
    let behind = RING_SECONDS * rate_hz as usize * usize::from(channels);
    let room = behind.min(MAX_SAMPLES).max(MIN_BLOCKS * message);
    let (tap, ring) = RecorderTap::new(room);
    let recorder = RecorderThread {
        ring,
        plan,
        writer: None,
        block: block.count(),
        remaining_frames: frames.unwrap_or(u64::MAX),
        filled_gaps: 0,
    };
    let (lost, counted) = (tap.lost.clone(), tap.lost.clone());
    let thread = Builder::new()
        .name("divisi-recorder".into())
        .spawn(move || recorder.run(&counted))?;
    Ok((tap, RecorderHandle { thread, path, lost }))
}

impl RecorderTap {
    /// Makes a tap whose ring holds `room` samples.
    fn new(room: usize) -> (Self, Consumer<f32>) {
        let (ring, consumer) = divisi::rt::ring::ring(room);
        let lost = Arc::default();
        let tap = Self {
            ring,
            pending_gaps: 0,
            lost,
        };
        (tap, consumer)
    }

    /// Pushes one block, or counts it as lost if the ring is full.
    ///
    /// Real-time: hot.
    pub(crate) fn push_block(&mut self, channels: &[&mut [f32]]) {
        let samples: usize = channels.iter().map(|channel| channel.len()).sum();
        if self.ring.slots() <= samples {
            self.pending_gaps = self.pending_gaps.saturating_add(1);
            // Relaxed: only the count matters; dropping the ring's producer publishes the last one.
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let pending_gaps = self
            .ring
            .push(std::mem::take(&mut self.pending_gaps) as f32);
        debug_assert!(pending_gaps.is_ok(), "there was room for the whole message");
        for channel in channels {
            let written = self.ring.push_entire_slice(channel);
            debug_assert!(written.is_ok(), "there was room for the whole message");
        }
    }
}

impl RecorderHandle {
    /// Returns true if the thread has ended by itself, because of a write error.
    pub(crate) fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits until everything is written, and says under which name an earlier file is kept. The tap must be dropped before.
    /// Returns the number of lost blocks.
    pub(crate) fn finish(self) -> Result<u64, MediaError> {
        let written = self.thread.join();
        let (written, kept) = written.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        messages::print_kept(&self.path, kept.as_deref());
        written?;
        // Relaxed: the tap is dropped, and the thread that counted has ended.
        Ok(self.lost.load(Ordering::Relaxed))
    }
}

impl RecorderThread {
    /// Writes until the tap is dropped. Gives the name under which an earlier file is kept, also where the disk fails.
    fn run(mut self, lost: &AtomicU64) -> (Result<(), MediaError>, Option<PathBuf>) {
        let written = self.write_all(lost);
        let kept = self
            .writer
            .as_ref()
            .and_then(Writer::kept)
            .map(Path::to_owned);
        match (written, self.writer) {
            (Ok(()), Some(writer)) => match writer.finish() {
                Ok(kept) => (Ok(()), kept),
                Err(error) => (Err(error), kept),
            },
            (written, _) => (written, kept),
        }
    }

    fn write_all(&mut self, lost: &AtomicU64) -> Result<(), MediaError> {
        let mut samples = vec![0.0; usize::from(self.plan.channels) * self.block];
        loop {
            // Checked first: blocks that were pushed before the tap was dropped are then seen below.
            let is_last = self.ring.is_abandoned();
            self.drain(&mut samples)?;
            if is_last {
                break;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        // Relaxed: as in `RecorderHandle::finish`; the value is final once the tap is dropped.
        let lost = lost.load(Ordering::Relaxed);
        self.write_gaps(lost.saturating_sub(self.filled_gaps))
    }

    /// The file, which begins now if it has not.
    fn writer(&mut self) -> Result<&mut Writer, MediaError> {
        if self.writer.is_none() {
            let (plan, channels) = (&self.plan, Channels(self.plan.channels));
            let writer = Writer::record(&plan.path, plan.rate, channels, SampleFormat::F32)?;
            self.writer = Some(writer);
        }
        Ok(self.writer.as_mut().expect("it was begun above"))
    }

    /// Writes all whole blocks that are in the ring.
    fn drain(&mut self, samples: &mut [f32]) -> Result<(), MediaError> {
        let mut has_new = false;
        while self.ring.slots() > samples.len() {
            let before = self.ring.pop().unwrap_or(0.0);
            let read = self.ring.pop_entire_slice(samples);
            debug_assert!(read.is_ok(), "the whole message was there");
            self.write_gaps(before as u64)?;
            self.write(samples)?;
            has_new = true;
        }
        match &mut self.writer {
            Some(writer) if has_new && self.plan.is_kept => writer.flush(),
            _ => Ok(()),
        }
    }

    /// Writes silence for lost blocks.
    fn write_gaps(&mut self, blocks: u64) -> Result<(), MediaError> {
        self.filled_gaps += blocks;
        let mut silent = blocks
            .saturating_mul(self.block as u64)
            .min(self.remaining_frames);
        self.remaining_frames -= silent;
        while silent > 0 {
            let part = silent.min(1 << 16) as usize;
            self.writer()?.write_silence(part)?;
            silent -= part as u64;
        }
        Ok(())
    }

    fn write(&mut self, samples: &[f32]) -> Result<(), MediaError> {
        let frames = (self.block as u64).min(self.remaining_frames) as usize;
        if frames == 0 {
            return Ok(());
        }
        self.remaining_frames -= frames as u64;
        let planes: Vec<&[f32]> = samples
            .chunks_exact(self.block)
            .map(|c| &c[..frames])
            .collect();
        self.writer()?.write(&planes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi::media::open;

    /// A recording of two channels x three frames a block, with room for two blocks.
    fn begin(name: &str, frames: u64) -> (RecorderTap, RecorderThread) {
        let name = format!("divisi-recorder-{}-{name}.wav", std::process::id());
        let path = std::env::temp_dir().join(name);
        let rate = SampleRate::new(48_000).unwrap();
        let (tap, ring) = RecorderTap::new(2 * 7);
        let recorder = RecorderThread {
            ring,
            plan: TakePlan {
                path,
                rate,
                channels: 2,
                is_kept: false,
            },
            writer: None,
            block: 3,
            remaining_frames: frames,
            filled_gaps: 0,
        };
        (tap, recorder)
    }

    fn push(tap: &mut RecorderTap, value: f32) {
        tap.push_block(&[&mut [value; 3], &mut [-value; 3]]);
    }

    /// Samples of the finished file.
    fn finish(tap: RecorderTap, recorder: RecorderThread) -> Vec<f32> {
        let (path, lost) = (recorder.plan.path.clone(), tap.lost.clone());
        drop(tap);
        recorder.run(&lost).0.unwrap();
        let mut samples = [9.0; 100];
        let frames = open(&path).unwrap().read_interleaved(&mut samples).unwrap();
        std::fs::remove_file(path).unwrap();
        samples[..2 * frames].to_vec()
    }

    /// Blocks of these values, interleaved as in the file.
    fn blocks(values: &[f32]) -> Vec<f32> {
        values.iter().flat_map(|v| [*v, -*v].repeat(3)).collect()
    }

    #[test]
    fn lost_blocks_are_silence_at_their_place() {
        let (mut tap, mut recorder) = begin("room", u64::MAX);
        (1..=4).for_each(|n| push(&mut tap, n as f32));
        recorder.drain(&mut [0.0; 6]).unwrap();
        (5..=7).for_each(|n| push(&mut tap, n as f32));
        assert_eq!(tap.lost.load(Ordering::Relaxed), 3);
        assert_eq!(
            finish(tap, recorder),
            blocks(&[1.0, 2.0, 0.0, 0.0, 5.0, 6.0, 0.0])
        );
    }

    #[test]
    fn an_earlier_take_is_untouched_until_the_first_block() {
        let (tap, recorder) = begin("earlier", u64::MAX);
        let (path, lost) = (recorder.plan.path.clone(), tap.lost.clone());
        std::fs::write(&path, "precious").unwrap();
        drop(tap);
        recorder.run(&lost).0.unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"precious");
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_recording_ends_at_its_last_frame_even_inside_a_block() {
        let (mut tap, recorder) = begin("end", 4);
        (1..=2).for_each(|n| push(&mut tap, n as f32));
        assert_eq!(finish(tap, recorder), blocks(&[1.0, 2.0])[..8]);
    }
}
