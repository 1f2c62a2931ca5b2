//! The test that a live parameter of a node lands at its frame, through an engine and in blocks of any size.
//!
//! A block of one frame is the reference: there an event can only be in the block of its frame.

use crate::fixtures;
use crate::rng::Rng;
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineCallback, EngineError, EngineOptions, Scheduler};
use graph::{
    Catalogue, Edge, Graph, Kind, Node, NodeId, ParamRange, ParamValue, PortCount, PortRef,
    PortSignal, PortSpec, Signal, SourceSpan,
};
use processor::{Block, EventBody, Mode, ProcessStatus, Registry};
use std::sync::Arc;
use units::{Frames, SampleRate};

const FRAMES: usize = 4096;
const MAX_CHANNELS: usize = 64;
/// A mixer has very many parameters that are alike.
const MAX_PARAMS: usize = 8;
/// Frames from one note to the next.
const NOTE: u64 = 500;
/// Kind of the node that turns events into sound.
const PROBE: &str = "event_probe";

/// A value for a parameter at a frame, reached in a ramp of this length.
#[derive(Clone)]
struct Change {
    param: &'static str,
    value: f32,
    at: u64,
    ramp: Frames,
}

/// A graph of the node under test between noise and sinks, and what is sent to it.
struct Case {
    registry: Arc<Registry>,
    graph: Graph,
    node: NodeId,
    changes: Vec<Change>,
}

/// Checks that each live parameter of `node` changes the same samples in blocks of 1, 7, 64 and more frames, and none
/// before its frame. Returns the number of parameters of which a change was heard at all.
///
/// # Panics
///
/// A change lands at another frame; or the kind is unknown or refuses the node.
pub fn check(mut registry: Registry, node: &Node) -> usize {
    add_probe(&mut registry);
    let mut case = Case::new(Arc::new(registry), node);
    let all = case.all_changes();
    let unchanged = case.render(64, Scheduler::Sequential);
    let mut heard = 0;
    for of_param in all.chunk_by(|a, b| a.param == b.param) {
        case.changes = of_param.to_vec();
        let name = format!("{}.{}", node.kind, of_param[0].param);
        let changed = case.compare(&name);
        let first = of_param.iter().map(|change| change.at as usize).min();
        let first = first.expect("a parameter has changes");
        let differs = (0..FRAMES).find(|frame| {
            let mut channels = changed.iter().zip(&unchanged);
            channels.any(|(a, b)| a[*frame] != b[*frame])
        });
        assert!(
            differs.is_none_or(|frame| frame >= first),
            "{name}: heard at {differs:?}, set at {first}"
        );
        heard += usize::from(differs.is_some());
    }
    case.changes = all;
    case.compare(&format!("{}, all parameters", node.kind));
    heard
}

impl Case {
    fn new(registry: Arc<Registry>, node: &Node) -> Self {
        let mut graph = Graph::default();
        let mut node = node.clone();
        assign_ports(&registry, &mut node);
        let (inputs, outputs) = (node.inputs.clone(), node.outputs.clone());
        let id = graph.add(node).expect("the graph is empty");
        for (port, input) in (0..).zip(inputs) {
            if let Signal::Audio(_) = input.signal {
                let mut noise = Node::new(format!("noise {port}"), "noise");
                noise.set("seed", ParamValue::Number(f64::from(port) + 1.0));
                let noise = add(&registry, &mut graph, noise);
                connect(&mut graph, (noise, 0), (id, port));
            }
        }
        for (port, output) in (0..).zip(outputs) {
            let mut sink = Node::new(format!("sink {port}"), "sink");
            let mut from = (id, port);
            match output.signal {
                Signal::Audio(channels) => {
                    sink.set("channels", ParamValue::Number(f64::from(channels.0)));
                }
                Signal::Control | Signal::Event => {
                    let probe = Node::new(format!("probe {port}"), PROBE);
                    let probe = add(&registry, &mut graph, probe);
                    connect(&mut graph, from, (probe, 0));
                    from = (probe, 0);
                }
            }
            let sink = add(&registry, &mut graph, sink);
            connect(&mut graph, from, (sink, 0));
        }
        Self {
            registry,
            graph,
            node: id,
            changes: Vec::new(),
        }
    }

    /// Changes of every live number, each at frames inside of blocks, in the order of the parameters.
    fn all_changes(&self) -> Vec<Change> {
        let mut rng = Rng(11);
        let node = self.graph.node(self.node).expect("it was added");
        let kind = self.registry.catalogue().get(node.effective_kind());
        let params = &kind.expect("the kind is known").params;
        let mut all = Vec::new();
        for param in params.iter().filter(|param| param.live).take(MAX_PARAMS) {
            let ParamRange::Number { min, max, .. } = param.range else {
                continue;
            };
            // Work for ten seconds would prove nothing more.
            let max = if param.unit == "ns" { 1000.0 } else { max };
            let mut frames = [0; 3].map(|_| 65 + rng.below(FRAMES - 300) as u64);
            frames.sort_unstable();
            for (at, ramp) in frames.into_iter().zip([0, 0, 100]) {
                let value = (min + (max - min) * rng.unit().powi(4)) as f32;
                all.push(Change {
                    param: param.name,
                    value,
                    at,
                    ramp: Frames(ramp),
                });
            }
        }
        all
    }

