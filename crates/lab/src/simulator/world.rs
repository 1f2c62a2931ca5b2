//! Cores, a clock, and who ran what: what all protocols of the simulator share.

use super::costs::{At, MoveCosts, Prediction};
use divisi::plan::{Dag, TaskId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A time, in thousandths of a nanosecond.
pub(super) type Time = u64;

/// Nanoseconds as a time.
pub(super) fn time(ns: f64) -> Time {
    (ns.max(0.0) * 1000.0) as Time
}

/// What a worker does next.
pub(super) enum Next {
    /// Runs a task, which it has from this time on.
    Run(TaskId, Time),
    /// Looks again at this time.
    Again(Time),
    /// Nothing, until somebody calls.
    Idle,
}

/// How tasks come to workers.
pub(super) trait Protocol {
    /// `worker` has run `task` at `now`: releases what waited for it. When it is free again.
    fn finish(&mut self, world: &mut World<'_>, worker: usize, task: TaskId, now: Time) -> Time;

    /// What `worker`, free at `now`, does next.
    fn next(&mut self, world: &mut World<'_>, worker: usize, now: Time) -> Next;
}

/// One cycle on a machine.
pub(super) struct World<'a> {
    pub(super) dag: &'a Dag,
    pub(super) moves: &'a MoveCosts,
    pub(super) cores: usize,
    /// Workers by when they look up next; of equals the one that was told first.
    events: BinaryHeap<Reverse<(Time, u64, usize)>>,
    told: u64,
    running: Vec<Option<TaskId>>,
    idle: Vec<bool>,
    /// By task: who ran it, for how many tasks it waits, who counted last.
    ran_on: Vec<usize>,
    waits: Vec<usize>,
    counted_by: Vec<Option<usize>>,
    done: usize,
    end: Time,
    pub(super) takes: u64,
}

impl<'a> World<'a> {
    /// All is still to be done.
    pub(super) fn new(dag: &'a Dag, moves: &'a MoveCosts, cores: usize) -> Self {
        Self {
            dag,
            moves,
            cores,
            events: BinaryHeap::new(),
            told: 0,
            running: vec![None; cores],
            idle: vec![false; cores],
            ran_on: vec![usize::MAX; dag.len()],
            waits: dag
                .tasks()
                .map(|task| dag.predecessors(task).len())
                .collect(),
            counted_by: vec![None; dag.len()],
            done: 0,
            end: 0,
            takes: 0,
        }
    }

    /// Plays to the end.
    pub(super) fn play(&mut self, protocol: &mut impl Protocol) {
        for worker in 0..self.cores {
            self.look(worker, self.starts(worker));
        }
        while self.done < self.dag.len() {
            let Some(Reverse((now, _, worker))) = self.events.pop() else {
                return;
            };
            let mut now = now;
            if let Some(task) = self.running[worker].take() {
                self.done += 1;
                // The host sees the last count where it is not its own.
                let seen = if worker == 0 { 0 } else { self.crossing(0) };
                self.end = self.end.max(now + seen);
                now = protocol.finish(self, worker, task, now);
                if self.done == self.dag.len() {
                    return;
                }
            }
            match protocol.next(self, worker, now) {
                Next::Run(task, at) => {
                    self.ran_on[task.at()] = worker;
                    self.running[worker] = Some(task);
                    let over = at + self.lasts(task, worker);
                    self.look(worker, over);
                }
                Next::Again(at) => self.look(worker, at.max(now + 1)),
                Next::Idle => self.idle[worker] = true,
            }
        }
    }

    /// When a worker begins: the first wakes the others, one after another.
    fn starts(&self, worker: usize) -> Time {
        let (wake, woken) = self.moves.wake;
        let before = time(wake) * (self.cores as u64 - 1).min(worker as u64);
        match worker {
            0 => time(wake) * (self.cores as u64 - 1),
            _ if woken > 0.0 => before + time(woken),
            _ => self.crossing(0),
        }
    }

    fn look(&mut self, worker: usize, at: Time) {
        self.told += 1;
        self.events.push(Reverse((at, self.told, worker)));
    }

    /// Up to `count` workers that have nothing to do see, a crossing after `now`, that there is something.
    pub(super) fn call(&mut self, from: usize, count: usize, now: Time) {
        let at = now + self.crossing(0);
        let others = (1..self.cores).map(|i| (from + i) % self.cores);
        let idle: Vec<usize> = others.filter(|w| self.idle[*w]).take(count).collect();
        for worker in idle {
            self.idle[worker] = false;
            self.look(worker, at);
        }
    }

    /// What handing so many bytes to another core costs.
    fn crossing(&self, bytes: u32) -> Time {
        time(self.moves.link.transfer_time(bytes).0 as f64)
    }

    /// How long `task` keeps `worker`: with what it must fetch from other cores.
    fn lasts(&self, task: TaskId, worker: usize) -> Time {
        let from_others = self.dag.predecessors(task).iter();
        let from_others = from_others.filter(|arc| self.ran_on[arc.task.at()] != worker);
        let bytes = from_others.map(|arc| arc.bytes).reduce(u32::saturating_add);
        let fetched = bytes.map_or(0, |bytes| self.crossing(bytes));
        time(self.moves.dispatch) + fetched + time(self.dag.cost(task).0 as f64)
    }

    /// `worker` counts `steps` off for `task`: what that costs, and whether those were the last.
    pub(super) fn count_off(&mut self, task: TaskId, worker: usize, steps: usize) -> (Time, bool) {
        let last = self.counted_by[task.at()].replace(worker);
        let is_remote = last.is_some_and(|last| last != worker);
        let waits = &mut self.waits[task.at()];
        *waits -= steps;
        let cost = if is_remote { time(self.moves.claim) } else { 0 };
        (cost, *waits == 0)
    }

    /// What came of it.
    pub(super) fn predicted(&self) -> Prediction {
        let all = self.end as f64 / 1000.0;
        let busy = self.dag.total_cost().0 as f64;
        Prediction {
            cycle_ns: all + self.moves.cycle,
            takes: self.takes,
            busy: busy / (all * self.cores as f64).max(1.0),
        }
    }
}

/// Something that one core has at a time: a line of cache, a lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    free: Time,
    owner: usize,
}

impl Line {
    /// Nobody's yet.
    pub(super) const NEW: Self = Self {
        free: 0,
        owner: usize::MAX,
    };

    /// `worker` wants it at `now` for as long as `held`; who was not the last one pays `moved` before. When it is done.
    pub(super) fn take(&mut self, worker: usize, now: Time, (held, moved): (Time, Time)) -> Time {
        let moved = if self.owner == worker || self.owner == usize::MAX {
            0
        } else {
            moved
        };
        self.owner = worker;
        self.free = self.free.max(now) + moved + held;
        self.free
    }
}
