//! Every scheduler gives the same samples, and reports the same errors.
#![cfg(not(loom))]

mod common;

use common::{
    Mix, Recording, Scheduler, TestSink, TestSource, all_schedulers, frames_source, recording_sink,
    sample,
};
use divisi_network::kinds::{Add, Gain, Split};
use divisi_network::{
    Actor, EndOfStream, FireStatus, FiringOrder, InputPort, Network, NodeId, NodePorts, OutputPort,
    QueueSpec, RunError, RunOptions, Windows,
};
use proptest::prelude::*;

fn bits(recording: &Recording) -> Vec<Vec<u32>> {
    let recording = recording.lock().unwrap();
    let bits = |channel: &Vec<f32>| channel.iter().map(|x| x.to_bits()).collect();
    recording.iter().map(bits).collect()
}

fn mix(inputs: Vec<InputPort>, outputs: Vec<OutputPort>) -> Mix {
    Mix {
        ports: NodePorts { inputs, outputs },
        state: 0.0,
    }
}

/// A random network: which nodes read which, with which thresholds.
#[derive(Clone, Debug)]
struct NetworkPlan {
    channels: usize,
    /// A source's frames and piece.
    sources: Vec<(usize, usize)>,
    /// Each reads the open outputs that it names, modulo their number.
    nodes: Vec<NodePlan>,
    /// A size for every queue, to be grown from.
    size: Option<usize>,
}

#[derive(Clone, Debug)]
struct NodePlan {
    /// Open output that it reads, frames of the window beyond `consume`, `consume`, history.
    inputs: Vec<(usize, usize, usize, usize)>,
    /// Frames of the window beyond `produce`, `produce`.
    outputs: Vec<(usize, usize)>,
    /// A queue from the node to itself: initial frames, and frames that a firing moves.
    to_itself: Option<(usize, usize)>,
    at_end: EndOfStream,
}

fn plans() -> impl Strategy<Value = NetworkPlan> {
    let at_end = prop_oneof![
        Just(EndOfStream::Drop),
        Just(EndOfStream::Pad),
        Just(EndOfStream::Flush),
        Just(EndOfStream::Extend)
    ];
    let input = (0..8usize, 0..20usize, 1..40usize, 0..20usize);
    let node = (
        proptest::collection::vec(input, 1..4),
        proptest::collection::vec((0..10usize, 1..40usize), 1..3),
        proptest::option::of((0..5usize, 1..5usize)),
        at_end,
    );
    let node = node.prop_map(|(inputs, outputs, to_itself, at_end)| NodePlan {
        inputs,
        outputs,
        to_itself,
        at_end,
    });
    let sources = proptest::collection::vec((1..900usize, 1..64usize), 1..4);
    let size = proptest::option::of(1..80usize);
    (
        1..3usize,
        sources,
        proptest::collection::vec(node, 1..8),
        size,
    )
        .prop_map(|(channels, sources, nodes, size)| NetworkPlan {
            channels,
            sources,
            nodes,
            size,
        })
}

impl NetworkPlan {
    fn build(&self) -> (Network, Vec<Recording>) {
        let mut network = Network::new();
        let mut open: Vec<(NodeId, u16)> = Vec::new();
        for (i, (frames, piece)) in self.sources.iter().enumerate() {
            let mut source = frames_source(*piece, *frames);
            (source.seed, source.output.channels) = (i as u32, self.channels);
            open.push((network.add(format!("source{i}"), source).unwrap(), 0));
        }
        for (i, node) in self.nodes.iter().enumerate() {
            self.add(&mut network, &mut open, i, node);
        }
        let mut all = Vec::new();
        for (i, from) in open.into_iter().enumerate() {
            let (mut sink, recording) = recording_sink(1 + i * 3);
            sink.input.channels = self.channels;
            let to = network.add(format!("sink{i}"), sink).unwrap();
            self.connect(&mut network, from, (to, 0), 0);
            all.push(recording);
        }
        (network, all)
    }

