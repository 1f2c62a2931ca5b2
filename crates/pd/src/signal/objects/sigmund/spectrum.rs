//! A window of samples to its loudest sinusoids.
//!
//! Differences of neighbouring bins of a transform of twice the window are its spectrum under a cosine window. The loudest peak is
//! taken, what it masks is left out, and so on. Then each peak is measured again without what its neighbours add.

use super::super::fourier::BlockFft;
use rt::vectors::{WideWork, widest};
use std::f64::consts::PI;

/// Bins of negative frequencies that are kept.
const NEGATIVE: usize = 4;

/// A sinusoid.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Peak {
    /// In hertz.
    pub frequency: f32,
    pub amplitude: f32,
    pub re: f32,
    pub im: f32,
    /// Amplitude in decibels.
    pub db: f32,
    /// Age as a track: -1 none, 0 an old one, 1 a new one.
    pub age: f32,
}

#[expect(clippy::cast_possible_truncation, reason = "Pd's numbers are floats")]
pub(super) fn narrow(x: f64) -> f32 {
    x as f32
}

/// Pitch in semitones.
pub(super) fn to_pitch(hertz: f32) -> f32 {
    match hertz > 0.0 {
        true => narrow(17.312_340_504_6 * libm::log(0.122_312_205_85 * f64::from(hertz))),
        false => -1500.0,
    }
}

/// Power in decibels.
pub(super) fn to_db(power: f32) -> f32 {
    match power > 0.0 {
        true => {
            narrow(100.0 + 10.0 / crate::constants::LN_10 * libm::log(f64::from(power))).max(0.0)
        }
        false => 0.0,
    }
}

fn sinc(angle: f32, sine: f32) -> f32 {
    match (-0.003..0.003).contains(&angle) {
        true => 1.0,
        false => sine / angle,
    }
}

/// Height of the cosine window's spectrum beside its middle.
fn cosine_window(angle: f32, cosine: f32) -> f32 {
    let beside = |by: f64| narrow(f64::from(angle) + by);
    sinc(beside(PI / 2.0), cosine) + sinc(beside(-PI / 2.0), -cosine)
}

/// Height of the Hann window's spectrum beside its middle.
fn hann_window(angle: f32, sine: f32) -> f32 {
    let beside = |by: f64| sinc(narrow(f64::from(angle) + by), sine);
    narrow(0.5 * f64::from(sinc(angle, sine)) - 0.25 * f64::from(beside(PI) + beside(-PI)))
}

/// The search for bins that stand out.
struct Standing<'a> {
    /// From bin 0 on, up to two behind the last.
    powers: &'a [f32],
    /// From bin 2 on, as what is found.
    masks: &'a [f32],
    heights: &'a mut [u32],
}

impl WideWork for Standing<'_> {
    /// Bits of the greatest power, 0 if none stands out. Bits of positive numbers have the order of these.
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        let Self {
            powers,
            masks,
            heights,
        } = self;
        let (here, right) = (&powers[2..], &powers[4..]);
        let beside = powers.iter().zip(right);
        let bins = here.iter().zip(masks).zip(beside);
        let mut loudest = 0;
        for (height, ((power, mask), (left, right))) in heights.iter_mut().zip(bins) {
            let beside = narrow(0.6 * f64::from(left + right));
            let stands = (*power > 0.0) & (power > mask) & (*power > beside);
            *height = if stands { power.to_bits() } else { 0 };
            loudest = loudest.max(*height);
        }
        loudest
    }
}

/// The masks that a peak adds.
struct Masking<'a> {
    /// From bin `first` on.
    masks: &'a mut [f32],
    first: usize,
    peak: usize,
    power: f32,
}

impl WideWork for Masking<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
        let (mut bin, peak) = (self.first as u32, self.peak as f32);
        for to in self.masks {
            #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
            let distance = bin as f32 - peak;
            bin += 1;
            let square = distance * distance;
            let far = narrow(f64::from(self.power) / (1.0 + f64::from(square * square)));
            let mask = match distance.abs() < 2.0 {
                true => 2.0 * self.power,
                false => far,
            };
            *to = to.max(mask);
        }
    }
}

/// The analysis of one window length, and its memory.
#[derive(Default)]
pub(super) struct Analysis {
    points: usize,
    fft: BlockFft,
    time: Vec<f32>,
    /// Bins from -4.
    re: Vec<f32>,
    im: Vec<f32>,
    /// What peaks mask, then the power of each bin.
    masks: Vec<f32>,
    /// Bits of the power of each bin that stands out, else 0.
    heights: Vec<u32>,
    order: Vec<usize>,
    pub peaks: Vec<Peak>,
    /// Power of the window.
    pub power: f32,
}

