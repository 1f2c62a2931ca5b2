//! A fault in one node costs that node alone: a panic, a sample that is not a number, too much work.

use divisi_check::fixtures::{add, graph, kind, pass};
use divisi_check::test_bench::{ALL_STRATEGIES, RunConfig, TestBench, rate, registry};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineOptions, Scheduler};
use exec::CycleStatus;
use graph::{Graph, ParamRange, shape};
use processor::{Block, Event, EventBody, EventTarget, ProcessStatus, Registry};
use std::sync::Arc;
use units::{Frames, Nanos};
use workers::{AudioThread, WaitPolicy};

const BLOCK: usize = 64;
/// The frame from which a bomb goes off: in the fifth block.
const FUSE: u64 = 5 * BLOCK as u64 - 16;
const FRAMES: usize = 20 * BLOCK;

fn manners() -> impl Iterator<Item = RunConfig> {
    let run_config = |way, workers| RunConfig {
        strategy: way,
        workers,
        block: BLOCK as u32,
        wait: WaitPolicy::Hybrid,
    };
    ALL_STRATEGIES
        .into_iter()
        .flat_map(move |way| (1..=3).map(move |workers| run_config(way, workers)))
}

/// As [`TestBench::render`], on a thread that plays, whose panics are silent.
fn play(bench: &mut TestBench, channels: u16) -> Vec<Vec<f32>> {
    let mut played = vec![Vec::new(); channels.into()];
    for _ in 0..FRAMES / BLOCK {
        let quiet = AudioThread::enter();
        let outcome = bench.run_cycle(&[]);
        drop(quiet);
        assert_eq!(outcome, CycleStatus::Complete);
        for (channel, played) in (0..channels).zip(&mut played) {
            let mut out = [0.0; BLOCK];
            bench.executor.add_output(channel, &mut out);
            played.extend(out);
        }
    }
    played
}

/// The usual kinds; a bomb passes its input on until it panics, `forked` in a lane of a fork.
fn bombs() -> Registry {
    let mut registry = registry();
    let goes_off = |block: &Block<'_>| block.position() + block.frames() as u64 > FUSE;
    add(&mut registry, kind("bomb", (1, 1)), move |_| {
        move |block: &mut Block<'_>| {
            assert!(!goes_off(block), "a bomb goes off");
            pass(block);
            ProcessStatus::Continue
        }
    });
    add(&mut registry, kind("forked", (1, 1)), move |_| {
        move |block: &mut Block<'_>| {
            let goes_off = goes_off(block);
            block.fork(4, move |lane| {
                assert!(!(goes_off && lane == 2), "a bomb goes off");
            });
            pass(block);
            ProcessStatus::Continue
        }
    });
    add(&mut registry, kind("calm", (1, 1)), |_| {
        |block: &mut Block<'_>| {
            pass(block);
            ProcessStatus::Continue
        }
    });
    registry
}

/// Two branches; the second goes through a node of `kind`.
fn in_a_branch(kind: &str) -> String {
    format!(
        r#"a = {{ kind: "osc", freq: 440, }}; s = {{ kind: "sink", }}; a.1 -> s.1;
        b = {{ kind: "osc", freq: 550, }}; x = {{ kind: "{kind}", }}; t = {{ kind: "sink", }};
        b.1 -> x.1 -> t.1;"#
    )
}

/// Two branches; the second has a loop of 10 frames through a node of `kind`.
fn in_a_loop(kind: &str) -> String {
    format!(
        r#"a = {{ kind: "osc", freq: 440, }}; s = {{ kind: "sink", }}; a.1 -> s.1;
        b = {{ kind: "osc", freq: 550, }}; t = {{ kind: "sink", }};
        m = {{ kind: "mix", in: 2, out: 1, }}; g = {{ kind: "gain", gain: 0.5, }};
        x = {{ kind: "{kind}", }}; d = {{ kind: "delay", time: 0.00021, }};
        b.1 -> m.1 -> t.1; m.1 -> x.1 -> g.1 -> d.1 -> m.2;"#
    )
}

