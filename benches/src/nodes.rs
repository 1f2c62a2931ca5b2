//! Test nodes: nearly empty ones, and ones that take a known time.

use graph::{Edge, Graph, Kind, Port, PortCount, PortRef, PortSignal, PortSpec, Signal};
use processor::{Block, ProcessStatus, Processor, Registry, Setup};
use std::sync::OnceLock;
use units::{Channels, Nanos};

fn kind(name: &'static str) -> Kind {
    let ports = |name| {
        vec![PortSpec {
            name,
            signal: PortSignal::Fixed(Channels(1)),
            count: PortCount::Many {
                default: 0,
                min: 0,
                max: 4000,
            },
        }]
    };
    Kind {
        inputs: ports("in"),
        outputs: ports("out"),
        ..Kind::new(name, "a node of a benchmark")
    }
}

/// Adds the first samples of its inputs and writes one: the least work that still depends on all inputs.
pub struct Tick {
    /// Steps of a chain of dependent multiplications; 0 for none.
    pub burn: u32,
}

impl Processor for Tick {
    fn setup(&mut self, _: &mut Setup<'_>) {}

    #[inline]
    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let mut x = 1.0;
        for port in 0..block.input_count() {
            x += block.input(port).channel(0)[0] * 0.5;
        }
        if self.burn > 0 {
            x = burn(self.burn, x);
        }
        for mut out in block.outputs() {
            out.channel(0)[0] = x;
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}
}

/// Runs `steps` dependent multiplications, then a serialising instruction, so that no later work overlaps them.
#[inline(never)]
pub fn burn(steps: u32, seed: f32) -> f32 {
    let mut x = seed;
    for _ in 0..steps {
        x = x * 0.999_999 + 1e-7;
    }
    let x = std::hint::black_box(x);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of x86_64.
    unsafe {
        std::arch::x86_64::_mm_lfence();
    }
    x
}

/// Number of steps of [`burn`] that take `nanos` ns. Measured once, so that it is the same for all runners.
pub fn calibrate(nanos: u64) -> u32 {
    static TEN_THOUSAND: OnceLock<u64> = OnceLock::new();
    let took = *TEN_THOUSAND.get_or_init(ten_thousand_steps);
    (10_000 * nanos / took.max(1)) as u32
}

/// Shortest measured time of 10,000 steps, in ns.
fn ten_thousand_steps() -> u64 {
    let scale = rt::stamp::TickScale::calibrated();
    let mut best = u64::MAX;
    for _ in 0..200 {
        let start = rt::stamp::now();
        std::hint::black_box(burn(10_000, 1.0));
        best = best.min(scale.between(start, rt::stamp::now()).0);
    }
    best
}

/// A registry whose kind `tick` takes `nanos` ns.
pub fn registry(nanos: u64) -> Registry {
    let burn = calibrate(nanos);
    let mut registry = Registry::default();
    registry.add(kind("tick"), move |_| Ok(Box::new(Tick { burn })));
    registry
}

/// The graph with `tick` for every node, each with the cost `nanos`. Each edge has an input port of its own, so that the
/// benchmark measures scheduling and not the mixing of signals.
pub fn with_ticks(graph: &Graph, nanos: u64) -> Graph {
    let mut ticks = Graph::default();
    for (_, node) in graph.nodes() {
        let mut node = node.clone();
        "tick".clone_into(&mut node.kind);
        node.cost = Some(Nanos(nanos.max(10)));
        node.inputs.clear();
        ticks.add(node).expect("names differ");
    }
    for edge in graph.edges() {
        let node = ticks.node_mut(edge.to.node).expect("ids are as before");
        let port = node.inputs.len() as u16;
        let name = format!("in{}", port + 1);
        node.inputs
            .push(Port::new(name, Signal::Audio(Channels(1))));
        let to = PortRef {
            node: edge.to.node,
            port,
        };
        ticks.connect(Edge { to, ..*edge });
    }
    ticks
}
