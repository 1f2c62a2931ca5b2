//! Latency compensation: the edges that a plan delays, and their delays.

mod common;
use common::Patch;
use common::random::{patches, wild_patches};
use divisi_plan::{
    AlignerTap, ChannelSource, DelayedEdge, FadeState, Plan, PreviousDelays, StepInput, StepOp,
    StepOutput, compile,
};
use graph::{Edit, NodeId};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use units::Frames;

/// Nodes of these kinds.
fn nodes<const N: usize>(patch: &mut Patch, kinds: [&str; N]) -> [NodeId; N] {
    kinds.map(|kind| patch.add(kind))
}

fn set_latency(patch: &mut Patch, id: NodeId, frames: u32) {
    patch.options.latencies.insert(id, Frames(frames));
}

/// The delayed edges, by the nodes at their ends, and their delays in frames.
fn delays(plan: &Plan) -> Vec<(u32, u32, u32)> {
    let delayed = plan.delayed_edges.iter();
    let delays = delayed.map(|it| (it.from.node.0, it.to.node.0, it.tap.frames.0));
    delays.collect()
}

/// State of a fade: over, or still near its old delay.
fn fade_state(is_over: bool) -> impl Fn(&DelayedEdge) -> FadeState {
    move |it| match is_over {
        true => FadeState::Done,
        false => FadeState::Fading(it.tap.previous),
    }
}

fn valid_plan(patch: &Patch) -> Plan {
    let plan = patch.plan();
    assert_eq!(plan.validate(), Ok(()));
    plan
}

/// An oscillator by way of two nodes to a mixer and a sink.
fn diamond() -> (Patch, [NodeId; 5]) {
    let mut patch = Patch::default();
    let all = nodes(&mut patch, ["osc", "mod", "mod", "mix", "sink"]);
    let [osc, a, b, mix, sink] = all;
    patch.wire(osc, a);
    patch.wire(osc, b);
    patch.wire(a, mix);
    patch.wire_ports((b, 0), (mix, 1));
    patch.wire(mix, sink);
    (patch, all)
}

#[test]
fn the_early_path_of_two_waits_for_the_late_one() {
    let (mut patch, [_, a, b, mix, _]) = diamond();
    set_latency(&mut patch, a, 100);
    let plan = valid_plan(&patch);
    assert_eq!(delays(&plan), [(b.0, mix.0, 100)]);
    assert_eq!(plan.latency, Frames(100));
    assert_eq!(plan.aligners.len(), 1);
    assert_eq!(plan.steps.len(), 6);
    set_latency(&mut patch, b, 30);
    assert_eq!(delays(&valid_plan(&patch)), [(b.0, mix.0, 70)]);
    set_latency(&mut patch, b, 100);
    let plan = valid_plan(&patch);
    assert!(plan.aligners.is_empty() && plan.delayed_edges.is_empty());
    assert_eq!(plan.latency, Frames(100));
}

#[test]
fn edges_that_mix_at_one_port_are_brought_to_one_time() {
    let mut patch = Patch::default();
    let [osc, a, sink] = nodes(&mut patch, ["osc", "mod", "sink"]);
    patch.wire(osc, a);
    patch.wire(a, sink);
    patch.wire(osc, sink);
    set_latency(&mut patch, a, 7);
    assert_eq!(delays(&valid_plan(&patch)), [(osc.0, sink.0, 7)]);
}

#[test]
fn all_sinks_are_as_late_as_the_latest() {
    let mut patch = Patch::default();
    let [osc, a, left, right] = nodes(&mut patch, ["osc", "mod", "sink", "sink"]);
    patch.wire(osc, a);
    patch.wire(a, left);
    patch.wire(osc, right);
    set_latency(&mut patch, a, 64);
    assert_eq!(delays(&valid_plan(&patch)), [(osc.0, right.0, 64)]);
}

