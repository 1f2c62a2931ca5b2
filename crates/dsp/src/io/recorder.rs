//! `recorder`: writes its input to a WAV file, and passes it on.
//!
//! ```text
//! audio thread: BlockWriter ──▶ ring (at least 2 s) ──▶ FileWriter: background task ──▶ disk
//! ```
//!
//! The file begins with the first block that is played and ends when the engine stops; `reset` does not cut it. Until that
//! block an earlier recording is unchanged. In live mode, frames for which the ring has no room become silence of the same length
//! in the file, and the gauge `lost` counts them; offline nothing is lost. In a rehearsal no file is touched. A disk that
//! refuses ends the file, and every later block counts as late. Whatever is lost is reported in the node's file log.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says; `out` is `in` |
//! | parameters | `file`, `format` |
//! | latency, tail | none |

use crate::param::channels;
use crate::sample::channel_count;
use graph::{Kind, Param, error_chain};
use media::{SampleFormat, Writer};
use processor::{
    BackgroundTask, Block, FileLog, FileProblem, Gauge, MakeContext, MakeError, Mode,
    ProcessStatus, Processor, Setup, TaskStatus,
};
use rtrb::{Consumer, Producer};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use units::{Channels, SampleRate};

/// Smallest capacity of the ring, in seconds and in blocks.
const MIN_BUFFER_S: usize = 2;
const MIN_BUFFER_BLOCKS: usize = 16;
/// Frames written to the ring at once.
const CHUNK_FRAMES: usize = 64;
/// Interval at which the ring is checked while the callback waits for the disk.
const WAIT: Duration = Duration::from_micros(500);

pub(crate) fn kind() -> Kind {
    Kind {
        params: vec![
            Param::file("file", true)
                .doc("WAV file, relative to the session's folder; an existing one is overwritten."),
            Param::choice("format", &["f32", "i24", "i16"]).doc("How a sample is written."),
            channels(),
        ],
        writes: Some("file"),
        duplicable: false,
        typical_ns: 60,
        ..Kind::effect(
            "recorder",
            "Writes its input to a WAV file, and passes it on.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let Some(file) = creation.node.text("file").filter(|file| !file.is_empty()) else {
        return Err(MakeError::param("file", "`recorder` needs `file`"));
    };
    let path = creation.folder.join(file);
    // Created in `setup` only: checking a session changes nothing.
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty());
    if path.is_dir() || folder.is_some_and(|folder| !folder.is_dir()) {
        let message = format!("{} cannot be a file: make its folder first", path.display());
        return Err(MakeError::param("file", message));
    }
    Ok(Box::new(Recorder {
        path,
        format: [SampleFormat::F32, SampleFormat::I24, SampleFormat::I16]
            [creation.choice("format")?],
        channels: channel_count(creation.node),
        end: None,
    }))
}

struct Recorder {
    path: PathBuf,
    format: SampleFormat,
    channels: usize,
    end: Option<BlockWriter>,
}

/// Shared by both threads.
#[derive(Default)]
struct TakeState {
    /// Frames of silence to be written after the content of the ring, in place of lost frames.
    pending_silence: AtomicU64,
    /// Frames that found no room, in all.
    lost: AtomicU64,
    /// True once the disk has refused a write.
    failed: AtomicBool,
}

/// The end on the audio thread.
struct BlockWriter {
    ring: Producer<f32>,
    shared: Arc<TakeState>,
    pending_silence: u64,
    lost: u64,
    /// True if another thread writes the file beside the callback.
    is_live: bool,
    gauge: Gauge,
    frames: Vec<f32>,
}

/// The end that writes the file, in the background.
struct FileWriter {
    ring: Consumer<f32>,
    shared: Arc<TakeState>,
    file: RecordingFile,
    log: FileLog,
    samples: Vec<f32>,
}

/// State of the file.
enum RecordingFile {
    /// Nothing was played yet: the file is unchanged.
    Planned(RecordingFormat),
    Running(Writer),
    /// In a rehearsal, after an error, and at the end: samples are discarded.
    None,
}

