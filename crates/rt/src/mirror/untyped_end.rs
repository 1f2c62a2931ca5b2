//! [`UntypedEnd`]: one end without its type: its position, waiting, and the death of the other process.

use std::time::{Duration, Instant};

use units::Nanos;

use super::ChunkError;
use super::count::RingCount;
use super::liveness::LivenessLock;
use super::shared::RingMemory;
use crate::sync::Arc;

/// An end without the type of its items, on cache lines of its own: the two ends are often made side by side.
#[repr(align(128))]
pub(super) struct UntypedEnd<const IS_PRODUCER: bool> {
    pub(super) shared: Arc<RingMemory>,
    side: RingCount<IS_PRODUCER>,
    /// Frame of the ring at which the end stands, less than the capacity.
    position: usize,
    /// The lock of a ring between processes.
    liveness: Option<LivenessLock>,
}

/// Number of looks before an end sleeps: a few microseconds.
const SPINS: u32 = 64;
/// Longest sleep before an end that waits looks if the other process is alive.
pub(super) const LIVENESS_INTERVAL: Nanos = Nanos(50_000_000);
// The death of a process is noticed within 100 ms; the rest is for waking up.
const _: () = assert!(LIVENESS_INTERVAL.0 <= 90_000_000);

impl<const IS_PRODUCER: bool> UntypedEnd<IS_PRODUCER> {
    pub(super) fn new(shared: Arc<RingMemory>, liveness: Option<LivenessLock>) -> Self {
        Self {
            side: RingCount::new(shared.layout.frames),
            shared,
            position: 0,
            liveness,
        }
    }

    /// The end of a process that has ended; `liveness` shows that it has.
    pub(super) fn resume(
        shared: Arc<RingMemory>,
        liveness: LivenessLock,
    ) -> Result<Self, ChunkError> {
        let side = RingCount::resume(shared.header(), shared.layout.frames)?;
        Ok(Self {
            position: side.place(),
            side,
            shared,
            liveness: Some(liveness),
        })
    }

    #[inline]
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Number of frames that the end has.
    pub(super) fn available(&mut self) -> usize {
        let known = self.side.known();
        self.side.look(self.shared.header()).unwrap_or(known)
    }

    /// Returns true if the other end is closed.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        RingCount::<IS_PRODUCER>::other_bell(self.shared.header()).is_closed()
    }

    /// Checks that the end has `frames` frames.
    #[inline]
    pub(super) fn require(&mut self, frames: usize) -> Result<(), ChunkError> {
        if frames <= self.side.known() && !(IS_PRODUCER && self.is_closed()) {
            return Ok(());
        }
        self.look(frames)
    }

    fn look(&mut self, frames: usize) -> Result<(), ChunkError> {
        let capacity = self.shared.layout.frames;
        if frames > capacity {
            return Err(ChunkError::ExceedsCapacity {
                asked: frames,
                capacity,
            });
        }
        // First if the other end has closed, then its count: so the count is its last one.
        let is_closed = self.is_closed();
        if IS_PRODUCER && is_closed {
            return Err(ChunkError::Closed { left: 0 });
        }
        let available = self.side.look(self.shared.header())?;
        if frames <= available {
            return Ok(());
        }
        match is_closed {
            true => Err(ChunkError::Closed { left: available }),
            false if self.is_dead() => self.last_look(frames),
            false => Err(ChunkError::TooFewFrames { available }),
        }
    }

    /// Looks at the count once more, for what the other process gave before it died.
    #[cold]
    fn last_look(&mut self, frames: usize) -> Result<(), ChunkError> {
        match self.side.look(self.shared.header())? {
            available if !IS_PRODUCER && frames <= available => Ok(()),
            _ if IS_PRODUCER => Err(ChunkError::PeerDead { left: 0 }),
            left => Err(ChunkError::PeerDead { left }),
        }
    }

    /// Returns true if the other process has ended. Makes one system call for a ring between processes, else none.
    pub(super) fn is_dead(&self) -> bool {
        let liveness = self.liveness.as_ref();
        let bell = RingCount::<IS_PRODUCER>::other_bell(self.shared.header());
        liveness.is_some_and(|lock| bell.is_taken() && !lock.is_peer_alive())
    }

    /// Waits until the end has `frames` frames, for `limit` at most.
    pub(super) fn wait(&mut self, frames: usize, limit: Option<Nanos>) -> Result<(), ChunkError> {
        let begin = Instant::now();
        let passed = || Nanos(Duration::as_nanos(&begin.elapsed()) as u64);
        wait_in_intervals(
            self,
            limit,
            passed,
            |end| end.spin(frames),
            |end, piece| {
                let shared = &end.shared;
                let (header, fences) = (shared.header(), shared.fences);
                end.side
                    .sleep(header, fences, &shared.kernel, piece, frames);
            },
        )
    }

    fn spin(&mut self, frames: usize) -> Result<(), ChunkError> {
        for _ in 0..SPINS {
            if frames <= self.side.known() || self.side.look(self.shared.header())? >= frames {
                break;
            }
            std::hint::spin_loop();
        }
        self.require(frames)
    }

    /// Gives `frames` frames to the other end.
    #[inline]
    pub(super) fn advance(&mut self, frames: usize) {
        let (shared, capacity) = (&self.shared, self.shared.layout.frames);
        self.position += frames;
        if self.position >= capacity {
            self.position -= capacity;
        }
        let header = shared.header();
        self.side.advance(header, frames);
        RingCount::<IS_PRODUCER>::other_bell(header).ring(shared.fences, &shared.kernel);
    }
}

