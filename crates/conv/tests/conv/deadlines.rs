//! Levels on threads: jobs that are done just in time, and jobs that are late.

use crate::kit::{Rng, play, same};
use divisi_conv::{
    AddedLatency, Convolver, ConvolverOptions, Fdl, Inline, LevelScheduler, LevelThreads,
    LevelThreadsOptions, Partition, Path,
};
use rt::deferred::DeferredJob;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use workers::Priority;

const PARTITIONS: [&str; 3] = [
    "7x64 6x256",
    "7x64 6x256 4x1024",
    "3x64 6x128 14x512 2x4096",
];

fn convolver(text: &str) -> Convolver {
    let mut rng = Rng::new(41);
    let partition = Partition::parse(64, AddedLatency::None, text).unwrap();
    let mut path = |from, to| Path::new(from, to, rng.response(partition.max_ir_frames()));
    let paths = [path(0, 0), path(0, 1), path(1, 1)];
    Convolver::new(2, 2, &paths, &ConvolverOptions::new(partition)).unwrap()
}

fn sound() -> Vec<Vec<f32>> {
    let mut rng = Rng::new(42);
    (0..2).map(|_| rng.noise(9000)).collect()
}

const FRAMES: usize = 16_000;

fn truth(text: &str) -> Vec<Vec<f32>> {
    play(&mut convolver(text), &sound(), FRAMES, &mut Inline)
}

fn threads(convolver: &Convolver, max_wait: Option<Duration>) -> LevelThreads {
    let options = LevelThreadsOptions {
        priority: Priority::Ordinary,
        max_wait,
        ..LevelThreadsOptions::default()
    };
    LevelThreads::new(convolver, &options).unwrap()
}

/// Notifies the threads of a job only in the last callbacks before its deadline.
struct Delayed {
    threads: LevelThreads,
    /// Callbacks until each line's thread is notified.
    left: HashMap<usize, usize>,
    /// Largest number of callbacks until then, by line.
    max: Vec<usize>,
    rng: Rng,
}

impl Delayed {
    fn notify(&mut self, line: usize, work: &mut DeferredJob<Fdl>) {
        self.left.remove(&line);
        self.threads.job_started(line, work);
        self.threads.wake();
    }
}

impl LevelScheduler for Delayed {
    fn job_started(&mut self, line: usize, _work: &mut DeferredJob<Fdl>) {
        let late = self.rng.below(3);
        self.left.insert(line, self.max[line] - late);
    }

    fn finish(&mut self, line: usize, work: &mut DeferredJob<Fdl>) -> bool {
        if self.left.contains_key(&line) {
            self.notify(line, work);
        }
        self.threads.finish(line, work)
    }

    fn after_block(&mut self, lines: &mut dyn Iterator<Item = (usize, &mut DeferredJob<Fdl>)>) {
        for (line, work) in lines {
            if let Some(left) = self.left.get_mut(&line) {
                *left = left.saturating_sub(1);
                if *left == 0 {
                    self.notify(line, work);
                }
            }
        }
    }
}

#[test]
fn levels_that_begin_just_before_their_deadline_give_the_same_bits() {
    for text in PARTITIONS {
        let mut convolver = convolver(text);
        let mut scheduler = Delayed {
            threads: threads(&convolver, None),
            left: HashMap::new(),
            max: convolver.fdls().map(|line| line.size / 64 + 1).collect(),
            rng: Rng::new(43),
        };
        let output = play(&mut convolver, &sound(), FRAMES, &mut scheduler);
        same(&output, &truth(text), text);
        assert_eq!(convolver.late_count(), 0);
    }
}

/// Waits after each block until all jobs are done. Counts the jobs that were started.
struct Waiting(LevelThreads, u32);

impl LevelScheduler for Waiting {
    fn job_started(&mut self, line: usize, work: &mut DeferredJob<Fdl>) {
        self.1 += 1;
        self.0.job_started(line, work);
    }

    fn wake(&mut self) {
        self.0.wake();
    }

    fn finish(&mut self, line: usize, work: &mut DeferredJob<Fdl>) -> bool {
        self.0.finish(line, work)
    }

    fn after_block(&mut self, lines: &mut dyn Iterator<Item = (usize, &mut DeferredJob<Fdl>)>) {
        for (_, work) in lines {
            while !work.is_available() {
                std::thread::yield_now();
            }
        }
    }
}

#[test]
fn a_callback_waits_for_no_job_that_is_done_and_wakes_no_more_threads_than_it_starts_jobs() {
    for text in PARTITIONS {
        let mut convolver = convolver(text);
        let mut scheduler = Waiting(threads(&convolver, None), 0);
        let output = play(&mut convolver, &sound(), FRAMES, &mut scheduler);
        same(&output, &truth(text), text);
        assert_eq!(scheduler.0.wait_count(), 0, "{text}");
        assert!(scheduler.0.wake_count() <= scheduler.1, "{text}");
    }
}

