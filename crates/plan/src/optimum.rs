//! The best schedule there is, for graphs small enough to try them all: the oracle for the others.

use crate::etf::etf;
use crate::levels::sum;
use crate::schedule::{Schedule, ScheduledTask};
use crate::{Dag, MachineModel, TaskId};
use std::collections::HashSet;
use units::Nanos;

/// The shortest schedule without copies. `None` where more than `limit` partial schedules would have to be looked at;
/// up to 10 tasks on 3 workers a million are enough for nearly all graphs.
///
/// Branch and bound: tasks are placed in the order of their starts, each ready one on each worker; a partial schedule
/// is given up where the work that is left, or the longest way that is left, cannot end before the best one known.
pub fn optimal(dag: &Dag, machine: &MachineModel, limit: u64) -> Option<Schedule> {
    let mut best = etf(dag, machine);
    let one = alone(dag, machine);
    if one.makespan < best.makespan {
        best = one;
    }
    let mut search = Search {
        levels: dag.static_levels(),
        bound: dag.lower_bound(machine.workers()),
        placed: vec![None; dag.len()],
        lanes: Schedule::new(machine.workers()).by_worker,
        looked_at: 0,
        seen: HashSet::new(),
        dag,
        machine,
        limit,
        best,
    };
    search.go(dag.len(), dag.total_cost(), Nanos(0));
    (search.looked_at <= limit).then_some(search.best)
}

/// All tasks on the first worker.
fn alone(dag: &Dag, machine: &MachineModel) -> Schedule {
    let mut schedule = Schedule::new(machine.workers());
    for task in dag.tasks() {
        let start = schedule.makespan;
        let finish = sum(start, dag.cost(task));
        schedule.push(
            0,
            ScheduledTask {
                task,
                start,
                finish,
            },
        );
    }
    schedule
}

/// What decides all that can still follow from a partial schedule.
type Rest = (Vec<Option<(usize, Nanos)>>, Vec<Nanos>, Nanos);

struct Search<'a> {
    dag: &'a Dag,
    machine: &'a MachineModel,
    levels: Vec<Nanos>,
    bound: Nanos,
    placed: Vec<Option<(usize, Nanos)>>,
    lanes: Vec<Vec<ScheduledTask>>,
    looked_at: u64,
    limit: u64,
    /// Partial schedules from which the same follows as from one that was tried: (where each task that others wait for
    /// ended, when each worker is free, the latest start).
    seen: HashSet<Rest>,
    best: Schedule,
}

impl Search<'_> {
    /// Tries all ways to place the `left` tasks, which cost `work` together, none of them before `now`.
    fn go(&mut self, left: usize, work: Nanos, now: Nanos) {
        self.looked_at += 1;
        if self.looked_at > self.limit || self.best.makespan == self.bound {
            return;
        }
        if left == 0 {
            return self.keep();
        }
        if self.is_hopeless(work, now) || !self.seen.insert(self.rest(now)) {
            return;
        }
        for (start, worker, task) in self.ways(now) {
            let cost = self.dag.cost(task);
            let finish = sum(start, cost);
            self.placed[task.index()] = Some((worker, finish));
            self.lanes[worker].push(ScheduledTask {
                task,
                start,
                finish,
            });
            self.go(left - 1, Nanos(work.0.saturating_sub(cost.0)), start);
            self.lanes[worker].pop();
            self.placed[task.index()] = None;
        }
    }

    fn keep(&mut self) {
        let makespan = self.lanes.iter().map(|lane| end(lane)).max();
        let makespan = makespan.unwrap_or_default();
        if makespan < self.best.makespan {
            self.best.by_worker.clone_from(&self.lanes);
            self.best.makespan = makespan;
        }
    }

    /// Whether nothing shorter than the best can come of it.
    fn is_hopeless(&self, work: Nanos, now: Nanos) -> bool {
        let free = self.lanes.iter().map(|lane| end(lane).max(now));
        let share = free.fold(work, sum).0.div_ceil(self.lanes.len() as u64);
        let ways = self
            .dag
            .tasks()
            .filter(|t| self.placed[t.index()].is_none());
        let ways = ways.map(|task| {
            let parents = self.dag.predecessors(task).iter();
            let there = parents.filter_map(|arc| self.placed[arc.task.index()]);
            let ready = there.map(|(_, finish)| finish).max().unwrap_or(now);
            sum(ready.max(now), self.levels[task.index()])
        });
        let longest = ways.max().unwrap_or_default();
        longest.max(Nanos(share)) >= self.best.makespan
    }

    fn rest(&self, now: Nanos) -> Rest {
        let free = self.lanes.iter().map(|lane| end(lane)).collect();
        let matters = |task: TaskId| {
            let after = self.dag.successors(task);
            let waits = |arc: &crate::DagEdge| self.placed[arc.task.index()].is_none();
            match self.placed[task.index()] {
                Some(_) if !after.iter().any(waits) => Some((usize::MAX, Nanos(0))),
                there => there,
            }
        };
        (self.dag.tasks().map(matters).collect(), free, now)
    }

    /// Every ready task on every worker where it starts no earlier than `now`; the earliest first. Of workers with
    /// nothing to do and equal links the first will do.
    fn ways(&self, now: Nanos) -> Vec<(Nanos, usize, TaskId)> {
        let mut ways = Vec::new();
        for task in self
            .dag
            .tasks()
            .filter(|t| self.placed[t.index()].is_none())
        {
            let parents = self.dag.predecessors(task).iter();
            let parents = parents.map(|arc| Some((self.placed[arc.task.index()]?, arc.bytes)));
            let Some(parents) = parents.collect::<Option<Vec<_>>>() else {
                continue;
            };
            let mut has_empty = false;
            for (worker, lane) in self.lanes.iter().enumerate() {
                if lane.is_empty() && self.machine.is_uniform() && has_empty {
                    continue;
                }
                has_empty |= lane.is_empty();
                let there = parents.iter().map(|((from, finish), bytes)| {
                    sum(*finish, self.machine.transfer_time(*from, worker, *bytes))
                });
                let start = there.fold(end(lane), Nanos::max);
                if start >= now {
                    ways.push((start, worker, task));
                }
            }
        }
        ways.sort_unstable();
        ways
    }
}

fn end(lane: &[ScheduledTask]) -> Nanos {
    lane.last().map_or(Nanos(0), |placed| placed.finish)
}