/// Path and format of a file that has not begun.
struct RecordingFormat {
    path: PathBuf,
    rate: SampleRate,
    channels: Channels,
    format: SampleFormat,
}

impl Recorder {
    fn open(&self, setup: &mut Setup<'_>) -> BlockWriter {
        let log = setup.services.file_log();
        let file = match setup.mode {
            Mode::Live | Mode::Offline => self.plan(setup.rate, &log),
            Mode::DryRun => RecordingFile::None,
        };
        let behind = MIN_BUFFER_S * setup.rate.hz() as usize;
        let room = behind.max(MIN_BUFFER_BLOCKS * setup.block.count());
        let (producer, consumer) = rt::ring::ring(room * self.channels);
        let shared = Arc::new(TakeState::default());
        setup.services.spawn_background(Box::new(FileWriter {
            ring: consumer,
            shared: shared.clone(),
            file,
            log,
            samples: vec![0.0; 4096 * self.channels],
        }));
        BlockWriter {
            ring: producer,
            shared,
            pending_silence: 0,
            lost: 0,
            is_live: setup.mode == Mode::Live,
            gauge: setup.services.gauge("lost"),
            frames: vec![0.0; CHUNK_FRAMES * self.channels],
        }
    }

    /// The recording that will begin with the first block. A file that cannot be written is reported now.
    fn plan(&self, rate: SampleRate, log: &FileLog) -> RecordingFile {
        if let Err(error) = files::check_writable(&self.path) {
            let message = format!("cannot write {}: {error}", self.path.display());
            log.report(FileProblem::Lost(message));
            return RecordingFile::None;
        }
        RecordingFile::Planned(RecordingFormat {
            path: self.path.clone(),
            rate,
            channels: Channels(self.channels as u16),
            format: self.format,
        })
    }
}

impl RecordingFile {
    /// Appends samples; the first ones begin the file.
    fn write(&mut self, samples: &[f32]) -> Result<(), media::MediaError> {
        if let Self::Planned(plan) = self {
            let writer = Writer::record(&plan.path, plan.rate, plan.channels, plan.format)?;
            *self = Self::Running(writer);
        }
        match self {
            Self::Running(writer) => writer.write_interleaved(samples),
            _ => Ok(()),
        }
    }
}

impl BlockWriter {
    /// Writes the block to the ring. Returns false if frames were lost.
    fn write_block(&mut self, block: &Block<'_>, channels: usize) -> bool {
        let input = block.input(0);
        let frames = block.frames();
        let mut is_complete = true;
        let mut at = 0;
        while at < frames {
            let n = (frames - at).min(CHUNK_FRAMES);
            if self.is_live && block.time_for_late_results().is_none() {
                self.wait_for_room(n, channels);
            }
            if self.write_pending_silence(n, channels) && self.ring.slots() >= n * channels {
                for c in 0..channels {
                    let samples = &input.channel(c)[at..at + n];
                    let places = self.frames.iter_mut().skip(c).step_by(channels);
                    places.zip(samples).for_each(|(to, from)| *to = *from);
                }
                let written = self.ring.push_entire_slice(&self.frames[..n * channels]);
                debug_assert!(written.is_ok(), "there was room");
            } else {
                self.add_pending_silence(n as u64);
                is_complete = false;
            }
            at += n;
        }
        is_complete
    }

    /// Waits until `n` frames fit into the ring, after the pending silence. Returns if the disk has failed.
    ///
    /// Real-time: waits, on the thread that writes the file.
    fn wait_for_room(&mut self, n: usize, channels: usize) {
        // Relaxed: nothing else travels with the flag.
        while !(self.ring.is_abandoned() || self.shared.failed.load(Ordering::Relaxed)) {
            if self.write_pending_silence(n, channels) && self.ring.slots() >= n * channels {
                return;
            }
            std::thread::sleep(WAIT);
        }
    }