#[test]
fn readers_with_equal_delays_share_a_tap_and_all_readers_of_an_output_a_line() {
    let mut patch = Patch::default();
    let [osc, a, b] = nodes(&mut patch, ["osc", "mod", "mod"]);
    set_latency(&mut patch, a, 10);
    set_latency(&mut patch, b, 300);
    patch.wire(osc, a);
    patch.wire(osc, b);
    for from in [a, a, b] {
        let mix = patch.add("mix");
        patch.wire(from, mix);
        patch.wire_ports((osc, 0), (mix, 1));
    }
    let plan = valid_plan(&patch);
    assert_eq!(plan.delayed_edges.len(), 3);
    assert_eq!(plan.aligners.len(), 1);
    let taps: Vec<u32> = plan.taps.iter().map(|tap| tap.frames.0).collect();
    assert_eq!(taps, [10, 300]);
}

#[test]
fn nested_diamonds_are_aligned_at_each_join() {
    let mut patch = Patch::default();
    let [osc, a, inner, c, outer, sink] =
        nodes(&mut patch, ["osc", "mod", "mix", "mod", "mix", "sink"]);
    for (from, to, port) in [
        (osc, a, 0),
        (a, inner, 0),
        (osc, inner, 1),
        (inner, c, 0),
        (c, outer, 0),
        (osc, outer, 1),
        (outer, sink, 0),
    ] {
        patch.wire_ports((from, 0), (to, port));
    }
    set_latency(&mut patch, a, 5);
    set_latency(&mut patch, c, 20);
    let plan = valid_plan(&patch);
    assert_eq!(delays(&plan), [(osc.0, inner.0, 5), (osc.0, outer.0, 25)]);
    assert_eq!(plan.aligners.len(), 1, "both are the oscillator's");
    assert_eq!(plan.latency, Frames(25));
}

#[test]
fn silent_nodes_are_never_aligned() {
    let (mut patch, [_, a, b, mix, _]) = diamond();
    set_latency(&mut patch, a, 100);
    patch.graph.node_mut(b).unwrap().enabled = false;
    assert_eq!(delays(&valid_plan(&patch)), []);
    patch.graph.node_mut(b).unwrap().enabled = true;
    patch.graph.node_mut(a).unwrap().enabled = false;
    let plan = valid_plan(&patch);
    assert_eq!((delays(&plan), plan.latency), (vec![], Frames(0)));
    assert!(plan.latency < Frames(1), "{mix:?} reads one path");
}

/// x goes in at `mix`, round `mod` and `delay`, and out to two sinks beside x itself.
#[test]
fn a_cycle_counts_as_one_node_and_nothing_is_delayed_within_it() {
    let mut patch = Patch::default();
    let [x, first, mix, a, out, sink] =
        nodes(&mut patch, ["osc", "mod", "mix", "mod", "mix", "sink"]);
    let delay = patch.add_with("delay", &[("time", 0.01)]);
    let other = patch.add("osc");
    for (from, to, port) in [
        (x, first, 0),
        (first, mix, 0),
        (mix, a, 0),
        (a, delay, 0),
        (delay, mix, 1),
        (other, a, 0),
        (delay, out, 0),
        (x, out, 1),
        (out, sink, 0),
    ] {
        patch.wire_ports((from, 0), (to, port));
    }
    set_latency(&mut patch, first, 50);
    set_latency(&mut patch, a, 8);
    let plan = valid_plan(&patch);
    let expected = [(other.0, a.0, 50), (x.0, out.0, 58)];
    assert_eq!(delays(&plan), expected, "what enters enters together");
    assert_eq!(plan.latency, Frames(58));
}

#[test]
fn events_wait_like_sound() {
    let mut patch = Patch::default();
    let [player, first, second, sink] = nodes(&mut patch, ["player", "synth", "synth", "sink"]);
    patch.wire_ports((player, 1), (first, 1));
    patch.wire_ports((first, 1), (second, 1));
    patch.wire_ports((player, 1), (second, 1));
    patch.wire_ports((player, 0), (second, 0));
    patch.wire(second, sink);
    set_latency(&mut patch, first, 40);
    let plan = valid_plan(&patch);
    let expected = [(player.0, second.0, 40); 2];
    assert_eq!(delays(&plan), expected, "the number and the events");
    assert_eq!(plan.aligners.len(), 2);
}

