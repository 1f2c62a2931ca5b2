//! `player`: plays a sound file, or a part of one, once or in a loop.
//!
//! ```text
//! 0        at                        at + period
//! ├ silence ┤╱‾‾‾‾ length ‾‾‾‾╲┤ silence ┤╱‾‾‾ …     with `loop`
//!            fade_in    fade_out                     linear fades
//! ```
//!
//! Without `channels` a node is as wide as its file. A mono file plays on every channel; of any other file channel k plays on
//! channel k, and missing ones are silent. A file of another sample rate is resampled.
//!
//! A small file is held in memory, shared by all players of it; a larger one is streamed from disk by a background task, the
//! first second of it before the first block. Frames that come late are silent and counted, and later frames keep
//! their time. Both give the same bits.
//!
//! It follows the transport: while that is stopped it is silent and its time stands still, and a locate moves its time there. A
//! small file plays on at that frame; a streamed one is silent until the disk has answered. A step between the last sample before
//! and the first one after fades within 64 frames. The speed of the transport does not change that of the file.
//!
//! | | |
//! |---|---|
//! | ports | no input; `out`, as wide as `channels` says |
//! | parameters | `file`, `loop`; `start`, `length`, `at`, `period`, `fade_in`, `fade_out` in seconds; `gain_db`, `gain`, live, a ramp of 5 ms |
//! | latency | none |
//! | tail | until the end of the file or part; endless in a loop |
//!
//! | file | holds |
//! |---|---|
//! | `player/timeline.rs` | which frame of the file plays when |
//! | `player/declick.rs` | no step where the transport jumps |
//! | `player/feed.rs` | streaming from disk, and its protocol |
//! | `player/reading.rs` | the frames of a held or a streamed file, with fades |
//! | `player/settings.rs` | parameters that are fixed |

mod declick;
mod feed;
mod reading;
mod settings;
mod timeline;

use crate::mixing::gain::{GAINS, factor};
use crate::sample::channel_count;
use crate::smoother::Smoother;
use crate::state;
use crate::steps::{BlockStep, block_steps};
use declick::Declick;
use feed::{StreamReader, feed};
use graph::{Kind, Node, Param, PortSpec, Widths, error_chain};
use media::Sound;
use processor::{
    BackgroundTask, Block, FileLog, FileProblem, MakeContext, MakeError, ProcessStatus, Processor,
    Setup, StateError, Tail, Transport, TransportSegment,
};
use settings::PlayerSettings;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use timeline::{Segment, Timeline};
use units::Channels;

/// Range of every time, in seconds: up to a day.
const DAY: (f64, f64) = (0.0, 86_400.0);
/// Largest file that is held in memory, in samples of all channels: 8 MiB.
const MAX_HELD: u64 = 1 << 21;
/// Smallest read-ahead, in seconds and in blocks.
const AHEAD_S: usize = 1;
const AHEAD_BLOCKS: usize = 8;