/// Plays `text(kind)` every way. Channel 0 is as if nothing had happened, channel 1 is so before the block in which the
/// bomb goes off, and sounds like `after` from the next block on.
fn goes_off(kind: &str, text: fn(&str) -> String, after: &[f32]) {
    let registry = bombs();
    let calm = graph(&text("calm"), &registry);
    let expected = play(
        &mut TestBench::new(&calm, &registry, RunConfig::reference(BLOCK as u32)),
        2,
    );
    let before = FUSE as usize / BLOCK * BLOCK;
    assert_ne!(
        expected[1][before + 2 * BLOCK..],
        after[before + 2 * BLOCK..]
    );
    for run_config in manners() {
        let mut bench = TestBench::new(&graph(&text(kind), &registry), &registry, run_config);
        let played = play(&mut bench, 2);
        assert_eq!(bench.counts().node_faults, 1, "{kind}, {run_config:?}");
        assert!(
            played[0] == expected[0],
            "{kind}, {run_config:?}: a bystander"
        );
        assert!(
            played[1][..before] == expected[1][..before],
            "{kind}, {run_config:?}: before"
        );
        assert!(
            played[1][before + 2 * BLOCK..] == after[before + 2 * BLOCK..],
            "{kind}, {run_config:?}: after"
        );
    }
}

#[test]
fn a_node_that_panics_is_silent_and_the_others_sound_on() {
    goes_off("bomb", in_a_branch, &[0.0; FRAMES]);
}

#[test]
fn a_lane_that_panics_costs_the_node_that_forked() {
    goes_off("forked", in_a_branch, &[0.0; FRAMES]);
}

#[test]
fn a_node_in_a_loop_that_panics_is_silent_and_the_loop_goes_on() {
    let text = r#"b = { kind: "osc", freq: 550, }; t = { kind: "sink", }; b.1 -> t.1;"#;
    let registry = registry();
    let run_config = RunConfig::reference(BLOCK as u32);
    let open = play(
        &mut TestBench::new(&graph(text, &registry), &registry, run_config),
        1,
    );
    goes_off("bomb", in_a_loop, &open[0]);
    goes_off("forked", in_a_loop, &open[0]);
}

/// The usual kinds, and one that gives a bad sample now and then: `nan` or `inf`.
fn bad_samples() -> Registry {
    let mut registry = registry();
    for (name, bad) in [("nan", f32::NAN), ("inf", f32::NEG_INFINITY)] {
        add(&mut registry, kind(name, (1, 1)), move |_| {
            move |block: &mut Block<'_>| {
                pass(block);
                if block.position() == 4 * BLOCK as u64 {
                    block.output(0).channel(0)[10..13].fill(bad);
                }
                ProcessStatus::Continue
            }
        });
    }
    registry
}

#[test]
fn what_is_no_number_is_silent_at_a_sink_and_counted_and_filters_recover() {
    let text = r#"o = { kind: "osc", freq: 440, }; n = { kind: "nan", }; i = { kind: "inf", };
        a = { kind: "sink", }; b = { kind: "sink", }; c = { kind: "sink", }; d = { kind: "sink", }; e = { kind: "sink", };
        f = { kind: "onepole", freq: 900, }; g = { kind: "biquad", freq: 900, }; h = { kind: "svf", freq: 900, };
        o.1 -> n.1 -> a.1; o.1 -> i.1 -> b.1;
        n.1 -> f.1 -> c.1; i.1 -> g.1 -> d.1; n.1 -> h.1 -> e.1;"#;
    let registry = bad_samples();
    let graph = graph(text, &registry);
    let mut expected = None;
    for run_config in manners() {
        let mut bench = TestBench::new(&graph, &registry, run_config);
        let played = play(&mut bench, 5);
        let reported = (played, bench.counts().non_finite_samples);
        assert!(
            reported.0.iter().flatten().all(|x| x.is_finite()),
            "{run_config:?}"
        );
        let expected = expected.get_or_insert_with(|| reported.clone());
        assert!(reported == *expected, "{run_config:?}");
    }
    let (played, bad) = expected.unwrap();
    let at = 4 * BLOCK + 10;
    for channel in &played[..2] {
        assert_eq!(channel[at..at + 3], [0.0; 3]);
        assert!(channel[at - 9..at].iter().all(|x| *x != 0.0));
    }
    for filtered in &played[2..] {
        let late = &filtered[FRAMES - 4 * BLOCK..];
        let loudest = late.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        assert!((0.3..1.1).contains(&loudest), "{loudest}");
    }
    assert!((6..6 + 3 * BLOCK as u64).contains(&bad), "{bad}");
}

