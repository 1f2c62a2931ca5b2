//! Plans with duplicated nodes: the graph is compiled again for a schedule that asks for copies.
//!
//! ```text
//!   plan without copies --> Dag --> CPFD --> schedule --+--> no copies: its order of tasks, done
//!                                                      +--> copies: more operations, compile again
//! ```
//!
//! Copies become operations before slots are allocated, so what a copy writes belongs to it as what the original writes
//! belongs to the original. A reader of a node with copies reads the one before it on its own worker, else the one whose
//! data arrives first. All copies read the same bits and start from the same state, so the sound does not depend on it.

use super::ops::{Op, OpKind, Ops};
use super::tasks::make_tasks;
use super::wiring::{NodePart, Wiring};
use crate::{
    Dag, MachineModel, Plan, PlanOptions, Schedule, Step, StepId, StepOp, StepOutput, TaskId,
};
use graph::{NodeId, Role};
use std::collections::HashMap;
use units::Nanos;

/// The tasks of a plan. A task is duplicable if all its steps are; in a pipeline none is.
pub(super) fn duplicable_dag(plan: &Plan, wiring: &Wiring<'_>, options: &PlanOptions) -> Dag {
    let may = |task: TaskId| {
        let mut steps = plan.tasks[task.index()].steps.of(&plan.steps).iter();
        options.latency_blocks == 0 && steps.all(|s| is_duplicable(plan, wiring, options, s))
    };
    Dag::from_plan(plan).with_duplicable(may)
}

fn is_duplicable(plan: &Plan, wiring: &Wiring<'_>, options: &PlanOptions, step: &Step) -> bool {
    let StepOp::Process { node, line: None } = step.op else {
        return false;
    };
    let Some(index) = wiring.index_of(node) else {
        return false;
    };
    let wired = &wiring.nodes[index as usize];
    let is_event = |output: &StepOutput| matches!(output, StepOutput::Events(_));
    wired.part == NodePart::Process
        && wired.kind.duplicable
        && wired.kind.role == Role::Inner
        && !step.outputs.of(&plan.outputs).iter().any(is_event)
        && !options.not_duplicable.contains(&node)
}

/// A scheduled task: the original or a copy.
#[derive(Clone, Copy)]
struct Instance {
    task: TaskId,
    copy: u16,
    worker: usize,
    start: Nanos,
    finish: Nanos,
}

/// All that a schedule has placed, by start time: writers before readers.
pub(super) struct Instances<'a> {
    plan: &'a Plan,
    wiring: &'a Wiring<'a>,
    dag: &'a Dag,
    machine: &'a MachineModel,
    all: Vec<Instance>,
    /// By task: its instances, in `all`; by copy.
    of_task: Vec<Vec<usize>>,
}

impl<'a> Instances<'a> {
    /// Of a `schedule` for `dag`, which is that of `plan`.
    pub(super) fn new(
        (plan, wiring): (&'a Plan, &'a Wiring<'a>),
        (dag, machine): (&'a Dag, &'a MachineModel),
        schedule: &Schedule,
    ) -> Self {
        let mut all = Vec::new();
        for (worker, tasks) in schedule.by_worker.iter().enumerate() {
            all.extend(tasks.iter().map(|scheduled| Instance {
                task: scheduled.task,
                copy: 0,
                worker,
                start: scheduled.start,
                finish: scheduled.finish,
            }));
        }
        all.sort_by_key(|one| (one.start, one.task, one.worker));
        let mut of_task: Vec<Vec<usize>> = vec![Vec::new(); dag.len()];
        for (index, one) in all.iter_mut().enumerate() {
            let copies = &mut of_task[one.task.index()];
            one.copy = copies.len() as u16;
            copies.push(index);
        }
        Self {
            plan,
            wiring,
            dag,
            machine,
            all,
            of_task,
        }
    }

    /// Adds an operation for each copy, and makes every operation read the right copy.
    pub(super) fn add_ops(&self, ops: &mut Ops) {
        let mut op_of: HashMap<(u32, u16), u32> = HashMap::new();
        for one in self.all.iter().filter(|one| one.copy > 0) {
            for node in self.nodes_with_inputs(one) {
                let op = ops.all.len() as u32;
                ops.all.push(Op {
                    copy: one.copy,
                    ..Op::new(node, OpKind::Process)
                });
                ops.copies.push((node, op));
                op_of.insert((node, one.copy), op);
            }
        }
        ops.copies.sort_unstable();
        let writers = self.tasks_with_outputs();
        for one in &self.all {
            for node in self.nodes_with_inputs(one) {
                let own = op_of.get(&(node, one.copy)).copied();
                for edge in self.wiring.edges_to(node) {
                    let writer = writers[edge.from as usize];
                    let copy = writer.map_or(0, |task| self.copy_read(one, task));
                    if let Some(op) = op_of.get(&(edge.from, copy)) {
                        let own = own.unwrap_or_else(|| ops.reader(edge));
                        ops.copy_sources.insert((own, edge.from), *op);
                    }
                }
            }
        }
        let mut dependencies: Vec<_> = ops.short_dependencies().collect();
        for edge in &self.wiring.edges {
            let readers = ops.all_readers(edge);
            dependencies.extend(readers.map(|op| (ops.source(op, edge).0, op)));
        }
        ops.dependencies = dependencies;
    }

    /// The copy of `task` that `reader` reads.
    fn copy_read(&self, reader: &Instance, task: TaskId) -> u16 {
        if reader.task == task {
            return reader.copy;
        }
        let edges = self.dag.predecessors(reader.task).iter();
        let bytes = edges
            .filter(|edge| edge.task == task)
            .map(|edge| edge.bytes);
        let bytes = bytes.sum();
        let copies = self.of_task[task.index()].iter().map(|at| self.all[*at]);
        let arrival = |copy: &Instance| {
            let transfer = (self.machine).transfer_time(copy.worker, reader.worker, bytes);
            let is_local = copy.worker == reader.worker && copy.finish <= reader.start;
            (!is_local, copy.finish.saturating_add(transfer), copy.copy)
        };
        copies.min_by_key(arrival).map_or(0, |copy| copy.copy)
    }

    /// The nodes whose inputs belong to an instance.
    fn nodes_with_inputs(&self, one: &Instance) -> impl Iterator<Item = u32> + '_ {
        let steps = self.plan.tasks[one.task.index()].steps;
        let steps = steps.of(&self.plan.steps).iter();
        let steps = steps.flat_map(|step| self.plan.flatten(step));
        steps.filter_map(|step| match step.op {
            StepOp::Process { node, line: None }
            | StepOp::WriteLine { node, .. }
            | StepOp::Sink { node } => self.wiring.index_of(node),
            StepOp::Align { aligner, .. } => Some(self.wiring.aligner_index(aligner.0)),
            _ => None,
        })
    }

