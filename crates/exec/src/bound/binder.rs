//! Binds a plan: every index becomes a pointer. All memory of an executor is allocated here.

use super::bind_step::{StepBinder, count_channels, node_of, slot};
use super::delay_lines::DelayLines;
use super::plan::{BoundPlan, SinkChannel, StepIndex};
use super::readers::read_outputs;
use super::ring::DelayLineMemory;
use super::stage_buffer::StageBufferMemory;
use super::step::BoundStep;
use super::table::Table;
use super::task::Successor;
use crate::errors::ErrorCounters;
use crate::processors::ProcessorPool;
use crate::runtime::SharedRuntime;
use graph::NodeId;
use plan::{Plan, SlotId, events_per_port};
use processor::{Content, RawChannel, RawEvents, RawPort};
use rt::arena::Arena;
use std::cell::UnsafeCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use units::Frames;
use workers::DeferredJobs;

/// Arguments for making an executor.
pub struct Binding<'a> {
    /// The plan to run.
    pub plan: &'a Plan,
    /// The processors of its nodes. A node without a processor is silent.
    pub processors: &'a ProcessorPool,
    /// The delay lines, which the executor takes over with their content.
    pub delay_lines: &'a mut DelayLines,
    /// State shared with the engine's other executors.
    pub runtime: Arc<SharedRuntime>,
    /// Number of the device's input channels that may be read.
    pub input_channels: u16,
}

/// Maximum number of steps in later pipeline stages that can receive events between two cycles.
const MAX_STEPS_WITH_NEW_EVENTS: usize = 4096;

/// Binds a plan to processors and memory.
pub(crate) fn bind(binding: &mut Binding<'_>) -> BoundPlan {
    // Before any mark of a processor is read.
    let quarantined_before = binding.runtime.quarantined.len();
    let (plan, inputs) = (binding.plan, u32::from(binding.input_channels));
    // The slots of the plan, one that stays silent, and one per device input.
    let arena = Arena::new(
        plan.slots as usize + 1 + inputs as usize,
        plan.block.count(),
    );
    let silence = slot(&arena, SlotId(plan.slots));
    // SAFETY: the arena is still ours alone. No step writes this slot, so it stays +0.0.
    unsafe { silence.set(Content::Silent) };
    let events: Box<[_]> = (0..plan.event_buffers)
        .map(|_| event_buffer(plan.block))
        .collect();
    let lines = delay_line_memories(plan, binding.delay_lines);
    let stage_buffers = stage_buffers(plan);
    let mut binder = StepBinder {
        plan,
        processors: binding.processors,
        arena: &arena,
        silence,
        events: &events,
        lines: &lines,
        stage_buffers: &stage_buffers,
        aligners: &mut binding.delay_lines.aligners,
        with_copies: nodes_with_copies(plan),
        is_read: read_outputs(plan),
        channels: Table::new(count_channels(plan), silence),
        ports: Table::new(plan.inputs.len() + plan.outputs.len(), RawPort::new(&[])),
    };
    let steps: Box<[BoundStep]> = (plan.steps.iter())
        .map(|step| binder.bind(step, false))
        .collect();
    let loop_steps: Box<[BoundStep]> = (plan.loop_steps.iter())
        .map(|step| binder.bind(step, true))
        .collect();
    let (channels, ports) = (binder.channels, binder.ports);
    binding.delay_lines.keep_those_of(plan);
    let successors = plan.task_successors.iter();
    let sinks = sinks(plan, &arena);
    let new_event_capacity = match plan.latency_blocks {
        0 => 0,
        _ => MAX_STEPS_WITH_NEW_EVENTS,
    };
    let bound = BoundPlan {
        id: binding.runtime.new_id(),
        previous_id: AtomicU64::new(0),
        block: plan.block,
        latency_blocks: plan.latency_blocks,
        step_of_node: step_of_node(&steps, &loop_steps),
        copies: copies(&steps),
        steps_with_new_events: UnsafeCell::new(Vec::with_capacity(new_event_capacity)),
        tasks: plan.tasks.as_slice().into(),
        successors: successors
            .map(|t| Successor::new(t.0, &plan.tasks[t.0 as usize]))
            .collect(),
        sinks_of_output: sinks_of_output(&sinks),
        sinks,
        deferred: deferred_jobs(&steps, &loop_steps, binding.processors),
        transport: binding.processors.transport.clone(),
        transport_changed_at: AtomicU64::new(0),
        quarantined: binding.runtime.quarantined.clone(),
        quarantined_before,
        seldom_steps: indexed(&steps, &loop_steps)
            .filter(|(_, step)| step.cold.every != 1)
            .map(|(index, _)| index)
            .collect(),
        has_kept_events: AtomicBool::new(false),
        steps,
        loop_steps,
        row_members: Box::default(),
        row_writes: Box::default(),
        errors: ErrorCounters::default(),
        device_inputs: device_inputs(plan, &arena, inputs),
        _memory: (arena, channels, ports, events, lines),
    };
    bound.reset_pending();
    bound
}

