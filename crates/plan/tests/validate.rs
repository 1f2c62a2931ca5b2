//! Faults that `validate` finds in broken plans.

mod common;
use common::random::patches;
use common::symbols::Follower;
use common::{Patch, chain};
use divisi_plan::{
    AlignerId, ChannelSource, IndexRange, Plan, SlotId, Step, StepId, StepOp, StepOutput, TaskId,
    compile,
};
use graph::{NodeId, Signal};
use proptest::prelude::*;
use units::{Channels, Frames};

/// Two chains of three side by side, joined before a sink.
fn two_chains() -> Plan {
    let mut patch = Patch::default();
    let ends = [chain(&mut patch, 3), chain(&mut patch, 3)];
    let mix = patch.add("mix");
    patch.wire_ports((ends[0], 0), (mix, 0));
    patch.wire_ports((ends[1], 0), (mix, 1));
    let sink = patch.add("sink");
    patch.wire(mix, sink);
    patch.options.workers = 2;
    patch.plan()
}

/// The slot that a step writes first.
fn written(plan: &mut Plan, step: usize) -> &mut SlotId {
    let StepOutput::Audio(span) = plan.outputs[plan.steps[step].outputs.start as usize] else {
        panic!("it gives no sound");
    };
    &mut plan.written_slots[span.start as usize]
}

fn fault(plan: &Plan, words: &str) {
    let faults = plan.validate().expect_err("it is broken");
    assert!(faults.iter().any(|f| f.contains(words)), "{faults:?}");
}

/// Takes the successor at `index` out, and its count too if `and_count`.
fn drop_successor(plan: &mut Plan, index: usize, and_count: bool) {
    let removed = plan.successors.remove(index);
    for step in &mut plan.steps {
        let move_up = |at: &mut u32| *at -= u32::from(*at as usize > index);
        move_up(&mut step.successors.start);
        move_up(&mut step.successors.end);
    }
    if and_count {
        plan.steps[removed.0 as usize].activation -= 1;
    }
}

#[test]
fn the_whole_plan_is_sound() {
    assert_eq!(two_chains().validate(), Ok(()));
}

#[test]
fn steps_that_run_together_and_share_a_slot_are_found() {
    let mut plan = two_chains();
    // The first steps of both chains, and those that read them, agree on one slot.
    let shared = *written(&mut plan, 0);
    let other = *written(&mut plan, 3);
    assert_ne!(shared, other);
    *written(&mut plan, 3) = shared;
    for feed in &mut plan.channel_sources {
        if *feed == ChannelSource::Slot(other) {
            *feed = ChannelSource::Slot(shared);
        }
    }
    fault(&plan, "overwrites slot");
}

/// An oscillator to a mixer, straight and by way of a node that lags.
fn aligned() -> Plan {
    let mut patch = Patch::default();
    let [osc, late, mix, sink] = ["osc", "mod", "mix", "sink"].map(|kind| patch.add(kind));
    patch.wire(osc, late);
    patch.wire(late, mix);
    patch.wire_ports((osc, 0), (mix, 1));
    patch.wire(mix, sink);
    patch.options.latencies.insert(late, Frames(10));
    patch.plan()
}

/// The step that makes up for latency.
fn aligner(plan: &mut Plan) -> &mut Step {
    let is_align = |step: &&mut Step| matches!(step.op, StepOp::Align { .. });
    plan.steps.iter_mut().find(is_align).expect("it has one")
}

#[test]
fn an_aligner_that_is_not_there_rests_or_gives_something_else_is_found() {
    assert_eq!(aligned().validate(), Ok(()));
    let mut plan = aligned();
    let node = NodeId(0);
    aligner(&mut plan).op = StepOp::Process { node, line: None };
    fault(&plan, "aligner 0 has not exactly one step");
    let mut plan = aligned();
    aligner(&mut plan).every = 2;
    fault(&plan, "aligner 0 does not run in every cycle");
    let mut plan = aligned();
    plan.aligners[0].signal = Signal::Audio(Channels(2));
    fault(&plan, "aligner 0 has ports unlike its output");
    let mut plan = aligned();
    plan.aligners[0].taps = IndexRange::default();
    fault(&plan, "has wrong ports for its operation");
    let mut plan = aligned();
    let aligner_id = AlignerId(1);
    aligner(&mut plan).op = StepOp::Align {
        node,
        aligner: aligner_id,
    };
    fault(&plan, "has wrong ports for its operation");
    let mut plan = aligned();
    plan.delayed_edges[0].tap.frames = Frames(11);
    fault(&plan, "an edge has a delay that no aligner has");
    let mut plan = aligned();
    plan.taps = vec![plan.taps[0]; 65_536];
    plan.aligners[0].taps.end = 65_536;
    let start = plan.outputs.len() as u32;
    let first = aligner(&mut plan).outputs.start as usize;
    let port = plan.outputs[first];
    plan.outputs.extend(std::iter::repeat_n(port, 65_536));
    let end = start + 65_536;
    aligner(&mut plan).outputs = IndexRange { start, end };
    fault(&plan, "aligner 0 has too many taps");
    let mut plan = aligned();
    plan.aligners.push(plan.aligners[0]);
    fault(&plan, "aligners are not in the order of their outputs");
}

#[test]
fn swapped_slots_are_found() {
    let mut plan = two_chains();
    let (a, b) = (*written(&mut plan, 0), *written(&mut plan, 3));
    *written(&mut plan, 0) = b;
    *written(&mut plan, 3) = a;
    fault(&plan, "but does not wait for step");
}

