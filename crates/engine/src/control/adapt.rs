//! [`Adaptation`]: times of the playing graph, in windows of about a second, for [`LiveChoice`]; and its decisions as live edits.
//!
//! A choice rests on half a second of trials; a session plays for hours, is edited, runs beside other programs, on cores
//! that a host may move. So an engine whose scheduler was chosen goes on choosing. A change is a swap: the sound is the same,
//! for every executor gives the same bits, and nodes keep their state.

use super::Engine;
use crate::choose::CycleTimes;
use crate::choose::live::{CycleWindow, LiveCandidate, LiveChoice, Swap, SwapReason};
use crate::{EngineOptions, Scheduler};
use plan::Plan;
use processor::Mode;
use units::Nanos;

/// Smallest and largest number of cycles in a window.
const CYCLES: (u64, u64) = (64, 1024);
/// Length of a window in between.
const WINDOW: Nanos = Nanos(1_000_000_000);
/// Cost of a wake where it has not been measured.
const WAKE: Nanos = Nanos(3_000);
/// Changes that are remembered.
const MAX_CHANGES: usize = 64;

/// A change of the schedule while it played.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleChange {
    /// Absolute frame at which it was decided.
    pub frame: u64,
    /// Scheduler from here on.
    pub scheduler: Scheduler,
    /// Number of workers from here on.
    pub workers: usize,
    /// True if cheap steps are fused from here on.
    pub fuse: bool,
    /// True if it is on trial: the next windows decide if it stays.
    pub is_trial: bool,
    /// The reason, in a sentence.
    pub reason: String,
}

/// Figures of what plays, and the decisions that follow.
#[derive(Debug)]
pub(super) struct Adaptation {
    choice: LiveChoice,
    times: CycleTimes,
    cycles: usize,
    changes: Vec<ScheduleChange>,
    /// Number of changes, those that are forgotten too.
    count: u64,
    broken_promise: Option<String>,
}

impl Adaptation {
    /// For an engine with `options`, whose pool has `workers`, and `plan`. `None` if its scheduler was not chosen, or cannot
    /// change while it plays: the latency of a pipeline must not.
    pub(super) fn new(options: &EngineOptions, workers: usize, plan: &Plan) -> Option<Self> {
        let is_chosen = options.is_chosen || options.sequential_mean.is_some();
        let is_free = !options.use_all_workers && plan.latency_blocks == 0;
        if !is_chosen || !is_free || workers < 2 || options.mode != Mode::Live {
            return None;
        }
        let candidates = candidates(options, workers);
        let is_playing = |it: &LiveCandidate| it.scheduler == options.scheduler;
        let playing = candidates.iter().position(is_playing)?;
        let period = options.period();
        let measured = options.core_timings.wake_ns.map(|ns| Nanos(ns as u64));
        let wake = measured.unwrap_or(WAKE);
        Some(Self {
            choice: LiveChoice::new(candidates, playing, (period, wake), options.sequential_mean),
            times: CycleTimes::default(),
            cycles: (WINDOW.0 / period.0.max(1)).clamp(CYCLES.0, CYCLES.1) as usize,
            changes: Vec::new(),
            count: 0,
            broken_promise: None,
        })
    }

    /// Adds the duration of a cycle of `plan`.
    pub(super) fn add(&mut self, duration_ns: u64, plan: &Plan) {
        self.times.add(Nanos(duration_ns));
        if self.times.len() < self.cycles {
            return;
        }
        let (mean, upper) = self.times.summary();
        self.times = CycleTimes::default();
        self.choice.add(CycleWindow {
            mean,
            upper,
            cost: total_cost(plan),
            path: plan.lower_bound(usize::MAX),
        });
    }

    /// Drops the window that has begun: another plan plays, or two graphs do.
    pub(super) fn restart_window(&mut self) {
        self.times = CycleTimes::default();
    }

    fn record(&mut self, swap: Swap, frame: u64) {
        let (from, to) = (
            self.choice.candidate(swap.from),
            self.choice.candidate(swap.to),
        );
        let reason = sentence(swap.reason, (from, to));
        if matches!(swap.reason, SwapReason::Promise { .. }) {
            self.broken_promise = Some(reason.clone());
        }
        if self.changes.len() == MAX_CHANGES {
            self.changes.remove(0);
        }
        self.count += 1;
        self.changes.push(ScheduleChange {
            frame,
            scheduler: to.scheduler,
            workers: to.workers,
            fuse: to.fuse,
            is_trial: matches!(
                swap.reason,
                SwapReason::Promise { .. } | SwapReason::Load { .. }
            ),
            reason,
        });
    }
}

/// Planned cost of all nodes. Copies of nodes are part of a schedule, not of the graph.
fn total_cost(plan: &Plan) -> Nanos {
    let originals = plan.steps.iter().filter(|step| step.copy == 0);
    let costs = originals.map(|step| step.cost);
    costs.fold(Nanos(0), Nanos::saturating_add)
}

