//! A file that streams: the end that waits on the disk, the end that plays, and the ring between them.
//!
//! The ring holds what the timeline sounds, frame by frame, from where it last began. Beginning anew (a reset, a loaded
//! state) is an order with a number:
//!
//! | who | does | when |
//! |---|---|---|
//! | [`Tap`] | stores where from, then the order's number; empties the ring | told to begin anew |
//! | [`Feeder`] | sees a new number and an empty ring, stores it as answered, then fills | in its turns |
//! | [`Tap`] | empties the ring, plays silence | while its last order is not answered |
//!
//! The feeder writes nothing old after it has answered, and the tap reads nothing before it has seen the answer: so
//! what the tap reads belongs to its last order.

use super::timeline::{Piece, Timeline};
use processor::{BackgroundTask, Mode, TaskStatus};
use rtrb::{Consumer, Producer, RingBuffer};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[derive(Default)]
struct Orders {
    from: AtomicU64,
    given: AtomicU32,
    answered: AtomicU32,
}

/// The end that waits on the disk.
pub(super) struct Feeder {
    stream: media::ResamplingReader,
    timeline: Timeline,
    /// The next frame of the timeline.
    next: u64,
    width: usize,
    ring: Producer<f32>,
    orders: Arc<Orders>,
    answered: u32,
    whole: Vec<f32>,
    narrow: Vec<f32>,
}

/// The end that plays.
pub(super) struct Tap {
    width: usize,
    ring: Consumer<f32>,
    orders: Arc<Orders>,
    given: u32,
    /// Frames that were due before they had come: they are thrown away when they come, so that time is kept.
    owed: u64,
    mode: Mode,
    /// Interleaved frames, for one step.
    frames: Vec<f32>,
}

/// Frames read from the file at once.
const PORTION: usize = 1024;
/// The most frames of a step.
const STEP: usize = 64;
/// Live, for each frame played so many are thrown away at most.
const HASTE: usize = 16;

/// Both ends, for the first `width` channels of `stream`; room for `room` frames.
pub(super) fn feed(
    stream: media::ResamplingReader,
    timeline: Timeline,
    (width, room): (usize, usize),
    mode: Mode,
) -> (Feeder, Tap) {
    let (producer, consumer) = RingBuffer::new(room.max(PORTION) * width);
    let orders = Arc::new(Orders::default());
    let feeder = Feeder {
        whole: vec![0.0; PORTION * stream.channels().count()],
        narrow: Vec::with_capacity(PORTION * width),
        stream,
        timeline,
        next: 0,
        width,
        ring: producer,
        orders: orders.clone(),
        answered: 0,
    };
    let tap = Tap {
        width,
        ring: consumer,
        orders,
        given: 0,
        owed: 0,
        mode,
        frames: vec![0.0; STEP * width],
    };
    (feeder, tap)
}

impl BackgroundTask for Feeder {
    fn poll(&mut self) -> TaskStatus {
        loop {
            if self.ring.is_abandoned() {
                return TaskStatus::Done;
            }
            if !self.obey() {
                return TaskStatus::Idle;
            }
            let room = (self.ring.slots() / self.width).min(PORTION);
            match self.timeline.at(self.next) {
                Piece::End => return TaskStatus::Idle,
                Piece::Silence(frames) => self.next += frames,
                Piece::Sound(..) if room == 0 => return TaskStatus::Idle,
                Piece::Sound(from, frames) => self.fill(from, frames.min(room as u64) as usize),
            }
        }
    }
}

impl Feeder {
    /// Takes up a new order; whether there is none, or it could be taken up.
    fn obey(&mut self) -> bool {
        // pairs with the store in `Tap::begin`: where from comes with it.
        let given = self.orders.given.load(Ordering::Acquire);
        if given == self.answered {
            return true;
        }
        if self.ring.slots() < self.ring.buffer().capacity() {
            return false;
        }
        // Relaxed: an even newer value belongs to an even newer number, which we see next time.
        self.next = self.orders.from.load(Ordering::Relaxed);
        self.answered = given;
        // pairs with the load in `Tap::is_answered`: the ring was empty before this, and stays ours to fill.
        self.orders.answered.store(given, Ordering::Release);
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
        self.narrow.clear();
        for frame in whole.chunks_exact(channels) {
            self.narrow.extend_from_slice(&frame[..self.width]);
        }
        let written = self.ring.push_entire_slice(&self.narrow);
        debug_assert!(written.is_ok(), "no more than there is room for");
        self.next += frames as u64;
    }
}

impl Tap {
    /// Begins anew with frame `from` of the timeline.
    ///
    /// Real-time: hot.
    pub(super) fn begin(&mut self, from: u64) {
        self.given = self.given.wrapping_add(1);
        // Relaxed: travels with the number.
        self.orders.from.store(from, Ordering::Relaxed);
        // pairs with the load in `Feeder::obey`.
        self.orders.given.store(self.given, Ordering::Release);
        self.owed = 0;
        self.discard(self.most(0));
    }

    /// Channels of its frames.
    ///
    /// Real-time: hot.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    fn is_answered(&self) -> bool {
        // pairs with the store in `Feeder::obey`: what we find in the ring from now on was put there after it.
        self.orders.answered.load(Ordering::Acquire) == self.given
    }

    /// The next `frames` frames (at most 64), interleaved; fewer where they have not come yet: those are owed.
    ///
    /// Real-time: hot.
    pub(super) fn take(&mut self, frames: usize) -> &[f32] {
        let mut got = 0;
        if self.is_answered() {
            let owed = usize::try_from(self.owed).unwrap_or(usize::MAX);
            self.owed -= self.discard(owed.min(self.most(frames))) as u64;
            if self.owed == 0 {
                got = self.read(frames);
            }
        } else {
            self.discard(self.most(frames));
        }
        self.owed += (frames - got) as u64;
        &self.frames[..got * self.width]
    }

    /// Moves at most `frames` frames out of the ring into `self.frames`, and returns how many.
    fn read(&mut self, frames: usize) -> usize {
        let wanted = &mut self.frames[..frames * self.width];
        self.ring.pop_partial_slice(wanted).0.len() / self.width
    }

    /// How many frames may be thrown away while so many are played. Offline nobody waits for us.
    fn most(&self, frames: usize) -> usize {
        match self.mode {
            Mode::Live => HASTE * frames,
            Mode::Offline | Mode::DryRun => usize::MAX,
        }
    }

    /// Throws away up to `most` frames; how many.
    fn discard(&mut self, most: usize) -> usize {
        let mut gone = 0;
        while gone < most {
            let n = (most - gone).min(STEP);
            let got = self.read(n);
            gone += got;
            if got < n {
                break;
            }
        }
        gone
    }
}
