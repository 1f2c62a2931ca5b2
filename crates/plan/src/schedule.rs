//! Schedules, what makes one sound, and the list schedulers that know nothing of links.

use crate::levels::sum;
use crate::{Dag, MachineModel, TaskId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Nanos;

/// One task in a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduledTask {
    /// Which.
    pub task: TaskId,
    /// When it starts, from the start of the cycle.
    pub start: Nanos,
    /// When it is over.
    pub finish: Nanos,
}

/// Which worker runs what when, if every task takes exactly what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// A worker's tasks, in order. A task that stands on several lanes has copies.
    pub by_worker: Vec<Vec<ScheduledTask>>,
    /// When the last one is over.
    pub makespan: Nanos,
    /// Whether the scheduler left out part of what it would have tried, because the graph is too large for it.
    pub abridged: bool,
}

impl Schedule {
    /// Nothing yet.
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            by_worker: vec![Vec::new(); workers],
            makespan: Nanos(0),
            abridged: false,
        }
    }

    /// Adds to the end of a lane.
    pub(crate) fn push(&mut self, lane: usize, placed: ScheduledTask) {
        self.makespan = self.makespan.max(placed.finish);
        self.by_worker[lane].push(placed);
    }

    /// The order alone: what [`Plan::worker_tasks`](crate::Plan::worker_tasks) has.
    pub fn task_order(&self) -> Vec<Vec<TaskId>> {
        let ids = |lane: &Vec<ScheduledTask>| lane.iter().map(|p| p.task).collect();
        self.by_worker.iter().map(ids).collect()
    }

    /// How many copies there are beside the first of each task.
    pub fn duplicate_count(&self) -> usize {
        let mut all: Vec<TaskId> = self.by_worker.iter().flatten().map(|p| p.task).collect();
        let placed = all.len();
        all.sort_unstable();
        all.dedup();
        placed - all.len()
    }

    /// Whether this is a sound schedule of `dag` on `machine`: every task is there, copies only of what is duplicable
    /// and never two on one lane, each takes what it costs, none begins before the one before it in its lane is over, or
    /// before all it reads is there from some copy.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, in words.
    pub fn check(&self, dag: &Dag, machine: &MachineModel) -> Result<(), String> {
        if self.by_worker.len() != machine.workers() {
            return Err(format!("{} lanes", self.by_worker.len()));
        }
        let mut copies: Vec<Vec<(usize, ScheduledTask)>> = vec![Vec::new(); dag.len()];
        let mut last = Nanos(0);
        for (lane, all) in self.by_worker.iter().enumerate() {
            let mut free = Nanos(0);
            for placed in all {
                let task = placed.task;
                let there = copies.get_mut(task.index());
                let there = there.ok_or(format!("there is no {task:?}"))?;
                if placed.start < free || placed.finish != sum(placed.start, dag.cost(task)) {
                    return Err(format!("{placed:?} does not fit in lane {lane}"));
                }
                if there.last().is_some_and(|(other, _)| *other == lane) {
                    return Err(format!("{task:?} is twice in lane {lane}"));
                }
                there.push((lane, *placed));
                free = placed.finish;
            }
            last = last.max(free);
        }
        for task in dag.tasks() {
            check_copies(dag, machine, &copies, task)?;
        }
        match last == self.makespan {
            true => Ok(()),
            false => Err(format!("the makespan is {last:?}")),
        }
    }
}

/// Checks one task, with its copies by lane.
fn check_copies(
    dag: &Dag,
    machine: &MachineModel,
    copies: &[Vec<(usize, ScheduledTask)>],
    task: TaskId,
) -> Result<(), String> {
    let own = &copies[task.index()];
    if own.is_empty() {
        return Err(format!("{task:?} is missing"));
    }
    if own.len() > 1 && !dag.is_duplicable(task) {
        return Err(format!("{task:?} must not have copies"));
    }
    for (lane, placed) in own {
        for arc in dag.predecessors(task) {
            let from = copies[arc.task.index()].iter();
            let arrivals = from.map(|(other, parent)| {
                let way = machine.transfer_time(*other, *lane, arc.bytes);
                sum(parent.finish, way)
            });
            if arrivals.min().is_none_or(|first| first > placed.start) {
                return Err(format!("{placed:?} starts before {:?} is there", arc.task));
            }
        }
    }
    Ok(())
}

