//! Work stealing as the executor does it: first tasks dealt out, own queues, one released task kept, meetings of many
//! tasks counted off late.

use super::costs::At;
use super::world::{Next, Protocol, Time, World, time};
use divisi::plan::{Dag, TaskId};
use std::collections::VecDeque;

/// A task that waits for so many is counted off late.
const WIDE: usize = 8;

/// The queues.
pub(super) struct Stealing {
    dealt: Vec<Vec<TaskId>>,
    queues: Vec<VecDeque<TaskId>>,
    kept: Vec<Option<TaskId>>,
    /// For each worker, the meeting that it has not counted off yet, and how often.
    debts: Vec<Option<(TaskId, usize)>>,
    /// For each task, a wide meeting that it leads to.
    meetings: Vec<Option<TaskId>>,
}

impl Stealing {
    /// With the tasks that wait for nothing dealt out.
    pub(super) fn new(dag: &Dag, workers: usize) -> Self {
        Self {
            dealt: deal(dag, workers),
            queues: vec![VecDeque::new(); workers],
            kept: vec![None; workers],
            debts: vec![None; workers],
            meetings: meetings(dag),
        }
    }

    /// Counts off what `worker` owes; a meeting that is ready now goes into its queue.
    fn pay(&mut self, world: &mut World<'_>, worker: usize) -> Time {
        let Some((meeting, steps)) = self.debts[worker].take() else {
            return 0;
        };
        let (cost, is_ready) = world.count_off(meeting, worker, steps);
        if is_ready {
            self.queues[worker].push_back(meeting);
        }
        cost
    }

    /// The list dealt to `of`: its last task, the others into the queue of `worker`.
    fn take_dealt(&mut self, worker: usize, of: usize) -> Option<TaskId> {
        let mut list = std::mem::take(&mut self.dealt[of]);
        let last = list.pop()?;
        self.queues[worker].extend(list);
        Some(last)
    }

    fn own(&mut self, worker: usize) -> Option<TaskId> {
        let kept = self.kept[worker].take();
        kept.or_else(|| self.take_dealt(worker, worker))
            .or_else(|| self.queues[worker].pop_back())
    }

    fn steal(&mut self, worker: usize) -> Option<TaskId> {
        let workers = self.queues.len();
        (1..workers)
            .map(|i| (worker + i) % workers)
            .find_map(|other| {
                self.take_dealt(worker, other)
                    .or_else(|| self.queues[other].pop_front())
            })
    }
}

impl Protocol for Stealing {
    fn finish(&mut self, world: &mut World<'_>, worker: usize, task: TaskId, now: Time) -> Time {
        let mut now = now;
        let queued = self.queues[worker].len();
        for arc in world.dag.successors(task) {
            let waits_for = world.dag.predecessors(arc.task).len();
            if waits_for >= WIDE {
                if self.debts[worker].is_some_and(|(meeting, _)| meeting != arc.task) {
                    now += self.pay(world, worker);
                }
                let debt = self.debts[worker].get_or_insert((arc.task, 0));
                debt.1 += 1;
                continue;
            }
            let (cost, is_ready) = world.count_off(arc.task, worker, 1);
            now += cost;
            if is_ready {
                match self.kept[worker] {
                    None => self.kept[worker] = Some(arc.task),
                    Some(_) => self.queues[worker].push_back(arc.task),
                }
            }
        }
        let more = self.queues[worker].len().saturating_sub(queued);
        world.call(worker, more, now);
        now
    }

    fn next(&mut self, world: &mut World<'_>, worker: usize, now: Time) -> Next {
        let mut now = now;
        let mine = self.own(worker).or_else(|| {
            now += self.pay(world, worker);
            self.queues[worker].pop_back()
        });
        if let Some(task) = mine {
            let meeting = self.meetings[task.at()];
            if self.debts[worker].is_some_and(|(owed, _)| Some(owed) != meeting) {
                now += self.pay(world, worker);
                let ready = self.queues[worker].len();
                world.call(worker, ready.min(1), now);
            }
            return Next::Run(task, now);
        }
        match self.steal(worker) {
            Some(task) => {
                world.takes += 1;
                let now = now + time(world.moves.steal);
                // What came along with a dealt list can be stolen on.
                world.call(worker, self.queues[worker].len(), now);
                Next::Run(task, now)
            }
            None => Next::Idle,
        }
    }
}

/// Neighbours stay together, each list has its share of the work that hangs on it, the most urgent comes last.
fn deal(dag: &Dag, workers: usize) -> Vec<Vec<TaskId>> {
    let levels: Vec<u64> = dag.static_levels().iter().map(|level| level.0).collect();
    let sources: Vec<TaskId> = dag
        .tasks()
        .filter(|task| dag.predecessors(*task).is_empty())
        .collect();
    let weight = |task: TaskId| levels[task.at()].max(1);
    let total: u64 = sources.iter().map(|task| weight(*task)).sum();
    let mut lists = vec![Vec::new(); workers];
    let mut dealt = 0;
    for task in sources {
        let middle = dealt + weight(task) / 2;
        let share = u128::from(middle) * workers as u128 / u128::from(total.max(1));
        lists[(share as usize).min(workers - 1)].push(task);
        dealt += weight(task);
    }
    for list in &mut lists {
        list.sort_by_key(|task| weight(*task));
    }
    lists
}

/// For each task, the first wide meeting on some way from it to the end.
fn meetings(dag: &Dag) -> Vec<Option<TaskId>> {
    let mut meetings: Vec<Option<TaskId>> = vec![None; dag.len()];
    for task in dag.tasks().rev() {
        let next = dag.successors(task).iter().filter_map(|arc| {
            if dag.predecessors(arc.task).len() >= WIDE {
                Some(arc.task)
            } else {
                meetings[arc.task.at()]
            }
        });
        meetings[task.at()] = next.min();
    }
    meetings
}
