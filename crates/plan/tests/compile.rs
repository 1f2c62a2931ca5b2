//! Plans of small graphs, worked by hand.

mod common;
use common::{Patch, chain};
use divisi_plan::{
    ChannelSource, Dag, DagEdge, MachineModel, Plan, Step, StepId, StepInput, StepOp, StepOutput,
    TaskId, hlfet, simulate,
};
use graph::{NodeId, ParamValue};
use units::{Frames, Nanos};

/// The steps of a node, in order: where in the plan, and the step.
fn steps_of(plan: &Plan, id: NodeId) -> Vec<(StepId, Step)> {
    let own = |work| match work {
        StepOp::Process { node, .. }
        | StepOp::WriteLine { node, .. }
        | StepOp::Sink { node }
        | StepOp::Silence { node } => node == id,
        _ => false,
    };
    let all = plan.steps_with_ids().map(|(id, step)| (id, *step));
    all.filter(|(_, step)| own(step.op)).collect()
}

fn step_of(plan: &Plan, id: NodeId) -> Step {
    let all = steps_of(plan, id);
    assert_eq!(all.len(), 1);
    all[0].1
}

/// The feeds of the first input of a step.
fn feeds<'a>(plan: &'a Plan, step: &Step) -> &'a [ChannelSource] {
    match step.inputs.of(&plan.inputs)[0] {
        StepInput::Audio(span) => span.of(&plan.channel_sources),
        StepInput::Events(_) => panic!("it reads events"),
    }
}

fn sound(plan: &Plan) {
    assert_eq!(plan.validate(), Ok(()));
}

#[test]
fn a_line_runs_in_order_through_two_slots() {
    let mut patch = Patch::default();
    let last = chain(&mut patch, 100);
    let sink = patch.add("sink");
    patch.wire(last, sink);
    let plan = patch.plan();
    sound(&plan);
    assert_eq!(plan.steps.len(), 101);
    assert_eq!(plan.slots, 3, "two, and the sink's own");
    assert_eq!(plan.steps[100].op, StepOp::Sink { node: sink });
    assert!(plan.steps[1..].iter().all(|step| step.activation == 1));
}

#[test]
fn a_rake_has_two_slots_a_tooth() {
    let mut patch = Patch::default();
    let mix = patch.add_with("mix", &[("in", 20.0)]);
    for port in 0..20 {
        let end = chain(&mut patch, 5);
        patch.wire_ports((end, 0), (mix, port));
    }
    let sink = patch.add("sink");
    patch.wire(mix, sink);
    let plan = patch.plan();
    sound(&plan);
    assert_eq!(plan.slots, 2 * 20 + 1);
}

#[test]
fn a_short_feedback_is_one_loop_of_rounds_as_long_as_the_delay() {
    let mut patch = Patch::default();
    let osc = patch.add("osc");
    let mix = patch.add("mix");
    let delay = patch.add_with("delay", &[("time", 20.0 / 48_000.0)]);
    let sink = patch.add("sink");
    patch.wire(osc, mix);
    patch.wire(mix, delay);
    patch.wire_ports((delay, 0), (mix, 1));
    patch.wire(mix, sink);
    let plan = patch.plan();
    sound(&plan);
    assert_eq!(plan.loops.len(), 1);
    assert_eq!(plan.loops[0].sub_block, Frames(20));
    let works: Vec<StepOp> = plan.loop_steps.iter().map(|step| step.op).collect();
    let line = divisi_plan::DelayLineId(0);
    let read = StepOp::Process {
        node: delay,
        line: Some(line),
    };
    let inner = StepOp::Process {
        node: mix,
        line: None,
    };
    let write = StepOp::WriteLine { node: delay, line };
    assert_eq!(works, [read, inner, write]);
    assert_eq!(plan.steps.len(), 3);
    assert_eq!(plan.successors_of(StepId(0)), [StepId(1)]);
    assert_eq!(plan.successors_of(StepId(1)), [StepId(2)]);
}

#[test]
fn a_loop_is_as_short_as_the_range_of_its_shortest_delay_allows() {
    let mut patch = Patch::default();
    let mix = patch.add_with("mix", &[("in", 3.0)]);
    let params = [
        ("time", 0.5),
        ("min_time", 10.5 / 48_000.0),
        ("max_time", 0.6),
    ];
    let varies = patch.add_with("delay", &params);
    let short = patch.add_with("delay", &[("time", 30.0 / 48_000.0)]);
    let long = patch.add_with("delay", &[("time", 1.0)]);
    for (port, delay) in (0..).zip([varies, short, long]) {
        patch.wire(mix, delay);
        patch.wire_ports((delay, 0), (mix, port));
    }
    let plan = patch.plan();
    sound(&plan);
    assert_eq!(plan.loops[0].sub_block, Frames(10));
    let spans: Vec<_> = plan
        .delay_lines
        .iter()
        .map(|l| (l.min.0, l.max.0))
        .collect();
    assert!(spans.contains(&(10, 28_800)) && spans.contains(&(48_000, 48_000)));
    // The long one needs no loop: its halves are steps of their own.
    assert_eq!(steps_of(&plan, long).len(), 2);
    assert_eq!(plan.loop_steps.len(), 5);
}

