//! [`ZoneFilter`]: the filter of a zone, with the cutoff of each note.
//!
//! ```text
//! two poles     H(s) = 1, s², s/q or 1 + s² over s² + s/q + 1, trapezoidal, at the cutoff: low, high, band and what is around a band
//! one pole      1 or s over s + 1: both over and under the line times s + 1, so the same section with q = 1/2
//! four poles    two sections, with q = 0.541 (as in a filter of Butterworth) and with the rest of q
//! six poles     three sections, with q = 0.518 and 0.707 (likewise) and with the rest of q
//! q = 10^(resonance / 20), so low and high of two, four and six poles pass the cutoff at `resonance` dB; the peak of the band is 0 dB
//! freq = cutoff × 2^((keytrack (pitch - center) + veltrack × velocity) / 1200)
//! ```

use crate::kernel::Resonator;

/// Time in which the sound of a filter ends that has no input any more: 100 dB, and at most so many seconds.
const SILENCE: f64 = 1e-5;
const MAX_RING_S: f64 = 5.0;

/// The q of the gentler section of a filter of Butterworth with four poles: 1 / (2 cos(π / 8)).
const GENTLE_Q: f64 = 0.541_196_100_146_197;

/// The same with six poles, of the two gentler sections: 1 / (2 cos(π / 12)) and 1 / (2 cos(π / 4)).
const GENTLE_SIX: [f64; 2] = [0.517_638_090_205_041_5, std::f64::consts::FRAC_1_SQRT_2];

/// The state of all sections.
pub(super) type FilterState = [f64; 6];

/// Three sections; a filter uses as many as it has pairs of poles.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sections([Resonator; 3]);

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
    /// With six poles.
    LowSix,
    HighSix,
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
        let [gentle, middle] = GENTLE_SIX;
        let qs = match self.kind {
            FilterKind::LowOne | FilterKind::HighOne => [0.5; 3],
            FilterKind::LowFour | FilterKind::HighFour => [GENTLE_Q, q / GENTLE_Q, q],
            FilterKind::LowSix | FilterKind::HighSix => [gentle, middle, q / (gentle * middle)],
            _ => [q; 3],
        };
        Sections(qs.map(|q| Resonator::new(cutoff, q, rate)))
    }

    /// Frames until it is silent when its input is.
    ///
    /// Real-time: hot.
    pub(super) fn ring(&self, Sections(sections): Sections, rate: f64) -> u64 {
        let frames = |section: Resonator| {
            libm::log(SILENCE) / libm::log(section.pole_radius().clamp(1e-9, 0.999_999_9))
        };
        let used = match self.kind {
            FilterKind::LowSix | FilterKind::HighSix => 3,
            FilterKind::LowFour | FilterKind::HighFour => 2,
            _ => 1,
        };
        let frames: f64 = sections.into_iter().take(used).map(frames).sum();
        frames.min(MAX_RING_S * rate) as u64 + 2
    }

    /// One sample.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(super) fn tick(&self, sections: Sections, state: &mut FilterState, x: f64) -> f64 {
        let Sections([first, second, third]) = sections;
        let [a, b, c] = pairs(state);
        let [low, band, high] = tick(first, a, x);
        match self.kind {
            FilterKind::Low => low,
            FilterKind::High => high,
            FilterKind::Band => band,
            FilterKind::Notch => x - band,
            // With this q the band is twice as large.
            FilterKind::LowOne => low + 0.5 * band,
            FilterKind::HighOne => high + 0.5 * band,
            FilterKind::LowFour => tick(second, b, low)[0],
            FilterKind::HighFour => tick(second, b, high)[2],
            FilterKind::LowSix => {
                let [low, _, _] = tick(second, b, low);
                tick(third, c, low)[0]
            }
            FilterKind::HighSix => {
                let [_, _, high] = tick(second, b, high);
                tick(third, c, high)[2]
            }
            FilterKind::Unknown => x,
        }
    }
}

/// The state of each section.
#[inline(always)]
fn pairs(state: &mut FilterState) -> [&mut [f64]; 3] {
    let (a, rest) = state.split_at_mut(2);
    let (b, c) = rest.split_at_mut(2);
    [a, b, c]
}

/// One step of a section: low, band and high.
#[inline(always)]
fn tick(section: Resonator, state: &mut [f64], x: f64) -> [f64; 3] {
    let [low, band] = section.tick(state, x);
    let band = section.k * band;
    [low, band, x - band - low]
}
