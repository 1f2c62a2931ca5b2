//! [`unit_picture`]: what a unit does, as a plot: its response, its waveform, its curve or its step.
//!
//! The unit plays in an engine of its own, offline at 48 kHz, with the device's inputs as its audio inputs. So a picture shows
//! what a session would give.

use divisi::draw::Picture;
use divisi::draw::plot::{self, Axis, LinePlot, Scale, Series};
use divisi::graph::{BuildError, Kind, KindPicture, NodeId, ParamRange, Signal};
use divisi::prelude::*;
use divisi::units::SplitMix64;
use std::f64::consts::TAU;
use std::ops::Range;
use std::sync::Arc;

const RATE: f64 = 48_000.0;
const BLOCK: usize = 64;
/// Length of an impulse response.
const RESPONSE_FRAMES: usize = 1 << 16;
/// Number of frequencies of a response.
const FREQUENCIES: usize = 400;
/// Lowest level that is drawn, in dB.
const FLOOR_DB: f64 = -120.0;

/// Reason why a unit cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnitPictureError {
    /// The node cannot be made: the kind is unknown, or a parameter is wrong.
    #[error(transparent)]
    Node(#[from] BuildError),
    /// The graph of the node cannot be played.
    #[error("it cannot be played")]
    Play(#[from] EngineError),
    /// The kind has no audio output.
    #[error("`{0}` has no audio output: there is nothing to draw")]
    NoSound(String),
    /// A value is not one that its parameter takes.
    #[error("`{key}` takes a {takes}, not \"{value}\"")]
    Value {
        /// The parameter.
        key: String,
        /// What it takes.
        takes: &'static str,
        /// The value that was given.
        value: String,
    },
}

/// Draws what a unit of `kind` does with these parameters, given as key and text.
///
/// # Errors
///
/// The kind or a parameter is unknown, a value does not fit, or there is no sound to draw.
///
/// Real-time: setup.
pub fn unit_picture(
    registry: Arc<Registry>,
    kind: &str,
    params: &[(String, String)],
) -> Result<Picture, UnitPictureError> {
    let bench = UnitBench::new(registry, kind, params)?;
    let plot = match bench.picture {
        KindPicture::Response => bench.response()?,
        KindPicture::Transfer => bench.transfer()?,
        KindPicture::Levels => bench.levels()?,
        KindPicture::Step => bench.step()?,
        KindPicture::Strokes => bench.strokes()?,
        KindPicture::Waveform | KindPicture::ByPorts => bench.waveform()?,
    };
    Ok(plot::lines(&plot))
}

/// A unit between inputs and outputs of a device.
struct UnitBench {
    registry: Arc<Registry>,
    graph: Graph,
    title: String,
    picture: KindPicture,
    inputs: usize,
    /// Names of the outputs; each has a channel of the device.
    outputs: Vec<String>,
    /// Parameter `freq`, or its default.
    freq: Option<f64>,
}

impl UnitBench {
    fn new(
        registry: Arc<Registry>,
        kind: &str,
        params: &[(String, String)],
    ) -> Result<Self, UnitPictureError> {
        let catalogue = registry.catalogue();
        let found = catalogue.get(kind).ok_or_else(|| BuildError::NoKind {
            kind: kind.into(),
            nearest: catalogue.nearest(kind),
        })?;
        let values = values(found, params)?;
        let values: Vec<_> = values.iter().map(|(k, v)| (*k, v.clone())).collect();
        let mut patch = GraphBuilder::new(catalogue);
        let unit = patch.add("unit", kind, &values)?;
        let (inputs, outputs) = connect(&mut patch, unit)?;
        let graph = patch.finish();
        let freq = graph.node(unit).and_then(|node| node.number("freq"));
        if outputs.is_empty() {
            return Err(UnitPictureError::NoSound(kind.into()));
        }
        let stated = params.iter().map(|(key, value)| format!("{key} = {value}"));
        let title: Vec<_> = std::iter::once(kind.to_string()).chain(stated).collect();
        let (title, picture) = (title.join(", "), picture(found, inputs));
        Ok(Self {
            freq: freq.or_else(|| default_of(found, "freq")),
            registry,
            graph,
            title,
            picture,
            inputs,
            outputs,
        })
    }

    /// What the outputs give for `stimulus`, a function of input and frame.
    fn play(
        &self,
        frames: usize,
        stimulus: impl Fn(usize, usize) -> f32,
    ) -> Result<Vec<Vec<f32>>, UnitPictureError> {
        let rate = SampleRate::new(RATE as u32).unwrap_or_default();
        let mut options = EngineOptions::new(Frames(BLOCK as u32), rate);
        options.mode = Mode::Offline;
        options.scheduler = Scheduler::Sequential;
        options.input_channels = self.inputs as _;
        let (mut engine, mut callback) =
            Engine::new(self.graph.clone(), self.registry.clone(), options)?;
        let mut heard = vec![Vec::with_capacity(frames + BLOCK); self.outputs.len()];
        for first in (0..frames).step_by(BLOCK) {
            let input = |port| -> Vec<f32> {
                (first..first + BLOCK)
                    .map(|frame| stimulus(port, frame))
                    .collect()
            };
            let inputs: Vec<_> = (0..self.inputs).map(input).collect();
            let inputs: Vec<&[f32]> = inputs.iter().map(Vec::as_slice).collect();
            let mut block = vec![[0.0; BLOCK]; self.outputs.len()];
            let mut outputs: Vec<&mut [f32]> =
                block.iter_mut().map(<[f32; BLOCK]>::as_mut_slice).collect();
            callback.process(CallbackInfo::default(), &inputs, &mut outputs);
            engine.update();
            for (heard, block) in heard.iter_mut().zip(&block) {
                heard.extend_from_slice(block);
            }
        }
        Ok(heard)
    }

    /// Level over frequency, for an impulse.
    fn response(&self) -> Result<LinePlot, UnitPictureError> {
        let impulse = |port, frame| f32::from(u8::from(port == 0 && frame == 0));
        let heard = self.play(RESPONSE_FRAMES, impulse)?;
        let octaves = (RATE * 0.4999 / 20.0).log2();
        let frequency = |i| 20.0 * (octaves * i as f64 / (FREQUENCIES - 1) as f64).exp2();
        let is_silent = |samples: &Vec<f32>| samples.iter().all(|x| *x == 0.0);
        let is_all_silent = heard.iter().all(is_silent);
        let points = heard.iter().map(|samples| {
            // A send that is shut is no curve.
            if is_silent(samples) && !is_all_silent {
                return Vec::new();
            }
            let point = |i| (frequency(i), level_db(samples, frequency(i)));
            (0..FREQUENCIES).map(point).collect()
        });
        Ok(self.plot(("frequency", "Hz", Scale::Log), ("level", "dB"), points))
    }

    /// Outputs over time, without an input.
    fn waveform(&self) -> Result<LinePlot, UnitPictureError> {
        // Some cycles, where there is a frequency.
        let seconds = self.freq.filter(|freq| *freq > 0.01);
        let seconds = seconds.map_or(0.02, |freq| 3.0 / freq).min(30.0);
        let heard = self.play((seconds * RATE) as usize, |_, _| 0.0)?;
        Ok(self.over_time(&heard))
    }

    /// Outputs over time: the first input is 1 from 50 to 250 ms, the second has pulses 30 ms apart.
    fn step(&self) -> Result<LinePlot, UnitPictureError> {
        let at = |ms: usize| ms * RATE as usize / 1000;
        let stimulus = |port, frame: usize| match port {
            0 => f32::from(u8::from((at(50)..at(250)).contains(&frame))),
            _ => f32::from(u8::from(frame % at(30) < at(1))),
        };
        let heard = self.play(at(500), stimulus)?;
        Ok(self.over_time(&heard))
    }

    /// Outputs over time, for strokes of noise half a second apart; a point for each 10 ms.
    fn strokes(&self) -> Result<LinePlot, UnitPictureError> {
        let stroke = |_: usize, frame: usize| {
            let since = frame % (RATE as usize / 2);
            let noise = SplitMix64(since as u64).sample();
            0.5 * noise * (-(since as f32) / 500.0).exp()
        };
        let heard = self.play(12 * RATE as usize, stroke)?;
        let points = heard.iter().map(|samples| {
            let shown = samples.iter().enumerate().step_by(RATE as usize / 100);
            shown
                .map(|(i, x)| (i as f64 / RATE, f64::from(*x)))
                .collect()
        });
        Ok(self.plot(("time", "s", Scale::Linear), ("output", ""), points))
    }

    /// Output over input, for a ramp from -2 to 2 in four seconds, after one second at its begin.
    fn transfer(&self) -> Result<LinePlot, UnitPictureError> {
        let ramp = |frame: usize| (frame as f64 / RATE - 3.0).clamp(-2.0, 2.0) as f32;
        let frames = (5.0 * RATE) as usize;
        let heard = self.play(
            frames,
            |port, frame| if port == 0 { ramp(frame) } else { 0.0 },
        )?;
        let points = heard.iter().map(|samples| {
            let shown = (RATE as usize..frames).step_by(96);
            shown
                .map(|i| (f64::from(ramp(i)), f64::from(samples[i])))
                .collect()
        });
        Ok(self.plot(("input", "", Scale::Linear), ("output", ""), points))
    }

    /// Level of the output over that of the input, for sines of 1 kHz.
    fn levels(&self) -> Result<LinePlot, UnitPictureError> {
        let mut all = vec![Vec::new(); self.outputs.len()];
        for db in (-72..=12).step_by(3) {
            let peak = 10f64.powf(f64::from(db) / 20.0);
            let sine = |_: usize, frame: usize| (peak * (TAU * frame as f64 / 48.0).sin()) as f32;
            let frames = (1.5 * RATE) as usize;
            for (points, samples) in all.iter_mut().zip(self.play(frames, sine)?) {
                points.push((f64::from(db), peak_db(&samples, frames - 4800..frames)));
            }
        }
        Ok(self.plot(("input", "dB", Scale::Linear), ("output", "dB"), all))
    }

    fn over_time(&self, heard: &[Vec<f32>]) -> LinePlot {
        let points = heard.iter().map(|samples| {
            let point = |(i, x): (usize, &f32)| (i as f64 * 1e3 / RATE, f64::from(*x));
            samples.iter().enumerate().map(point).collect()
        });
        self.plot(("time", "ms", Scale::Linear), ("output", ""), points)
    }

    fn plot(
        &self,
        (x, x_unit, scale): (&str, &str, Scale),
        (y, y_unit): (&str, &str),
        points: impl IntoIterator<Item = Vec<(f64, f64)>>,
    ) -> LinePlot {
        let axis = |label: &str, unit: &str, scale| Axis {
            label: label.into(),
            unit: unit.into(),
            scale,
        };
        let series = points.into_iter().zip(&self.outputs);
        let series = series.filter(|(points, _)| !points.is_empty());
        let series = series.map(|(points, name)| Series {
            name: name.clone(),
            points: points.into_iter().map(|(x, y)| (x, y.into())).collect(),
        });
        LinePlot {
            title: self.title.clone(),
            x: axis(x, x_unit, scale),
            y: axis(y, y_unit, Scale::Linear),
            series: series.collect(),
            labels: Vec::new(),
        }
    }
}

/// The values of parameters that were given as texts.
fn values<'a>(
    kind: &Kind,
    params: &'a [(String, String)],
) -> Result<Vec<(&'a str, ParamValue)>, UnitPictureError> {
    let value = |(key, text): &'a (String, String)| {
        let wrong = |takes| UnitPictureError::Value {
            key: key.clone(),
            takes,
            value: text.clone(),
        };
        let value = match kind.param(key).map(|(_, param)| &param.range) {
            Some(ParamRange::Number { .. }) => {
                ParamValue::Number(text.parse().map_err(|_| wrong("number"))?)
            }
            Some(ParamRange::Flag) => {
                ParamValue::Flag(text.parse().map_err(|_| wrong("flag: true or false"))?)
            }
            _ => ParamValue::Text(text.clone()),
        };
        Ok((key.as_str(), value))
    };
    params.iter().map(value).collect()
}

