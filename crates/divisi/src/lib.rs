//! A real-time audio engine that plays any graph on every core: the facade of the library.
//!
//! Takes nothing, gives every crate under its name and a registry of every kind of node. May: re-export, register. May not:
//! add anything.
//!
//! ```
//! use divisi::prelude::*;
//!
//! // A graph as text; the parser lists every mistake with its line and column.
//! let registry = std::sync::Arc::new(divisi::registry());
//! let parsed = divisi::text::ag::read("o = { kind: \"osc\", freq: 440, out: 1, }; s = { kind: \"sink\", in: 1, }; o.1 -> s.1;", registry.catalogue());
//! assert!(!parsed.has_errors());
//!
//! // Two halves: the engine stays here, its callback goes to the audio driver.
//! let mut options = EngineOptions::new(Frames(64), SampleRate::new(48_000).unwrap());
//! options.mode = Mode::Offline;
//! let (engine, mut callback) = Engine::new(parsed.session.graph, registry, options)?;
//! let mut left = [0.0; 64];
//! callback.process(CallbackInfo::default(), &[], &mut [&mut left]);
//! assert!(left.iter().any(|x| *x != 0.0));
//! # drop(engine);
//! # Ok::<(), EngineError>(())
//! ```
//!
//! A new kind of node needs a description, a constructor, and a processor that keeps the contract of
//! [`Processor`](processor::Processor):
//!
//! ```
//! use divisi::graph::{Kind, Param, PortSpec};
//! use divisi::prelude::*;
//!
//! /// Product of two inputs.
//! struct Product {
//!     depth: f32,
//! }
//!
//! impl Processor for Product {
//!     fn setup(&mut self, _setup: &mut Setup<'_>) {}
//!
//!     fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
//!         let (a, b, mut out) = (block.input(0), block.input(1), block.output(0));
//!         let pairs = a.channel(0).iter().zip(b.channel(0));
//!         for (to, (a, b)) in out.channel(0).iter_mut().zip(pairs) {
//!             *to = a * b * self.depth;
//!         }
//!         ProcessStatus::Continue
//!     }
//!
//!     fn reset(&mut self) {}
//! }
//!
//! let mut registry = divisi::registry();
//! // Events cannot change it during playback: for that it would be `live()`.
//! let depth = Param::number("depth", (0.0, 1.0), 1.0).doc("Gain of the product, as a factor.");
//! let kind = Kind {
//!     inputs: vec![PortSpec::mono("a"), PortSpec::mono("b")],
//!     outputs: vec![PortSpec::mono("out")],
//!     params: vec![depth],
//!     ..Kind::new("product", "Multiplies one input by the other.")
//! };
//! registry.add(kind, |creation| {
//!     let depth = creation.number("depth")? as f32;
//!     Ok(Box::new(Product { depth }))
//! });
//! let text = r#"
//!     edges = ["tone -> kick.a", "beat -> swell.notes", "swell -> kick.b", "kick -> out"]
//!     [nodes]
//!     tone = { kind = "osc", freq = 55 }
//!     beat = { kind = "metro" }
//!     swell = { kind = "envelope", sustain = 0 }
//!     kick = { kind = "product", depth = 0.8 }
//!     out = { kind = "sink" }
//! "#;
//! let parsed = divisi::text::toml::read(text, registry.catalogue());
//! assert!(!parsed.has_errors());
//! ```
#![forbid(unsafe_code)]

pub use cells;
pub use control;
pub use conv;
pub use costs;
pub use draw;
pub use driver;
pub use dsp;
pub use engine;
pub use exec;
pub use fft;
pub use files;
pub use graph;
pub use media;
pub use midi;
pub use network;
pub use pd;
pub use plan;
pub use processor;
pub use report;
pub use rt;
pub use text;
pub use units;
pub use workers;

/// The page `docs/embed.md`, whose code is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/embed.md")]
struct EmbedPage;

/// The names that most programs need.
pub mod prelude {
    pub use driver::{AudioCallback, CallbackInfo};
    pub use engine::{Engine, EngineCallback, EngineError, EngineOptions, Scheduler};
    pub use graph::{
        BuildError, Edge, Edit, Graph, GraphBuilder, Node, NodeId, ParamValue, PortRef,
    };
    pub use processor::{Block, Mode, ProcessStatus, Processor, Registry, Setup};
    pub use units::{Channels, Frames, Nanos, SampleRate};
}

/// Registers every kind of node of this build. Convolvers choose their partitions by the costs that `divisi tune` measured
/// on this machine, where it has been run and a node has no setting of its own.
///
/// Real-time: setup.
pub fn registry() -> processor::Registry {
    let mut registry = processor::Registry::default();
    dsp::register(&mut registry);
    midi::register(&mut registry);
    conv::register_tuned(&mut registry);
    network::register(&mut registry);
    pd::register(&mut registry);
    registry
}
