//! Threads of the convolver's own: one a level, the shorter its period the more urgent.
//!
//! The callback makes one call to wake the threads whose work it starts, and waits for a thread only if its work is due
//! now and not yet here. Lines of one level share a thread; they may be dealt over a thread on each core.
//!
//! Work is handed over by [`rt::deferred`]; who is told of it, and who waits for it, is in [`rt::job_service`].
//!
//! A thread may take the whole of its level's period: when it is done changes nothing. Work that is not there when it is due
//! is waited for as long as patience lasts. Then it is late: counted ([`Convolver::late_count`]), its level silent for one period,
//! all others as they would be; and so is every period that its thread works over. What it brings then is thrown away, and
//! the next work starts with the next period. A line whose work panics stays silent, and everything else plays on.

use crate::{Convolver, Fdl, LevelScheduler};
use rt::deferred::{DeferredJob, JobRunner};
use rt::job_service::JobService;
use rt::wake::WakeMask;
use std::io;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use workers::{AudioThread, CoreId, Priority, Refusal, pin, set_priority};

/// Where the threads run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pinning {
    /// Where the system wants; one thread a level.
    #[default]
    Free,
    /// The k-th level's thread on the k-th of these, counted round.
    ByLevel(Vec<CoreId>),
    /// On each of these a thread for each level, for its share of the groups of channels.
    ByChannels(Vec<CoreId>),
}

/// How the threads are to be.
#[derive(Clone, Debug)]
pub struct LevelThreadsOptions {
    /// Of the shortest level's thread; each longer one has one less. `Ordinary` for all alike.
    pub priority: Priority,
    /// Where they run.
    pub pinning: Pinning,
    /// How long the callback waits for work that is due, before it plays silence; `None`: until it is there.
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

/// Threads that do the work of one convolver's levels; dropped, they end.
pub struct LevelThreads {
    service: Arc<JobService>,
    threads: Vec<JoinHandle<()>>,
    /// Each line's thread.
    owners: Box<[usize]>,
    to_wake: Option<WakeMask>,
    wake_count: u32,
    wait_count: u64,
    patience: Option<Duration>,
    refused: Vec<Refusal>,
}

/// One thread to be.
struct Plan {
    level: usize,
    core: Option<CoreId>,
    runners: Vec<JobRunner>,
}

impl LevelThreads {
    /// Starts the threads for `convolver`, which they serve as long as they live.
    ///
    /// # Errors
    ///
    /// The system's, where a thread cannot be started.
    ///
    /// Real-time: setup.
    pub fn new(convolver: &Convolver, options: &LevelThreadsOptions) -> io::Result<Self> {
        let (plans, owners) = plans(convolver, &options.pinning);
        let service = Arc::new(JobService::new(plans.len()));
        let mut threads = Self {
            service: service.clone(),
            threads: Vec::new(),
            owners,
            to_wake: None,
            wake_count: 0,
            wait_count: 0,
            patience: options.max_wait,
            refused: Vec::new(),
        };
        let (sender, refused) = mpsc::channel();
        for (index, plan) in plans.into_iter().enumerate() {
            let (service, sender, priority) = (service.clone(), sender.clone(), options.priority);
            let builder = std::thread::Builder::new().name(format!("conv-{}", plan.level));
            let thread = builder.spawn(move || {
                let _plays = AudioThread::enter();
                let _ = sender.send(prepare(&plan, priority));
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

    /// How many threads there are.
    pub fn len(&self) -> usize {
        self.threads.len()
    }

    /// Whether the convolver has no work for threads.
    pub fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// What the system refused them.
    pub fn refused(&self) -> &[Refusal] {
        &self.refused
    }

    /// How many threads were asleep and have been woken, so far.
    pub fn wake_count(&self) -> u32 {
        self.wake_count
    }

    /// How many results were due and not there, and were waited for, so far.
    pub fn wait_count(&self) -> u64 {
        self.wait_count
    }
}

impl LevelScheduler for LevelThreads {
    fn job_started(&mut self, line: usize, _work: &mut DeferredJob<Fdl>) {
        let name = WakeMask::bit(self.owners[line]);
        self.to_wake = Some(self.to_wake.map_or(name, |names| names.union(name)));
    }

    fn wake(&mut self) {
        if let Some(names) = self.to_wake.take() {
            self.wake_count += self.service.notify(names);
        }
    }

    fn finish(&mut self, line: usize, work: &mut DeferredJob<Fdl>) -> bool {
        if work.is_available() {
            return true;
        }
        self.wait_count += 1;
        let thread = self.owners[line];
        self.service.wait(thread, work, self.patience)
    }
}

impl Drop for LevelThreads {
    fn drop(&mut self) {
        self.service.stop();
        for thread in self.threads.drain(..) {
            // It catches what its pieces throw.
            let _ = thread.join();
        }
    }
}

/// Which threads there are to be, and each line's.
fn plans(convolver: &Convolver, pinning: &Pinning) -> (Vec<Plan>, Box<[usize]>) {
    let mut plans: Vec<Plan> = Vec::new();
    let mut place = |level: usize,
                     core: Option<CoreId>,
                     share: usize,
                     line: usize,
                     known: &mut Vec<(usize, usize)>| {
        let index = known.iter().position(|k| *k == (level, share));
        let index = index.unwrap_or_else(|| {
            known.push((level, share));
            plans.push(Plan {
                level,
                core,
                runners: Vec::new(),
            });
            plans.len() - 1
        });
        plans[index].runners.push(convolver.runner(line));
        index
    };
    let mut known = Vec::new();
    let owners = convolver.fdls().enumerate().map(|(line, facts)| {
        if facts.is_in_callback {
            return 0;
        }
        let (core, share) = match pinning {
            Pinning::ByLevel(cores) if !cores.is_empty() => {
                (Some(cores[facts.level % cores.len()]), 0)
            }
            Pinning::ByChannels(cores) if !cores.is_empty() => {
                let share = facts.group % cores.len();
                (Some(cores[share]), share)
            }
            _ => (None, 0),
        };
        place(facts.level, core, share, line, &mut known)
    });
    let owners = owners.collect();
    (plans, owners)
}

/// On the new thread: its core and its priority; what of that was refused.
fn prepare(plan: &Plan, priority: Priority) -> Vec<Refusal> {
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