    fn add(&self, network: &mut Network, open: &mut Vec<(NodeId, u16)>, i: usize, node: &NodePlan) {
        let count = node.inputs.len().min(open.len());
        let mut reads = Vec::new();
        let mut ins: Vec<InputPort> = Vec::new();
        for (p, (which, more, consume, lead)) in node.inputs[..count].iter().enumerate() {
            reads.push(open.remove(which % open.len()));
            let input = InputPort::new(format!("in{p}"), consume + more, *consume);
            // A node that reads its own output must end by another input.
            let at_end = match node.to_itself {
                Some(_) if node.at_end == EndOfStream::Extend => EndOfStream::Pad,
                _ => node.at_end,
            };
            ins.push(input.channels(self.channels).history(*lead).at_end(at_end));
        }
        let outs = node.outputs.iter().enumerate().map(|(p, (more, produce))| {
            OutputPort::new(format!("out{p}"), produce + more, *produce).channels(self.channels)
        });
        let mut outs: Vec<OutputPort> = outs.collect();
        if let Some((_, moved)) = node.to_itself {
            ins.push(
                InputPort::new("own", moved, moved)
                    .channels(self.channels)
                    .at_end(EndOfStream::Extend),
            );
            outs.push(OutputPort::new("own", moved, moved).channels(self.channels));
        }
        let (own_in, own_out) = (ins.len() as u16 - 1, outs.len() as u16 - 1);
        let id = network.add(format!("node{i}"), mix(ins, outs)).unwrap();
        for (port, from) in (0..).zip(reads) {
            self.connect(network, from, (id, port), 0);
        }
        if let Some((first, _)) = node.to_itself {
            self.connect(network, (id, own_out), (id, own_in), first);
        }
        open.extend((0..node.outputs.len() as u16).map(|port| (id, port)));
    }

