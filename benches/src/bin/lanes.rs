//! Equal filters of several voices: one after the other, or side by side in vector lanes.
//!
//! `lanes` plays 8 and 64 state-variable filters on 64 frames of noise, each with its own frequency, in both ways and in
//! turn. The bits are compared first: they are equal, since each lane does what one filter does. A row: nanoseconds a frame a
//! voice, medians of the rounds, and their ratio. It is the bound of what voices of a part could gain: what a graph
//! adds (buffers, claims, parameters of each voice) is not in it.

use divisi_benches::stats::median;
use std::hint::black_box;
use std::time::Instant;
use units::SplitMix64;

const FRAMES: usize = 64;
const ROUNDS: usize = 41;
/// Blocks of a round.
const BLOCKS: usize = 2000;

/// Coefficients and state of a filter: gain of an integrator, its loop without a delay, two integrators.
#[derive(Clone, Copy)]
struct Filter {
    g: f64,
    a1: f64,
    state: [f64; 2],
}

impl Filter {
    fn new(hz: f64) -> Self {
        let (g, k) = ((std::f64::consts::PI * hz / 48_000.0).tan(), 0.7);
        Self {
            g,
            a1: 1.0 / (1.0 + g * (g + k)),
            state: [0.0; 2],
        }
    }

    /// The low output, as `dsp::kernel::Resonator` computes it.
    #[inline(always)]
    fn tick(&mut self, x: f64) -> f64 {
        let [s1, s2] = self.state;
        let band = self.a1 * (s1 + self.g * (x - s2));
        let low = s2 + self.g * band;
        self.state = [2.0 * band - s1, 2.0 * low - s2];
        low
    }
}

/// As many filters side by side.
struct FilterGroup<const N: usize> {
    g: [f64; N],
    a1: [f64; N],
    s1: [f64; N],
    s2: [f64; N],
}

impl<const N: usize> FilterGroup<N> {
    fn new(filters: &[Filter]) -> Self {
        Self {
            g: std::array::from_fn(|i| filters[i].g),
            a1: std::array::from_fn(|i| filters[i].a1),
            s1: [0.0; N],
            s2: [0.0; N],
        }
    }

    /// Filters blocks that lie one behind the other: a sample of each is gathered for each frame, as nodes have them.
    #[inline(never)]
    fn process(&mut self, blocks: &mut [[f32; FRAMES]]) {
        let blocks: &mut [[f32; FRAMES]; N] = blocks.try_into().expect("a block for each lane");
        for frame in 0..FRAMES {
            for (lane, block) in blocks.iter_mut().enumerate() {
                let x = f64::from(block[frame]);
                let (s1, s2) = (self.s1[lane], self.s2[lane]);
                let band = self.a1[lane] * (s1 + self.g[lane] * (x - s2));
                let low = s2 + self.g[lane] * band;
                self.s1[lane] = 2.0 * band - s1;
                self.s2[lane] = 2.0 * low - s2;
                block[frame] = low as f32;
            }
        }
    }
}

#[inline(never)]
fn one_by_one(filters: &mut [Filter], blocks: &mut [[f32; FRAMES]]) {
    for (filter, block) in filters.iter_mut().zip(blocks) {
        for x in block {
            *x = filter.tick(f64::from(*x)) as f32;
        }
    }
}

fn compare<const N: usize>(voices: usize) {
    let mut numbers = SplitMix64(1);
    let noise: Vec<[f32; FRAMES]> = (0..voices)
        .map(|_| std::array::from_fn(|_| numbers.sample()))
        .collect();
    let mut filters: Vec<Filter> = (0..voices)
        .map(|voice| Filter::new(200.0 + 50.0 * voice as f64))
        .collect();
    let mut lanes: Vec<FilterGroup<N>> = filters.chunks(N).map(FilterGroup::new).collect();
    let (mut first, mut second) = (noise.clone(), noise.clone());
    one_by_one(&mut filters, &mut first);
    let side_by_side = |lanes: &mut [FilterGroup<N>], blocks: &mut [[f32; FRAMES]]| {
        for (lanes, blocks) in lanes.iter_mut().zip(blocks.chunks_mut(N)) {
            lanes.process(blocks);
        }
    };
    side_by_side(&mut lanes, &mut second);
    assert!(first == second, "the bits differ");
    let mut times = [Vec::new(), Vec::new()];
    let mut buffer = noise.clone();
    let per_sample = (BLOCKS * FRAMES * voices) as f64;
    for _ in 0..ROUNDS {
        for (way, times) in times.iter_mut().enumerate() {
            let start = Instant::now();
            for _ in 0..BLOCKS {
                buffer.copy_from_slice(&noise);
                match way {
                    0 => one_by_one(&mut filters, &mut buffer),
                    _ => side_by_side(&mut lanes, &mut buffer),
                }
                black_box(&mut buffer);
            }
            times.push(start.elapsed().as_nanos() as f64 / per_sample);
        }
    }
    let [one, side] = times.map(|mut times| median(&mut times));
    println!("{voices:6} {N:5} {one:11.2} {side:12.2} {:7.2}", one / side);
}

fn main() {
    println!("voices lanes  one by one  side by side   ratio");
    compare::<4>(8);
    compare::<8>(8);
    compare::<4>(64);
    compare::<8>(64);
    compare::<16>(64);
}
