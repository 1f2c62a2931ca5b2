//! [`TempoJob`]: the spectral flux of a window and, where it is asked for, the tempo of the fluxes before.
//!
//! ```text
//! e = (flux - its mean) * (1 4 6 4 1) / 16: a stroke between two hops is as large as one at a hop
//! r(τ) = Σ e(n) e(n - τ) / (N - τ), over the last ten seconds
//! s(τ) = w(τ) (r(τ) + max(r(2τ - 1), r(2τ), r(2τ + 1)))      w = exp(-(log2(τ / 0.5 s) / 0.9)² / 2)
//! ```
//!
//! The largest s is the period, from 40 to 240 beats a minute: D. Ellis, "Beat tracking by dynamic programming", *J. New Music
//! Research* 36 (2007), with the largest of three for the double period. It is found exactly on r around two and four periods. The beats lie where
//! the sum of the fluxes a period apart is largest.

use super::flux::{FLUX_WORDS, FluxJob};
use super::pitch_job::Peak;
use super::window_tracker::{WindowJob, hop};
use super::words::{put_numbers, put_samples, read_numbers, read_samples};
use processor::WordJob;
use rt::deferred::PiecewiseJob;

/// Fluxes that are looked at: ten seconds.
pub(super) const FLUXES: usize = 1024;
/// Fewest fluxes that have a tempo.
const MIN_FLUXES: usize = 400;
/// Slowest and fastest tempo.
pub(super) const RANGE_BPM: (f64, f64) = (40.0, 240.0);
/// Period that is preferred, and how far around it.
const PREFERRED_S: f64 = 0.5;
const OCTAVES: f64 = 0.9;
/// Weights of a flux and of its neighbours.
const SMOOTHING: [f64; 5] = [0.0625, 0.25, 0.375, 0.25, 0.0625];
/// Lags of a piece, and places of a beat: some microseconds.
const LAGS: usize = 8;
const PLACES: usize = 16;
/// Places in a hop at which a beat may lie.
const PLACES_PER_HOP: usize = 4;
/// Words of a request before its fluxes: whether a tempo is asked for, and how many fluxes there are.
const HEAD: usize = 2;
/// Products that are added up side by side.
const SUMS: usize = 4;

/// What was found in the fluxes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Tempo {
    /// Hops from beat to beat.
    pub(super) period: f64,
    /// Hops from the last beat to the newest flux.
    pub(super) since: f64,
    /// Likeness of one period to the next, up to 1.
    pub(super) clarity: f64,
}

#[derive(Clone, Copy)]
enum TempoPiece {
    Flux,
    Centre,
    /// From this lag on.
    Likeness(usize),
    Period,
    /// From this place on.
    Beat(usize),
}

/// The work on one window.
pub(super) struct TempoJob {
    pub(super) flux: FluxJob,
    /// The fluxes before, the oldest first, and how many of them there are, the last ones.
    pub(super) fluxes: Vec<f32>,
    pub(super) count: usize,
    /// Hops in a second.
    hop_rate: f64,
    /// The fluxes without their mean, smoothed.
    centred: Vec<f64>,
    likeness: Vec<f64>,
    /// Of the places of the beat that were looked at.
    strongest: f64,
    next: TempoPiece,
    /// True if a tempo is asked for.
    pub(super) is_wanted: bool,
    /// The tempo, if one was asked for and there is one.
    pub(super) result: Option<Tempo>,
}

impl TempoJob {
    /// For sounds at a rate in Hz.
    ///
    /// Real-time: setup.
    pub(super) fn new(rate: f64) -> Self {
        let hop_rate = rate / hop(rate) as f64;
        let longest = hop_rate * 60.0 / RANGE_BPM.0;
        Self {
            flux: FluxJob::new(rate),
            fluxes: vec![0.0; FLUXES],
            count: 0,
            hop_rate,
            centred: vec![0.0; FLUXES],
            likeness: vec![0.0; (4.0 * longest) as usize + 4],
            strongest: 0.0,
            next: TempoPiece::Flux,
            is_wanted: false,
            result: None,
        }
    }

