//! Peaks to a fundamental frequency, and peaks to tracks.

use super::spectrum::{Peak, narrow};
use std::f64::consts::LN_2;

/// Peaks that count, the loudest.
const SALIENT: usize = 12;
/// Fundamentals that a peak may be a partial of.
const SUBHARMONICS: u32 = 16;

/// How pitches are guessed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guess {
    /// How slowly the weight of a peak falls with the number of its partial.
    pub partials: f32,
    /// Exponent from amplitude to weight.
    pub power: f32,
}

/// Memory for weights of pitches, 48 an octave.
pub(super) const MAX_WEIGHTS: usize = 48 * 24;

/// The fundamental in hertz, 0 if there is none.
pub(super) fn fundamental(
    peaks: &[Peak],
    points: usize,
    rate: f32,
    guess: Guess,
    weights: &mut [f32; MAX_WEIGHTS],
) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
    let per_bin = narrow(0.5 * f64::from(rate) / points as f64);
    let count = (48 * points.ilog2() as usize).min(MAX_WEIGHTS);
    let weights = &mut weights[..count];
    weights.fill(0.0);
    let mut salient = [0; SALIENT];
    let salient = loudest(peaks, &mut salient);
    let mut total = 0.0_f32;
    for at in salient.iter() {
        total += add_weights(weights, &peaks[*at], per_bin, guess);
    }
    let Some(pitch) = heaviest(weights, total) else {
        return 0.0;
    };
    let frequency = narrow(2.0 * f64::from(per_bin) * libm::exp((LN_2 / 48.0) * f64::from(pitch)));
    let frequency = mean_of_partials(peaks, salient, frequency);
    if frequency.is_nan() { 0.0 } else { frequency }
}

/// Indices of the loudest peaks, the loudest first.
fn loudest<'s>(peaks: &[Peak], found: &'s mut [usize; SALIENT]) -> &'s [usize] {
    let mut count = 0;
    while count < SALIENT {
        let mut best: Option<usize> = None;
        for at in 0..peaks.len() {
            let is_louder = best.is_none_or(|best| peaks[at].db > peaks[best].db);
            if is_louder && !found[..count].contains(&at) {
                best = Some(at);
            }
        }
        let Some(best) = best else {
            break;
        };
        found[count] = best;
        count += 1;
    }
    &found[..count]
}

/// Adds a peak's weight to every fundamental that it may be a partial of. Gives its loudness.
fn add_weights(weights: &mut [f32], peak: &Peak, per_bin: f32, guess: Guess) -> f32 {
    let place = f64::from(peak.frequency) / (2.0 * f64::from(per_bin));
    let place = narrow((48.0 / LN_2) * libm::log(place));
    let loudness = narrow(libm::pow(f64::from(peak.amplitude), f64::from(guess.power)));
    for partial in 0..SUBHARMONICS {
        let below = (48.0 / LN_2) * libm::log(f64::from(partial) + 1.0);
        let place = narrow(f64::from(place) - below);
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        let low = (f64::from(place) - 0.5) as i64;
        let Ok(high) = usize::try_from(low.saturating_add(2)) else {
            break;
        };
        if high >= weights.len() {
            continue;
        }
        let low = usize::try_from(low).unwrap_or(0);
        #[expect(clippy::cast_precision_loss, reason = "at most 15")]
        let weight = loudness * guess.partials / (guess.partials + partial as f32);
        for to in &mut weights[low..=high] {
            *to += weight;
        }
    }
    loudness
}

/// The heaviest pitch, between its neighbours; `None` if it has too little of the total.
fn heaviest(weights: &[f32], total: f32) -> Option<f32> {
    let mut best = None;
    let mut max = -1e20;
    for (at, weight) in weights.iter().enumerate() {
        if *weight > max {
            (max, best) = (*weight, Some(at));
        }
    }
    let at = best?;
    if f64::from(max) < f64::from(total) * 0.4 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let place = at as f32;
    if at == 0 || at + 1 >= weights.len() {
        return Some(place);
    }
    let (left, right) = (weights[at - 1], weights[at + 1]);
    Some(place + (right - left) / (right + weights[at] + left))
}

/// Mean of what the partials say that the fundamental is.
fn mean_of_partials(peaks: &[Peak], salient: &[usize], frequency: f32) -> f32 {
    let (mut weights, mut sum) = (0.0_f32, 0.0_f32);
    for peak in salient.iter().map(|at| &peaks[*at]) {
        let place = peak.frequency / frequency;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            reason = "saturates"
        )]
        let partial = (0.5 + f64::from(place)) as i32 as f32;
        let error = f64::from(place - partial);
        let limit = 0.015 * f64::from(partial);
        if (1.0..=16.0).contains(&partial) && error < limit && error > -limit {
            let weight = peak.amplitude * partial;
            weights += weight;
            sum += weight * peak.frequency / partial;
        }
    }
    if weights > 0.0 {
        sum / weights
    } else {
        frequency
    }
}

/// Goes on with tracks: each peak to the nearest one, what is left to those that are free.
pub(super) fn follow(peaks: &mut [Peak], tracks: &mut [Peak], max_error: f32) {
    for track in tracks.iter_mut() {
        track.age = -1.0;
    }
    for peak in peaks.iter_mut() {
        peak.age = -1.0;
        let mut best = None;
        let mut min = 1e20;
        for (at, track) in tracks.iter().enumerate() {
            let error = (peak.frequency - track.frequency).abs();
            if track.amplitude != 0.0 && error < min {
                (min, best) = (error, Some(at));
            }
        }
        if let Some(at) = best
            && min < max_error
            && tracks[at].age < 0.0
        {
            peak.age = 0.0;
            tracks[at] = *peak;
        }
    }
    for peak in peaks.iter_mut().filter(|peak| peak.age < 0.0) {
        if let Some(track) = tracks.iter_mut().find(|track| track.age < 0.0) {
            *track = *peak;
            track.age = 1.0;
            peak.age = 0.0;
        }
    }
    for track in tracks.iter_mut().filter(|track| track.age < 0.0) {
        track.amplitude = 0.0;
    }
}
