//! Levels that are done as late as they may be, and levels that are done too late, on threads.

use crate::kit::{Rng, play, same};
use divisi_conv::{
    AddedLatency, Convolver, ConvolverOptions, Fdl, Inline, LevelScheduler, LevelThreads,
    LevelThreadsOptions, Partition, Path,
};
use rt::deferred::DeferredJob;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use workers::Priority;

const CUTS: [&str; 3] = [
    "7x64 6x256",
    "7x64 6x256 4x1024",
    "3x64 6x128 14x512 2x4096",
];

fn convolver(text: &str) -> Convolver {
    let mut rng = Rng(41);
    let partition = Partition::parse(64, AddedLatency::None, text).unwrap();
    let mut path = |from, to| Path::new(from, to, rng.response(partition.max_ir_frames()));
    let paths = [path(0, 0), path(0, 1), path(1, 1)];
    Convolver::new(2, 2, &paths, &ConvolverOptions::new(partition)).unwrap()
}

fn sound() -> Vec<Vec<f32>> {
    let mut rng = Rng(42);
    (0..2).map(|_| rng.noise(9000)).collect()
}

const FRAMES: usize = 16_000;

fn truth(text: &str) -> Vec<Vec<f32>> {
    play(&mut convolver(text), &sound(), FRAMES, &mut Inline)
}

fn threads(convolver: &Convolver, patience: Option<Duration>) -> LevelThreads {
    let options = LevelThreadsOptions {
        priority: Priority::Ordinary,
        max_wait: patience,
        ..LevelThreadsOptions::default()
    };
    LevelThreads::new(convolver, &options).unwrap()
}

/// Tells the threads of work only in the last callbacks of its time, or in that in which it is due.
struct Delayed {
    threads: LevelThreads,
    /// In how many callbacks each line's thread is told.
    left: HashMap<usize, usize>,
    /// Longest wait of each line.
    most: Vec<usize>,
    rng: Rng,
}

impl Delayed {
    fn tell(&mut self, line: usize, work: &mut DeferredJob<Fdl>) {
        self.left.remove(&line);
        self.threads.job_started(line, work);
        self.threads.wake();
    }
}

impl LevelScheduler for Delayed {
    fn job_started(&mut self, line: usize, _work: &mut DeferredJob<Fdl>) {
        let late = self.rng.below(3);
        self.left.insert(line, self.most[line] - late);
    }

    fn finish(&mut self, line: usize, work: &mut DeferredJob<Fdl>) -> bool {
        if self.left.contains_key(&line) {
            self.tell(line, work);
        }
        self.threads.finish(line, work)
    }

    fn after_block(&mut self, lines: &mut dyn Iterator<Item = (usize, &mut DeferredJob<Fdl>)>) {
        for (line, work) in lines {
            if let Some(left) = self.left.get_mut(&line) {
                *left = left.saturating_sub(1);
                if *left == 0 {
                    self.tell(line, work);
                }
            }
        }
    }
}

#[test]
fn levels_that_begin_when_they_are_nearly_due_give_the_same_bits() {
    for text in CUTS {
        let mut convolver = convolver(text);
        let mut scheduler = Delayed {
            threads: threads(&convolver, None),
            left: HashMap::new(),
            most: convolver.fdls().map(|line| line.size / 64 + 1).collect(),
            rng: Rng(43),
        };
        let output = play(&mut convolver, &sound(), FRAMES, &mut scheduler);
        same(&output, &truth(text), text);
        assert_eq!(convolver.late_count(), 0);
    }
}

/// Looks away until all work is done.
struct Idle(LevelThreads, u32);

impl LevelScheduler for Idle {
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
fn a_callback_waits_for_nobody_whose_work_is_done_and_wakes_no_more_than_it_starts() {
    for text in CUTS {
        let mut convolver = convolver(text);
        let mut scheduler = Idle(threads(&convolver, None), 0);
        let output = play(&mut convolver, &sound(), FRAMES, &mut scheduler);
        same(&output, &truth(text), text);
        assert_eq!(scheduler.0.wait_count(), 0, "{text}");
        assert!(scheduler.0.wake_count() <= scheduler.1, "{text}");
    }
}

/// Leaves undone, until it is due once more, what is named by line and callback; all else is done when it is due.
struct Missing {
    missed: HashSet<(usize, u64)>,
    turn: u64,
}

impl LevelScheduler for Missing {
    fn job_started(&mut self, _line: usize, _work: &mut DeferredJob<Fdl>) {}