#[test]
fn a_step_that_writes_what_it_reads_is_found() {
    let mut plan = two_chains();
    *written(&mut plan, 1) = *written(&mut plan, 0);
    fault(&plan, "which it reads or has written");
}

#[test]
fn a_lost_successor_is_found() {
    let mut plan = two_chains();
    drop_successor(&mut plan, 0, false);
    fault(&plan, "and waits for");
    let mut plan = two_chains();
    drop_successor(&mut plan, 0, true);
    fault(&plan, "but does not wait for step");
}

#[test]
fn a_read_of_nothing_is_found() {
    let mut plan = two_chains();
    plan.slots += 1;
    let unwritten = SlotId(plan.slots - 1);
    let feed = plan
        .channel_sources
        .iter_mut()
        .find(|f| matches!(f, ChannelSource::Slot(_)));
    *feed.expect("some step reads") = ChannelSource::Slot(unwritten);
    fault(&plan, "which no step before it writes");
}

#[test]
fn a_sink_that_is_overwritten_is_found() {
    let mut plan = two_chains();
    let last = plan.steps.len() - 1;
    let shared = *written(&mut plan, 0);
    *written(&mut plan, last) = shared;
    plan.output_channels[0].slot = shared;
    fault(&plan, "which must be kept");
}

#[test]
fn lanes_that_wait_for_each_other_are_found() {
    let mut plan = two_chains();
    plan.worker_tasks = vec![vec![TaskId(1), TaskId(3)], vec![TaskId(4), TaskId(0)]];
    for step in [2, 5, 6, 7] {
        plan.worker_tasks[0].push(TaskId(step));
    }
    fault(&plan, "the schedule deadlocks");
    plan.worker_tasks = vec![(0..plan.tasks.len() as u32).map(TaskId).collect()];
    assert_eq!(plan.validate(), Ok(()));
    plan.worker_tasks[0].push(TaskId(0));
    fault(&plan, "exactly once");
}

#[test]
fn a_short_delay_that_is_read_too_early_is_found() {
    let mut patch = Patch::default();
    let osc = patch.add("osc");
    let delay = patch.add_with("delay", &[("time", 0.001)]);
    let sink = patch.add("sink");
    patch.wire(osc, delay);
    patch.wire(delay, sink);
    let mut plan = patch.plan();
    // Between write and read.
    let index = plan.steps[1].successors.start as usize;
    drop_successor(&mut plan, index, true);
    fault(&plan, "reads line 0");
}

#[test]
fn indices_out_of_bounds_are_found_and_do_not_panic() {
    let mut plan = two_chains();
    plan.steps[0].outputs.end = 1000;
    fault(&plan, "points outside");
    let mut plan = two_chains();
    plan.steps[0].inputs = IndexRange { start: 3, end: 2 };
    fault(&plan, "points outside");
    let mut plan = two_chains();
    plan.successors[0] = StepId(1000);
    fault(&plan, "there is no step");
    let mut plan = two_chains();
    plan.output_channels[0].slot = SlotId(1000);
    fault(&plan, "names slot 1000");
}

/// One change for the worse, perhaps.
fn spoil(plan: &mut Plan, (what, a, b): (u8, usize, usize)) {
    fn pick<T>(all: &[T], at: usize) -> Option<usize> {
        (!all.is_empty()).then(|| at % all.len())
    }
    match what % 5 {
        0 => {
            if let (Some(a), Some(b)) = (pick(&plan.written_slots, a), pick(&plan.written_slots, b))
            {
                plan.written_slots.swap(a, b);
            }
        }
        1 => {
            if let (Some(a), Some(b)) = (pick(&plan.written_slots, a), pick(&plan.written_slots, b))
            {
                plan.written_slots[a] = plan.written_slots[b];
            }
        }
        2 => {
            if let Some(at) = pick(&plan.successors, a) {
                drop_successor(plan, at, true);
            }
        }
        3 => {
            if let (Some(a), Some(b)) = (
                pick(&plan.channel_sources, a),
                pick(&plan.channel_sources, b),
            ) {
                plan.channel_sources.swap(a, b);
            }
        }
        _ => {
            if let (Some(a), Some(b)) = (pick(&plan.summed_slots, a), pick(&plan.written_slots, b))
            {
                plan.summed_slots[a] = plan.written_slots[b];
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_it_lets_pass_computes_the_same_in_any_order(
        patch in patches(40), changes in prop::collection::vec(any::<(u8, usize, usize)>(), 1..3),
    ) {
        let mut plan = compile(&patch.graph, &patch.catalogue, &patch.options).expect("it is right");
        changes.into_iter().for_each(|change| spoil(&mut plan, change));
        if plan.validate().is_ok() {
            let outcomes = |seed| {
                let mut follower = Follower::new(&plan);
                (0..3).map(|cycle| follower.cycle(cycle, seed)).collect::<Vec<_>>()
            };
            let first = outcomes(0);
            for seed in 1..8 {
                prop_assert_eq!(&outcomes(seed), &first);
            }
        }
    }
}

#[test]
fn ids_of_nodes_are_no_indices_of_steps() {
    let mut patch = Patch::default();
    let removed = patch.add("osc");
    chain(&mut patch, 2);
    patch.graph.remove(removed);
    let plan = patch.plan();
    assert_eq!(plan.validate(), Ok(()));
    assert!(patch.graph.node(NodeId(2)).is_some() && plan.steps.len() == 2);
}
