//! Measures what each node costs: the same run again and again on one worker, every step timed.
//!
//! Each repeat begins with new processors, so cycle k of one repeat does the same work as cycle k of another. The
//! minimum of their times is the cost of that work without disturbance. The caches are left as the cycle before left
//! them (warm), or swept before each cycle (polluted). Deferred work is done between two cycles, and has costs of its own.

use super::costs::{NodeCost, NodeCosts, StepCost};
use super::dry_run::DryRun;
use super::machine::mark_ns;
use super::readings::Readings;
use super::work::{RunRequests, WorkReadings};
use crate::{EngineError, EngineOptions};
use graph::{Graph, NodeId};
use plan::{Plan, Step, StepOp};
use processor::Registry;
use rt::cache_sweep::CacheSweep;
use rt::stamp::TickScale;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use units::Nanos;
use workers::AudioThread;

/// Cycles that are not counted: memory is touched for the first time in them.
const WARM_UP: usize = 4;
/// Smallest and largest number of cycles in a run.
const CYCLES: (usize, usize) = (8, 64);
/// Largest number of repeats, where none is requested.
const MAX_REPEATS: u32 = 40;
/// Number of repeats for which the cycles of a run should leave time.
const MIN_REPEATS: u32 = 8;
/// Sound that a run plays if there is deferred work: long levels, and a search for a tempo, begin late. And most cycles for it.
const WORK_SPAN_S: u64 = 5;
const MAX_CYCLES: usize = 1 << 14;
/// Largest number of readings that are held.
const MAX_READINGS: usize = 1 << 24;

/// Options of [`measure_nodes`].
#[derive(Clone, Debug)]
pub struct MeasureOptions {
    /// Block, rate, inputs, folder. One worker plays, whatever they say.
    pub engine: EngineOptions,
    /// Time that it may take, about. One run with warm caches and one with polluted ones are made in any case.
    pub limit: Duration,
    /// Number of repeats; `None` for as many as fit, at most 40.
    pub repeats: Option<u32>,
}

/// Measures the cost of every node of `graph`. Files are read, none is written. `progress` is called with the share
/// that is done, 0 to 1, and may end it early: then the costs so far are returned.
///
/// # Errors
///
/// The mistakes in the graph, as for [`Engine::new`](crate::Engine::new).
///
/// Real-time: waits, for `options.limit`.
pub fn measure_nodes(
    graph: &Graph,
    registry: Arc<Registry>,
    options: &MeasureOptions,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<NodeCosts, EngineError> {
    let _plays = AudioThread::enter();
    let begun = Instant::now();
    let mut bench = NodeBench::new(graph, registry, options)?;
    let max = bench.max_repeats(options.repeats);
    let mut repeats = 0;
    while repeats < max {
        bench.repeat()?;
        repeats += 1;
        let spent = begun.elapsed().as_secs_f64() / options.limit.as_secs_f64().max(1e-3);
        let share = spent.max(f64::from(repeats) / f64::from(max));
        let is_over = options.repeats.is_none() && spent >= 1.0;
        if progress(share.min(1.0)).is_break() || is_over {
            break;
        }
    }
    Ok(bench.costs(repeats))
}

/// The runs, and what has been read so far.
struct NodeBench<'a> {
    graph: &'a Graph,
    registry: Arc<Registry>,
    options: &'a EngineOptions,
    plan: Plan,
    cycles: usize,
    /// Longest time in which a run goes on for deferred work.
    work_limit: Duration,
    sweep: CacheSweep,
    warm: Readings,
    polluted: Readings,
    work: WorkReadings,
}

impl<'a> NodeBench<'a> {
    fn new(
        graph: &'a Graph,
        registry: Arc<Registry>,
        options: &'a MeasureOptions,
    ) -> Result<Self, EngineError> {
        let mut trial = DryRun::traced(graph, registry.clone(), &options.engine)?;
        let sweep = CacheSweep::new();
        let begun = Instant::now();
        for _ in 0..WARM_UP {
            sweep.read();
            trial.cycle();
        }
        let one = begun.elapsed() / WARM_UP as u32;
        let steps = trial.plan.steps.len();
        let cycles = cycles(one, options.limit, steps);
        Ok(Self {
            graph,
            registry,
            options: &options.engine,
            plan: trial.plan,
            cycles,
            work_limit: options.limit / 4,
            sweep,
            warm: Readings::new(steps, cycles),
            polluted: Readings::new(steps, cycles),
            work: WorkReadings::default(),
        })
    }

    fn max_repeats(&self, asked: Option<u32>) -> u32 {
        let room = MAX_READINGS / (self.cycles * (self.plan.steps.len() + 1));
        let room = u32::try_from(room).unwrap_or(u32::MAX).max(1);
        asked.unwrap_or(MAX_REPEATS).clamp(1, room)
    }

