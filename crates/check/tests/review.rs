//! Regressions found by review: events, edits, and workers that wait before they sleep.

use divisi_check::fixtures::{add, graph, kind};
use divisi_check::test_bench::{ALL_STRATEGIES, RunConfig, TestBench, rate, registry};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineCallback, EngineOptions, Scheduler};
use graph::{Edit, Graph, ParamValue, PortCount, PortSignal, PortSpec};
use processor::{Block, EventBody, Mode, ProcessStatus, Registry};
use std::sync::Arc;
use units::Frames;
use workers::WaitPolicy;

const BLOCK: u32 = 64;

fn event(name: &'static str) -> PortSpec {
    PortSpec {
        name,
        signal: PortSignal::Event,
        count: PortCount::One,
    }
}

/// The usual kinds; `tick`, which passes its input and sends an event with every frame; and `tally`, which passes its input and adds how
/// many events came since the last frame.
fn ticking() -> Registry {
    let mut registry = registry();
    let mut tick = kind("tick", (1, 1));
    tick.outputs.push(event("ticks"));
    add(&mut registry, tick, |_| {
        |block: &mut Block<'_>| {
            for frame in 0..block.frames() {
                block.send_event(1, frame as u32, EventBody::Value(1.0));
            }
            divisi_check::fixtures::pass(block);
            ProcessStatus::Continue
        }
    });
    let mut tally = kind("tally", (1, 1));
    tally.inputs.push(event("ticks"));
    add(&mut registry, tally, |_| tally_up);
    registry
}

/// Each frame says how many events came with it.
fn tally_up(block: &mut Block<'_>) -> ProcessStatus {
    let mut counts = vec![0.0; block.frames()];
    for event in block.events().iter() {
        counts[event.frame as usize] += 1.0;
    }
    block.output(0).channel(0).copy_from_slice(&counts);
    ProcessStatus::Continue
}

fn ones(played: &[u32]) -> usize {
    played.iter().filter(|x| **x == 1.0_f32.to_bits()).count()
}

fn rendered(text: &str, registry: &Registry) -> Vec<(RunConfig, usize)> {
    let graph = graph(text, registry);
    let manners = ALL_STRATEGIES.map(|way| RunConfig {
        strategy: way,
        workers: 2,
        block: BLOCK,
        wait: WaitPolicy::Hybrid,
    });
    let play = |m: RunConfig| {
        (
            m,
            ones(&TestBench::new(&graph, registry, m).render(1, 10 * BLOCK as usize)[0]),
        )
    };
    manners.map(play).to_vec()
}

#[test]
fn outside_of_a_loop_each_event_arrives() {
    let text = r#"t = { kind: "tick", }; y = { kind: "tally", }; s = { kind: "sink", };
        t.2 -> y.2; t.1 -> y.1 -> s.1;"#;
    for (config, count) in rendered(text, &ticking()) {
        assert_eq!(count, 10 * BLOCK as usize, "{config:?}");
    }
}

#[test]
fn an_event_sent_inside_a_loop_arrives_in_every_iteration() {
    let text = r#"t = { kind: "tick", }; y = { kind: "tally", }; s = { kind: "sink", };
        d = { kind: "delay", time: 0.00017, };
        t.2 -> y.2; t.1 -> y.1 -> s.1; y.1 -> d.1 -> t.1;"#;
    for (config, count) in rendered(text, &ticking()) {
        assert_eq!(count, 10 * BLOCK as usize, "{config:?}");
    }
}

#[test]
fn a_node_that_runs_every_other_cycle_gets_events_sent_in_between() {
    let registry = ticking();
    let text = r#"t = { kind: "tick", }; y = { kind: "tally", }; s = { kind: "sink", };
        t.2 -> y.2; t.1 -> y.1 -> s.1;"#;
    let mut graph = graph(text, &registry);
    let tally = graph.find("y").unwrap();
    graph.node_mut(tally).unwrap().every = 2;
    let mut bench = TestBench::new(&graph, &registry, RunConfig::reference(BLOCK));
    let played = bench.render(1, 10 * BLOCK as usize);
    let sum: f32 = played[0].iter().map(|x| f32::from_bits(*x)).sum();
    // It runs five times: first with the events of one cycle, then of two; and its slot keeps its content for two cycles.
    assert_eq!(sum, (1 + 2 * 4) as f32 * 2.0 * BLOCK as f32);
}