/// Connects every audio port of `unit`: inputs with channels of the device, outputs with sinks. Returns the number of
/// inputs and the names of the output channels.
fn connect(
    patch: &mut GraphBuilder<'_>,
    unit: NodeId,
) -> Result<(usize, Vec<String>), UnitPictureError> {
    let Some(node) = patch.graph().node(unit).cloned() else {
        return Ok((0, Vec::new()));
    };
    let is_audio = |signal: Signal| matches!(signal, Signal::Audio(_));
    let mut inputs = 0;
    for port in node
        .kind_inputs()
        .iter()
        .filter(|port| is_audio(port.signal))
    {
        inputs += 1;
        let channel = ("channel", f64::from(inputs as u32).into());
        let width = ("channels", 1.0.into());
        let input = patch.add(&format!("input{inputs}"), "input", &[channel, width])?;
        patch.connect((input, "out"), (unit, &port.name))?;
    }
    let mut outputs = Vec::new();
    for port in node.outputs.iter() {
        let Signal::Audio(channels) = port.signal else {
            continue;
        };
        let width = ("channels", f64::from(channels.0).into());
        let sink = patch.add(&format!("sink {}", port.name), "sink", &[width])?;
        patch.connect((unit, &port.name), (sink, "in"))?;
        match channels.count() {
            1 => outputs.push(port.name.to_string()),
            many => outputs.extend((1..=many).map(|c| format!("{} {c}", port.name))),
        }
    }
    Ok((inputs, outputs))
}

