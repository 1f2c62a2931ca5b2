//! From many virtual cores with copies to the workers of the machine.
//!
//! The virtual cores are cut into pieces, and all tasks of a piece go to one worker. No rule is best for all graphs and
//! each is cheap, so several are tried, and the shortest result wins (of equal ones that with fewer copies):
//!
//! | pieces | worker | order |
//! |---|---|---|
//! | whole cores: tasks that share a core move no data | where the piece's first task starts first | by falling b-level |
//! | tasks of a core without a pause between them | or: the fullest piece first, on the emptiest worker | or: as on the virtual cores |
//! | single tasks | where it starts first | as above |
//! | single tasks without copies: transfers are cheap, or workers few | where it starts first | as above |
//!
//! Each task takes the earliest gap that fits. Where two copies of a task meet on a worker, one is dropped. All tasks on
//! one worker is a candidate too. At last copies are removed that no task reads, and those without which the makespan is
//! no longer; a replay with the real links gives the times.

use super::super::{Dag, MachineModel, Schedule, ScheduledTask, SimulatedRun, simulate};
use crate::TaskId;
use std::cmp::Reverse;
use units::Nanos;

/// The removal of copies is tried one by one while the number of copies times that of tasks is at most this.
const MAX_TRIALS: usize = 400_000;

/// Moves the tasks of virtual `cores` to the workers of `machine`.
pub(super) fn merge(dag: &Dag, machine: &MachineModel, cores: &[Vec<ScheduledTask>]) -> Schedule {
    let replays = candidates(dag, machine, cores)
        .into_iter()
        .filter_map(|tasks| {
            let tasks = remove_unread(dag, machine, tasks)?;
            let replay = replay(dag, machine, &tasks)?;
            Some((tasks.iter().map(Vec::len).sum::<usize>(), replay))
        });
    let best = replays.min_by_key(|(copies, replay)| (replay.makespan, *copies));
    let (_, best) = best.expect("all tasks on one worker is always possible");
    remove_useless(dag, machine, best)
}

/// The candidates of the table above: for each worker its tasks.
fn candidates(
    dag: &Dag,
    machine: &MachineModel,
    cores: &[Vec<ScheduledTask>],
) -> Vec<Vec<Vec<TaskId>>> {
    let levels = dag.b_levels(|bytes| machine.mean_transfer_time(bytes));
    let mut all = vec![vec![Vec::new(); machine.workers()]];
    all[0][0] = dag.tasks().collect();
    let count = cores.iter().map(Vec::len).sum();
    for cut in [
        Cut::Never,
        Cut::AtPauses,
        Cut::Everywhere,
        Cut::WithoutCopies,
    ] {
        let mut pieces = cut_into_pieces(cores, cut);
        let mut workers = vec![vec![None; count]];
        if matches!(cut, Cut::Never | Cut::AtPauses) {
            workers.push(balance(&pieces, count, machine.workers()));
        }
        for by_level in [true, false] {
            if by_level {
                pieces.sort_by_key(|(piece, s)| (Reverse(levels[s.task.index()]), s.task, *piece));
            } else {
                pieces.sort_by_key(|(piece, s)| (s.start, s.task, *piece));
            }
            let placed = workers.iter().map(|workers| {
                let placement = Placement::new(dag, machine, workers.clone());
                placement.place_all(&pieces)
            });
            all.extend(placed);
        }
    }
    all
}

/// Positions at which virtual cores are cut.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    Never,
    AtPauses,
    Everywhere,
    /// Everywhere, and each task is kept once.
    WithoutCopies,
}

/// A task on a virtual core, with the number of its piece.
type PieceTask = (usize, ScheduledTask);

