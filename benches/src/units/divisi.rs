//! A session with copies of a unit between sources and a mix, played by the engine on one worker.
//!
//! A second session has the same sources and the same mix, with all inputs of the mix at one copy. The difference is the time of
//! the other copies: their units and what the engine does for each of them.

use super::rows::Row;
use super::{BLOCK, Bench, RATE, hz, rms, thread_time};
use driver::{AudioCallback, CallbackInfo};
use engine::{Engine, EngineCallback, EngineOptions, Scheduler};
use processor::{Mode, Registry};
use std::sync::Arc;
use units::{Frames, SampleRate};

/// The nodes of one copy as a session writes them; `#` stands for its number, `HZ` for its frequency.
pub struct CopyText {
    /// Lines of the table of nodes.
    pub nodes: &'static str,
    /// Edges from sources (`noise1` to `noise8`, `gate`) and between nodes of the copy.
    pub edges: &'static [&'static str],
    /// Ports that are mixed.
    pub outputs: &'static [&'static str],
}

struct DivisiBench {
    copies: usize,
    many: Player,
    one: Player,
}

/// The copies of `row` in Divisi.
pub fn bench(row: &Row) -> Box<dyn Bench> {
    Box::new(DivisiBench {
        copies: row.copies,
        many: Player::new(&session(row, row.copies)),
        one: Player::new(&session(row, 1)),
    })
}

impl Bench for DivisiBench {
    fn time(&mut self, blocks: usize) -> f64 {
        let many = self.many.time(blocks);
        (many - self.one.time(blocks)) / (self.copies - 1) as f64
    }

    fn least_time(&mut self, blocks: usize, runs: usize) -> f64 {
        let [mut many, mut one] = [f64::INFINITY; 2];
        for _ in 0..runs {
            many = many.min(self.many.time(blocks));
            one = one.min(self.one.time(blocks));
        }
        (many - one) / (self.copies - 1) as f64
    }

    fn level(&mut self) -> f32 {
        rms(self.many.play(RATE as usize / BLOCK).into_iter())
    }
}

/// The session of `row` with `copies` copies. Its mix always has as many inputs as there are copies in `row`.
fn session(row: &Row, copies: usize) -> String {
    let CopyText {
        nodes,
        edges,
        outputs,
    } = &row.divisi;
    let mut all_nodes = String::new();
    let mut all_edges = Vec::new();
    for copy in 1..=copies {
        let fill = |text: &str| {
            let text = text.replace('#', &copy.to_string());
            text.replace("HZ", &hz(copy).to_string())
        };
        all_nodes += &fill(nodes);
        all_nodes.push('\n');
        all_edges.extend(edges.iter().map(|edge| fill(edge)));
    }
    let mut inputs = 0;
    for copy in 0..row.copies {
        for output in *outputs {
            inputs += 1;
            let from = output.replace('#', &(copy % copies + 1).to_string());
            all_edges.push(format!("{from} -> mix.in{inputs}"));
        }
    }
    for source in 1..=row.noises {
        all_nodes += &format!("noise{source} = {{ kind = \"noise\" }}\n");
    }
    if edges.iter().any(|edge| edge.starts_with("gate")) {
        all_nodes += "gate = { kind = \"lfo\", shape = \"square\", freq = 4 }\n";
    }
    format!(
        "edges = {:?}\n[nodes]\n{all_nodes}mix = {{ kind = \"mix\", in = {inputs} }}\nout = {{ kind = \"sink\" }}\n",
        [all_edges, vec!["mix -> out".to_owned()]].concat()
    )
}

struct Player {
    engine: Engine,
    callback: EngineCallback,
}

impl Player {
    fn new(session: &str) -> Self {
        let mut registry = Registry::default();
        dsp::register(&mut registry);
        let read = text::toml::read(session, registry.catalogue());
        assert!(!read.has_errors(), "{:?}", read.diagnostics);
        let rate = SampleRate::new(RATE).expect("48000 is not zero");
        let mut options = EngineOptions::new(Frames(BLOCK as u32), rate);
        (options.mode, options.scheduler, options.workers) =
            (Mode::Offline, Scheduler::Sequential, 1);
        let engine = Engine::new(read.session.graph, Arc::new(registry), options);
        let (engine, callback) = engine.expect("the session can be played");
        Self { engine, callback }
    }

    fn time(&mut self, blocks: usize) -> f64 {
        self.engine.update();
        let mut left = [0.0; BLOCK];
        let begin = thread_time();
        for _ in 0..blocks {
            self.callback
                .process(CallbackInfo::default(), &[], &mut [&mut left]);
        }
        thread_time() - begin
    }

    /// The first output channel of the next blocks.
    fn play(&mut self, blocks: usize) -> Vec<f32> {
        let mut samples = vec![0.0; blocks * BLOCK];
        for left in samples.chunks_mut(BLOCK) {
            self.callback
                .process(CallbackInfo::default(), &[], &mut [left]);
        }
        samples
    }
}
