//! [`RingCount`]: one end's view of the two counts, which limit the frames that it may use.

use units::Nanos;

use super::ChunkError;
use super::bell::Bell;
use super::header::Header;
use crate::fence::AsymmetricFence;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::wake::kernel::WordWait;

/// One end's own count and its limit, in frames.
#[derive(Debug)]
pub(super) struct RingCount<const IS_PRODUCER: bool> {
    /// Frames this end has given away, ever. Stored for the other one, never read back.
    own: u64,
    /// Count up to which this end may go, as it last saw it.
    limit: u64,
    capacity: u64,
}

impl<const IS_PRODUCER: bool> RingCount<IS_PRODUCER> {
    /// An end of a new ring with `capacity` frames.
    pub(super) fn new(capacity: usize) -> Self {
        let capacity = capacity as u64;
        Self {
            own: 0,
            limit: if IS_PRODUCER { capacity } else { 0 },
            capacity,
        }
    }

    /// An end of a ring whose end of this side belonged to a process that has ended: it goes on from the counts that are there.
    pub(super) fn resume(header: &Header, capacity: usize) -> Result<Self, ChunkError> {
        let capacity = capacity as u64;
        // Acquire: pairs with the store in `advance` of the process before, whose frames this end now owns.
        let own = Self::counts(header).0.load(Ordering::Acquire);
        let mut side = Self {
            own,
            limit: own,
            capacity,
        };
        side.look(header)?;
        Ok(side)
    }

    /// Frame of the ring at which the end stands.
    pub(super) fn place(&self) -> usize {
        // Less than the capacity, which was a `usize`.
        (self.own % self.capacity) as usize
    }

    pub(super) fn own_bell(header: &Header) -> &Bell {
        match IS_PRODUCER {
            true => &header.producer,
            false => &header.consumer,
        }
    }

    #[inline]
    pub(super) fn other_bell(header: &Header) -> &Bell {
        match IS_PRODUCER {
            true => &header.consumer,
            false => &header.producer,
        }
    }

    #[inline]
    fn counts(header: &Header) -> (&AtomicU64, &AtomicU64) {
        match IS_PRODUCER {
            true => (&header.written, &header.released),
            false => (&header.released, &header.written),
        }
    }

    /// Frames this end has, as far as it knows.
    #[inline]
    pub(super) fn known(&self) -> usize {
        // At most the capacity, which was a `usize`.
        self.limit.wrapping_sub(self.own) as usize
    }

    /// Number of frames that this end has, after a look at the other end's count.
    #[inline]
    pub(super) fn look(&mut self, header: &Header) -> Result<usize, ChunkError> {
        let lead = if IS_PRODUCER { self.capacity } else { 0 };
        // pairs with the store in `advance` of the other end: its frames come with it, or it is done with ours.
        let limit = Self::counts(header)
            .1
            .load(Ordering::Acquire)
            .wrapping_add(lead);
        if limit.wrapping_sub(self.own) > self.capacity {
            return Err(ChunkError::Corrupt);
        }
        self.limit = limit;
        Ok(self.known())
    }

    /// Gives `frames` away, of those this end has.
    #[inline]
    pub(super) fn advance(&mut self, header: &Header, frames: usize) {
        self.own = self.own.wrapping_add(frames as u64);
        // pairs with the load in `look` of the other end.
        Self::counts(header).0.store(self.own, Ordering::Release);
    }

