//! Part of pass 1: the length of a delay's line, from its parameters in seconds.

use crate::{DelayLine, PlanOptions};
use graph::{DelayParams, Diagnostic, Kind, Node, NodeId, ParamRange, Signal, number_text};
use units::{Channels, Frames, SampleRate};

/// The longest line, about 23 minutes at 48 kHz. A larger number in a file is an error and never an allocation.
const MAX_DELAY: Frames = Frames(1 << 26);

/// The line of a delay node, from its shortest time, rounded down, to its longest, rounded up.
pub(super) fn delay_line(
    id: NodeId,
    node: &Node,
    kind: &Kind,
    params: &DelayParams,
    options: &PlanOptions,
) -> Result<DelayLine, Diagnostic> {
    let channels = channels(node)?;
    let wrong = |message: String| Err(node.mistake(message));
    let Some(time) = seconds(node, params.time)?.or_else(|| default(kind, params.time)) else {
        return wrong(format!("`{}` needs `{}`", node.name, params.time));
    };
    let bounds = (seconds(node, params.min)?, seconds(node, params.max)?);
    if let (Some(min), Some(max)) = bounds
        && min > max
    {
        let (min, max) = (number_text(min), number_text(max));
        return wrong(format!(
            "`{}` of `{}` is {min} s, more than `{}`, {max} s",
            params.min, node.name, params.max
        ));
    }
    let min = bounds.0.unwrap_or(time).min(time);
    let max = bounds.1.unwrap_or(time).max(time);
    let max = Frames::from_seconds_ceil(max, options.rate);
    if max > MAX_DELAY {
        return wrong(format!(
            "`{}` delays by {} frames; {} is the maximum",
            node.name, max.0, MAX_DELAY.0
        ));
    }
    Ok(DelayLine {
        channels,
        min: floor_frames(min, options.rate),
        max,
        node: id,
    })
}

/// Number of channels of a delay: it must have one audio input and one output with as many.
fn channels(node: &Node) -> Result<Channels, Diagnostic> {
    let ports = (node.kind_inputs(), node.outputs.as_slice());
    if let ([input], [output]) = ports
        && input.signal == output.signal
        && let Signal::Audio(channels) = output.signal
    {
        return Ok(channels);
    }
    Err(node.mistake(format!(
        "`{}` is a delay and needs one audio input and one output with as many channels",
        node.name
    )))
}

/// The time that the node states for `key`.
fn seconds(node: &Node, key: &str) -> Result<Option<f64>, Diagnostic> {
    if node.param(key).is_none() {
        return Ok(None);
    }
    let time = node.number(key).filter(|t| *t >= 0.0 && t.is_finite());
    time.map(Some).ok_or_else(|| {
        node.mistake(format!(
            "`{key}` of `{}` is not a time in seconds",
            node.name
        ))
    })
}

fn default(kind: &Kind, key: &str) -> Option<f64> {
    match kind.param(key)?.1.range {
        ParamRange::Number { default, .. } if default >= 0.0 => Some(default),
        _ => None,
    }
}

/// Number of whole frames in `seconds`: [`Frames::from_seconds_ceil`], rounded the other way.
fn floor_frames(seconds: f64, rate: SampleRate) -> Frames {
    let up = Frames::from_seconds_ceil(seconds, rate);
    let exact = seconds * f64::from(rate.hz());
    Frames(up.0 - u32::from(f64::from(up.0) > exact + 1e-6))
}
