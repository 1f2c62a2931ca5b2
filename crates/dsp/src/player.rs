//! `player`: a sound file, or a part of one, once or again and again.
//!
//! No inputs, one output as wide as `channels` says. A mono file is heard on every channel; of any other file channel k
//! is heard on channel k, and what one side has not stays silent. Another sample rate is converted. After `at` seconds
//! of silence it plays `length` seconds from `start` on, rising for `fade_in` and falling for `fade_out`; with `loop`, it
//! does so again each `period` seconds.
//!
//! A small file is held in memory, once for all players of it; a larger one streams from disk in the background, the
//! first second of it read before the first block. Frames that do not come in time are silent and counted, and the
//! rest stays in time. Which of the two it is changes no bit of the sound.

mod feed;
mod timeline;

use crate::knob::{Knob, channels, fixed, flag};
use crate::sample::{SILENT_DB, channels_of, from_db, told};
use crate::smooth::Smooth;
use crate::state;
use crate::steps::{Step, steps};
use feed::{Tap, feed};
use graph::{Kind, Param, PortSpec};
use media::Sound;
use processor::{
    BackgroundTask, Block, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError,
    Tail,
};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use timeline::{Piece, Timeline};
use units::SampleRate;

const GAIN_DB: Knob = Knob {
    index: 0,
    name: "gain_db",
    unit: "dB",
    least: SILENT_DB,
    most: 40.0,
    default: 0.0,
    doc: "How much louder than the file; -120 is silence.",
};

const GAIN: Knob = Knob {
    index: 1,
    name: "gain",
    unit: "",
    least: -100.0,
    most: 100.0,
    default: 1.0,
    doc: "The same as a factor; below 0 turns the wave over.",
};

/// A day in seconds: more than any file and any piece.
const DAY: (f64, f64) = (0.0, 86_400.0);
/// Samples of the largest file that is held in memory, on all channels: 8 MiB.
const MOST_HELD: u64 = 1 << 21;
/// The least that is read ahead.
const AHEAD_S: usize = 1;
const AHEAD_BLOCKS: usize = 8;