#[test]
fn without_latencies_or_when_it_is_off_nothing_is_delayed() {
    let (mut patch, [_, a, b, ..]) = diamond();
    let plain = valid_plan(&patch);
    set_latency(&mut patch, a, 0);
    assert_eq!(valid_plan(&patch), plain);
    set_latency(&mut patch, a, 100);
    patch.options.compensate_latency = false;
    let mut off = valid_plan(&patch);
    assert_eq!(off.latency, Frames(100), "it is set_latency all the same");
    off.latency = Frames(0);
    assert_eq!(off, plain);
    patch.options.compensate_latency = true;
    set_latency(&mut patch, b, 100);
    let mut level = valid_plan(&patch);
    level.latency = Frames(0);
    assert_eq!(level, plain);
}

#[test]
fn latencies_beyond_all_measure_are_refused_and_not_allocated() {
    let (mut patch, [_, a, ..]) = diamond();
    set_latency(&mut patch, a, u32::MAX);
    let refused = compile(&patch.graph, &patch.catalogue, &patch.options).unwrap_err();
    assert_eq!(refused.0.len(), 1);
    let words = &refused.0[0].message;
    assert!(words.contains("samples in delays"), "{words}");
    patch.options.compensate_latency = false;
    assert_eq!(valid_plan(&patch).latency, Frames(u32::MAX));
}

#[test]
fn events_that_wait_count_as_what_they_take() {
    let mut patch = Patch::default();
    let [first, second, sink] = nodes(&mut patch, ["synth", "synth", "sink"]);
    patch.wire_ports((first, 1), (second, 1));
    patch.wire(second, sink);
    set_latency(&mut patch, first, 4096);
    // 4096 of 24 bytes each, the bound being 2^28 samples.
    for _ in 0..11_000 {
        let player = patch.add("player");
        patch.wire_ports((player, 1), (second, 1));
    }
    let refused = compile(&patch.graph, &patch.catalogue, &patch.options).unwrap_err();
    let words = &refused.0[0].message;
    assert!(words.contains("samples in delays"), "{words}");
}

#[test]
fn an_output_that_is_to_be_heard_at_more_times_than_can_be_counted_is_refused() {
    let mut patch = Patch::default();
    let osc = patch.add("osc");
    let mut last = osc;
    for _ in 0..=65_537 {
        let next = patch.add("mod");
        set_latency(&mut patch, next, 1);
        patch.wire(osc, next);
        if last != osc {
            patch.wire(last, next);
        }
        last = next;
    }
    let refused = compile(&patch.graph, &patch.catalogue, &patch.options).unwrap_err();
    assert_eq!(refused.0.len(), 1);
    assert_eq!(refused.0[0].span.line, 1, "at the oscillator");
    let words = &refused.0[0].message;
    assert!(
        words.contains("more than 65535 different delays"),
        "{words}"
    );
}

#[test]
fn an_edge_that_was_there_goes_over_and_a_new_one_does_not() {
    let (mut patch, [osc, a, b, mix, sink]) = diamond();
    let plain = valid_plan(&patch);
    let before = |patch: &Patch, plan: &Plan, turn, is_settled| {
        Some(PreviousDelays::new(
            &patch.graph,
            &plan.delayed_edges,
            turn,
            fade_state(is_settled),
        ))
    };
    let now = before(&patch, &plain, 1, true);
    set_latency(&mut patch, a, 100);
    patch.wire(osc, sink);
    patch.options.previous = now;
    let on = valid_plan(&patch);
    let taps = |plan: &Plan| {
        let delayed = plan.delayed_edges.iter();
        let taps = delayed.map(|it| (it.from.node, it.to.node, it.tap));
        taps.collect::<Vec<_>>()
    };
    let tap = |frames, was, turn| AlignerTap {
        frames: Frames(frames),
        previous: Frames(was),
        swap: turn,
    };
    let expected = [(b, mix, tap(100, 0, 1)), (osc, sink, tap(100, 100, 0))];
    assert_eq!(taps(&on), expected);
    // Nothing changes: the fade goes on, or is over.
    patch.options.previous = before(&patch, &on, 2, false);
    assert_eq!(taps(&valid_plan(&patch)), expected);
    patch.options.previous = before(&patch, &on, 2, true);
    assert_eq!(taps(&valid_plan(&patch))[0].2, tap(100, 100, 0));
    // Back again: the step stays until that is over.
    let now = before(&patch, &on, 3, true);
    set_latency(&mut patch, a, 0);
    patch.options.previous = now;
    let back = valid_plan(&patch);
    assert_eq!(taps(&back)[0].2, tap(0, 100, 3));
    assert_eq!(back.latency, Frames(0));
    patch.options.previous = before(&patch, &back, 4, true);
    assert_eq!(taps(&valid_plan(&patch)), []);
}