    /// Smooths the fluxes and takes off their mean. Returns false if there are too few.
    fn centre(&mut self) -> bool {
        if self.count < MIN_FLUXES {
            return false;
        }
        let fluxes = &self.fluxes[FLUXES - self.count..];
        let mean = fluxes.iter().map(|x| f64::from(*x)).sum::<f64>() / self.count as f64;
        let flux = |at: Option<usize>| at.and_then(|at| fluxes.get(at)).copied().unwrap_or(0.0);
        for (at, to) in self.centred[..self.count].iter_mut().enumerate() {
            let near = SMOOTHING.iter().enumerate();
            let sum = near.map(|(k, weight)| weight * f64::from(flux((at + k).checked_sub(2))));
            *to = sum.sum::<f64>() - mean;
        }
        true
    }

    /// r(lag); 0 where too few fluxes would be compared.
    fn likeness(&self, lag: usize) -> f64 {
        let all = &self.centred[..self.count];
        if lag * 2 > all.len() {
            return 0.0;
        }
        let pairs = all[lag..].iter().zip(all);
        let mut sums = [0.0; SUMS];
        for (at, (a, b)) in pairs.enumerate() {
            sums[at % SUMS] += a * b;
        }
        sums.iter().sum::<f64>() / (all.len() - lag) as f64
    }

    /// The lag with the largest s.
    fn period(&self) -> Option<usize> {
        let r = &self.likeness;
        let score = |lag: usize| {
            let octaves = libm::log2(lag as f64 / (PREFERRED_S * self.hop_rate)) / OCTAVES;
            let double = r[2 * lag].max(r[2 * lag - 1]).max(r[2 * lag + 1]);
            libm::exp(-0.5 * octaves * octaves) * (r[lag] + double)
        };
        let lag = |bpm: f64| self.hop_rate * 60.0 / bpm;
        let lags = lag(RANGE_BPM.1) as usize..=lag(RANGE_BPM.0) as usize;
        let lags = lags.filter(|lag| *lag > 1 && r[*lag] > 0.0);
        let best = lags.max_by(|a, b| score(*a).total_cmp(&score(*b)))?;
        (score(best) > 0.0).then_some(best)
    }

    /// The period near a lag, from r around one, two and four of it.
    fn refine(&self, lag: usize) -> f64 {
        let r = &self.likeness;
        let mut period = lag as f64;
        for times in [1.0, 2.0, 4.0] {
            let middle = (period * times).round() as usize;
            let near = middle.saturating_sub(2).max(1)..=(middle + 2).min(r.len() - 2);
            let Some(top) = near.max_by(|a, b| r[*a].total_cmp(&r[*b])) else {
                return period;
            };
            if r[top] <= 0.0 || r[top] < r[top - 1] || r[top] < r[top + 1] {
                return period;
            }
            period = Peak::of(r, top).at / times;
        }
        period
    }

    /// Sum of the fluxes a period apart, from `since` hops before the newest one back.
    fn strength(&self, period: f64, since: f64) -> f64 {
        let fluxes = &self.centred[..self.count];
        let mut at = (self.count - 1) as f64 - since;
        let mut sum = 0.0;
        while at >= 0.0 {
            let (index, part) = (at as usize, at.fract());
            let next = fluxes.get(index + 1).unwrap_or(&fluxes[index]);
            sum += fluxes[index] * (1.0 - part) + next * part;
            at -= period;
        }
        sum
    }

    /// The period and how like it is to the next, with the beat at the newest flux for now.
    fn found_period(&self) -> Option<Tempo> {
        let lag = self.period()?;
        Some(Tempo {
            period: self.refine(lag),
            since: 0.0,
            clarity: (self.likeness[lag] / self.likeness[0]).clamp(0.0, 1.0),
        })
    }

    /// Looks for the beat at places from `first` on. Returns the next one to look at, if there is one.
    fn look_for_beat(&mut self, first: usize) -> Option<usize> {
        let mut found = self.result?;
        let places = (found.period * PLACES_PER_HOP as f64) as usize;
        let end = (first + PLACES).min(places);
        for place in first..end {
            let since = place as f64 / PLACES_PER_HOP as f64;
            let strength = self.strength(found.period, since);
            // The later one of two equals, as with the largest of all.
            if place == 0 || strength >= self.strongest {
                self.strongest = strength;
                found.since = since;
            }
        }
        self.result = Some(found);
        (end < places).then_some(end)
    }
}

impl WindowJob for TempoJob {
    fn window(&mut self) -> &mut [f32] {
        self.flux.window()
    }

    fn begin(&mut self) {
        self.flux.begin();
        (self.next, self.result) = (TempoPiece::Flux, None);
    }
}

