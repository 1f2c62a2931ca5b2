//! The kinds of nodes that a session's network may have: names, ports, and parameters with their ranges.
//!
//! A parameter without a unit is a whole number. A default of 0 stands for a value that depends on other parameters; the
//! parameter's text says which.

use graph::{Catalogue, Kind, Param, PortSpec};
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
    let many = |name| vec![PortSpec::many(name, 2, 1, MAX_PORTS)];
    let through = |name, params| kind(name, one("in"), one("out"), params);
    let filter = |name, own: Vec<Param>| through(name, [own, taps()].concat());
    let spectral = |name| through(name, vec![size(1024.0), hop()]);
    [
        kind("input", vec![], one("out"), vec![])("Where sound enters the network."),
        kind("output", one("in"), vec![], vec![])("Where sound leaves the network."),
        through("gain", vec![gain_db()])("Multiplies by a constant."),
        kind("add", many("in"), one("out"), vec![])("Sum of its inputs."),
        kind("split", one("in"), many("out"), vec![])("Copies its input to each output."),
        filter("fir", vec![])("FIR filter, computed directly."),
        filter("decimate", vec![factor()])("Low-pass filter that keeps every `factor`th frame."),
        filter("interpolate", vec![factor()])(
            "Puts `factor` - 1 frames between any two, then a low-pass filter.",
        ),
        filter("overlap_save", vec![size(4096.0)])("Long FIR filter by transforms (overlap-save)."),
        spectral("stft")("Short-time Fourier transform: spectra of overlapping windows."),
        spectral("istft")("Inverse of `stft`, by overlap-add."),
    ]
}

/// A kind with the parameters that all kinds have, and its own; then its summary.
fn kind(
    name: &'static str,
    inputs: Vec<PortSpec>,
    outputs: Vec<PortSpec>,
    mut params: Vec<Param>,
) -> impl FnOnce(&'static str) -> Kind {
    let range = (1.0, MAX_PIECE as f64);
    let piece = Param::number("piece", range, DEFAULT_PIECE as f64);
    params.push(piece.doc("Frames that a firing moves."));
    move |summary| Kind {
        inputs,
        outputs,
        params,
        ..Kind::new(name, summary)
    }
}

fn gain_db() -> Param {
    let gain = Param::number("gain_db", (-200.0, 200.0), 0.0);
    gain.unit("dB").doc("Gain.")
}

fn factor() -> Param {
    Param::number("factor", (1.0, 1024.0), 2.0)
        .doc("Ratio of the sample rates of input and output.")
}

fn size(default: f64) -> Param {
    Param::number("size", SIZES, default).doc("Length of the transform in frames, a power of two.")
}

fn hop() -> Param {
    Param::number("hop", (0.0, SIZES.1), 0.0).doc(
        "Frames from one window to the next, a divisor of half of `size`; 0 is half of `size`.",
    )
}

/// Parameters of a filter: its coefficients, or the design of a low-pass.
fn taps() -> Vec<Param> {
    vec![
        Param::text("coefs").doc("Impulse response, a list of numbers."),
        Param::number("taps", (0.0, MAX_TAPS as f64), 0.0)
            .doc("Length of a designed low-pass; 0 is 16 `factor` + 1."),
        Param::number("cutoff", (0.0, 0.5), 0.0)
            .unit("of the sample rate")
            .doc("Cut-off of a designed low-pass; 0 is 0.45 / `factor`."),
    ]
}