#[test]
fn a_feedback_as_long_as_the_block_needs_no_loop_and_no_order() {
    let mut patch = Patch::default();
    let mix = patch.add("mix");
    let delay = patch.add_with("delay", &[("time", 64.0 / 48_000.0)]);
    patch.wire(mix, delay);
    patch.wire(delay, mix);
    let plan = patch.plan();
    sound(&plan);
    assert!(plan.loops.is_empty());
    let [(read, _), (write, _)] = steps_of(&plan, delay)[..] else {
        panic!("a delay is two steps");
    };
    assert!(read < write);
    assert!(plan.successors_of(write).is_empty());
}

#[test]
fn a_delay_outside_cycles_is_ordered_only_where_it_is_shorter_than_the_block() {
    for (frames, ordered) in [(0.0, true), (63.0, true), (64.0, false), (500.0, false)] {
        let mut patch = Patch::default();
        let osc = patch.add("osc");
        let delay = patch.add_with("delay", &[("time", frames / 48_000.0)]);
        patch.wire(osc, delay);
        let plan = patch.plan();
        sound(&plan);
        let halves = steps_of(&plan, delay);
        let write = halves
            .iter()
            .find(|(_, s)| matches!(s.op, StepOp::WriteLine { .. }));
        let write = write.expect("one half writes").0;
        assert_eq!(
            !plan.successors_of(write).is_empty(),
            ordered,
            "{frames} frames"
        );
    }
}

#[test]
fn a_delay_of_zero_passes_within_a_loop_that_another_cuts() {
    let mut patch = Patch::default();
    let zero = patch.add_with("delay", &[("time", 0.0)]);
    let short = patch.add_with("delay", &[("time", 0.0001)]);
    patch.wire(zero, short);
    patch.wire(short, zero);
    let plan = patch.plan();
    sound(&plan);
    assert_eq!((plan.loops.len(), plan.loop_steps.len()), (1, 4));
    assert_eq!(plan.loops[0].sub_block, Frames(4));
}

#[test]
fn sinks_count_through_unless_they_say_a_channel() {
    let mut patch = Patch::default();
    let osc = patch.add("osc");
    let sinks = [
        patch.add("sink"),
        patch.add_with("sink", &[("channels", 2.0)]),
        patch.add_with("sink", &[("channel", 1.0)]),
        patch.add("sink"),
    ];
    for sink in sinks {
        patch.wire(osc, sink);
    }
    let plan = patch.plan();
    sound(&plan);
    let sources: Vec<_> = plan
        .output_channels
        .iter()
        .map(|s| (s.channel, s.node))
        .collect();
    let [a, b, c, d] = sinks;
    assert_eq!(sources, [(0, a), (0, c), (1, b), (2, b), (4, d)]);
    // One channel spreads over two.
    let both = feeds(&plan, &step_of(&plan, b));
    assert!(matches!(both, [ChannelSource::Slot(x), ChannelSource::Slot(y)] if x == y));
}

#[test]
fn a_muted_node_gives_silence_and_a_muted_sink_keeps_its_place_free() {
    let mut patch = Patch::default();
    let osc = patch.add("osc");
    let through = patch.add("mod");
    let [one, two] = [patch.add("sink"), patch.add("sink")];
    patch.wire(osc, through);
    patch.wire(through, one);
    patch.wire(through, two);
    for id in [through, one] {
        patch.graph.node_mut(id).unwrap().enabled = false;
    }
    let plan = patch.plan();
    sound(&plan);
    let muted = step_of(&plan, through);
    assert_eq!(muted.op, StepOp::Silence { node: through });
    assert!(muted.inputs.is_empty() && muted.activation == 0);
    assert_eq!(muted.cost, Nanos(0));
    assert_eq!(plan.output_channels.len(), 1);
    assert_eq!(
        (
            plan.output_channels[0].channel,
            plan.output_channels[0].node
        ),
        (1, two)
    );
    assert!(matches!(
        feeds(&plan, &step_of(&plan, two)),
        [ChannelSource::Slot(_)]
    ));
}

#[test]
fn a_muted_node_opens_a_cycle() {
    let mut patch = Patch::default();
    let [a, b] = [patch.add("mod"), patch.add("mod")];
    patch.wire(a, b);
    patch.wire(b, a);
    patch.graph.node_mut(b).unwrap().enabled = false;
    sound(&patch.plan());
}

