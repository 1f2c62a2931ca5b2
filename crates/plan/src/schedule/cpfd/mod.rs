//! CPFD, critical path fast duplication (Ahmad and Kwok, "On exploiting task duplication in parallel program scheduling",
//! IEEE Trans. Parallel and Distributed Systems 9(9), 1998).
//!
//! Where moving data costs more than computing it again, a task is copied to the worker that needs its data:
//!
//! ```text
//!  A 2 --6--> B 8     without copies:  worker 0  [A][C   ]        with:  [A][C   ]
//!    \--1---> C 4                      worker 1  ......[B       ]        [A][B       ]
//!                                                 ^ 6 for the data
//! ```
//!
//! | step | file | what it gives |
//! |---|---|---|
//! | 1 | `sequence` | an order of tasks: the critical path, each task behind what it needs, then the rest |
//! | 2 | `mod` | a schedule on any number of *virtual cores*; every link is the mean of the machine's |
//! | 3 | `merge` | the same tasks on the workers that exist, with their real links |

mod merge;
mod sequence;

use self::merge::{first_gap, merge};
use self::sequence::sequence;
use super::{Dag, MachineModel, Schedule, ScheduledTask};
use crate::TaskId;
use std::collections::HashMap;
use units::Nanos;

/// Edges and gaps that one call may look at before it abridges: about a second of work. Counted, not timed: a graph has
/// the same schedule everywhere.
const MAX_LOOKS: u64 = 100_000_000;
/// Generations of ancestors that are copied for one task.
const MAX_GENERATIONS: u32 = 500;

/// Copies duplicable tasks to where their data is needed sooner than it could be sent.
///
/// Tasks are placed in the order of the sequence. Each is tried on the virtual cores that hold one of its predecessors
/// (tasks that lead to no critical one: on all cores in use) and on an unused one. On each core the predecessor whose data
/// arrives last is copied into the earliest gap that fits, then its own predecessors in turn, then the next predecessor.
/// A copy stays if the task then starts earlier, by the copy alone or with the copies of its predecessors: where all
/// links are alike, the copy of an inner task alone gains exactly nothing. The core with the earliest start wins, of equal
/// ones that with fewer copies, then the first. At last the virtual cores are merged onto the workers, useless copies
/// are removed, and times are computed with the real links.
///
/// The time grows at least with the square of the tasks. From some thousand tasks on (after a fixed number of looks) no
/// more copies are made and each task is tried on two cores only; and where copies are many, only those are removed that
/// no task reads. The schedule then is [abridged](Schedule::abridged). Real-time: setup.
pub fn cpfd(dag: &Dag, machine: &MachineModel) -> Schedule {
    let sequence = sequence(dag, |bytes| machine.mean_transfer_time(bytes));
    let mut search = DuplicationSearch::new(dag, machine);
    for (at, task) in sequence.tasks.iter().enumerate() {
        search.place(*task, at >= sequence.dominant);
    }
    let mut schedule = merge(dag, machine, &search.cores);
    schedule.abridged |= search.abridged;
    schedule
}

/// A change of the core that is being tried; each can be undone.
#[derive(Clone, Copy)]
enum CoreChange {
    Insert(ScheduledTask),
    Remove(ScheduledTask),
}

struct DuplicationSearch<'a> {
    dag: &'a Dag,
    machine: &'a MachineModel,
    /// Tasks of each virtual core, sorted by time.
    cores: Vec<Vec<ScheduledTask>>,
    /// Finish time of the copy of a task on a core.
    finish_on: HashMap<(TaskId, usize), Nanos>,
    /// By task: the cores that hold it, without those that are only tried.
    copies: Vec<Vec<usize>>,
    /// By task: finish time of its first copy, likewise.
    first_finish: Vec<Nanos>,
    /// The core that is being tried.
    core: usize,
    /// Changes of that core, in order.
    changes: Vec<CoreChange>,
    looks: u64,
    abridged: bool,
}