/// The nodes that a plan runs on several workers.
fn nodes_with_copies(plan: &Plan) -> HashSet<NodeId> {
    let copies = plan.steps.iter().filter(|step| step.copy > 0);
    copies.filter_map(|step| node_of(step.op)).collect()
}

/// The slots of the device's inputs: the last ones of the arena.
fn device_inputs(plan: &Plan, arena: &Arena, inputs: u32) -> Box<[RawChannel]> {
    let input = |i| slot(arena, SlotId(plan.slots + 1 + i));
    (0..inputs).map(input).collect()
}

fn delay_line_memories(plan: &Plan, delay_lines: &mut DelayLines) -> Vec<Arc<DelayLineMemory>> {
    let lines = plan.delay_lines.iter();
    lines.map(|l| delay_lines.memory(l, plan.block)).collect()
}

fn stage_buffers(plan: &Plan) -> Vec<Arc<StageBufferMemory>> {
    let memory = |b| Arc::new(StageBufferMemory::new(b, plan.block));
    plan.stage_buffers.iter().map(memory).collect()
}

fn event_buffer(block: Frames) -> UnsafeCell<RawEvents> {
    UnsafeCell::new(RawEvents {
        events: Vec::with_capacity(events_per_port(block)),
        dropped: 0,
    })
}

fn sinks(plan: &Plan, arena: &Arena) -> Box<[SinkChannel]> {
    let sinks = plan.output_channels.iter().map(|sink| SinkChannel {
        output: sink.channel,
        from: slot(arena, sink.slot),
    });
    let mut sinks: Box<[SinkChannel]> = sinks.collect();
    // Those of one output stay in the plan's order, in which they are added.
    sinks.sort_by_key(|sink| sink.output);
    sinks
}

/// By output channel: the range of its sinks among all, which are sorted by it.
fn sinks_of_output(sinks: &[SinkChannel]) -> Box<[Range<usize>]> {
    let outputs = sinks.last().map_or(0, |last| usize::from(last.output) + 1);
    let begin = |output: usize| sinks.partition_point(|it| usize::from(it.output) < output);
    (0..outputs)
        .map(|output| begin(output)..begin(output + 1))
        .collect()
}

fn deferred_jobs(
    steps: &[BoundStep],
    loop_steps: &[BoundStep],
    pool: &ProcessorPool,
) -> DeferredJobs {
    let steps = steps.iter().chain(loop_steps);
    let processors = steps.filter_map(|s| s.cold.processor.as_ref());
    let runners = processors.flat_map(|p| p.runners.iter().cloned());
    DeferredJobs::new(runners.collect(), pool.waiting.clone())
}

/// Pairs (step of the original, step of the duplicate), sorted.
fn copies(steps: &[BoundStep]) -> Box<[(u32, u32)]> {
    let all = || (0..).zip(steps).filter(|(_, step)| step.cold.has_copies);
    let originals = all().filter(|(_, step)| step.cold.copy == 0);
    let originals: HashMap<_, u32> = originals.map(|(at, step)| (step.cold.node, at)).collect();
    let copies = all().filter(|(_, step)| step.cold.copy > 0);
    let mut pairs: Vec<_> = copies
        .filter_map(|(at, step)| Some((*originals.get(&step.cold.node)?, at)))
        .collect();
    pairs.sort_unstable();
    pairs.into_boxed_slice()
}

/// All steps, with their indices.
fn indexed<'a>(
    steps: &'a [BoundStep],
    loop_steps: &'a [BoundStep],
) -> impl Iterator<Item = (StepIndex, &'a BoundStep)> {
    let outer = (0..).map(StepIndex::Outer).zip(steps);
    outer.chain((0..).map(StepIndex::Inner).zip(loop_steps))
}

/// By node: the step of its processor. A node can have more steps, for its delay lines, pipeline buffers and aligners.
/// Duplicates get their events by way of the original.
fn step_of_node(steps: &[BoundStep], loop_steps: &[BoundStep]) -> Box<[Option<StepIndex>]> {
    let all = indexed(steps, loop_steps);
    let mut table = Vec::new();
    for (index, step) in all.filter(|(_, s)| s.operation.is_node_work() && s.cold.copy == 0) {
        let Some(node) = step.cold.node else { continue };
        let node = node.0 as usize;
        if table.len() <= node {
            table.resize(node + 1, None);
        }
        table[node] = Some(index);
    }
    table.into_boxed_slice()
}
