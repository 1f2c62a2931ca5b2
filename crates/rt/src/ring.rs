//! Rings of the crate `rtrb`, and vectors, whose memory is mapped when they are made: the first value costs no page fault.

use rtrb::{Consumer, Producer, RingBuffer};
use std::hint::black_box;
use std::mem::MaybeUninit;

/// The two ends of a ring for `capacity` values. Every byte of it has been written once.
///
/// Real-time: setup.
pub fn ring<T: Copy>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    let (mut producer, consumer) = RingBuffer::new(capacity);
    if let Ok(mut chunk) = producer.write_chunk_uninit(capacity) {
        let (first, second) = chunk.as_mut_slices();
        // Behind `black_box`, so that the writes are not merged with the allocation, which need not map anything. The
        // chunk is not committed: the ring stays empty.
        for slots in [black_box(first), black_box(second)] {
            slots.fill_with(MaybeUninit::zeroed);
        }
    }
    (producer, consumer)
}

/// An empty vector with room for `capacity` values. Every byte of the room has been written once.
///
/// Real-time: setup.
pub fn mapped_vec<T: Copy>(capacity: usize) -> Vec<T> {
    let mut values = Vec::with_capacity(capacity);
    black_box(values.spare_capacity_mut()).fill_with(MaybeUninit::zeroed);
    values
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::ring;

    #[test]
    fn a_ring_that_was_touched_is_empty_and_has_its_capacity() {
        let (mut producer, mut consumer) = ring::<u64>(5);
        assert!(consumer.pop().is_err());
        assert_eq!((0..9).filter(|n| producer.push(*n).is_ok()).count(), 5);
        assert_eq!(std::iter::from_fn(|| consumer.pop().ok()).sum::<u64>(), 10);
    }
}
