//! [`ZoneFilter`]: the filter of a zone, with the cutoff of each note.
//!
//! ```text
//! H(s) = 1, s², s/q or 1 + s² over s² + s/q + 1, trapezoidal, at the cutoff: low, high, band and what is around a band
//! q = 10^(resonance / 20), so low and high pass the cutoff at `resonance` dB; the peak of the band is 0 dB
//! freq = cutoff × 2^((keytrack (pitch - center) + veltrack × velocity) / 1200)
//! ```

use crate::kernel::Resonator;

/// Time in which the sound of a filter ends that has no input any more: 100 dB, and at most so many seconds.
const SILENCE: f64 = 1e-5;
const MAX_RING_S: f64 = 5.0;

/// The frequencies that a filter lets through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FilterKind {
    #[default]
    Low,
    High,
    Band,
    /// All but a band.
    Notch,
    /// A kind that is not known: there is no filter.
    Unknown,
}

/// The filter of a zone. Without a cutoff there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ZoneFilter {
    pub(super) kind: FilterKind,
    /// In Hz.
    pub(super) cutoff: Option<f64>,
    pub(super) resonance_db: f64,
    /// In cents: for the highest velocity, and for each key above the center.
    pub(super) veltrack: f64,
    pub(super) keytrack: f64,
    pub(super) center: f64,
}

impl Default for ZoneFilter {
    fn default() -> Self {
        Self {
            kind: FilterKind::Low,
            cutoff: None,
            resonance_db: 0.0,
            veltrack: 0.0,
            keytrack: 0.0,
            center: 60.0,
        }
    }
}

impl ZoneFilter {
    /// Cutoff of a note, in Hz, if there is a filter.
    ///
    /// Real-time: hot.
    pub(super) fn cutoff_of(&self, pitch: f64, velocity: f64) -> Option<f64> {
        let cutoff = self.cutoff.filter(|_| self.kind != FilterKind::Unknown)?;
        let cents = self.keytrack * (pitch - self.center) + self.veltrack * velocity;
        Some((cutoff * libm::exp2((cents / 1200.0).clamp(-16.0, 16.0))).clamp(1.0, 1e6))
    }

    /// The filter at a cutoff.
    ///
    /// Real-time: hot.
    pub(super) fn at(&self, cutoff: f64, rate: f64) -> Resonator {
        Resonator::new(cutoff, libm::exp10(self.resonance_db / 20.0), rate)
    }

    /// Frames until it is silent when its input is.
    ///
    /// Real-time: hot.
    pub(super) fn ring(resonator: Resonator, rate: f64) -> u64 {
        let frames =
            libm::log(SILENCE) / libm::log(resonator.pole_radius().clamp(1e-9, 0.999_999_9));
        frames.min(MAX_RING_S * rate) as u64 + 2
    }

    /// One sample. `state` has two numbers.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn tick(&self, resonator: Resonator, state: &mut [f64; 2], x: f64) -> f64 {
        let [low, band] = resonator.tick(state, x);
        let band = resonator.k * band;
        match self.kind {
            FilterKind::Low => low,
            FilterKind::High => x - band - low,
            FilterKind::Band => band,
            FilterKind::Notch => x - band,
            FilterKind::Unknown => x,
        }
    }
}
