//! [`Band`]: a filter of a bank, as short pieces of an oscillation under a window.

use super::{MAX_BANDS, narrow};
use std::f64::consts::PI;

/// Half the width of a peak at half its power, in bins.
const HALF_WIDTH: f64 = 0.75;
/// Distance of successive pieces, of their length.
const SLIDE: f64 = 0.25;

/// How bands lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct BandSettings {
    pub points: usize,
    pub count: usize,
    pub halftones: f32,
    pub overlap: f32,
    pub first_bin: f32,
    pub min_width: f32,
}

impl Default for BandSettings {
    fn default() -> Self {
        Self {
            points: 256,
            count: 11,
            halftones: 6.0,
            overlap: 1.0,
            first_bin: 1.0,
            min_width: 1.5,
        }
    }
}

impl BandSettings {
    /// Holds the settings within what Pd allows.
    pub(super) fn hold(&mut self) {
        if self.points < 64 {
            self.points = 256;
        }
        self.points = self.points.min(1 << 16);
        if self.count < 1 {
            self.count = 11;
        }
        self.count = self.count.min(MAX_BANDS);
        self.halftones = match self.halftones {
            few if few < 0.01 => 6.0,
            halftones => halftones.min(12.0),
        };
        self.first_bin = self.first_bin.max(0.5);
        self.overlap = self.overlap.max(1.0);
    }
}

/// A filter of a bank.
#[derive(Clone, Debug, Default)]
pub(super) struct Band {
    /// Frames before the first piece.
    skip: usize,
    hop: usize,
    pieces: usize,
    /// Real and imaginary part for each frame of a piece; nothing for a band beyond half the rate.
    weights: Vec<(f32, f32)>,
}

impl Band {
    /// Power of a window in this band.
    pub(super) fn power(&self, window: &[f32]) -> f32 {
        let mut power = 0.0;
        for piece in 0..self.pieces {
            let from = self.skip + piece * self.hop;
            let (mut re, mut im) = (0.0_f32, 0.0_f32);
            for (x, (a, b)) in window[from..].iter().zip(&self.weights) {
                re += x * a;
                im += x * b;
            }
            power += re * re + im * im;
        }
        power
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "as in Pd"
    )]
    fn new(points: usize, center: f32, width: f32) -> Option<Self> {
        let length = (points as f64 * HALF_WIDTH / f64::from(width)) as usize;
        if center > (points / 2) as f32 || length < 4 {
            return None;
        }
        let length = length.min(points);
        let hop = (SLIDE * points as f64 * HALF_WIDTH / f64::from(width)) as usize;
        let hop = hop.clamp(1, points);
        let pieces = (1.0 + f64::from((points - length) as f32 / hop as f32)) as usize;
        let skip = (points - length - (pieces - 1) * hop) / 2;
        let mut sum = 0.0_f32;
        let mut weights: Vec<(f32, f32)> = (0..length)
            .map(|at| {
                let phase = f64::from(at as f32 * center) * (2.0 * PI / points as f64);
                let phase = f64::from(narrow(phase));
                let place = narrow(at as f64 * (2.0 * PI / length as f64));
                let window = narrow(libm::sin(0.5 * f64::from(place)));
                sum += window;
                let weight = |x: f64| narrow(f64::from(window) * x);
                (weight(libm::cos(phase)), weight(libm::sin(phase)))
            })
            .collect();
        let scale = narrow(1.0 / (f64::from(sum) * (pieces as f64).sqrt()));
        for (re, im) in &mut weights {
            (*re, *im) = (*re * scale, *im * scale);
        }
        Some(Self {
            skip,
            hop,
            pieces,
            weights,
        })
    }
}

/// The filters of a bank; those beyond half the rate give nothing.
pub(super) fn bands(settings: &BandSettings) -> Vec<Band> {
    let BandSettings { overlap, .. } = *settings;
    let ratio = narrow(libm::exp(
        (std::f64::consts::LN_2 / 12.0) * f64::from(settings.halftones),
    ));
    let spacing = (ratio - 1.0) / (ratio + 1.0);
    let min_width = settings.min_width.max(1.5);
    let mut center = settings.first_bin.max(min_width / 1.5);
    let mut width = (center * spacing * overlap).max(0.5 * min_width);
    let mut bands = Vec::with_capacity(settings.count);
    while bands.len() < settings.count {
        let Some(band) = Band::new(settings.points, center, width) else {
            break;
        };
        bands.push(band);
        let next = (center + width / overlap) / (1.0 - spacing);
        width = next * overlap * spacing;
        center = match width < 0.5 * min_width {
            true => center + min_width / overlap,
            false => next,
        };
        width = width.max(0.5 * min_width);
    }
    bands.resize(settings.count, Band::default());
    bands
}