pub(crate) fn kind() -> Kind {
    let seconds = |name| Param::number(name, DAY, 0.0).unit("s");
    Kind {
        outputs: vec![PortSpec::audio("out")],
        params: vec![
            GAINS[0].param(),
            GAINS[1].param(),
            Param::file("file", true).doc("A WAV, AIFF or FLAC file, from the session's folder."),
            Param::flag("loop").doc("Plays in a loop."),
            seconds("start").doc("Position in the file at which it begins."),
            seconds("length").doc("Duration; 0 is to the end of the file."),
            seconds("at").doc("Silence before it begins."),
            seconds("period").doc("With `loop`: time from one start to the next; 0 is `length`."),
            seconds("fade_in").doc("Duration of the rise at each start."),
            seconds("fade_out").doc(
                "Duration of the fall at each end; without one, a part that is cut short clicks.",
            ),
            Param::number("channels", (1.0, 256.0), 1.0)
                .doc("Channels of the output; without it those of the file."),
        ],
        duplicable: false,
        typical_ns: 60,
        picture: graph::KindPicture::Note,
        ..Kind::new("player", "A sound file, or a part of one.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    make_with_limit(creation, MAX_HELD)
}

/// Channels of the file of `node`.
pub(crate) fn file_channels(node: &Node, folder: &Path) -> Option<Widths> {
    let file = node.text("file").filter(|file| !file.is_empty())?;
    Some(media::open(folder.join(file)).ok()?.channels().into())
}

fn make_with_limit(
    creation: &MakeContext<'_>,
    max_held: u64,
) -> Result<Box<dyn Processor>, MakeError> {
    let Some(file) = creation.node.text("file").filter(|file| !file.is_empty()) else {
        return Err(MakeError::param("file", "`player` needs `file`"));
    };
    let path = creation.folder.join(file);
    // Opened again in `setup`, when the rate is known; but errors are reported now.
    media::open(&path).map_err(|error| MakeError::param("file", error_chain(&error)))?;
    let gains = [GAINS[0].read(creation)?, GAINS[1].read(creation)?];
    Ok(Box::new(Player {
        settings: PlayerSettings {
            path,
            max_held,
            start: creation.number("start")?,
            length: creation.number("length")?,
            at: creation.number("at")?,
            period: creation.number("period")?,
            fades: (creation.number("fade_in")?, creation.number("fade_out")?),
            is_looped: creation.node.flag("loop"),
        },
        channels: channel_count(creation.node),
        initial: gains,
        gains,
        factor: Smoother::new(factor(gains)),
        timeline: Timeline::default(),
        feed: SampleSource::Nothing,
        now: 0,
        declick: Declick::default(),
        transport: Arc::default(),
        was_rolling: true,
    }))
}

/// Source of the frames.
enum SampleSource {
    /// The file could not be opened any more.
    Nothing,
    Held(Arc<Sound>),
    Streamed(StreamReader),
}

struct Player {
    settings: PlayerSettings,
    channels: usize,
    /// `gain_db` and `gain`, as the node states them and now.
    initial: [f64; 2],
    gains: [f64; 2],
    factor: Smoother,
    timeline: Timeline,
    feed: SampleSource,
    /// Frames since the start.
    now: u64,
    declick: Declick,
    transport: Arc<Transport>,
    was_rolling: bool,
}

/// Result of processing a range of frames.
#[derive(Default)]
struct RangeResult {
    sound: bool,
    late: bool,
}

impl Player {
    fn open(&mut self, setup: &mut Setup<'_>, log: &FileLog) -> Result<(), media::MediaError> {
        let rate = setup.rate;
        self.feed = SampleSource::Nothing;
        if let Some(sound) = Sound::load(&self.settings.path, rate, self.settings.max_held)? {
            self.timeline = self.settings.timeline(rate, sound.frames() as u64);
            if let Some(damage) = sound.damage() {
                log.report(FileProblem::Damaged(damage.to_owned()));
            }
            self.notify_unplayed_channels(sound.channels(), setup);
            self.feed = SampleSource::Held(sound);
            return Ok(());
        }
        let stream = media::ResamplingReader::open(&self.settings.path, rate)?;
        self.timeline = self.settings.timeline(rate, stream.frames());
        self.notify_unplayed_channels(stream.channels(), setup);
        let width = match stream.channels().count() {
            1 => 1,
            more => more.min(self.channels),
        };
        let block = setup.block.count();
        let room = (AHEAD_S * rate.hz() as usize).max(AHEAD_BLOCKS * block);
        let (mut feeder, mut reader) = feed(
            stream,
            self.timeline,
            (width, room),
            setup.mode,
            log.clone(),
        );
        if self.now > 0 {
            reader.seek(self.now);
        }
        feeder.poll();
        setup.services.spawn_background(Box::new(feeder));
        self.feed = SampleSource::Streamed(reader);
        Ok(())
    }

    /// Notifies the user if the file has more channels than are played.
    fn notify_unplayed_channels(&self, in_file: Channels, setup: &mut Setup<'_>) {
        let (in_file, played) = (in_file.count(), self.channels);
        if in_file > played {
            let file = self.settings.path.display();
            let note = format!("it plays {played} of the {in_file} channels of {file}");
            setup.services.notify_user(note);
        }
    }

    /// Goes to where the transport begins.
    fn begin(&mut self) {
        let start = self.transport.at(0);
        (self.now, self.was_rolling) = (start.position as u64, start.is_rolling);
    }

    /// Processes a range in which the transport may change.
    fn process_range(&mut self, block: &mut Block<'_>, range: Range<usize>) -> RangeResult {
        let mut result = RangeResult::default();
        let (from, transport) = (block.position(), self.transport.clone());
        let (begin, end) = (from + range.start as u64, from + range.end as u64);
        for segment in transport.segments(begin, end) {
            let range =
                (segment.frames.start - from) as usize..(segment.frames.end - from) as usize;
            self.follow(&segment);
            if segment.state.is_rolling {
                let part = self.play_range(block, range.clone());
                result.sound |= part.sound;
                result.late |= part.late;
            } else {
                write_silence(block, range.clone());
                self.factor.skip(range.len());
            }
            result.sound |= self.declick.process(&mut block.output(0), range);
        }
        result
    }

    /// Goes to where the transport is, where that changes.
    fn follow(&mut self, segment: &TransportSegment) {
        let is_rolling = segment.state.is_rolling;
        if segment.is_jump || self.was_rolling != is_rolling {
            self.declick.begin();
        }
        self.was_rolling = is_rolling;
        if segment.is_jump {
            self.now = segment.state.position as u64;
            if let SampleSource::Streamed(reader) = &mut self.feed {
                reader.seek(self.now);
            }
        }
    }

    fn play_range(&mut self, block: &mut Block<'_>, range: Range<usize>) -> RangeResult {
        let mut result = RangeResult::default();
        let mut at = range.start;
        while at < range.end {
            let left = (range.end - at) as u64;
            let frames = match self.timeline.at(self.now) {
                Segment::End => left,
                Segment::Silence(frames) | Segment::Sound(_, frames) => frames.min(left),
            };
            let to = at..at + frames as usize;
            if let Segment::Sound(from, _) = self.timeline.at(self.now) {
                result.sound = true;
                result.late |= !self.read_samples(block, to.clone(), from);
                self.apply_fades(block, to.clone(), from);
            } else {
                write_silence(block, to.clone());
            }
            self.factor.skip(to.len());
            // At the end its position stops, so that it can sleep.
            if self.timeline.at(self.now) != Segment::End {
                self.now += frames;
            }
            at = to.end;
        }
        result
    }
}

fn write_silence(block: &mut Block<'_>, range: Range<usize>) {
    let mut output = block.output(0);
    for c in 0..output.channels().count() {
        output.channel(c)[range.clone()].fill(0.0);
    }
}

impl Processor for Player {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.gains = self.initial;
        self.factor.setup(setup.rate);
        self.transport = setup.services.transport();
        self.declick = Declick::new(self.channels);
        self.begin();
        let log = setup.services.file_log();
        if let Err(error) = self.open(setup, &log) {
            // The file was there when the session was read. Every block is counted as late.
            log.report(FileProblem::Damaged(error_chain(&error)));
            self.timeline = Timeline::default();
        }
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let mut result = RangeResult::default();
        for step in block_steps(block) {
            match step {
                BlockStep::Event(event) => {
                    for (value, param) in self.gains.iter_mut().zip(&GAINS) {
                        *value = param.value_of(&event).unwrap_or(*value);
                    }
                    self.factor.follow(&event, factor(self.gains));
                }
                BlockStep::Process(range) => {
                    let step = self.process_range(block, range);
                    result.sound |= step.sound;
                    result.late |= step.late;
                }
                BlockStep::Cleanup => {}
            }
        }
        if result.late || matches!(self.feed, SampleSource::Nothing) {
            block.count_late();
        }
        if result.sound {
            return ProcessStatus::Continue;
        }
        block.silence_outputs();
        let ended = self.timeline.at(self.now) == Segment::End && self.factor.is_settled();
        let may_sleep = ended || !self.was_rolling;
        if may_sleep && !matches!(self.feed, SampleSource::Nothing) {
            ProcessStatus::Sleep
        } else {
            ProcessStatus::Continue
        }
    }

    fn reset(&mut self) {
        self.gains = self.initial;
        self.factor.reset();
        self.declick.reset();
        self.begin();
        if let SampleSource::Streamed(reader) = &mut self.feed {
            reader.seek(self.now);
        }
    }

    fn tail(&self) -> Tail {
        self.timeline.end().map_or(Tail::Infinite, Tail::Frames)
    }

    fn length(&self) -> Option<u64> {
        let end = self.timeline.end()?;
        Some(self.transport.frames_until(end))
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        state::put(bytes, [self.now]);
        state::put(bytes, self.gains.map(f64::to_bits));
        state::put(bytes, self.factor.state_words());
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 3 + Smoother::STATE_WORDS)?;
        let gains = words.numbers(1)?;
        if self.factor.load(words.from(3))? {
            self.gains = gains;
        }
        // Sums with it cannot overflow.
        self.now = words.at(0).min(u64::MAX / 4);
        if let SampleSource::Streamed(reader) = &mut self.feed {
            reader.seek(self.now);
        }
        Ok(())
    }
}
