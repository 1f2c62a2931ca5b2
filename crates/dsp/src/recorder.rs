//! `recorder`: what passes through, into a WAV file.
//!
//! One input, one output, as wide as `channels` says, and the output is the input. The file begins when the engine
//! starts and goes on until it ends; `reset` does not cut it. Live, what the disk does not take in time is silence of
//! the same length in the file, and counted; offline nothing is lost.
//!
//! In a rehearsal it does the same and no file is touched.
//!
//! The gauge `lost` says how many frames the file lacks. A disk that refuses ends the file, and every block from then
//! on counts as late.

use crate::knob::{channels, choice};
use crate::sample::channels_of;
use graph::{Kind, Param, ParamRange, PortSpec};
use media::{SampleFormat, Writer};
use processor::{
    BackgroundTask, Block, Gauge, MakeContext, MakeError, Mode, ProcessStatus, Processor, Setup,
    TaskStatus,
};
use rtrb::{Consumer, Producer, RingBuffer};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use units::Channels;

/// The least that waits for the disk.
const BEHIND_S: usize = 2;
const BEHIND_BLOCKS: usize = 16;
/// Frames handed over at once.
const PORTION: usize = 64;

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::audio("in")],
        outputs: vec![PortSpec::audio("out")],
        params: vec![
            Param {
                name: "file",
                unit: "",
                range: ParamRange::File(true),
                live: false,
                doc: "The WAV file, from the session's folder; what was there is overwritten.",
            },
            choice("format", &["f32", "i24", "i16"], "How a sample is kept."),
            channels(),
        ],
        duplicable: false,
        typical_ns: 60,
        ..Kind::new("recorder", "What passes through, into a WAV file.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let Some(file) = creation.node.text("file").filter(|file| !file.is_empty()) else {
        return Err(MakeError::param("file", "`recorder` needs `file`"));
    };
    let path = creation.folder.join(file);
    // Created in `setup` only: whoever checks a session changes nothing.
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty());
    if path.is_dir() || folder.is_some_and(|folder| !folder.is_dir()) {
        let told = format!("{} cannot be a file: make its folder first", path.display());
        return Err(MakeError::param("file", told));
    }
    Ok(Box::new(Recorder {
        path,
        format: [SampleFormat::F32, SampleFormat::I24, SampleFormat::I16]
            [creation.choice("format")?],
        channels: channels_of(creation.node),
        end: None,
    }))
}

struct Recorder {
    path: PathBuf,
    format: SampleFormat,
    channels: usize,
    end: Option<End>,
}

/// What both threads look at.
#[derive(Default)]
struct Shared {
    /// Frames of silence that are due at the end of what is in the ring.
    owed: AtomicU64,
    /// The disk refuses.
    failed: AtomicBool,
}

/// The end that hears.
struct End {
    ring: Producer<f32>,
    shared: Arc<Shared>,
    owed: u64,
    lost: u64,
    gauge: Gauge,
    frames: Vec<f32>,
}

/// The end that writes.
struct Disk {
    ring: Consumer<f32>,
    shared: Arc<Shared>,
    /// Without one, what is heard is forgotten.
    writer: Option<Writer>,
    samples: Vec<f32>,
}

impl Recorder {
    fn create(&self, setup: &Setup<'_>) -> Result<Writer, media::MediaError> {
        let width = Channels(self.channels as u16);
        if self.path.is_file() {
            // A new file, not the old one cut: the `Disk` of an earlier set-up may not have ended that yet.
            std::fs::remove_file(&self.path)
                .map_err(|error| media::MediaError::Open(self.path.clone(), error))?;
        }
        Writer::create(&self.path, setup.rate, width, self.format)
    }

    fn open(&self, setup: &mut Setup<'_>) -> Result<End, media::MediaError> {
        let writer = match setup.mode {
            Mode::Live | Mode::Offline => Some(self.create(setup)?),
            Mode::DryRun => None,
        };
        let behind = BEHIND_S * setup.rate.hz() as usize;
        let room = behind.max(BEHIND_BLOCKS * setup.block.count());
        let (producer, consumer) = RingBuffer::new(room * self.channels);
        let shared = Arc::new(Shared::default());
        setup.services.spawn_background(Box::new(Disk {
            ring: consumer,
            shared: shared.clone(),
            writer,
            samples: vec![0.0; 4096 * self.channels],
        }));
        Ok(End {
            ring: producer,
            shared,
            owed: 0,
            lost: 0,
            gauge: setup.services.gauge("lost"),
            frames: vec![0.0; PORTION * self.channels],
        })
    }
}

