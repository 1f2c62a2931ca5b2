//! `strip`: one channel of a desk: trim, equalizer, compressor, fader, pan, two sends, mute and solo.
//!
//! ```text
//! in ─ trim ─ low shelf 100 Hz ─ peak ─ high shelf 8 kHz ─ compressor ─ level (1 - mute) (1 - cut) ─ pan ─┬─▶ out
//!                                                                                                         ├─ × send1 ─▶ send1
//! θ = (pan + 1) π / 4                                                                                     └─ × send2 ─▶ send2
//! one channel: left = x cos θ, right = x sin θ        two: left × min(1, √2 cos θ), right × min(1, √2 sin θ)
//! ```
//!
//! Filters and compressor are those of `eq` (the peak with q 0.8) and `compressor` (knee 6 dB). With a `ratio` of 1, as at first, it
//! reduces nothing. The gauge `reduction` shows the reduction in dB. The sends lie behind fader, pan and mute. Solo is a command
//! to the playing engine (`solo NODE`): it sets `cut` of all strips that are not soloed.
//!
//! | | |
//! |---|---|
//! | ports | `in`, one or two channels; `out`, `send1`, `send2`, two channels each |
//! | parameters | `trim_db`, `low_db`, `mid_freq`, `mid_db`, `high_db`; `threshold_db`, `ratio`, `attack`, `release`; `level_db`, `pan`, `send1_db`, `send2_db` (-120 is silence), `mute`, `cut` (0 or 1) |
//! | latency | none |
//! | tail | until the slowest pole has decayed |
//! | driven | all at audio rate |

use super::stereo;
use crate::dynamics::detector::{GainCurve, decibels, seconds};
use crate::dynamics::gain_computer::GainComputer;
use crate::filters::eq_band::{EqBand, EqShelf};
use crate::generators::sine::sine;
use crate::kernel::{
    FrameValues, KernelNode, LaneIo, Memory, MemorySize, Samples, UnitKernel, decay_tail,
};
use crate::param::{ParamSpec, channels};
use crate::sample::{SILENT_DB, channel_count, db_to_gain, to_sample};
use graph::{Kind, PortSpec};
use processor::{Gauge, MakeContext, MakeError, Processor, SetupServices, Tail};
use std::f64::consts::SQRT_2;

/// Middle of each shelf's slope, in Hz, and the narrowness of the peak.
const LOW_HZ: f64 = 100.0;
const HIGH_HZ: f64 = 8000.0;
const MID_Q: f64 = 0.8;
/// Width of the compressor's bend.
const KNEE_DB: f64 = 6.0;
/// Numbers of the filters of one channel, and of two.
const CHANNEL_NUMBERS: usize = 6;
const FILTER_NUMBERS: usize = 2 * CHANNEL_NUMBERS;

const PARAMS: [ParamSpec; 15] = [
    decibels(0, "trim_db", (-60.0, 40.0), 0.0, "Gain at the input."),
    decibels(1, "low_db", (-24.0, 24.0), 0.0, "Gain below 100 Hz."),
    ParamSpec::new(2, "mid_freq", (20.0, 20_000.0), 1000.0)
        .unit("Hz")
        .doc("Frequency of the peak.")
        .audio_rate(),
    decibels(3, "mid_db", (-24.0, 24.0), 0.0, "Gain of the peak."),
    decibels(4, "high_db", (-24.0, 24.0), 0.0, "Gain above 8 kHz."),
    decibels(
        5,
        "threshold_db",
        (-80.0, 20.0),
        -20.0,
        "Level above which the compressor reduces.",
    ),
    ParamSpec::new(6, "ratio", (1.0, 100.0), 1.0)
        .doc("Change of the input, in dB, for one of 1 dB in the output; 1 is no compressor.")
        .audio_rate(),
    seconds(7, "attack", 1.0, 0.005, "Time of 63 % of a reduction."),
    seconds(8, "release", 5.0, 0.1, "Time of 63 % of its end."),
    level(9, "level_db", 0.0, "The fader; -120 is silence."),
    ParamSpec::new(10, "pan", (-1.0, 1.0), 0.0)
        .doc("From -1, left, to 1, right.")
        .audio_rate(),
    level(
        11,
        "send1_db",
        SILENT_DB,
        "The first send; -120 is silence.",
    ),
    level(
        12,
        "send2_db",
        SILENT_DB,
        "The second send; -120 is silence.",
    ),
    switch(13, "mute", "1 makes it silent."),
    switch(
        14,
        "cut",
        "1 while others are soloed: the command `solo` sets it.",
    ),
];

const fn level(index: u16, name: &'static str, default: f64, doc: &'static str) -> ParamSpec {
    decibels(index, name, (SILENT_DB, 40.0), default, doc)
}

const fn switch(index: u16, name: &'static str, doc: &'static str) -> ParamSpec {
    ParamSpec::new(index, name, (0.0, 1.0), 0.0)
        .doc(doc)
        .audio_rate()
}

