//! From a node of the section to its actor.

use super::catalogue::{KINDS, MAX_TAPS};
use crate::actor::{Actor, FireStatus, Windows};
use crate::kinds::{
    Add, Decimate, Gain, Interpolate, InverseStft, KindError, OverlapSave, Split, Stft, low_pass,
};
use crate::topology::{InputPort, NodePorts, OutputPort};
use graph::{Node, ParamRange};

/// Stands for the node `input` or `output` until the caller supplies an actor for it.
pub(crate) struct Placeholder(pub(crate) NodePorts);

impl Actor for Placeholder {
    fn ports(&self) -> NodePorts {
        self.0.clone()
    }

    fn fire(&mut self, _: &mut Windows<'_>) -> FireStatus {
        FireStatus::Finished(0)
    }
}

/// The number that `node` has for `key`, or its kind's default.
pub(super) fn number(node: &Node, key: &str) -> f64 {
    let default = || {
        let (_, param) = KINDS.get(&node.kind)?.param(key)?;
        match param.range {
            ParamRange::Number { default, .. } => Some(default),
            _ => None,
        }
    };
    node.number(key).or_else(default).unwrap_or(1.0)
}

/// The same where it is a whole number.
pub(super) fn whole(node: &Node, key: &str) -> usize {
    number(node, key) as usize
}

/// The same where 0 stands for `automatic`.
fn whole_or(node: &Node, key: &str, automatic: usize) -> usize {
    match whole(node, key) {
        0 => automatic,
        given => given,
    }
}

/// Estimated memory that the node's actor needs for itself, in samples.
pub(super) fn memory(node: &Node) -> usize {
    match node.kind.as_str() {
        "fir" | "decimate" | "interpolate" => match node.text("coefs") {
            Some(list) => list.len(),
            None => 2 * tap_count(node),
        },
        "overlap_save" => 5 * whole(node, "size"),
        "stft" | "istft" => 6 * whole(node, "size"),
        _ => 0,
    }
}

/// Creates the actor of a node of a known kind.
///
/// # Errors
///
/// Its parameters contradict each other.
pub(super) fn create(node: &Node) -> Result<Box<dyn Actor>, KindError> {
    let (channels, piece) = (whole(node, "channels"), whole(node, "piece"));
    let size = || whole(node, "size");
    Ok(match node.kind.as_str() {
        "input" => {
            let output = OutputPort::new("out", piece, piece).channels(channels);
            Box::new(Placeholder(NodePorts::source(output)))
        }
        "output" => {
            let input = InputPort::new("in", piece, piece).channels(channels);
            Box::new(Placeholder(NodePorts::sink(input)))
        }
        "gain" => {
            let factor = match node.number("gain_db") {
                Some(db) => libm::pow(10.0, db / 20.0),
                None => 1.0,
            };
            Box::new(Gain::new(factor as f32, channels, piece)?)
        }
        "add" => Box::new(Add::new(node.inputs.len(), channels, piece)?),
        "split" => Box::new(Split::new(node.outputs.len(), channels, piece)?),
        "fir" => Box::new(Decimate::new(&taps(node)?, 1, channels, piece)?),
        "decimate" => {
            let factor = whole(node, "factor");
            Box::new(Decimate::new(&taps(node)?, factor, channels, piece)?)
        }
        "interpolate" => {
            let factor = whole(node, "factor");
            // Of `factor` frames all but one are zero: the filter's gain compensates for the level that this costs.
            let louder: Vec<f32> = taps(node)?.iter().map(|tap| tap * factor as f32).collect();
            Box::new(Interpolate::new(&louder, factor, channels, piece)?)
        }
        "overlap_save" => Box::new(OverlapSave::new(&taps(node)?, size(), channels)?),
        "stft" => Box::new(Stft::new(size(), hop(node), channels)?),
        _ => Box::new(InverseStft::new(size(), hop(node), channels)?),
    })
}

fn hop(node: &Node) -> usize {
    whole_or(node, "hop", whole(node, "size") / 2)
}

/// The factor of a kind that changes the rate; 1 for others.
fn factor(node: &Node) -> usize {
    match node.kind.as_str() {
        "decimate" | "interpolate" => whole(node, "factor"),
        _ => 1,
    }
}

fn tap_count(node: &Node) -> usize {
    whole_or(node, "taps", 16 * factor(node) + 1)
}

/// The taps as they are written, or those of a low-pass.
fn taps(node: &Node) -> Result<Vec<f32>, KindError> {
    let Some(list) = node.text("coefs") else {
        let cutoff = match number(node, "cutoff") {
            0.0 => 0.45 / factor(node) as f64,
            given => given,
        };
        return Ok(low_pass(tap_count(node), cutoff));
    };
    let parse = |text: &str| Some(text.parse::<f64>().ok()? as f32).filter(|x| x.is_finite());
    let words = list.split([' ', ',']).filter(|text| !text.is_empty());
    let taps: Option<Vec<f32>> = words.map(parse).collect();
    taps.filter(|taps| (1..=MAX_TAPS).contains(&taps.len()))
        .ok_or(KindError::Coefs { max: MAX_TAPS })
}