/// The picture of a kind; one that states none has that of its ports.
fn picture(kind: &Kind, inputs: usize) -> KindPicture {
    match kind.picture {
        KindPicture::ByPorts if inputs > 0 => KindPicture::Response,
        KindPicture::ByPorts => KindPicture::Waveform,
        stated => stated,
    }
}

fn default_of(kind: &Kind, name: &str) -> Option<f64> {
    match kind.param(name)?.1.range {
        ParamRange::Number { default, .. } => Some(default),
        _ => None,
    }
}

/// Level of the spectrum of `samples` at `hz`.
fn level_db(samples: &[f32], hz: f64) -> f64 {
    let (sin, cos) = (TAU * hz / RATE).sin_cos();
    let (mut re, mut im, mut x, mut y) = (0.0, 0.0, 1.0, 0.0);
    for sample in samples {
        let sample = f64::from(*sample);
        (re, im) = (re + sample * x, im + sample * y);
        (x, y) = (x * cos - y * sin, x * sin + y * cos);
    }
    decibels(re.hypot(im))
}

fn peak_db(samples: &[f32], range: Range<usize>) -> f64 {
    let peak = samples[range]
        .iter()
        .fold(0f32, |peak, x| peak.max(x.abs()));
    decibels(f64::from(peak))
}

