//! File input: a sound file in place of the device's inputs.
//!
//! Offline the file is read block by block. Live, another thread reads ahead into a ring, whole blocks at a time; a block
//! that is not there in time is silence, and is counted.

use divisi::media::{MediaError, ResamplingReader};
use divisi::prelude::{Frames, SampleRate};
use rtrb::{Consumer, Producer};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Length of the ring, in seconds: how far the reader is ahead.
const RING_SECONDS: usize = 2;
/// Largest ring, in samples; it holds `MIN_BLOCKS` blocks in any case.
const MAX_SAMPLES: usize = 1 << 24;
const MIN_BLOCKS: usize = 4;
/// Interval at which the reader polls for room.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Largest number of input channels.
const MAX_CHANNELS: usize = 512;

/// A sound file as input. Channels that it does not have are silent.
pub(crate) struct InputFile {
    stream: ResamplingReader,
    samples: Vec<f32>,
}

impl InputFile {
    /// Opens `path` and resamples it to `rate`.
    pub(crate) fn open(path: &Path, rate: SampleRate) -> Result<Self, MediaError> {
        let stream = ResamplingReader::open(path, rate)?;
        Ok(Self {
            stream,
            samples: Vec::new(),
        })
    }

    /// Fills `planes` (channels x frames). Returns the number of frames before the end of the file.
    pub(crate) fn read(&mut self, planes: &mut [&mut [f32]]) -> usize {
        let channels = self.stream.channels().count();
        let wanted = planes.first().map_or(0, |plane| plane.len());
        self.samples.resize(wanted * channels, 0.0);
        let frames = self.stream.read_interleaved(&mut self.samples);
        for (c, plane) in planes.iter_mut().enumerate() {
            plane.fill(0.0);
            if c < channels {
                let samples = self.samples[..frames * channels].chunks_exact(channels);
                plane.iter_mut().zip(samples).for_each(|(to, f)| *to = f[c]);
            }
        }
        frames
    }

    /// Goes on reading at a frame.
    pub(crate) fn seek(&mut self, frame: u64) {
        self.stream.seek(frame);
    }

    /// Frames of the file after resampling.
    pub(crate) fn frames(&self) -> u64 {
        self.stream.frames()
    }

    /// The damage that was found so far, if any.
    pub(crate) fn damage(&self) -> Option<String> {
        self.stream.damage()
    }

    /// The error that ended reading, if any.
    pub(crate) fn read_error(&self) -> Option<String> {
        self.stream.error().map(ToString::to_string)
    }
}

/// Consumer half, on the audio thread.
pub(crate) struct FileInput {
    ring: Consumer<f32>,
    planes: Vec<Box<[f32]>>,
    missing: Arc<AtomicU64>,
}

/// Handle of the reading thread.
pub(crate) struct FileInputHandle {
    thread: JoinHandle<Option<String>>,
    missing: Arc<AtomicU64>,
}

/// Starts to read `source` ahead, for `inputs` channels.
pub(crate) fn start_file_input(
    mut source: InputFile,
    inputs: u16,
    (block, rate_hz): (Frames, u32),
) -> std::io::Result<(FileInput, FileInputHandle)> {
    let inputs = usize::from(inputs).min(MAX_CHANNELS);
    let samples = inputs * block.count();
    let ahead = (RING_SECONDS * rate_hz as usize * inputs).min(MAX_SAMPLES);
    let (mut ring, consumer) = divisi::rt::ring::ring(ahead.max(MIN_BLOCKS * samples));
    let missing = Arc::new(AtomicU64::new(0));
    let mut planes = vec![vec![0.0; block.count()]; inputs];
    let mut is_there = fill_ring(&mut source, &mut ring, &mut planes);
    let thread = Builder::new().name("divisi-feed".into()).spawn(move || {
        while is_there && !ring.is_abandoned() {
            std::thread::sleep(POLL_INTERVAL);
            is_there = fill_ring(&mut source, &mut ring, &mut planes);
        }
        source.damage()
    })?;
    let feed = FileInput {
        ring: consumer,
        planes: vec![vec![0.0; block.count()].into(); inputs],
        missing: missing.clone(),
    };
    Ok((feed, FileInputHandle { thread, missing }))
}

/// Fills the ring. Returns false at the end of the file.
fn fill_ring(source: &mut InputFile, ring: &mut Producer<f32>, planes: &mut [Vec<f32>]) -> bool {
    let samples: usize = planes.iter().map(Vec::len).sum();
    if samples == 0 {
        return false;
    }
    while ring.slots() >= samples {
        let mut slices: Vec<&mut [f32]> = planes.iter_mut().map(Vec::as_mut_slice).collect();
        if source.read(&mut slices) == 0 {
            return false;
        }
        for plane in planes.iter() {
            let written = ring.push_entire_slice(plane);
            debug_assert!(written.is_ok(), "there was room for the whole block");
        }
    }
    true
}

impl FileInput {
    /// Calls `play` with the next block of every channel.
    ///
    /// Real-time: hot, if `play` is.
    pub(crate) fn with_block(&mut self, play: impl FnOnce(&[&[f32]])) {
        let samples: usize = self.planes.iter().map(|plane| plane.len()).sum();
        // Checked first: blocks that were read before the end are then seen below.
        let has_ended = self.ring.is_abandoned();
        if self.ring.slots() >= samples {
            for plane in &mut self.planes {
                let read = self.ring.pop_entire_slice(plane);
                debug_assert!(read.is_ok(), "the whole block was there");
            }
        } else {
            self.planes.iter_mut().for_each(|plane| plane.fill(0.0));
            if !has_ended {
                // Relaxed: only the count matters, no data travels with it.
                self.missing.fetch_add(1, Ordering::Relaxed);
            }
        }
        let mut list: [&[f32]; MAX_CHANNELS] = [&[]; MAX_CHANNELS];
        let mut count = 0;
        for (slot, plane) in list.iter_mut().zip(&self.planes) {
            *slot = plane;
            count += 1;
        }
        play(&list[..count]);
    }
}

impl FileInputHandle {
    /// Waits for the reader. The `FileInput` must be dropped before. Returns the number of missing blocks and the damage of the file.
    pub(crate) fn finish(self) -> (u64, Option<String>) {
        let damage = self.thread.join();
        let damage = damage.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // Relaxed: the `FileInput` is dropped, so the count is final.
        (self.missing.load(Ordering::Relaxed), damage)
    }
}
