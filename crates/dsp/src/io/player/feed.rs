//! Streaming a file: the end that waits for the disk, the end that plays, and the ring between them.
//!
//! The ring holds the frames of the timeline's sound in order, from the last seek on. A seek (after a reset or a loaded state)
//! is a *request* with a number:
//!
//! | thread's end | does | when |
//! |---|---|---|
//! | [`StreamReader`] | stores the position, then the request's number; empties the ring | `seek` |
//! | [`StreamFeeder`] | sees a new number and an empty ring, stores the number as answered, then fills the ring | each `poll` |
//! | [`StreamReader`] | empties the ring, plays silence | while its last request is not answered |
//!
//! The feeder writes nothing old after it has answered, and the reader reads nothing before it has seen the answer. So what the
//! reader reads belongs to its last request.

use super::timeline::{Segment, Timeline};
use processor::{BackgroundTask, FileLog, FileProblem, Mode, TaskStatus};
use rtrb::{Consumer, Producer};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Shared by both ends.
#[derive(Default)]
struct SeekRequest {
    position: AtomicU64,
    number: AtomicU32,
    answered: AtomicU32,
}

/// The end that waits for the disk.
pub(super) struct StreamFeeder {
    stream: media::ResamplingReader,
    timeline: Timeline,
    /// Next frame of the timeline that it puts into the ring.
    next: u64,
    width: usize,
    ring: Producer<f32>,
    request: Arc<SeekRequest>,
    answered: u32,
    whole: Vec<f32>,
    narrow: Vec<f32>,
    log: FileLog,
    /// True once damage was found and reported.
    is_damaged: bool,
}

/// The end that plays.
pub(super) struct StreamReader {
    width: usize,
    ring: Consumer<f32>,
    request: Arc<SeekRequest>,
    number: u32,
    /// Late frames, for which silence was played: they are skipped when they arrive.
    late_frames: u64,
    mode: Mode,
    /// Interleaved frames of one call of `take`.
    frames: Vec<f32>,
}

/// Frames read from the file at once.
const CHUNK_FRAMES: usize = 1024;
/// Interval at which the ring is checked while the callback waits for the disk.
const WAIT: Duration = Duration::from_micros(500);
/// Largest number of frames of one `take`.
const MAX_TAKE: usize = 64;
/// Frames that are skipped at most for each frame played, in live mode: skipping costs time too.
const CATCH_UP: usize = 16;

/// Creates both ends for the first `width` channels of `stream`, with a ring for `room` frames.
pub(super) fn feed(
    stream: media::ResamplingReader,
    timeline: Timeline,
    (width, room): (usize, usize),
    mode: Mode,
    log: FileLog,
) -> (StreamFeeder, StreamReader) {
    let (producer, consumer) = rt::ring::ring(room.max(CHUNK_FRAMES) * width);
    let request = Arc::new(SeekRequest::default());
    let feeder = StreamFeeder {
        whole: vec![0.0; CHUNK_FRAMES * stream.channels().count()],
        narrow: Vec::with_capacity(CHUNK_FRAMES * width),
        stream,
        timeline,
        next: 0,
        width,
        ring: producer,
        request: request.clone(),
        answered: 0,
        log,
        is_damaged: false,
    };
    let reader = StreamReader {
        width,
        ring: consumer,
        request,
        number: 0,
        late_frames: 0,
        mode,
        frames: vec![0.0; MAX_TAKE * width],
    };
    (feeder, reader)
}

impl BackgroundTask for StreamFeeder {
    fn poll(&mut self) -> TaskStatus {
        loop {
            if self.ring.is_abandoned() {
                return TaskStatus::Done;
            }
            if !self.answer_request() {
                return TaskStatus::Idle;
            }
            let room = (self.ring.slots() / self.width).min(CHUNK_FRAMES);
            match self.timeline.at(self.next) {
                Segment::End => return TaskStatus::Idle,
                Segment::Silence(frames) => self.next += frames,
                Segment::Sound(..) if room == 0 => return TaskStatus::Idle,
                Segment::Sound(from, frames) => self.fill(from, frames.min(room as u64) as usize),
            }
        }
    }
}