/// Every kind with numbers that may be turned while it plays, fed with a sine, into a sink.
fn knobs(registry: &Registry) -> Vec<(&'static str, Graph, Vec<u16>)> {
    let live = |k: &&graph::Kind| k.params.iter().any(|p| p.live) && k.delay.is_none();
    let kinds = registry.catalogue().kinds().filter(live);
    let kinds = kinds.filter(|k| !k.params.iter().any(|p| p.range == ParamRange::File(true)));
    let kinds = kinds.filter(|k| k.name != "work");
    kinds
        .map(|kind| {
            let live = kind.params.iter().zip(0..).filter(|(p, _)| p.live);
            (
                kind.name,
                fed(kind, registry),
                live.map(|(_, i)| i).collect(),
            )
        })
        .collect()
}

/// A node `x` of `kind` in a graph.
fn fed(kind: &graph::Kind, registry: &Registry) -> Graph {
    let needs = kind.params.iter().filter(
        |p| matches!(p.range, ParamRange::Number { default, .. } if default.is_nan() && p.name != "in"),
    );
    let needs: String = needs
        .map(|p| match p.range {
            ParamRange::Number {
                min: least,
                max: most,
                ..
            } => {
                format!(
                    "{}: {}, ",
                    p.name,
                    (least.max(0.0) + most.min(1000.0)) / 2.0
                )
            }
            _ => String::new(),
        })
        .collect();
    let name = kind.name;
    let mut text = format!(
        r#"o = {{ kind: "osc", freq: 440, }}; x = {{ kind: "{name}", {needs} }}; s = {{ kind: "sink", }};"#
    );
    let is_sound = |ports: &[graph::PortSpec]| {
        ports.first().is_some_and(|p| {
            matches!(
                p.signal,
                graph::PortSignal::AsNode
                    | graph::PortSignal::AsOutput
                    | graph::PortSignal::Fixed(_)
            )
        })
    };
    if is_sound(&kind.inputs) {
        text += "o.1 -> x.1;";
    }
    if is_sound(&kind.outputs) && !text.contains(r#"kind: "pan""#) {
        text += "x.1 -> s.1;";
    }
    graph(&text, registry)
}

/// The bench of a graph in which a node `spark` sends one NaN, or no node does.
fn bench_of_spark(text: fn(&str) -> String, kind_of_node: &str, config: RunConfig) -> TestBench {
    let mut registry = bombs();
    add(&mut registry, kind("spark", (1, 1)), move |_| {
        move |block: &mut Block<'_>| {
            pass(block);
            let at = FUSE.wrapping_sub(block.position());
            if at < block.frames() as u64 {
                block.output(0).channel(0)[at as usize] = f32::NAN;
            }
            ProcessStatus::Continue
        }
    });
    TestBench::new(&graph(&text(kind_of_node), &registry), &registry, config)
}

/// As [`in_a_loop`], with an echo of half a second's hundredth: no loop of sub-blocks.
fn in_an_echo(kind: &str) -> String {
    in_a_loop(kind).replace("0.00021", "0.005")
}

#[test]
fn one_nan_in_an_echo_is_silenced_once_and_the_echo_sounds_on() {
    for text in [in_a_loop, in_an_echo] {
        for config in manners() {
            let mut bench = bench_of_spark(text, "spark", config);
            let played = play(&mut bench, 2);
            assert_eq!(bench.counts().non_finite_samples, 1, "{config:?}");
            assert!(played.iter().flatten().all(|x| x.is_finite()), "{config:?}");
            let mut calm = bench_of_spark(text, "calm", config);
            let expected = play(&mut calm, 2);
            assert!(played[0] == expected[0], "{config:?}");
            // The echo of one lost sample fades: it is halved in each round.
            let difference = |at: usize| (played[1][at] - expected[1][at]).abs();
            assert!((FUSE as usize..FRAMES).any(|at| difference(at) > 0.1));
            assert!((FRAMES - 20..FRAMES).all(|at| difference(at) < 0.05));
        }
    }
}

