//! From many virtual cores with copies to the workers there are.
//!
//! The virtual cores are cut into pieces, and all of a piece goes to one worker. How finely, to which worker and in which
//! order is decided in several ways, and the shortest outcome is kept (of equal ones that with fewer copies): none is
//! best for all graphs, and all are cheap.
//!
//! | pieces | worker | order |
//! |---|---|---|
//! | whole cores: nothing that was kept together is sent | where the piece's first task starts first | by falling b-level |
//! | what runs on a core without a pause | or: the fullest piece first, where there is least to do | or: as on the virtual cores |
//! | single tasks | where it starts first | as above |
//! | single tasks without copies: links are cheap, or workers few | where it starts first | as above |
//!
//! Each task takes the earliest place that fits. Where two copies meet, one goes. All tasks on one worker are a way too.
//! At last copies go that nobody reads, and those without which the whole is no longer; a replay with the real links
//! gives the times.

use crate::cpfd::gap;
use crate::levels::sum;
use crate::schedule::{Schedule, ScheduledTask};
use crate::{Dag, MachineModel, SimulatedRun, TaskId, simulate};
use std::cmp::Reverse;
use units::Nanos;

/// Copies are tried without as long as their number times that of all tasks is at most this.
const MOST_TRIED: usize = 400_000;

/// Puts what runs on `cores` on the workers of `machine`.
pub(crate) fn merge(dag: &Dag, machine: &MachineModel, cores: &[Vec<ScheduledTask>]) -> Schedule {
    let levels = dag.b_levels(|bytes| machine.mean_transfer_time(bytes));
    let mut ways = vec![vec![Vec::new(); machine.workers()]];
    ways[0][0] = dag.tasks().collect();
    for cut in [Cut::Never, Cut::AtPauses, Cut::Everywhere, Cut::Single] {
        let mut runs = cut_up(cores, cut);
        if cut == Cut::Single {
            runs.sort_by_key(|(_, p)| (p.task, p.start));
            runs.dedup_by_key(|(_, p)| p.task);
        }
        let pieces = cores.iter().map(Vec::len).sum();
        let anywhere = vec![None; pieces];
        let mut homes = vec![anywhere];
        if matches!(cut, Cut::Never | Cut::AtPauses) {
            homes.push(balance(&runs, pieces, machine.workers()));
        }
        let by_level = |(piece, p): &Run| (Reverse(levels[p.task.index()]), p.task, *piece);
        let by_start = |(piece, p): &Run| (p.start, p.task, *piece);
        for order in 0..2 {
            match order {
                0 => runs.sort_by_key(by_level),
                _ => runs.sort_by_key(by_start),
            }
            let filled = homes
                .iter()
                .map(|homes| Floor::new(dag, machine, homes.clone()).fill(&runs));
            ways.extend(filled);
        }
    }
    let replays = ways.into_iter().filter_map(|lanes| {
        let lanes = drop_unread(dag, machine, lanes)?;
        let replay = replay(dag, machine, &lanes)?;
        Some((lanes.iter().map(Vec::len).sum::<usize>(), replay))
    });
    let best = replays.min_by_key(|(placed, replay)| (replay.makespan, *placed));
    let (_, best) = best.expect("all on one worker is always a way");
    drop_useless(dag, machine, best)
}

/// Where virtual cores are cut.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    Never,
    AtPauses,
    Everywhere,
    /// The same, and each task counts once.
    Single,
}

/// A task on a virtual core, and which piece it belongs to.
type Run = (usize, ScheduledTask);

/// The pieces are counted through.
fn cut_up(cores: &[Vec<ScheduledTask>], cut: Cut) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for lane in cores {
        let mut free = None;
        for placed in lane {
            let goes_on = match cut {
                Cut::Never => free.is_some(),
                Cut::AtPauses => free == Some(placed.start),
                Cut::Everywhere | Cut::Single => false,
            };
            let next = runs
                .last()
                .map_or(0, |(piece, _)| piece + usize::from(!goes_on));
            runs.push((next, *placed));
            free = Some(placed.finish);
        }
    }
    runs
}

fn replay(dag: &Dag, machine: &MachineModel, lanes: &[Vec<TaskId>]) -> Option<SimulatedRun> {
    simulate(dag, machine, lanes, |task| dag.cost(task))
}

/// A worker for each piece: the fullest first, each to the one with the least to do.
fn balance(runs: &[Run], pieces: usize, workers: usize) -> Vec<Option<usize>> {
    let mut loads = vec![Nanos(0); pieces];
    for (piece, placed) in runs {
        let cost = Nanos(placed.finish.0 - placed.start.0);
        loads[*piece] = sum(loads[*piece], cost);
    }
    let mut order: Vec<usize> = (0..pieces).collect();
    order.sort_by_key(|piece| Reverse(loads[*piece]));
    let mut filled = vec![Nanos(0); workers];
    let mut homes = vec![None; pieces];
    for piece in order {
        let least = (0..workers).min_by_key(|worker| filled[*worker]);
        let worker = least.expect("a machine has a worker");
        filled[worker] = sum(filled[worker], loads[piece]);
        homes[piece] = Some(worker);
    }
    homes
}

/// The workers, as they are filled.
struct Floor<'a> {
    dag: &'a Dag,
    machine: &'a MachineModel,
    /// By piece: its worker, once that is known.
    homes: Vec<Option<usize>>,
    lanes: Vec<Vec<ScheduledTask>>,
    loads: Vec<Nanos>,
    /// By task: the workers that have it, and when it is over there.
    copies: Vec<Vec<(usize, Nanos)>>,
}

