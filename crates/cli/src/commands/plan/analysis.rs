//! Analysis of a plan and its schedule: levels, critical path, speed-up, copies.

use super::{SchedulerName, TYPICAL_EDGE_BYTES};
use divisi::draw::NodeClass;
use divisi::graph::Graph;
use divisi::plan::{self, Dag, MachineModel, Plan, StepOp, Task, TaskId};
use divisi::prelude::Nanos;
use divisi::report::StepNames;

/// One task: one step, or several fused ones.
pub(super) struct TaskRow {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) class: NodeClass,
    pub(super) cost: Nanos,
    pub(super) t_level: Nanos,
    pub(super) b_level: Nanos,
    pub(super) static_level: Nanos,
    pub(super) is_critical: bool,
    /// Core and time of each copy.
    pub(super) runs: Vec<ScheduledRun>,
    /// Predecessors.
    pub(super) before: Vec<usize>,
}

/// One scheduled run of a task.
pub(super) struct ScheduledRun {
    pub(super) core: usize,
    pub(super) start: Nanos,
    pub(super) finish: Nanos,
}

/// A plan, its schedule, and what follows from both.
pub(super) struct PlanAnalysis {
    pub(super) scheduler: SchedulerName,
    pub(super) block: u32,
    pub(super) rate_hz: u32,
    pub(super) cores: usize,
    pub(super) rows: Vec<TaskRow>,
    pub(super) critical: Vec<usize>,
    /// Length of the critical path without communication.
    pub(super) longest: Nanos,
    pub(super) total: Nanos,
    pub(super) bound: Nanos,
    pub(super) makespan: Nanos,
    /// Communication cost: base, and per 1024 bytes.
    pub(super) base: Nanos,
    pub(super) per_kib: Nanos,
    pub(super) is_abridged: bool,
}

impl PlanAnalysis {
    /// Schedules `plan` and simulates the schedule with communication costs. `None` if it deadlocks.
    pub(super) fn new(
        plan: &Plan,
        graph: &Graph,
        machine: &MachineModel,
        scheduler: SchedulerName,
        seed: u64,
    ) -> Option<Self> {
        let dag = Dag::from_plan(plan);
        let schedule = scheduler.schedule(&dag, machine, seed);
        let simulated =
            plan::simulate(&dag, machine, &schedule.task_order(), |task| dag.cost(task))?;
        let mut rows = rows(plan, graph, &dag, machine);
        for (core, lane) in simulated.by_worker.iter().enumerate() {
            for placed in lane {
                let (start, finish) = (placed.start, placed.finish);
                rows[index(placed.task)].runs.push(ScheduledRun {
                    core,
                    start,
                    finish,
                });
            }
        }
        let critical = dag.critical_path(|_| Nanos(0));
        for task in &critical {
            rows[index(*task)].is_critical = true;
        }
        let base = machine.mean_transfer_time(0);
        Some(Self {
            scheduler,
            block: plan.block.0,
            rate_hz: plan.rate.hz(),
            cores: machine.workers(),
            critical: critical.into_iter().map(index).collect(),
            longest: dag.lower_bound(usize::MAX),
            total: dag.total_cost(),
            bound: dag.lower_bound(machine.workers()),
            makespan: simulated.makespan,
            base,
            per_kib: Nanos(machine.mean_transfer_time(1024).0.saturating_sub(base.0)),
            is_abridged: schedule.abridged,
            rows,
        })
    }

    /// Speed-up over one core.
    pub(super) fn speedup(&self) -> f64 {
        ratio(self.total, self.makespan)
    }

    /// Largest speed-up that any schedule on this many cores can have.
    pub(super) fn max_speedup(&self) -> f64 {
        ratio(self.total, self.bound)
    }

    /// Number of duplicates, the first copy of each task not counted.
    pub(super) fn copies(&self) -> usize {
        self.rows
            .iter()
            .map(|row| row.runs.len().saturating_sub(1))
            .sum()
    }

    /// The runs of one core, in order.
    pub(super) fn runs_on(&self, core: usize) -> Vec<(usize, &ScheduledRun)> {
        let rows = self.rows.iter().enumerate();
        let runs = rows.flat_map(|(row, r)| r.runs.iter().map(move |run| (row, run)));
        let mut lane: Vec<_> = runs.filter(|(_, run)| run.core == core).collect();
        lane.sort_by_key(|(row, run)| (run.start, run.finish, *row));
        lane
    }
}

/// Index of a task.
fn index(task: TaskId) -> usize {
    task.0 as usize
}

fn ratio(all: Nanos, part: Nanos) -> f64 {
    all.0 as f64 / part.0.max(1) as f64
}

/// A row for each task, with its levels; nothing is scheduled yet.
fn rows(plan: &Plan, graph: &Graph, dag: &Dag, machine: &MachineModel) -> Vec<TaskRow> {
    let edge = |bytes| machine.mean_transfer_time(bytes);
    let (t, b, s) = (dag.t_levels(edge), dag.b_levels(edge), dag.static_levels());
    let steps = StepNames::from_plan(plan, graph);
    let tasks = plan.tasks.iter().zip(dag.tasks());
    let rows = tasks.map(|(task, id)| TaskRow {
        name: name(plan, &steps, task),
        kind: kind(&steps, task),
        class: steps.hue(task.steps.start as usize),
        cost: dag.cost(id),
        t_level: t[index(id)],
        b_level: b[index(id)],
        static_level: s[index(id)],
        is_critical: false,
        runs: Vec::new(),
        before: dag
            .predecessors(id)
            .iter()
            .map(|arc| index(arc.task))
            .collect(),
    });
    rows.collect()
}

/// Name of a task: of one node its name, of several the first and last name and the count.
fn name(plan: &Plan, steps: &StepNames, task: &Task) -> String {
    let of = |index: u32| {
        let name = steps.name(index as usize).unwrap_or("?");
        match plan.steps[index as usize].op {
            StepOp::WriteLine { .. } => format!("{name} (write)"),
            StepOp::Align { .. } => format!("{name} (aligner)"),
            _ => name.to_owned(),
        }
    };
    let (first, last) = (task.steps.start, task.steps.end - 1);
    match task.steps.len() {
        1 => of(first),
        2 => format!("{}, {}", of(first), of(last)),
        many => format!("{} … {} ({many})", of(first), of(last)),
    }
}

fn kind(steps: &StepNames, task: &Task) -> String {
    let mut kinds = (task.steps.start..task.steps.end).map(|s| steps.kind(s as usize));
    let first = kinds.next().flatten();
    match first {
        Some(kind) if kinds.all(|other| other == first) => kind.to_owned(),
        Some(_) => "several".to_owned(),
        None => String::new(),
    }
}

/// Communication cost of a typical edge between two cores.
pub(super) fn typical_transfer(machine_base: Nanos, per_kib: Nanos) -> Nanos {
    let part = per_kib
        .0
        .saturating_mul(u64::from(TYPICAL_EDGE_BYTES))
        .div_ceil(1024);
    Nanos(machine_base.0.saturating_add(part))
}