impl End {
    /// Hands the block's frames over; whether all could be.
    fn keep(&mut self, block: &Block<'_>, channels: usize) -> bool {
        let input = block.input(0);
        let frames = block.frames();
        let mut kept = true;
        let mut at = 0;
        while at < frames {
            let n = (frames - at).min(PORTION);
            if self.pay(n, channels) && self.ring.slots() >= n * channels {
                for c in 0..channels {
                    let heard = &input.channel(c)[at..at + n];
                    let places = self.frames.iter_mut().skip(c).step_by(channels);
                    places.zip(heard).for_each(|(to, from)| *to = *from);
                }
                let written = self.ring.push_entire_slice(&self.frames[..n * channels]);
                debug_assert!(written.is_ok(), "there was room");
            } else {
                self.owe(n as u64);
                kept = false;
            }
            at += n;
        }
        kept
    }

    /// Writes silence for what was lost, as far as there is room, but in one go no more than eight times `n` frames;
    /// whether nothing is owed any more.
    fn pay(&mut self, n: usize, channels: usize) -> bool {
        if self.owed == 0 {
            return true;
        }
        self.frames.fill(0.0);
        for _ in 0..8 {
            let room = self.ring.slots() / channels;
            let silence = (self.owed.min(n as u64) as usize).min(room);
            let silent = &self.frames[..silence * channels];
            let written = self.ring.push_entire_slice(silent);
            debug_assert!(written.is_ok(), "there was room");
            self.owed -= silence as u64;
        }
        // Relaxed: the disk looks at it only when we are gone.
        self.shared.owed.store(self.owed, Ordering::Relaxed);
        self.owed == 0
    }

    fn owe(&mut self, frames: u64) {
        self.owed += frames;
        self.lost += frames;
        // Relaxed: as above.
        self.shared.owed.store(self.owed, Ordering::Relaxed);
        self.gauge.set(self.lost as f32);
    }
}

impl Disk {
    fn write(&mut self) -> Result<(), media::MediaError> {
        loop {
            let n = self.ring.pop_partial_slice(&mut self.samples).0.len();
            if n == 0 {
                return Ok(());
            }
            if let Some(writer) = &mut self.writer {
                writer.write_interleaved(&self.samples[..n])?;
            }
        }
    }

    fn finish(&mut self) -> Result<(), media::MediaError> {
        self.write()?;
        let Some(mut writer) = self.writer.take() else {
            return Ok(());
        };
        // Relaxed: the other end has played its last block before the engine ended us.
        let owed = self.shared.owed.load(Ordering::Relaxed);
        writer.write_silence(usize::try_from(owed).unwrap_or(usize::MAX))?;
        writer.finish()
    }

    fn fail(&mut self) -> TaskStatus {
        self.writer = None;
        // Relaxed: the word is all there is.
        self.shared.failed.store(true, Ordering::Relaxed);
        TaskStatus::Done
    }
}

impl BackgroundTask for Disk {
    fn poll(&mut self) -> TaskStatus {
        let closed = self.ring.is_abandoned();
        match self.write() {
            Err(_) => self.fail(),
            Ok(()) if closed => {
                self.end();
                TaskStatus::Done
            }
            Ok(()) => TaskStatus::Idle,
        }
    }

    fn end(&mut self) {
        if self.finish().is_err() {
            self.fail();
        }
    }
}

impl Processor for Recorder {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        // The old file is ended when its end is gone, so that it cannot write into the new one.
        self.end = None;
        self.end = self.open(setup).ok();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let kept = match &mut self.end {
            // Relaxed: the word is all there is.
            Some(end) if !end.shared.failed.load(Ordering::Relaxed) => {
                end.keep(block, self.channels)
            }
            _ => false,
        };
        if !kept {
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