#[test]
fn an_edge_that_an_edit_puts_into_a_cycle_does_not_go_over() {
    let (mut patch, [_, a, b, mix, _]) = diamond();
    set_latency(&mut patch, a, 100);
    let first = valid_plan(&patch);
    assert_eq!(delays(&first), [(b.0, mix.0, 100)]);
    for is_settled in [true, false] {
        let (mut patch, [_, a, b, mix, _]) = diamond();
        set_latency(&mut patch, a, 100);
        let before = PreviousDelays::new(
            &patch.graph,
            &first.delayed_edges,
            1,
            fade_state(is_settled),
        );
        patch.options.previous = Some(before);
        let delay = patch.add_with("delay", &[("time", 0.0004)]);
        patch.wire(mix, delay);
        patch.wire(delay, b);
        let second = valid_plan(&patch);
        let within = second.delayed_edges.iter().find(|it| it.from.node == b);
        assert_eq!(within, None, "{is_settled}");
    }
}

/// Arrival times of all signals, by following the plan; all inputs of a node must arrive at one time.
fn follow(patch: &Patch, plan: &Plan) -> Result<(), TestCaseError> {
    let mut slots: HashMap<u32, u32> = HashMap::new();
    let mut sends: HashMap<u32, u32> = HashMap::new();
    let mut ends = HashSet::new();
    for step in &plan.steps {
        let mut times = HashSet::new();
        for input in step.inputs.of(&plan.inputs) {
            match input {
                StepInput::Events(from) => {
                    let from = from.of(&plan.event_sources).iter();
                    times.extend(from.filter_map(|send| sends.get(&send.0)));
                }
                StepInput::Audio(feeds) => {
                    for feed in feeds.of(&plan.channel_sources) {
                        match feed {
                            ChannelSource::Silence => {}
                            ChannelSource::Slot(slot) => times.extend(slots.get(&slot.0)),
                            ChannelSource::Sum { from, .. } => {
                                let from = from.of(&plan.summed_slots).iter();
                                times.extend(from.filter_map(|slot| slots.get(&slot.0)));
                            }
                        }
                    }
                }
            }
        }
        prop_assert!(times.len() <= 1, "{:?} reads {:?}", step.op, times);
        let time = times.into_iter().next();
        let lag = |id| patch.options.latencies.get(&id).map_or(0, |l| l.0);
        for (port, output) in step.outputs.of(&plan.outputs).iter().enumerate() {
            let given = match step.op {
                StepOp::Silence { .. } => None,
                StepOp::Align { aligner, .. } => {
                    let taps = plan.aligners[aligner.0 as usize].taps.of(&plan.taps);
                    time.map(|time| time + taps[port].frames.0)
                }
                StepOp::Process { node, .. } => Some(time.unwrap_or(0) + lag(node)),
                _ => {
                    ends.extend(time);
                    time
                }
            };
            let (all, indices): (_, Vec<u32>) = match output {
                StepOutput::Events(send) => (&mut sends, vec![send.0]),
                StepOutput::Audio(span) => {
                    let slots_of = span.of(&plan.written_slots).iter();
                    (&mut slots, slots_of.map(|slot| slot.0).collect())
                }
            };
            for index in indices {
                match given {
                    Some(time) => all.insert(index, time),
                    None => all.remove(&index),
                };
            }
        }
    }
    prop_assert!(ends.len() <= 1, "the sinks read at {:?}", ends);
    Ok(())
}

