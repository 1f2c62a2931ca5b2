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
use rt::vectors::{Wide, WideWork};
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
        wide: Wide::best(),
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
    wide: Wide,
}

/// FNV-1a, 64 bits (Fowler, Noll and Vo).
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Samples 2 `pair` and 2 `pair` + 1 as whole numbers of 24 bits: each half of a hash gives one.
#[inline(always)]
fn pair(seed: u64, steps: u64) -> [i32; 2] {
    let bits = SplitMix64::mix(seed.wrapping_add(steps));
    [(bits >> 32) as i32 >> 8, bits as i32 >> 8]
}

/// White noise: writes the samples from number `count` on, from -1 to just below 1.
struct WhiteWork<'a> {
    seed: u64,
    count: u64,
    out: &'a mut [f32],
}

impl WhiteWork<'_> {
    /// Where a hash is computed by itself: the vectors of SSE2 have no products of 64 bits and would take several times as long.
    fn run_plain(self) {
        self.fill(std::hint::black_box);
    }

    #[inline(always)]
    fn fill(self, steps: impl Fn(u64) -> u64) {
        let Self { seed, count, out } = self;
        for (out, first) in out.chunks_mut(FRAMES).zip((0u64..).step_by(FRAMES)) {
            let count = count.wrapping_add(first);
            let mut samples = [[0i32; 2]; FRAMES / 2 + 8];
            for (samples, i) in samples.iter_mut().zip(0u64..).take(out.len() / 2 + 1) {
                let number = (count / 2).wrapping_add(i);
                *samples = pair(seed, steps(number.wrapping_mul(SplitMix64::STEP)));
            }
            let samples = &samples.as_flattened()[(count % 2) as usize..];
            for (y, x) in out.iter_mut().zip(samples) {
                *y = *x as f32 * (1.0 / 8_388_608.0);
            }
        }
    }
}

impl WideWork for WhiteWork<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.fill(|steps| steps);
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
        let white = WhiteWork {
            seed: self.seed,
            count: self.count,
            out: &mut *out,
        };
        match self.wide.has_wide_products() {
            true => self.wide.run(white),
            false => white.run_plain(),
        }
        self.count = self.count.wrapping_add(out.len() as u64);
        match self.color {
            NoiseColor::White => {}
            NoiseColor::Pink => out.chunks_mut(FRAMES).for_each(|out| self.pink(out)),
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

    /// Replaces white noise by pink noise: the poles go frame by frame, their sums in vectors.
    fn pink(&mut self, out: &mut [f32]) {
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut before] = self.poles;
        let mut rows = [[0f32; FRAMES]; 7];
        let [ra, rb, rc, rd, re, rf, direct] = &mut rows;
        let rows_of = ra.iter_mut().zip(rb).zip(rc.iter_mut().zip(rd));
        let rows_of = rows_of.zip(re.iter_mut().zip(rf).zip(direct));
        for (white, (((ra, rb), (rc, rd)), ((re, rf), direct))) in out.iter().zip(rows_of) {
            let next = |pole: f32, index: usize| {
                let (keep, gain) = POLES[index];
                keep * pole + gain * white
            };
            (a, b, c) = (next(a, 0), next(b, 1), next(c, 2));
            (d, e, f) = (next(d, 3), next(e, 4), next(f, 5));
            (*ra, *rb, *rc, *rd, *re, *rf) = (a, b, c, d, e, f);
            *direct = before + white * 0.5362;
            before = white * 0.115_926;
        }
        self.poles = [a, b, c, d, e, f, before];
        let [ra, rb, rc, rd, re, rf, direct] = &rows;
        let rows = ra.iter().zip(rb).zip(rc.iter().zip(rd));
        let rows = rows.zip(re.iter().zip(rf).zip(direct));
        for (y, (((a, b), (c, d)), ((e, f), direct))) in out.iter_mut().zip(rows) {
            *y = (direct + a + b + c + d + e + f) * PINK_LEVEL;
        }
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