#[test]
fn a_node_that_runs_every_other_cycle_gets_events_sent_before_a_swap() {
    let text = r#"t = { kind: "tick", }; y = { kind: "tally", }; s = { kind: "sink", };
        t.2 -> y.2; t.1 -> y.1 -> s.1;"#;
    for before in [5, 6] {
        let mut graph = graph(text, &ticking());
        let tally = graph.find("y").unwrap();
        graph.node_mut(tally).unwrap().every = 2;
        let mut live = Live::with(graph, ticking());
        let mut sum: f32 = live.play(before).iter().sum();
        live.0.edit([]).unwrap();
        sum += live.play(10 - before).iter().sum::<f32>();
        // As without the edit. After an odd number of blocks the slot of the old plan is read once more.
        let unheard = if before == 5 { BLOCK as f32 * 2.0 } else { 0.0 };
        assert_eq!(
            sum + unheard,
            (1 + 2 * 4) as f32 * 2.0 * BLOCK as f32,
            "{before}"
        );
    }
}

struct Live(Engine, EngineCallback);

impl Live {
    fn new(graph: Graph) -> Self {
        Self::with(graph, registry())
    }

    fn with(graph: Graph, registry: Registry) -> Self {
        let mut options = EngineOptions::new(Frames(BLOCK), rate());
        options.mode = Mode::Offline;
        options.scheduler = Scheduler::Stealing;
        options.workers = 2;
        let (engine, player) = Engine::new(graph, Arc::new(registry), options).unwrap();
        Self(engine, player)
    }

    fn play(&mut self, blocks: usize) -> Vec<f32> {
        let beat = CallbackInfo {
            budget: None,
            xruns: 0,
            ..CallbackInfo::default()
        };
        let mut all = Vec::new();
        for _ in 0..blocks {
            let mut out = [0.0; BLOCK as usize];
            self.1.process(beat, &[], &mut [&mut out]);
            self.0.update();
            all.extend(out);
        }
        all
    }
}

#[test]
fn a_parameter_that_is_set_by_an_edit_takes_effect() {
    let text = r#"o = { kind: "osc", freq: 440, }; g = { kind: "gain", gain: 1, }; s = { kind: "sink", };
        o.1 -> g.1 -> s.1;"#;
    let mut live = Live::new(graph(text, &registry()));
    assert!(live.play(10).iter().any(|x| *x != 0.0));
    let gain = live.0.graph().find("g").unwrap();
    let edit = Edit::Set(gain, "gain".into(), ParamValue::Number(0.0));
    live.0.edit([edit]).unwrap();
    live.play(100);
    assert!(live.play(10).iter().all(|x| *x == 0.0));
}

#[test]
fn a_delay_whose_time_is_turned_still_sounds_after_an_edit() {
    let text = r#"o = { kind: "osc", freq: 440, }; d = { kind: "delay", time: 0.001, }; s = { kind: "sink", };
        o.1 -> d.1 -> s.1;"#;
    let mut live = Live::new(graph(text, &registry()));
    live.play(10);
    let delay = live.0.graph().find("d").unwrap();
    let _ = live.0.set_param(delay, "time", 0.1);
    live.play(1);
    let other = live.0.graph().find("s").unwrap();
    live.0.edit([Edit::Enable(other, true)]).unwrap();
    live.play(200);
    // An oscillator is not silent for three frames in a row, unless the line is read where nothing was written yet.
    let played = live.play(20);
    let gap = played.windows(3).position(|w| w.iter().all(|x| *x == 0.0));
    assert_eq!(gap, None);
    let step = played
        .windows(2)
        .map(|w| (w[1] - w[0]).abs())
        .fold(0.0, f32::max);
    assert!(step < 0.2, "it jumps by {step}");
}
