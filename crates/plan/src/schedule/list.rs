//! List scheduling: the loop that HLFET and the random scheduler share.
//!
//! ```text
//! ready tasks, by priority     free workers
//!   [ 7 | 3 | 9 ]  ---------->  [ 0 | 2 ]       task 7 starts on worker 0
//!         ^                         ^
//!         | tasks become ready      | a worker becomes free
//!         +-------- the clock moves to the next finish time
//! ```

use super::{Dag, Schedule, ScheduledTask};
use crate::TaskId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Nanos;

/// Whenever a worker is free and a task is ready, starts the ready task of the highest `priority` (of equal ones the
/// first) on the free worker with the lowest number. Moving data costs nothing.
pub(super) fn list_schedule(
    dag: &Dag,
    workers: usize,
    priority: impl Fn(TaskId) -> (u64, u64),
) -> Schedule {
    let entry = |task: TaskId| (priority(task), Reverse(task));
    let mut missing = dag.predecessor_counts();
    let sources = dag.tasks().filter(|task| missing[task.index()] == 0);
    let mut ready: BinaryHeap<_> = sources.map(entry).collect();
    let mut clock = Clock::new(workers.max(1));
    loop {
        while !clock.free.is_empty()
            && let Some((_, Reverse(task))) = ready.pop()
        {
            clock.start(task, dag.cost(task));
        }
        let finished = clock.advance();
        if finished.is_empty() {
            return clock.schedule;
        }
        for edge in finished.iter().flat_map(|task| dag.successors(*task)) {
            let missing = &mut missing[edge.task.index()];
            *missing -= 1;
            if *missing == 0 {
                ready.push(entry(edge.task));
            }
        }
    }
}

/// Free and busy workers at a moment that moves from one finish time to the next.
struct Clock {
    free: BinaryHeap<Reverse<usize>>,
    busy: BinaryHeap<Reverse<(Nanos, usize, TaskId)>>,
    now: Nanos,
    schedule: Schedule,
}

impl Clock {
    fn new(workers: usize) -> Self {
        Self {
            free: (0..workers).map(Reverse).collect(),
            busy: BinaryHeap::new(),
            now: Nanos(0),
            schedule: Schedule::new(workers),
        }
    }

    fn start(&mut self, task: TaskId, cost: Nanos) {
        if let Some(Reverse(worker)) = self.free.pop() {
            let scheduled = ScheduledTask::new(task, self.now, cost);
            self.busy.push(Reverse((scheduled.finish, worker, task)));
            self.schedule.push(worker, scheduled);
        }
    }

    /// Moves to the next finish time and returns the tasks that finish then; none where no worker is busy.
    fn advance(&mut self) -> Vec<TaskId> {
        let mut finished = Vec::new();
        if let Some(Reverse((finish, ..))) = self.busy.peek() {
            self.now = *finish;
        }
        while let Some(Reverse((finish, worker, task))) = self.busy.peek().copied()
            && finish == self.now
        {
            self.busy.pop();
            self.free.push(Reverse(worker));
            finished.push(task);
        }
        finished
    }
}