pub(crate) fn kind() -> Kind {
    let mut params: Vec<_> = PARAMS.iter().map(ParamSpec::param).collect();
    params.push(channels());
    Kind {
        inputs: vec![PortSpec::audio("in")],
        outputs: ["out", "send1", "send2"].map(stereo).into(),
        params,
        typical_ns: 1800,
        duplicable: false,
        picture: graph::KindPicture::Response,
        ..Kind::new(
            "strip",
            "One channel of a desk: equalizer, compressor, fader, pan, two sends.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let channels = channel_count(creation.node);
    if channels > 2 {
        let message = format!("a strip has one channel or two, not {channels}");
        return Err(MakeError::param("channels", message));
    }
    let kernel = Strip {
        channels,
        rate: 0.0,
        shown: Gauge::default(),
    };
    KernelNode::make(creation, kernel)
}

struct Strip {
    channels: usize,
    rate: f64,
    shown: Gauge,
}

#[derive(Clone, Copy)]
struct StripValues {
    trim: f64,
    bands: [EqBand; 3],
    compressor: GainComputer,
    /// Factors of left and right, and of the sends.
    sides: [f64; 2],
    sends: [f64; 2],
}

impl Strip {
    /// Factors of left and right for a pan.
    fn sides(&self, pan: f64) -> [f64; 2] {
        // A state that is loaded may hold any number.
        let eighth = (pan.clamp(-1.0, 1.0) + 1.0) * 2f64.powi(29);
        let right = eighth as u32;
        [right + (1 << 30), right].map(|phase| {
            let factor = f64::from(sine(phase));
            match self.channels {
                1 => factor,
                _ => (SQRT_2 * factor).min(1.0),
            }
        })
    }
}

/// What the filters make of frame `i`: left and right.
#[inline(always)]
fn filtered(input: &[Samples], i: usize, values: &StripValues, numbers: &mut [f64]) -> [f64; 2] {
    let mut sides = [0.0; 2];
    let states = numbers.chunks_exact_mut(CHANNEL_NUMBERS);
    for ((side, channel), state) in sides.iter_mut().zip(input).zip(states) {
        let x = f64::from(channel[i]) * values.trim;
        let bands = values.bands.iter().zip(state.chunks_exact_mut(2));
        *side = bands.fold(x, |x, (band, state)| band.tick(state, x));
    }
    match input.len() {
        1 => [sides[0]; 2],
        _ => sides,
    }
}

impl UnitKernel for Strip {
    type Values = StripValues;
    const PARAMS: &'static [ParamSpec] = &PARAMS;
    const LINKED: bool = true;

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.rate = rate;
        MemorySize {
            numbers: FILTER_NUMBERS + 1,
            ..MemorySize::default()
        }
    }

    fn values(&self, params: &[f64]) -> StripValues {
        let rate = self.rate;
        let curve = GainCurve {
            threshold_db: params[5],
            slope: 1.0 - 1.0 / params[6],
            knee_db: KNEE_DB,
        };
        let level = db_to_gain(params[9]) * (1.0 - params[13]) * (1.0 - params[14]);
        StripValues {
            trim: db_to_gain(params[0]),
            bands: [
                EqBand::shelf(EqShelf::Low, LOW_HZ, params[1], rate),
                EqBand::peak(params[2], MID_Q, params[3], rate),
                EqBand::shelf(EqShelf::High, HIGH_HZ, params[4], rate),
            ],
            compressor: GainComputer::new(curve, [params[7], params[8]], 0.0, rate),
            sides: self.sides(params[10]).map(|side| side * level),
            sends: [params[11], params[12]].map(db_to_gain),
        }
    }

    fn process(
        &self,
        values: FrameValues<'_, StripValues>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    ) {
        let (filters, reduction) = memory.numbers.split_at_mut(FILTER_NUMBERS);
        for (i, values) in values.iter().enumerate() {
            let x = filtered(io.input(0), i, values, filters);
            let level = x[0].abs().max(x[1].abs());
            let gain = values.compressor.gain(&mut reduction[0], level);
            let [left, right] = [0, 1].map(|side| x[side] * gain * values.sides[side]);
            let [send1, send2] = values.sends;
            for (port, factor) in [1.0, send1, send2].into_iter().enumerate() {
                let out = io.output(port);
                out[0][i] = to_sample(left * factor);
                out[1][i] = to_sample(right * factor);
            }
        }
    }

    fn tail(&self, params: &[f64]) -> Tail {
        let radii = self.values(params).bands.map(EqBand::pole_radius);
        match decay_tail(radii.into_iter().fold(0.0, f64::max)) {
            Tail::Frames(frames) => Tail::Frames(2 * frames),
            endless => endless,
        }
    }

    fn announce(&mut self, services: &mut dyn SetupServices) {
        self.shown = services.gauge("reduction");
    }

    fn show(&self, memory: &Memory) {
        self.shown.set(memory.numbers[FILTER_NUMBERS] as f32);
    }
}
