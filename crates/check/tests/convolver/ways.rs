//! Every scheduler gives the same bits and allocates nothing.

use crate::{alone, graph, patch};
use divisi_check::alloc::audio_calls;
use divisi_check::impulse_files::ImpulseFiles;
use divisi_check::test_bench::{ALL_STRATEGIES, RunConfig, TestBench, rate, registry};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineOptions, Scheduler};
use graph::Graph;
use processor::Mode;
use std::sync::Arc;
use units::Frames;
use workers::AudioThread;

/// Number of calls, once it has not changed for 20 ms: threads that have just been started still set themselves up.
fn settled() -> u64 {
    let (mut count, mut unchanged) = (audio_calls(), 0);
    while unchanged < 4 {
        std::thread::sleep(std::time::Duration::from_millis(5));
        let now = audio_calls();
        unchanged = if now == count { unchanged + 1 } else { 0 };
        count = now;
    }
    count
}

/// One sound through one response, once for each who can do the work.
fn everybody(folder: &ImpulseFiles) -> (Graph, u16) {
    let file = folder.write("one.wav", 1, 5000, 1);
    let works = [
        r#"work = "callback""#,
        r#"work = "deferred""#,
        r#"work = "spread""#,
        r#"work = "threads""#,
        r#"work = "threads", pin = "levels""#,
        r#"work = "threads", pin = "channels""#,
    ];
    let (mut nodes, mut edges) = (String::new(), String::new());
    for (i, work) in works.iter().enumerate() {
        let cut = r#"block = 64, partition = "7x64 6x256 5x1024""#;
        nodes += &format!("c{i} = {{ kind = \"convolver\", file = \"{file}\", {cut}, {work} }}\n");
        nodes += &format!("s{i} = {{ kind = \"sink\" }}\n");
        edges += &format!("\"n -> c{i}\", \"c{i} -> s{i}\", ");
    }
    let noise = r#"n = { kind = "noise", seed = 3 }"#;
    let graph = graph(&format!("edges = [{edges}]\n[nodes]\n{noise}\n{nodes}"));
    (graph, works.len() as u16)
}

/// Returns true if no audio thread has taken memory while the graph was played.
fn takes_no_memory(graph: &Graph, config: RunConfig, frames: usize) -> bool {
    let mut bench = TestBench::new(graph, &registry(), config);
    let before = settled();
    let plays = AudioThread::enter();
    for _ in 0..frames / 64 {
        assert_eq!(bench.run_cycle(&[]), exec::CycleStatus::Complete);
    }
    drop(plays);
    settled() == before
}

/// Holds every executor to the bits of the reference, and to no memory in a cycle.
fn holds(graph: &Graph, channels: u16, frames: usize) {
    let registry = registry();
    let reference =
        TestBench::new(graph, &registry, RunConfig::reference(64)).render(channels, frames);
    let is_heard = |channel: &Vec<u32>| channel.iter().any(|x| *x != 0);
    assert!(reference.iter().all(is_heard));
    for way in ALL_STRATEGIES {
        for workers in 1..=3 {
            let takes_none = || takes_no_memory(graph, RunConfig::new(way, workers, 64), frames);
            // Other tests of this program run at the same time, and their threads count too. What a cycle takes itself, it
            // takes each time.
            assert!((0..5).any(|_| takes_none()), "{way:?} {workers}");
            let mut test_bench = TestBench::new(graph, &registry, RunConfig::new(way, workers, 64));
            let played = test_bench.render(channels, frames);
            assert!(played == reference, "{way:?} {workers}");
            assert_eq!(test_bench.counts(), exec::ErrorCounts::default());
        }
    }
}

#[test]
fn every_executor_gives_the_same_bits_and_none_takes_memory() {
    let _alone = alone();
    let folder = ImpulseFiles::new("ways");
    holds(&patch(&folder), 3, 20_000);
}

#[test]
fn everybody_who_can_do_the_work_gives_the_same_bits_in_every_executor() {
    let _alone = alone();
    let folder = ImpulseFiles::new("everybody");
    let (graph, channels) = everybody(&folder);
    let played =
        TestBench::new(&graph, &registry(), RunConfig::reference(64)).render(channels, 9000);
    assert!(played.iter().all(|channel| channel == &played[0]));
    holds(&graph, channels, 9000);
}

#[test]
fn a_server_that_freewheels_gets_every_level_of_the_nodes_own_threads() {
    let folder = ImpulseFiles::new("freewheels");
    // A period of the last level is some milliseconds of work, and is over in a fraction of one.
    let file = folder.write("one.wav", 1, 2_000_000, 3);
    let text = format!(
        r#"o = {{ kind: "osc", freq: 440, }}; s = {{ kind: "sink", }};
        c = {{ kind: "convolver", file: "{file}", partition: "7x64 6x256 980x2048", work: "threads", }};
        o.1 -> c.1 -> s.1;"#
    );
    let graph = divisi_check::fixtures::graph(&text, &registry());
    let played = [Mode::Offline, Mode::Live].map(|mode| {
        let mut options = EngineOptions::new(Frames(64), rate());
        options.mode = mode;
        options.scheduler = Scheduler::Sequential;
        options.prevent_cpu_sleep = false;
        let registry = Arc::new(registry());
        let (mut engine, mut player) = Engine::new(graph.clone(), registry, options).unwrap();
        let mut output = Vec::new();
        for _ in 0..2000 {
            let mut out = [0.0; 64];
            player.process(CallbackInfo::default(), &[], &mut [&mut out]);
            output.extend(out.map(f32::to_bits));
        }
        engine.update();
        assert_eq!(engine.report().late, 0, "{mode:?}");
        output
    });
    assert!(played[0] == played[1]);
}

#[test]
fn blocks_of_many_internal_ones_give_the_same_bits() {
    let _alone = alone();
    let folder = ImpulseFiles::new("blocks");
    let registry = registry();
    for (graph, channels) in [(patch(&folder), 3), everybody(&folder)] {
        let play = |block| {
            let mut test_bench = TestBench::new(&graph, &registry, RunConfig::reference(block));
            test_bench.render(channels, 12_288)
        };
        let small = play(64);
        for block in [128, 1024] {
            assert!(play(block) == small, "{block}");
        }
    }
}