impl WordJob for TempoJob {
    fn words(&self) -> (usize, usize) {
        let (window, _) = WordJob::words(&self.flux);
        (HEAD + FLUXES + window, FLUX_WORDS + 1 + 6)
    }

    fn write_request(&self, words: &mut [u32]) {
        words[0] = u32::from(self.is_wanted);
        words[1] = self.count as u32;
        put_samples(&mut words[HEAD..], &self.fluxes);
        self.flux.write_request(&mut words[HEAD + FLUXES..]);
    }

    fn read_request(&mut self, words: &[u32]) {
        self.is_wanted = words[0] != 0;
        self.count = (words[1] as usize).min(FLUXES);
        read_samples(&words[HEAD..], &mut self.fluxes);
        read_samples(&words[HEAD + FLUXES..], self.flux.window());
        self.begin();
    }

    fn write_reply(&self, words: &mut [u32]) {
        self.flux.write_reply(words);
        words[FLUX_WORDS] = u32::from(self.result.is_some());
        let Tempo {
            period,
            since,
            clarity,
        } = self.result.unwrap_or_default();
        put_numbers(&mut words[FLUX_WORDS + 1..], &[period, since, clarity]);
    }

    fn read_reply(&mut self, words: &[u32]) -> bool {
        let Some([period, since, clarity]) = read_numbers(&words[FLUX_WORDS + 1..]) else {
            return false;
        };
        let has_tempo = words[FLUX_WORDS] != 0;
        // The beats are counted off by the period, so it is never short.
        let is_possible = !has_tempo
            || ((1.0..=1e4).contains(&period)
                && (-1e5..=1e5).contains(&since)
                && (-16.0..=16.0).contains(&clarity));
        if !is_possible || !self.flux.read_reply(words) {
            return false;
        }
        self.result = has_tempo.then_some(Tempo {
            period,
            since,
            clarity,
        });
        true
    }
}

impl PiecewiseJob for TempoJob {
    fn run_piece(&mut self) -> bool {
        match self.next {
            TempoPiece::Flux => {
                if self.flux.run_piece() {
                    self.next = TempoPiece::Centre;
                    return !self.is_wanted;
                }
            }
            TempoPiece::Centre => {
                if !self.centre() {
                    return true;
                }
                self.next = TempoPiece::Likeness(0);
            }
            TempoPiece::Likeness(first) => {
                let end = (first + LAGS).min(self.likeness.len());
                for lag in first..end {
                    self.likeness[lag] = self.likeness(lag);
                }
                self.next = match end < self.likeness.len() {
                    true => TempoPiece::Likeness(end),
                    false => TempoPiece::Period,
                };
            }
            TempoPiece::Period => {
                self.result = self.found_period();
                self.next = TempoPiece::Beat(0);
                return self.result.is_none();
            }
            TempoPiece::Beat(first) => match self.look_for_beat(first) {
                Some(next) => self.next = TempoPiece::Beat(next),
                None => return true,
            },
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tempo of strokes at hops, over ten seconds.
    fn tempo(strokes: impl Iterator<Item = (f64, f64)>) -> Option<Tempo> {
        let mut job = TempoJob::new(48_000.0);
        for (at, strength) in strokes {
            let (index, part) = (at as usize, at.fract());
            for (index, share) in [(index, 1.0 - part), (index + 1, part)] {
                if let Some(flux) = job.fluxes.get_mut(index) {
                    *flux += (strength * share) as f32;
                }
            }
        }
        (job.count, job.is_wanted) = (FLUXES, true);
        job.begin();
        while !job.run_piece() {}
        job.result
    }

    #[test]
    fn the_period_of_strokes_is_found_and_where_they_lie() {
        for bpm in [61.3, 90.0, 120.0, 127.4, 160.0] {
            let period = 6000.0 / bpm;
            let found = tempo((0..40).map(|k| (3.3 + f64::from(k) * period, 1.0))).unwrap();
            let share = found.period / period;
            assert!((share - 1.0).abs() < 2e-3, "{bpm}: {found:?}");
            assert!(found.clarity > 0.3, "{bpm}: {found:?}");
            let last = (FLUXES - 1) as f64 - found.since;
            let off = (last - 3.3) / period;
            assert!((off - off.round()).abs() * period < 1.0, "{bpm}: {found:?}");
        }
    }

    #[test]
    fn silence_has_no_tempo() {
        assert_eq!(tempo(std::iter::empty()), None);
    }
}
