//! [`LevelThreads`]: threads of the convolver's own, one a level; the shorter its period, the higher its priority (seed 000,
//! section 3).
//!
//! The callback makes one call to wake the threads whose jobs it starts, and waits for a thread only if its job is due and
//! not done. Lines of one level share a thread, or one thread on each core.
//!
//! Jobs are handed over by [`rt::deferred`]; [`rt::job_service`] notifies the threads and waits for them.
//!
//! A thread may use the whole of its level's period: the output does not depend on when it is done. A job that is not done when it is due
//! is waited for; the waits of one block, of all levels together, take `max_wait` at most. Then it is late: counted ([`Convolver::late_count`]), and its level is silent for
//! one period, as it is for every further period that the thread needs. The late output is thrown away, and the next job
//! starts with the next period. A line whose job panics stays silent; everything else goes on.

use super::LevelScheduler;
use crate::convolver::Convolver;
use crate::level::Fdl;
use rt::deferred::{DeferredJob, JobRunner};
use rt::job_service::JobService;
use rt::wake::WakeMask;
use std::io;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use workers::{AudioThread, CoreId, Priority, Refusal, pin, set_priority};

/// Cores on which the threads run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pinning {
    /// One thread for each level, on the core that the system chooses.
    #[default]
    Free,
    /// One thread for each level: that of level k on core k of these, modulo their number.
    ByLevel(Vec<CoreId>),
    /// A thread for each level on each of these cores, for a share of the groups of channels.
    ByChannels(Vec<CoreId>),
}

/// Priority, cores and waiting time of the threads.
#[derive(Clone, Debug)]
pub struct LevelThreadsOptions {
    /// Priority of the shortest level's thread; each longer level has one less. `Ordinary` is the same for all.
    pub priority: Priority,
    /// Cores.
    pub pinning: Pinning,
    /// Longest time that the callback waits in one block for all jobs that are due, before it plays silence; `None`: until
    /// they are done.
    pub max_wait: Option<Duration>,
}

impl Default for LevelThreadsOptions {
    fn default() -> Self {
        Self {
            priority: Priority::RealTime(60),
            pinning: Pinning::Free,
            max_wait: None,
        }
    }
}

/// Threads that do the work of one convolver's levels. They end when this is dropped.
pub struct LevelThreads {
    service: Arc<JobService>,
    threads: Vec<JoinHandle<()>>,
    /// Thread of each line.
    thread_of: Box<[usize]>,
    to_wake: Option<WakeMask>,
    wake_count: u32,
    wait_count: u64,
    max_wait: Option<Duration>,
    /// Part of `max_wait` that is left in this block.
    wait_left: Option<Duration>,
    refused: Vec<Refusal>,
}

/// Level, core and jobs of a thread.
struct ThreadPlan {
    level: usize,
    core: Option<CoreId>,
    runners: Vec<JobRunner>,
}

impl LevelThreads {
    /// Starts the threads for `convolver`.
    ///
    /// # Errors
    ///
    /// The system cannot start a thread.
    ///
    /// Real-time: setup.
    pub fn new(convolver: &Convolver, options: &LevelThreadsOptions) -> io::Result<Self> {
        let (plans, thread_of) = plan_threads(convolver, &options.pinning);
        let service = Arc::new(JobService::new(plans.len()));
        let mut threads = Self {
            service: service.clone(),
            threads: Vec::new(),
            thread_of,
            to_wake: None,
            wake_count: 0,
            wait_count: 0,
            max_wait: options.max_wait,
            wait_left: options.max_wait,
            refused: Vec::new(),
        };
        let (sender, refused) = mpsc::channel();
        for (index, plan) in plans.into_iter().enumerate() {
            let (service, sender, priority) = (service.clone(), sender.clone(), options.priority);
            let builder = std::thread::Builder::new().name(format!("conv-{}", plan.level));
            let thread = builder.spawn(move || {
                let _audio = AudioThread::enter();
                let _ = sender.send(set_up(&plan, priority));
                drop(sender);
                service.serve(index, &plan.runners);
            })?;
            threads.threads.push(thread);
        }
        drop(sender);
        threads.refused = refused.iter().flatten().collect();
        threads.refused.dedup();
        Ok(threads)
    }

    /// Number of threads.
    pub fn len(&self) -> usize {
        self.threads.len()
    }

