//! Exchanges of impulse responses while the convolver runs.

use crate::kit::{Rng, play, truth};
use divisi_conv::{AddedLatency, Convolver, ConvolverOptions, Inline, Partition, Path};

fn convolver(paths: &[Path], text: &str, block: usize) -> Convolver {
    let partition = Partition::parse(block, AddedLatency::None, text).unwrap();
    Convolver::new(1, 1, paths, &ConvolverOptions::new(partition)).unwrap()
}

const TEXT: &str = "7x64 6x256 5x1024";

/// Output with an exchange to each of `others` at frame `at` of `input`.
fn exchanged(
    first: &Path,
    others: &[Path],
    at: usize,
    input: &[f32],
    text: &str,
    block: usize,
) -> Vec<f32> {
    let mut convolver = convolver(std::slice::from_ref(first), text, block);
    let preparer = convolver.preparer();
    let mut output = play(&mut convolver, &[input[..at].to_vec()], at, &mut Inline).remove(0);
    for (other, is_last) in others
        .iter()
        .zip((0..others.len()).map(|i| i + 1 == others.len()))
    {
        let next = preparer.prepare(std::slice::from_ref(other)).unwrap();
        assert!(convolver.exchange(next).is_none());
        assert!(convolver.is_exchanging());
        let from = output.len();
        // The next one comes in the middle of the fade.
        let to = if is_last { input.len() } else { from + 512 };
        output.extend(
            play(
                &mut convolver,
                &[input[from..to].to_vec()],
                to - from,
                &mut Inline,
            )
            .remove(0),
        );
    }
    let mut over = 0;
    while let Some(old) = convolver.take_retired() {
        drop(old);
        over += 1;
        convolver.process_block(&mut Inline);
    }
    assert!(over >= 1);
    output
}

fn path(response: &[f32]) -> Path {
    Path::new(0, 0, response)
}

#[test]
fn an_exchange_of_equal_responses_changes_nothing() {
    let mut rng = Rng::new(11);
    let response = path(&rng.response(6000));
    let input = rng.noise(20_000);
    for (text, block) in [(TEXT, 64), ("112 + 14x64 2x512 5x1024", 16)] {
        let unchanged = play(
            &mut convolver(std::slice::from_ref(&response), text, block),
            std::slice::from_ref(&input),
            20_000,
            &mut Inline,
        )
        .remove(0);
        let others = [response.clone(), response.clone()];
        let faded = exchanged(&response, &others, 7040, &input, text, block);
        let difference = unchanged
            .iter()
            .zip(&faded)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f32::max);
        assert!(difference < 2e-5, "{difference}");
    }
}

#[test]
fn after_an_exchange_the_output_is_that_of_the_new_response_from_all_input() {
    let mut rng = Rng::new(12);
    let responses: Vec<Vec<f32>> = (0..3).map(|_| rng.response(6000)).collect();
    let input = rng.noise(24_000);
    let others = [path(&responses[1]), path(&responses[2])];
    let output = exchanged(&path(&responses[0]), &others, 6400, &input, TEXT, 64);
    for n in (0..6400).step_by(37) {
        assert!((f64::from(output[n]) - truth(&input, &responses[0], n)).abs() < 1e-4);
    }
    for n in (14_000..24_000).step_by(37) {
        assert!((f64::from(output[n]) - truth(&input, &responses[2], n)).abs() < 1e-4);
    }
}

#[test]
fn a_quieter_copy_fades_in_without_a_step() {
    let mut rng = Rng::new(13);
    let response = rng.response(6000);
    let mut quiet = path(&response);
    quiet.gain = 0.25;
    // A slow sine: a click or a bump would stand out.
    let input: Vec<f32> = (0..30_000).map(|n| (n as f32 * 0.02).sin()).collect();
    let before = play(
        &mut convolver(&[path(&response)], TEXT, 64),
        std::slice::from_ref(&input),
        30_000,
        &mut Inline,
    )
    .remove(0);
    let output = exchanged(&path(&response), &[quiet], 12_800, &input, TEXT, 64);
    let steepest = |y: &[f32]| {
        y.windows(2)
            .map(|w| (w[1] - w[0]).abs())
            .fold(0.0, f32::max)
    };
    let loudest = |y: &[f32]| y.iter().fold(0.0, |m: f32, x| m.max(x.abs()));
    assert!(steepest(&output[12_000..]) <= 1.05 * steepest(&before[12_000..]));
    assert!(loudest(&output[12_000..]) <= 1.01 * loudest(&before[12_000..]));
    let end = loudest(&output[25_000..]) / loudest(&before[25_000..]);
    assert!((end - 0.25).abs() < 1e-3, "{end}");
}

#[test]
fn of_several_pending_exchanges_the_last_wins_and_the_others_are_returned() {
    let mut rng = Rng::new(14);
    let paths: Vec<Path> = (0..3).map(|_| path(&rng.response(3000))).collect();
    let mut convolver = convolver(&paths[..1], TEXT, 64);
    let preparer = convolver.preparer();
    let next = |p: usize| preparer.prepare(&paths[p..=p]).unwrap();
    assert!(convolver.exchange(next(1)).is_none());
    assert!(convolver.exchange(next(2)).is_some());
    let other = self::convolver(&paths[..1], TEXT, 64).preparer();
    assert!(
        convolver
            .exchange(other.prepare(&paths[1..2]).unwrap())
            .is_some()
    );
    let input = rng.noise(16_000);
    let output = play(
        &mut convolver,
        std::slice::from_ref(&input),
        16_000,
        &mut Inline,
    )
    .remove(0);
    for n in (10_000..16_000).step_by(41) {
        assert!((f64::from(output[n]) - truth(&input, &paths[2].ir, n)).abs() < 1e-4);
    }
}
