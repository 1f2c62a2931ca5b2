//! Straight channels beside two that mix, the effect of an exchange, and schedulers that work at odd times.

use crate::kit::{Rng, error_db, play, truth};
use divisi_conv::{Convolver, ConvolverOptions, Fdl, Inline, LevelScheduler, Path};
use rt::deferred::DeferredJob;

/// Straight channels, and two that mix.
pub(crate) fn paths(straight: usize, length: usize, rng: &mut Rng) -> Vec<Path> {
    let mut path = |i, o| Path::new(i, o, rng.response(length));
    let mut paths: Vec<Path> = (0..straight).map(|c| path(c, c)).collect();
    for (input, output) in [(0, 0), (0, 1), (1, 1)] {
        paths.push(path(straight + input, straight + output));
    }
    paths
}

pub(crate) fn sound(channels: usize, frames: usize, seed: u64) -> Vec<Vec<f32>> {
    let mut rng = Rng::new(seed);
    (0..channels).map(|_| rng.noise(frames)).collect()
}

/// The worst of all outputs, in dB.
pub(crate) fn worst_db(paths: &[Path], options: &ConvolverOptions) -> f64 {
    let channels = paths.iter().map(|path| path.output + 1).max().unwrap();
    let input = sound(channels, 5000, 41);
    let mut convolver = Convolver::new(channels, channels, paths, options).unwrap();
    let frames = 5000 + options.partition.max_ir_frames();
    let samples = play(&mut convolver, &input, frames, &mut Inline);
    let mut rng = Rng::new(42);
    let at: Vec<usize> = (0..300).map(|_| rng.below(frames)).collect();
    let db = samples.iter().enumerate().map(|(output, samples)| {
        let into = paths.iter().filter(|path| path.output == output);
        let sum = |n| {
            into.clone()
                .map(|path| f64::from(path.gain) * truth(&input[path.input], &path.ir, n))
                .sum()
        };
        error_db(samples, 0, sum, &at)
    });
    db.fold(f64::NEG_INFINITY, f64::max)
}

/// Largest difference of two sounds.
pub(crate) fn apart(a: &[Vec<f32>], b: &[Vec<f32>]) -> f32 {
    assert_eq!(a.len(), b.len());
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// Largest difference that an exchange of responses for equal ones makes to the output of three channels.
pub(crate) fn exchanged(paths: &[Path], options: &ConvolverOptions, frames: usize) -> f32 {
    const BEFORE: usize = 7040;
    let input = sound(3, frames, 54);
    let mut unchanged = Convolver::new(3, 3, paths, options).unwrap();
    let truth = play(&mut unchanged, &input, frames, &mut Inline);
    let (first, second): (Vec<_>, Vec<_>) = input
        .iter()
        .map(|sound| (sound[..BEFORE].to_vec(), sound[BEFORE..].to_vec()))
        .unzip();
    let mut faded = Convolver::new(3, 3, paths, options).unwrap();
    let mut samples = play(&mut faded, &first, BEFORE, &mut Inline);
    let next = faded.preparer().prepare(paths).unwrap();
    assert!(faded.exchange(next).is_none());
    let rest = play(&mut faded, &second, frames - BEFORE, &mut Inline);
    for (all, rest) in samples.iter_mut().zip(rest) {
        all.extend(rest);
    }
    assert!(faded.take_retired().is_some());
    apart(&truth, &samples)
}

/// Runs pieces at random times.
pub(crate) struct AnyTime(pub(crate) Rng);

impl LevelScheduler for AnyTime {
    fn job_started(&mut self, _line: usize, _work: &mut DeferredJob<Fdl>) {}

    fn finish(&mut self, line: usize, work: &mut DeferredJob<Fdl>) -> bool {
        Inline.finish(line, work)
    }

    fn after_block(&mut self, lines: &mut dyn Iterator<Item = (usize, &mut DeferredJob<Fdl>)>) {
        for (_, work) in lines {
            for _ in 0..self.0.below(4) {
                work.run_piece();
            }
        }
    }
}

/// Runs jobs when they are due, and every eleventh not at all.
pub(crate) struct Sometimes(pub(crate) usize);

impl LevelScheduler for Sometimes {
    fn job_started(&mut self, _line: usize, _work: &mut DeferredJob<Fdl>) {}

    fn finish(&mut self, line: usize, work: &mut DeferredJob<Fdl>) -> bool {
        self.0 += 1;
        match self.0 % 11 {
            0 => work.is_available(),
            _ => Inline.finish(line, work),
        }
    }
}
