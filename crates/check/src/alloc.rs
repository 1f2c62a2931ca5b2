//! An allocator that counts, for tests that promise not to allocate.
//!
//! A test binary installs it with `#[global_allocator] static ALLOCATOR: Counting = Counting;`. Each thread has its own
//! count, so tests may run side by side.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use workers::AudioThread;

static AUDIO: AtomicU64 = AtomicU64::new(0);
/// Allocations that live now.
static LIVE: AtomicI64 = AtomicI64::new(0);

thread_local! {
    // Made at compile time and never dropped: reading it does not allocate.
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, with each call counted: to allocate, to grow and to free.
pub struct Counting;

/// Calls that this thread has made so far.
pub fn calls() -> u64 {
    CALLS.get()
}

/// Calls so far by all threads that play ([`AudioThread`]), those that have ended included.
pub fn audio_calls() -> u64 {
    // Relaxed: only a count.
    AUDIO.load(Ordering::Relaxed)
}

/// Allocations of all threads that have not been freed.
pub fn live() -> i64 {
    // Relaxed: only a count.
    LIVE.load(Ordering::Relaxed)
}

/// Returns true if the binary has installed [`Counting`].
pub fn is_installed() -> bool {
    let before = calls();
    drop(std::hint::black_box(Box::new(0u64)));
    calls() != before
}

fn count(live: i64) {
    // Relaxed: as above.
    LIVE.fetch_add(live, Ordering::Relaxed);
    CALLS.set(CALLS.get() + 1);
    if AudioThread::is_current() {
        // Relaxed: as above.
        AUDIO.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator as it came; counting touches one cell of this thread.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1);
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(1);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(0);
        // SAFETY: as above; `old` came from `System` through this allocator.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        count(-1);
        // SAFETY: as above.
        unsafe { System.dealloc(old, layout) }
    }
}