    /// Returns true if the convolver has no jobs for threads.
    pub fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// Settings that the system refused.
    pub fn refused(&self) -> &[Refusal] {
        &self.refused
    }

    /// Number of times that a sleeping thread was woken.
    pub fn wake_count(&self) -> u32 {
        self.wake_count
    }

    /// Sets the longest time that the next block waits, in place of [`LevelThreadsOptions::max_wait`]: a host that has one
    /// deadline for several convolvers passes what is left of it.
    ///
    /// Real-time: hot.
    pub fn set_time_to_wait(&mut self, limit: Option<Duration>) {
        self.wait_left = limit;
    }

    /// Number of jobs that were not done when they were due, and were waited for.
    pub fn wait_count(&self) -> u64 {
        self.wait_count
    }
}

impl LevelScheduler for LevelThreads {
    fn job_started(&mut self, fdl: usize, _job: &mut DeferredJob<Fdl>) {
        let thread = WakeMask::bit(self.thread_of[fdl]);
        self.to_wake = Some(self.to_wake.map_or(thread, |others| others.union(thread)));
    }

    fn wake(&mut self) {
        if let Some(threads) = self.to_wake.take() {
            self.wake_count += self.service.notify(threads);
        }
    }

    fn finish(&mut self, fdl: usize, job: &mut DeferredJob<Fdl>) -> bool {
        if job.is_available() {
            return true;
        }
        let Some(limit) = self.wait_left else {
            self.wait_count += 1;
            return self.service.wait(self.thread_of[fdl], job, None);
        };
        if limit.is_zero() {
            return false;
        }
        self.wait_count += 1;
        let begin = Instant::now();
        let is_done = self.service.wait(self.thread_of[fdl], job, Some(limit));
        // A job that panicked is not waited for.
        let has_timed_out = !is_done && !job.has_panicked();
        let waited = if has_timed_out {
            limit
        } else {
            begin.elapsed()
        };
        self.wait_left = Some(limit.saturating_sub(waited));
        is_done
    }

    fn after_block(&mut self, _jobs: &mut dyn Iterator<Item = (usize, &mut DeferredJob<Fdl>)>) {
        self.wait_left = self.max_wait;
    }
}

impl Drop for LevelThreads {
    fn drop(&mut self) {
        self.service.stop();
        for thread in self.threads.drain(..) {
            // It catches the panics of its pieces.
            let _ = thread.join();
        }
    }
}

/// Threads for a convolver, and the thread of each line.
fn plan_threads(convolver: &Convolver, pinning: &Pinning) -> (Vec<ThreadPlan>, Box<[usize]>) {
    let mut plans: Vec<ThreadPlan> = Vec::new();
    // Level and share of each thread; a share is the place of its core.
    let mut keys: Vec<(usize, usize)> = Vec::new();
    let mut thread_of = Vec::new();
    for (fdl, info) in convolver.fdls().enumerate() {
        if info.is_in_callback {
            thread_of.push(0);
            continue;
        }
        let (core, share) = match pinning {
            Pinning::ByLevel(cores) if !cores.is_empty() => {
                (Some(cores[info.level % cores.len()]), 0)
            }
            Pinning::ByChannels(cores) if !cores.is_empty() => {
                let share = info.group % cores.len();
                (Some(cores[share]), share)
            }
            _ => (None, 0),
        };
        let key = (info.level, share);
        let thread = keys.iter().position(|known| *known == key);
        let thread = thread.unwrap_or_else(|| {
            keys.push(key);
            plans.push(ThreadPlan {
                level: info.level,
                core,
                runners: Vec::new(),
            });
            plans.len() - 1
        });
        plans[thread].runners.push(convolver.job_runner(fdl));
        thread_of.push(thread);
    }
    (plans, thread_of.into())
}

/// Sets the calling thread's core and priority; returns what the system refused.
fn set_up(plan: &ThreadPlan, priority: Priority) -> Vec<Refusal> {
    let pinned = plan.core.map_or(Ok(()), pin);
    let priority = match priority {
        Priority::RealTime(top) => Priority::RealTime(top.saturating_sub(plan.level as u8).max(1)),
        Priority::Ordinary => return pinned.err().into_iter().collect(),
    };
    [pinned, set_priority(priority)]
        .into_iter()
        .filter_map(Result::err)
        .collect()
}
