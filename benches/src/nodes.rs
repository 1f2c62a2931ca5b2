//! Nodes to be scheduled: nearly empty ones, and ones that burn a known time.

use graph::{Edge, End, Graph, Kind, Port, PortCount, PortSpec, Signal, Width};
use processor::{Activity, Block, Processor, Registry, Setup};
use std::sync::OnceLock;
use units::{Channels, Nanos};

fn kind(name: &'static str) -> Kind {
    let ports = |name| {
        vec![PortSpec {
            name,
            width: Width::Fixed(Channels(1)),
            count: PortCount::Many {
                default: 0,
                least: 0,
                most: 4000,
            },
        }]
    };
    Kind {
        inputs: ports("in"),
        outputs: ports("out"),
        ..Kind::new(name, "a node of a benchmark")
    }
}

/// Adds its inputs' first samples and writes one: as little as a node can do and still depend on its inputs.
pub struct Tick {
    /// Steps of a dependent chain to burn.
    pub burn: u32,
}

impl Processor for Tick {
    fn setup(&mut self, _: &mut Setup<'_>) {}

    #[inline]
    fn process(&mut self, block: &mut Block<'_>) -> Activity {
        let mut x = 1.0;
        for port in 0..block.inputs() {
            x += block.input(port).channel(0)[0] * 0.5;
        }
        if self.burn > 0 {
            x = burn(self.burn, x);
        }
        for mut out in block.all_outputs() {
            out.channel(0)[0] = x;
        }
        Activity::Awake
    }

    fn reset(&mut self) {}
}

/// `steps` dependent multiplications, then a serialising instruction: nothing of it overlaps what comes next.
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

/// How many steps of [`burn`] take `nanos`: found once, the same for all contestants.
pub fn calibrate(nanos: u64) -> u32 {
    static TEN_THOUSAND: OnceLock<u64> = OnceLock::new();
    let took = *TEN_THOUSAND.get_or_init(ten_thousand_steps);
    (10_000 * nanos / took.max(1)) as u32
}

/// The least ns that 10,000 steps were seen to take.
fn ten_thousand_steps() -> u64 {
    let scale = rt::stamp::Scale::of_this_machine();
    let mut best = u64::MAX;
    for _ in 0..200 {
        let start = rt::stamp::now();
        std::hint::black_box(burn(10_000, 1.0));
        best = best.min(scale.between(start, rt::stamp::now()).0);
    }
    best
}

/// A registry whose kind `tick` burns `nanos`.
pub fn registry(nanos: u64) -> Registry {
    let burn = calibrate(nanos);
    let mut registry = Registry::default();
    registry.add(kind("tick"), move |_| Ok(Box::new(Tick { burn })));
    registry
}

/// The graph with `tick` for every node, each thought to cost `nanos`. Each edge has an input of its own: what is measured
/// is the scheduling, not the adding of sounds.
pub fn of_ticks(graph: &Graph, nanos: u64) -> Graph {
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
        node.inputs.push(Port {
            name: format!("in{}", port + 1),
            signal: Signal::Audio(Channels(1)),
        });
        let to = End {
            node: edge.to.node,
            port,
        };
        ticks.connect(Edge { to, ..*edge });
    }
    ticks
}