    fn connect(
        &self,
        network: &mut Network,
        from: (NodeId, u16),
        to: (NodeId, u16),
        initial: usize,
    ) {
        let queue = QueueSpec {
            initial,
            size: self.size,
            ..QueueSpec::new(from, to)
        };
        network.connect_with(queue).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_samples_do_not_depend_on_the_schedule(plan in plans()) {
        let options = RunOptions { quantum: 3, ..RunOptions::default() };
        let (network, recording) = plan.build();
        let truth = Scheduler::Caller(FiringOrder::RoundRobin).run(network, &options);
        let expected: Vec<_> = recording.iter().map(bits).collect();
        for (name, scheduler) in all_schedulers() {
            let (network, recording) = plan.build();
            let outcome = scheduler.run(network, &options);
            match (&truth, &outcome) {
                (Ok(a), Ok(b)) => prop_assert_eq!(&a.firings.len(), &b.firings.len()),
                (Err(RunError::Deadlock { .. }), Err(RunError::Deadlock { .. })) => continue,
                _ => prop_assert!(false, "{}: {:?} and not {:?}", name, outcome, truth),
            }
            let got: Vec<_> = recording.iter().map(bits).collect();
            prop_assert!(got == expected, "{} differs", name);
        }
    }
}

/// A diamond: one branch reads windows of `window` frames, and the queue of the other has `size` frames.
fn diamond(window: usize, size: usize) -> (Network, Recording) {
    let mut network = Network::new();
    let a = network.add("a", frames_source(8, window + 1000)).unwrap();
    let fork = mix(
        vec![InputPort::new("in", 8, 8)],
        vec![OutputPort::new("l", 8, 8), OutputPort::new("r", 8, 8)],
    );
    let fork = network.add("fork", fork).unwrap();
    let slow = mix(
        vec![InputPort::new("in", window, 8)],
        vec![OutputPort::new("out", 8, 8)],
    );
    let slow = network.add("slow", slow).unwrap();
    let join = mix(
        vec![InputPort::new("l", 8, 8), InputPort::new("r", 8, 8)],
        vec![OutputPort::new("out", 8, 8)],
    );
    let join = network.add("join", join).unwrap();
    let (sink, recording) = recording_sink(8);
    let sink = network.add("sink", sink).unwrap();
    network.connect((a, 0), (fork, 0)).unwrap();
    network.connect((fork, 0), (slow, 0)).unwrap();
    let short = QueueSpec {
        size: Some(size),
        ..QueueSpec::new((fork, 1), (join, 1))
    };
    network.connect_with(short).unwrap();
    network.connect((slow, 0), (join, 0)).unwrap();
    network.connect((join, 0), (sink, 0)).unwrap();
    (network, recording)
}

#[test]
fn an_artificial_deadlock_makes_the_smallest_full_queue_grow() {
    // Within a page of the ring, and beyond it.
    for window in [400, 3000] {
        let mut recording = Vec::new();
        for (name, scheduler) in all_schedulers() {
            let (network, sink) = diamond(window, 8);
            let summary = scheduler.run(network, &RunOptions::default()).unwrap();
            assert!(!summary.growths.is_empty(), "{name}");
            let queue = "fork.r -> join.r";
            assert!(
                summary.growths.iter().all(|growth| growth.queue == queue),
                "{name}"
            );
            let last = summary.growths.last().unwrap();
            assert!(
                (last.from < window) && (last.to >= window - 8),
                "{name}: {last:?}"
            );
            assert_eq!(summary.sizes[2], last.to, "{name}");
            recording.push(bits(&sink));
        }
        assert!(recording[0][0].len() >= 1000);
        assert!(recording.windows(2).all(|pair| pair[0] == pair[1]));
    }
}

#[test]
fn queues_of_sufficient_size_never_grow() {
    for (name, scheduler) in all_schedulers() {
        let (mut network, _) = diamond(3000, 8);
        let mut topology = network.topology().clone();
        topology
            .queues
            .iter_mut()
            .for_each(|queue| queue.size = None);
        let sizes = divisi_network::checks::sufficient_sizes(&topology).unwrap();
        assert!(sizes[2] >= 2992, "{sizes:?}");
        (network, _) = diamond(3000, sizes[2]);
        let summary = scheduler.run(network, &RunOptions::default()).unwrap();
        assert_eq!(summary.growths, [], "{name}");
    }
}

#[test]
fn a_queue_that_may_not_grow_is_named() {
    for (name, scheduler) in all_schedulers() {
        let (network, _) = diamond(100_000, 8);
        let options = RunOptions {
            memory: 450_000,
            ..RunOptions::default()
        };
        let error = scheduler.run(network, &options).unwrap_err();
        let RunError::Memory {
            queue,
            bytes,
            limit,
        } = &error
        else {
            panic!("{name}: {error}");
        };
        assert!(queue.starts_with("fork."), "{name}: {error}");
        assert!(bytes > limit && *limit == 450_000, "{name}: {error}");
    }
}

#[test]
fn a_true_deadlock_is_reported_with_its_cycle() {
    for (name, scheduler) in all_schedulers() {
        let mut network = Network::new();
        let source = network.add("source", frames_source(4, 100)).unwrap();
        let a = mix(
            vec![InputPort::new("in", 4, 4), InputPort::new("back", 4, 4)],
            vec![OutputPort::new("out", 4, 4)],
        );
        let a = network.add("a", a).unwrap();
        let b = mix(
            vec![InputPort::new("in", 4, 4)],
            vec![OutputPort::new("out", 4, 4), OutputPort::new("back", 4, 4)],
        );
        let b = network.add("b", b).unwrap();
        let (sink, _) = recording_sink(4);
        let sink = network.add("sink", sink).unwrap();
        network.connect((source, 0), (a, 0)).unwrap();
        network.connect((a, 0), (b, 0)).unwrap();
        network.connect((b, 1), (a, 1)).unwrap();
        network.connect((b, 0), (sink, 0)).unwrap();
        let error = scheduler.run(network, &RunOptions::default()).unwrap_err();
        let RunError::Deadlock { mut cycle } = error else {
            panic!("{name}: {error}");
        };
        cycle.sort();
        let (first, second) = (("a", "b.back -> a.back"), ("b", "a.out -> b.in"));
        let expected = [first, second].map(|(node, queue)| (node.into(), queue.into()));
        assert_eq!(cycle, expected, "{name}");
    }
}

/// Panics or fails at its third firing.
struct Bad {
    fired: u32,
    panics: bool,
}

impl Actor for Bad {
    fn ports(&self) -> NodePorts {
        NodePorts::through(InputPort::new("in", 4, 4), OutputPort::new("out", 4, 4))
    }