impl<'a> DuplicationSearch<'a> {
    fn new(dag: &'a Dag, machine: &'a MachineModel) -> Self {
        Self {
            cores: Vec::new(),
            finish_on: HashMap::new(),
            copies: vec![Vec::new(); dag.len()],
            first_finish: vec![Nanos(u64::MAX); dag.len()],
            core: 0,
            changes: Vec::new(),
            looks: 0,
            abridged: false,
            dag,
            machine,
        }
    }

    /// Places `task` on the core where it starts first, with the copies that this needs.
    fn place(&mut self, task: TaskId, is_out_branch: bool) {
        let unused = self.cores.len();
        self.cores.push(Vec::new());
        let mut best: Option<((Nanos, usize, usize), Vec<CoreChange>)> = None;
        for core in self.candidates(task, is_out_branch, unused) {
            self.core = core;
            let start = self.earliest_start(task);
            let start = self.copy_predecessors(task, start, 0);
            let key = (start, self.inserted(), core);
            if best.as_ref().is_none_or(|(other, _)| key < *other) {
                best = Some((key, self.changes.clone()));
            }
            self.undo_to(0);
        }
        let ((start, _, core), changes) = best.expect("the unused core is always tried");
        self.core = core;
        for change in changes {
            self.apply(change);
        }
        self.insert(task, start);
        self.commit();
        if self.cores.last().is_some_and(Vec::is_empty) {
            self.cores.pop();
        }
    }

    /// The cores to try, the unused one last.
    fn candidates(&mut self, task: TaskId, is_out_branch: bool, unused: usize) -> Vec<usize> {
        let dag = self.dag;
        let predecessors = || dag.predecessors(task).iter();
        let mut cores: Vec<usize> = if self.is_exhausted() {
            let last = predecessors().max_by_key(|edge| self.sent(edge.task, edge.bytes));
            let cores = last.map(|edge| self.copies[edge.task.index()].iter());
            cores.into_iter().flatten().copied().take(1).collect()
        } else if is_out_branch {
            (0..unused).collect()
        } else {
            let cores = predecessors().flat_map(|edge| &self.copies[edge.task.index()]);
            cores.copied().collect()
        };
        cores.sort_unstable();
        cores.dedup();
        cores.push(unused);
        cores
    }

    /// Copies predecessors of `task`, which is not on the core itself, to the core while that makes it start earlier than
    /// `start`. Returns the new start.
    fn copy_predecessors(&mut self, task: TaskId, mut start: Nanos, generation: u32) -> Nanos {
        while let Some(parent) = self.last_arriving(task) {
            if generation == MAX_GENERATIONS || self.is_exhausted() {
                self.abridged = true;
                break;
            }
            let without = self.changes.len();
            let own = self.earliest_start(parent);
            self.insert(parent, own);
            let alone = self.earliest_start(task);
            if alone > start {
                self.undo_to(without);
                break;
            }
            // Its own predecessors in turn. They take room: it may have been better without them.
            let before = self.changes.len();
            self.remove(parent);
            let sooner = self.copy_predecessors(parent, own, generation + 1);
            self.insert(parent, sooner);
            let with_predecessors = self.earliest_start(task);
            if with_predecessors >= alone {
                self.undo_to(before);
            }
            let best = with_predecessors.min(alone);
            if best >= start {
                self.undo_to(without);
                break;
            }
            start = best;
        }
        start
    }

    /// Returns true if the budget of looks is used up, and marks the schedule as abridged then.
    fn is_exhausted(&mut self) -> bool {
        let is_exhausted = self.looks > MAX_LOOKS;
        self.abridged |= is_exhausted;
        is_exhausted
    }

    /// Number of copies that the changes add up to.
    fn inserted(&self) -> usize {
        let inserts = self
            .changes
            .iter()
            .filter(|c| matches!(c, CoreChange::Insert(_)));
        2 * inserts.count() - self.changes.len()
    }

