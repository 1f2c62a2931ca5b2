//! Critical path fast duplication: tasks are copied to where their data would come too late.
//!
//! Ahmad and Kwok 1994, as in Kwok and Ahmad's survey of 1999. First on as many virtual cores as it likes, whose links
//! all are the mean of the machine's; [`merge`](crate::merge) brings these onto the real workers.

use crate::levels::sum;
use crate::merge::merge;
use crate::schedule::{Schedule, ScheduledTask};
use crate::sequence::sequence;
use crate::{Dag, MachineModel, TaskId};
use std::collections::HashMap;
use units::Nanos;

/// How many edges and places one call may look at before it abridges: about a second of work. Counted, not timed: the
/// same graph has the same schedule everywhere.
const LOOKS: u64 = 100_000_000;
/// How many generations of ancestors are copied for one task.
const GENERATIONS: u32 = 500;

/// Copies what is duplicable to where it is needed sooner than it could be sent.
///
/// Tasks go one by one, those of the critical path and what they wait for first, then the rest. Each is tried on the
/// cores that have its parents and on an unused one (of the rest, on all that are used and an unused one). On each, the
/// parent whose data comes last is copied into the earliest place that fits; then its own parents in turn, then the next
/// parent. A copy is kept where the task then starts earlier, by itself or with the copies of its parents: where all
/// links are alike, the copy of an inner task alone would gain exactly nothing. The core with the earliest start is taken, of equal
/// ones that with fewer copies, then the first. At last the virtual cores are merged onto the workers, copies that help
/// nobody are dropped, and times are those of the real links.
///
/// The time grows with the square of the tasks and more: from some thousand tasks on (after a fixed number of looks) no
/// more copies are made, and tasks are tried on two cores only; and where copies are many, only those go that nobody
/// reads. The schedule then says that it is [abridged](Schedule::abridged).
pub fn cpfd(dag: &Dag, machine: &MachineModel) -> Schedule {
    let sequence = sequence(dag, |bytes| machine.mean_transfer_time(bytes));
    let mut search = Search::new(dag, machine);
    for (at, task) in sequence.tasks.iter().enumerate() {
        search.place(*task, at >= sequence.dominant);
    }
    let mut schedule = merge(dag, machine, &search.cores);
    schedule.abridged |= search.abridged;
    schedule
}

/// One change of a core that is being tried.
#[derive(Clone, Copy)]
enum Change {
    Put(ScheduledTask),
    Take(ScheduledTask),
}

struct Search<'a> {
    dag: &'a Dag,
    machine: &'a MachineModel,
    /// By virtual core, in order of time.
    cores: Vec<Vec<ScheduledTask>>,
    /// By task and core: when the copy there is over.
    here: HashMap<(TaskId, usize), Nanos>,
    /// By task: the cores that have it, and when the first copy is over. What is only tried is not among them.
    copies: Vec<Vec<usize>>,
    first: Vec<Nanos>,
    /// The core that is being tried, and what was changed there.
    core: usize,
    changes: Vec<Change>,
    looks: u64,
    abridged: bool,
}

impl<'a> Search<'a> {
    fn new(dag: &'a Dag, machine: &'a MachineModel) -> Self {
        Self {
            cores: Vec::new(),
            here: HashMap::new(),
            copies: vec![Vec::new(); dag.len()],
            first: vec![Nanos(u64::MAX); dag.len()],
            core: 0,
            changes: Vec::new(),
            looks: 0,
            abridged: false,
            dag,
            machine,
        }
    }

    /// Places `task` where it starts first, with the copies that this takes.
    fn place(&mut self, task: TaskId, is_out_branch: bool) {
        let unused = self.cores.len();
        self.cores.push(Vec::new());
        let mut best: Option<((Nanos, usize, usize), Vec<Change>)> = None;
        for core in self.candidates(task, is_out_branch, unused) {
            self.core = core;
            let start = self.earliest(task);
            let start = self.pull(task, start, 0);
            let key = (start, self.copied(), core);
            if best.as_ref().is_none_or(|(other, _)| key < *other) {
                best = Some((key, self.changes.clone()));
            }
            self.undo(0);
        }
        let ((start, _, core), changes) = best.expect("the unused core is always tried");
        self.core = core;
        for change in changes {
            self.change(change);
        }
        let own = self.placed(task, start);
        self.change(Change::Put(own));
        self.keep();
        if self.cores.last().is_some_and(Vec::is_empty) {
            self.cores.pop();
        }
    }

    /// The cores to try, the unused one last.
    fn candidates(&mut self, task: TaskId, is_out_branch: bool, unused: usize) -> Vec<usize> {
        let dag = self.dag;
        let parents = || dag.predecessors(task).iter();
        let mut cores: Vec<usize> = if self.is_tired() {
            let last = parents().max_by_key(|arc| self.sent(arc.task, arc.bytes));
            let cores = last.map(|arc| self.copies[arc.task.index()].iter());
            cores.into_iter().flatten().copied().take(1).collect()
        } else if is_out_branch {
            (0..unused).collect()
        } else {
            let cores = parents().flat_map(|arc| &self.copies[arc.task.index()]);
            cores.copied().collect()
        };
        cores.sort_unstable();
        cores.dedup();
        cores.push(unused);
        cores
    }

