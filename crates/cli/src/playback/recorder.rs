//! What is heard, into a file: the audio thread puts blocks into a ring, a thread of its own writes them.
//!
//! A block travels whole, as one message: how many blocks found no room before it, then its channels one after another.
//! What found no room is silence of the same length in the file, so that all else stays where it belongs.

use divisi::media::{MediaError, Writer};
use divisi::units::Frames;
use rtrb::{Consumer, Producer, RingBuffer};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// How much sound the ring holds while the disk is slow.
const RING_SECONDS: usize = 2;
/// And at most so many samples, but room for a few blocks in any case.
const MAX_SAMPLES: usize = 1 << 24;
const MIN_BLOCKS: usize = 4;
/// How often the writer looks.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The end that hears.
pub(crate) struct RecorderTap {
    ring: Producer<f32>,
    /// Blocks without room since the last that found some.
    pending_gaps: u32,
    /// All of them.
    lost: Arc<AtomicU64>,
}

/// The end that writes.
pub(crate) struct RecorderHandle {
    thread: JoinHandle<Result<(), MediaError>>,
    lost: Arc<AtomicU64>,
}

/// What the writing thread works with.
struct RecorderThread {
    ring: Consumer<f32>,
    writer: Writer,
    channels: usize,
    block: usize,
    /// Frames that still belong to the recording.
    remaining_frames: u64,
    /// Lost blocks that are silence in the file already.
    filled_gaps: u64,
}

/// Begins to record blocks of `channels` channels into `writer`, `frames` frames at most.
pub(crate) fn start_recorder(
    writer: Writer,
    channels: u16,
    (block, rate_hz): (Frames, u32),
    frames: Option<u64>,
) -> std::io::Result<(RecorderTap, RecorderHandle)> {
    let message = 1 + usize::from(channels) * block.count();
    let behind = RING_SECONDS * rate_hz as usize * usize::from(channels);
    let room = behind.min(MAX_SAMPLES).max(MIN_BLOCKS * message);
    let (head, ring) = RecorderTap::new(room);
    let reel = RecorderThread {
        ring,
        writer,
        channels: channels.into(),
        block: block.count(),
        remaining_frames: frames.unwrap_or(u64::MAX),
        filled_gaps: 0,
    };
    let (lost, counted) = (head.lost.clone(), head.lost.clone());
    let thread = Builder::new()
        .name("divisi-tape".into())
        .spawn(move || reel.run(&counted))?;
    Ok((head, RecorderHandle { thread, lost }))
}

impl RecorderTap {
    /// One that keeps so many samples until they are taken.
    fn new(room: usize) -> (Self, Consumer<f32>) {
        let (ring, consumer) = RingBuffer::new(room);
        let lost = Arc::default();
        let head = Self {
            ring,
            pending_gaps: 0,
            lost,
        };
        (head, consumer)
    }