    /// Of the predecessors that are not on the core the one whose data arrives last. `None` where data of one on the core
    /// is no earlier, or the task must not be copied.
    fn last_arriving(&mut self, task: TaskId) -> Option<TaskId> {
        let predecessors = self.dag.predecessors(task);
        self.looks += predecessors.len() as u64;
        let mut last: Option<(Nanos, TaskId)> = None;
        let mut local = Nanos(0);
        for edge in predecessors {
            let sent = self.sent(edge.task, edge.bytes);
            match self.finish_on.get(&(edge.task, self.core)) {
                Some(finish) => local = local.max(sent.min(*finish)),
                None if last.is_none_or(|(other, _)| sent > other) => {
                    last = Some((sent, edge.task))
                }
                None => {}
            }
        }
        let (sent, parent) = last?;
        (sent > local && self.dag.is_duplicable(parent)).then_some(parent)
    }

    /// Time at which the data of `task` is on a core that has no copy of it.
    fn sent(&self, task: TaskId, bytes: u32) -> Nanos {
        let transfer = self.machine.mean_transfer_time(bytes);
        self.first_finish[task.index()].saturating_add(transfer)
    }

    /// Earliest start of `task` on the core: its data is there and a gap is long enough.
    fn earliest_start(&mut self, task: TaskId) -> Nanos {
        let predecessors = self.dag.predecessors(task);
        let arrivals = predecessors.iter().map(|edge| {
            let sent = self.sent(edge.task, edge.bytes);
            let here = self.finish_on.get(&(edge.task, self.core));
            here.map_or(sent, |finish| sent.min(*finish))
        });
        let ready = arrivals.max().unwrap_or_default();
        let (start, looks) = first_gap(&self.cores[self.core], ready, self.cost(task));
        self.looks += (predecessors.len() + looks) as u64;
        start
    }

    /// At least 1, so that tasks of one core have different start times.
    fn cost(&self, task: TaskId) -> Nanos {
        self.dag.cost(task).max(Nanos(1))
    }

    fn insert(&mut self, task: TaskId, start: Nanos) {
        let scheduled = ScheduledTask::new(task, start, self.cost(task));
        self.apply(CoreChange::Insert(scheduled));
    }

    fn remove(&mut self, task: TaskId) {
        let tasks = &self.cores[self.core];
        let scheduled = tasks.iter().rfind(|s| s.task == task).copied();
        self.apply(CoreChange::Remove(scheduled.expect("it was inserted")));
    }

    fn apply(&mut self, change: CoreChange) {
        self.change_core(change);
        self.changes.push(change);
    }

    fn change_core(&mut self, change: CoreChange) {
        let tasks = &mut self.cores[self.core];
        let (CoreChange::Insert(scheduled) | CoreChange::Remove(scheduled)) = change;
        let at = tasks.partition_point(|s| s.start < scheduled.start);
        let key = (scheduled.task, self.core);
        if matches!(change, CoreChange::Insert(_)) {
            tasks.insert(at, scheduled);
            self.finish_on.insert(key, scheduled.finish);
        } else {
            let found = tasks[at..].iter().position(|s| s.task == scheduled.task);
            tasks.remove(at + found.expect("it was inserted"));
            self.finish_on.remove(&key);
        }
    }

    /// Undoes the last changes until `count` are left.
    fn undo_to(&mut self, count: usize) {
        while self.changes.len() > count
            && let Some(change) = self.changes.pop()
        {
            self.change_core(match change {
                CoreChange::Insert(scheduled) => CoreChange::Remove(scheduled),
                CoreChange::Remove(scheduled) => CoreChange::Insert(scheduled),
            });
        }
    }

    /// Makes the changes permanent.
    fn commit(&mut self) {
        for change in std::mem::take(&mut self.changes) {
            let CoreChange::Insert(ScheduledTask { task, .. }) = change else {
                continue;
            };
            let copies = &mut self.copies[task.index()];
            if !copies.contains(&self.core) {
                copies.push(self.core);
            }
            let first = &mut self.first_finish[task.index()];
            *first = (*first).min(self.finish_on[&(task, self.core)]);
        }
    }
}
