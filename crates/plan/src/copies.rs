//! A plan in which nodes have copies: made for a schedule that asks for them.
//!
//! The graph is compiled once for the schedule. Where that has copies it is compiled again, with a turn for each copy,
//! before slots are given out: so what a copy writes is as much its own as what the original writes. Whoever hears a
//! node that has copies hears the one before it on its own lane, else the one whose data comes first. All copies of a
//! node hear the same bits and start from the same state, so it does not matter to the sound.

use crate::compile::{assemble, plain};
use crate::levels::sum;
use crate::tasks::runs;
use crate::turns::{Act, Turn, Turns};
use crate::wiring::{Part, Wiring, wire};
use crate::{
    Dag, MachineModel, Plan, PlanError, PlanOptions, Schedule, Step, StepId, StepOp, StepOutput,
    TaskId, cpfd,
};
use graph::{Catalogue, Graph, NodeId, Role};
use std::collections::HashMap;
use units::Nanos;

/// As [`compile`](crate::compile), with lanes by critical path fast duplication ([`cpfd`]) for `machine`, and with the
/// copies that it wants.
///
/// Copied are nodes of duplicable kinds that are no devices, send no events, lie in no loop and are not in
/// [`PlanOptions::not_duplicable`]; nothing in a pipeline.
///
/// # Errors
///
/// As [`compile`](crate::compile).
///
/// Real-time: setup.
pub fn compile_with_copies(
    graph: &Graph,
    catalogue: &Catalogue,
    options: &PlanOptions,
    machine: &MachineModel,
) -> Result<Plan, PlanError> {
    let wiring = wire(graph, catalogue, options)?;
    let (mut turns, mut plan) = plain(&wiring, options)?;
    let may = |task: TaskId| {
        let steps = plan.tasks[task.0 as usize].steps.of(&plan.steps);
        options.latency_blocks == 0
            && steps
                .iter()
                .all(|s| is_duplicable(&plan, &wiring, options, s))
    };
    let dag = Dag::from_plan(&plan).with_duplicable(may);
    let schedule = cpfd(&dag, machine);
    if schedule.duplicate_count() == 0 {
        plan.worker_tasks = schedule.task_order();
        return Ok(plan);
    }
    let cast = Cast::new(&dag, machine, &schedule);
    Players::new(&plan, &wiring, &cast).add(&mut turns);
    let mut copied = assemble(&wiring, &turns, options)?;
    cast.deal(&plan, &mut copied);
    Ok(copied)
}

fn is_duplicable(plan: &Plan, wiring: &Wiring<'_>, options: &PlanOptions, step: &Step) -> bool {
    let StepOp::Process { node, line: None } = step.op else {
        return false;
    };
    let Some(member) = wiring.member_of(node) else {
        return false;
    };
    let member = &wiring.members[member as usize];
    let sends = |out: &StepOutput| matches!(out, StepOutput::Events(_));
    member.part == Part::Plain
        && member.kind.duplicable
        && member.kind.role == Role::Inner
        && !step.outputs.of(&plan.outputs).iter().any(sends)
        && !options.not_duplicable.contains(&node)
}

/// A task of the schedule: the original or a copy.
#[derive(Clone, Copy)]
struct Instance {
    task: TaskId,
    copy: u16,
    lane: usize,
    start: Nanos,
    finish: Nanos,
}

/// Everything that the schedule has, in the order of time: who is read stands before who reads.
struct Cast<'a> {
    dag: &'a Dag,
    machine: &'a MachineModel,
    all: Vec<Instance>,
    /// By task: its instances, in `all`; by copy.
    of: Vec<Vec<usize>>,
}

impl<'a> Cast<'a> {
    fn new(dag: &'a Dag, machine: &'a MachineModel, schedule: &Schedule) -> Self {
        let lanes = schedule.by_worker.iter().enumerate();
        let mut all: Vec<Instance> = lanes
            .flat_map(|(lane, all)| {
                all.iter().map(move |placed| Instance {
                    task: placed.task,
                    copy: 0,
                    lane,
                    start: placed.start,
                    finish: placed.finish,
                })
            })
            .collect();
        all.sort_by_key(|one| (one.start, one.task, one.lane));
        let mut of: Vec<Vec<usize>> = vec![Vec::new(); dag.len()];
        for (index, one) in all.iter_mut().enumerate() {
            let copies = &mut of[one.task.0 as usize];
            one.copy = copies.len() as u16;
            copies.push(index);
        }
        Self {
            dag,
            machine,
            all,
            of,
        }
    }

    /// Which copy of `task` the instance hears.
    fn heard(&self, hearer: &Instance, task: TaskId) -> u16 {
        if hearer.task == task {
            return hearer.copy;
        }
        let arcs = self.dag.predecessors(hearer.task).iter();
        let bytes = arcs.filter(|arc| arc.task == task).map(|arc| arc.bytes);
        let bytes = bytes.sum();
        let copies = self.of[task.0 as usize].iter().map(|at| self.all[*at]);
        let arrival = |copy: &Instance| {
            let way = self.machine.transfer_time(copy.lane, hearer.lane, bytes);
            let is_local = copy.lane == hearer.lane && copy.finish <= hearer.start;
            (!is_local, sum(copy.finish, way), copy.copy)
        };
        copies.min_by_key(arrival).map_or(0, |copy| copy.copy)
    }