#[test]
fn sums_go_by_source_and_not_by_the_order_of_edges() {
    let mut patch = Patch::default();
    let oscs = [patch.add("osc"), patch.add("osc"), patch.add("osc")];
    let sink = patch.add("sink");
    for osc in oscs.iter().rev() {
        patch.wire(*osc, sink);
    }
    let plan = patch.plan();
    sound(&plan);
    let [ChannelSource::Sum { from, into }] = *feeds(&plan, &step_of(&plan, sink)) else {
        panic!("three make a sum");
    };
    let slots = oscs.map(|osc| {
        let [StepOutput::Audio(span)] = *step_of(&plan, osc).outputs.of(&plan.outputs) else {
            panic!("it gives one sound");
        };
        span.of(&plan.written_slots)[0]
    });
    assert_eq!(from.of(&plan.summed_slots), slots);
    assert!(!slots.contains(&into));
}

#[test]
fn events_go_from_sender_to_hearers() {
    let mut patch = Patch::default();
    let player = patch.add("player");
    let synths = [patch.add("synth"), patch.add("synth")];
    for synth in synths {
        patch.wire_ports((player, 0), (synth, 0));
        patch.wire_ports((player, 1), (synth, 1));
    }
    let plan = patch.plan();
    sound(&plan);
    assert_eq!(plan.event_buffers, 4);
    let sends = step_of(&plan, player).outputs.of(&plan.outputs).to_vec();
    for synth in synths {
        for (input, send) in step_of(&plan, synth)
            .inputs
            .of(&plan.inputs)
            .iter()
            .zip(&sends)
        {
            let (StepInput::Events(sources), StepOutput::Events(send)) = (input, send) else {
                panic!("both are events");
            };
            assert_eq!(sources.of(&plan.event_sources), [*send]);
        }
    }
}

#[test]
fn what_runs_seldom_is_spread_and_what_is_connected_runs_together() {
    let mut patch = Patch::default();
    let lone = [(); 3].map(|()| patch.add("osc"));
    let first = patch.add("osc");
    let second = patch.add("mod");
    patch.wire(first, second);
    for id in lone.into_iter().chain([first, second]) {
        patch.graph.node_mut(id).unwrap().every = 4;
    }
    let phase = |plan: &Plan, id| step_of(plan, id).phase;
    let plan = patch.plan();
    sound(&plan);
    assert_eq!(phase(&plan, first), phase(&plan, second));
    let mut phases = lone.map(|id| phase(&plan, id)).to_vec();
    phases.push(phase(&plan, first));
    phases.sort_unstable();
    assert_eq!(phases, [0, 1, 2, 3]);
    // Measured costs do not change the sound.
    patch
        .options
        .costs
        .by_node
        .insert(lone[2], Nanos(1_000_000));
    let measured = patch.plan();
    for id in lone {
        assert_eq!(phase(&plan, id), phase(&measured, id));
    }
}

#[test]
fn an_absurd_period_takes_no_room() {
    let mut patch = Patch::default();
    let osc = patch.add("osc");
    patch.graph.node_mut(osc).unwrap().every = u32::MAX;
    let step = step_of(&patch.plan(), osc);
    assert_eq!((step.every, step.phase), (u32::MAX, 0));
}

#[test]
fn a_measured_cost_goes_before_the_texts_and_that_before_the_kinds() {
    let mut patch = Patch::default();
    patch.options.block = Frames(128);
    let osc = patch.add_with("osc", &[("channels", 2.0)]);
    assert_eq!(step_of(&patch.plan(), osc).cost, Nanos(400));
    patch.graph.node_mut(osc).unwrap().cost = Some(Nanos(7));
    assert_eq!(step_of(&patch.plan(), osc).cost, Nanos(7));
    patch.options.costs.by_node.insert(osc, Nanos(9));
    assert_eq!(step_of(&patch.plan(), osc).cost, Nanos(9));
}

#[test]
fn costs_beyond_all_measure_do_not_overflow() {
    let mut patch = Patch::default();
    chain(&mut patch, 3);
    for id in 0..3 {
        patch.graph.node_mut(NodeId(id)).unwrap().cost = Some(Nanos(u64::MAX));
    }
    patch.options.workers = 2;
    let plan = patch.plan();
    sound(&plan);
    assert_eq!(plan.lower_bound(2), Nanos(u64::MAX));
}