fn cut_into_pieces(cores: &[Vec<ScheduledTask>], cut: Cut) -> Vec<PieceTask> {
    let mut all: Vec<PieceTask> = Vec::new();
    for tasks in cores {
        let mut free = None;
        for scheduled in tasks {
            let same_piece = match cut {
                Cut::Never => free.is_some(),
                Cut::AtPauses => free == Some(scheduled.start),
                Cut::Everywhere | Cut::WithoutCopies => false,
            };
            let last = all.last();
            let piece = last.map_or(0, |(piece, _)| piece + usize::from(!same_piece));
            all.push((piece, *scheduled));
            free = Some(scheduled.finish);
        }
    }
    if cut == Cut::WithoutCopies {
        all.sort_by_key(|(_, s)| (s.task, s.start));
        all.dedup_by_key(|(_, s)| s.task);
    }
    all
}

fn replay(dag: &Dag, machine: &MachineModel, tasks: &[Vec<TaskId>]) -> Option<SimulatedRun> {
    simulate(dag, machine, tasks, |task| dag.cost(task))
}

/// A worker for each piece: the fullest piece first, each on the worker with the least work.
fn balance(tasks: &[PieceTask], pieces: usize, workers: usize) -> Vec<Option<usize>> {
    let mut loads = vec![Nanos(0); pieces];
    for (piece, scheduled) in tasks {
        let cost = Nanos(scheduled.finish.0 - scheduled.start.0);
        loads[*piece] = loads[*piece].saturating_add(cost);
    }
    let mut order: Vec<usize> = (0..pieces).collect();
    order.sort_by_key(|piece| Reverse(loads[*piece]));
    let mut filled = vec![Nanos(0); workers];
    let mut worker_of = vec![None; pieces];
    for piece in order {
        let emptiest = (0..workers).min_by_key(|worker| filled[*worker]);
        let worker = emptiest.expect("a machine has a worker");
        filled[worker] = filled[worker].saturating_add(loads[piece]);
        worker_of[piece] = Some(worker);
    }
    worker_of
}

/// Tasks on workers while they are placed.
struct Placement<'a> {
    dag: &'a Dag,
    machine: &'a MachineModel,
    /// The worker of each piece, once it is known.
    worker_of: Vec<Option<usize>>,
    by_worker: Vec<Vec<ScheduledTask>>,
    loads: Vec<Nanos>,
    /// By task: its copies, as (worker, finish).
    copies: Vec<Vec<(usize, Nanos)>>,
}

impl<'a> Placement<'a> {
    fn new(dag: &'a Dag, machine: &'a MachineModel, worker_of: Vec<Option<usize>>) -> Self {
        Self {
            by_worker: vec![Vec::new(); machine.workers()],
            loads: vec![Nanos(0); machine.workers()],
            copies: vec![Vec::new(); dag.len()],
            dag,
            machine,
            worker_of,
        }
    }

    /// Places `tasks`, each behind a copy of all it reads.
    fn place_all(mut self, tasks: &[PieceTask]) -> Vec<Vec<TaskId>> {
        for (piece, ScheduledTask { task, .. }) in tasks {
            let worker = self.worker_of[*piece].unwrap_or_else(|| self.earliest_worker(*task));
            self.worker_of[*piece] = Some(worker);
            if self.copies[task.index()].iter().all(|(w, _)| *w != worker) {
                self.place(*task, worker);
            }
        }
        let ids = |tasks: Vec<ScheduledTask>| tasks.iter().map(|s| s.task).collect();
        self.by_worker.into_iter().map(ids).collect()
    }

    fn start(&self, task: TaskId, worker: usize) -> Nanos {
        let copies = |from: TaskId| &self.copies[from.index()][..];
        let ready = self.machine.data_ready(self.dag, task, worker, copies);
        first_gap(&self.by_worker[worker], ready, self.cost(task)).0
    }

    fn cost(&self, task: TaskId) -> Nanos {
        self.dag.cost(task).max(Nanos(1))
    }

    /// The worker on which `task` would start first, of equal ones that with the least work.
    fn earliest_worker(&self, task: TaskId) -> usize {
        let key = |worker: &usize| (self.start(task, *worker), self.loads[*worker]);
        let workers = 0..self.machine.workers();
        workers.min_by_key(key).expect("a machine has a worker")
    }