pub(crate) fn kind() -> Kind {
    let file = Param {
        name: "file",
        unit: "",
        range: graph::ParamRange::File(true),
        live: false,
        doc: "A WAV, AIFF or FLAC file, from the session's folder.",
    };
    Kind {
        outputs: vec![PortSpec::audio("out")],
        params: vec![
            GAIN_DB.param(),
            GAIN.param(),
            file,
            flag("loop", "Whether it begins again when it has ended."),
            fixed("start", "s", DAY, 0.0, "Where in the file it begins."),
            fixed(
                "length",
                "s",
                DAY,
                0.0,
                "How much it plays; 0 is all there is.",
            ),
            fixed("at", "s", DAY, 0.0, "How long it waits before it begins."),
            fixed(
                "period",
                "s",
                DAY,
                0.0,
                "With `loop`: from one beginning to the next; 0 is as long as it plays.",
            ),
            fixed(
                "fade_in",
                "s",
                DAY,
                0.0,
                "How long each beginning takes to rise.",
            ),
            fixed(
                "fade_out",
                "s",
                DAY,
                0.0,
                "How long each end takes to fall; a part that is cut short clicks without.",
            ),
            channels(),
        ],
        duplicable: false,
        typical_ns: 60,
        ..Kind::new("player", "A sound file, or a part of one.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    make_holding(creation, MOST_HELD)
}

fn make_holding(
    creation: &MakeContext<'_>,
    most_held: u64,
) -> Result<Box<dyn Processor>, MakeError> {
    let Some(file) = creation.node.text("file").filter(|file| !file.is_empty()) else {
        return Err(MakeError::param("file", "`player` needs `file`"));
    };
    let path = creation.folder.join(file);
    // Opened again in `setup`, when the rate is known; but whoever wrote the session is told now.
    media::open(&path).map_err(|error| MakeError::param("file", told(&error)))?;
    let (db, gain) = (GAIN_DB.of(creation)?, GAIN.of(creation)?);
    Ok(Box::new(Player {
        source: Source {
            path,
            most_held,
            start: creation.number("start")?,
            length: creation.number("length")?,
            at: creation.number("at")?,
            period: creation.number("period")?,
            fades: (creation.number("fade_in")?, creation.number("fade_out")?),
            again: creation.node.flag("loop"),
        },
        channels: channels_of(creation.node),
        made: (db, gain),
        db,
        gain,
        factor: Smooth::new((from_db(db) * gain) as f32),
        timeline: Timeline::default(),
        feed: Feed::Nothing,
        now: 0,
    }))
}

/// What the node says.
#[derive(Clone)]
struct Source {
    path: PathBuf,
    most_held: u64,
    start: f64,
    length: f64,
    at: f64,
    period: f64,
    fades: (f64, f64),
    again: bool,
}

impl Source {
    /// In frames at `rate`, of a file of `frames`.
    fn timeline(&self, rate: SampleRate, frames: u64) -> Timeline {
        // A day at 768 kHz does not fit into `Frames`.
        let count = |seconds: f64| (seconds * f64::from(rate.hz())).round() as u64;
        let from = count(self.start).min(frames);
        let rest = frames - from;
        let asked = match count(self.length) {
            0 => rest,
            length => length.min(rest),
        };
        let period = match (self.again, count(self.period)) {
            (false, _) => 0,
            (true, 0) => asked,
            (true, period) => period,
        };
        Timeline {
            at: count(self.at),
            from,
            length: if period > 0 { asked.min(period) } else { asked },
            period,
            fade_in: count(self.fades.0),
            fade_out: count(self.fades.1),
        }
    }
}

/// Where the frames come from.
enum Feed {
    /// The file is gone.
    Nothing,
    Held(Arc<Sound>),
    Streamed(Tap),
}

struct Player {
    source: Source,
    channels: usize,
    made: (f64, f64),
    db: f64,
    gain: f64,
    factor: Smooth,
    timeline: Timeline,
    feed: Feed,
    /// Frames played.
    now: u64,
}

/// What a block was.
#[derive(Default)]
struct Heard {
    sound: bool,
    late: bool,
}

impl Player {
    fn open(&mut self, setup: &mut Setup<'_>) -> Result<(), media::MediaError> {
        let rate = setup.rate;
        self.feed = Feed::Nothing;
        if let Some(sound) = Sound::load(&self.source.path, rate, self.source.most_held)? {
            self.timeline = self.source.timeline(rate, sound.frames() as u64);
            self.feed = Feed::Held(sound);
            return Ok(());
        }
        let stream = media::ResamplingReader::open(&self.source.path, rate)?;
        self.timeline = self.source.timeline(rate, stream.frames());
        let width = match stream.channels().count() {
            1 => 1,
            more => more.min(self.channels),
        };
        let block = setup.block.count();
        let room = (AHEAD_S * rate.hz() as usize).max(AHEAD_BLOCKS * block);
        let (mut feeder, tap) = feed(stream, self.timeline, (width, room), setup.mode);
        feeder.poll();
        setup.services.spawn_background(Box::new(feeder));
        self.feed = Feed::Streamed(tap);
        Ok(())
    }

    fn play(&mut self, block: &mut Block<'_>, range: Range<usize>) -> Heard {
        let mut heard = Heard::default();
        let mut at = range.start;
        while at < range.end {
            let left = (range.end - at) as u64;
            let frames = match self.timeline.at(self.now) {
                Piece::End => left,
                Piece::Silence(frames) | Piece::Sound(_, frames) => frames.min(left),
            };
            let to = at..at + frames as usize;
            if let Piece::Sound(from, _) = self.timeline.at(self.now) {
                heard.sound = true;
                heard.late |= !self.sound(block, to.clone(), from);
                self.fade(block, to.clone(), from);
            } else {
                quiet(block, to.clone());
            }
            self.factor.skip(to.len());
            // At its end time stands still, so that it may sleep.
            if self.timeline.at(self.now) != Piece::End {
                self.now += frames;
            }
            at = to.end;
        }
        heard
    }

    /// The file's frames from `from` on; whether they were there.
    fn sound(&mut self, block: &mut Block<'_>, to: Range<usize>, from: u64) -> bool {
        let mut output = block.output(0);
        match &mut self.feed {
            Feed::Nothing => false,
            Feed::Held(sound) => {
                let width = sound.channels().count();
                for c in 0..self.channels {
                    let out = &mut output.channel(c)[to.clone()];
                    match heard_on(c, width) {
                        Some(k) => {
                            let frames = &sound.channel(k)[from as usize..][..out.len()];
                            self.factor.scale(frames, out);
                        }
                        None => out.fill(0.0),
                    }
                }
                true
            }
            Feed::Streamed(tap) => {
                let width = tap.width();
                let frames = tap.take(to.len());
                for c in 0..self.channels {
                    let out = &mut output.channel(c)[to.clone()];
                    out.fill(0.0);
                    if let Some(k) = heard_on(c, width) {
                        let frames = frames.iter().skip(k).step_by(width);
                        out.iter_mut()
                            .zip(frames)
                            .for_each(|(to, from)| *to = *from);
                        let mut factor = self.factor;
                        factor.apply(out);
                    }
                }
                frames.len() == to.len() * width
            }
        }
    }
}

impl Player {
    /// The rise and the fall, on the frames that were played from frame `from` of the file on.
    fn fade(&self, block: &mut Block<'_>, to: Range<usize>, from: u64) {
        if self.timeline.is_plain(from, to.len() as u64) {
            return;
        }
        let mut output = block.output(0);
        for c in 0..self.channels {
            for (sample, frame) in output.channel(c)[to.clone()].iter_mut().zip(from..) {
                *sample = *sample * self.timeline.level(frame) + 0.0;
            }
        }
    }
}

/// Which of `width` channels of the file is heard on channel `c`.
fn heard_on(c: usize, width: usize) -> Option<usize> {
    match width {
        1 => Some(0),
        _ => (c < width).then_some(c),
    }
}

fn quiet(block: &mut Block<'_>, range: Range<usize>) {
    let mut output = block.output(0);
    for c in 0..output.channels().count() {
        output.channel(c)[range.clone()].fill(0.0);
    }
}

impl Processor for Player {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        (self.db, self.gain) = self.made;
        self.factor.set_up(setup.rate);
        self.now = 0;
        if self.open(setup).is_err() {
            // It was there when the session was read. Every block counts it as late.
            self.timeline = Timeline::default();
        }
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let mut heard = Heard::default();
        for step in steps(block) {
            match step {
                Step::Event(event) => {
                    self.db = GAIN_DB.turned(&event).unwrap_or(self.db);
                    self.gain = GAIN.turned(&event).unwrap_or(self.gain);
                    self.factor.go((from_db(self.db) * self.gain) as f32);
                }
                Step::Play(range) => {
                    let step = self.play(block, range);
                    heard.sound |= step.sound;
                    heard.late |= step.late;
                }
                Step::Tidy => {}
            }
        }
        if heard.late || matches!(self.feed, Feed::Nothing) {
            block.count_late();
        }
        if heard.sound {
            return ProcessStatus::Continue;
        }
        block.silence_outputs();
        let ended = self.timeline.at(self.now) == Piece::End && self.factor.is_still();
        if ended && !matches!(self.feed, Feed::Nothing) {
            ProcessStatus::Sleep
        } else {
            ProcessStatus::Continue
        }
    }

    fn reset(&mut self) {
        (self.db, self.gain) = self.made;
        self.factor.reset();
        self.now = 0;
        if let Feed::Streamed(tap) = &mut self.feed {
            tap.begin(0);
        }
    }

    fn tail(&self) -> Tail {
        self.timeline.end().map_or(Tail::Infinite, Tail::Frames)
    }

    fn length(&self) -> Option<u64> {
        self.timeline.end()
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        state::put(bytes, [self.now, self.db.to_bits(), self.gain.to_bits()]);
        state::put(bytes, self.factor.words());
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 3 + Smooth::WORDS)?;
        let (db, gain) = (words.number(1)?, words.number(2)?);
        if self.factor.take(words.from(3))? {
            (self.db, self.gain) = (db, gain);
        }
        // No player has played longer; and sums with it fit.
        self.now = words.at(0).min(u64::MAX / 4);
        if let Feed::Streamed(tap) = &mut self.feed {
            tap.begin(self.now);
        }
        Ok(())
    }
}