    /// Writes silence for lost frames, as far as there is room and at most eight times `n` frames. Returns true if no
    /// silence is pending any more.
    fn write_pending_silence(&mut self, n: usize, channels: usize) -> bool {
        if self.pending_silence == 0 {
            return true;
        }
        self.frames.fill(0.0);
        for _ in 0..8 {
            let room = self.ring.slots() / channels;
            let silence = (self.pending_silence.min(n as u64) as usize).min(room);
            let silent = &self.frames[..silence * channels];
            let written = self.ring.push_entire_slice(silent);
            debug_assert!(written.is_ok(), "there was room");
            self.pending_silence -= silence as u64;
        }
        // Relaxed: the file writer reads it only after this end is gone.
        self.shared
            .pending_silence
            .store(self.pending_silence, Ordering::Relaxed);
        self.pending_silence == 0
    }

    fn add_pending_silence(&mut self, frames: u64) {
        self.pending_silence += frames;
        self.lost += frames;
        // Relaxed: as above, both.
        self.shared.lost.store(self.lost, Ordering::Relaxed);
        self.shared
            .pending_silence
            .store(self.pending_silence, Ordering::Relaxed);
        self.gauge.set(self.lost as f32);
    }
}

impl FileWriter {
    fn write(&mut self) -> Result<(), media::MediaError> {
        loop {
            let n = self.ring.pop_partial_slice(&mut self.samples).0.len();
            if n == 0 {
                return Ok(());
            }
            self.file.write(&self.samples[..n])?;
        }
    }

    fn finish(&mut self) -> Result<(), media::MediaError> {
        self.write()?;
        let RecordingFile::Running(mut writer) =
            std::mem::replace(&mut self.file, RecordingFile::None)
        else {
            return Ok(());
        };
        // Relaxed: the other end has processed its last block before the engine ends this one.
        let pending_silence = self.shared.pending_silence.load(Ordering::Relaxed);
        let lost = self.shared.lost.load(Ordering::Relaxed);
        if lost > 0 {
            let path = writer.path().display();
            let message =
                format!("{path} lacks {lost} frames, which are silent: the disk was too slow");
            self.log.report(FileProblem::Lost(message));
        }
        writer.write_silence(usize::try_from(pending_silence).unwrap_or(usize::MAX))?;
        let path = writer.path().to_owned();
        if let Some(kept) = writer.finish()? {
            self.log.report(FileProblem::kept(&path, &kept));
        }
        Ok(())
    }

    fn fail(&mut self, error: &media::MediaError) {
        let mut message = error_chain(error);
        if let RecordingFile::Running(writer) = &self.file {
            message += &format!("; the first {} frames are kept", writer.frames());
            if let Some(kept) = writer.kept() {
                self.log.report(FileProblem::kept(writer.path(), kept));
            }
        }
        self.log.report(FileProblem::Lost(message));
        self.file = RecordingFile::None;
        // Relaxed: nothing else travels with the flag.
        self.shared.failed.store(true, Ordering::Relaxed);
    }
}

impl BackgroundTask for FileWriter {
    fn poll(&mut self) -> TaskStatus {
        let closed = self.ring.is_abandoned();
        match self.write() {
            Err(error) => {
                self.fail(&error);
                TaskStatus::Done
            }
            Ok(()) if closed => {
                self.end();
                TaskStatus::Done
            }
            Ok(()) => TaskStatus::Idle,
        }
    }

    fn end(&mut self) {
        if let Err(error) = self.finish() {
            self.fail(&error);
        }
    }
}

impl Processor for Recorder {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        // Dropping this end finishes the old file, so that it cannot write into the new one.
        self.end = None;
        self.end = Some(self.open(setup));
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let is_complete = match &mut self.end {
            // Relaxed: nothing else travels with the flag.
            Some(end) if !end.shared.failed.load(Ordering::Relaxed) => {
                end.write_block(block, self.channels)
            }
            _ => false,
        };
        if !is_complete {
            block.count_late();
        }
        if block.is_silent() {
            block.silence_outputs();
            return ProcessStatus::Continue;
        }
        let input = block.input(0);
        let mut output = block.output(0);
        for c in 0..self.channels {
            output.channel(c).copy_from_slice(input.channel(c));
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}
}