/// Asks and sleeps in turn, until the answer is not [`ChunkError::TooFewFrames`] or `limit` has passed. No sleep is
/// longer than [`LIVENESS_INTERVAL`], and it asks after each: so the death of the other process is noticed though
/// nobody wakes us.
fn wait_in_intervals<E>(
    end: &mut E,
    limit: Option<Nanos>,
    passed: impl Fn() -> Nanos,
    mut ask: impl FnMut(&mut E) -> Result<(), ChunkError>,
    mut sleep: impl FnMut(&mut E, Nanos),
) -> Result<(), ChunkError> {
    loop {
        match ask(end) {
            Err(ChunkError::TooFewFrames { .. }) => (),
            found => return found,
        }
        let left = limit.map_or(u64::MAX, |limit| limit.0.saturating_sub(passed().0));
        if left == 0 {
            return ask(end);
        }
        sleep(end, Nanos(left.min(LIVENESS_INTERVAL.0)));
    }
}

impl<const IS_PRODUCER: bool> Drop for UntypedEnd<IS_PRODUCER> {
    fn drop(&mut self) {
        let header = self.shared.header();
        RingCount::<IS_PRODUCER>::own_bell(header).close();
        RingCount::<IS_PRODUCER>::other_bell(header).ring(self.shared.fences, &self.shared.kernel);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{LIVENESS_INTERVAL, wait_in_intervals};
    use crate::mirror::ChunkError;
    use units::Nanos;

    const SHORT: Result<(), ChunkError> = Err(ChunkError::TooFewFrames { available: 0 });
    const DEAD: Result<(), ChunkError> = Err(ChunkError::PeerDead { left: 0 });

    /// Waits on a clock of its own, where nobody ever wakes it and the other one is gone at `end`; returns the
    /// result and the times at which it asked.
    fn waited(limit: Option<Nanos>, end: u64) -> (Result<(), ChunkError>, Vec<u64>) {
        let clock = std::cell::Cell::new(0);
        let mut asked = Vec::new();
        let ask = |asked: &mut Vec<u64>| {
            asked.push(clock.get());
            if clock.get() < end { SHORT } else { DEAD }
        };
        let sleep = |_: &mut Vec<u64>, piece: Nanos| clock.set(clock.get() + piece.0);
        let came = wait_in_intervals(&mut asked, limit, || Nanos(clock.get()), ask, sleep);
        (came, asked)
    }

    #[test]
    fn a_waiting_end_asks_after_each_interval_and_so_notices_in_time() {
        for gone_at in [
            0,
            1,
            LIVENESS_INTERVAL.0 - 1,
            LIVENESS_INTERVAL.0,
            7 * LIVENESS_INTERVAL.0 + 3,
        ] {
            let (came, asked) = waited(None, gone_at);
            assert_eq!(came, DEAD);
            let noticed = *asked.last().unwrap();
            assert!(noticed - gone_at < 100_000_000, "{gone_at}: {asked:?}");
            assert!(
                asked
                    .windows(2)
                    .all(|pair| pair[1] - pair[0] <= LIVENESS_INTERVAL.0)
            );
        }
    }

    #[test]
    fn a_limit_is_kept_and_asked_at_once_more() {
        let limit = 2 * LIVENESS_INTERVAL.0 + 5;
        let (came, asked) = waited(Some(Nanos(limit)), u64::MAX);
        assert_eq!(
            (came, asked),
            (
                SHORT,
                vec![
                    0,
                    LIVENESS_INTERVAL.0,
                    2 * LIVENESS_INTERVAL.0,
                    limit,
                    limit
                ]
            )
        );
        let (came, asked) = waited(Some(Nanos(0)), u64::MAX);
        assert_eq!((came, asked), (SHORT, vec![0, 0]));
    }
}
