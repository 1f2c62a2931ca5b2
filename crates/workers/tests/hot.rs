//! What a crew's threads promise while they play: starting, working and swapping jobs allocate and free nothing.
#![cfg(not(loom))]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use divisi_workers::{Job, WaitPolicy, WorkerPool, WorkerPoolOptions, WorkerWaker};

thread_local! {
    static IS_WATCHED: Cell<bool> = const { Cell::new(false) };
}
static BROKEN: AtomicU32 = AtomicU32::new(0);

/// Counts what watched threads allocate and free.
struct Watch;

fn count() {
    if IS_WATCHED.try_with(Cell::get).unwrap_or(false) {
        BROKEN.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: it passes each call on to the system's allocator as it is.
unsafe impl GlobalAlloc for Watch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count();
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static WATCH: Watch = Watch;

/// Watches the worker while it works, and from its first call on between cycles too; ends the watch in cycle 0.
struct Played(AtomicU32);

impl Job for Played {
    fn work(&self, _worker: usize, epoch: u32, _: WorkerWaker<'_>) {
        IS_WATCHED.set(epoch != 0);
        self.0.store(epoch, Ordering::Release);
    }
}

#[test]
fn a_cycle_allocates_and_frees_nothing_on_either_side() {
    for wait in [WaitPolicy::Hybrid, WaitPolicy::Spin] {
        let crew = WorkerPool::new(WorkerPoolOptions {
            workers: 2,
            wait,
            ..WorkerPoolOptions::default()
        })
        .unwrap();
        let job = Arc::new(Played(AtomicU32::new(u32::MAX)));
        let posted = [(); 2].map(|()| crew.register(job.clone(), 2));
        for epoch in (1..500).chain([0]) {
            IS_WATCHED.set(true);
            posted[epoch as usize % 2].start(epoch);
            IS_WATCHED.set(false);
            while job.0.load(Ordering::Acquire) != epoch {
                std::thread::yield_now();
            }
        }
    }
    assert_eq!(BROKEN.load(Ordering::Relaxed), 0);
    IS_WATCHED.set(true);
    drop(Box::new(1));
    IS_WATCHED.set(false);
    assert_eq!(
        BROKEN.load(Ordering::Relaxed),
        2,
        "the watch sees what it should"
    );
}
