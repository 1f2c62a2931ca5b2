//! Nodes that are played ahead have the bits of a run in time, through parameters, edits and jumps of the transport.

use divisi::prelude::*;
use divisi_check::alloc::{Counting, calls};
use divisi_check::rng::Rng;
use engine::{AheadStatus, TransportStart};
use graph::{Edge, Edit, NodeId, Param, ParamRange};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const BLOCK: usize = 64;
/// Examples with generators, scores and envelopes; in some of them delays and reverbs, which cannot be played ahead.
const EXAMPLES: [&str; 4] = [
    "05-session-64.toml",
    "07-poly-synth.toml",
    "08-drum-machine.toml",
    "09-generative.toml",
];

/// An example that plays, and what it has played.
struct Recording {
    registry: Arc<Registry>,
    engine: Engine,
    player: EngineCallback,
    played: Vec<u32>,
    /// Calls to the allocator within callbacks.
    allocations: u64,
    is_live: bool,
}

impl Recording {
    fn new(name: &str, schedule: (Scheduler, usize), mode: Mode, ahead_blocks: u32) -> Self {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let registry = Arc::new(divisi::registry());
        let read = divisi::text::read_by_extension(name, &bytes, registry.catalogue());
        let mut options =
            EngineOptions::new(Frames(BLOCK as u32), SampleRate::new(48_000).unwrap());
        (options.scheduler, options.workers) = schedule;
        (options.mode, options.folder) = (mode, folder);
        (options.lock_memory, options.prevent_cpu_sleep) = (false, false);
        options.ahead_blocks = ahead_blocks;
        options.transport = Some(TransportStart {
            position: 0,
            is_rolling: true,
        });
        let (engine, player) = Engine::new(read.session.graph, registry.clone(), options).unwrap();
        Self {
            registry,
            engine,
            player,
            played: Vec::new(),
            allocations: 0,
            is_live: mode == Mode::Live,
        }
    }

    fn play(&mut self, blocks: usize) {
        for _ in 0..blocks {
            let (mut left, mut right) = ([0.0_f32; BLOCK], [0.0_f32; BLOCK]);
            let mut outputs: [&mut [f32]; 2] = [&mut left, &mut right];
            let before = calls();
            self.player
                .process(CallbackInfo::default(), &[], &mut outputs);
            self.allocations += calls() - before;
            let both = left.iter().zip(&right);
            self.played
                .extend(both.flat_map(|(a, b)| [a.to_bits(), b.to_bits()]));
            self.engine.update();
            if self.is_live {
                // Time in which a thread can play ahead.
                std::thread::sleep(Duration::from_micros(300));
            }
        }
    }

    /// A parameter of some node that may change while it plays, and a value for it.
    fn some_param(&self, rng: &mut Rng) -> Option<(NodeId, &'static str, f32)> {
        let nodes: Vec<_> = self.engine.graph().nodes().collect();
        let (id, node) = nodes[rng.below(nodes.len())];
        let kind = self.registry.catalogue().get(node.effective_kind())?;
        let live: Vec<&Param> = kind.params.iter().filter(|param| param.live).collect();
        if live.is_empty() {
            return None;
        }
        let param = live[rng.below(live.len())];
        let ParamRange::Number { min, max, default } = param.range else {
            return None;
        };
        let share = rng.below(100) as f64 / 100.0;
        let value = if default > 0.0 {
            (default * (0.5 + share)).clamp(min, max)
        } else {
            min + (max.min(min + 1.0) - min) * share
        };
        Some((id, param.name, value as f32))
    }

    /// Changes something by chance, the same for the same `rng`.
    fn change(&mut self, rng: &mut Rng) {
        let engine = &mut self.engine;
        let some_edge = |rng: &mut Rng, edges: &[Edge]| edges[rng.below(edges.len())];
        match rng.below(8) {
            0 => engine.stop_transport(0).unwrap(),
            1 => engine.start_transport(0).unwrap(),
            2 => engine
                .locate_transport(rng.below(400_000) as u64, 0)
                .unwrap(),
            3 => {
                let edge = some_edge(rng, engine.graph().edges());
                let _ = engine.edit([Edit::Disconnect(edge.from, edge.to)]);
            }
            4 => {
                let nodes: Vec<NodeId> = engine.graph().nodes().map(|(id, _)| id).collect();
                let id = nodes[rng.below(nodes.len())];
                let is_enabled = engine.graph().node(id).unwrap().enabled;
                let _ = engine.edit([Edit::Enable(id, !is_enabled)]);
            }
            _ => {
                if let Some((id, name, value)) = self.some_param(rng) {
                    self.engine.set_param(id, name, value).unwrap();
                }
            }
        }
    }
}

/// Plays both with the same changes; gives what was played ahead.
fn compare(name: &str, [plain, ahead]: [&mut Recording; 2], seed: u64) -> AheadStatus {
    let (mut rng, mut other_rng) = (Rng(seed), Rng(seed));
    let mut changes = 0;
    for round in 0..40 {
        let blocks = 5 + Rng(seed * 1000 + round).below(60);
        plain.change(&mut rng);
        ahead.change(&mut other_rng);
        changes += 1;
        plain.play(blocks);
        ahead.play(blocks);
        let first = plain.played.iter().zip(&ahead.played);
        let wrong = first.clone().position(|(a, b)| a != b);
        assert_eq!(
            wrong.map(|at| at / 2 / BLOCK),
            None,
            "{name}, seed {seed}, round {round}"
        );
    }
    assert!(changes == 40 && plain.played.iter().any(|bits| *bits != 0));
    assert_eq!(plain.engine.ahead_status(), None);
    ahead.engine.ahead_status().unwrap()
}

#[test]
fn what_is_played_ahead_has_the_same_bits_through_parameters_edits_and_jumps() {
    let mut share = Vec::new();
    for (name, seed) in EXAMPLES.into_iter().zip(1..) {
        for (blocks, schedule) in [
            (1, (Scheduler::Sequential, 1)),
            (8, (Scheduler::Stealing, 2)),
            (3, (Scheduler::Hlfet, 2)),
        ] {
            let mut plain = Recording::new(name, (Scheduler::Sequential, 1), Mode::Offline, 0);
            let mut ahead = Recording::new(name, schedule, Mode::Offline, blocks);
            let status = compare(name, [&mut plain, &mut ahead], seed);
            share.push(status.ahead as f64 / (status.ahead + status.played) as f64);
        }
    }
    assert!(share.iter().all(|share| *share > 0.5), "{share:?}");
}

#[test]
fn a_thread_that_plays_ahead_while_the_callback_runs_gives_the_same_bits() {
    let mut ahead_blocks = 0;
    for (name, seed) in EXAMPLES.into_iter().zip(11..) {
        let [mut plain, mut ahead] =
            [0, 16].map(|it| Recording::new(name, (Scheduler::Sequential, 1), Mode::Live, it));
        ahead_blocks += compare(name, [&mut plain, &mut ahead], seed).ahead;
        assert_eq!(
            ahead.allocations, 0,
            "{name}: the callback allocated or freed"
        );
    }
    // How many are there in time is up to the machine.
    assert!(ahead_blocks > 0);
}

#[test]
fn a_pipeline_and_copies_of_nodes_play_nothing_ahead() {
    for scheduler in [Scheduler::Pipelined, Scheduler::Cpfd] {
        let mut recording = Recording::new(EXAMPLES[2], (scheduler, 2), Mode::Offline, 8);
        recording.play(100);
        let status = recording.engine.ahead_status().unwrap();
        assert_eq!((status.nodes, status.ahead), (0, 0), "{scheduler}");
    }
}
