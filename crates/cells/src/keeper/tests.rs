//! A checkpoint of a real graph: whole, torn, of another graph, and garbage.

use super::*;
use crate::checkpoint::{Checkpoint, CheckpointMemory};
use check::alloc::{Counting, calls};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineOptions, Scheduler};
use graph::SourceSpan;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use units::{Frames, SampleRate};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const BLOCK: u32 = 64;
/// Phases, filters, a delay line, and paths that are aligned.
const SESSION: &str = r#"
edges = ["tone -> low -> echo -> limit -> out", "tone -> limit", "slow -> low.freq: 300", "tone -> out"]
[nodes]
tone = { kind = "osc", freq = 437 }
slow = { kind = "osc", freq = 3 }
low = { kind = "svf", freq = 900 }
echo = { kind = "delay", time = 0.003, max_time = 0.01 }
limit = { kind = "limiter" }
out = { kind = "sink" }
"#;

/// An engine of the session, of which `edit` may change the text.
struct Player {
    _engine: Engine,
    callback: EngineCallback,
}

impl Player {
    fn new(text: &str) -> Self {
        let registry = check::test_bench::registry();
        let (session, mistakes) = text::toml::read(text, registry.catalogue());
        assert!(mistakes.is_empty(), "{mistakes:?}");
        let rate = SampleRate::new(48_000).expect("not 0");
        let mut options = EngineOptions::new(Frames(BLOCK), rate);
        (options.scheduler, options.workers) = (Scheduler::Sequential, 1);
        let made = Engine::new(session.graph, Arc::new(registry), options);
        let (engine, callback) = made.unwrap();
        Self {
            _engine: engine,
            callback,
        }
    }

    /// The next block.
    fn play(&mut self) -> Vec<u32> {
        let mut output = vec![0.0; BLOCK as usize];
        let call = CallbackInfo::default();
        self.callback.process(call, &[], &mut [&mut output]);
        output.into_iter().map(f32::to_bits).collect()
    }
}
