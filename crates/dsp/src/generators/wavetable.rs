//! `wavetable`: a band-limited saw, pulse, triangle or sum of harmonics, read from tables.
//!
//! ```text
//! table l = Σ_h≤H(l) a_h sin 2π h t, H = 1, 2, 3, 4, 5, 6, 8, 10, 12, 16 … 512      16 samples or more for a cycle of harmonic H
//! r = rate / 2 / freq: harmonics that fit    l: the last table with H(l) ≤ r    w = (r - H(l)) / (H(l+1) - H(l))
//! y = volume × ((1 - w) table l-1 + w table l) at the phase, on the cubic through four samples
//! saw: a_h = -2 / (π h)      triangle: ±8 / (π h)², odd h      pulse: saw(t - width) - saw(t) + 2 width - 1
//! ```
//!
//! No harmonic lies above half the rate, so nothing aliases but the error of the cubic: below 10 kHz aliases of a saw of 5 kHz
//! lie more than 90 dB below its fundamental (at 48 kHz). Between two tables the highest harmonics fade, so a sweep does not
//! click: up to a third of an octave below half the rate may be missing. `osc` is the cheaper, less clean oscillator.
//!
//! | | |
//! |---|---|
//! | ports | no input; `out`, one channel |
//! | parameters | `freq` in Hz, `volume`, `width` 0.01 to 0.99 of a pulse; `shape`, `harmonics`, `phase` |
//! | latency | none |
//! | tail | endless |
//! | driven | `freq`, `volume` and `width` at audio rate |

use crate::generators::osc::{FREQ as OSC_FREQ, VOLUME as OSC_VOLUME};
use crate::generators::sine::Phase;
use crate::kernel::{
    FRAMES, FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel, add_cubics, row_of,
};
use crate::param::ParamSpec;
use crate::sample::to_sample;
use graph::{Kind, Param, PortSpec};
use processor::{MakeContext, MakeError, Processor, Tail};
use std::f64::consts::{PI, TAU};
use std::sync::{Arc, OnceLock};

const FREQ: ParamSpec = OSC_FREQ.audio_rate();
const VOLUME: ParamSpec = OSC_VOLUME.audio_rate();
const WIDTH: ParamSpec = ParamSpec::new(2, "width", (0.01, 0.99), 0.5)
    .doc("Share of a cycle in which a pulse is high.")
    .audio_rate();

const SHAPES: &[&str] = &["saw", "pulse", "triangle", "harmonics"];
/// Largest number of harmonics.
const MAX_HARMONICS: usize = 512;
/// Shortest table: the cubic's error is smaller than the samples' own.
const MIN_LENGTH: usize = 2048;

