//! Fixtures of the actors' tests: noise, a slow convolution, and a run through a chain of actors.

use super::{MemorySink, MemorySource};
use crate::{Actor, FiringOrder, Network, RunOptions, run_on_caller};

/// Pseudo-random numbers from -1 to 1 (xorshift).
pub(crate) fn noise(count: usize, seed: u32) -> Vec<f32> {
    let mut x = seed.wrapping_mul(2_654_435_761) | 1;
    let next = || {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        (x % 20_001) as f32 / 10_000.0 - 1.0
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// The convolution, by its definition.
pub(crate) fn convolved(sound: &[f32], taps: &[f32]) -> Vec<f64> {
    let mut sum = vec![0.0; sound.len() + taps.len() - 1];
    for (i, x) in sound.iter().enumerate() {
        for (k, tap) in taps.iter().enumerate() {
            sum[i + k] += f64::from(*x) * f64::from(*tap);
        }
    }
    sum
}

/// Asserts that all errors are within `limit` of the largest expected value.
pub(crate) fn is_near(got: &[f32], expected: &[f64], limit: f64) {
    assert_eq!(got.len(), expected.len());
    let largest = expected.iter().fold(1.0f64, |most, x| most.max(x.abs()));
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        let error = (f64::from(*got) - expected).abs() / largest;
        assert!(error <= limit, "frame {i}: {got} and not {expected}");
    }
}

/// Output of one actor.
pub(crate) fn through(node: impl Actor + 'static, sound: Vec<Vec<f32>>) -> Vec<Vec<f32>> {
    through_all(vec![Box::new(node)], sound)
}

/// Output of a chain of actors.
pub(crate) fn through_all(nodes: Vec<Box<dyn Actor>>, sound: Vec<Vec<f32>>) -> Vec<Vec<f32>> {
    let mut network = Network::new();
    let channels = sound.len();
    let mut chain = vec![
        network
            .add("source", MemorySource::new(sound, 13).unwrap())
            .unwrap(),
    ];
    for (i, node) in nodes.into_iter().enumerate() {
        chain.push(network.add_boxed(format!("node{i}"), node).unwrap());
    }
    let (sink, recording) = MemorySink::new(channels, 1).unwrap();
    chain.push(network.add("sink", sink).unwrap());
    network.chain(&chain).unwrap();
    run_on_caller(network, &RunOptions::default(), FiringOrder::RoundRobin).unwrap();
    let recording = recording.lock().unwrap();
    recording.clone()
}