/// Does every job when it is due, but those in `missed` (line and callback): they are late by a period.
struct LateJobs {
    missed: HashSet<(usize, u64)>,
    callback: u64,
}

impl LevelScheduler for LateJobs {
    fn job_started(&mut self, _line: usize, _work: &mut DeferredJob<Fdl>) {}

    fn finish(&mut self, line: usize, work: &mut DeferredJob<Fdl>) -> bool {
        !self.missed.contains(&(line, self.callback)) && Inline.finish(line, work)
    }

    fn after_block(&mut self, _lines: &mut dyn Iterator<Item = (usize, &mut DeferredJob<Fdl>)>) {
        self.callback += 1;
    }
}

#[test]
fn stalled_threads_silence_their_own_levels_only_until_they_answer() {
    let text = PARTITIONS[1];
    let (mut convolver, other) = (convolver(text), convolver(text));
    // These threads belong to another convolver, so no job of this one is done.
    let mut stalled = threads(&other, Some(Duration::from_micros(50)));
    let output = play(&mut convolver, &sound(), 6400, &mut stalled);
    let lines: Vec<_> = convolver.fdls().collect();
    let due = |size: usize| (2..=6400 / size).map(move |n| (n * size / 64 - 1) as u64);
    let late = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !line.is_in_callback);
    let missed: HashSet<_> = late
        .flat_map(|(index, line)| due(line.size).map(move |callback| (index, callback)))
        .collect();
    assert_eq!(convolver.late_count(), missed.len() as u64);
    let mut again = self::convolver(text);
    let mut scheduler = LateJobs {
        missed,
        callback: 0,
    };
    same(
        &output,
        &play(&mut again, &sound(), 6400, &mut scheduler),
        "without them",
    );
    // The beginning of the response is convolved in the callback.
    assert!(output.iter().flatten().any(|x| *x != 0.0));
    // The threads answer: once the tail of the gaps has decayed, the output is as without them.
    let mut scheduler = threads(&convolver, None);
    let tail = convolver.tail() as usize / 1024 * 1024 + 1024;
    let (before, after) = (6400usize.next_multiple_of(1024) - 6400 + tail, FRAMES);
    play(&mut convolver, &[], before, &mut scheduler);
    same(
        &play(&mut convolver, &sound(), after, &mut scheduler),
        &truth(text),
        "afterwards",
    );
}

#[test]
fn levels_that_are_due_in_one_block_are_waited_for_once_together() {
    let (mut convolver, other) = (convolver(PARTITIONS[1]), convolver(PARTITIONS[1]));
    // These threads belong to another convolver, so no job of this one is done.
    let mut stalled = threads(&other, Some(Duration::from_millis(1)));
    play(&mut convolver, &sound(), 6400, &mut stalled);
    // From the second period on a level is due with each period of the shortest.
    let blocks = 6400 / 256 - 1;
    assert_eq!(stalled.wait_count(), blocks);
    assert!(convolver.late_count() > blocks);
    // A host that has no time left waits for none.
    let mut without_time = threads(&other, None);
    for _ in 0..64 {
        without_time.set_time_to_wait(Some(Duration::ZERO));
        play(&mut convolver, &sound(), 64, &mut without_time);
    }
    assert_eq!(without_time.wait_count(), 0);
}

/// Never waits, and records the late results.
struct NeverWaiting {
    threads: LevelThreads,
    missed: HashSet<(usize, u64)>,
    callback: u64,
}

impl LevelScheduler for NeverWaiting {
    fn job_started(&mut self, line: usize, work: &mut DeferredJob<Fdl>) {
        self.threads.job_started(line, work);
    }

    fn wake(&mut self) {
        self.threads.wake();
    }

    fn finish(&mut self, line: usize, work: &mut DeferredJob<Fdl>) -> bool {
        let is_done = self.threads.finish(line, work);
        if !is_done {
            self.missed.insert((line, self.callback));
        }
        is_done
    }

    fn after_block(&mut self, _lines: &mut dyn Iterator<Item = (usize, &mut DeferredJob<Fdl>)>) {
        self.callback += 1;
    }
}

#[test]
fn late_results_are_missing_and_all_others_have_the_same_bits() {
    for text in PARTITIONS {
        for _ in 0..4 {
            let mut convolver = convolver(text);
            let mut scheduler = NeverWaiting {
                threads: threads(&convolver, Some(Duration::ZERO)),
                missed: HashSet::new(),
                callback: 0,
            };
            let output = play(&mut convolver, &sound(), FRAMES, &mut scheduler);
            if convolver.late_count() != scheduler.missed.len() as u64 {
                // A result came between the check and the collection.
                continue;
            }
            let mut again = self::convolver(text);
            let mut scheduler = LateJobs {
                missed: scheduler.missed,
                callback: 0,
            };
            let truth = play(&mut again, &sound(), FRAMES, &mut scheduler);
            same(&output, &truth, text);
            assert_eq!(again.late_count(), convolver.late_count());
        }
    }
}