fn decibels(gain: f64) -> f64 {
    (20.0 * gain.log10()).max(FLOOR_DB)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bench(kind: &str, params: &[(&str, &str)]) -> UnitBench {
        let params: Vec<_> = params
            .iter()
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect();
        UnitBench::new(Arc::new(divisi::registry()), kind, &params).unwrap()
    }

    #[test]
    fn the_pictures_show_what_the_units_do() {
        let values = |plot: LinePlot, output: usize| -> Vec<(f64, f64)> {
            let points = plot.series[output].points.iter();
            points.map(|(x, y)| (*x, y.value)).collect()
        };
        let near = |points: &[(f64, f64)], x: f64| {
            let by_distance =
                |a: &&(f64, f64), b: &&(f64, f64)| (a.0 - x).abs().total_cmp(&(b.0 - x).abs());
            points.iter().min_by(by_distance).unwrap().1
        };
        let low = values(bench("svf", &[("freq", "1000")]).response().unwrap(), 0);
        assert!(near(&low, 50.0).abs() < 0.1 && (near(&low, 1000.0) + 3.0).abs() < 0.2);
        let clip = values(bench("shape", &[("mode", "clip")]).transfer().unwrap(), 0);
        assert!((near(&clip, 0.5) - 0.5).abs() < 0.01 && near(&clip, 1.9) == 1.0);
        let gain = values(bench("gain", &[("gain_db", "-6")]).levels().unwrap(), 0);
        assert!((near(&gain, -12.0) + 18.0).abs() < 0.05);
        let slew = values(bench("slew", &[("rise", "0.1")]).step().unwrap(), 0);
        assert!((near(&slew, 100.0) - 0.5).abs() < 0.01);
        let tempo = values(bench("tempo_tracker", &[]).strokes().unwrap(), 0);
        assert_eq!(near(&tempo, 2.0), 0.0);
        assert!((near(&tempo, 11.0) - 120.0).abs() < 0.3);
        let strip = bench("strip", &[("mid_db", "6")]).response().unwrap();
        let names: Vec<&str> = strip.series.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["out 1", "out 2"]);
        let osc = values(bench("osc", &[("freq", "100")]).waveform().unwrap(), 0);
        assert!((near(&osc, 2.5) - 1.0).abs() < 0.01);
    }
}
