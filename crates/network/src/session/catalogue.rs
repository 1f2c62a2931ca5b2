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

fn all() -> [Kind; 11] {
    let one = |name| vec![PortSpec::audio(name)];
    let many = |name| {
        let count = PortCount::Many {
            default: 2,
            min: 1,
            max: MAX_PORTS,
        };
        vec![PortSpec {
            count,
            ..PortSpec::audio(name)
        }]
    };
    let filter = |name, about, params: Vec<Param>| {
        kind(
            name,
            about,
            one("in"),
            one("out"),
            [params, taps()].concat(),
        )
    };
    let spectral = |name, about| {
        let params = vec![size(1024.0), hop()];
        kind(name, about, one("in"), one("out"), params)
    };
    [
        kind(
            "input",
            "Where sound enters the network.",
            vec![],
            one("out"),
            vec![],
        ),
        kind(
            "output",
            "Where sound leaves the network.",
            one("in"),
            vec![],
            vec![],
        ),
        kind(
            "gain",
            "Multiplies by a constant.",
            one("in"),
            one("out"),
            vec![gain_db()],
        ),
        kind("add", "Sum of its inputs.", many("in"), one("out"), vec![]),
        kind(
            "split",
            "Copies its input to each output.",
            one("in"),
            many("out"),
            vec![],
        ),
        filter("fir", "FIR filter, computed directly.", vec![]),
        filter(
            "decimate",
            "Low-pass filter that keeps every `factor`th frame.",
            vec![factor()],
        ),
        filter(
            "interpolate",
            "Puts `factor` - 1 frames between any two, then a low-pass filter.",
            vec![factor()],
        ),
        filter(
            "overlap_save",
            "Long FIR filter by transforms (overlap-save).",
            vec![size(4096.0)],
        ),
        spectral(
            "stft",
            "Short-time Fourier transform: spectra of overlapping windows.",
        ),
        spectral("istft", "Inverse of `stft`, by overlap-add."),
    ]
}

/// A kind with the parameters that all kinds have, and its own.
fn kind(
    name: &'static str,
    about: &'static str,
    inputs: Vec<PortSpec>,
    outputs: Vec<PortSpec>,
    mut params: Vec<Param>,
) -> Kind {
    let piece = (1.0, MAX_PIECE as f64);
    params.push(number(
        "piece",
        "",
        piece,
        DEFAULT_PIECE as f64,
        "Frames that a firing moves.",
    ));
    Kind {
        inputs,
        outputs,
        params,
        ..Kind::new(name, about)
    }
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
