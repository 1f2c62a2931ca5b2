//! The shortest schedule, by branch and bound, for graphs small enough to try them all: the oracle of the tests.

use super::etf::etf;
use super::{Dag, DagEdge, MachineModel, Schedule, ScheduledTask};
use crate::TaskId;
use std::collections::HashSet;
use units::Nanos;

/// The shortest schedule without copies, or `None` if more than `limit` partial schedules would have to be visited. For up
/// to 10 tasks on 3 workers a million are enough for nearly all graphs. Real-time: setup.
///
/// Tasks are placed in the order of their start times, each ready task on each worker:
///
/// ```text
///                  (nothing)
///             /        |        \
///      A on 0       A on 1*     B on 0          * skipped: worker 1 is as empty as worker 0
///      /     \                  /     \
///  B on 0   B on 1         A on 0    A on 1*
/// ```
///
/// A branch is cut where the work that is left, or the longest path that is left, cannot finish before the best schedule
/// that is known (at first ETF's, or one worker's), and where the same state was visited before. DF/IHS of Kasahara and
/// Narita (1984) searches the same tree.
pub fn optimal(dag: &Dag, machine: &MachineModel, limit: u64) -> Option<Schedule> {
    let mut best = etf(dag, machine);
    let sequential = on_one_worker(dag, machine);
    if sequential.makespan < best.makespan {
        best = sequential;
    }
    let mut search = BranchAndBound {
        levels: dag.static_levels(),
        bound: dag.lower_bound(machine.workers()),
        placed: vec![None; dag.len()],
        by_worker: Schedule::new(machine.workers()).by_worker,
        visited: 0,
        seen: HashSet::new(),
        dag,
        machine,
        limit,
        best,
    };
    search.visit(dag.len(), dag.total_cost(), Nanos(0));
    (search.visited <= limit).then_some(search.best)
}

fn on_one_worker(dag: &Dag, machine: &MachineModel) -> Schedule {
    let mut schedule = Schedule::new(machine.workers());
    for task in dag.tasks() {
        let start = schedule.makespan;
        schedule.push(0, ScheduledTask::new(task, start, dag.cost(task)));
    }
    schedule
}

/// The worker and finish time of a task that is scheduled.
type Placement = Option<(usize, Nanos)>;

/// All that decides what can follow from a partial schedule: where each task that others wait for finished, when each
/// worker is free, the latest start.
type State = (Vec<Placement>, Vec<Nanos>, Nanos);

struct BranchAndBound<'a> {
    dag: &'a Dag,
    machine: &'a MachineModel,
    levels: Vec<Nanos>,
    bound: Nanos,
    placed: Vec<Placement>,
    by_worker: Vec<Vec<ScheduledTask>>,
    visited: u64,
    limit: u64,
    seen: HashSet<State>,
    best: Schedule,
}

impl BranchAndBound<'_> {
    /// Tries every placement of the `left` tasks, which cost `work` together, none of them before `now`.
    fn visit(&mut self, left: usize, work: Nanos, now: Nanos) {
        self.visited += 1;
        if self.visited > self.limit || self.best.makespan == self.bound {
            return;
        }
        if left == 0 {
            return self.keep_if_shorter();
        }
        if self.cannot_improve(work, now) || !self.seen.insert(self.state(now)) {
            return;
        }
        for (start, worker, task) in self.placements(now) {
            let scheduled = ScheduledTask::new(task, start, self.dag.cost(task));
            self.placed[task.index()] = Some((worker, scheduled.finish));
            self.by_worker[worker].push(scheduled);
            let work = work.0.saturating_sub(self.dag.cost(task).0);
            self.visit(left - 1, Nanos(work), start);
            self.by_worker[worker].pop();
            self.placed[task.index()] = None;
        }
    }

    fn keep_if_shorter(&mut self) {
        let makespan = self.by_worker.iter().map(|tasks| free_at(tasks)).max();
        let makespan = makespan.unwrap_or_default();
        if makespan < self.best.makespan {
            self.best.by_worker.clone_from(&self.by_worker);
            self.best.makespan = makespan;
        }
    }

    /// Returns true if no schedule that begins like this one is shorter than the best.
    fn cannot_improve(&self, work: Nanos, now: Nanos) -> bool {
        let free = self.by_worker.iter().map(|tasks| free_at(tasks).max(now));
        let total = free.fold(work, Nanos::saturating_add).0;
        let share = total.div_ceil(self.by_worker.len() as u64);
        let left = self
            .dag
            .tasks()
            .filter(|t| self.placed[t.index()].is_none());
        let paths = left.map(|task| {
            let predecessors = self.dag.predecessors(task).iter();
            let placed = predecessors.filter_map(|edge| self.placed[edge.task.index()]);
            let ready = placed.map(|(_, finish)| finish).max().unwrap_or(now);
            ready.max(now).saturating_add(self.levels[task.index()])
        });
        let longest = paths.max().unwrap_or_default();
        longest.max(Nanos(share)) >= self.best.makespan
    }

    fn state(&self, now: Nanos) -> State {
        let free = self.by_worker.iter().map(|tasks| free_at(tasks)).collect();
        let relevant = |task: TaskId| {
            let waits = |edge: &DagEdge| self.placed[edge.task.index()].is_none();
            match self.placed[task.index()] {
                Some(_) if !self.dag.successors(task).iter().any(waits) => {
                    Some((usize::MAX, Nanos(0)))
                }
                placement => placement,
            }
        };
        (self.dag.tasks().map(relevant).collect(), free, now)
    }

    /// Every ready task on every worker where it starts no earlier than `now`, the earliest start first. Of several
    /// workers without tasks, where all links are alike, only the first is tried.
    fn placements(&self, now: Nanos) -> Vec<(Nanos, usize, TaskId)> {
        let mut all = Vec::new();
        let is_placed = |edge: &DagEdge| self.placed[edge.task.index()].is_some();
        let left = self
            .dag
            .tasks()
            .filter(|t| self.placed[t.index()].is_none());
        for task in left.filter(|t| self.dag.predecessors(*t).iter().all(is_placed)) {
            let mut has_empty = false;
            for (worker, tasks) in self.by_worker.iter().enumerate() {
                if tasks.is_empty() && self.machine.is_uniform() && has_empty {
                    continue;
                }
                has_empty |= tasks.is_empty();
                let copies = |from: TaskId| self.placed[from.index()].as_slice();
                let ready = self.machine.data_ready(self.dag, task, worker, copies);
                let start = ready.max(free_at(tasks));
                if start >= now {
                    all.push((start, worker, task));
                }
            }
        }
        all.sort_unstable();
        all
    }
}

fn free_at(tasks: &[ScheduledTask]) -> Nanos {
    tasks.last().map_or(Nanos(0), |last| last.finish)
}
