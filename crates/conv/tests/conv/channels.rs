//! Many channels: side by side, mixed, and with shared responses.

use crate::kit::{Rng, error_db, play, truth};
use divisi_conv::{AddedLatency, Convolver, ConvolverOptions, Inline, Partition, Path};

fn partition(length: usize) -> Partition {
    Partition::typical(64, AddedLatency::None, length).unwrap()
}

/// Asserts that every output is the sum of its paths.
fn holds(inputs: usize, outputs: usize, paths: &[Path], options: &ConvolverOptions) {
    let mut rng = Rng::new(7);
    let sound: Vec<Vec<f32>> = (0..inputs).map(|_| rng.noise(2500)).collect();
    let mut convolver = Convolver::new(inputs, outputs, paths, options).unwrap();
    let frames = 2500 + options.partition.max_ir_frames();
    let samples = play(&mut convolver, &sound, frames, &mut Inline);
    let at: Vec<usize> = (0..300).map(|_| rng.below(frames)).collect();
    for (output, samples) in samples.iter().enumerate() {
        let into: Vec<&Path> = paths.iter().filter(|p| p.output == output).collect();
        let sum = |n| -> f64 {
            let path = |p: &&Path| f64::from(p.gain) * truth(&sound[p.input], &p.ir, n);
            into.iter().map(path).sum()
        };
        let db = error_db(samples, 0, sum, &at);
        assert!(db <= -120.0, "output {output}: {db:.1} dB");
    }
}

#[test]
fn any_number_of_straight_channels_stay_separate() {
    let mut rng = Rng::new(8);
    for channels in [1, 2, 5, 6, 16, 17, 35] {
        let paths: Vec<Path> = (0..channels)
            .map(|c| {
                let length = 1 + rng.below(4000);
                Path::new(c, channels - 1 - c, rng.response(length))
            })
            .collect();
        holds(
            channels,
            channels,
            &paths,
            &ConvolverOptions::new(partition(4000)),
        );
    }
}

#[test]
fn a_matrix_adds_the_paths_to_one_output() {
    let mut rng = Rng::new(9);
    let mut paths = Vec::new();
    for input in 0..3 {
        for output in 0..4 {
            let mut path = Path::new(input, output, rng.response(3000));
            path.gain = rng.sample();
            paths.push(path);
        }
    }
    // One separate channel, and an output without a path.
    paths.push(Path::new(3, 5, rng.response(100)));
    // Two paths between the same channels.
    paths.push(Path::new(0, 0, rng.response(77)));
    holds(4, 7, &paths, &ConvolverOptions::new(partition(3000)));
}

#[test]
fn a_direct_head_works_in_a_matrix() {
    let mut rng = Rng::new(10);
    let partition = Partition::parse(16, AddedLatency::OneBlock, "96 + 6x64 2x256").unwrap();
    let ends = [(0, 0), (0, 1), (1, 0), (1, 1)];
    let paths = ends.map(|(i, o)| Path::new(i, o, rng.response(500)));
    let mut options = ConvolverOptions::new(partition);
    options.max_batch_size = 16;
    let sound = [rng.noise(1000), rng.noise(1000)];
    let mut convolver = Convolver::new(2, 2, &paths, &options).unwrap();
    let samples = play(&mut convolver, &sound, 1600, &mut Inline);
    let at: Vec<usize> = (0..1600).collect();
    for (output, samples) in samples.iter().enumerate() {
        let sum = |n| {
            (0..2)
                .map(|i| truth(&sound[i], &paths[2 * i + output].ir, n))
                .sum()
        };
        assert!(error_db(samples, 16, sum, &at) <= -120.0);
    }
}

#[test]
fn channels_that_are_not_given_are_silent() {
    let mut rng = Rng::new(21);
    let paths = [0, 1].map(|c| Path::new(c, c, rng.response(300)));
    let make = || Convolver::new(2, 2, &paths, &ConvolverOptions::new(partition(300))).unwrap();
    let (mut few, mut all) = (make(), make());
    let (input, silence) = ([rng.noise(64), rng.noise(64)], [0.0; 64]);
    let [mut a, mut b, mut c, mut d] = [[1.0; 64]; 4];
    for both in [true, false, false, true] {
        let inputs: [&[f32]; 2] = [&input[0], &input[1]];
        let given = if both { 2 } else { 1 };
        few.process(&inputs[..given], &mut [&mut a, &mut b], &mut Inline);
        let inputs: [&[f32]; 2] = [&input[0], if both { &input[1] } else { &silence }];
        all.process(&inputs, &mut [&mut c, &mut d], &mut Inline);
        assert_eq!((a, b), (c, d));
    }
    // Surplus outputs are silent.
    let mut more = [1.0; 64];
    few.process(&[], &mut [&mut a, &mut b, &mut more], &mut Inline);
    assert_eq!(more, silence);
}
