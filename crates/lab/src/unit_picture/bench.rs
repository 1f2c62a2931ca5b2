//! [`UnitBench`]: a unit that plays alone, its ports connected with the device.

use super::error::UnitPictureError;
use divisi::draw::plot::{Axis, LinePlot, Scale, Series};
use divisi::graph::{BuildError, Kind, KindPicture, NodeId, ParamRange, Signal};
use divisi::prelude::*;
use std::sync::Arc;

/// Frames a second.
pub(super) const RATE: f64 = 48_000.0;
/// Name of the node of the unit.
pub(super) const UNIT: &str = "unit";
/// Frames a block.
const BLOCK: usize = 64;

/// A unit between inputs and outputs of a device.
pub(super) struct UnitBench {
    registry: Arc<Registry>,
    graph: Graph,
    pub(super) title: String,
    pub(super) picture: KindPicture,
    /// The kind and the stated parameters that it was made of.
    made_of: (String, Vec<(String, String)>),
    /// Names of the inputs; each has a channel of the device.
    pub(super) inputs: Vec<String>,
    /// Names of the outputs; each has a channel of the device.
    pub(super) outputs: Vec<String>,
    /// Parameter `freq`, or its default.
    pub(super) freq: Option<f64>,
}

impl UnitBench {
    pub(super) fn new(
        registry: Arc<Registry>,
        kind: &str,
        params: &[(String, String)],
    ) -> Result<Self, UnitPictureError> {
        let catalogue = registry.catalogue();
        let found = catalogue.get(kind).ok_or_else(|| BuildError::NoKind {
            kind: kind.into(),
            nearest: catalogue.nearest(kind),
        })?;
        let mut stated = params.to_vec();
        stated.extend(examples(found, params));
        let values = values(found, &stated)?;
        let values: Vec<_> = values.iter().map(|(k, v)| (*k, v.clone())).collect();
        let mut patch = GraphBuilder::new(catalogue);
        let unit = patch.add(UNIT, kind, &values)?;
        let (inputs, outputs) = connect(&mut patch, unit)?;
        if found.picture == KindPicture::Note {
            add_note(&mut patch, unit)?;
        }
        let graph = patch.finish();
        let freq = graph.node(unit).and_then(|node| node.number("freq"));
        if outputs.is_empty() {
            return Err(UnitPictureError::NoSound(kind.into()));
        }
        let stated = stated.iter().map(|(key, value)| format!("{key} = {value}"));
        let title: Vec<_> = std::iter::once(kind.to_string()).chain(stated).collect();
        let (title, picture) = (title.join(", "), picture(found, inputs.len()));
        Ok(Self {
            freq: freq.or_else(|| default_of(found, "freq")),
            registry,
            graph,
            made_of: (kind.into(), params.to_vec()),
            title,
            picture,
            inputs,
            outputs,
        })
    }

    /// The same unit with another value of a parameter.
    pub(super) fn with_param(&self, param: &str, value: f64) -> Result<Self, UnitPictureError> {
        let (kind, stated) = &self.made_of;
        let stated = stated.iter().filter(|(key, _)| key != param).cloned();
        let all: Vec<_> = stated
            .chain([(param.to_owned(), value.to_string())])
            .collect();
        Self::new(self.registry.clone(), kind, &all)
    }

    /// Smallest and largest value of a parameter.
    pub(super) fn range_of(&self, param: &str) -> (f64, f64) {
        let kind = self.registry.catalogue().get(&self.made_of.0);
        let param = kind.and_then(|kind| kind.param(param));
        match param.map(|(_, param)| &param.range) {
            Some(ParamRange::Number { min, max, .. }) => (*min, *max),
            _ => (0.0, 1.0),
        }
    }

    /// Samples of the outputs for `stimulus`, a function of input and frame.
    pub(super) fn play(
        &self,
        frames: usize,
        stimulus: impl Fn(usize, usize) -> f32,
    ) -> Result<Vec<Vec<f32>>, UnitPictureError> {
        self.play_watched(frames, stimulus, |_, _| {})
    }

