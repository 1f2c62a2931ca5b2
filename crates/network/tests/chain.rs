//! A chain of many rates: every scheduler gives the same samples, and queues with the sizes of the static check never
//! grow.
#![cfg(not(loom))]

mod common;

use common::all_schedulers;
use divisi_network::kinds::{
    Add, Decimate, Interpolate, InverseStft, MemorySink, MemorySource, OverlapSave, Recording,
    Split, Stft, low_pass,
};
use divisi_network::{Network, RunOptions, checks};

fn chain() -> (Network, Recording) {
    let sound: Vec<f32> = (0..5000).map(|i| common::sample(4, 0, i)).collect();
    let taps = low_pass(31, 0.1);
    let mut network = Network::new();
    let mut add = |name: &str, node: Box<dyn divisi_network::Actor>| {
        network.add_boxed(name.into(), node).unwrap()
    };
    let source = add(
        "source",
        Box::new(MemorySource::new(vec![sound], 100).unwrap()),
    );
    let split = add("split", Box::new(Split::new(2, 1, 64).unwrap()));
    let down = add("down", Box::new(Decimate::new(&taps, 3, 1, 10).unwrap()));
    let up = add("up", Box::new(Interpolate::new(&taps, 3, 1, 7).unwrap()));
    let there = add("there", Box::new(Stft::new(64, 16, 1).unwrap()));
    let back = add("back", Box::new(InverseStft::new(64, 16, 1).unwrap()));
    let long = add(
        "long",
        Box::new(OverlapSave::new(&low_pass(500, 0.2), 1024, 1).unwrap()),
    );
    let both = add("both", Box::new(Add::new(2, 1, 48).unwrap()));
    let (sink, recording) = MemorySink::new(1, 50).unwrap();
    let sink = add("sink", Box::new(sink));
    network
        .chain(&[source, split, down, up, there, back, both, sink])
        .unwrap();
    network.connect((split, 1), (long, 0)).unwrap();
    network.connect((long, 0), (both, 1)).unwrap();
    (network, recording)
}

#[test]
fn a_chain_of_many_rates_gives_the_same_samples_with_every_scheduler() {
    let mut first: Option<Vec<f32>> = None;
    for (name, scheduler) in all_schedulers() {
        let (network, recording) = chain();
        let summary = scheduler.run(network, &RunOptions::default()).unwrap();
        assert_eq!(summary.growths, [], "{name}");
        let got = recording.lock().unwrap()[0].clone();
        assert!(
            got.len() >= 5000 && got.iter().any(|x| x.abs() > 0.01),
            "{name}"
        );
        let expected = first.get_or_insert_with(|| got.clone());
        assert!(got == *expected, "{name} differs");
    }
}

#[test]
fn the_repetition_vector_balances_every_queue() {
    let (network, _) = chain();
    let result = checks::check(network.topology()).unwrap();
    let topology = network.topology();
    for (queue, size) in topology.queue_ids().zip(&result.sizes) {
        let ends = &topology.queues[queue.0];
        let written =
            result.repetitions[ends.from.node.0 as usize] * topology.output(queue).produce as u64;
        let read =
            result.repetitions[ends.to.node.0 as usize] * topology.input(queue).consume as u64;
        assert_eq!(written, read, "{}", topology.queue_name(queue));
        assert!(*size >= topology.min_size(queue));
    }
    assert!(checks::verify_sizes(topology, &result.sizes).is_ok());
}