    /// Makes one run with warm caches and one with polluted ones.
    fn repeat(&mut self) -> Result<(), EngineError> {
        self.run(true)?;
        self.run(false)
    }

    /// Makes one run. It is longer where there is deferred work.
    fn run(&mut self, is_warm: bool) -> Result<(), EngineError> {
        let mut run = DryRun::traced(self.graph, self.registry.clone(), self.options)?;
        let sweep = Some(&self.sweep).filter(|_| !is_warm);
        let readings = match is_warm {
            true => &mut self.warm,
            false => &mut self.polluted,
        };
        let (begun, mut requests) = (Instant::now(), RunRequests::default());
        let all = WARM_UP + self.cycles;
        let with_work = match run.has_deferred() {
            true => work_cycles(self.options),
            false => 0,
        };
        let mut number = 0;
        while number < all || (number < with_work && begun.elapsed() < self.work_limit) {
            let is_read = number < all;
            sweep.iter().filter(|_| is_read).for_each(|it| it.read());
            run.cycle();
            let cycle = number.checked_sub(WARM_UP).filter(|_| is_read);
            run.records(|record| {
                if let Some(cycle) = cycle {
                    readings.feed(cycle, record);
                }
            });
            self.work.read(&run, &mut requests, sweep);
            number += 1;
        }
        Ok(())
    }

    fn costs(self, repeats: u32) -> NodeCosts {
        let scale = TickScale::calibrated();
        let mark_ns = mark_ns(scale);
        let of_step = |index: usize, step: &Step| {
            let is_due =
                |cycle| (WARM_UP + cycle) as u64 % u64::from(step.every) == u64::from(step.phase);
            StepCost::new(
                self.warm.step(index, scale, mark_ns, is_due),
                self.polluted.step(index, scale, mark_ns, is_due),
            )
        };
        let steps = self.plan.steps.iter().enumerate();
        let nodes = steps.flat_map(|(index, step)| shared(&self.plan, step, of_step(index, step)));
        let nodes = nodes.filter_map(|(id, cost)| {
            let node = self.graph.node(id)?;
            Some(NodeCost {
                node: id,
                name: node.name.clone(),
                kind: node.effective_kind().to_owned(),
                cost,
                work: self.work.of_node(id, scale),
            })
        });
        NodeCosts {
            block: self.plan.block,
            rate: self.plan.rate,
            nodes: nodes.collect(),
            cycle: StepCost::new(
                self.warm.cycle(scale, mark_ns),
                self.polluted.cycle(scale, mark_ns),
            ),
            cycles: self.cycles as u32,
            repeats,
            mark_ns,
            swept_bytes: self.sweep.bytes(),
        }
    }
}

/// Number of cycles of a run with deferred work.
fn work_cycles(options: &EngineOptions) -> usize {
    let frames = WORK_SPAN_S * u64::from(options.rate.hz());
    let cycles = frames.div_ceil(u64::from(options.block.0.max(1)));
    usize::try_from(cycles).map_or(MAX_CYCLES, |it| it.min(MAX_CYCLES))
}

/// Number of cycles of a run, such that several repeats fit.
fn cycles(one: Duration, limit: Duration, steps: usize) -> usize {
    let (min, max) = CYCLES;
    let in_time = limit.as_nanos() / u128::from(2 * MIN_REPEATS) / one.as_nanos().max(1);
    let in_memory = MAX_READINGS / (MIN_REPEATS as usize * (steps + 1));
    usize::try_from(in_time)
        .unwrap_or(max)
        .min(in_memory)
        .clamp(min, max)
}

/// Nodes whose cost a step's is: its node, or the members of a loop.
fn shared(plan: &Plan, step: &Step, cost: StepCost) -> Vec<(NodeId, StepCost)> {
    match step.op {
        StepOp::Process { node, .. } | StepOp::Sink { node } => vec![(node, cost)],
        // A measured cost says nothing of these: a line's writing half is always a copy, and so are a relay and an
        // aligner.
        StepOp::WriteLine { .. }
        | StepOp::Silence { .. }
        | StepOp::Send { .. }
        | StepOp::Receive { .. }
        | StepOp::Align { .. } => Vec::new(),
        StepOp::Loop(id) => {
            let members = plan.loops[id.0 as usize].steps.of(&plan.loop_steps);
            let all: u64 = members.iter().map(|m| m.cost.0).sum();
            let share = |member: &Step| member.cost.0 as f64 / all.max(1) as f64;
            let each = members
                .iter()
                .flat_map(|m| shared(plan, m, part(cost, share(m))));
            each.collect()
        }
    }
}

fn part(mut cost: StepCost, share: f64) -> StepCost {
    for times in [&mut cost.warm, &mut cost.polluted] {
        for ns in [&mut times.typical, &mut times.worst] {
            *ns = Nanos((ns.0 as f64 * share).round() as u64);
        }
    }
    cost
}
