//! Every scheduler gives the same bits, whichever thread runs a job, and when.

use crate::kit::{Rng, play, same};
use crate::mixed::AnyTime;
use divisi_conv::{
    AddedLatency, Convolver, ConvolverOptions, Fdl, Inline, LevelScheduler, LevelThreads,
    LevelThreadsOptions, Partition, Path, Pinning,
};
use rt::deferred::DeferredJob;
use workers::{Priority, cores};

/// Runs no job: all are late.
struct Never;

impl LevelScheduler for Never {
    fn job_started(&mut self, _line: usize, _work: &mut DeferredJob<Fdl>) {}

    fn finish(&mut self, _line: usize, work: &mut DeferredJob<Fdl>) -> bool {
        work.is_available()
    }
}

const PARTITIONS: [(usize, AddedLatency, &str); 4] = [
    (64, AddedLatency::None, "7x64 6x256 4x1024"),
    (64, AddedLatency::OneBlock, "6x64 6x256 3x1024"),
    (16, AddedLatency::None, "112 + 14x64 3x512"),
    (64, AddedLatency::None, "960 + 4x256 2x1024"),
];

fn convolver(
    block: usize,
    latency: AddedLatency,
    text: &str,
    channels: usize,
    stagger: bool,
) -> Convolver {
    let mut rng = Rng::new(5);
    let partition = Partition::parse(block, latency, text).unwrap();
    let mut path = |channel| {
        let length = partition.max_ir_frames() - rng.below(700);
        Path::new(channel, channel, rng.response(length))
    };
    let mut paths: Vec<Path> = (0..channels).map(&mut path).collect();
    // Two mixing channels beside the straight ones.
    for (input, output) in [(0, 0), (0, 1), (1, 1)] {
        let ir = paths[output].ir.clone();
        paths.push(Path::new(channels + input, channels + output, ir));
    }
    let mut options = ConvolverOptions::new(partition);
    options.stagger = stagger;
    Convolver::new(channels + 2, channels + 2, &paths, &options).unwrap()
}

fn sound(channels: usize, frames: usize) -> Vec<Vec<f32>> {
    let mut rng = Rng::new(6);
    (0..channels).map(|_| rng.noise(frames)).collect()
}

#[test]
fn pieces_at_any_time_give_the_same_bits() {
    for (block, latency, text) in PARTITIONS {
        for (channels, stagger) in [(1, false), (18, false), (18, true)] {
            let make = || convolver(block, latency, text, channels, stagger);
            let input = sound(channels + 2, 7000);
            let truth = play(&mut make(), &input, 12_000, &mut Inline);
            for seed in 0..3 {
                let mut again = make();
                let output = play(&mut again, &input, 12_000, &mut AnyTime(Rng::new(seed)));
                same(&output, &truth, text);
                assert_eq!(again.late_count(), 0);
            }
        }
    }
}

#[test]
fn threads_give_the_same_bits_wherever_they_are_pinned() {
    let input = sound(36, 7000);
    let pinnings = [
        Pinning::Free,
        Pinning::ByLevel(cores().to_vec()),
        Pinning::ByChannels(cores().to_vec()),
    ];
    for (block, latency, text) in PARTITIONS {
        let make = || convolver(block, latency, text, 34, false);
        let truth = play(&mut make(), &input, 12_000, &mut Inline);
        for (pinning, priority) in pinnings.iter().zip([
            Priority::Ordinary,
            Priority::RealTime(20),
            Priority::RealTime(1),
        ]) {
            let mut again = make();
            let options = LevelThreadsOptions {
                priority,
                pinning: pinning.clone(),
                max_wait: None,
            };
            let mut threads = LevelThreads::new(&again, &options).unwrap();
            assert!(!threads.is_empty());
            let output = play(&mut again, &input, 12_000, &mut threads);
            same(&output, &truth, &format!("{text} {options:?}"));
        }
    }
}

#[test]
fn staggered_levels_end_their_periods_at_different_times() {
    let phases = |stagger| {
        let convolver = convolver(64, AddedLatency::None, "7x64 6x256 4x1024", 40, stagger);
        let phases: std::collections::HashSet<_> = convolver.fdls().map(|l| l.phase).collect();
        phases.len()
    };
    assert_eq!(phases(false), 1);
    assert!(phases(true) > 4);
}

#[test]
fn jobs_that_no_thread_runs_are_silent_and_counted_and_leave_no_trace_later() {
    let (block, latency, text) = PARTITIONS[0];
    let input = sound(3, 4096);
    let mut convolver = convolver(block, latency, text, 1, false);
    let output = play(&mut convolver, &input, 4096, &mut Never);
    assert!(convolver.late_count() > 10);
    assert!(output.iter().flatten().all(|x| x.is_finite()));
    // Once the tail of the gaps has decayed, the output is as without them.
    let tail = convolver.tail() as usize / 1024 * 1024 + 1024;
    play(&mut convolver, &[], tail, &mut Inline);
    let late = convolver.late_count();
    let again = play(&mut convolver, &input, 8192, &mut Inline);
    let mut new = self::convolver(block, latency, text, 1, false);
    let truth = play(&mut new, &input, 8192, &mut Inline);
    same(&again, &truth, "afterwards");
    assert_eq!(convolver.late_count(), late);
}