    fn finish(&mut self, line: usize, work: &mut DeferredJob<Fdl>) -> bool {
        !self.missed.contains(&(line, self.turn)) && Inline.finish(line, work)
    }

    fn after_block(&mut self, _lines: &mut dyn Iterator<Item = (usize, &mut DeferredJob<Fdl>)>) {
        self.turn += 1;
    }
}

#[test]
fn threads_that_never_answer_cost_their_levels_and_nothing_else_until_they_do() {
    let text = CUTS[1];
    let (mut convolver, other) = (convolver(text), convolver(text));
    // These serve the other one: here no work is ever done.
    let mut deaf = threads(&other, Some(Duration::from_micros(50)));
    let output = play(&mut convolver, &sound(), 6400, &mut deaf);
    let lines: Vec<_> = convolver.fdls().collect();
    let due = |size: usize| (2..=6400 / size).map(move |n| (n * size / 64 - 1) as u64);
    let late = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !line.is_in_callback);
    let missed: HashSet<_> = late
        .flat_map(|(index, line)| due(line.size).map(move |turn| (index, turn)))
        .collect();
    assert_eq!(convolver.late_count(), missed.len() as u64);
    let mut again = self::convolver(text);
    let mut scheduler = Missing { missed, turn: 0 };
    same(
        &output,
        &play(&mut again, &sound(), 6400, &mut scheduler),
        "without them",
    );
    // The response's beginning is not theirs.
    assert!(output.iter().flatten().any(|x| *x != 0.0));
    // They answer; what comes after all that was missed has died away is as if nothing had been.
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
    let (mut convolver, other) = (convolver(CUTS[1]), convolver(CUTS[1]));
    // These serve the other one: here no work is ever done.
    let mut deaf = threads(&other, Some(Duration::from_millis(1)));
    play(&mut convolver, &sound(), 6400, &mut deaf);
    // From the second period on a level is due with each period of the shortest.
    let blocks = 6400 / 256 - 1;
    assert_eq!(deaf.wait_count(), blocks);
    assert!(convolver.late_count() > blocks);
    // A host that has no time left waits for none.
    let mut hurried = threads(&other, None);
    for _ in 0..64 {
        hurried.set_time_to_wait(Some(Duration::ZERO));
        play(&mut convolver, &sound(), 64, &mut hurried);
    }
    assert_eq!(hurried.wait_count(), 0);
}

/// Waits for nobody, and keeps which results were not there.
struct Hasty {
    threads: LevelThreads,
    missed: HashSet<(usize, u64)>,
    turn: u64,
}

impl LevelScheduler for Hasty {
    fn job_started(&mut self, line: usize, work: &mut DeferredJob<Fdl>) {
        self.threads.job_started(line, work);
    }

    fn wake(&mut self) {
        self.threads.wake();
    }

    fn finish(&mut self, line: usize, work: &mut DeferredJob<Fdl>) -> bool {
        let is_here = self.threads.finish(line, work);
        if !is_here {
            self.missed.insert((line, self.turn));
        }
        is_here
    }

    fn after_block(&mut self, _lines: &mut dyn Iterator<Item = (usize, &mut DeferredJob<Fdl>)>) {
        self.turn += 1;
    }
}

#[test]
fn whatever_comes_too_late_is_missing_and_everything_else_is_there_to_the_bit() {
    for text in CUTS {
        for _ in 0..4 {
            let mut convolver = convolver(text);
            let mut scheduler = Hasty {
                threads: threads(&convolver, Some(Duration::ZERO)),
                missed: HashSet::new(),
                turn: 0,
            };
            let output = play(&mut convolver, &sound(), FRAMES, &mut scheduler);
            if convolver.late_count() != scheduler.missed.len() as u64 {
                // A result came in the moment between the question and the taking.
                continue;
            }
            let mut again = self::convolver(text);
            let mut scheduler = Missing {
                missed: scheduler.missed,
                turn: 0,
            };
            let truth = play(&mut again, &sound(), FRAMES, &mut scheduler);
            same(&output, &truth, text);
            assert_eq!(again.late_count(), convolver.late_count());
        }
    }
}
