//! Feedback through delays is exact in frames, whatever the block, and outlives the plan.

use divisi_check::fixtures::graph;
use divisi_check::rng::Rng;
use divisi_check::test_bench::{ALL_STRATEGIES, RunConfig, TestBench, TestStrategy, registry};
use exec::CycleStatus;
use graph::Graph;
use processor::{Event, EventBody, EventTarget};
use proptest::prelude::*;

const FRAMES: usize = 5000;

fn play(graph: &Graph, config: RunConfig, channels: u16) -> Vec<Vec<u32>> {
    TestBench::new(graph, &registry(), config).render(channels, FRAMES)
}

/// Length of a number of frames, in seconds.
fn seconds(frames: u32) -> String {
    format!("{:.12}", f64::from(frames) / 48_000.0)
}

/// Oscillator `o` with half of itself as it was `delay` frames ago.
fn echo(delay: u32) -> String {
    let time = seconds(delay);
    format!(
        r#"o = {{ kind: "osc", freq: 440, volume: 0.4, }}; s = {{ kind: "sink", }};
        m = {{ kind: "mix", in: 2, out: 1, }}; g = {{ kind: "gain", gain: 0.5, }};
        d = {{ kind: "delay", time: {time}, }};
        o.1 -> m.1 -> s.1; m.1 -> g.1 -> d.1 -> m.2;"#
    )
}