    /// Asserts that blocks of all sizes give the samples of blocks of one frame, which it returns.
    fn compare(&self, name: &str) -> Vec<Vec<u32>> {
        let truth = self.render(1, Scheduler::Sequential);
        let cases = [
            (7, Scheduler::Sequential),
            (64, Scheduler::Sequential),
            (64, Scheduler::Stealing),
            (FRAMES, Scheduler::Sequential),
        ];
        for (block, scheduler) in cases {
            let played = self.render(block, scheduler);
            for (channel, (a, b)) in played.iter().zip(&truth).enumerate() {
                let wrong = a.iter().zip(b).position(|(a, b)| a != b);
                let changes = || self.changes.iter().map(|it| (it.at, it.ramp.0));
                assert!(
                    wrong.is_none(),
                    "{name}, blocks of {block}, {scheduler}: channel {channel} differs at {wrong:?}; changes {:?}",
                    changes().collect::<Vec<_>>()
                );
            }
        }
        truth
    }

    fn render(&self, block: usize, scheduler: Scheduler) -> Vec<Vec<u32>> {
        let rate = SampleRate::new(48_000).expect("it is above 0");
        let mut options = EngineOptions::new(Frames(block as u32), rate);
        options.mode = Mode::Offline;
        options.scheduler = scheduler;
        options.workers = 2;
        let (engine, callback) = Engine::new(self.graph.clone(), self.registry.clone(), options)
            .unwrap_or_else(|error| panic!("{error}: {:?}", self.graph));
        let mut playing = (engine, callback);
        self.send_notes(&mut playing.0);
        for change in &self.changes {
            self.send(&mut playing.0, change);
        }
        play(&mut playing, block)
    }

    /// Sends notes and gates to the inputs of events, so that what waits for them sounds.
    fn send_notes(&self, engine: &mut Engine) {
        let inputs = self
            .graph
            .node(self.node)
            .expect("it was added")
            .inputs
            .clone();
        for input in inputs {
            match input.signal {
                Signal::Audio(_) => {}
                Signal::Control => {
                    let sent = engine.send_value(self.node, &input.name, 0.7, 33);
                    sent.expect("a control input takes a value");
                }
                Signal::Event => {
                    let ends = (0..2 * FRAMES as u64 / NOTE).map(|end| (end * NOTE / 2 + 3, end));
                    for (at, end) in ends {
                        let velocity = if end % 2 == 0 { 100 } else { 0 };
                        let message = [0x90, 60, velocity];
                        let sent = engine.send_midi(self.node, &input.name, message, at);
                        sent.expect("an event input takes a note");
                        let gate = f32::from(u8::from(velocity > 0));
                        let sent = engine.send_value(self.node, &input.name, gate, at + 1);
                        sent.expect("an event input takes a value");
                    }
                }
            }
        }
    }

    /// Sends a change, with a value within bounds that the node sets itself.
    fn send(&self, engine: &mut Engine, change: &Change) {
        let Change {
            param, at, ramp, ..
        } = *change;
        let send =
            |engine: &mut Engine, value| engine.schedule_param(self.node, param, value, at, ramp);
        match send(engine, change.value) {
            Err(EngineError::OutOfRange { min, max, .. }) => {
                let value = min + (max - min) * (0.1 + 0.5 * f64::from(at as u32 % 2));
                send(engine, value as f32).expect("it is within the bounds");
            }
            sent => sent.expect("a live parameter can be set"),
        }
    }
}

/// Plays; returns the bits of all channels.
fn play((engine, callback): &mut (Engine, EngineCallback), block: usize) -> Vec<Vec<u32>> {
    let mut played: Vec<Vec<u32>> = (0..MAX_CHANNELS)
        .map(|_| Vec::with_capacity(FRAMES))
        .collect();
    let mut buffers = vec![vec![0.0; block]; MAX_CHANNELS];
    while played[0].len() < FRAMES {
        let mut outputs: Vec<&mut [f32]> = buffers.iter_mut().map(Vec::as_mut_slice).collect();
        callback.process(CallbackInfo::default(), &[], &mut outputs);
        engine.update();
        for (all, buffer) in played.iter_mut().zip(&buffers) {
            all.extend(buffer.iter().map(|x| x.to_bits()));
        }
    }
    played
        .iter_mut()
        .for_each(|channel| channel.truncate(FRAMES));
    played
}

fn assign_ports(registry: &Registry, node: &mut Node) {
    let kind = registry.catalogue().get(node.effective_kind());
    let wrong = Catalogue::assign_ports(kind.expect("the kind is known"), node);
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn add(registry: &Registry, graph: &mut Graph, mut node: Node) -> NodeId {
    assign_ports(registry, &mut node);
    graph.add(node).expect("the name is new")
}

fn connect(graph: &mut Graph, from: (NodeId, u16), to: (NodeId, u16)) {
    let port = |(node, port)| PortRef { node, port };
    graph.connect(Edge {
        from: port(from),
        to: port(to),
        span: SourceSpan::NONE,
    });
}

/// Adds a kind that writes a number for each event at its frame. Numbers of one frame add up exactly.
fn add_probe(registry: &mut Registry) {
    let events = PortSpec {
        name: "events",
        signal: PortSignal::Event,
        count: PortCount::One,
    };
    let kind = Kind {
        inputs: vec![events],
        outputs: vec![PortSpec::mono("out")],
        ..Kind::new(PROBE, "Turns events into sound.")
    };
    fixtures::add(registry, kind, |_| {
        |block: &mut Block<'_>| {
            let sent: Vec<_> = (block.events().iter())
                .map(|event| (event.frame, number_of(event.body)))
                .collect();
            let mut output = block.output(0);
            let output = output.channel(0);
            output.fill(0.0);
            for (frame, number) in sent {
                output[frame as usize] += number;
            }
            ProcessStatus::Continue
        }
    });
}

/// A whole number up to 4095 that depends on all of an event.
fn number_of(body: EventBody) -> f32 {
    let text = format!("{body:?}");
    let hash = text.bytes().fold(7_u32, |hash, byte| {
        (hash.wrapping_mul(31)).wrapping_add(u32::from(byte))
    });
    (1 + hash % 4095) as f32
}
