//! Tests of the pool: calls per cycle, replaced jobs, stuck workers, options.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use super::{Job, JobHandle, WaitPolicy, WorkerPool, WorkerPoolOptions, WorkerWaker};
use crate::{AudioThread, Priority, Refusal, cores};

/// Counts the calls of each worker.
struct CountingJob {
    calls: [AtomicU32; 40],
    latest: AtomicU32,
}

impl Default for CountingJob {
    fn default() -> Self {
        Self {
            calls: std::array::from_fn(|_| AtomicU32::new(0)),
            latest: AtomicU32::new(0),
        }
    }
}

impl Job for CountingJob {
    fn work(&self, worker: usize, epoch: u32, _: WorkerWaker<'_>) {
        assert!(AudioThread::is_current());
        self.latest.store(epoch, Ordering::Relaxed);
        if let Some(calls) = self.calls.get(worker) {
            calls.fetch_add(1, Ordering::Release);
        }
    }
}

impl CountingJob {
    fn wait_for(&self, workers: std::ops::Range<usize>, calls: u32) {
        for worker in workers {
            while self.calls[worker].load(Ordering::Acquire) < calls {
                std::thread::yield_now();
            }
        }
    }
}

fn options(workers: usize, wait: WaitPolicy) -> WorkerPoolOptions {
    WorkerPoolOptions {
        workers,
        wait,
        ..WorkerPoolOptions::default()
    }
}

fn retire(mut handle: JobHandle) -> Arc<dyn Job> {
    loop {
        match handle.retire() {
            Ok(job) => return job,
            Err(busy) => handle = busy,
        }
        std::thread::yield_now();
    }
}

#[test]
fn every_worker_comes_once_for_each_start() {
    for wait in [WaitPolicy::Hybrid, WaitPolicy::Sleep, WaitPolicy::Spin] {
        for workers in 1..=4 {
            let pool = WorkerPool::new(options(workers, wait)).unwrap();
            let job = Arc::new(CountingJob::default());
            let handle = pool.register(job.clone(), workers);
            for epoch in 1..=100 {
                assert!(handle.start(epoch) < workers as u32);
                job.wait_for(1..workers, epoch);
            }
            assert!(pool.stop(Duration::from_secs(20)).stuck.is_empty());
            let calls = job.calls.each_ref().map(|c| c.load(Ordering::Relaxed));
            let expected = |worker| 100 * u32::from((1..workers).contains(&worker));
            assert_eq!(calls, std::array::from_fn(expected));
        }
    }
}

#[test]
fn forty_workers_come_once_for_each_start() {
    let pool = WorkerPool::new(options(40, WaitPolicy::Sleep)).unwrap();
    let job = Arc::new(CountingJob::default());
    let handle = pool.register(job.clone(), 40);
    for epoch in 1..=20 {
        assert!(handle.start(epoch) <= 4);
        job.wait_for(1..40, epoch);
    }
    assert!(pool.stop(Duration::from_secs(20)).stuck.is_empty());
    assert!(
        job.calls[1..40]
            .iter()
            .all(|c| c.load(Ordering::Relaxed) == 20)
    );
}

#[test]
fn workers_beyond_the_jobs_number_are_not_called() {
    let pool = WorkerPool::new(options(4, WaitPolicy::Hybrid)).unwrap();
    let job = Arc::new(CountingJob::default());
    let handle = pool.register(job.clone(), 2);
    for epoch in 1..=100 {
        assert!(handle.start(epoch) <= 1);
        job.wait_for(1..2, epoch);
    }
    drop(pool);
    let other_calls = job.calls[2..].iter().map(|c| c.load(Ordering::Relaxed));
    assert_eq!(other_calls.sum::<u32>(), 0);
}

#[test]
fn a_worker_that_spins_need_not_be_woken() {
    let pool = WorkerPool::new(WorkerPoolOptions {
        spin_before_sleep: units::Nanos(600_000_000_000),
        ..options(3, WaitPolicy::Hybrid)
    });
    let pool = pool.unwrap();
    let job = Arc::new(CountingJob::default());
    let handle = pool.register(job.clone(), 3);
    for epoch in 1..=100 {
        let woken = handle.start(epoch);
        assert!(epoch == 1 || woken == 0, "{epoch}: {woken}");
        job.wait_for(1..3, epoch);
    }
    assert!(pool.stop(Duration::from_secs(20)).stuck.is_empty());
}

