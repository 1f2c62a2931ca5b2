//! Edits that change latencies while the engine plays: delayed edges change without a gap, and the others keep their content.

use divisi_check::fixtures::graph;
use divisi_check::latency_node;
use divisi_check::test_bench::{rate, registry};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineCallback, EngineOptions, Scheduler};
use graph::{
    Catalogue, Edge, Edit, Kind, Node, NodeId, ParamValue, PortCount, PortRef, PortSignal,
    PortSpec, SourceSpan,
};
use processor::{Block, EventBody, Mode, ProcessStatus, Processor, Registry, Setup};
use std::sync::{Arc, Mutex};
use units::Frames;

const BLOCK: usize = 48;
/// Of 20 ms.
const FADE: usize = 960;

type RecordedEvents = Arc<Mutex<Vec<(usize, f32)>>>;

/// Records the events that it receives, and their frames.
struct EventRecorder(RecordedEvents);

impl Processor for EventRecorder {
    fn setup(&mut self, _setup: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let mut recorded = self.0.lock().unwrap();
        for event in block.events().iter() {
            if let EventBody::Value(value) = event.body {
                recorded.push((block.position() as usize + event.frame as usize, value));
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}
}

/// The usual kinds, `latency_node`, and `records`, which writes to `recorded`.
fn kinds(recorded: &RecordedEvents) -> Registry {
    let mut registry = registry();
    latency_node::add(&mut registry);
    let events = PortSpec {
        name: "events",
        signal: PortSignal::Event,
        count: PortCount::One,
    };
    let kind = Kind {
        inputs: vec![PortSpec::audio("in"), events],
        ..Kind::new("records", "Records the events that it receives.")
    };
    let recorded = recorded.clone();
    registry.add(kind, move |_| Ok(Box::new(EventRecorder(recorded.clone()))));
    registry
}

/// A graph that plays offline, and what its two channels have played so far.
struct Recording {
    engine: Engine,
    player: EngineCallback,
    played: [Vec<f32>; 2],
    recorded: RecordedEvents,
}

impl Recording {
    fn new(text: &str, (scheduler, workers): (Scheduler, usize)) -> Self {
        Self::made(text, (scheduler, workers), true)
    }

    fn made(text: &str, (scheduler, workers): (Scheduler, usize), compensate: bool) -> Self {
        let recorded = RecordedEvents::default();
        let registry = kinds(&recorded);
        let graph = graph(text, &registry);
        let mut options = EngineOptions::new(Frames(BLOCK as u32), rate());
        options.mode = Mode::Offline;
        options.scheduler = scheduler;
        options.workers = workers;
        options.latency_blocks = Some(1);
        options.edit_fade = units::Nanos(0);
        options.compensate_latency = compensate;
        let (engine, player) = Engine::new(graph, Arc::new(registry), options).unwrap();
        Self {
            engine,
            player,
            played: Default::default(),
            recorded,
        }
    }

    /// Plays this number of blocks.
    fn play(&mut self, blocks: usize) {
        for _ in 0..blocks {
            let mut outs = [[0.0; BLOCK]; 2];
            let [left, right] = &mut outs;
            self.player
                .process(CallbackInfo::default(), &[], &mut [left, right]);
            for (played, out) in self.played.iter_mut().zip(outs) {
                played.extend(out);
            }
            self.engine.update();
        }
    }

    fn position(&self) -> usize {
        self.played[0].len()
    }

    fn id(&self, name: &str) -> NodeId {
        self.engine.graph().find(name).unwrap()
    }

    /// Edits that add a node that lags between an output and an input.
    fn lagging(&self, name: &str, frames: usize, from: &str, to: &str) -> Vec<Edit> {
        let mut node = Node::new(name, "late");
        node.set("frames", ParamValue::Number(frames as f64));
        let kinds = kinds(&self.recorded);
        let wrong = Catalogue::assign_ports(kinds.catalogue().get("late").unwrap(), &mut node);
        assert!(wrong.is_empty(), "{wrong:?}");
        let new = NodeId(self.engine.graph().id_bound() as u32);
        let (from, to) = (self.id(from), self.id(to));
        vec![Edit::Add(node), wire(from, new), wire(new, to)]
    }
}

fn wire(from: NodeId, to: NodeId) -> Edit {
    let end = |node| PortRef { node, port: 0 };
    Edit::Connect(Edge {
        from: end(from),
        to: end(to),
        span: SourceSpan::NONE,
    })
}

fn schedulers() -> [(Scheduler, usize); 5] {
    [
        (Scheduler::Sequential, 1),
        (Scheduler::Hlfet, 2),
        (Scheduler::Cpfd, 2),
        (Scheduler::Stealing, 3),
        (Scheduler::Deadline, 2),
    ]
}

/// Expected output at a frame of `x` with a delay of `was` frames that fades to `frames` from `start` on.
fn gone_over(x: &[f32], at: usize, (was, frames, start): (usize, usize, usize)) -> f32 {
    let ago = |frames: usize| at.checked_sub(frames).map_or(0.0, |at| x[at]);
    let weight = at.saturating_sub(start).min(FADE) as f32 / FADE as f32;
    match weight {
        0.0 => ago(was),
        1.0 => ago(frames),
        _ => ago(was) * (1.0 - weight) + ago(frames) * weight,
    }
}

/// Asserts that channel 0 played, from frame `from` on, the output of `x` with the stated change of delay.
fn assert_goes_over(take: &Recording, x: &[f32], from: usize, over: (usize, usize, usize)) {
    for at in from..take.position() {
        let (recorded, expected) = (take.played[0][at], gone_over(x, at, over));
        assert!(
            recorded == expected,
            "{over:?}: {recorded} at {at}, not {expected}"
        );
    }
}

const DIRECT: &str =
    r#"o = { kind: "osc", freq: 110, }; s = { kind: "sink", }; t = { kind: "sink", }; o.1 -> s.1;"#;

#[test]
fn a_way_that_begins_to_wait_waits_longer_and_no_longer_goes_over_by_a_fade_each_time() {
    for scheduler in schedulers() {
        let mut straight = Recording::new(DIRECT, scheduler);
        straight.play(700);
        let x = &straight.played[0];
        let mut take = Recording::new(DIRECT, scheduler);
        take.play(10);
        // The line is new: the fade begins as soon as it holds enough frames.
        let first = take.position();
        take.engine.edit(take.lagging("a", 100, "o", "t")).unwrap();
        take.play(30);
        assert_goes_over(&take, x, 0, (0, 100, first + 100));
        // A longer line, which knows what the shorter one still held: 256 frames.
        let second = take.position();
        take.engine.edit(take.lagging("b", 5000, "o", "t")).unwrap();
        take.play(150);
        let known = second - 256;
        assert_goes_over(&take, x, second, (100, 5000, known + 5000));
        // Back to no latency at all, at once.
        let third = take.position();
        let gone = ["a", "b"].map(|name| Edit::Remove(take.id(name)));
        take.engine.edit(gone).unwrap();
        assert_eq!(take.engine.plan().aligners.len(), 1, "it goes over first");
        take.play(150);
        assert_goes_over(&take, x, third, (5000, 0, third));
        // And when that is over, the next plan has nothing of it.
        let fourth = take.position();
        take.engine.edit([Edit::Remove(take.id("t"))]).unwrap();
        assert!(take.engine.plan().aligners.is_empty());
        take.play(10);
        assert_goes_over(&take, x, fourth, (0, 0, 0));
    }
}

#[test]
fn a_line_that_grows_again_at_once_still_knows_what_the_first_one_held() {
    for (scheduler, apart) in schedulers()
        .into_iter()
        .flat_map(|scheduler| [1, 2, 5].map(|apart| (scheduler, apart)))
    {
        let mut straight = Recording::new(DIRECT, scheduler);
        straight.play(720);
        let x = &straight.played[0];
        let mut take = Recording::new(DIRECT, scheduler);
        take.play(10);
        take.engine.edit(take.lagging("a", 100, "o", "t")).unwrap();
        take.play(30);
        let second = take.position();
        for (name, frames) in [("b", 5000), ("c", 12_000), ("d", 20_000)] {
            take.engine
                .edit(take.lagging(name, frames, "o", "t"))
                .unwrap();
            take.play(apart);
        }
        take.play(650);
        let known = second - 256;
        assert_goes_over(&take, x, second, (100, 20_000, known + 20_000));
    }
}

#[test]
fn an_edit_in_the_middle_of_a_fade_lets_it_go_on() {
    for scheduler in schedulers() {
        let mut straight = Recording::new(DIRECT, scheduler);
        straight.play(100);
        let x = &straight.played[0];
        let mut take = Recording::new(DIRECT, scheduler);
        take.play(10);
        let first = take.position();
        take.engine.edit(take.lagging("a", 100, "o", "t")).unwrap();
        for round in 0..8 {
            take.play(3);
            // As late as the other path: nothing changes for the delayed one.
            let name = format!("c{round}");
            take.engine
                .edit(take.lagging(&name, 100, "o", "t"))
                .unwrap();
        }
        take.play(10);
        assert_goes_over(&take, x, 0, (0, 100, first + 100));
    }
}

#[test]
fn a_change_that_is_undone_before_the_line_holds_enough_has_no_effect() {
    for scheduler in schedulers() {
        let mut take = Recording::new(DIRECT, scheduler);
        take.play(10);
        take.engine.edit(take.lagging("a", 5000, "o", "t")).unwrap();
        take.play(5);
        take.engine.edit([Edit::Remove(take.id("a"))]).unwrap();
        assert!(take.engine.plan().aligners.is_empty());
        take.play(200);
        let mut straight = Recording::new(DIRECT, scheduler);
        straight.play(215);
        assert!(take.played == straight.played, "{scheduler:?}");
    }
}

/// Two paths that cancel on channel 0, one of them later; and another sound on channel 1.
const CANCEL: &str = r#"n = { kind: "noise", seed: 5, }; x = { kind: "late", frames: 300, }; i = { kind: "gain", gain: "-1", };
    s = { kind: "sink", }; n.1 -> x.1 -> s.1; n.1 -> i.1 -> s.1;
    b = { kind: "osc", freq: 550, }; t = { kind: "sink", }; b.1 -> t.1;"#;

#[test]
fn what_waits_keeps_what_it_holds_over_edits_that_do_not_touch_it() {
    for scheduler in schedulers().into_iter().chain([(Scheduler::Pipelined, 2)]) {
        let mut take = Recording::new(CANCEL, scheduler);
        for round in 0..30 {
            take.play(1 + round % 3);
            let name = format!("c{round}");
            take.engine
                .edit(take.lagging(&name, 200, "b", "t"))
                .unwrap();
        }
        take.play(30);
        assert!(take.played[0].iter().all(|x| *x == 0.0), "{scheduler:?}");
        assert!(take.played[1].iter().any(|x| *x != 0.0), "{scheduler:?}");
    }
}

#[test]
fn a_pipeline_goes_over_as_one_worker_does_a_block_later() {
    let run = |scheduler| {
        let mut take = Recording::new(DIRECT, scheduler);
        take.play(10);
        take.engine.edit(take.lagging("a", 130, "o", "t")).unwrap();
        take.play(7);
        take.engine.edit(take.lagging("b", 700, "o", "t")).unwrap();
        take.play(60);
        take.engine.edit([Edit::Remove(take.id("b"))]).unwrap();
        take.play(60);
        take.played[0].clone()
    };
    let expected = run((Scheduler::Sequential, 1));
    for workers in [1, 2] {
        let piped = run((Scheduler::Pipelined, workers));
        assert!(
            piped[BLOCK..] == expected[..expected.len() - BLOCK],
            "{workers}"
        );
    }
}

#[test]
fn events_are_delayed_too_and_each_arrives_once_whatever_changes() {
    const BEAT: &str = r#"m = { kind: "metro", bpm: 6000, }; o = { kind: "osc", freq: 110, };
        a = { kind: "late", frames: 100, }; h = { kind: "records", }; m.1 -> h.2; o.1 -> a.1 -> h.1;"#;
    for scheduler in schedulers() {
        let mut take = Recording::new(BEAT, scheduler);
        take.play(40);
        let first = take.position();
        take.engine.edit(take.lagging("b", 3000, "o", "h")).unwrap();
        take.play(200);
        let second = take.position();
        take.engine.edit([Edit::Remove(take.id("b"))]).unwrap();
        take.play(100);
        let mut expected = Vec::new();
        for (number, at) in (0..take.position()).step_by(240).enumerate() {
            // Frames of arrival: before the edits undelayed; afterwards with the new delay.
            let due = match at {
                at if at + 100 < first => at + 100,
                at if at + 3000 < second => at + 3000,
                at => second.max(at + 100),
            };
            let value = if number.is_multiple_of(2) { 1.0 } else { 0.0 };
            if due < take.position() {
                expected.push((due, value));
            }
        }
        assert_eq!(*take.recorded.lock().unwrap(), expected, "{scheduler:?}");
        assert!(expected.iter().filter(|(at, _)| *at == second).count() > 5);
    }
}

#[test]
fn without_compensation_nothing_is_delayed_and_the_latency_is_still_reported() {
    let mut take = Recording::made(CANCEL, (Scheduler::Stealing, 2), false);
    take.play(20);
    assert!(take.played[0].iter().any(|x| *x != 0.0));
    assert!(take.engine.plan().aligners.is_empty());
    assert_eq!(take.engine.report().latency_frames.graph, 300);
    let mut take = Recording::new(CANCEL, (Scheduler::Stealing, 2));
    assert_eq!(take.engine.report().latency_frames.graph, 300);
}
