//! [`Reach`]: how far an end may go now, or what is in its way.

use std::time::{Duration, Instant};

use units::Nanos;

use super::Refusal;
use super::life::Life;
use super::ring::Shared;
use super::side::Side;
use crate::sync::Arc;

/// An end without the type of its items, on cache lines of its own: the two ends are often made side by side.
#[repr(align(128))]
pub(super) struct Reach<const IS_PRODUCER: bool> {
    pub(super) shared: Arc<Shared>,
    side: Side<IS_PRODUCER>,
    /// The frame of the ring at which it stands, less than the capacity.
    position: usize,
    /// Between processes.
    life: Option<Life>,
}

/// Between threads an end spins so often before it sleeps, a few microseconds.
const SPINS: u32 = 64;
/// How often an end that waits looks whether the other one's process is there.
pub(super) const LOOK: Nanos = Nanos(50_000_000);

impl<const IS_PRODUCER: bool> Reach<IS_PRODUCER> {
    pub(super) fn new(shared: Arc<Shared>, life: Option<Life>) -> Self {
        Self {
            side: Side::new(shared.layout.frames),
            shared,
            position: 0,
            life,
        }
    }

    #[inline]
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Frames it has.
    pub(super) fn available(&mut self) -> usize {
        let known = self.side.known();
        self.side.look(self.shared.header()).unwrap_or(known)
    }

    /// Whether the other end is closed.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        Side::<IS_PRODUCER>::other_bell(self.shared.header()).is_closed()
    }

    /// Makes sure that `frames` are there.
    #[inline]
    pub(super) fn reach(&mut self, frames: usize) -> Result<(), Refusal> {
        if frames <= self.side.known() && !(IS_PRODUCER && self.is_closed()) {
            return Ok(());
        }
        self.look(frames)
    }

    fn look(&mut self, frames: usize) -> Result<(), Refusal> {
        let capacity = self.shared.layout.frames;
        if frames > capacity {
            return Err(Refusal::TooMany {
                asked: frames,
                capacity,
            });
        }
        // First whether it has closed, then how much it gave: all it ever gave is seen.
        let is_closed = self.is_closed();
        if IS_PRODUCER && is_closed {
            return Err(Refusal::Closed { left: 0 });
        }
        let available = self.side.look(self.shared.header())?;
        if frames <= available {
            return Ok(());
        }
        match is_closed {
            true => Err(Refusal::Closed { left: available }),
            false if self.is_dead() => self.last_look(frames),
            false => Err(Refusal::Short { available }),
        }
    }

    /// What a process gave before it was gone.
    #[cold]
    fn last_look(&mut self, frames: usize) -> Result<(), Refusal> {
        match self.side.look(self.shared.header())? {
            available if !IS_PRODUCER && frames <= available => Ok(()),
            _ if IS_PRODUCER => Err(Refusal::Dead { left: 0 }),
            left => Err(Refusal::Dead { left }),
        }
    }

    /// Whether there was another process and is none now.
    fn is_dead(&self) -> bool {
        let life = self.life.as_ref();
        let bell = Side::<IS_PRODUCER>::other_bell(self.shared.header());
        life.is_some_and(|life| bell.is_taken() && !life.is_other_there())
    }

    /// Waits until `frames` are there, for `limit` at most.
    pub(super) fn wait(&mut self, frames: usize, limit: Option<Nanos>) -> Result<(), Refusal> {
        let begin = Instant::now();
        loop {
            match self.spin(frames) {
                Err(Refusal::Short { .. }) => (),
                found => return found,
            }
            let passed = Duration::as_nanos(&begin.elapsed()) as u64;
            let left = limit.map_or(u64::MAX, |limit| limit.0.saturating_sub(passed));
            if left == 0 {
                return self.reach(frames);
            }
            let shared = &self.shared;
            let limit = Nanos(left.min(LOOK.0));
            self.side.sleep(
                shared.header(),
                shared.fences,
                &shared.kernel,
                limit,
                frames,
            );
        }
    }

    fn spin(&mut self, frames: usize) -> Result<(), Refusal> {
        for _ in 0..SPINS {
            if frames <= self.side.known() || self.side.look(self.shared.header())? >= frames {
                break;
            }
            std::hint::spin_loop();
        }
        self.reach(frames)
    }

    /// Gives away `frames` of those that are there.
    #[inline]
    pub(super) fn advance(&mut self, frames: usize) {
        let (shared, capacity) = (&self.shared, self.shared.layout.frames);
        self.position += frames;
        if self.position >= capacity {
            self.position -= capacity;
        }
        let header = shared.header();
        self.side.advance(header, frames);
        Side::<IS_PRODUCER>::other_bell(header).ring(shared.fences, &shared.kernel);
    }
}

impl<const IS_PRODUCER: bool> Drop for Reach<IS_PRODUCER> {
    fn drop(&mut self) {
        let header = self.shared.header();
        Side::<IS_PRODUCER>::own_bell(header).close();
        Side::<IS_PRODUCER>::other_bell(header).ring(self.shared.fences, &self.shared.kernel);
    }
}