    /// Sleeps until the other end has given frames or has closed, for `limit` at most.
    pub(super) fn sleep(
        &mut self,
        header: &Header,
        fences: AsymmetricFence,
        kernel: &WordWait,
        limit: Nanos,
        wanted: usize,
    ) {
        Self::own_bell(header).sleep_unless(fences, kernel, limit, || {
            let is_short = self.look(header).is_ok_and(|there| there < wanted);
            !is_short || Self::other_bell(header).is_closed()
        });
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::RingCount;
    use crate::fence::AsymmetricFence;
    use crate::mirror::header::Header;
    use crate::sync::{Arc, UnsafeCell};
    use crate::wake::kernel::WordWait;
    use units::Nanos;

    const CAPACITY: usize = 2;

    struct Ring {
        header: Header,
        kernel: WordWait,
        frames: [UnsafeCell<u32>; CAPACITY],
    }

    // SAFETY: the protocol under test lets one thread at a time reach a frame; loom would say if not.
    unsafe impl Sync for Ring {}
    // SAFETY: the frames are plain numbers, which may move to another thread.
    unsafe impl Send for Ring {}

    fn ring() -> Arc<Ring> {
        Arc::new(Ring {
            header: Header::new(),
            kernel: WordWait::new(),
            frames: [UnsafeCell::new(0), UnsafeCell::new(0)],
        })
    }

    /// Waits for a frame as `UntypedEnd` does, or for the other end to close.
    fn wait<const IS_PRODUCER: bool>(side: &mut RingCount<IS_PRODUCER>, ring: &Ring) -> bool {
        loop {
            let is_closed = RingCount::<IS_PRODUCER>::other_bell(&ring.header).is_closed();
            if side.look(&ring.header).unwrap() > 0 {
                return true;
            }
            if is_closed {
                return false;
            }
            let fences = AsymmetricFence::within_process();
            side.sleep(&ring.header, fences, &ring.kernel, Nanos(1_000_000), 1);
        }
    }

    fn give<const IS_PRODUCER: bool>(side: &mut RingCount<IS_PRODUCER>, ring: &Ring) {
        side.advance(&ring.header, 1);
        let other = RingCount::<IS_PRODUCER>::other_bell(&ring.header);
        other.ring(AsymmetricFence::within_process(), &ring.kernel);
    }

    fn close<const IS_PRODUCER: bool>(ring: &Ring) {
        RingCount::<IS_PRODUCER>::own_bell(&ring.header).close();
        let other = RingCount::<IS_PRODUCER>::other_bell(&ring.header);
        other.ring(AsymmetricFence::within_process(), &ring.kernel);
    }

    fn write(ring: &Arc<Ring>, count: u32) -> loom::thread::JoinHandle<()> {
        let ring = ring.clone();
        loom::thread::spawn(move || {
            let mut side = RingCount::<true>::new(CAPACITY);
            for n in 0..count {
                assert!(wait(&mut side, &ring));
                // SAFETY: there is room, so this frame is ours.
                ring.frames[n as usize % CAPACITY].with_mut(|frame| unsafe { *frame = n + 1 });
                give(&mut side, &ring);
            }
            close::<true>(&ring);
        })
    }

    #[test]
    fn frames_arrive_whole_and_in_order_and_no_wake_is_lost() {
        // Every way of switching threads at most twice.
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let ring = ring();
            let writer = write(&ring, 3);
            let mut side = RingCount::<false>::new(CAPACITY);
            let mut got = Vec::new();
            // A lost wake would leave one asleep: loom calls that a deadlock.
            while wait(&mut side, &ring) {
                let place = got.len() % CAPACITY;
                // SAFETY: a frame is there, so it is ours.
                got.push(ring.frames[place].with(|frame| unsafe { *frame }));
                give(&mut side, &ring);
            }
            writer.join().unwrap();
            assert_eq!(got, [1, 2, 3]);
        });
    }

    #[test]
    fn a_producer_that_closes_is_noticed_with_all_it_gave() {
        // Every way of switching threads at most three times.
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let ring = ring();
            let writer = write(&ring, 1);
            let mut side = RingCount::<false>::new(CAPACITY);
            assert!(wait(&mut side, &ring));
            give(&mut side, &ring);
            assert!(!wait(&mut side, &ring));
            writer.join().unwrap();
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::RingCount;
    use crate::mirror::ChunkError;
    use crate::mirror::header::Header;
    use crate::sync::atomic::Ordering::Relaxed;

    #[test]
    fn counts_that_make_no_sense_are_believed_by_nobody() {
        let header = Header::new();
        let (mut producer, mut consumer) = (RingCount::<true>::new(8), RingCount::<false>::new(8));
        producer.advance(&header, 3);
        assert_eq!(consumer.look(&header), Ok(3));
        for nonsense in [9, u64::MAX, 1 << 63] {
            header.written.store(nonsense, Relaxed);
            assert_eq!(consumer.look(&header), Err(ChunkError::Corrupt));
            assert_eq!(consumer.known(), 3);
        }
        for nonsense in [4, u64::MAX - 8, 1 << 63] {
            header.released.store(nonsense, Relaxed);
            assert_eq!(producer.look(&header), Err(ChunkError::Corrupt));
        }
    }

    #[test]
    fn counts_may_pass_the_largest_number() {
        let header = Header::new();
        let (mut producer, mut consumer) = (RingCount::<true>::new(8), RingCount::<false>::new(8));
        (producer.own, consumer.own, consumer.limit) = (u64::MAX - 1, u64::MAX - 1, u64::MAX - 1);
        header.released.store(u64::MAX - 1, Relaxed);
        assert_eq!(producer.look(&header), Ok(8));
        producer.advance(&header, 5);
        assert_eq!((consumer.look(&header), producer.known()), (Ok(5), 3));
    }
}
