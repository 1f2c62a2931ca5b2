//! One unit between samples, and what is measured of its output.

pub(crate) use divisi_check::conformance::node;
use divisi_check::processor_bench::{BlockSplit, ProcessorBench, TestInput};
pub(crate) use graph::Law;
use graph::{Modulation, ParamValue, Signal};
use processor::{Event, EventBody, EventTarget, Registry};
pub(crate) use std::f64::consts::TAU;
use units::{Channels, SampleRate};

pub(crate) const RATE: usize = 48_000;

pub(crate) fn bench(kind: &str, params: &[(&str, ParamValue)]) -> ProcessorBench {
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    let rate = SampleRate::new(RATE as u32).expect("a rate above 0");
    ProcessorBench::new(&registry, &node(kind, params), rate)
}

/// A parameter that an input drives, the law, and how far a full signal takes it.
pub(crate) type Drive = (&'static str, Law, f64);

/// A unit whose parameters `drives` follow the last inputs, each its own, at each frame.
pub(crate) fn driven_bench(
    kind: &str,
    params: &[(&str, ParamValue)],
    drives: &[Drive],
) -> ProcessorBench {
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    let kind_of = registry.catalogue().get(kind).expect("it is known");
    let mut node = node(kind, params);
    for &(name, law, amount) in drives {
        let param = kind_of.params.iter().position(|param| param.name == name);
        let param = param.expect("it has the parameter") as u16;
        let modulation = Modulation { param, law, amount };
        let added = node.add_modulation(name, Signal::Audio(Channels(1)), modulation);
        added.expect("it can be driven");
    }
    let rate = SampleRate::new(RATE as u32).expect("a rate above 0");
    ProcessorBench::new(&registry, &node, rate)
}

pub(crate) fn number(value: f64) -> ParamValue {
    ParamValue::Number(value)
}

pub(crate) fn word(value: &str) -> ParamValue {
    ParamValue::Text(value.into())
}

/// What a unit gives for the samples of each channel of its inputs: the samples of each channel of its outputs.
pub(crate) fn play(
    bench: &mut ProcessorBench,
    inputs: &[&[f32]],
    events: &[Event],
) -> Vec<Vec<f32>> {
    let take = TestInput {
        inputs: inputs.iter().map(|input| input.to_vec()).collect(),
        events: events.to_vec(),
        frames: inputs.first().map_or(RATE, |input| input.len()),
    };
    let output = bench.process(&take, BlockSplit::Even(64));
    let count = output.bits.len();
    (0..count).map(|c| output.channel(c)).collect()
}

/// The first output of a new unit.
pub(crate) fn out(kind: &str, params: &[(&str, ParamValue)], inputs: &[&[f32]]) -> Vec<f32> {
    play(&mut bench(kind, params), inputs, &[]).swap_remove(0)
}

/// A change of parameter `param` at a frame.
pub(crate) fn change(param: u16, frame: u32, value: f32) -> Event {
    Event {
        frame,
        target: EventTarget::Param(param),
        body: EventBody::Value(value),
    }
}

pub(crate) fn sine(hz: f64, peak: f64, frames: usize) -> Vec<f32> {
    let at = |i: usize| (peak * (TAU * hz * i as f64 / RATE as f64).sin()) as f32;
    (0..frames).map(at).collect()
}

/// A sound file of 32-bit floats, of one channel at 48 kHz.
pub(crate) fn wav(samples: &[f32]) -> Vec<u8> {
    let data = 4 * samples.len() as u32;
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + data).to_le_bytes());
    bytes.extend(b"WAVEfmt ");
    bytes.extend(16u32.to_le_bytes());
    bytes.extend([3, 0, 1, 0]);
    bytes.extend((RATE as u32).to_le_bytes());
    bytes.extend((4 * RATE as u32).to_le_bytes());
    bytes.extend([4, 0, 32, 0]);
    bytes.extend(b"data");
    bytes.extend(data.to_le_bytes());
    bytes.extend(samples.iter().flat_map(|x| x.to_le_bytes()));
    bytes
}

pub(crate) fn impulse(frames: usize) -> Vec<f32> {
    let mut samples = vec![0.0; frames];
    samples[0] = 1.0;
    samples
}

/// Noise of ±1, the same in every run.
pub(crate) fn noise(seed: u64, frames: usize) -> Vec<f32> {
    let mut numbers = units::SplitMix64(seed);
    (0..frames).map(|_| numbers.sample()).collect()
}

/// The sum of `samples` times e^(-2πi hz t).
pub(crate) fn spectrum(samples: &[f32], hz: f64) -> (f64, f64) {
    let terms = samples.iter().enumerate().map(|(i, x)| {
        let (sin, cos) = (TAU * hz * i as f64 / RATE as f64).sin_cos();
        (f64::from(*x) * cos, -f64::from(*x) * sin)
    });
    terms.fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1))
}

/// Level of an impulse response at `hz`, in dB.
pub(crate) fn response_db(samples: &[f32], hz: f64) -> f64 {
    let (re, im) = spectrum(samples, hz);
    db(re.hypot(im))
}

/// Level of a sine of `hz` in `samples`, which hold a whole number of its cycles: 0 dB for a peak of 1.
pub(crate) fn sine_db(samples: &[f32], hz: f64) -> f64 {
    response_db(samples, hz) + db(2.0 / samples.len() as f64)
}

pub(crate) fn db(gain: f64) -> f64 {
    20.0 * gain.max(1e-15).log10()
}

pub(crate) fn peak(samples: &[f32]) -> f64 {
    f64::from(samples.iter().fold(0f32, |peak, x| peak.max(x.abs())))
}

pub(crate) fn rms(samples: &[f32]) -> f64 {
    let sum: f64 = samples.iter().map(|x| f64::from(x * x)).sum();
    (sum / samples.len() as f64).sqrt()
}

#[track_caller]
pub(crate) fn near(have: f64, want: f64, within: f64) {
    assert!((have - want).abs() <= within, "{have} instead of {want}");
}
