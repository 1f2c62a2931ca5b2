//! `work`: a unit that costs a set time and passes its input on, for test graphs and measurements.
//!
//! It executes a chain of *dependent* instructions worth `ns` nanoseconds a block (a shorter block executes its share), then
//! puts the sum of its inputs on every output. It reads no clock while it runs: on a core that slows down, it takes longer,
//! as real work does. The number of instructions in a nanosecond is measured once a process, when the first such node
//! is created.
//!
//! | | |
//! |---|---|
//! | ports | `in` inputs and `out` outputs of one channel |
//! | parameters | `ns` 0 to 10 s |
//! | latency, tail | none |

use crate::mixing::mix::{copy_to_all_outputs, sum};
use crate::param::ParamSpec;
use crate::state;
use crate::steps::{BlockStep, block_steps};
use graph::{Kind, PortSignal, PortSpec};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError};
use std::hint::black_box;
use std::sync::OnceLock;
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};
use units::Channels;

const NS: ParamSpec = ParamSpec::new(0, "ns", (0.0, 1e10), 1000.0)
    .unit("ns")
    .doc("Cost of a block on an idle machine.");

pub(crate) fn kind() -> Kind {
    let mono = |spec: PortSpec| PortSpec {
        signal: PortSignal::Fixed(Channels(1)),
        ..spec
    };
    Kind {
        inputs: vec![mono(PortSpec::many("in", 1, 0, 4096))],
        outputs: vec![mono(PortSpec::many("out", 1, 0, 4096))],
        params: vec![NS.param()],
        typical_ns: 1000,
        cost_param: Some(NS.name),
        ..Kind::new("work", "Costs a set time and passes its input on.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let ns = NS.read(creation)?;
    Ok(Box::new(Work {
        initial: ns,
        ns,
        links_per_ns: links_per_ns(),
        block: 1,
        chain: 1,
    }))
}

/// Links of [`chain`] that run in a nanosecond here: the best of several short runs, which no interrupt has hit.
fn links_per_ns() -> f64 {
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

/// Runs `links` steps of a hash, none of which can begin before the previous one has ended.
#[inline(never)]
fn chain(mut x: u64, links: u64) -> u64 {
    for _ in 0..links {
        x = (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    x
}

#[derive(Clone)]
struct Work {
    initial: f64,
    ns: f64,
    links_per_ns: f64,
    block: u32,
    /// End of the chain, where the next block's begins. No output depends on its value.
    chain: u64,
}

impl Work {
    /// Runs the chain for `frames` frames. Returns a zero that the processor cannot know before the chain has ended.
    fn burn(&mut self, frames: usize) -> u32 {
        let share = frames as f64 / f64::from(self.block);
        let links = self.ns * self.links_per_ns * share;
        self.chain = chain(self.chain, links as u64);
        (black_box(self.chain) & black_box(0)) as u32
    }

    /// Sums the inputs onto all outputs, with data that depends on the chain's end.
    fn process_block(&mut self, block: &mut Block<'_>) {
        let zero = self.burn(block.frames());
        let (inputs, outputs) = (block.input_count(), block.output_count());
        if outputs == 0 {
            return;
        }
        sum(block, 0..inputs, 0, 1);
        for y in block.output(0).channel(0) {
            *y = f32::from_bits(y.to_bits() ^ zero);
        }
        copy_to_all_outputs(block, 1);
    }
}

impl Processor for Work {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.block = setup.block.0.max(1);
        self.ns = self.initial;
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        for step in block_steps(block) {
            if let BlockStep::Event(event) = step {
                self.ns = NS.value_of(&event).unwrap_or(self.ns);
            }
        }
        let silent = block.is_silent();
        self.process_block(block);
        if self.ns > 0.0 {
            // What was stored depends on the chain's end, and no later read passes this fence before it is stored. So the
            // core cannot run ahead into the next step, which would make sequential execution look faster than it
            // is. No other thread pairs with this fence.
            fence(Ordering::SeqCst);
        }
        if silent {
            block.silence_outputs();
        }
        // It has work to do even in silence.
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.ns = self.initial;
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        state::put(bytes, [self.initial, self.ns].map(f64::to_bits));
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 2)?;
        let [initial, ns] = words.numbers(0)?;
        if initial == self.initial {
            self.ns = ns.clamp(NS.min, NS.max);
        }
        Ok(())
    }
}
