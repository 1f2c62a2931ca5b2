//! [`ZoneFilter`]: the filter of a zone, with the cutoff of each note.
//!
//! ```text
//! two poles     H(s) = 1, s², s/q or 1 + s² over s² + s/q + 1, trapezoidal, at the cutoff: low, high, band and what is around a band
//! one pole      1 or s over s + 1: both over and under the line times s + 1, so the same section with q = 1/2
//! four poles    two sections, with q = 0.541 (as in a filter of Butterworth) and with the rest of q
//! q = 10^(resonance / 20), so low and high of two and of four poles pass the cutoff at `resonance` dB; the peak of the band is 0 dB
//! freq = cutoff × 2^((keytrack (pitch - center) + veltrack × velocity) / 1200)
//! ```

use crate::kernel::Resonator;

/// Time in which the sound of a filter ends that has no input any more: 100 dB, and at most so many seconds.
const SILENCE: f64 = 1e-5;
const MAX_RING_S: f64 = 5.0;

/// The q of the gentler section of a filter of Butterworth with four poles: 1 / (2 cos(π / 8)).
const GENTLE_Q: f64 = 0.541_196_100_146_197;

/// The state of both sections.
pub(super) type FilterState = [f64; 4];

/// Two sections, of which filters of up to two poles use the first one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sections {
    first: Resonator,
    second: Resonator,
}

/// The frequencies that a filter lets through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FilterKind {
    #[default]
    Low,
    High,
    Band,
    /// All but a band.
    Notch,
    /// Low and high, with one pole.
    LowOne,
    HighOne,
    /// Low and high, with four poles.
    LowFour,
    HighFour,
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
    pub(super) fn at(&self, cutoff: f64, rate: f64) -> Sections {
        let q = libm::exp10(self.resonance_db / 20.0);
        let [first, second] = match self.kind {
            FilterKind::LowOne | FilterKind::HighOne => [0.5; 2],
            FilterKind::LowFour | FilterKind::HighFour => [GENTLE_Q, q / GENTLE_Q],
            _ => [q; 2],
        };
        Sections {
            first: Resonator::new(cutoff, first, rate),
            second: Resonator::new(cutoff, second, rate),
        }
    }

    /// Frames until it is silent when its input is.
    ///
    /// Real-time: hot.
    pub(super) fn ring(&self, Sections { first, second }: Sections, rate: f64) -> u64 {
        let frames = |section: Resonator| {
            libm::log(SILENCE) / libm::log(section.pole_radius().clamp(1e-9, 0.999_999_9))
        };
        let frames = match self.kind {
            FilterKind::LowFour | FilterKind::HighFour => frames(first) + frames(second),
            _ => frames(first),
        };
        frames.min(MAX_RING_S * rate) as u64 + 2
    }

    /// One sample.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn tick(&self, sections: Sections, state: &mut FilterState, x: f64) -> f64 {
        let [low, band, high] = tick(sections.first, &mut state[..2], x);
        let mut more = |x| tick(sections.second, &mut state[2..], x);
        match self.kind {
            FilterKind::Low => low,
            FilterKind::High => high,
            FilterKind::Band => band,
            FilterKind::Notch => x - band,
            // With this q the band is twice as large.
            FilterKind::LowOne => low + 0.5 * band,
            FilterKind::HighOne => high + 0.5 * band,
            FilterKind::LowFour => more(low)[0],
            FilterKind::HighFour => more(high)[2],
            FilterKind::Unknown => x,
        }
    }
}

/// One step of a section: low, band and high.
#[inline(always)]
fn tick(section: Resonator, state: &mut [f64], x: f64) -> [f64; 3] {
    let [low, band] = section.tick(state, x);
    let band = section.k * band;
    [low, band, x - band - low]
}