pub(crate) fn kind() -> Kind {
    let harmonics = "Amplitudes of the harmonics from the first on, as \"1 0 0.33\", for the shape of this name.";
    Kind {
        outputs: vec![PortSpec::mono("out")],
        params: vec![
            FREQ.param(),
            VOLUME.param(),
            WIDTH.param(),
            Param::choice("shape", SHAPES).doc("Shape of a cycle."),
            Param::text("harmonics").doc(harmonics),
            Param::number("phase", (-1.0, 1.0), 0.0)
                .unit("cycles")
                .doc("Phase at the start."),
        ],
        typical_ns: 1300,
        ..Kind::new(
            "wavetable",
            "A band-limited saw, pulse, triangle or sum of harmonics.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    static SAW: OnceLock<Arc<[Table]>> = OnceLock::new();
    static TRIANGLE: OnceLock<Arc<[Table]>> = OnceLock::new();
    let shape = creation.choice("shape")?;
    let tables = match shape {
        0 | 1 => SAW
            .get_or_init(|| tables(|h| -2.0 / (PI * h as f64)))
            .clone(),
        2 => TRIANGLE.get_or_init(|| tables(triangle)).clone(),
        _ => {
            let amplitudes = amplitudes(creation)?;
            tables(|h| amplitudes.get(h - 1).copied().unwrap_or(0.0))
        }
    };
    let kernel = Wavetable {
        tables,
        is_pulse: shape == 1,
        start: Phase::at(creation.number("phase")?).at,
        rate: 0.0,
    };
    KernelNode::make(creation, kernel)
}

fn triangle(h: usize) -> f64 {
    let amplitude = 8.0 / (PI * h as f64).powi(2);
    match h % 4 {
        1 => amplitude,
        3 => -amplitude,
        _ => 0.0,
    }
}

/// The amplitudes that the node states.
fn amplitudes(creation: &MakeContext<'_>) -> Result<Vec<f64>, MakeError> {
    let refused = |message: String| MakeError::param("harmonics", message);
    let text = creation.node.text("harmonics").unwrap_or("1");
    let words = text.split([' ', ',', '\n', '\t']).filter(|w| !w.is_empty());
    let number = |word: &str| match word.parse::<f64>() {
        Ok(x) if x.abs() <= 100.0 => Ok(x),
        _ => Err(refused(format!(
            "`harmonics` has \"{word}\"; each must be a number from -100 to 100"
        ))),
    };
    let amplitudes: Vec<f64> = words.map(number).collect::<Result<_, _>>()?;
    match amplitudes.len() {
        1..=MAX_HARMONICS => Ok(amplitudes),
        count => Err(refused(format!(
            "`harmonics` has {count} numbers; it must have 1 to {MAX_HARMONICS}"
        ))),
    }
}

/// One cycle with a number of harmonics.
struct Table {
    harmonics: f64,
    /// A power of two of samples.
    samples: Box<[f32]>,
}

/// The tables of a sum of sines.
fn tables(amplitude: impl Fn(usize) -> f64) -> Arc<[Table]> {
    let mut counts = vec![1, 2, 3, 4, 5];
    let mut octave = 2;
    while octave * 3 <= MAX_HARMONICS {
        counts.extend([3, 4, 5].map(|part| part * octave));
        octave *= 2;
    }
    counts.retain(|count| *count <= MAX_HARMONICS);
    let table = |harmonics: usize| {
        let length = (16 * harmonics).next_power_of_two().max(MIN_LENGTH);
        let cycle: Vec<f64> = (0..length)
            .map(|i| libm::sin(TAU * i as f64 / length as f64))
            .collect();
        let mut sum = vec![0.0; length];
        for h in (1..=harmonics).filter(|h| amplitude(*h) != 0.0) {
            let a = amplitude(h);
            for (i, sum) in sum.iter_mut().enumerate() {
                *sum += a * cycle[(h * i) & (length - 1)];
            }
        }
        Table {
            harmonics: harmonics as f64,
            samples: sum.into_iter().map(|x| x as f32).collect(),
        }
    };
    counts.into_iter().map(table).collect()
}

impl Table {
    /// Adds the values at phases in units of 2^-64 cycles, of the cubic through four samples (Lagrange).
    #[inline(always)]
    fn read(&self, phases: &[u64; FRAMES], to: &mut [f64; FRAMES]) {
        let bits = self.samples.len().trailing_zeros();
        let mask = self.samples.len() - 1;
        let (mut places, mut parts) = ([0u32; FRAMES], [0.0; FRAMES]);
        for ((place, part), phase) in places.iter_mut().zip(&mut parts).zip(phases) {
            *place = (phase >> (64 - bits)) as u32;
            *part = (phase << bits >> 11) as i64 as f64 * (1.0 / 9_007_199_254_740_992.0);
        }
        let mut rows = [[0f32; 4]; FRAMES];
        for (row, place) in rows.iter_mut().zip(places) {
            let first = (place as usize).wrapping_sub(1) & mask;
            row_of(&self.samples, first, mask, row);
        }
        add_cubics(&rows, &parts, to);
    }
}

struct Wavetable {
    tables: Arc<[Table]>,
    is_pulse: bool,
    /// Phase at the start, in units of 2^-64 cycles.
    start: u64,
    rate: f64,
}

#[derive(Clone, Copy)]
struct WavetableValues {
    step: u64,
    volume: f64,
    /// In units of 2^-64 cycles.
    width: u64,
    /// What a pulse adds so that it lies between -1 and 1.
    offset: f64,
    /// The upper one of two tables, and its share.
    table: usize,
    share: f64,
}

impl Wavetable {
    /// Writes the frames of `values`, all of which read from the table `table` and the one below it.
    #[inline(always)]
    fn process_run(
        &self,
        values: FrameValues<'_, WavetableValues>,
        table: usize,
        output: &mut [f32],
        memory: &mut Memory,
    ) {
        let tables = [table.saturating_sub(1), table].map(|table| &self.tables[table]);
        let rows = WavetableRows::new(values);
        let mut phases = [0u64; FRAMES];
        let mut passed = memory.counts[0];
        for (phase, step) in phases.iter_mut().zip(&rows.steps) {
            *phase = self.start.wrapping_add(passed);
            passed = passed.wrapping_add(*step);
        }
        memory.counts[0] = passed;
        let mut y = self.read(tables, &phases, &rows);
        if self.is_pulse {
            for (phase, width) in phases.iter_mut().zip(&rows.widths) {
                *phase = phase.wrapping_sub(*width);
            }
            let late = self.read(tables, &phases, &rows);
            for ((y, late), offset) in y.iter_mut().zip(late).zip(&rows.offsets) {
                *y = late - *y + offset;
            }
        }
        for ((to, y), volume) in output.iter_mut().zip(y).zip(&rows.volumes) {
            *to = to_sample(y * volume);
        }
    }

    /// The values of both tables, mixed.
    #[inline(always)]
    fn read(
        &self,
        [lower, upper]: [&Table; 2],
        phases: &[u64; FRAMES],
        rows: &WavetableRows,
    ) -> [f64; FRAMES] {
        let (mut low, mut high) = ([0.0; FRAMES], [0.0; FRAMES]);
        lower.read(phases, &mut low);
        upper.read(phases, &mut high);
        for ((low, high), share) in low.iter_mut().zip(high).zip(&rows.shares) {
            *low += (high - *low) * share;
        }
        low
    }
}

/// The values of the frames of a run. Frames behind it do not move on.
struct WavetableRows {
    steps: [u64; FRAMES],
    widths: [u64; FRAMES],
    volumes: [f64; FRAMES],
    offsets: [f64; FRAMES],
    shares: [f64; FRAMES],
}

impl WavetableRows {
    #[inline(always)]
    fn new(values: FrameValues<'_, WavetableValues>) -> Self {
        let mut rows = Self {
            steps: [0; FRAMES],
            widths: [0; FRAMES],
            volumes: [0.0; FRAMES],
            offsets: [0.0; FRAMES],
            shares: [0.0; FRAMES],
        };
        if let Some(one) = values.constant() {
            rows.steps[..values.len()].fill(one.step);
            rows.widths = [one.width; FRAMES];
            rows.volumes = [one.volume; FRAMES];
            rows.offsets = [one.offset; FRAMES];
            rows.shares = [one.share; FRAMES];
            return rows;
        }
        for (i, values) in values.iter().enumerate() {
            rows.steps[i] = values.step;
            rows.widths[i] = values.width;
            rows.volumes[i] = values.volume;
            rows.offsets[i] = values.offset;
            rows.shares[i] = values.share;
        }
        rows
    }
}

impl UnitKernel for Wavetable {
    type Values = WavetableValues;
    const PARAMS: &'static [ParamSpec] = &[FREQ, VOLUME, WIDTH];
    const SLEEPS: bool = false;

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.rate = rate;
        MemorySize {
            counts: 1,
            ..MemorySize::default()
        }
    }

    fn values(&self, params: &[f64]) -> WavetableValues {
        let cycles = (params[0] / self.rate).min(0.5);
        let fitting = 0.5 / cycles.max(1e-9);
        let above = self
            .tables
            .partition_point(|table| table.harmonics <= fitting);
        let table = above.max(1) - 1;
        let share = match self.tables.get(table + 1) {
            Some(next) => {
                let here = self.tables[table].harmonics;
                (fitting - here) / (next.harmonics - here)
            }
            None => 1.0,
        };
        WavetableValues {
            step: (cycles * 2f64.powi(64)) as u64,
            volume: params[1],
            width: (params[2] * 2f64.powi(64)) as u64,
            offset: if self.is_pulse {
                2.0 * params[2] - 1.0
            } else {
                0.0
            },
            table,
            // The first table has none below it.
            share: if table == 0 {
                1.0
            } else {
                share.clamp(0.0, 1.0)
            },
        }
    }

    #[inline(always)]
    fn process(
        &self,
        values: FrameValues<'_, WavetableValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        // Frames in a row that read the same tables.
        let mut at = 0;
        while at < values.len() {
            let rest = values.part(at..values.len());
            let table = rest.iter().next().map_or(0, |it| it.table);
            let count = match rest.constant() {
                Some(_) => rest.len(),
                None => rest.iter().take_while(|it| it.table == table).count(),
            };
            let output = &mut io.output(0)[0][at..at + count];
            self.process_run(rest.part(0..count), table, output, memory);
            at += count;
        }
    }

    fn tail(&self, _: &[f64]) -> Tail {
        Tail::Infinite
    }
}