#[test]
fn jobs_are_replaced_between_cycles_and_come_back() {
    let pool = WorkerPool::new(options(3, WaitPolicy::Hybrid)).unwrap();
    for round in 0..200 {
        let job = Arc::new(CountingJob::default());
        let handle = pool.register(job.clone(), 3);
        for epoch in 1..=round % 3 {
            handle.start(epoch);
            job.wait_for(1..3, epoch);
        }
        // In every other round the cycle ends before the workers have come.
        if round % 2 == 0 {
            handle.start(9);
        }
        drop(retire(handle));
        assert_eq!(Arc::strong_count(&job), 1);
    }
}

/// Stays in its first cycle until `may_go` is set.
#[derive(Default)]
struct StuckJob {
    is_in: AtomicBool,
    may_go: AtomicBool,
}

impl Job for StuckJob {
    fn work(&self, _worker: usize, _epoch: u32, _: WorkerWaker<'_>) {
        self.is_in.store(true, Ordering::Release);
        while !self.may_go.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_stuck_worker_keeps_its_job_alive_and_blocks_no_other_thread() {
    let pool = WorkerPool::new(options(2, WaitPolicy::Hybrid)).unwrap();
    let job = Arc::new(StuckJob::default());
    let handle = pool.register(job.clone(), 2);
    handle.start(1);
    while !job.is_in.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    let Err(handle) = handle.retire() else {
        panic!("a job was returned while a worker was in it");
    };
    drop(handle);
    assert_eq!(pool.stop(Duration::from_millis(5)).stuck, [1]);
    assert_eq!(Arc::strong_count(&job), 2);
    job.may_go.store(true, Ordering::Release);
    while Arc::strong_count(&job) > 1 {
        std::thread::yield_now();
    }
}

/// Panics in every cycle, and counts the cycles.
#[derive(Default)]
struct PanickingJob(AtomicU32);
impl Job for PanickingJob {
    fn work(&self, _worker: usize, _epoch: u32, _: WorkerWaker<'_>) {
        self.0.fetch_add(1, Ordering::Release);
        panic!("on purpose, and nothing is printed");
    }
}

#[test]
fn a_worker_survives_the_panics_of_its_job() {
    let pool = WorkerPool::new(options(2, WaitPolicy::Hybrid)).unwrap();
    let job = Arc::new(PanickingJob::default());
    let handle = pool.register(job.clone(), 2);
    for epoch in 1..=3 {
        handle.start(epoch);
        while job.0.load(Ordering::Acquire) < epoch {
            std::thread::yield_now();
        }
    }
    assert!(pool.stop(Duration::from_secs(20)).stuck.is_empty());
}

#[test]
fn more_workers_than_cores_and_spinning_have_no_real_time_priority() {
    let (workers, cores) = (cores().len() + 1, cores().len());
    let pool = WorkerPool::new(WorkerPoolOptions {
        priority: Priority::RealTime(60),
        ..options(workers, WaitPolicy::Spin)
    });
    let status = pool.unwrap().status().clone();
    let refused = [
        Refusal::MoreWorkersThanCores { workers, cores },
        Refusal::SpinAtRealTime,
    ];
    assert_eq!(status.granted, Priority::Ordinary);
    assert_eq!(status.refused, refused);
}

#[test]
fn pinned_workers_report_their_cores_and_their_hook_has_run() {
    let starts = Arc::new(AtomicU32::new(0));
    let counted = starts.clone();
    let pool = WorkerPool::new(WorkerPoolOptions {
        pin: Some(cores().to_vec()),
        on_thread_start: Some(Arc::new(move |worker| {
            counted.fetch_add(worker as u32, Ordering::Relaxed);
        })),
        ..options(3, WaitPolicy::Hybrid)
    })
    .unwrap();
    assert_eq!(starts.load(Ordering::Relaxed), 1 + 2);
    let expected = [1, 2].map(|w| Some(cores()[w % cores().len()]));
    assert_eq!(pool.status().pinned, expected);
}

#[test]
fn the_low_priority_pool_has_a_thread_per_core_and_starts_when_asked_for() {
    assert!(
        WorkerPool::new(options(1, WaitPolicy::Hybrid))
            .unwrap()
            .low_priority_pool()
            .is_none()
    );
    let options = WorkerPoolOptions {
        low_priority_pool: true,
        ..options(1, WaitPolicy::Hybrid)
    };
    let pool = WorkerPool::new(options).unwrap();
    let low_priority = pool.low_priority_pool().unwrap();
    assert_eq!(low_priority.workers(), cores().len() + 1);
    let count = Arc::new(CountingJob::default());
    let handle = low_priority.register(count.clone(), low_priority.workers());
    handle.start(1);
    count.wait_for(1..low_priority.workers().min(8), 1);
    retire(handle);
    let again = pool.low_priority_pool().unwrap();
    assert!(std::ptr::eq(again, low_priority));
}
