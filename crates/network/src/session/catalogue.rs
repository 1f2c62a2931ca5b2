//! The kinds of nodes that a session's network may have: names, ports, and parameters with their ranges.
//!
//! A parameter without a unit is a whole number. A default of 0 stands for a value that depends on other parameters; the
//! parameter's text says which.

use graph::{Catalogue, Kind, Param, ParamRange, PortCount, PortSpec};
use std::sync::LazyLock;

/// Frames that a firing moves, where neither the node nor the network sets it.
pub(super) const DEFAULT_PIECE: usize = 256;
/// Largest number of frames that a firing moves.
pub(super) const MAX_PIECE: usize = 1 << 16;
/// Largest number of channels.
pub(super) const MAX_CHANNELS: usize = 64;
/// Largest number of taps of a filter.
pub(super) const MAX_TAPS: usize = 1 << 16;
/// Largest number of inputs of `add` and outputs of `split`.
const MAX_PORTS: u16 = 64;
/// Smallest and largest length of a transform, in frames.
const SIZES: (f64, f64) = (32.0, (1 << 20) as f64);

/// Every kind.
pub(super) static KINDS: LazyLock<Catalogue> = LazyLock::new(|| {
    let mut kinds = Catalogue::default();
    for kind in all() {
        kinds.insert(kind);
    }
    kinds
});

/// Number of ports on one side of a node.
#[derive(Clone, Copy, PartialEq)]
enum Ports {
    None,
    One,
    /// As many as are connected, at least one.
    Many,
}

fn all() -> [Kind; 11] {
    use Ports::{Many, None, One};
    let kinds = [
        ("input", None, One),
        ("output", One, None),
        ("gain", One, One),
        ("add", Many, One),
        ("split", One, Many),
        ("fir", One, One),
        ("decimate", One, One),
        ("interpolate", One, One),
        ("overlap_save", One, One),
        ("stft", One, One),
        ("istft", One, One),
    ];
    kinds.map(|(name, inputs, outputs)| Kind {
        inputs: ports("in", inputs),
        outputs: ports("out", outputs),
        params: params(name),
        ..Kind::new(name, about(name))
    })
}

fn ports(name: &'static str, ports: Ports) -> Vec<PortSpec> {
    let mut port = PortSpec::audio(name);
    if ports == Ports::Many {
        port.count = PortCount::Many {
            default: 2,
            min: 1,
            max: MAX_PORTS,
        };
    }
    let is_there = ports != Ports::None;
    is_there.then_some(port).into_iter().collect()
}

fn about(kind: &str) -> &'static str {
    match kind {
        "input" => "Where sound enters the network.",
        "output" => "Where sound leaves the network.",
        "gain" => "Multiplies by a constant.",
        "add" => "Sum of its inputs.",
        "split" => "Copies its input to each output.",
        "fir" => "FIR filter, computed directly.",
        "decimate" => "Low-pass filter that keeps every `factor`th frame.",
        "interpolate" => "Puts `factor` - 1 frames between any two, then a low-pass filter.",
        "overlap_save" => "Long FIR filter by transforms (overlap-save).",
        "stft" => "Short-time Fourier transform: spectra of overlapping windows.",
        _ => "Inverse of `stft`, by overlap-add.",
    }
}

/// The parameters of a kind: its own, those of a filter, and the one that all kinds have.
fn params(kind: &str) -> Vec<Param> {
    let mut params = match kind {
        "gain" => vec![gain_db()],
        "decimate" | "interpolate" => vec![factor()],
        "overlap_save" => vec![size(4096.0)],
        "stft" | "istft" => vec![size(1024.0), hop()],
        _ => vec![],
    };
    if matches!(kind, "fir" | "decimate" | "interpolate" | "overlap_save") {
        params.extend(taps());
    }
    let (piece, doc) = ((1.0, MAX_PIECE as f64), "Frames that a firing moves.");
    params.push(number("piece", "", piece, DEFAULT_PIECE as f64, doc));
    params
}

fn number(
    name: &'static str,
    unit: &'static str,
    (min, max): (f64, f64),
    default: f64,
    doc: &'static str,
) -> Param {
    Param {
        name,
        unit,
        range: ParamRange::Number { min, max, default },
        live: false,
        doc,
    }
}

fn gain_db() -> Param {
    number("gain_db", "dB", (-200.0, 200.0), 0.0, "Gain.")
}

fn factor() -> Param {
    let doc = "Ratio of the sample rates of input and output.";
    number("factor", "", (1.0, 1024.0), 2.0, doc)
}

fn size(default: f64) -> Param {
    let doc = "Length of the transform in frames, a power of two.";
    number("size", "", SIZES, default, doc)
}

fn hop() -> Param {
    let doc =
        "Frames from one window to the next, a divisor of half of `size`; 0 is half of `size`.";
    number("hop", "", (0.0, SIZES.1), 0.0, doc)
}

/// Parameters of a filter: its coefficients, or the design of a low-pass.
fn taps() -> Vec<Param> {
    let max = MAX_TAPS as f64;
    vec![
        Param {
            name: "coefs",
            unit: "",
            range: ParamRange::Text,
            live: false,
            doc: "Impulse response, a list of numbers.",
        },
        number(
            "taps",
            "",
            (0.0, max),
            0.0,
            "Length of a designed low-pass; 0 is 16 `factor` + 1.",
        ),
        number(
            "cutoff",
            "of the sample rate",
            (0.0, 0.5),
            0.0,
            "Cut-off of a designed low-pass; 0 is 0.45 / `factor`.",
        ),
    ]
}
