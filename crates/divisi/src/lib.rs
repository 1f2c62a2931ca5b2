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
#![forbid(unsafe_code)]

pub use draw;
pub use driver;
pub use dsp;
pub use engine;
pub use exec;
pub use graph;
pub use media;
pub use plan;
pub use processor;
pub use report;
pub use rt;
pub use text;
pub use units;
pub use workers;

/// What most programs need.
pub mod prelude {
    pub use driver::{Beat, Cycle};
    pub use engine::{Engine, EngineError, EngineOptions, Player, Scheduler};
    pub use graph::{Edge, Edit, End, Graph, Node, NodeId, Value};
    pub use processor::{Activity, Block, Mode, Processor, Registry, Setup};
    pub use units::{Channels, Frames, Nanos, SampleRate};
}

/// Every kind that this build can play.
pub fn registry() -> processor::Registry {
    let mut registry = processor::Registry::default();
    dsp::register(&mut registry);
    registry
}