    fn place(&mut self, task: TaskId, worker: usize) {
        let start = self.start(task, worker);
        let scheduled = ScheduledTask::new(task, start, self.cost(task));
        let tasks = &mut self.by_worker[worker];
        let at = tasks.partition_point(|s| s.start < start);
        tasks.insert(at, scheduled);
        self.loads[worker] = self.loads[worker].saturating_add(self.dag.cost(task));
        self.copies[task.index()].push((worker, scheduled.finish));
    }
}

/// Start of the first gap in `tasks` from `ready` on that is `cost` long, and the number of gaps that were looked at.
pub(super) fn first_gap(tasks: &[ScheduledTask], ready: Nanos, cost: Nanos) -> (Nanos, usize) {
    let from = tasks.partition_point(|s| s.finish <= ready);
    let mut start = ready;
    for (looks, scheduled) in tasks[from..].iter().enumerate() {
        if start.saturating_add(cost) <= scheduled.start {
            return (start, looks + 1);
        }
        start = start.max(scheduled.finish);
    }
    (start, tasks.len() - from + 1)
}

/// Removes copies that no task reads, until there are none. `None` where the workers wait for each other in a cycle.
fn remove_unread(
    dag: &Dag,
    machine: &MachineModel,
    mut tasks: Vec<Vec<TaskId>>,
) -> Option<Vec<Vec<TaskId>>> {
    loop {
        let replay = replay(dag, machine, &tasks)?;
        let read = workers_read(dag, machine, &replay);
        let before: usize = tasks.iter().map(Vec::len).sum();
        for (worker, tasks) in tasks.iter_mut().enumerate() {
            tasks.retain(|task| read[task.index()].contains(&worker));
        }
        if tasks.iter().map(Vec::len).sum::<usize>() == before {
            return Some(tasks);
        }
    }
}

/// By task: the workers whose copies are read. A task that is not read at all is kept where it finishes first.
fn workers_read(dag: &Dag, machine: &MachineModel, replay: &SimulatedRun) -> Vec<Vec<usize>> {
    let mut copies: Vec<Vec<(Nanos, usize)>> = vec![Vec::new(); dag.len()];
    for (worker, tasks) in replay.by_worker.iter().enumerate() {
        for scheduled in tasks {
            copies[scheduled.task.index()].push((scheduled.finish, worker));
        }
    }
    let mut read: Vec<Vec<usize>> = vec![Vec::new(); dag.len()];
    for (worker, tasks) in replay.by_worker.iter().enumerate() {
        for edge in tasks.iter().flat_map(|s| dag.predecessors(s.task)) {
            let sources = copies[edge.task.index()].iter();
            let source = sources.min_by_key(|(finish, from)| {
                let transfer = machine.transfer_time(*from, worker, edge.bytes);
                (finish.saturating_add(transfer), *from != worker, *from)
            });
            read[edge.task.index()].extend(source.map(|(_, from)| *from));
        }
    }
    for (copies, read) in copies.iter().zip(&mut read) {
        if read.is_empty() {
            read.extend(copies.iter().min().map(|(_, worker)| *worker));
        }
    }
    read
}

/// Removes each copy without which the makespan is no longer, the last first. Where there are too many copies to try, the
/// schedule is abridged.
fn remove_useless(dag: &Dag, machine: &MachineModel, mut best: SimulatedRun) -> Schedule {
    let mut schedule = best.to_schedule();
    schedule.abridged = schedule.duplicate_count() * dag.len() > MAX_TRIALS;
    if schedule.abridged {
        return schedule;
    }
    let mut tasks = schedule.task_order();
    let mut copies = vec![0; dag.len()];
    tasks.iter().flatten().for_each(|t| copies[t.index()] += 1);
    for worker in (0..tasks.len()).rev() {
        for at in (0..tasks[worker].len()).rev() {
            let task = tasks[worker][at];
            if copies[task.index()] == 1 {
                continue;
            }
            tasks[worker].remove(at);
            match replay(dag, machine, &tasks) {
                Some(shorter) if shorter.makespan <= best.makespan => {
                    copies[task.index()] -= 1;
                    best = shorter;
                }
                _ => tasks[worker].insert(at, task),
            }
        }
    }
    best.to_schedule()
}
