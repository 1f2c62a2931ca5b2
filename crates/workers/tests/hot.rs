//! A pool allocates and frees nothing while jobs are started, run and replaced.
#![cfg(not(loom))]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use divisi_workers::{Job, WaitPolicy, WorkerPool, WorkerPoolOptions, WorkerWaker};

thread_local! {
    static IS_WATCHED: Cell<bool> = const { Cell::new(false) };
}
static CALLS: AtomicU32 = AtomicU32::new(0);

/// Counts allocations and frees of watched threads.
struct CountingAllocator;

fn count() {
    if IS_WATCHED.try_with(Cell::get).unwrap_or(false) {
        CALLS.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: it passes each call on to the system's allocator unchanged.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the contract is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count();
        // SAFETY: the contract is the same.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Watches its worker from the first call on, between cycles too. Cycle 0 ends that.
struct WatchedJob(AtomicU32);

impl Job for WatchedJob {
    fn work(&self, _worker: usize, epoch: u32, _: WorkerWaker<'_>) {
        IS_WATCHED.set(epoch != 0);
        self.0.store(epoch, Ordering::Release);
    }
}

#[test]
fn a_cycle_allocates_and_frees_nothing_on_any_thread() {
    for wait in [WaitPolicy::Hybrid, WaitPolicy::Spin] {
        let pool = WorkerPool::new(WorkerPoolOptions {
            workers: 2,
            wait,
            ..WorkerPoolOptions::default()
        })
        .unwrap();
        let job = Arc::new(WatchedJob(AtomicU32::new(u32::MAX)));
        let handles = [(); 2].map(|()| pool.register(job.clone(), 2));
        for epoch in (1..500).chain([0]) {
            IS_WATCHED.set(true);
            handles[epoch as usize % 2].start(epoch);
            IS_WATCHED.set(false);
            while job.0.load(Ordering::Acquire) != epoch {
                std::thread::yield_now();
            }
        }
    }
    assert_eq!(CALLS.load(Ordering::Relaxed), 0);
    IS_WATCHED.set(true);
    drop(Box::new(1));
    IS_WATCHED.set(false);
    assert_eq!(
        CALLS.load(Ordering::Relaxed),
        2,
        "the allocator counts one allocation and one free"
    );
}