/// The sequential executor, and the chosen scheduler on all workers of the pool, with fusion and without.
fn candidates(options: &EngineOptions, workers: usize) -> Vec<LiveCandidate> {
    let one = |scheduler, workers, fuse| LiveCandidate {
        scheduler,
        workers,
        fuse,
    };
    let parallel = match options.scheduler {
        Scheduler::Auto | Scheduler::Sequential => Scheduler::Stealing,
        chosen => chosen,
    };
    let mut all = vec![
        one(Scheduler::Sequential, 1, options.fuse),
        one(parallel, workers, options.fuse),
    ];
    // Who asks for no fusion gets none.
    all.extend(options.fuse.then(|| one(parallel, workers, false)));
    all
}

fn sentence(reason: SwapReason, (from, to): (LiveCandidate, LiveCandidate)) -> String {
    let us = |time: Nanos| format!("{:.1} µs", time.micros());
    let name = |it: LiveCandidate| match (it.workers, it.fuse) {
        (1, _) => it.scheduler.to_string(),
        (_, true) => format!("{} fused", it.scheduler),
        (_, false) => format!("{} unfused", it.scheduler),
    };
    let both = match from.scheduler == to.scheduler {
        true => (name(from), name(to)),
        false => (from.scheduler.to_string(), to.scheduler.to_string()),
    };
    let (from, to) = both;
    match reason {
        SwapReason::Promise { lived, promised } => format!(
            "{from} took {} a cycle, sequential took {} when it was tried: {to} on trial",
            us(lived),
            us(promised)
        ),
        SwapReason::Load { lived, planned } => format!(
            "{from} takes {} a cycle now, {to} may take {}: {to} on trial",
            us(lived),
            us(planned)
        ),
        SwapReason::NotBetter { lived, before } => format!(
            "{from} took {} a cycle in its trial, {to} took {}: {to} again",
            us(lived),
            us(before)
        ),
        SwapReason::GraphChanged => {
            format!("the graph changed during the trial of {from}: {to} again")
        }
    }
}

impl Engine {
    /// Goes over to the schedule that is due, if one is.
    pub(super) fn adapt(&mut self) {
        let Some(mut adaptation) = self.adaptation.take() else {
            return;
        };
        // While an edit fades two graphs play: the decision waits.
        if let Some(swap) = adaptation.choice.due()
            && self.transition.is_none()
            && self.swap_schedule(adaptation.choice.candidate(swap.to))
        {
            adaptation.record(swap, self.position);
            adaptation.choice.swapped();
        }
        self.adaptation = Some(adaptation);
    }

    /// Swaps to the same graph under another schedule; returns false if an edit is on its way.
    fn swap_schedule(&mut self, to: LiveCandidate) -> bool {
        let options = &mut self.resources.options;
        let former = (options.scheduler, options.fuse);
        (options.scheduler, options.fuse) = (to.scheduler, to.fuse);
        let playing = self.playing_graph().clone();
        let is_swapped = self.swap_to(&playing).is_ok();
        self.is_later_swap |= is_swapped;
        if !is_swapped {
            let options = &mut self.resources.options;
            (options.scheduler, options.fuse) = former;
        }
        is_swapped
    }

    /// Changes of the schedule while it played, oldest first: at most the last 64. Empty where the scheduler was not chosen.
    pub fn schedule_changes(&self) -> &[ScheduleChange] {
        self.adaptation.as_ref().map_or(&[], |it| &it.changes)
    }

    /// Returns true if the engine goes on choosing its schedule while it plays.
    pub fn is_adaptive(&self) -> bool {
        self.adaptation.is_some()
    }

    /// Scheduler that plays, or that is on its way.
    pub fn scheduler(&self) -> Scheduler {
        self.resources.options.scheduler
    }

    /// Returns true if cheap steps are fused by the schedule that plays.
    pub fn is_fused(&self) -> bool {
        self.resources.options.fuse && self.scheduler() != Scheduler::Sequential
    }

    /// A sentence, if the chosen scheduler turned out slower than the sequential executor was in the trials before the start:
    /// then the kept choice is to be dropped, with [`forget_choice`](crate::forget_choice).
    pub fn fallback_note(&self) -> Option<&str> {
        self.adaptation.as_ref()?.broken_promise.as_deref()
    }

    /// The last change of the schedule and the number of all, for the report.
    pub(super) fn schedule_notes(&self) -> Vec<String> {
        let Some(adaptation) = &self.adaptation else {
            return Vec::new();
        };
        let seconds = |frame: u64| frame as f64 / f64::from(self.resources.options.rate.hz());
        let last = adaptation.changes.iter().rev().take(MAX_NOTES).rev();
        let mut notes: Vec<String> = last
            .map(|change| format!("at {:.1} s: {}", seconds(change.frame), change.reason))
            .collect();
        let forgotten = adaptation.count as usize - notes.len();
        if forgotten > 0 {
            notes.insert(0, format!("the schedule changed {forgotten} times before"));
        }
        notes
    }
}

/// Changes that the report tells.
const MAX_NOTES: usize = 8;
