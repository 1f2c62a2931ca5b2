//! `noise`: white or pink noise from a seed, the same in every run.
//!
//! One output of one channel: white within ±1 times `volume`, pink mostly so. Without a `seed` the node's name is one, so that two nodes are
//! not the same noise. White: the counter-based generator SplitMix64 (Steele, Lea and Flood, "Fast splittable
//! pseudorandom number generators", 2014). Pink: that through Paul Kellet's refined filter (1999), -3 dB an octave
//! within 0.05 dB from 10 Hz at 44,100 frames a second.

use crate::knob::{Knob, choice, fixed};
use crate::osc::VOLUME as OSC_VOLUME;
use crate::smooth::Smooth;
use crate::state;
use crate::steps::{Step, steps};
use graph::{Kind, PortSpec};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError, Tail};

const VOLUME: Knob = Knob {
    index: 0,
    ..OSC_VOLUME
};

pub(crate) fn kind() -> Kind {
    let most = 2f64.powi(53);
    let seed = "Which noise; 0: by the node's name.";
    Kind {
        outputs: vec![PortSpec::mono("out")],
        params: vec![
            VOLUME.param(),
            choice(
                "color",
                &["white", "pink"],
                "The spectrum: flat, or falling 3 dB an octave.",
            ),
            fixed("seed", "", (0.0, most), 0.0, seed),
        ],
        typical_ns: 150,
        ..Kind::new("noise", "White or pink noise from a seed.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let seed = match creation.number("seed")? as u64 {
        0 => hash(&creation.node.name),
        seed => scramble(seed),
    };
    Ok(Box::new(Noise {
        seed,
        count: 0,
        pink: creation.choice("color")? == 1,
        poles: [0.0; 7],
        volume: Smooth::new(VOLUME.of(creation)? as f32),
    }))
}

#[derive(Clone)]
struct Noise {
    seed: u64,
    /// Samples made.
    count: u64,
    pink: bool,
    poles: [f32; 7],
    volume: Smooth,
}

/// FNV-1a (Fowler, Noll and Vo).
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[inline(always)]
fn scramble(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Sample number `count`: 24 bits, from -1 to just below 1.
#[inline(always)]
fn white(seed: u64, count: u64) -> f32 {
    let bits = scramble(seed.wrapping_add(count.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    (bits as i64 >> 40) as f32 * (1.0 / 8_388_608.0)
}

/// Kellet's poles and gains.
const POLES: [(f32, f32); 6] = [
    (0.99886, 0.055_517_9),
    (0.99332, 0.075_075_9),
    (0.96900, 0.153_852),
    (0.86650, 0.310_485_6),
    (0.55000, 0.532_952_2),
    (-0.7616, -0.016_898),
];

/// Brings the filter's sum near the level of its input: rarely above 1, never above 7.6.
const PINK_LEVEL: f32 = 0.11;

impl Noise {
    fn fill(&mut self, out: &mut [f32]) {
        let (seed, count) = (self.seed, self.count);
        for (y, i) in out.iter_mut().zip(0u64..) {
            *y = white(seed, count.wrapping_add(i));
        }
        self.count = count.wrapping_add(out.len() as u64);
        if self.pink {
            out.iter_mut().for_each(|y| *y = self.color(*y));
        }
        self.volume.apply(out);
    }

    fn color(&mut self, white: f32) -> f32 {
        let mut sum = self.poles[6] + white * 0.5362;
        for (pole, (keep, gain)) in self.poles.iter_mut().zip(POLES) {
            *pole = keep * *pole + gain * white;
            sum += *pole;
        }
        self.poles[6] = white * 0.115_926;
        sum * PINK_LEVEL
    }
}

impl Processor for Noise {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.volume.set_up(setup.rate);
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        for step in steps(block) {
            match step {
                Step::Event(event) => {
                    if let Some(volume) = VOLUME.turned(&event) {
                        self.volume.go(volume as f32);
                    }
                }
                Step::Play(range) => self.fill(&mut block.output(0).channel(0)[range]),
                Step::Tidy => {}
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.count = 0;
        self.poles = [0.0; 7];
        self.volume.reset();
    }

    fn tail(&self) -> Tail {
        Tail::Infinite
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        state::put(bytes, [self.count]);
        state::put(bytes, self.poles.map(|pole| f64::from(pole).to_bits()));
        state::put(bytes, self.volume.words());
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 8 + Smooth::WORDS)?;
        let poles = words.numbers::<7>(1)?.map(|pole| pole as f32);
        self.volume.take(words.from(8))?;
        (self.count, self.poles) = (words.at(0), poles);
        Ok(())
    }
}
