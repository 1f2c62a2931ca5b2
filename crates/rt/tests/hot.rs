//! A mirrored ring allocates and frees nothing once it is there: rooms, windows, refusals and waking too.

#![cfg(all(unix, not(loom)))]

use divisi_rt::mirror::{ChunkError, channel};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use units::Nanos;

struct Counting;

thread_local! {
    /// Of this thread only: those that run the tests allocate when they like.
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    // A thread that is ending counts no more.
    let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
}

// SAFETY: the system's allocator does it; this only counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count();
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations and frees of this thread so far.
fn calls() -> usize {
    CALLS.with(Cell::get)
}

#[test]
fn rooms_and_windows_allocate_nothing() {
    let (mut producer, mut consumer) = channel::<f32>(1024).unwrap();
    let (capacity, before) = (producer.capacity(), calls());
    for round in 0..10_000 {
        let frames = round % capacity + 1;
        let mut room = producer.write_chunk(frames).unwrap();
        room.fill(round as f32);
        room.commit(frames);
        let window = consumer.read_chunk(frames).unwrap();
        std::hint::black_box(&window[..]);
        window.release(frames);
        let short = ChunkError::TooFewFrames { available: 0 };
        assert_eq!(consumer.read_chunk(1).err(), Some(short));
    }
    let limit = Some(Nanos(1000));
    assert!(consumer.wait_read_chunk(1, limit).is_err());
    assert_eq!(calls(), before);
    drop(std::hint::black_box(vec![0_u8; 100]));
    assert_eq!(calls(), before + 2, "an allocation would be seen");
}