    /// The same; `watch` sees the engine after each block, with the number of frames so far.
    pub(super) fn play_watched(
        &self,
        frames: usize,
        stimulus: impl Fn(usize, usize) -> f32,
        mut watch: impl FnMut(&Engine, usize),
    ) -> Result<Vec<Vec<f32>>, UnitPictureError> {
        let rate = SampleRate::new(RATE as u32).unwrap_or_default();
        let mut options = EngineOptions::new(Frames(BLOCK as u32), rate);
        options.mode = Mode::Offline;
        options.scheduler = Scheduler::Sequential;
        options.input_channels = self.inputs.len() as _;
        let (mut engine, mut callback) =
            Engine::new(self.graph.clone(), self.registry.clone(), options)?;
        let mut heard = vec![Vec::with_capacity(frames + BLOCK); self.outputs.len()];
        for first in (0..frames).step_by(BLOCK) {
            let input = |port| -> Vec<f32> {
                (first..first + BLOCK)
                    .map(|frame| stimulus(port, frame))
                    .collect()
            };
            let inputs: Vec<_> = (0..self.inputs.len()).map(input).collect();
            let inputs: Vec<&[f32]> = inputs.iter().map(Vec::as_slice).collect();
            let mut block = vec![[0.0; BLOCK]; self.outputs.len()];
            let mut outputs: Vec<&mut [f32]> =
                block.iter_mut().map(<[f32; BLOCK]>::as_mut_slice).collect();
            callback.process(CallbackInfo::default(), &inputs, &mut outputs);
            engine.update();
            watch(&engine, first + BLOCK);
            for (heard, block) in heard.iter_mut().zip(&block) {
                heard.extend_from_slice(block);
            }
        }
        Ok(heard)
    }

    pub(super) fn over_time(&self, heard: &[Vec<f32>]) -> LinePlot {
        let points = heard.iter().map(|samples| {
            let point = |(i, x): (usize, &f32)| (i as f64 * 1e3 / RATE, f64::from(*x));
            samples.iter().enumerate().map(point).collect()
        });
        self.plot(("time", "ms", Scale::Linear), ("output", ""), points)
    }

    pub(super) fn plot(
        &self,
        (x, x_unit, scale): (&str, &str, Scale),
        (y, y_unit): (&str, &str),
        points: impl IntoIterator<Item = Vec<(f64, f64)>>,
    ) -> LinePlot {
        self.plot_named((x, x_unit, scale), (y, y_unit), (&self.outputs, points))
    }

    /// A plot of lines with these names.
    pub(super) fn plot_named(
        &self,
        (x, x_unit, scale): (&str, &str, Scale),
        (y, y_unit): (&str, &str),
        (names, points): (&[String], impl IntoIterator<Item = Vec<(f64, f64)>>),
    ) -> LinePlot {
        let axis = |label: &str, unit: &str, scale| Axis {
            label: label.into(),
            unit: unit.into(),
            scale,
            // What lies within a decibel, or a millionth, is one line and not a mountain range.
            min_span: match unit {
                "dB" => 6.0,
                "degrees" => 30.0,
                _ => 1e-3,
            },
        };
        let series = points.into_iter().zip(names);
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

/// Values for the numbers that a node of `kind` must state and `params` does not.
fn examples<'a>(
    kind: &'a Kind,
    params: &'a [(String, String)],
) -> impl Iterator<Item = (String, String)> + 'a {
    kind.params.iter().filter_map(|param| {
        let is_stated = params.iter().any(|(key, _)| key == param.name);
        match param.range {
            ParamRange::Number { min, max, default } if default.is_nan() && !is_stated => {
                let value: f64 = if param.unit == "Hz" { 440.0 } else { 0.01 };
                Some((param.name.into(), value.clamp(min, max).to_string()))
            }
            _ => None,
        }
    })
}

/// A note of C4 that lasts a second, at the first event input of `unit`, if it has one.
fn add_note(patch: &mut GraphBuilder<'_>, unit: NodeId) -> Result<(), UnitPictureError> {
    let node = patch.graph().node(unit).cloned();
    let inputs = node.iter().flat_map(|node| node.kind_inputs());
    let mut events = inputs.filter(|port| port.signal == Signal::Event);
    if let Some(port) = events.next() {
        let note = ("events", "0 C4 0.8 1s".into());
        let score = patch.add("note", "score", &[note])?;
        patch.connect((score, "out"), (unit, &port.name))?;
    }
    Ok(())
}

/// Connects every audio port of `unit`: inputs with channels of the device, outputs with sinks. Returns the names of the
/// inputs and of the output channels.
fn connect(
    patch: &mut GraphBuilder<'_>,
    unit: NodeId,
) -> Result<(Vec<String>, Vec<String>), UnitPictureError> {
    let Some(node) = patch.graph().node(unit).cloned() else {
        return Ok((Vec::new(), Vec::new()));
    };
    let is_audio = |signal: Signal| matches!(signal, Signal::Audio(_));
    let mut inputs: Vec<String> = Vec::new();
    for port in node
        .kind_inputs()
        .iter()
        .filter(|port| is_audio(port.signal))
    {
        inputs.push(port.name.to_string());
        let channel = ("channel", f64::from(inputs.len() as u32).into());
        let width = ("channels", 1.0.into());
        let name = format!("input{}", inputs.len());
        let input = patch.add(&name, "input", &[channel, width])?;
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
