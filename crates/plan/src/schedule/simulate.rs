//! A replay of a schedule, with costs that may differ from those that it was made for.

use super::{Dag, MachineModel, Schedule, ScheduledTask};
use crate::TaskId;
use units::Nanos;

/// Times of every task in a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedRun {
    /// Start time by task; of several copies the first start.
    pub start: Vec<Nanos>,
    /// Finish time by task; of several copies the first finish.
    pub finish: Vec<Nanos>,
    /// Finish time of the last task.
    pub makespan: Nanos,
    /// For each worker its tasks in their order, with times.
    pub by_worker: Vec<Vec<ScheduledTask>>,
}

impl SimulatedRun {
    /// The replay as a schedule.
    pub fn to_schedule(&self) -> Schedule {
        Schedule {
            by_worker: self.by_worker.clone(),
            makespan: self.makespan,
            abridged: false,
        }
    }
}

/// Runs the tasks of each worker in their order, as an executor does: each task waits for the worker and for its data,
/// which may come from any copy of a predecessor. Real-time: setup.
///
/// Returns `None` if workers wait for each other in a cycle, a task is missing or twice on one worker, or there are more
/// rows than the machine has workers.
pub fn simulate(
    dag: &Dag,
    machine: &MachineModel,
    by_worker: &[Vec<TaskId>],
    cost: impl Fn(TaskId) -> Nanos,
) -> Option<SimulatedRun> {
    let mut replay = Replay::new(dag, machine, by_worker)?;
    // The earliest start of all is final: tasks that have not run yet finish later, and cannot make it earlier.
    while let Some((start, worker)) = replay.earliest() {
        replay.run(worker, start, &cost);
    }
    replay.result()
}

struct Replay<'a> {
    dag: &'a Dag,
    machine: &'a MachineModel,
    tasks: &'a [Vec<TaskId>],
    /// By task: the copies that have run, as (worker, finish).
    finished: Vec<Vec<(usize, Nanos)>>,
    /// By task: predecessors of which no copy has run.
    missing: Vec<u32>,
    workers: Vec<WorkerProgress>,
    times: Vec<Vec<ScheduledTask>>,
}

/// Progress of one worker.
#[derive(Clone, Copy, Default)]
struct WorkerProgress {
    /// Index of its next task.
    next: usize,
    free: Nanos,
    /// Start time of the next task, as far as it is known; `None` while data of a predecessor is missing.
    start: Option<Nanos>,
}

impl<'a> Replay<'a> {
    fn new(dag: &'a Dag, machine: &'a MachineModel, tasks: &'a [Vec<TaskId>]) -> Option<Self> {
        if tasks.len() > machine.workers() {
            return None;
        }
        let mut last_worker = vec![usize::MAX; dag.len()];
        for (worker, tasks) in tasks.iter().enumerate() {
            for task in tasks {
                let known = last_worker.get_mut(task.index())?;
                if *known == worker {
                    return None;
                }
                *known = worker;
            }
        }
        if last_worker.contains(&usize::MAX) {
            return None;
        }
        let mut replay = Self {
            finished: vec![Vec::new(); dag.len()],
            missing: dag.predecessor_counts(),
            workers: vec![WorkerProgress::default(); tasks.len()],
            times: tasks.iter().map(|t| Vec::with_capacity(t.len())).collect(),
            dag,
            machine,
            tasks,
        };
        (0..tasks.len()).for_each(|worker| replay.update_start(worker));
        Some(replay)
    }

    fn next_task(&self, worker: usize) -> Option<TaskId> {
        self.tasks[worker].get(self.workers[worker].next).copied()
    }

    /// Computes when the next task of `worker` can start.
    fn update_start(&mut self, worker: usize) {
        let next = self.next_task(worker);
        let next = next.filter(|task| self.missing[task.index()] == 0);
        self.workers[worker].start = next.map(|task| {
            let copies = |from: TaskId| &self.finished[from.index()][..];
            let ready = self.machine.data_ready(self.dag, task, worker, copies);
            ready.max(self.workers[worker].free)
        });
    }

    /// The worker whose next task starts first, and when.
    fn earliest(&self) -> Option<(Nanos, usize)> {
        let workers = self.workers.iter().enumerate();
        let starts = workers.filter_map(|(worker, progress)| Some((progress.start?, worker)));
        starts.min()
    }

    fn run(&mut self, worker: usize, start: Nanos, cost: impl Fn(TaskId) -> Nanos) {
        let Some(task) = self.next_task(worker) else {
            return;
        };
        let scheduled = ScheduledTask::new(task, start, cost(task));
        self.times[worker].push(scheduled);
        let copies = &mut self.finished[task.index()];
        copies.push((worker, scheduled.finish));
        let is_first = copies.len() == 1;
        self.workers[worker].next += 1;
        self.workers[worker].free = scheduled.finish;
        let dag = self.dag;
        if is_first {
            for edge in dag.successors(task) {
                self.missing[edge.task.index()] -= 1;
            }
        }
        for other in 0..self.tasks.len() {
            let reads = |next: TaskId| {
                let predecessors = dag.predecessors(next);
                (predecessors.binary_search_by_key(&task, |edge| edge.task)).is_ok()
            };
            if other == worker || self.next_task(other).is_some_and(reads) {
                self.update_start(other);
            }
        }
    }

    fn result(self) -> Option<SimulatedRun> {
        let mut all = self.times.iter().zip(self.tasks);
        if !all.all(|(run, tasks)| run.len() == tasks.len()) {
            return None;
        }
        let never = vec![Nanos(u64::MAX); self.dag.len()];
        let mut simulated = SimulatedRun {
            start: never.clone(),
            finish: never,
            makespan: Nanos(0),
            by_worker: Vec::new(),
        };
        for scheduled in self.times.iter().flatten() {
            let at = scheduled.task.index();
            simulated.start[at] = simulated.start[at].min(scheduled.start);
            simulated.finish[at] = simulated.finish[at].min(scheduled.finish);
            simulated.makespan = simulated.makespan.max(scheduled.finish);
        }
        simulated.by_worker = self.times;
        Some(simulated)
    }
}