#[test]
fn nan_from_the_device_is_silenced_before_any_node_reads_it() {
    let registry = registry();
    let text = r#"i = { kind: "input", }; m = { kind: "mix", in: 2, out: 1, }; s = { kind: "sink", };
        g = { kind: "gain", gain: 0.9, }; d = { kind: "delay", time: 0.005, }; p = { kind: "onepole", freq: 900, };
        i.1 -> m.1 -> s.1; m.1 -> g.1 -> d.1 -> m.2; i.1 -> p.1 -> s.1;"#;
    let graph = graph(text, &registry);
    for config in manners() {
        let mut bench = TestBench::new(&graph, &registry, config);
        let mut input = [0.5; BLOCK];
        (input[3], input[40]) = (f32::NAN, f32::INFINITY);
        for block in 0..10 {
            let clean = [0.5; BLOCK];
            let given: &[f32] = if block == 2 { &input } else { &clean };
            assert_eq!(bench.run_cycle(&[given]), CycleStatus::Complete);
        }
        assert_eq!(bench.counts().non_finite_samples, 2, "{config:?}");
        let mut out = [0.0; BLOCK];
        bench.executor.add_output(0, &mut out);
        assert!(out.iter().all(|x| *x > 0.4), "{config:?}");
    }
}

#[test]
fn a_knob_turned_to_what_is_no_number_does_no_lasting_harm() {
    let registry = registry();
    for (name, graph, params) in knobs(&registry) {
        let x = graph.find("x").unwrap();
        let mut bench = TestBench::new(&graph, &registry, RunConfig::reference(BLOCK as u32));
        for param in params {
            for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 1e-40] {
                let event = Event {
                    frame: 7,
                    target: EventTarget::Param(param),
                    body: EventBody::Value(value),
                };
                bench.send_event(x, event);
                play(&mut bench, 1);
            }
        }
        let counts = bench.counts();
        assert_eq!(
            (counts.non_finite_samples, counts.node_faults),
            (0, 0),
            "{name}"
        );
    }
}

/// Plays with a budget of nothing, which stands for a slow machine. Returns the output of each block and the report.
fn overloaded(scheduler: Scheduler, cycles: u32) -> (Vec<bool>, report::Report) {
    let graph = shape::random(10_000, 3, Some(100.0)).unwrap();
    let mut options = EngineOptions::new(Frames(16), rate());
    options.scheduler = scheduler;
    options.workers = 2;
    options.prevent_cpu_sleep = false;
    let (mut engine, mut player) = Engine::new(graph, Arc::new(registry()), options).unwrap();
    let beat = CallbackInfo {
        budget: Some(Nanos(1)),
        ..CallbackInfo::default()
    };
    let rendered = (0..cycles).map(|_| {
        let mut out = [f32::NAN; 16];
        player.process(beat, &[], &mut [&mut out]);
        engine.update();
        out.iter().any(|x| *x != 0.0)
    });
    (rendered.collect(), engine.report())
}

#[test]
fn ten_thousand_nodes_on_sixteen_frames_fall_silent_in_turns_and_end() {
    // After 8 misses it is silent for 100 ms: 300.3 periods.
    let (rendered, report) = overloaded(Scheduler::Sequential, 3 * 8 + 2 * 301);
    let runs: Vec<_> = rendered.chunk_by(|a, b| a == b).collect();
    let runs: Vec<_> = runs.iter().map(|run| (run[0], run.len())).collect();
    let expected = [(true, 8), (false, 301), (true, 8), (false, 301), (true, 8)];
    assert_eq!(runs, expected);
    let reported = (report.cycles, report.missed, report.abandoned, report.muted);
    assert_eq!(reported, (24, 24, 0, 2));
    assert_eq!((report.faults, report.late, report.nodes), (0, 0, 10_000));
    assert_eq!(report.deadline_ns, Some(333_333));
}

#[test]
fn an_overload_on_two_workers_is_counted_and_ends_too() {
    let (_, report) = overloaded(Scheduler::Stealing, 3 * 8 + 2 * 301);
    // A cycle that this machine itself held up for 20 ms was given up.
    let lost = report.missed + report.abandoned;
    assert_eq!((report.cycles, lost, report.muted), (24, 24, 2));
}