    fn fire(&mut self, _: &mut Windows<'_>) -> FireStatus {
        self.fired += 1;
        match (self.fired, self.panics) {
            (3, true) => panic!("no more of it"),
            (3, false) => FireStatus::Failed("the disk is full".into()),
            _ => FireStatus::Continue,
        }
    }
}

fn with_bad(panics: bool) -> Network {
    let mut network = Network::new();
    let source = network.add("source", frames_source(4, 1 << 40)).unwrap();
    let bad = network.add("bad", Bad { fired: 0, panics }).unwrap();
    let sink = network.add("sink", recording_sink(4).0).unwrap();
    network.chain(&[source, bad, sink]).unwrap();
    network
}

#[test]
fn a_node_that_panics_or_fails_ends_the_network_with_its_name() {
    for (name, scheduler) in all_schedulers() {
        let error = scheduler
            .run(with_bad(true), &RunOptions::default())
            .unwrap_err();
        assert_eq!(error.to_string(), "`bad` panicked: no more of it", "{name}");
        let error = scheduler
            .run(with_bad(false), &RunOptions::default())
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "`bad` failed: the disk is full",
            "{name}"
        );
    }
}

#[test]
fn the_end_of_a_stream_is_dropped_padded_or_extended() {
    for (rest, expected) in [
        (EndOfStream::Drop, 8),
        (EndOfStream::Pad, 12),
        (EndOfStream::Extend, 12),
    ] {
        let mut network = Network::new();
        let source = network.add("source", frames_source(5, 10)).unwrap();
        let (mut sink, recording) = recording_sink(4);
        sink.input.at_end = rest;
        let sink = network.add("sink", sink).unwrap();
        network.chain(&[source, sink]).unwrap();
        Scheduler::Workers(2)
            .run(network, &RunOptions::default())
            .unwrap();
        let recording = recording.lock().unwrap();
        let mut all: Vec<f32> = (0..10).map(|frame| sample(1, 0, frame)).collect();
        all.resize(12, 0.0);
        assert_eq!(recording[0], all[..expected], "{rest:?}");
    }
}

#[test]
fn an_endless_source_ends_with_its_reader() {
    for (name, scheduler) in all_schedulers() {
        let mut network = Network::new();
        let endless = TestSource {
            frames: 1 << 40,
            ..frames_source(16, 0)
        };
        let endless = network.add("endless", endless).unwrap();
        let short = network.add("short", frames_source(16, 160)).unwrap();
        let both = mix(
            vec![InputPort::new("a", 16, 16), InputPort::new("b", 16, 16)],
            vec![OutputPort::new("out", 16, 16)],
        );
        let both = network.add("both", both).unwrap();
        let (sink, recording) = recording_sink(16);
        let sink: TestSink = sink;
        let sink = network.add("sink", sink).unwrap();
        network.connect((endless, 0), (both, 0)).unwrap();
        network.connect((short, 0), (both, 1)).unwrap();
        network.connect((both, 0), (sink, 0)).unwrap();
        let summary = scheduler.run(network, &RunOptions::default()).unwrap();
        assert_eq!(summary.firings[2], 10, "{name}");
        assert_eq!(recording.lock().unwrap()[0].len(), 160, "{name}");
    }
}