impl StreamFeeder {
    /// Answers a new request. Returns false if there is one that cannot be answered yet: the ring is not empty.
    fn answer_request(&mut self) -> bool {
        // pairs with the store in `StreamReader::seek`: the position comes with it.
        let number = self.request.number.load(Ordering::Acquire);
        if number == self.answered {
            return true;
        }
        if self.ring.slots() < self.ring.buffer().capacity() {
            return false;
        }
        // Relaxed: a newer position belongs to a newer number, which the next poll sees.
        self.next = self.request.position.load(Ordering::Relaxed);
        self.answered = number;
        // pairs with the load in `StreamReader::is_answered`: the ring was empty before this, and stays ours to fill.
        self.request.answered.store(number, Ordering::Release);
        true
    }

    fn fill(&mut self, from: u64, frames: usize) {
        if self.stream.position() != from {
            self.stream.seek(from);
        }
        let channels = self.stream.channels().count();
        let whole = &mut self.whole[..frames * channels];
        let read = self.stream.read_interleaved(whole);
        whole[read * channels..].fill(0.0);
        if let Some(damage) = self.stream.damage().filter(|_| !self.is_damaged) {
            self.log.report(FileProblem::Damaged(damage));
            self.is_damaged = true;
        }
        self.narrow.clear();
        for frame in whole.chunks_exact(channels) {
            self.narrow.extend_from_slice(&frame[..self.width]);
        }
        let written = self.ring.push_entire_slice(&self.narrow);
        debug_assert!(written.is_ok(), "no more than there is room for");
        self.next += frames as u64;
    }
}

impl StreamReader {
    /// Requests the stream from frame `from` of the timeline on.
    ///
    /// Real-time: hot.
    pub(super) fn seek(&mut self, from: u64) {
        self.number = self.number.wrapping_add(1);
        // Relaxed: travels with the number.
        self.request.position.store(from, Ordering::Relaxed);
        // pairs with the load in `StreamFeeder::answer_request`.
        self.request.number.store(self.number, Ordering::Release);
        self.late_frames = 0;
        self.skip_frames(self.skip_limit(0));
    }

    /// Number of channels.
    ///
    /// Real-time: hot.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    fn is_answered(&self) -> bool {
        // pairs with the store in `StreamFeeder::answer_request`: what we find in the ring from now on was put there after it.
        self.request.answered.load(Ordering::Acquire) == self.number
    }

    /// Waits until the next `frames` frames (at most 64) have come. Returns at once where no thread feeds the ring beside
    /// the callback (offline), and if that end is gone.
    ///
    /// Real-time: waits, on the thread that reads the file.
    pub(super) fn wait(&mut self, frames: usize) {
        while self.mode == Mode::Live && !self.has(frames) && !self.ring.is_abandoned() {
            std::thread::sleep(WAIT);
        }
    }

    /// Returns true if the next `frames` frames are in the ring. Skips frames that are not wanted any more.
    fn has(&mut self, frames: usize) -> bool {
        if !self.is_answered() {
            self.skip_frames(usize::MAX);
            return false;
        }
        let late = usize::try_from(self.late_frames).unwrap_or(usize::MAX);
        self.late_frames -= self.skip_frames(late) as u64;
        self.late_frames == 0 && self.ring.slots() >= frames * self.width
    }

    /// Returns the next `frames` frames (at most 64), interleaved; fewer if they have not come yet.
    ///
    /// Real-time: hot.
    pub(super) fn take(&mut self, frames: usize) -> &[f32] {
        let mut got = 0;
        if self.is_answered() {
            let late = usize::try_from(self.late_frames).unwrap_or(usize::MAX);
            self.late_frames -= self.skip_frames(late.min(self.skip_limit(frames))) as u64;
            if self.late_frames == 0 {
                got = self.read(frames);
            }
        } else {
            self.skip_frames(self.skip_limit(frames));
        }
        self.late_frames += (frames - got) as u64;
        &self.frames[..got * self.width]
    }

    /// Moves at most `frames` frames out of the ring into `self.frames`, and returns their number.
    fn read(&mut self, frames: usize) -> usize {
        let wanted = &mut self.frames[..frames * self.width];
        self.ring.pop_partial_slice(wanted).0.len() / self.width
    }

    /// Frames that may be skipped while `frames` are played. Offline there is no deadline.
    fn skip_limit(&self, frames: usize) -> usize {
        match self.mode {
            Mode::Live => CATCH_UP * frames,
            Mode::Offline | Mode::DryRun => usize::MAX,
        }
    }

    /// Skips up to `limit` frames, and returns their number.
    fn skip_frames(&mut self, limit: usize) -> usize {
        let mut skipped = 0;
        while skipped < limit {
            let n = (limit - skipped).min(MAX_TAKE);
            let got = self.read(n);
            skipped += got;
            if got < n {
                break;
            }
        }
        skipped
    }
}
