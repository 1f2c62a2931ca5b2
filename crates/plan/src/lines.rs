//! How long a delay's line must be, from its parameters in seconds.

use crate::{DelayLine, PlanOptions};
use graph::{DelayParams, Diagnostic, Kind, Node, NodeId, ParamRange, Signal};
use units::{Channels, Frames, SampleRate};

/// The longest line, about 23 minutes at 48 kHz: a larger number in a file is an error and never an allocation.
const LONGEST: Frames = Frames(1 << 26);

/// The line of one delay: from the shortest time rounded down to the longest rounded up.
pub(crate) fn line_of(
    id: NodeId,
    node: &Node,
    kind: &Kind,
    params: &DelayParams,
    options: &PlanOptions,
) -> Result<DelayLine, Diagnostic> {
    let channels = width(node)?;
    let wrong = |message: String| Err(Diagnostic::error(node.span, message));
    let Some(time) = seconds(node, params.time)?.or_else(|| default(kind, params.time)) else {
        return wrong(format!("`{}` needs `{}`", node.name, params.time));
    };
    let least = seconds(node, params.min)?.unwrap_or(time).min(time);
    let most = seconds(node, params.max)?.unwrap_or(time).max(time);
    let most = Frames::from_seconds_ceil(most, options.rate);
    if most > LONGEST {
        return wrong(format!(
            "`{}` delays by {} frames; {} is the most",
            node.name, most.0, LONGEST.0
        ));
    }
    Ok(DelayLine {
        channels,
        min: within(least, options.rate),
        max: most,
        node: id,
    })
}

/// The channels of a delay: those of its one output, as many as its one input takes.
fn width(node: &Node) -> Result<Channels, Diagnostic> {
    let ports = (node.inputs.as_slice(), node.outputs.as_slice());
    if let ([input], [output]) = ports
        && input.signal == output.signal
        && let Signal::Audio(channels) = output.signal
    {
        return Ok(channels);
    }
    Err(Diagnostic::error(
        node.span,
        format!(
            "`{}` is a delay and needs one audio input and one output as wide",
            node.name
        ),
    ))
}

/// What the node says for `key`, which must be a time.
fn seconds(node: &Node, key: &str) -> Result<Option<f64>, Diagnostic> {
    if node.param(key).is_none() {
        return Ok(None);
    }
    let time = node.number(key).filter(|t| *t >= 0.0 && t.is_finite());
    time.map(Some).ok_or_else(|| {
        Diagnostic::error(
            node.span,
            format!("`{key}` of `{}` is not a time in seconds", node.name),
        )
    })
}

fn default(kind: &Kind, key: &str) -> Option<f64> {
    match kind.param(key)?.1.range {
        ParamRange::Number { default, .. } if default >= 0.0 => Some(default),
        _ => None,
    }
}

/// The most whole frames that last no longer than `seconds`: [`Frames::from_seconds_ceil`], rounded the other way.
fn within(seconds: f64, rate: SampleRate) -> Frames {
    let up = Frames::from_seconds_ceil(seconds, rate);
    let exact = seconds * f64::from(rate.hz());
    Frames(up.0 - u32::from(f64::from(up.0) > exact + 1e-6))
}
