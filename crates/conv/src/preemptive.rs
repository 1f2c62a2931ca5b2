//! Threads of the convolver's own: one a level, the shorter its period the more urgent.
//!
//! The callback makes one call to wake the threads whose work it starts, and waits for a thread only if its work is due
//! now and not yet here. Lines of one level share a thread; they may be dealt over a thread on each core.
//!
//! | word | written by | read by |
//! |---|---|---|
//! | `start` | the callback, after it has started work: counts up | threads: they look for work, and sleep while it stays |
//! | `done`, one a thread | its thread, after each line: counts up | the callback, while it waits for a line of that thread |
//!
//! The work itself is handed over by [`rt::deferred`]; the words only keep anybody from sleeping through it: each is
//! read before the work is looked at, and slept on only while it is as it was read.
//!
//! A thread may take the whole of its level's period: when it is done changes nothing. Work that is not there when it is due
//! is waited for as long as patience lasts. Then it is late: counted ([`Convolver::late`]), its level silent for one period,
//! all others as they would be; and so is every period that its thread works over. What it brings then is thrown away, and
//! the next work starts with the next period. A thread that is lost leaves its level silent, and everything else playing.

use crate::{Convolver, Fdl, Hands};
use rt::deferred::{Owner, Runner};
use rt::wake::{Names, Sleeper};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use units::Nanos;
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
pub struct ThreadsOptions {
    /// Of the shortest level's thread; each longer one has one less. `Ordinary` for all alike.
    pub priority: Priority,
    /// Where they run.
    pub pinning: Pinning,
    /// How long the callback waits for work that is due, before it plays silence; `None`: until it is there.
    pub patience: Option<Duration>,
}

impl Default for ThreadsOptions {
    fn default() -> Self {
        Self {
            priority: Priority::RealTime(60),
            pinning: Pinning::Free,
            patience: None,
        }
    }
}

/// What threads and callback share.
struct Shared {
    start: Sleeper,
    done: Box<[Sleeper]>,
    /// A piece panicked in this thread: its line never comes back.
    lost: Box<[AtomicBool]>,
    stop: AtomicBool,
}

/// Threads that do the work of one convolver's levels; dropped, they end.
pub struct Threads {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Each line's thread.
    owners: Box<[usize]>,
    to_wake: Option<Names>,
    woken: u32,
    waited: u64,
    patience: Option<Duration>,
    refused: Vec<Refusal>,
}

/// One thread to be.
struct Plan {
    level: usize,
    core: Option<CoreId>,
    runners: Vec<Runner>,
}

impl Threads {
    /// Starts the threads for `convolver`, which they serve as long as they live.
    ///
    /// # Errors
    ///
    /// The system's, where a thread cannot be started.
    ///
    /// Real-time: setup.
    pub fn new(convolver: &Convolver, options: &ThreadsOptions) -> io::Result<Self> {
        let (plans, owners) = plans(convolver, &options.pinning);
        let shared = Arc::new(Shared {
            start: Sleeper::new(0),
            done: plans.iter().map(|_| Sleeper::new(0)).collect(),
            lost: plans.iter().map(|_| AtomicBool::new(false)).collect(),
            stop: AtomicBool::new(false),
        });
        let mut threads = Self {
            shared: shared.clone(),
            threads: Vec::new(),
            owners,
            to_wake: None,
            woken: 0,
            waited: 0,
            patience: options.patience,
            refused: Vec::new(),
        };
        let (sender, refused) = mpsc::channel();
        for (index, plan) in plans.into_iter().enumerate() {
            let (shared, sender, priority) = (shared.clone(), sender.clone(), options.priority);
            let builder = std::thread::Builder::new().name(format!("conv-{}", plan.level));
            let thread = builder.spawn(move || {
                let _plays = AudioThread::begin();
                let _ = sender.send(prepare(&plan, priority));
                drop(sender);
                work(&shared, index, &plan.runners);
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
    pub fn woken(&self) -> u32 {
        self.woken
    }

    /// How many results were due and not there, and were waited for, so far.
    pub fn waited(&self) -> u64 {
        self.waited
    }
}

impl Hands for Threads {
    fn started(&mut self, line: usize, _work: &mut Owner<Fdl>) {
        let name = Names::one(self.owners[line]);
        self.to_wake = Some(self.to_wake.map_or(name, |names| names.and(name)));
    }

    fn go(&mut self) {
        if let Some(names) = self.to_wake.take() {
            self.shared.start.add(1);
            self.woken += self.shared.start.wake_named(names);
        }
    }

    fn finish(&mut self, line: usize, work: &mut Owner<Fdl>) -> bool {
        if work.is_here() {
            return true;
        }
        self.waited += 1;
        self.wait(self.owners[line], work)
    }
}

impl Threads {
    /// Waits until `thread` has done `work`, or is lost, or patience is over.
    ///
    /// Real-time: waits, on that thread, as long as patience lasts.
    fn wait(&self, thread: usize, work: &Owner<Fdl>) -> bool {
        let done = &self.shared.done[thread];
        let mut until = None;
        loop {
            let seen = done.get();
            if work.is_here() {
                return true;
            }
            // Relaxed: travels with the count, which is read before.
            if self.shared.lost[thread].load(Ordering::Relaxed) {
                return false;
            }
            let Some(patience) = self.patience else {
                done.wait(seen);
                continue;
            };
            let now = Instant::now();
            let until = *until.get_or_insert(now + patience);
            let left = until.saturating_duration_since(now);
            if left.is_zero() {
                return false;
            }
            done.wait_for(seen, Nanos(left.as_nanos() as u64));
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        // Relaxed: travels with the count.
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.start.add(1);
        self.shared.start.wake(u32::MAX >> 1);
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
    let owners = convolver.lines().enumerate().map(|(line, facts)| {
        if facts.is_urgent {
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

fn work(shared: &Shared, index: usize, runners: &[Runner]) {
    let name = Names::one(index);
    loop {
        let seen = shared.start.get();
        // Relaxed: travels with the count.
        if shared.stop.load(Ordering::Relaxed) {
            return;
        }
        let mut has_worked = false;
        for runner in runners {
            has_worked |= work_off(shared, index, runner);
        }
        if !has_worked {
            shared.start.wait_named(seen, name);
        }
    }
}

/// Does what there is of a line; whether there was anything. Whoever waits for the line is told by what has been done,
/// not by what was there to be done at first: it may have been started in between.
fn work_off(shared: &Shared, index: usize, runner: &Runner) -> bool {
    let mut has_worked = false;
    let all = AssertUnwindSafe(|| {
        while runner.run_piece() {
            has_worked = true;
        }
    });
    if catch_unwind(all).is_err() {
        has_worked = true;
        // Relaxed: travels with the count.
        shared.lost[index].store(true, Ordering::Relaxed);
    }
    if has_worked {
        shared.done[index].add(1);
        shared.done[index].wake(1);
    }
    has_worked
}
