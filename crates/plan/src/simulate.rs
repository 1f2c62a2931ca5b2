//! What becomes of a schedule when tasks take other times than it thought.

use crate::levels::sum;
use crate::schedule::{Schedule, ScheduledTask};
use crate::{Dag, MachineModel, TaskId};
use units::Nanos;

/// When each task ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedRun {
    /// By task: when it started; of copies, the first.
    pub start: Vec<Nanos>,
    /// By task: when it was over; of copies, the first that was.
    pub finish: Vec<Nanos>,
    /// When the last one was over.
    pub makespan: Nanos,
    /// The lanes as they were, with times.
    pub by_worker: Vec<Vec<ScheduledTask>>,
}

impl SimulatedRun {
    /// The lanes as a schedule.
    pub fn to_schedule(&self) -> Schedule {
        Schedule {
            by_worker: self.by_worker.clone(),
            makespan: self.makespan,
            abridged: false,
        }
    }
}

/// Replays lanes as an executor does: each worker takes the tasks of its lane in order, and each task waits until what
/// it reads is there, from whichever copy it comes first. `None` where the lanes get stuck, a task is missing or twice
/// in a lane, or there are more lanes than workers.
pub fn simulate(
    dag: &Dag,
    machine: &MachineModel,
    lanes: &[Vec<TaskId>],
    cost: impl Fn(TaskId) -> Nanos,
) -> Option<SimulatedRun> {
    let mut replay = Replay::new(dag, machine, lanes)?;
    // Always the earliest start there is: whatever has not run yet is over no earlier, so it cannot bring that forward.
    while let Some((start, lane)) = replay.first() {
        replay.run(lane, start, &cost);
    }
    replay.end()
}

struct Replay<'a> {
    dag: &'a Dag,
    machine: &'a MachineModel,
    lanes: &'a [Vec<TaskId>],
    /// By task, in the order in which they ended: the copies that have run, by lane.
    done: Vec<Vec<(usize, Nanos)>>,
    /// By task: for how many tasks it waits of which no copy has run.
    waits: Vec<u32>,
    heads: Vec<Head>,
    times: Vec<Vec<ScheduledTask>>,
}

/// How far a lane has come.
#[derive(Clone, Copy, Default)]
struct Head {
    next: usize,
    free: Nanos,
    /// When the next task starts, as far as one knows; `None` while something it reads has not run at all.
    start: Option<Nanos>,
}

impl<'a> Replay<'a> {
    fn new(dag: &'a Dag, machine: &'a MachineModel, lanes: &'a [Vec<TaskId>]) -> Option<Self> {
        if lanes.len() > machine.workers() {
            return None;
        }
        let mut seen = vec![usize::MAX; dag.len()];
        for (lane, tasks) in lanes.iter().enumerate() {
            for task in tasks {
                let there = seen.get_mut(task.index())?;
                if *there == lane {
                    return None;
                }
                *there = lane;
            }
        }
        if seen.contains(&usize::MAX) {
            return None;
        }
        let mut replay = Self {
            done: vec![Vec::new(); dag.len()],
            waits: dag
                .tasks()
                .map(|t| dag.predecessors(t).len() as u32)
                .collect(),
            heads: vec![Head::default(); lanes.len()],
            times: lanes.iter().map(|l| Vec::with_capacity(l.len())).collect(),
            dag,
            machine,
            lanes,
        };
        (0..lanes.len()).for_each(|lane| replay.look(lane));
        Some(replay)
    }

    fn head(&self, lane: usize) -> Option<TaskId> {
        self.lanes[lane].get(self.heads[lane].next).copied()
    }

    /// Finds out when the next task of `lane` can start.
    fn look(&mut self, lane: usize) {
        let Some(task) = self.head(lane).filter(|t| self.waits[t.index()] == 0) else {
            self.heads[lane].start = None;
            return;
        };
        let arrivals = self.dag.predecessors(task).iter().filter_map(|arc| {
            let copies = self.done[arc.task.index()].iter();
            let ways = copies.map(|(from, finish)| {
                sum(*finish, self.machine.transfer_time(*from, lane, arc.bytes))
            });
            ways.min()
        });
        let ready = arrivals.max().unwrap_or_default();
        let head = &mut self.heads[lane];
        head.start = Some(ready.max(head.free));
    }

    /// The lane whose next task starts first, and when.
    fn first(&self) -> Option<(Nanos, usize)> {
        let heads = self.heads.iter().enumerate();
        heads
            .filter_map(|(lane, head)| Some((head.start?, lane)))
            .min()
    }

    fn run(&mut self, lane: usize, start: Nanos, cost: impl Fn(TaskId) -> Nanos) {
        let Some(task) = self.head(lane) else { return };
        let finish = sum(start, cost(task));
        self.times[lane].push(ScheduledTask {
            task,
            start,
            finish,
        });
        let copies = &mut self.done[task.index()];
        copies.push((lane, finish));
        let is_first = copies.len() == 1;
        self.heads[lane].next += 1;
        self.heads[lane].free = finish;
        let dag = self.dag;
        if is_first {
            for arc in dag.successors(task) {
                self.waits[arc.task.index()] -= 1;
            }
        }
        for other in 0..self.lanes.len() {
            let reads = |next: TaskId| {
                let parents = dag.predecessors(next);
                parents.binary_search_by_key(&task, |arc| arc.task).is_ok()
            };
            if other == lane || self.head(other).is_some_and(reads) {
                self.look(other);
            }
        }
    }

    fn end(self) -> Option<SimulatedRun> {
        let all = self.times.iter().zip(self.lanes);
        if !all.into_iter().all(|(run, lane)| run.len() == lane.len()) {
            return None;
        }
        let never = Nanos(u64::MAX);
        let mut simulated = SimulatedRun {
            start: vec![never; self.dag.len()],
            finish: vec![never; self.dag.len()],
            makespan: Nanos(0),
            by_worker: Vec::new(),
        };
        for placed in self.times.iter().flatten() {
            let at = placed.task.index();
            simulated.start[at] = simulated.start[at].min(placed.start);
            simulated.finish[at] = simulated.finish[at].min(placed.finish);
            simulated.makespan = simulated.makespan.max(placed.finish);
        }
        simulated.by_worker = self.times;
        Some(simulated)
    }
}
