//! A real-time audio engine that plays any graph on every core: the library's face.
//!
//! Takes nothing of its own: it registers every kind, and shows each room of the house under its name. May: re-export.
//! May not: add anything.
//!
//! ```
//! use divisi::prelude::*;
//!
//! // A graph as text; every mistake in it would be listed with its place.
//! let registry = std::sync::Arc::new(divisi::registry());
//! let reading = divisi::text::ag::read("o = { kind: \"osc\", freq: 440, out: 1, }; s = { kind: \"sink\", in: 1, }; o.1 -> s.1;", registry.catalogue());
//! assert!(!reading.has_errors());
//!
//! // Two halves: the engine stays here, the player goes to whoever gives the beat.
//! let mut options = EngineOptions::new(Frames(64), SampleRate::new(48_000).unwrap());
//! options.mode = Mode::Offline;
//! let (engine, mut player) = Engine::new(reading.session.graph, registry, options)?;
//! let mut left = [0.0; 64];
//! player.cycle(Beat::default(), &[], &mut [&mut left]);
//! assert!(left.iter().any(|x| *x != 0.0));
//! # drop(engine);
//! # Ok::<(), EngineError>(())
//! ```
//!
//! A kind of one's own is a description, a maker, and a processor, which keeps the promises of [`Processor`](processor::Processor):
//!
//! ```
//! use divisi::graph::{Kind, Param, PortSpec, Range};
//! use divisi::prelude::*;
//!
//! /// One input times the other.
//! struct Times {
//!     depth: f32,
//! }
//!
//! impl Processor for Times {
//!     fn setup(&mut self, _setup: &mut Setup<'_>) {}
//!
//!     fn process(&mut self, block: &mut Block<'_>) -> Activity {
//!         let (a, b, mut out) = (block.input(0), block.input(1), block.output(0));
//!         let pairs = a.channel(0).iter().zip(b.channel(0));
//!         for (to, (a, b)) in out.channel(0).iter_mut().zip(pairs) {
//!             *to = a * b * self.depth;
//!         }
//!         Activity::Awake
//!     }
//!
//!     fn reset(&mut self) {}
//! }
//!
//! let mut registry = divisi::registry();
//! let depth = Param {
//!     name: "depth",
//!     unit: "",
//!     range: Range::Number { least: 0.0, most: 1.0, default: 1.0 },
//!     live: false, // no event changes it while it plays
//!     doc: "How loud the product is, as a factor.",
//! };
//! let kind = Kind {
//!     inputs: vec![PortSpec::mono("a"), PortSpec::mono("b")],
//!     outputs: vec![PortSpec::mono("out")],
//!     params: vec![depth],
//!     ..Kind::new("times", "One input times the other.")
//! };
//! registry.add(kind, |creation| {
//!     let depth = creation.number("depth")? as f32;
//!     Ok(Box::new(Times { depth }))
//! });
//! let text = r#"
//!     edges = ["tone -> kick.a", "beat -> swell.notes", "swell -> kick.b", "kick -> out"]
//!     [nodes]
//!     tone = { kind = "osc", freq = 55 }
//!     beat = { kind = "metro" }
//!     swell = { kind = "envelope", sustain = 0 }
//!     kick = { kind = "times", depth = 0.8 }
//!     out = { kind = "sink" }
//! "#;
//! let reading = divisi::text::toml::read(text, registry.catalogue());
//! assert!(!reading.has_errors());
//! ```
#![forbid(unsafe_code)]

pub use conv;
pub use draw;
pub use driver;
pub use dsp;
pub use engine;
pub use exec;
pub use fft;
pub use graph;
pub use media;
pub use network;
pub use plan;
pub use processor;
pub use report;
pub use rt;
pub use text;
pub use units;
pub use workers;

pub mod tuned;

/// What most programs need.
pub mod prelude {
    pub use driver::{AudioCallback, CallbackInfo};
    pub use engine::{Engine, EngineCallback, EngineError, EngineOptions, Scheduler};
    pub use graph::{Edge, Edit, Graph, Node, NodeId, ParamValue, PortRef};
    pub use processor::{Block, Mode, ProcessStatus, Processor, Registry, Setup};
    pub use units::{Channels, Frames, Nanos, SampleRate};
}

/// Every kind that this build can play. Convolvers are cut as `divisi tune` found best on this machine, where it has been
/// run and a node says nothing else.
pub fn registry() -> processor::Registry {
    let mut registry = processor::Registry::default();
    dsp::register(&mut registry);
    conv::register_with(&mut registry, tuned::measured);
    network::register_with(&mut registry, session_text);
    registry
}

/// The text of a session that a node names. One that is too long to be one is refused.
fn session_text(path: &std::path::Path) -> Result<String, String> {
    use std::io::Read;
    const MOST_BYTES: u64 = 1 << 20;
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    let read = file.take(MOST_BYTES + 1).read_to_string(&mut text);
    match read.map_err(|error| error.to_string())? as u64 > MOST_BYTES {
        true => Err("this is too large".into()),
        false => Ok(text),
    }
}
