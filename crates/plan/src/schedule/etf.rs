//! ETF, earliest time first (Hwang, Chow, Anger and Lee, "Scheduling precedence graphs in systems with interprocessor
//! communication times", SIAM J. Computing 18(2), 1989).
//!
//! The paper compares every ready task on every worker in every step. The same choice is found faster: the data of a
//! ready task arrives at a worker at a time that does not change any more, and each placement changes the free time of
//! one worker only. So each worker keeps the ready tasks in two heaps, and the best pair is among their heads:
//!
//! ```text
//!                      worker is free
//!                           |
//!   arrived, by level  <----+---->  arriving, by arrival time
//!   [ 5 | 9 | 2 ]                   [ 7 | 4 ]
//!     starts when the worker          starts when its data
//!     is free                         arrives
//! ```

use super::{Dag, MachineModel, Schedule, ScheduledTask};
use crate::TaskId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Nanos;

/// Schedules, again and again, the ready task and the worker with the earliest start: when the worker is free and all data
/// has arrived. Of equal starts the task with the higher static level, then the first task, then the first worker.
///
/// Where HLFET asks which task is most urgent and then looks for a worker, ETF never leaves a worker idle that could
/// start something; its makespan is at most `(2 - 1/p)` times the optimum without transfers, plus the transfers on one
/// path. Real-time: setup.
pub fn etf(dag: &Dag, machine: &MachineModel) -> Schedule {
    let mut search = EtfSearch::new(dag, machine);
    while let Some((worker, task, start)) = search.earliest() {
        search.place(worker, task, start);
    }
    search.schedule
}

/// Rank of a ready task among those that can start at the same time: the greatest goes first.
type Rank = (Nanos, Reverse<TaskId>);

/// The ready tasks, ordered for one worker.
#[derive(Default)]
struct ReadyTasks {
    /// Time at which the worker is free.
    free: Nanos,
    /// Tasks whose data is there when the worker is free. May hold some that other workers have taken.
    arrived: BinaryHeap<Rank>,
    /// Tasks whose data arrives later, the earliest on top. Likewise.
    arriving: BinaryHeap<(Reverse<Nanos>, Rank)>,
}

struct EtfSearch<'a> {
    dag: &'a Dag,
    machine: &'a MachineModel,
    levels: Vec<Nanos>,
    /// By task: predecessors that are not scheduled.
    missing: Vec<u32>,
    /// By task: its worker and finish time.
    placed: Vec<Option<(usize, Nanos)>>,
    workers: Vec<ReadyTasks>,
    schedule: Schedule,
}

impl<'a> EtfSearch<'a> {
    fn new(dag: &'a Dag, machine: &'a MachineModel) -> Self {
        let workers = machine.workers();
        let mut search = Self {
            dag,
            machine,
            levels: dag.static_levels(),
            missing: dag.predecessor_counts(),
            placed: vec![None; dag.len()],
            workers: (0..workers).map(|_| ReadyTasks::default()).collect(),
            schedule: Schedule::new(workers),
        };
        for task in dag.tasks().filter(|t| dag.predecessors(*t).is_empty()) {
            search.add_ready(task);
        }
        search
    }

    /// Puts a task that has become ready into the heaps of every worker.
    fn add_ready(&mut self, task: TaskId) {
        let rank = (self.levels[task.index()], Reverse(task));
        for (worker, ready) in self.workers.iter_mut().enumerate() {
            let copies = |from: TaskId| self.placed[from.index()].as_slice();
            let arrival = self.machine.data_ready(self.dag, task, worker, copies);
            if arrival <= ready.free {
                ready.arrived.push(rank);
            } else {
                ready.arriving.push((Reverse(arrival), rank));
            }
        }
    }

    /// The worker and the task that can start first, and when.
    fn earliest(&mut self) -> Option<(usize, TaskId, Nanos)> {
        let placed = &self.placed;
        let workers = self.workers.iter_mut().enumerate();
        let offers = workers.filter_map(|(worker, ready)| {
            let (start, (level, Reverse(task))) = ready.first(placed)?;
            Some((start, Reverse(level), task, worker))
        });
        let (start, _, task, worker) = offers.min()?;
        Some((worker, task, start))
    }

    fn place(&mut self, worker: usize, task: TaskId, start: Nanos) {
        let scheduled = ScheduledTask::new(task, start, self.dag.cost(task));
        self.placed[task.index()] = Some((worker, scheduled.finish));
        self.workers[worker].occupy_until(scheduled.finish);
        self.schedule.push(worker, scheduled);
        let dag = self.dag;
        for edge in dag.successors(task) {
            let missing = &mut self.missing[edge.task.index()];
            *missing -= 1;
            if *missing == 0 {
                self.add_ready(edge.task);
            }
        }
    }
}

impl ReadyTasks {
    /// The task that this worker would start next, and when. Drops tasks that are placed from the heads of the heaps.
    fn first(&mut self, placed: &[Option<(usize, Nanos)>]) -> Option<(Nanos, Rank)> {
        let is_placed = |rank: &Rank| placed[rank.1.0.index()].is_some();
        while self.arrived.peek().is_some_and(is_placed) {
            self.arrived.pop();
        }
        if let Some(rank) = self.arrived.peek() {
            return Some((self.free, *rank));
        }
        while (self.arriving.peek()).is_some_and(|(_, rank)| is_placed(rank)) {
            self.arriving.pop();
        }
        let (Reverse(arrival), rank) = self.arriving.peek()?;
        Some((*arrival, *rank))
    }

    /// Makes the worker free at `time` only: tasks whose data arrives by then have arrived.
    fn occupy_until(&mut self, time: Nanos) {
        self.free = time;
        while let Some((Reverse(arrival), rank)) = self.arriving.peek()
            && *arrival <= time
        {
            self.arrived.push(*rank);
            self.arriving.pop();
        }
    }
}
