//! The output is the convolution, to 120 dB, for every length, block and partition.

use crate::kit::{Rng, error_db, mono, truth};
use divisi_conv::{AddedLatency, Partition};

const LATENCIES: [AddedLatency; 2] = [AddedLatency::None, AddedLatency::OneBlock];

fn holds(partition: Partition, response: &[f32], rng: &mut Rng) {
    let name = format!(
        "{partition} of {} in blocks of {}",
        response.len(),
        partition.block()
    );
    let block = partition.block();
    let late = partition.latency_frames();
    // Some sound from the start, and some that begins off every grid.
    let mut input = rng.noise(3000);
    input[700..1203].fill(0.0);
    let frames = response.len() + input.len() + late + 2 * block;
    let output = mono(partition, response, &input, frames);
    let mut at: Vec<usize> = (0..200).map(|_| rng.below(frames)).collect();
    // The beginnings and the ends.
    at.extend((0..20.min(frames)).chain(frames.saturating_sub(block + 20)..frames));
    let db = error_db(&output, late, |n| truth(&input, response, n), &at);
    assert!(db <= -120.0, "{name}: {db:.1} dB");
}

#[test]
fn any_length_in_any_block_is_the_convolution() {
    let mut rng = Rng::new(1);
    for bits in 0..=12 {
        for latency in LATENCIES {
            for most in [1, 40, 3_000, 40_000] {
                let length = 1 + rng.below(most);
                let response = rng.response(length);
                let partition = Partition::typical(1 << bits, latency, length).unwrap();
                holds(partition, &response, &mut rng);
            }
        }
    }
}

#[test]
fn a_million_frames_are_the_convolution() {
    let mut rng = Rng::new(2);
    for (block, length) in [(64, 1 << 20), (1024, (1 << 20) - 1), (16, 600_001)] {
        let response = rng.response(length);
        let partition = Partition::typical(block, AddedLatency::None, length).unwrap();
        holds(partition, &response, &mut rng);
    }
}

#[test]
fn every_partition_gives_the_convolution() {
    let mut rng = Rng::new(3);
    let partitions = [
        (64, AddedLatency::None, "7x64 6x256 2x1024 1x2048"),
        (64, AddedLatency::None, "64 + 6x64 3x256"),
        (64, AddedLatency::None, "448 + 6x256"),
        (64, AddedLatency::None, "960 + 2x256"),
        (64, AddedLatency::None, "1x64 1x128 3x256"),
        (128, AddedLatency::OneBlock, "2x128 2x256 2x512 2x1024"),
        (128, AddedLatency::OneBlock, "14x128 3x1024"),
        (16, AddedLatency::None, "40x16"),
        (1, AddedLatency::None, "15 + 31x16 4x256"),
        (8, AddedLatency::OneBlock, "48 + 8x16 2x64"),
        (32, AddedLatency::None, "700"),
        (1, AddedLatency::None, "70"),
    ];
    for (block, latency, text) in partitions {
        let partition = Partition::parse(block, latency, text).unwrap();
        let max = partition.max_ir_frames();
        for length in [1, max / 3, max] {
            let response = rng.response(length);
            holds(partition.clone(), &response, &mut rng);
        }
    }
}

#[test]
fn silence_and_a_single_last_tap_are_exact() {
    let mut rng = Rng::new(4);
    for length in [1, 63, 64, 5000, 70_001] {
        let partition = Partition::typical(64, AddedLatency::None, length).unwrap();
        let zeros = vec![0.0; length];
        let output = mono(partition.clone(), &zeros, &rng.noise(2000), length + 2000);
        assert!(output.iter().all(|y| y.to_bits() == 0));
        let mut last = zeros;
        last[length - 1] = 1.0;
        let input = rng.noise(2000);
        let output = mono(partition, &last, &input, length + 2000);
        let truth = |n: usize| {
            n.checked_sub(length - 1)
                .map_or(0.0, |n| f64::from(*input.get(n).unwrap_or(&0.0)))
        };
        let at: Vec<usize> = (0..length + 2000).collect();
        let db = error_db(&output, 0, truth, &at);
        assert!(db <= -120.0, "{length}: {db:.1} dB");
    }
}