    /// Hands one block over, or counts it.
    ///
    /// Real-time: hot.
    pub(crate) fn push_block(&mut self, channels: &[&mut [f32]]) {
        let samples: usize = channels.iter().map(|channel| channel.len()).sum();
        if self.ring.slots() <= samples {
            self.pending_gaps = self.pending_gaps.saturating_add(1);
            // Relaxed: the count is all there is; the ring's end brings the last one along.
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
    /// Whether it writes no more though nobody has ended it: the disk refuses.
    pub(crate) fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits until all is written, once the head is gone; how many blocks were lost.
    pub(crate) fn finish(self) -> Result<u64, MediaError> {
        let written = self.thread.join();
        written.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        // Relaxed: the head is gone, and so is the thread that counted.
        Ok(self.lost.load(Ordering::Relaxed))
    }
}

impl RecorderThread {
    fn run(mut self, lost: &AtomicU64) -> Result<(), MediaError> {
        let mut samples = vec![0.0; self.channels * self.block];
        loop {
            // Asked first: what was put in before the head went is then seen below.
            let is_last = self.ring.is_abandoned();
            self.drain(&mut samples)?;
            if is_last {
                break;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        // Relaxed: as in `RecorderHandle::finish`; before the head is gone it does not matter.
        let lost = lost.load(Ordering::Relaxed);
        self.write_gaps(lost.saturating_sub(self.filled_gaps))?;
        self.writer.finish()
    }

    /// Writes all that is in the ring.
    fn drain(&mut self, samples: &mut [f32]) -> Result<(), MediaError> {
        while self.ring.slots() > samples.len() {
            let before = self.ring.pop().unwrap_or(0.0);
            let read = self.ring.pop_entire_slice(samples);
            debug_assert!(read.is_ok(), "the whole message was there");
            self.write_gaps(before as u64)?;
            self.write(samples)?;
        }
        Ok(())
    }

    /// Silence for blocks that were lost.
    fn write_gaps(&mut self, blocks: u64) -> Result<(), MediaError> {
        self.filled_gaps += blocks;
        let mut silent = blocks
            .saturating_mul(self.block as u64)
            .min(self.remaining_frames);
        self.remaining_frames -= silent;
        while silent > 0 {
            let part = silent.min(1 << 16) as usize;
            self.writer.write_silence(part)?;
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
        self.writer.write(&planes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi::media::{SampleFormat, open};
    use divisi::prelude::SampleRate;
    use divisi::units::Channels;

    /// A recording of two channels and three frames a block, with room for two blocks.
    fn begin(name: &str, frames: u64) -> (RecorderTap, RecorderThread) {
        let name = format!("divisi-tape-{}-{name}.wav", std::process::id());
        let path = std::env::temp_dir().join(name);
        let rate = SampleRate::new(48_000).unwrap();
        let (head, ring) = RecorderTap::new(2 * 7);
        let reel = RecorderThread {
            ring,
            writer: Writer::create(path, rate, Channels(2), SampleFormat::F32).unwrap(),
            channels: 2,
            block: 3,
            remaining_frames: frames,
            filled_gaps: 0,
        };
        (head, reel)
    }

    fn keep(head: &mut RecorderTap, value: f32) {
        head.push_block(&[&mut [value; 3], &mut [-value; 3]]);
    }

    /// What the file holds at last.
    fn end(head: RecorderTap, reel: RecorderThread) -> Vec<f32> {
        let (path, lost) = (reel.writer.path().to_path_buf(), head.lost.clone());
        drop(head);
        reel.run(&lost).unwrap();
        let mut samples = [9.0; 100];
        let frames = open(&path).unwrap().read_interleaved(&mut samples).unwrap();
        std::fs::remove_file(path).unwrap();
        samples[..2 * frames].to_vec()
    }

    /// Blocks of these values, as the file has them.
    fn blocks(values: &[f32]) -> Vec<f32> {
        values.iter().flat_map(|v| [*v, -*v].repeat(3)).collect()
    }

    #[test]
    fn blocks_without_room_are_silence_where_they_belong() {
        let (mut head, mut reel) = begin("room", u64::MAX);
        (1..=4).for_each(|n| keep(&mut head, n as f32));
        reel.drain(&mut [0.0; 6]).unwrap();
        (5..=7).for_each(|n| keep(&mut head, n as f32));
        assert_eq!(head.lost.load(Ordering::Relaxed), 3);
        assert_eq!(
            end(head, reel),
            blocks(&[1.0, 2.0, 0.0, 0.0, 5.0, 6.0, 0.0])
        );
    }

    #[test]
    fn a_recording_ends_in_the_middle_of_a_block_if_so_asked() {
        let (mut head, reel) = begin("end", 4);
        (1..=2).for_each(|n| keep(&mut head, n as f32));
        assert_eq!(end(head, reel), blocks(&[1.0, 2.0])[..8]);
    }
}
