//! Tests of [`LiveChoice`] with virtual figures: a machine on which two workers take 0.6 of the time and a wake.

use super::*;

const WAKE: f64 = 3_000.0;
const PERIOD: Nanos = Nanos(1_333_000);

fn candidates() -> Vec<LiveCandidate> {
    let one = |scheduler, workers, fuse| LiveCandidate {
        scheduler,
        workers,
        fuse,
    };
    vec![
        one(Scheduler::Sequential, 1, true),
        one(Scheduler::Stealing, 2, true),
        one(Scheduler::Stealing, 2, false),
    ]
}

/// An engine whose cycles take what the model says.
struct Model {
    choice: LiveChoice,
    swaps: Vec<Swap>,
    /// Time on two workers, as a part of that on one, with and without fusion.
    parallel: [f64; 2],
}

impl Model {
    fn new(playing: usize, promise: Option<u64>) -> Self {
        let times = (PERIOD, Nanos(WAKE as u64));
        Self {
            choice: LiveChoice::new(candidates(), playing, times, promise.map(Nanos)),
            swaps: Vec::new(),
            parallel: [0.6, 0.6],
        }
    }

    /// Plays windows of a graph whose nodes take `ns` together, of which the plan says `cost`.
    fn play(&mut self, windows: usize, ns: f64, cost: f64) {
        for _ in 0..windows {
            let mean = match self.choice.playing {
                0 => ns,
                index => ns * self.parallel[index - 1] + WAKE,
            };
            self.choice.add(CycleWindow {
                mean: Nanos(mean as u64),
                upper: Nanos((mean * 1.2) as u64),
                cost: Nanos(cost as u64),
                path: Nanos((cost * 0.2) as u64),
            });
            if let Some(swap) = self.choice.due() {
                self.swaps.push(swap);
                self.choice.swapped();
            }
        }
    }

    fn workers(&self) -> usize {
        self.choice.candidates[self.choice.playing].workers
    }
}

#[test]
fn a_graph_that_grows_from_5_to_500_nodes_goes_parallel_and_back_when_it_shrinks() {
    let mut model = Model::new(0, None);
    model.play(20, 1_000.0, 500.0);
    assert!(model.swaps.is_empty());
    model.play(20, 100_000.0, 50_000.0);
    assert_eq!(model.workers(), 2);
    let first = model.swaps[0];
    assert!(matches!(first.reason, SwapReason::Load { .. }) && first.from == 0);
    model.play(40, 1_000.0, 500.0);
    assert_eq!(model.workers(), 1);
    assert!(model.swaps.len() <= 4, "{:?}", model.swaps);
}

#[test]
fn a_trial_that_is_not_better_ends_after_two_windows_and_is_not_made_again_at_that_load() {
    let mut model = Model::new(0, None);
    model.parallel = [1.1, 1.1];
    model.play(10, 1_000.0, 500.0);
    model.play(2000, 100_000.0, 50_000.0);
    assert_eq!(model.workers(), 1);
    // Fused and unfused, there and back.
    assert_eq!(model.swaps.len(), 4, "{:?}", model.swaps);
    assert!(matches!(
        model.swaps[1].reason,
        SwapReason::NotBetter { .. }
    ));
}

#[test]
fn a_load_that_swings_every_n_windows_causes_a_bounded_number_of_swaps() {
    for n in 1..200 {
        let mut model = Model::new(0, None);
        for swing in 0..20_000 / n {
            let (ns, cost) = if swing % 2 == 0 {
                (1_000.0, 500.0)
            } else {
                (100_000.0, 50_000.0)
            };
            model.play(n, ns, cost);
        }
        assert!(model.swaps.len() <= 40, "{n}: {}", model.swaps.len());
    }
}

#[test]
fn a_load_of_the_same_graph_that_swings_causes_a_bounded_number_of_swaps() {
    for n in 1..200 {
        let mut model = Model::new(1, Some(20_000));
        for swing in 0..20_000 / n {
            let ns = if swing % 2 == 0 { 2_000.0 } else { 90_000.0 };
            model.play(n, ns, 30_000.0);
        }
        assert!(model.swaps.len() <= 40, "{n}: {}", model.swaps.len());
    }
}

#[test]
fn three_windows_slower_than_promised_in_a_row_are_a_reason_and_single_ones_are_not() {
    let mut model = Model::new(1, Some(17_000));
    model.parallel = [1.3, 1.3];
    model.play(2, 20_000.0, 20_000.0);
    model.play(1, 10_000.0, 20_000.0);
    model.play(2, 20_000.0, 20_000.0);
    assert!(model.swaps.is_empty());
    model.play(1, 20_000.0, 20_000.0);
    assert!(matches!(model.swaps[0].reason, SwapReason::Promise { .. }));
    model.play(100, 20_000.0, 20_000.0);
    assert_eq!((model.workers(), model.swaps.len()), (1, 1));
}

#[test]
fn a_promise_that_is_kept_changes_nothing() {
    let mut model = Model::new(1, Some(40_000));
    model.play(5000, 40_000.0, 40_000.0);
    // After an hour each is looked at once more.
    let kept = model.swaps.iter().filter(|swap| swap.from == 1).count();
    assert!(kept <= 4 && model.workers() == 2, "{:?}", model.swaps);
}

#[test]
fn nothing_is_tried_where_the_worst_case_leaves_no_room() {
    let mut model = Model::new(1, None);
    model.play(10, 100_000.0, 50_000.0);
    // On one worker it could take 1.2 ms of a period of 1.33.
    model.play(100, 600_000.0, 1_000_000.0);
    assert!(
        model.swaps.iter().all(|swap| swap.to != 0),
        "{:?}",
        model.swaps
    );
    // A graph that misses every period has nothing to lose.
    let mut late = Model::new(0, None);
    late.play(10, 100_000.0, 50_000.0);
    late.play(10, 1_400_000.0, 700_000.0);
    assert_eq!(late.workers(), 2);
}

#[test]
fn fusion_that_costs_is_left_when_the_load_has_changed() {
    let mut model = Model::new(1, None);
    model.parallel = [0.9, 0.6];
    model.play(10, 40_000.0, 40_000.0);
    model.play(30, 100_000.0, 100_000.0);
    assert!(!model.choice.candidates[model.choice.playing].fuse);
}

#[test]
fn an_edit_in_the_middle_of_a_trial_ends_it() {
    let mut model = Model::new(0, None);
    model.play(10, 1_000.0, 500.0);
    model.play(4, 100_000.0, 50_000.0);
    assert_eq!(model.workers(), 2);
    model.play(3, 1_000.0, 500.0);
    assert_eq!(model.workers(), 1);
    assert_eq!(model.swaps[1].reason, SwapReason::GraphChanged);
}