/// The expected output, by a plain loop.
fn plain_echo(delay: u32) -> Vec<u32> {
    let text =
        r#"o = { kind: "osc", freq: 440, volume: 0.4, }; s = { kind: "sink", }; o.1 -> s.1;"#;
    let dry = play(&graph(text, &registry()), RunConfig::reference(64), 1);
    let mut output: Vec<f32> = dry[0].iter().map(|x| f32::from_bits(*x)).collect();
    for at in delay as usize..output.len() {
        output[at] += 0.5 * output[at - delay as usize];
    }
    output.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn feedback_is_what_a_plain_loop_gives_at_any_block() {
    for delay in [1, 2, 7, 63, 64, 65, 300, 4000] {
        let expected = plain_echo(delay);
        let graph = graph(&echo(delay), &registry());
        for block in [1, 2, 10, 64, 100, 1024, 4096] {
            for way in ALL_STRATEGIES {
                let config = RunConfig::new(way, 2, block);
                let played = play(&graph, config, 1);
                assert!(played[0] == expected, "{delay} frames, {config:?}");
            }
        }
    }
}

/// Strips that each hear an oscillator and each other's echo; a line outside of any loop; and one dry channel.
fn strips(delays: &[u32]) -> String {
    let mut text = String::from(
        r#"dry = { kind: "osc", freq: 330, }; q = { kind: "sink", }; dry.1 -> q.1; t = { kind: "sink", };
        late = { kind: "delay", time: 0.0011, }; r = { kind: "sink", }; late.1 -> r.1;"#,
    );
    let strips = delays.len();
    for (strip, delay) in delays.iter().enumerate() {
        let (next, time) = ((strip + 1) % strips, seconds(*delay));
        text += &format!(
            r#"o{strip} = {{ kind: "osc", freq: {strip}71, volume: 0.2, }}; f{strip} = {{ kind: "svf", freq: 900, }};
            m{strip} = {{ kind: "mix", in: 3, out: 1, }}; d{strip} = {{ kind: "delay", time: {time}, }};
            g{strip} = {{ kind: "gain", gain: 0.3, }};
            o{strip}.1 -> m{strip}.1 -> f{strip}.1 -> d{strip}.1 -> g{strip}.1 -> m{next}.2;
            g{strip}.1 -> m{strip}.3; m{strip}.1 -> t.1; f{strip}.2 -> late.1;"#
        );
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn several_loops_give_the_bits_of_single_frames(
        delays in prop::collection::vec(1_u32..200, 1..5),
        block in prop_oneof![1_u32..16, 16_u32..300, 300_u32..=4096],
        way in prop::sample::select(ALL_STRATEGIES.to_vec()),
        workers in 1_usize..=4,
    ) {
        let graph = graph(&strips(&delays), &registry());
        let expected = play(&graph, RunConfig::reference(1), 3);
        let config = RunConfig::new(way, workers, block);
        prop_assert!(play(&graph, config, 3) == expected, "{delays:?}, {config:?}");
    }
}

#[test]
fn what_is_in_the_lines_and_the_nodes_outlives_the_plan() {
    let registry = registry();
    for block in [16, 64, 100] {
        let graph = graph(&strips(&[3, 50, 1000]), &registry);
        let expected = play(&graph, RunConfig::reference(1), 3);
        let mut rng = Rng(5);
        let mut bench = TestBench::new(
            &graph,
            &registry,
            RunConfig::new(TestStrategy::Stealing, 3, block),
        );
        let mut played = vec![Vec::new(); 3];
        while played[0].len() < FRAMES {
            let part = bench.render(3, block as usize * (1 + rng.below(4)));
            played
                .iter_mut()
                .zip(part)
                .for_each(|(all, part)| all.extend(part));
            drop(bench.replace_executor(ALL_STRATEGIES[rng.below(4)], &graph, &registry));
        }
        played
            .iter_mut()
            .for_each(|channel| channel.truncate(FRAMES));
        assert!(played == expected, "{block}");
    }
}

/// Plays with the delay on, off and on again. Replaced executors live on, as if a worker let go of them late.
fn off_and_on(holds_replaced: bool) -> Vec<u32> {
    let registry = registry();
    let on = graph(&echo(1000), &registry);
    let mut off = on.clone();
    off.node_mut(on.find("d").unwrap()).unwrap().enabled = false;
    let way = TestStrategy::Stealing;
    let mut bench = TestBench::new(&on, &registry, RunConfig::new(way, 2, 64));
    let (mut played, mut held) = (Vec::new(), Vec::new());
    for graph in [&off, &on, &on] {
        played.extend(bench.render(1, 1280).remove(0));
        let replaced = bench.replace_executor(way, graph, &registry);
        held.extend(holds_replaced.then_some(replaced));
    }
    played.extend(bench.render(1, 1280).remove(0));
    played
}

#[test]
fn what_a_line_holds_does_not_depend_on_how_long_an_old_plan_lives() {
    assert!(off_and_on(true) == off_and_on(false));
}

/// Plays with the delay turned now and then, each time at its frame.
fn turned(graph: &Graph, config: RunConfig) -> Vec<u32> {
    let mut bench = TestBench::new(graph, &registry(), config);
    let knob = graph.find("d").unwrap();
    let turns = [(333, 40), (1500, 90), (1800, 20), (4200, 33)];
    let block = config.block as usize;
    let mut played = Vec::new();
    while played.len() < FRAMES {
        let now = played.len();
        for (at, frames) in turns
            .iter()
            .filter(|(at, _)| (now..now + block).contains(at))
        {
            let event = Event {
                frame: (at - now) as u32,
                target: EventTarget::Param(0),
                body: EventBody::Value(*frames as f32 / 48_000.0),
            };
            bench.send_event(knob, event);
        }
        assert_eq!(bench.run_cycle(&[]), CycleStatus::Complete);
        let mut out = vec![0.0; block];
        bench.executor.add_output(0, &mut out);
        played.extend(out.iter().map(|x| x.to_bits()));
    }
    played.truncate(FRAMES);
    played
}

#[test]
fn a_delay_that_is_turned_in_its_loop_is_exact_too() {
    let text = echo(60).replace("time:", "min_time: 0.0004, max_time: 0.002, time:");
    let graph = graph(&text, &registry());
    let expected = turned(&graph, RunConfig::reference(1));
    assert!(expected != play(&graph, RunConfig::reference(1), 1)[0]);
    for block in [7, 64, 500, 4096] {
        for way in ALL_STRATEGIES {
            let config = RunConfig::new(way, 2, block);
            assert!(turned(&graph, config) == expected, "{config:?}");
        }
    }
}
