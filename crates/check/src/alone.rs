//! Nodes that one call computes together, beside each alone: sessions whose bits must be the same.

use crate::alloc;
use crate::rng::Rng;
use crate::test_bench::{ALL_STRATEGIES, RunConfig, TestBench, registry};
use graph::Graph;
use processor::{
    Block, Event, EventBody, EventTarget, ProcessStatus, Processor, Setup, StateError, Tail,
};
use std::fmt::Write;

/// A processor that is computed together with no other.
struct Alone(Box<dyn Processor>);

impl Processor for Alone {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.0.setup(setup);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        self.0.process(block)
    }

    fn reset(&mut self) {
        self.0.reset();
    }

    fn tail(&self) -> Tail {
        self.0.tail()
    }

    fn save(&self, state: &mut Vec<u8>) {
        self.0.save(state);
    }

    fn load(&mut self, state: &[u8]) -> Result<(), StateError> {
        self.0.load(state)
    }
}

/// The graph of a session without mistakes.
///
/// # Panics
///
/// It has some.
pub fn read_graph(text: &str) -> Graph {
    let registry = registry();
    let read = text::toml::read(text, registry.catalogue());
    assert!(!read.has_errors(), "{text}\n{:?}", read.diagnostics);
    read.session.graph
}

/// A session of `free` gains behind a constant and of `waiting` ones behind the first of them, all added up. `gain_db` gives the gain of each.
pub fn gains((free, waiting): (usize, usize), gain_db: impl Fn(usize) -> u32) -> Graph {
    let mut text = String::from("edges = [\n");
    for i in 0..free {
        let _ = writeln!(text, "  \"noise -> n{i} -> out\",");
    }
    for i in free..free + waiting {
        let _ = writeln!(text, "  \"n0 -> n{i} -> out\",");
    }
    text += "]\n[nodes]\nnoise = { kind = \"noise\", volume = 0 }\nout = { kind = \"sink\" }\n";
    for i in 0..free + waiting {
        let db = gain_db(i);
        let _ = writeln!(text, "n{i} = {{ kind = \"gain\", gain_db = {db} }}");
    }
    read_graph(&text)
}

/// Changes of the first parameters of nodes by chance, which come at the same frames in blocks of any size.
pub struct Changes {
    /// First letter of the names of the nodes; numbers below 24 follow it.
    pub name: char,
    /// A value by chance.
    pub value: fn(&mut Rng) -> f32,
}

impl Changes {
    /// Frame, name of the node and value of each, in order.
    fn draw(&self, seed: u64, frames: usize) -> Vec<(u64, String, f32)> {
        let mut rng = Rng(seed);
        let mut change = || {
            let at = rng.below(frames) as u64;
            let node = format!("{}{}", self.name, rng.below(24));
            (at, node, (self.value)(&mut rng))
        };
        let mut changes: Vec<_> = (0..12).map(|_| change()).collect();
        changes.sort_by_key(|(at, ..)| *at);
        changes
    }

    /// Plays four channels of `frames` frames.
    fn play(
        &self,
        bench: &mut TestBench,
        graph: &Graph,
        (seed, block, frames): (u64, u32, usize),
    ) -> Vec<Vec<u32>> {
        let changes = self.draw(seed, frames);
        let mut all = vec![Vec::new(); 4];
        for begin in (0..frames as u64).step_by(block as usize) {
            for (at, name, value) in &changes {
                if (begin..begin + u64::from(block)).contains(at)
                    && let Some((node, _)) = graph.nodes().find(|(_, it)| it.name == *name)
                {
                    let event = Event {
                        frame: (at - begin) as u32,
                        target: EventTarget::Param(0),
                        body: EventBody::Value(*value),
                    };
                    bench.send_event(node, event);
                }
            }
            let played = bench.render(4, block as usize);
            let pairs = all.iter_mut().zip(played);
            pairs.for_each(|(all, new)| all.extend(new));
        }
        all.iter_mut().for_each(|it| it.truncate(frames));
        all
    }

    /// Plays a session in blocks of all sizes and in every executor, and compares its bits with those of each node alone.
    ///
    /// # Panics
    ///
    /// They differ, or nothing is heard.
    pub fn check_bits(&self, graph: &Graph, seed: u64) {
        const FRAMES: usize = 6000;
        let registry = registry();
        let config = RunConfig::reference(64);
        let mut alone =
            TestBench::wrapped(graph, &registry, config, |_, inner| Box::new(Alone(inner)));
        let wanted = self.play(&mut alone, graph, (seed, 64, FRAMES));
        let sounding = wanted.iter().flatten().filter(|x| **x != 0).count();
        assert!(sounding > FRAMES, "seed {seed}: {sounding}");
        for block in [64, 1, 24, 50, 256] {
            let mut bench = TestBench::new(graph, &registry, RunConfig::reference(block));
            let got = self.play(&mut bench, graph, (seed, block, FRAMES));
            assert!(got == wanted, "seed {seed}, block {block}");
        }
        // A traced step runs by itself.
        let runs = ALL_STRATEGIES.map(|strategy| [(strategy, false), (strategy, true)]);
        for (strategy, is_traced) in runs.into_iter().flatten() {
            let mut bench = TestBench::new(graph, &registry, RunConfig::new(strategy, 2, 64));
            bench.runtime.set_traced(is_traced);
            let got = self.play(&mut bench, graph, (seed, 64, FRAMES));
            assert!(got == wanted, "seed {seed}, {strategy:?}, {is_traced}");
        }
    }
}

/// Plays a session, and counts allocations ([`alloc`]).
///
/// # Panics
///
/// There are some, or the test does not count them.
pub fn allocates_nothing(graph: &Graph) {
    let mut bench = TestBench::new(graph, &registry(), RunConfig::reference(64));
    bench.render(1, 640);
    let before = alloc::calls();
    (0..50).for_each(|_| {
        bench.run_cycle(&[]);
    });
    assert_eq!(alloc::calls(), before);
    assert!(alloc::is_installed());
}
