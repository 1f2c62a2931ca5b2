//! The classes of signal objects.
//!
//! | file | holds |
//! |---|---|
//! | `arithmetic` | one or two signals to one |
//! | `extra` | small classes of Pd's `extra`, and `print~` |
//! | `fourier` | spectra: `fft~`, `rfft~`, their inverses, `framp~` |
//! | `functions` | exponential, logarithm and roots |
//! | `oscillators` | `osc~`, `phasor~`, `cos~` |
//! | `noise` | `noise~` |
//! | `phases`, `cosine_table` | phases added up, and the table of a cosine |
//! | `even_sums` | sums of equal steps, all at once |
//! | `ramps`, `sample_line` | messages to signals: `line~`, `sig~`; `vline~` |
//! | `detectors` | signals to messages: `snapshot~`, `env~`, `threshold~` |
//! | `bonk`, `pique` | `bonk~`: attacks; `pique`: peaks of a spectrum in arrays |
//! | `fiddle`, `sigmund` | `fiddle~`, `sigmund~`: pitches and sinusoids |
//! | `filters`, `biquad` | `lop~`, `hip~`, `bp~`, `slop~`; `biquad~` |
//! | `poles`, `complex` | `vcf~`, one pole and one zero, real or complex |
//! | `cubic` | four points to a sample between them |
//! | `delays` | `delwrite~` and its readers |
//! | `expr` | `expr~`, `fexpr~` |
//! | `arrays`, `table_oscillator` | reading and writing arrays |
//! | `buses` | `dac~`, `adc~`, `send~`, `throw~` and their other ends |

mod arithmetic;
mod arrays;
mod biquad;
mod bonk;
mod buses;
mod complex;
mod cosine_table;
mod cubic;
mod delays;
mod detectors;
mod even_sums;
mod expr;
mod extra;
mod fiddle;
mod filters;
mod fourier;
mod functions;
mod noise;
mod oscillators;
mod phases;
mod pique;
mod poles;
mod ramps;
mod sample_line;
mod sigmund;
mod table_oscillator;

use crate::control::{Making, Object, Value};
pub(super) use biquad::filter_each;
pub(super) use delays::FIRST_OF_LINE;
pub(super) use filters::kept;
pub(super) use poles::{PoleDesign, Poles};
pub(super) use ramps::is_odd;

/// Makes an object of a class; `None` if there is no such signal object here yet.
pub(crate) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    arithmetic::make(making)
        .or_else(|| arrays::make(making))
        .or_else(|| buses::make(making))
        .or_else(|| delays::make(making))
        .or_else(|| expr::make(making))
        .or_else(|| filters::make(making))
        .or_else(|| biquad::make(making))
        .or_else(|| poles::make(making))
        .or_else(|| extra::make(making))
        .or_else(|| fourier::make(making))
        .or_else(|| sigmund::make(making))
        .or_else(|| fiddle::make(making))
        .or_else(|| bonk::make(making))
        .or_else(|| pique::make(making))
        .or_else(|| oscillators::make(making))
        .or_else(|| noise::make(making))
        .or_else(|| ramps::make(making))
        .or_else(|| detectors::make(making))
        .or_else(|| matches!(making.class, "block~" | "switch~").then(|| Box::new(BlockBox) as _))
}

/// The box of `block~` or `switch~`, until its canvas is ordered: then the canvas itself takes its place.
struct BlockBox;

impl Object for BlockBox {
    crate::state::held!();
}

/// Returns true if Pd sorts the class with the signals.
pub(super) fn is_signal_class(class: &str) -> bool {
    class.ends_with('~') && !matches!(class, "block~" | "switch~" | "samplerate~")
}

/// The number at inlet `at` before any message: arguments go to the inlets that they are for.
pub(crate) fn initial_number(class: &str, at: usize, arguments: &[Value]) -> f32 {
    let first = match class {
        "osc~" | "phasor~" | "cos~" | "tabosc4~" | "delread4~" | "sig~" => 0,
        "rpole~" | "rzero~" | "rzero_rev~" | "pow~" | "log~" | "samphold~" | "slop~" => 1,
        "cpole~" | "czero~" | "czero_rev~" => 2,
        _ => return 0.0,
    };
    let argument = at.checked_sub(first).and_then(|at| arguments.get(at));
    argument.map_or(0.0, |value| value.number())
}