/// Highest level first: of the tasks that are ready the one with the highest static level (node costs only), of equal
/// ones that with more immediate successors, then the first; on the worker that is free first.
pub fn hlfet(dag: &Dag, workers: usize) -> Schedule {
    let levels = dag.static_levels();
    list(dag, workers, |task| {
        (levels[task.index()].0, dag.successors(task).len() as u64)
    })
}

/// Tasks that are ready in an order that only chance knows: a control for the others. Equal for an equal seed.
pub fn random(dag: &Dag, workers: usize, seed: u64) -> Schedule {
    list(dag, workers, |task| {
        let key = mix(seed ^ mix(u64::from(task.0)));
        (key, 0)
    })
}

/// List scheduling: whenever a worker is free and a task is ready, the ready task of the highest `priority` starts, on
/// the first of the workers that are free.
fn list(dag: &Dag, workers: usize, priority: impl Fn(TaskId) -> (u64, u64)) -> Schedule {
    let entry = |task: TaskId| (priority(task), Reverse(task));
    let mut waits: Vec<u32> = dag
        .tasks()
        .map(|t| dag.predecessors(t).len() as u32)
        .collect();
    let starts = dag.tasks().filter(|t| dag.predecessors(*t).is_empty());
    let mut ready: BinaryHeap<_> = starts.map(entry).collect();
    let mut crew = Crew::new(workers.max(1));
    loop {
        while crew.is_free()
            && let Some((_, Reverse(task))) = ready.pop()
        {
            crew.start(task, dag.cost(task));
        }
        let over = crew.next();
        if over.is_empty() {
            return crew.schedule;
        }
        for next in over.iter().flat_map(|task| dag.successors(*task)) {
            let waits = &mut waits[next.task.index()];
            *waits -= 1;
            if *waits == 0 {
                ready.push(entry(next.task));
            }
        }
    }
}

/// The workers, and a clock that goes from one finish to the next. The makespan so far is its time.
struct Crew {
    free: BinaryHeap<Reverse<usize>>,
    busy: BinaryHeap<Reverse<(Nanos, usize, TaskId)>>,
    now: Nanos,
    schedule: Schedule,
}

impl Crew {
    fn new(workers: usize) -> Self {
        Self {
            free: (0..workers).map(Reverse).collect(),
            busy: BinaryHeap::new(),
            now: Nanos(0),
            schedule: Schedule::new(workers),
        }
    }

    fn is_free(&self) -> bool {
        !self.free.is_empty()
    }

    fn start(&mut self, task: TaskId, cost: Nanos) {
        let Some(Reverse(worker)) = self.free.pop() else {
            return;
        };
        let (start, finish) = (self.now, sum(self.now, cost));
        self.busy.push(Reverse((finish, worker, task)));
        let placed = ScheduledTask {
            task,
            start,
            finish,
        };
        self.schedule.push(worker, placed);
    }

    /// Goes on to the next time at which tasks are over, and gives these; none where nobody works.
    fn next(&mut self) -> Vec<TaskId> {
        let mut over = Vec::new();
        if let Some(Reverse((finish, ..))) = self.busy.peek() {
            self.now = *finish;
        }
        while let Some(Reverse((finish, worker, task))) = self.busy.peek().copied()
            && finish == self.now
        {
            self.busy.pop();
            self.free.push(Reverse(worker));
            over.push(task);
        }
        over
    }
}

/// One round of SplitMix64.
fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
