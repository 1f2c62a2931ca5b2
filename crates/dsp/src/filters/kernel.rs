//! [`FilterKernel`]: the arithmetic of one recursive filter, and the parameters, coefficients and states that all of them have.
//!
//! State and coefficients are `f64`: at low frequencies and high rates the poles lie so close to 1 that `f32` would move
//! them audibly.

use crate::filters::groups::Transition;
use crate::filters::lanes::Number;
use crate::param::ParamSpec;
use processor::StateError;

/// A state of smaller magnitude counts as silence.
pub(super) const SILENT_STATE: f64 = 1e-15;
/// A state below 1e9 is below [`SILENT_STATE`] when it has shrunk by e^55.
pub(super) const NEPERS_TO_SILENCE: f64 = 55.0;

/// Memory of one channel: the two integrators or delays of a second-order filter.
pub(crate) type FilterState = [f64; 2];
/// Coefficients in the order in which a ramp moves them and a saved state holds them; unused ones are 0.
pub(crate) type CoefficientArray = [f64; 5];

/// Named coefficients, and what makes them an array and back: a ramp knows no names.
macro_rules! coefficients {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident,)* }) => {
        $(#[$doc])*
        pub(super) struct $name {
            $($(#[$field_doc])* $field: f64,)*
        }

        impl From<CoefficientArray> for $name {
            #[inline(always)]
            fn from([$($field,)* ..]: CoefficientArray) -> Self {
                Self { $($field),* }
            }
        }

        impl From<$name> for CoefficientArray {
            fn from(coefficients: $name) -> Self {
                let mut all = [0.0; 5];
                let own = [$(coefficients.$field),*];
                all[..own.len()].copy_from_slice(&own);
                all
            }
        }
    };
}
pub(super) use coefficients;

/// Parameters of a filter. One that a kernel does not have keeps its default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FilterParams {
    /// Frequency: in Hz as the node has it, in cycles per frame as a kernel gets it.
    pub(crate) freq: f64,
    /// Resonance.
    pub(crate) q: f64,
    /// Gain of a peak or a shelf, in dB.
    pub(crate) gain_db: f64,
}

impl FilterParams {
    pub(super) fn to_array(self) -> [f64; 3] {
        [self.freq, self.q, self.gain_db]
    }

    pub(super) fn from_array([freq, q, gain_db]: [f64; 3]) -> Self {
        Self { freq, q, gain_db }
    }
}

/// Arithmetic of one kind of recursive filter with `OUTS` outputs.
pub(crate) trait FilterKernel<const OUTS: usize>: Clone + Send + 'static {
    /// The kernel's coefficients by name.
    type Coefficients: From<CoefficientArray> + Into<CoefficientArray>;

    /// Parameters that the kind has, in the order of [`FilterParams`]'s fields.
    const PARAMS: &'static [ParamSpec];

    /// Number of the form of its coefficients and states. A saved state of another form is refused: a program of another day may have
    /// left it.
    const FORM: u32 = 0;

    /// Coefficients for `params`, whose frequency is in cycles per frame and below 0.5.
    ///
    /// Real-time: hot.
    fn coefficients(&self, params: FilterParams) -> Self::Coefficients;

    /// Number of numbers of a state that count.
    const STATES: usize = 2;

    /// The step from a state to the next one.
    ///
    /// Real-time: hot.
    fn transition(&self, coefficients: &Self::Coefficients) -> Transition;

    /// The outputs of a frame, or of several, with the states before them.
    ///
    /// Real-time: hot.
    fn outputs<T: Number>(
        &self,
        coefficients: &Self::Coefficients,
        state: [T; 2],
        x: T,
    ) -> [T; OUTS];

    /// Filters one sample.
    ///
    /// Real-time: hot.
    #[inline(always)]
    fn tick(
        &self,
        coefficients: &Self::Coefficients,
        state: &mut FilterState,
        x: f64,
    ) -> [f64; OUTS] {
        let y = self.outputs(coefficients, *state, x);
        *state = self.transition(coefficients).step(Self::STATES, *state, x);
        y
    }

    /// Largest magnitude of a pole: how much of the state remains after a frame, at the slowest.
    fn pole_radius(&self, coefficients: &Self::Coefficients) -> f64;
}

/// The frequency that all filters have.
pub(crate) const FREQ: ParamSpec = ParamSpec::new(0, "freq", (1.0, 384_000.0), 1000.0)
    .unit("Hz")
    .doc("Where it bends or peaks; held below 0.49 of the sample rate.")
    .audio_rate();

/// The mark of a form, in the upper half of a word of a state.
pub(super) fn form_mark(form: u32) -> u64 {
    u64::from(form) << 32
}

/// Checks the mark in a word of a state.
pub(super) fn check_form(word: u64, form: u32) -> Result<(), StateError> {
    match word >> 32 == u64::from(form) {
        true => Ok(()),
        false => Err(StateError(
            "the state is one of another form of the filter".into(),
        )),
    }
}