    /// By node: the task that has its outputs.
    fn tasks_with_outputs(&self) -> Vec<Option<TaskId>> {
        let plan = self.plan;
        let mut writers = vec![None; self.wiring.nodes.len()];
        for (id, task) in (0..).map(TaskId).zip(&plan.tasks) {
            let steps = task.steps.of(&plan.steps).iter();
            for step in steps.flat_map(|step| plan.flatten(step)) {
                let node = match step.op {
                    StepOp::Process { node, .. } | StepOp::Silence { node } => {
                        self.wiring.index_of(node)
                    }
                    StepOp::Align { aligner, .. } => Some(self.wiring.aligner_index(aligner.0)),
                    _ => None,
                };
                if let Some(node) = node {
                    writers[node as usize] = Some(id);
                }
            }
        }
        writers
    }

    /// Gives `copied`, the plan with copies, the tasks and the static schedule of the instances.
    pub(super) fn schedule(&self, copied: &mut Plan) {
        let known = copied.steps_with_ids();
        let known = known.map(|(id, step)| (StepKey::new(copied, step), id));
        let known: HashMap<StepKey, StepId> = known.collect();
        let mut order = Vec::with_capacity(copied.steps.len());
        let mut ends = Vec::with_capacity(self.all.len());
        for one in &self.all {
            let steps = self.plan.tasks[one.task.index()].steps;
            for step in steps.of(&self.plan.steps) {
                let key = StepKey {
                    copy: one.copy,
                    ..StepKey::new(self.plan, step)
                };
                order.push(*known.get(&key).expect("every instance has its steps"));
            }
            ends.push(order.len() as u32);
        }
        make_tasks(copied, &order, &ends);
        copied.worker_tasks = vec![Vec::new(); self.machine.workers()];
        for (task, one) in (0..).map(TaskId).zip(&self.all) {
            copied.worker_tasks[one.worker].push(task);
        }
    }
}

/// Identity of a step in both plans.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct StepKey {
    op: u8,
    node: NodeId,
    /// A node may have several aligners.
    aligner: u32,
    copy: u16,
}

impl StepKey {
    fn new(plan: &Plan, step: &Step) -> Self {
        let (op, node) = match step.op {
            StepOp::Process { node, .. } => (0, node),
            StepOp::WriteLine { node, .. } => (1, node),
            StepOp::Sink { node } => (2, node),
            StepOp::Silence { node } => (3, node),
            StepOp::Send { node, .. } => (4, node),
            StepOp::Receive { node, .. } => (5, node),
            StepOp::Align { node, .. } => (6, node),
            StepOp::Loop(_) => {
                // The smallest key of its steps.
                let steps = plan.flatten(step).iter();
                let first = steps.map(|step| Self::new(plan, step)).min();
                let first = first.expect("a loop has steps");
                (10 + first.op, first.node)
            }
        };
        let aligner = match step.op {
            StepOp::Align { aligner, .. } => aligner.0,
            _ => 0,
        };
        Self {
            op,
            node,
            aligner,
            copy: step.copy,
        }
    }
}