/// Without the edges that go back.
fn forward(mut patch: Patch) -> Patch {
    let edges = patch.graph.edges().to_vec();
    for edge in edges {
        if edge.from.node >= edge.to.node {
            // Two that are alike go together.
            let _ = patch.graph.apply(Edit::Disconnect(edge.from, edge.to));
        }
    }
    patch
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whatever_meets_comes_at_one_time(patch in patches(40)) {
        let mut patch = forward(patch);
        // Delays take their time beside this.
        let sinks: Vec<NodeId> = patch.graph.nodes()
            .filter(|(_, node)| ["sink", "delay"].contains(&node.kind.as_str()))
            .map(|(id, _)| id).collect();
        for id in sinks {
            patch.options.latencies.remove(&id);
            if patch.graph.node(id).unwrap().kind == "delay" {
                patch.graph.node_mut(id).unwrap().enabled = false;
            }
        }
        let plan = compile(&patch.graph, &patch.catalogue, &patch.options).expect("it has no mistakes");
        prop_assert_eq!(plan.validate(), Ok(()));
        follow(&patch, &plan)?;
    }

    #[test]
    fn in_any_graph_edges_within_a_cycle_are_not_delayed(
        patch in prop_oneof![wild_patches(12), patches(20)], edit: prop::sample::Index, is_settled: bool,
        lates in prop::collection::vec(prop_oneof![Just(0), 1..200_u32], 20),
    ) {
        let mut patch = patch;
        for (id, frames) in (0..patch.graph.id_bound() as u32).zip(lates) {
            set_latency(&mut patch, NodeId(id), frames);
        }
        // What was there before an edge was added.
        let edges = patch.graph.edges();
        if let Some(edge) = edges.get(edit.index(edges.len().max(1))).copied() {
            let whole = patch.graph.clone();
            patch.graph.apply(Edit::Disconnect(edge.from, edge.to)).expect("it is there");
            if let Ok(first) = compile(&patch.graph, &patch.catalogue, &patch.options) {
                let before = PreviousDelays::new(&patch.graph, &first.delayed_edges, 1, fade_state(is_settled));
                patch.options.previous = Some(before);
            }
            patch.graph = whole;
        }
        if let Ok(plan) = compile(&patch.graph, &patch.catalogue, &patch.options) {
            prop_assert_eq!(plan.validate(), Ok(()));
            for it in &plan.delayed_edges {
                let mut seen = HashSet::new();
                let mut next = vec![it.to.node];
                while let Some(at) = next.pop() {
                    prop_assert!(at != it.from.node, "{:?} is in a cycle", it);
                    if seen.insert(at) {
                        let enabled = |id| patch.graph.node(id).is_some_and(|node| node.enabled);
                        let edges = patch.graph.edges().iter().filter(|e| e.from.node == at);
                        next.extend(edges.map(|e| e.to.node).filter(|to| enabled(*to)));
                    }
                }
            }
        }
    }

    #[test]
    fn an_edit_that_changes_latencies_leaves_a_sound_plan(
        patch in patches(30), lates in prop::collection::vec(0..3000_u32, 30), is_settled: bool,
    ) {
        let mut patch = patch;
        let first = patch.plan();
        patch.options.previous = Some(PreviousDelays::new(&patch.graph, &first.delayed_edges, 1, fade_state(is_settled)));
        for (id, frames) in (0..patch.graph.id_bound() as u32).zip(lates) {
            set_latency(&mut patch, NodeId(id), frames);
        }
        let second = patch.plan();
        prop_assert_eq!(second.validate(), Ok(()));
        for it in &second.delayed_edges {
            let was = first.delayed_edges.iter().find(|was| (was.from, was.to) == (it.from, it.to));
            prop_assert_eq!(it.tap.previous, was.map_or(Frames(0), |was| was.tap.frames));
        }
    }
}
