//! Events for steps that run every n-th cycle: none is lost, doubled or turned round, whatever is swapped meanwhile.

use divisi_check::fixtures;
use divisi_check::rng::Rng;
use divisi_check::test_bench::{rate, registry};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineCallback, EngineOptions, Scheduler};
use graph::{Catalogue, Edit, Kind, Node, ParamValue, PortCount, PortSignal, PortSpec};
use processor::{Block, EventBody, Mode, ProcessStatus, Registry};
use std::sync::{Arc, Mutex};
use units::{Frames, Nanos};

const BLOCK: usize = 48;
/// Cycles in which the step that receives runs once.
const EVERY: u32 = 5;

/// Values that a node has received, in their order.
type Received = Arc<Mutex<Vec<f32>>>;

fn events(name: &'static str) -> PortSpec {
    PortSpec {
        name,
        signal: PortSignal::Event,
        count: PortCount::One,
    }
}

/// The kind `ticker`, which sends the number of its block, and the kind `collector`, which notes what it receives.
fn kinds(received: &Received) -> Registry {
    let mut registry = registry();
    let ticker = Kind {
        outputs: vec![events("ticks")],
        typical_ns: 1000,
        ..Kind::new("ticker", "Sends the number of its block.")
    };
    fixtures::add(&mut registry, ticker, |_| {
        let mut count = 0.0;
        move |block: &mut Block<'_>| {
            block.send_event(0, 7, EventBody::Value(count));
            count += 1.0;
            ProcessStatus::Continue
        }
    });
    let collector = Kind {
        inputs: vec![events("ticks"), events("user")],
        outputs: vec![PortSpec::mono("out")],
        typical_ns: 1000,
        ..Kind::new("collector", "Notes what it receives.")
    };
    let received = received.clone();
    fixtures::add(&mut registry, collector, move |_| {
        let received = received.clone();
        move |block: &mut Block<'_>| {
            let mut all = received.lock().unwrap();
            for event in block.events().iter() {
                if let EventBody::Value(value) = event.body {
                    all.push(value);
                }
            }
            block.output(0).channel(0).fill(0.0);
            ProcessStatus::Continue
        }
    });
    registry
}

fn play(engine: &mut Engine, callback: &mut EngineCallback, blocks: usize) {
    for _ in 0..blocks {
        let mut out = [0.0; BLOCK];
        callback.process(CallbackInfo::default(), &[], &mut [&mut out]);
        engine.update();
    }
}

/// Plays 400 cycles with an edit every few of them; returns what was received, and the number of blocks and of the values
/// that were sent by hand: -1, -2, ...
fn play_with_edits(
    (scheduler, workers): (Scheduler, usize),
    fade: Nanos,
    seed: u64,
) -> (Vec<f32>, usize, usize) {
    let received = Received::default();
    let registry = kinds(&received);
    let text = "t = { kind: \"ticker\", }; c = { kind: \"collector\", }; g = { kind: \"gain\", gain: 0.5, };
        s = { kind: \"sink\", }; t.1 -> c.1 -> g.1 -> s.1;";
    let mut graph = fixtures::graph(text, &registry);
    let collector = graph.find("c").unwrap();
    graph.node_mut(collector).unwrap().every = EVERY;
    let mut options = EngineOptions::new(Frames(BLOCK as u32), rate());
    options.mode = Mode::Offline;
    options.scheduler = scheduler;
    options.workers = workers;
    options.latency_blocks = Some(2);
    options.edit_fade = fade;
    let (mut engine, mut callback) = Engine::new(graph, Arc::new(registry), options).unwrap();
    let (mut rng, mut blocks, mut sent, mut edits) = (Rng(seed), 0, 0, 0);
    while blocks < 400 {
        if rng.below(2) == 0 {
            sent += 1;
            let value = -(sent as f32);
            engine.send_value(collector, "user", value, 0).unwrap();
        }
        let edit = match rng.below(3) {
            0 => Edit::Rename(collector, format!("c{blocks}")),
            1 => Edit::Add(gain(format!("g{blocks}"))),
            _ => Edit::Disconnect(engine.graph().edges()[1].from, engine.graph().edges()[1].to),
        };
        let restored = match edit {
            Edit::Disconnect(..) => Some(Edit::Connect(engine.graph().edges()[1])),
            _ => None,
        };
        edits += usize::from(engine.edit([edit].into_iter().chain(restored)).is_ok());
        let more = 1 + rng.below(7);
        play(&mut engine, &mut callback, more);
        blocks += more;
    }
    assert!(edits > 40, "{edits}");
    // Until the last edits and the last events are over.
    play(&mut engine, &mut callback, 40);
    let received = received.lock().unwrap().clone();
    (received, blocks + 40, sent)
}

fn gain(name: String) -> Node {
    let mut node = Node::new(name, "gain");
    node.set("gain", ParamValue::Number(0.5));
    let registry = registry();
    let kind = registry.catalogue().get("gain").unwrap();
    assert!(Catalogue::assign_ports(kind, &mut node).is_empty());
    node
}

#[test]
fn events_of_steps_that_run_every_nth_cycle_outlive_every_swap_in_their_order() {
    let schedulers = [
        (Scheduler::Sequential, 1),
        (Scheduler::Hlfet, 2),
        (Scheduler::Etf, 2),
        (Scheduler::Cpfd, 2),
        (Scheduler::Global, 2),
        (Scheduler::Stealing, 3),
        (Scheduler::Deadline, 2),
        (Scheduler::Pipelined, 3),
    ];
    for (schedule, fade) in schedulers
        .into_iter()
        .flat_map(|it| [(it, 0), (it, 3_000_000)])
    {
        for seed in 0..4 {
            let (received, blocks, sent) = play_with_edits(schedule, Nanos(fade), seed);
            let ticks: Vec<f32> = received.iter().copied().filter(|x| *x >= 0.0).collect();
            let by_hand: Vec<f32> = received.iter().copied().filter(|x| *x < 0.0).collect();
            let name = format!("{}, fade {fade}, seed {seed}", schedule.0);
            let expected: Vec<f32> = (0..ticks.len()).map(|x| x as f32).collect();
            assert_eq!(ticks, expected, "{name}");
            assert!(
                ticks.len() + 2 * EVERY as usize >= blocks,
                "{name}: {}",
                ticks.len()
            );
            let expected: Vec<f32> = (0..sent).map(|x| -1.0 - x as f32).collect();
            assert_eq!(by_hand, expected, "{name}");
        }
    }
}