    /// Makes tasks and lanes of `copied` as they are in the schedule for `plan`.
    fn deal(&self, plan: &Plan, copied: &mut Plan) {
        let known = copied
            .steps_with_ids()
            .map(|(id, step)| (name(copied, step), id));
        let known: HashMap<Name, StepId> = known.collect();
        let mut order = Vec::with_capacity(copied.steps.len());
        let mut ends = Vec::with_capacity(self.all.len());
        for one in &self.all {
            for step in plan.tasks[one.task.0 as usize].steps.of(&plan.steps) {
                let name = Name {
                    copy: one.copy,
                    ..name(plan, step)
                };
                order.push(*known.get(&name).expect("every instance got its steps"));
            }
            ends.push(order.len() as u32);
        }
        runs(copied, &order, &ends);
        copied.worker_tasks = vec![Vec::new(); self.machine.workers()];
        for (task, one) in (0..).map(TaskId).zip(&self.all) {
            copied.worker_tasks[one.lane].push(task);
        }
    }
}

/// What a step is called in both plans.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Name {
    what: u8,
    node: NodeId,
    /// Of aligners: which. A node has several.
    aligner: u32,
    copy: u16,
}

fn name(plan: &Plan, step: &Step) -> Name {
    let mut number = 0;
    let (what, node) = match step.op {
        StepOp::Process { node, .. } => (0, node),
        StepOp::WriteLine { node, .. } => (1, node),
        StepOp::Sink { node } => (2, node),
        StepOp::Silence { node } => (3, node),
        StepOp::Send { node, .. } => (4, node),
        StepOp::Receive { node, .. } => (5, node),
        StepOp::Align { node, aligner } => {
            number = aligner.0;
            (6, node)
        }
        StepOp::Loop(id) => {
            // A loop is called by the first of its members.
            let members = plan.loops[id.0 as usize].steps.of(&plan.loop_steps).iter();
            let first = members.map(|member| name(plan, member)).min();
            let first = first.expect("a loop has steps");
            (10 + first.what, first.node)
        }
    };
    Name {
        what,
        node,
        aligner: number,
        copy: step.copy,
    }
}

/// Who plays what: from instances of tasks to turns.
struct Players<'a> {
    plan: &'a Plan,
    wiring: &'a Wiring<'a>,
    cast: &'a Cast<'a>,
    /// By member: the task that has its outputs.
    giver: Vec<Option<TaskId>>,
}

impl<'a> Players<'a> {
    fn new(plan: &'a Plan, wiring: &'a Wiring<'a>, cast: &'a Cast<'a>) -> Self {
        let mut giver = vec![None; wiring.members.len()];
        for (id, task) in (0..).map(TaskId).zip(&plan.tasks) {
            for step in members(plan, task.steps.of(&plan.steps)) {
                let gives = match step.op {
                    StepOp::Process { node, .. } | StepOp::Silence { node } => {
                        wiring.member_of(node)
                    }
                    StepOp::Align { aligner, .. } => Some(wiring.aligner(aligner.0)),
                    _ => None,
                };
                if let Some(member) = gives {
                    giver[member as usize] = Some(id);
                }
            }
        }
        Self {
            plan,
            wiring,
            cast,
            giver,
        }
    }

    /// The members whose inputs an instance has.
    fn hearing(&self, one: &Instance) -> impl Iterator<Item = u32> + '_ {
        let steps = self.plan.tasks[one.task.0 as usize].steps;
        members(self.plan, steps.of(&self.plan.steps)).filter_map(|step| match step.op {
            StepOp::Process { node, line: None }
            | StepOp::WriteLine { node, .. }
            | StepOp::Sink { node } => self.wiring.member_of(node),
            StepOp::Align { aligner, .. } => Some(self.wiring.aligner(aligner.0)),
            _ => None,
        })
    }

    /// Adds a turn for each copy, and has everybody hear the right one.
    fn add(&self, turns: &mut Turns) {
        let mut turn_of: HashMap<(u32, u16), u32> = HashMap::new();
        for one in self.cast.all.iter().filter(|one| one.copy > 0) {
            for member in self.hearing(one) {
                let turn = turns.all.len() as u32;
                turns.all.push(Turn {
                    member,
                    act: Act::Run,
                    lag: 0,
                    copy: one.copy,
                });
                turns.copies.push((member, turn));
                turn_of.insert((member, one.copy), turn);
            }
        }
        turns.copies.sort_unstable();
        for one in &self.cast.all {
            for member in self.hearing(one) {
                let own = turn_of.get(&(member, one.copy)).copied();
                let own = own.unwrap_or_else(|| turns.taking(member));
                for wire in self.wiring.wires_to(member) {
                    let heard = self.giver[wire.from as usize];
                    let copy = heard.map_or(0, |task| self.cast.heard(one, task));
                    if let Some(turn) = turn_of.get(&(wire.from, copy)) {
                        turns.heard.insert((own, wire.from), *turn);
                    }
                }
            }
        }
        let mut waits: Vec<_> = turns.short.iter().map(|s| (s.write, s.read)).collect();
        for wire in &self.wiring.wires {
            let taking = turns.all_taking(wire.to);
            waits.extend(taking.map(|turn| (turns.source(turn, wire).0, turn)));
        }
        turns.waits = waits;
    }
}

/// The steps, and in the stead of a loop its members.
fn members<'a>(plan: &'a Plan, steps: &'a [Step]) -> impl Iterator<Item = &'a Step> {
    steps.iter().flat_map(|step| match step.op {
        StepOp::Loop(id) => plan.loops[id.0 as usize].steps.of(&plan.loop_steps),
        _ => std::slice::from_ref(step),
    })
}