    /// Copies parents of `task`, which is not there itself, to the core as long as that lets it start earlier than at
    /// `start`. When it then starts.
    fn pull(&mut self, task: TaskId, mut start: Nanos, generation: u32) -> Nanos {
        while let Some(parent) = self.last_to_come(task) {
            if generation == GENERATIONS || self.is_tired() {
                self.abridged = true;
                break;
            }
            let without = self.changes.len();
            let own = self.earliest(parent);
            self.put(parent, own);
            let alone = self.earliest(task);
            if alone > start {
                self.undo(without);
                break;
            }
            // Its own parents in turn. They take room: it may have been better without them.
            let before = self.changes.len();
            self.take(parent);
            let sooner = self.pull(parent, own, generation + 1);
            self.put(parent, sooner);
            let with_parents = self.earliest(task);
            if with_parents >= alone {
                self.undo(before);
            }
            let best = with_parents.min(alone);
            if best >= start {
                self.undo(without);
                break;
            }
            start = best;
        }
        start
    }

    fn is_tired(&mut self) -> bool {
        let is_tired = self.looks > LOOKS;
        self.abridged |= is_tired;
        is_tired
    }

    /// How many copies the changes make.
    fn copied(&self) -> usize {
        let puts = self.changes.iter().filter(|c| matches!(c, Change::Put(_)));
        2 * puts.count() - self.changes.len()
    }

    /// Of the parents that are not on the core the one whose data comes last; `None` where the task waits at least as
    /// long for one that is, or where there may be no copy of it.
    fn last_to_come(&mut self, task: TaskId) -> Option<TaskId> {
        let parents = self.dag.predecessors(task);
        self.looks += parents.len() as u64;
        let mut last: Option<(Nanos, TaskId)> = None;
        let mut local = Nanos(0);
        for arc in parents {
            let sent = self.sent(arc.task, arc.bytes);
            match self.here.get(&(arc.task, self.core)) {
                Some(finish) => local = local.max(sent.min(*finish)),
                None if last.is_none_or(|(other, _)| sent > other) => last = Some((sent, arc.task)),
                None => {}
            }
        }
        let (sent, parent) = last?;
        (sent > local && self.dag.is_duplicable(parent)).then_some(parent)
    }

    /// When what `task` gives is on a core that has no copy of it.
    fn sent(&self, task: TaskId, bytes: u32) -> Nanos {
        sum(
            self.first[task.index()],
            self.machine.mean_transfer_time(bytes),
        )
    }

    /// The earliest start of `task` on the core: when its data is there and a place long enough is free.
    fn earliest(&mut self, task: TaskId) -> Nanos {
        let parents = self.dag.predecessors(task);
        let arrivals = parents.iter().map(|arc| {
            let sent = self.sent(arc.task, arc.bytes);
            let here = self.here.get(&(arc.task, self.core));
            here.map_or(sent, |finish| sent.min(*finish))
        });
        let ready = arrivals.max().unwrap_or_default();
        let (start, steps) = gap(&self.cores[self.core], ready, self.cost(task));
        self.looks += (parents.len() + steps) as u64;
        start
    }

    /// Nothing takes no time here: what starts later stands behind.
    fn cost(&self, task: TaskId) -> Nanos {
        self.dag.cost(task).max(Nanos(1))
    }

    fn placed(&self, task: TaskId, start: Nanos) -> ScheduledTask {
        ScheduledTask {
            task,
            start,
            finish: sum(start, self.cost(task)),
        }
    }

    fn put(&mut self, task: TaskId, start: Nanos) {
        let placed = self.placed(task, start);
        self.change(Change::Put(placed));
    }

    fn take(&mut self, task: TaskId) {
        let lane = &self.cores[self.core];
        let placed = lane.iter().rfind(|p| p.task == task).copied();
        self.change(Change::Take(placed.expect("it was put there")));
    }

    fn change(&mut self, change: Change) {
        self.apply(change);
        self.changes.push(change);
    }

    fn apply(&mut self, change: Change) {
        let lane = &mut self.cores[self.core];
        match change {
            Change::Put(placed) => {
                let at = lane.partition_point(|p| p.start < placed.start);
                lane.insert(at, placed);
                self.here.insert((placed.task, self.core), placed.finish);
            }
            Change::Take(placed) => {
                let at = lane.partition_point(|p| p.start < placed.start);
                let found = lane[at..].iter().position(|p| p.task == placed.task);
                lane.remove(at + found.expect("it was put there"));
                self.here.remove(&(placed.task, self.core));
            }
        }
    }

    /// Takes changes back until there are only so many.
    fn undo(&mut self, count: usize) {
        while self.changes.len() > count
            && let Some(change) = self.changes.pop()
        {
            self.apply(match change {
                Change::Put(placed) => Change::Take(placed),
                Change::Take(placed) => Change::Put(placed),
            });
        }
    }

    /// Makes what was tried so.
    fn keep(&mut self) {
        for change in std::mem::take(&mut self.changes) {
            let Change::Put(ScheduledTask { task, .. }) = change else {
                continue;
            };
            let copies = &mut self.copies[task.index()];
            if !copies.contains(&self.core) {
                copies.push(self.core);
            }
            let first = &mut self.first[task.index()];
            *first = (*first).min(self.here[&(task, self.core)]);
        }
    }
}

/// The first place in `lane` from `ready` on that is so long, and how many it took to look at.
pub(crate) fn gap(lane: &[ScheduledTask], ready: Nanos, long: Nanos) -> (Nanos, usize) {
    let from = lane.partition_point(|p| p.finish <= ready);
    let mut start = ready;
    for (steps, placed) in lane[from..].iter().enumerate() {
        if sum(start, long) <= placed.start {
            return (start, steps + 1);
        }
        start = start.max(placed.finish);
    }
    (start, lane.len() - from + 1)
}