#[test]
fn latency_is_the_longest_way_to_a_sink_and_ends_where_a_delay_feeds_back() {
    let mut patch = Patch::default();
    let [a, b, unheard] = ["mix", "mod", "mod"].map(|kind| patch.add(kind));
    let delay = patch.add_with("delay", &[("time", 0.0001)]);
    let sink = patch.add("sink");
    patch.wire(a, b);
    patch.wire(b, delay);
    patch.wire(delay, a);
    patch.wire(a, sink);
    patch.wire(b, sink);
    patch.wire(b, unheard);
    for (id, frames) in [(a, 100), (b, 20), (unheard, 1000)] {
        patch.options.latencies.insert(id, Frames(frames));
    }
    assert_eq!(patch.plan().latency, Frames(120));
}

/// Worked by hand. Costs a 2, b 3, c 1, d 4, e 2, f 1, g 1; static levels 8, 6, 6, 5, 3, 1, 1. Of b and c, equally
/// high, c goes first: two wait for it.
#[test]
fn hlfet_places_as_by_hand() {
    let mut patch = Patch::default();
    let costs = [2, 3, 1, 4, 2, 1, 1];
    let nodes = costs.map(|cost| {
        let id = patch.add("mix");
        patch.options.costs.by_node.insert(id, Nanos(cost));
        id
    });
    for (from, to) in [(0, 1), (0, 2), (1, 4), (2, 3), (2, 6), (3, 5), (4, 5)] {
        patch.wire(nodes[from], nodes[to]);
    }
    patch.options.workers = 2;
    let plan = patch.plan();
    sound(&plan);
    assert_eq!(plan.static_levels, [8, 6, 6, 5, 3, 1, 1].map(Nanos));
    let dag = Dag::from_plan(&plan);
    let schedule = hlfet(&dag, 2);
    let times: Vec<Vec<_>> = schedule
        .by_worker
        .iter()
        .map(|lane| {
            lane.iter()
                .map(|p| (p.task.0, p.start.0, p.finish.0))
                .collect()
        })
        .collect();
    assert_eq!(times[0], [(0, 0, 2), (2, 2, 3), (3, 3, 7), (5, 7, 8)]);
    assert_eq!(times[1], [(1, 2, 5), (4, 5, 7), (6, 7, 8)]);
    assert_eq!(schedule.makespan, Nanos(8));
    assert_eq!(plan.worker_tasks, schedule.task_order());
    assert_eq!(plan.lower_bound(2), Nanos(8));
    assert_eq!(dag.critical_path(|_| Nanos(0)), [0, 1, 4, 5].map(TaskId));
    let slower = simulate(
        &dag,
        &MachineModel::without_transfer_cost(2),
        &plan.worker_tasks,
        |id| Nanos(if id.0 == 1 { 10 } else { 1 }),
    );
    assert_eq!(slower.expect("it ends").makespan, Nanos(13));
}

#[test]
fn an_edge_between_tasks_has_the_bytes_that_cross() {
    let mut patch = Patch::default();
    let wide = patch.add_with("mix", &[("channels", 2.0)]);
    let sum = patch.add_with("mix", &[("channels", 2.0)]);
    let [player, synth] = ["player", "synth"].map(|kind| patch.add(kind));
    patch.wire(wide, sum);
    patch.wire_ports((wide, 0), (sum, 1));
    patch.wire_ports((wide, 1), (sum, 1));
    patch.wire_ports((player, 0), (synth, 0));
    patch.wire_ports((player, 1), (synth, 1));
    let delay = patch.add_with("delay", &[("time", 20.0 / 48_000.0)]);
    patch.wire(synth, delay);
    let plan = patch.plan();
    let task = |id, nth: usize| TaskId(steps_of(&plan, id)[nth].0.0);
    let dag = Dag::from_plan(&plan);
    let arc = |task, bytes| DagEdge { task, bytes };
    assert_eq!(dag.len(), plan.tasks.len());
    assert_eq!(
        dag.successors(task(wide, 0)),
        [arc(task(sum, 0), 4 * 64 * 4)]
    );
    assert_eq!(
        dag.successors(task(player, 0)),
        [arc(task(synth, 0), 2 * 64)]
    );
    // The reading half only waits.
    assert_eq!(dag.successors(task(delay, 0)), [arc(task(delay, 1), 0)]);
    assert_eq!(
        dag.predecessors(task(delay, 0)),
        [arc(task(synth, 0), 64 * 4)]
    );
}

#[test]
fn a_number_in_quotes_is_a_number() {
    let mut patch = Patch::default();
    let sink = patch.add("sink");
    let node = patch.graph.node_mut(sink).unwrap();
    node.set("channel", ParamValue::Text("3".into()));
    assert_eq!(patch.plan().output_channels[0].channel, 2);
}

#[test]
fn an_empty_graph_is_an_empty_plan() {
    let mut patch = Patch::default();
    patch.options.workers = 2;
    let plan = patch.plan();
    sound(&plan);
    assert!(plan.steps.is_empty() && plan.worker_tasks.len() == 2);
    assert_eq!(plan.lower_bound(2), Nanos(0));
}