#[test]
fn a_network_stops_when_the_flag_is_set() {
    for (name, scheduler) in all_schedulers() {
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
        let options = RunOptions {
            stop: Some(stop),
            ..RunOptions::default()
        };
        let mut network = Network::new();
        let endless = network.add("endless", frames_source(16, 1 << 40)).unwrap();
        let sink = network.add("sink", recording_sink(16).0).unwrap();
        network.chain(&[endless, sink]).unwrap();
        let outcome = scheduler.run(network, &options);
        assert!(
            matches!(outcome, Err(RunError::Interrupted)),
            "{name}: {outcome:?}"
        );
    }
}

#[test]
fn a_cycle_that_feeds_itself_ends_with_the_last_sink() {
    let mut first = None;
    for (name, scheduler) in all_schedulers() {
        let mut network = Network::new();
        let node = |ins: &[&str], outs: &[&str]| {
            mix(
                ins.iter()
                    .map(|name| InputPort::new(*name, 16, 16))
                    .collect(),
                outs.iter()
                    .map(|name| OutputPort::new(*name, 16, 16))
                    .collect(),
            )
        };
        let source = network.add("source", frames_source(16, 320)).unwrap();
        let round = network.add("round", node(&["in"], &["on", "off"])).unwrap();
        let back = network.add("back", node(&["in"], &["out"])).unwrap();
        let both = network.add("both", node(&["a", "b"], &["out"])).unwrap();
        let (keep, recording) = recording_sink(16);
        let sink = network.add("sink", keep).unwrap();
        network.connect((round, 0), (back, 0)).unwrap();
        let begins = QueueSpec {
            initial: 16,
            ..QueueSpec::new((back, 0), (round, 0))
        };
        network.connect_with(begins).unwrap();
        network.connect((source, 0), (both, 0)).unwrap();
        network.connect((round, 1), (both, 1)).unwrap();
        network.connect((both, 0), (sink, 0)).unwrap();
        // When the source has ended, `round` and `back` still feed each other.
        let summary = scheduler.run(network, &RunOptions::default()).unwrap();
        assert_eq!(summary.firings[4], 20, "{name}");
        let recording = recording.lock().unwrap()[0].clone();
        assert_eq!(
            recording,
            *first.get_or_insert_with(|| recording.clone()),
            "{name}"
        );
    }
}

#[test]
fn a_feedback_node_ends_with_its_external_inputs() {
    let mut first = None;
    for (name, scheduler) in all_schedulers() {
        let mut network = Network::new();
        let source = network.add("source", frames_source(16, 320)).unwrap();
        let sum = network.add("sum", Add::new(2, 1, 16).unwrap()).unwrap();
        let twice = network.add("twice", Split::new(2, 1, 16).unwrap()).unwrap();
        let less = network.add("less", Gain::new(0.5, 1, 8).unwrap()).unwrap();
        let (keep, recording) = recording_sink(16);
        let sink = network.add("sink", keep).unwrap();
        network.connect((source, 0), (sum, 0)).unwrap();
        network.connect((sum, 0), (twice, 0)).unwrap();
        network.connect((twice, 0), (sink, 0)).unwrap();
        network.connect((twice, 1), (less, 0)).unwrap();
        let begins = QueueSpec {
            initial: 32,
            ..QueueSpec::new((less, 0), (sum, 1))
        };
        network.connect_with(begins).unwrap();
        let summary = scheduler.run(network, &RunOptions::default()).unwrap();
        assert_eq!(summary.firings[4], 20, "{name}");
        let recording = recording.lock().unwrap()[0].clone();
        // The recording of 32 frames before comes again at half the level.
        let echo = |n: usize| {
            n.checked_sub(32)
                .map_or(0.0, |before| 0.5 * recording[before])
        };
        let expected: Vec<f32> = (0..320).map(|n| sample(1, 0, n) + echo(n)).collect();
        assert_eq!(recording, expected, "{name}");
        assert_eq!(
            recording,
            *first.get_or_insert_with(|| recording.clone()),
            "{name}"
        );
    }
}
