//! `work`: costs so much, sounds like nothing. For test graphs and measurements.
//!
//! `in` inputs, `out` outputs of one channel. It burns `ns` nanoseconds' worth of *dependent* instructions a block (a
//! part of a block burns its part), then puts the sum of its inputs on every output. It burns instructions and reads no
//! clock: on a machine that slows down it takes longer. How many instructions a nanosecond holds is measured once a
//! process, when the first such node is made.

use crate::knob::Knob;
use crate::mix::{many, spread, sum};
use crate::state;
use crate::steps::{Step, steps};
use graph::{Kind, PortSignal, PortSpec};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError};
use std::hint::black_box;
use std::sync::OnceLock;
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};
use units::Channels;

const NS: Knob = Knob {
    index: 0,
    name: "ns",
    unit: "ns",
    least: 0.0,
    most: 1e10,
    default: 1000.0,
    doc: "What a block costs on an idle machine.",
};

pub(crate) fn kind() -> Kind {
    let mono = |spec: PortSpec| PortSpec {
        signal: PortSignal::Fixed(Channels(1)),
        ..spec
    };
    Kind {
        inputs: vec![mono(many("in", 1, 0))],
        outputs: vec![mono(many("out", 1, 0))],
        params: vec![NS.param()],
        typical_ns: 1000,
        ..Kind::new("work", "Costs so much, and passes its input on.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let ns = NS.of(creation)?;
    Ok(Box::new(Work {
        made: ns,
        ns,
        links_a_ns: links_a_ns(),
        block: 1,
        chain: 1,
    }))
}

/// How many links of [`chain`] run in a nanosecond here: the best of several short runs.
fn links_a_ns() -> f64 {
    static MEASURED: OnceLock<f64> = OnceLock::new();
    const LINKS: u64 = 200_000;
    *MEASURED.get_or_init(|| {
        let run = |_| {
            let start = Instant::now();
            black_box(chain(black_box(1), LINKS));
            start.elapsed()
        };
        let best = (0..20).map(run).min().unwrap_or(Duration::MAX);
        LINKS as f64 / (best.as_nanos() as f64).max(1.0)
    })
}

/// So many links, none of which can begin before the one before it has ended.
#[inline(never)]
fn chain(mut x: u64, links: u64) -> u64 {
    for _ in 0..links {
        x = (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    x
}

#[derive(Clone)]
struct Work {
    made: f64,
    ns: f64,
    links_a_ns: f64,
    block: u32,
    /// The chain's end: where the next block's begins. No output hangs on its value.
    chain: u64,
}

impl Work {
    /// Burns the share of `frames`, and gives a zero that no instruction can know before the chain has ended.
    fn burn(&mut self, frames: usize) -> u32 {
        let share = frames as f64 / f64::from(self.block);
        let links = self.ns * self.links_a_ns * share;
        self.chain = chain(self.chain, links as u64);
        (black_box(self.chain) & black_box(0)) as u32
    }

    /// Holds the output back until the chain has ended.
    fn pass(&mut self, block: &mut Block<'_>) {
        let zero = self.burn(block.frames());
        let (inputs, outputs) = (block.input_count(), block.output_count());
        if outputs == 0 {
            return;
        }
        sum(block, 0..inputs, 0, 1);
        for y in block.output(0).channel(0) {
            *y = f32::from_bits(y.to_bits() ^ zero);
        }
        spread(block, 1);
    }
}

impl Processor for Work {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.block = setup.block.0.max(1);
        self.ns = self.made;
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        for step in steps(block) {
            if let Step::Event(event) = step {
                self.ns = NS.turned(&event).unwrap_or(self.ns);
            }
        }
        let silent = block.is_silent();
        self.pass(block);
        if self.ns > 0.0 {
            // What was stored hangs on the chain's end, and no later read may pass this fence before it is stored: the
            // steps that follow cannot run ahead inside the core and flatter the sequential order. No other thread
            // pairs with it.
            fence(Ordering::SeqCst);
        }
        if silent {
            block.silence_outputs();
        }
        // It has work to do, sound or no sound.
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.ns = self.made;
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        state::put(bytes, [self.made, self.ns].map(f64::to_bits));
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 2)?;
        let [made, ns] = words.numbers(0)?;
        if made == self.made {
            self.ns = ns.clamp(NS.least, NS.most);
        }
        Ok(())
    }
}