impl Analysis {
    /// Prepares it for windows of `points` samples and `max_peaks` peaks.
    pub(super) fn prepare(&mut self, points: usize, max_peaks: usize) {
        if self.points != points {
            self.points = points;
            self.fft.prepare(2 * points);
            self.time = vec![0.0; 2 * points];
            self.re = vec![0.0; 2 * points + NEGATIVE];
            self.im = vec![0.0; 2 * points + NEGATIVE];
            self.masks = vec![0.0; 2 * points + 64];
            self.heights = vec![0; points];
        }
        self.peaks.clear();
        self.peaks.reserve(max_peaks);
        self.order.clear();
        self.order.reserve(max_peaks);
    }

    /// Analyses a window. Leaves at most `max_peaks` peaks below `max_hertz`, and the power.
    pub(super) fn run(&mut self, window: &[f32], rate: f32, max_peaks: usize, max_hertz: f32) {
        self.peaks.clear();
        let points = self.points;
        if window.len() != points {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
        let inverse = narrow(1.0 / f64::from(points as f32));
        let per_bin = narrow(0.5 * f64::from(rate) * f64::from(inverse));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates, and below 0 is 0"
        )]
        let last = ((max_hertz / per_bin) as usize).min(points - NEGATIVE);
        self.transform(window);
        let total = self.powers(last);
        self.power = narrow(0.5 * f64::from(total) * f64::from(inverse) * f64::from(inverse));
        while self.peaks.len() < max_peaks {
            let Some((bin, power)) = self.loudest(last) else {
                break;
            };
            if total <= 0.0 || f64::from(power) < 1e-10 * f64::from(total) {
                break;
            }
            self.mask(last, bin, power);
            let peak = self.peak_at(bin, per_bin, inverse);
            self.peaks.push(peak);
        }
        self.refine(per_bin);
        self.refine(per_bin);
        for peak in &mut self.peaks {
            peak.db = to_db(peak.amplitude);
        }
    }

    fn transform(&mut self, window: &[f32]) {
        let points = self.points;
        self.time[..points].copy_from_slice(window);
        self.time[points..].fill(0.0);
        self.fft.forward(
            &self.time,
            &mut self.re[NEGATIVE..],
            &mut self.im[NEGATIVE..],
        );
        // As Pd's transform gives it: the other sign.
        for im in &mut self.im[NEGATIVE..] {
            *im = -*im;
        }
        (self.im[NEGATIVE], self.im[NEGATIVE + points - 1]) = (0.0, 0.0);
        for bin in 1..=NEGATIVE {
            self.re[NEGATIVE - bin] = self.re[NEGATIVE + bin];
            self.im[NEGATIVE - bin] = -self.im[NEGATIVE + bin];
        }
    }

    /// Differences of the bins beside a bin.
    fn windowed(&self, bin: usize) -> (f32, f32) {
        let at = bin + NEGATIVE;
        (
            self.re[at + 1] - self.re[at - 1],
            self.im[at + 1] - self.im[at - 1],
        )
    }

    /// Computes the power of each bin below `last`; gives the sum.
    fn powers(&mut self, last: usize) -> f32 {
        let points = self.points;
        self.masks.fill(0.0);
        let mut total = 0.0;
        for bin in 0..last {
            let (x, y) = self.windowed(bin);
            let power = x * x + y * y;
            self.masks[points + bin] = power;
            if bin >= 2 {
                total += power;
            }
        }
        total
    }

    /// The loudest bin that stands out and is not masked.
    fn loudest(&mut self, last: usize) -> Option<(usize, f32)> {
        let (masks, powers) = self.masks.split_at(self.points);
        let powers = &powers[..(last + 2).max(4)];
        let bins = 2..last.max(2);
        let heights = &mut self.heights[bins.clone()];
        let loudest = widest(Standing {
            powers,
            masks: &masks[bins],
            heights,
        });
        let at = heights.iter().position(|height| *height == loudest)?;
        (loudest > 0).then(|| (at + 2, f32::from_bits(loudest)))
    }

    /// Masks what lies beside a peak. Pd's masks may reach beyond the bins, into the powers of the lowest ones.
    fn mask(&mut self, last: usize, peak: usize, power: f32) {
        let first = if peak > 52 { peak - 50 } else { 2 };
        let end = last.max(peak + 50).min(self.masks.len());
        let masks = &mut self.masks[first..end];
        widest(Masking {
            masks,
            first,
            peak,
            power,
        });
    }

    fn peak_at(&self, bin: usize, per_bin: f32, inverse: f32) -> Peak {
        let (x, y) = self.windowed(bin);
        let at = bin + NEGATIVE;
        let square = |x: f32| x * x;
        let power = square(x) + square(y);
        let rise = (square(self.re[at + 1]) - square(self.re[at - 1]))
            + (square(self.im[at + 1]) - square(self.im[at - 1]));
        let detune = (rise / (2.0 * power)).clamp(-0.5, 0.5);
        let angle = narrow(PI * f64::from(detune));
        let sine = narrow(libm::sin(f64::from(angle)));
        let cosine = narrow(libm::cos(f64::from(angle)));
        let correct = narrow(1.0 / f64::from(cosine_window(angle, cosine)));
        #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
        let place = bin as f32 + 2.0 * detune;
        Peak {
            frequency: place * per_bin,
            amplitude: inverse * narrow(f64::from(correct) * f64::from(power).sqrt()),
            re: inverse * (correct * (x * cosine - y * sine)),
            im: inverse * (correct * (x * sine + y * cosine)),
            ..Peak::default()
        }
    }

    /// Measures each peak again, without what its neighbours add to the bins around it.
    fn refine(&mut self, per_bin: f32) {
        let Self { peaks, order, .. } = self;
        order.clear();
        order.extend(0..peaks.len());
        order.sort_by(|a, b| peaks[*a].frequency.total_cmp(&peaks[*b].frequency));
        let Some(first) = order.first().map(|at| peaks[*at]) else {
            return;
        };
        let mirrored = Peak {
            frequency: -first.frequency,
            im: -first.im,
            ..first
        };
        let bins_per_hertz = narrow(1.0 / f64::from(per_bin));
        for place in 0..self.order.len() {
            let at = self.order[place];
            #[expect(clippy::cast_possible_truncation, reason = "saturates")]
            let bin = (f64::from(self.peaks[at].frequency * bins_per_hertz) + 0.5) as i64;
            let Ok(bin) = usize::try_from(bin) else {
                continue;
            };
            if bin + 3 > 2 * self.points {
                continue;
            }
            let before = match place {
                0 => mirrored,
                _ => self.peaks[self.order[place - 1]],
            };
            let after = self.order.get(place + 1).map(|at| self.peaks[*at]);
            let (re, im) = self.alone(bin, &[Some(before), after], bins_per_hertz);
            let refined = measured(bin, re, im, per_bin, self.points);
            let peak = &mut self.peaks[at];
            (peak.frequency, peak.amplitude) = (refined.frequency, refined.amplitude);
            (peak.re, peak.im) = (refined.re, refined.im);
        }
    }

    /// Three bins around a peak without what its neighbours add.
    fn alone(
        &self,
        bin: usize,
        neighbours: &[Option<Peak>],
        bins_per_hertz: f32,
    ) -> ([f32; 3], [f32; 3]) {
        #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
        let (points, place) = (self.points as f32, bin as f32);
        let per_bin = narrow((f64::from(points) - 0.5) / f64::from(points));
        let of = |from: &[f32], k: usize| from.get(bin + 2 * k + NEGATIVE - 2).copied();
        let mut re = [0, 1, 2].map(|k| of(&self.re, k).unwrap_or(0.0));
        let mut im = [0, 1, 2].map(|k| of(&self.im, k).unwrap_or(0.0));
        for neighbour in neighbours.iter().flatten() {
            let (x, y) = (points * neighbour.re, points * neighbour.im);
            for (k, offset) in [-2.0, 0.0, 2.0].into_iter().enumerate() {
                let distance = (place + offset) - bins_per_hertz * neighbour.frequency;
                let angle = narrow((0.5 * PI) * f64::from(distance));
                let height = sinc(angle, narrow(libm::sin(f64::from(angle))));
                let phase = f64::from(angle * per_bin);
                let (c, s) = (narrow(libm::cos(phase)), narrow(libm::sin(phase)));
                re[k] -= height * (c * x - s * y);
                im[k] -= height * (s * x + c * y);
            }
        }
        (re, im)
    }
}