impl<'a> Floor<'a> {
    fn new(dag: &'a Dag, machine: &'a MachineModel, homes: Vec<Option<usize>>) -> Self {
        Self {
            lanes: vec![Vec::new(); machine.workers()],
            loads: vec![Nanos(0); machine.workers()],
            copies: vec![Vec::new(); dag.len()],
            dag,
            machine,
            homes,
        }
    }

    /// Places `runs`, of which each stands behind a copy of all it reads.
    fn fill(mut self, runs: &[Run]) -> Vec<Vec<TaskId>> {
        for (piece, ScheduledTask { task, .. }) in runs {
            let worker = self.homes[*piece].unwrap_or_else(|| self.soonest(*task));
            self.homes[*piece] = Some(worker);
            if self.copies[task.index()].iter().all(|(w, _)| *w != worker) {
                self.put(*task, worker);
            }
        }
        let ids = |lane: Vec<ScheduledTask>| lane.iter().map(|p| p.task).collect();
        self.lanes.into_iter().map(ids).collect()
    }

    fn start(&self, task: TaskId, worker: usize) -> Nanos {
        let arrivals = self.dag.predecessors(task).iter().filter_map(|arc| {
            let copies = self.copies[arc.task.index()].iter();
            let ways = copies.map(|(from, finish)| {
                sum(
                    *finish,
                    self.machine.transfer_time(*from, worker, arc.bytes),
                )
            });
            ways.min()
        });
        let ready = arrivals.max().unwrap_or_default();
        gap(&self.lanes[worker], ready, self.cost(task)).0
    }

    fn cost(&self, task: TaskId) -> Nanos {
        self.dag.cost(task).max(Nanos(1))
    }

    /// The worker on which `task` would start first; of equal ones that with the least to do.
    fn soonest(&self, task: TaskId) -> usize {
        let workers = 0..self.machine.workers();
        let key = |worker: &usize| (self.start(task, *worker), self.loads[*worker]);
        workers.min_by_key(key).expect("a machine has a worker")
    }

    fn put(&mut self, task: TaskId, worker: usize) {
        let start = self.start(task, worker);
        let finish = sum(start, self.cost(task));
        let lane = &mut self.lanes[worker];
        let at = lane.partition_point(|p| p.start < start);
        lane.insert(
            at,
            ScheduledTask {
                task,
                start,
                finish,
            },
        );
        self.loads[worker] = sum(self.loads[worker], self.dag.cost(task));
        self.copies[task.index()].push((worker, finish));
    }
}

/// Takes copies out of `lanes` that nobody reads, until there are none. `None` where the lanes get stuck.
fn drop_unread(
    dag: &Dag,
    machine: &MachineModel,
    mut lanes: Vec<Vec<TaskId>>,
) -> Option<Vec<Vec<TaskId>>> {
    loop {
        let replay = replay(dag, machine, &lanes)?;
        let mut copies: Vec<Vec<(Nanos, usize)>> = vec![Vec::new(); dag.len()];
        for (lane, all) in replay.by_worker.iter().enumerate() {
            for placed in all {
                copies[placed.task.index()].push((placed.finish, lane));
            }
        }
        let mut read: Vec<Vec<usize>> = vec![Vec::new(); dag.len()];
        for (lane, placed) in (replay.by_worker.iter().enumerate())
            .flat_map(|(lane, all)| all.iter().map(move |placed| (lane, placed)))
        {
            for arc in dag.predecessors(placed.task) {
                let parents = copies[arc.task.index()].iter();
                let source = parents.min_by_key(|(finish, from)| {
                    let way = machine.transfer_time(*from, lane, arc.bytes);
                    (sum(*finish, way), *from != lane, *from)
                });
                read[arc.task.index()].extend(source.map(|(_, from)| *from));
            }
        }
        for (copies, read) in copies.iter().zip(&mut read) {
            // What nobody reads at all is there once: where it is over first.
            if read.is_empty() {
                read.extend(copies.iter().min().map(|(_, lane)| *lane));
            }
        }
        let before: usize = lanes.iter().map(Vec::len).sum();
        for (lane, tasks) in lanes.iter_mut().enumerate() {
            tasks.retain(|task| read[task.index()].contains(&lane));
        }
        if lanes.iter().map(Vec::len).sum::<usize>() == before {
            return Some(lanes);
        }
    }
}

/// Tries to do without each copy, the last first. The schedule is abridged where there are too many.
fn drop_useless(dag: &Dag, machine: &MachineModel, mut best: SimulatedRun) -> Schedule {
    let mut schedule = best.to_schedule();
    schedule.abridged = schedule.duplicate_count() * dag.len() > MOST_TRIED;
    if schedule.abridged {
        return schedule;
    }
    let mut lanes = schedule.task_order();
    let mut count = vec![0; dag.len()];
    lanes.iter().flatten().for_each(|t| count[t.index()] += 1);
    for lane in (0..lanes.len()).rev() {
        for at in (0..lanes[lane].len()).rev() {
            let task = lanes[lane][at];
            if count[task.index()] == 1 {
                continue;
            }
            lanes[lane].remove(at);
            match replay(dag, machine, &lanes) {
                Some(shorter) if shorter.makespan <= best.makespan => {
                    count[task.index()] -= 1;
                    best = shorter;
                }
                _ => lanes[lane].insert(at, task),
            }
        }
    }
    best.to_schedule()
}
