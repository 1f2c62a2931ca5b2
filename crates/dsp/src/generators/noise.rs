//! `noise`: white, pink or brown noise from a seed, the same in every run.
//!
//! ```text
//! white[n] = SplitMix64(seed, n / 2), the upper 24 bits of its upper half (n even) or lower half as a number from -1 to 1
//! pink     = 0.11 × Kellet(white): six one-pole filters in parallel, a delayed and a direct path
//! brown    = 0.0306 × s, s = 0.9975 s + white: a leaky sum, which falls 6 dB per octave from 19 Hz on at 48 kHz
//! ```
//!
//! White: the counter-based generator SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
//! OOPSLA 2014), whose bits are all of the same quality: sample n needs no sample before it, and two share a hash. Pink: white noise through Paul Kellet's refined filter (posted to
//! the music-dsp list, 1999), which falls 3 dB per octave within 0.05 dB from 10 Hz at 44.1 kHz.
//!
//! Without a `seed` the node's name is hashed into one, so that two nodes give different noise.
//!
//! | | |
//! |---|---|
//! | ports | no input; `out`, one channel: white within ±1 times `volume`, pink mostly so |
//! | parameters | `volume`, a factor (changes in a ramp of 5 ms); `color`; `seed` 0 to 2^53 |
//! | latency | none |
//! | tail | endless |

use crate::generators::osc::VOLUME as OSC_VOLUME;
use crate::param::ParamSpec;
use crate::smoother::Smoother;
use crate::state;
use crate::steps::{BlockStep, block_steps};
use graph::{Kind, Param, PortSpec};
use processor::{Block, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError, Tail};
use units::SplitMix64;

const VOLUME: ParamSpec = ParamSpec {
    index: 0,
    ..OSC_VOLUME
};

pub(crate) fn kind() -> Kind {
    let max_seed = 2f64.powi(53);
    let seed = "Seed of the noise; 0: a hash of the node's name.";
    Kind {
        outputs: vec![PortSpec::mono("out")],
        params: vec![
            VOLUME.param(),
            Param::choice("color", &["white", "pink", "brown"])
                .doc("Spectrum: flat, or falling 3 or 6 dB per octave."),
            Param::number("seed", (0.0, max_seed), 0.0).doc(seed),
        ],
        typical_ns: 150,
        ..Kind::new("noise", "White, pink or brown noise from a seed.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let seed = match creation.number("seed")? as u64 {
        0 => hash(&creation.node.name),
        seed => SplitMix64::mix(seed),
    };
    Ok(Box::new(Noise {
        seed,
        count: 0,
        color: match creation.choice("color")? {
            0 => NoiseColor::White,
            1 => NoiseColor::Pink,
            _ => NoiseColor::Brown,
        },
        poles: [0.0; 7],
        volume: Smoother::new(VOLUME.read(creation)? as f32),
    }))
}

#[derive(Clone, Copy)]
enum NoiseColor {
    White,
    Pink,
    Brown,
}

#[derive(Clone)]
struct Noise {
    seed: u64,
    /// Samples generated so far.
    count: u64,
    color: NoiseColor,
    poles: [f32; 7],
    volume: Smoother,
}

/// FNV-1a, 64 bits (Fowler, Noll and Vo).
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Samples 2 `pair` and 2 `pair` + 1 as whole numbers of 24 bits: each half of a hash gives one.
#[inline(always)]
fn pair(seed: u64, pair: u64) -> [i32; 2] {
    // Kept out of vectors: those of SSE2 have no products of 64 bits and would take several times as long.
    let count = std::hint::black_box(pair.wrapping_mul(SplitMix64::STEP));
    let bits = SplitMix64::mix(seed.wrapping_add(count));
    [(bits >> 32) as i32 >> 8, bits as i32 >> 8]
}

/// Writes the samples from number `count` on, from -1 to just below 1.
fn white(seed: u64, count: u64, out: &mut [f32]) {
    for (out, first) in out.chunks_mut(FRAMES).zip((0u64..).step_by(FRAMES)) {
        let count = count.wrapping_add(first);
        let mut samples = [[0i32; 2]; FRAMES / 2 + 1];
        for (i, samples) in samples.iter_mut().enumerate().take(out.len() / 2 + 1) {
            *samples = pair(seed, (count / 2).wrapping_add(i as u64));
        }
        let samples = &samples.as_flattened()[(count % 2) as usize..];
        for (y, x) in out.iter_mut().zip(samples) {
            *y = *x as f32 * (1.0 / 8_388_608.0);
        }
    }
}

/// Samples that are hashed at once.
const FRAMES: usize = 64;

/// Poles and gains of Kellet's parallel filters.
const POLES: [(f32, f32); 6] = [
    (0.99886, 0.055_517_9),
    (0.99332, 0.075_075_9),
    (0.96900, 0.153_852),
    (0.86650, 0.310_485_6),
    (0.55000, 0.532_952_2),
    (-0.7616, -0.016_898),
];

/// Gain that brings the filter's sum near the level of its input: rarely above 1, never above 7.6.
const PINK_LEVEL: f32 = 0.11;

/// Pole of brown noise, and the gain that brings its RMS to a quarter of full scale.
const BROWN_POLE: f32 = 0.9975;
const BROWN_LEVEL: f32 = 0.0306;

impl Noise {
    fn generate(&mut self, out: &mut [f32]) {
        white(self.seed, self.count, out);
        self.count = self.count.wrapping_add(out.len() as u64);
        match self.color {
            NoiseColor::White => {}
            NoiseColor::Pink => out.iter_mut().for_each(|y| *y = self.pink(*y)),
            NoiseColor::Brown => out.iter_mut().for_each(|y| *y = self.brown(*y)),
        }
        match self.color {
            NoiseColor::White => self.volume.apply_to_clean(out),
            NoiseColor::Pink | NoiseColor::Brown => self.volume.apply(out),
        }
    }

    fn brown(&mut self, white: f32) -> f32 {
        self.poles[0] = BROWN_POLE * self.poles[0] + white;
        self.poles[0] * BROWN_LEVEL
    }

    fn pink(&mut self, white: f32) -> f32 {
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
        self.volume.setup(setup.rate);
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        for step in block_steps(block) {
            match step {
                BlockStep::Event(event) => {
                    if let Some(volume) = VOLUME.value_of(&event) {
                        self.volume.set_target(volume as f32);
                    }
                }
                BlockStep::Process(range) => self.generate(&mut block.output(0).channel(0)[range]),
                BlockStep::Cleanup => {}
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
        state::put(bytes, self.volume.state_words());
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 8 + Smoother::STATE_WORDS)?;
        let poles = words.numbers::<7>(1)?.map(|pole| pole as f32);
        self.volume.load(words.from(8))?;
        (self.count, self.poles) = (words.at(0), poles);
        Ok(())
    }
}
