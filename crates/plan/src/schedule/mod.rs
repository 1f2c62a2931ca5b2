//! Static schedulers: each maps a [`Dag`] of tasks to a [`Schedule`], and knows nothing of audio.
//!
//! | file | scheduler | idea |
//! |---|---|---|
//! | `hlfet` | HLFET with CP/MISF | the ready task with the longest remaining path first |
//! | `etf` | ETF | the pair of ready task and worker that can start earliest |
//! | `cpfd/` | CPFD | copies a task to where its data would arrive too late |
//! | `random` | random list | a control: shows what the order of ready tasks gains |
//! | `optimal` | branch and bound | the shortest schedule of a small graph: the oracle of the tests |
//!
//! | file | what they share |
//! |---|---|
//! | `dag`, `dag_from_plan` | tasks, their costs, and the bytes between them |
//! | `machine` | what it costs to move these bytes from worker to worker |
//! | `levels` | t-level, b-level, static level, critical path, lower bound |
//! | `list` | the list scheduling loop of `hlfet` and `random` |
//! | `simulate` | a replay of a schedule with other costs |
//! | `fusion` | how many steps make one task |
//!
//! Names and definitions are those of Kwok and Ahmad, "Static scheduling algorithms for allocating directed task graphs
//! to multiprocessors", ACM Computing Surveys 31(4), 1999.

mod cpfd;
mod dag;
mod dag_from_plan;
mod etf;
mod fusion;
mod hlfet;
mod levels;
mod list;
mod machine;
mod optimal;
mod random;
mod simulate;

pub use cpfd::cpfd;
pub use dag::{Dag, DagEdge};
pub use etf::etf;
pub use fusion::FusionOptions;
pub(crate) use fusion::fuse;
pub use hlfet::hlfet;
pub use machine::{Link, MachineModel};
pub use optimal::optimal;
pub use random::random;
pub use simulate::{SimulatedRun, simulate};

use crate::TaskId;
use units::Nanos;

/// One task in a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduledTask {
    /// The task.
    pub task: TaskId,
    /// Start time, from the start of the cycle.
    pub start: Nanos,
    /// Finish time.
    pub finish: Nanos,
}

impl ScheduledTask {
    /// A task that takes `cost` from `start` on.
    pub(crate) fn new(task: TaskId, start: Nanos, cost: Nanos) -> Self {
        Self {
            task,
            start,
            finish: start.saturating_add(cost),
        }
    }
}

/// Assignment of tasks to workers and times, on the assumption that every task takes exactly its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// For each worker its tasks, in order. A task of several workers is duplicated.
    pub by_worker: Vec<Vec<ScheduledTask>>,
    /// Finish time of the last task.
    pub makespan: Nanos,
    /// True if the scheduler skipped part of its search because the graph is too large.
    pub abridged: bool,
}

impl Schedule {
    /// No task on any worker.
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            by_worker: vec![Vec::new(); workers],
            makespan: Nanos(0),
            abridged: false,
        }
    }

    /// Appends to the tasks of a worker.
    pub(crate) fn push(&mut self, worker: usize, scheduled: ScheduledTask) {
        self.makespan = self.makespan.max(scheduled.finish);
        self.by_worker[worker].push(scheduled);
    }

    /// The order of tasks without times, as in [`Plan::worker_tasks`](crate::Plan::worker_tasks).
    pub fn task_order(&self) -> Vec<Vec<TaskId>> {
        let ids = |tasks: &Vec<ScheduledTask>| tasks.iter().map(|s| s.task).collect();
        self.by_worker.iter().map(ids).collect()
    }

    /// Number of copies beside the first of each task.
    pub fn duplicate_count(&self) -> usize {
        let mut all: Vec<TaskId> = self.by_worker.iter().flatten().map(|s| s.task).collect();
        let scheduled = all.len();
        all.sort_unstable();
        all.dedup();
        scheduled - all.len()
    }

    /// Checks that this is a valid schedule of `dag` on `machine`:
    ///
    /// - every task is scheduled; only duplicable tasks are on several workers, and never twice on one;
    /// - every task takes its cost, and starts after the task before it on its worker has finished;
    /// - every task starts after its data has arrived, for each predecessor from the copy whose data arrives first.
    ///
    /// # Errors
    ///
    /// A sentence on the first violation.
    pub fn check(&self, dag: &Dag, machine: &MachineModel) -> Result<(), String> {
        if self.by_worker.len() != machine.workers() {
            return Err(format!("tasks for {} workers", self.by_worker.len()));
        }
        let mut copies: Vec<Vec<(usize, Nanos)>> = vec![Vec::new(); dag.len()];
        let mut makespan = Nanos(0);
        for (worker, tasks) in self.by_worker.iter().enumerate() {
            let mut free = Nanos(0);
            for scheduled in tasks {
                let task = scheduled.task;
                let known = copies.get_mut(task.index());
                let known = known.ok_or(format!("there is no {task:?}"))?;
                let expected = ScheduledTask::new(task, scheduled.start, dag.cost(task));
                if scheduled.start < free || *scheduled != expected {
                    return Err(format!("{scheduled:?} does not fit on worker {worker}"));
                }
                if known.last().is_some_and(|(other, _)| *other == worker) {
                    return Err(format!("{task:?} is twice on worker {worker}"));
                }
                known.push((worker, scheduled.finish));
                free = scheduled.finish;
            }
            makespan = makespan.max(free);
        }
        if let Some(task) = dag.tasks().find(|task| copies[task.index()].is_empty()) {
            return Err(format!("{task:?} is missing"));
        }
        let is_duplicated = |task: &TaskId| copies[task.index()].len() > 1;
        if let Some(task) = dag
            .tasks()
            .find(|t| is_duplicated(t) && !dag.is_duplicable(*t))
        {
            return Err(format!("{task:?} must not have copies"));
        }
        for (worker, tasks) in self.by_worker.iter().enumerate() {
            for scheduled in tasks {
                let ready = machine.data_ready(dag, scheduled.task, worker, |t| &copies[t.index()]);
                if ready > scheduled.start {
                    return Err(format!("{scheduled:?} starts before its data has arrived"));
                }
            }
        }
        match makespan == self.makespan {
            true => Ok(()),
            false => Err(format!("the makespan is {makespan:?}")),
        }
    }
}
