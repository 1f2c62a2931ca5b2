//! Earliest time first: of all tasks that are ready and all workers, the two that can start together soonest.
//!
//! Hwang, Chow, Anger and Lee 1989. A ready task's data is on a worker at a time that does not change any more, and
//! with each placement only one worker's free time does. So each worker keeps the ready tasks in two heaps: those whose
//! data is there, by level, and those whose data is still under way, by its arrival. The best pair is among the heads.

use crate::levels::sum;
use crate::schedule::{Schedule, ScheduledTask};
use crate::{Dag, MachineModel, TaskId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Nanos;

/// Places, one after the other, the ready task and the worker that give the earliest start: when the worker is free
/// and all data is there. Of equal ones the task with the higher static level, then the first task, then the first
/// worker.
pub fn etf(dag: &Dag, machine: &MachineModel) -> Schedule {
    let mut search = Search::new(dag, machine);
    while let Some((worker, task, start)) = search.best() {
        search.place(worker, task, start);
    }
    search.schedule
}

/// A ready task's rank among those that can start at the same time: the greatest goes first.
type Rank = (Nanos, Reverse<TaskId>);

/// What one worker could start.
#[derive(Default)]
struct Desk {
    free: Nanos,
    /// Ready tasks whose data is here when the worker is free. May hold some that others have taken.
    here: BinaryHeap<Rank>,
    /// Those whose data comes later, the first to come on top.
    coming: BinaryHeap<(Reverse<Nanos>, Rank)>,
}

struct Search<'a> {
    dag: &'a Dag,
    machine: &'a MachineModel,
    levels: Vec<Nanos>,
    waits: Vec<u32>,
    /// By task: the worker, and when it is over there.
    placed: Vec<Option<(usize, Nanos)>>,
    desks: Vec<Desk>,
    schedule: Schedule,
}

impl<'a> Search<'a> {
    fn new(dag: &'a Dag, machine: &'a MachineModel) -> Self {
        let mut search = Self {
            dag,
            machine,
            levels: dag.static_levels(),
            waits: dag
                .tasks()
                .map(|t| dag.predecessors(t).len() as u32)
                .collect(),
            placed: vec![None; dag.len()],
            desks: (0..machine.workers()).map(|_| Desk::default()).collect(),
            schedule: Schedule::new(machine.workers()),
        };
        for task in dag.tasks().filter(|t| dag.predecessors(*t).is_empty()) {
            search.offer(task);
        }
        search
    }

    /// Puts a task that is now ready on every desk.
    fn offer(&mut self, task: TaskId) {
        let rank = (self.levels[task.index()], Reverse(task));
        for worker in 0..self.desks.len() {
            let arrival = self.arrival(task, worker);
            let desk = &mut self.desks[worker];
            if arrival <= desk.free {
                desk.here.push(rank);
            } else {
                desk.coming.push((Reverse(arrival), rank));
            }
        }
    }

    /// When all that `task` reads is at `worker`.
    fn arrival(&self, task: TaskId, worker: usize) -> Nanos {
        let parents = self.dag.predecessors(task).iter();
        let arrivals = parents.filter_map(|arc| {
            let (from, finish) = self.placed[arc.task.index()]?;
            Some(sum(
                finish,
                self.machine.transfer_time(from, worker, arc.bytes),
            ))
        });
        arrivals.max().unwrap_or_default()
    }

    /// The worker and the task that can start first, and when.
    fn best(&mut self) -> Option<(usize, TaskId, Nanos)> {
        let placed = &self.placed;
        let offers = self
            .desks
            .iter_mut()
            .enumerate()
            .filter_map(|(worker, desk)| {
                let (start, (level, Reverse(task))) = desk.offer(placed)?;
                Some((start, Reverse(level), task, worker))
            });
        let (start, _, task, worker) = offers.min()?;
        Some((worker, task, start))
    }

    fn place(&mut self, worker: usize, task: TaskId, start: Nanos) {
        let finish = sum(start, self.dag.cost(task));
        self.placed[task.index()] = Some((worker, finish));
        self.desks[worker].go_on(finish);
        self.schedule.push(
            worker,
            ScheduledTask {
                task,
                start,
                finish,
            },
        );
        let dag = self.dag;
        for arc in dag.successors(task) {
            let waits = &mut self.waits[arc.task.index()];
            *waits -= 1;
            if *waits == 0 {
                self.offer(arc.task);
            }
        }
    }
}

impl Desk {
    /// What this worker would start next, and when.
    fn offer(&mut self, placed: &[Option<(usize, Nanos)>]) -> Option<(Nanos, Rank)> {
        let is_gone = |rank: &Rank| placed[rank.1.0.index()].is_some();
        while self.here.peek().is_some_and(is_gone) {
            self.here.pop();
        }
        if let Some(rank) = self.here.peek() {
            return Some((self.free, *rank));
        }
        while self.coming.peek().is_some_and(|(_, rank)| is_gone(rank)) {
            self.coming.pop();
        }
        let (Reverse(arrival), rank) = self.coming.peek()?;
        Some((*arrival, *rank))
    }

    /// Free only at `time` now: what has come by then is here.
    fn go_on(&mut self, time: Nanos) {
        self.free = time;
        while let Some((Reverse(arrival), rank)) = self.coming.peek()
            && *arrival <= time
        {
            self.here.push(*rank);
            self.coming.pop();
        }
    }
}