/// The sinusoid that three bins are of.
fn measured(bin: usize, re: [f32; 3], im: [f32; 3], per_bin: f32, points: usize) -> Peak {
    #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
    let inverse = narrow(1.0 / points as f64);
    let wide = |x: f32| f64::from(x);
    let hann = |x: [f32; 3]| narrow(0.5 * wide(x[1]) - 0.25 * wide(x[0] + x[2]));
    let (x, y) = (hann(re), hann(im));
    let power = x * x + y * y;
    let rise = |x: [f32; 3]| 0.5 * wide(x[0] - x[2]) * (wide(x[1]) - 0.5 * wide(x[0] + x[2]));
    let detune = narrow((rise(re) + rise(im)) / (4.0 * wide(power)));
    let detune = if detune > 0.5 { 0.5 } else { detune };
    let detune = if detune < -0.5 { -0.5 } else { detune };
    let angle = narrow(PI * wide(detune));
    let sine = narrow(libm::sin(wide(angle)));
    let cosine = narrow(libm::cos(wide(angle)));
    let correct = narrow(1.0 / wide(hann_window(angle, sine)));
    let scale = inverse * correct;
    #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
    let place = bin as f32 + 2.0 * detune;
    Peak {
        frequency: place * per_bin,
        amplitude: narrow(wide(scale) * wide(power).sqrt()),
        re: scale * (x * cosine - y * sine),
        im: scale * (x * sine + y * cosine),
        ..Peak::default()
    }
}
