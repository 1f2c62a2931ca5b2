//! [`LiveChoice`]: decides, from what is lived, when another schedule is tried or taken while the sound plays.
//!
//! It is a function of the figures that it is fed: no clock, no thread. A *window* is about a second of cycles.
//!
//! ```text
//!            3 windows in a row give        the window after
//!            a reason, and the dwell        the first one is
//!            time is over                   compared
//!   playing ───────────────────────▶ trial ─────────────────▶ better: it stays
//!      ▲                               │                      (taken again: the dwell time doubles)
//!      └───────────────────────────────┘
//!             not better: back, and the dwell time doubles
//! ```
//!
//! | reason to try another | |
//! |---|---|
//! | a broken promise | playing takes longer than the sequential executor took in the trials before the start |
//! | another load | the cycles have grown or shrunk by half since both were compared, and the plan says that the other is better |
//!
//! A candidate is only ever tried as what plays, with the same bits, and only where the worst that it can take leaves room
//! in the period. The dwell time begins at 8 windows, doubles up to 4096, and halves when no reason was seen for 16 times as
//! long. So a load that swings causes a number of swaps that grows with the logarithm of its swings.

use super::compare::gains;
use crate::Scheduler;
use units::Nanos;

/// Windows in a row that must give the same reason.
const REASON_WINDOWS: u32 = 3;
/// First and longest dwell time, in windows.
const DWELL: (u32, u32) = (8, 4096);
/// The dwell time halves after so many dwell times without a reason.
const QUIET: u32 = 16;
/// Windows of a trial that are not compared: caches are cold.
const WARM_UP: u32 = 1;
/// Factor by which the load must change for a comparison to be out of date.
const STALE: f64 = 1.5;
/// Windows after which a comparison is out of date: about an hour.
const MAX_AGE: u64 = 3600;
/// Part of the playing time that the plan must promise to be gained.
const PROMISED_GAIN: f64 = 0.1;
/// Largest part of the period that a candidate may take at worst to be tried.
const ROOM: f64 = 0.7;
/// Difference of the planned costs that makes another graph.
const SAME_GRAPH: f64 = 0.05;
/// Time that a callback takes beside its cycle, which is no broken promise.
const BESIDE: Nanos = Nanos(300);

/// A way to play a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LiveCandidate {
    pub(crate) scheduler: Scheduler,
    pub(crate) workers: usize,
    /// True if cheap steps are fused.
    pub(crate) fuse: bool,
}

/// A window: cycles that were lived, and what the plan promises.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CycleWindow {
    /// Mean of the cycles but the longest 5 %.
    pub(crate) mean: Nanos,
    /// 95th percentile.
    pub(crate) upper: Nanos,
    /// Planned cost of all nodes.
    pub(crate) cost: Nanos,
    /// Planned cost of the longest path.
    pub(crate) path: Nanos,
}

/// A change from one candidate to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Swap {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) reason: SwapReason,
}

/// Reason for a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SwapReason {
    /// It takes `lived`, and the sequential executor took `promised`: that is tried.
    Promise { lived: Nanos, promised: Nanos },
    /// It takes `lived`, and the plan says that the other takes `planned`: that is tried.
    Load { lived: Nanos, planned: Nanos },
    /// The trial took `lived` and was not better than `before`.
    NotBetter { lived: Nanos, before: Nanos },
    /// The graph changed in the middle of a trial.
    GraphChanged,
}

/// A comparison of a candidate with the one that plays.
#[derive(Clone, Copy, Debug)]
struct Compared {
    /// Mean of the one that plays, then.
    load: f64,
    /// Number of the window.
    at: u64,
}

#[derive(Clone, Copy, Debug)]
struct Trial {
    from: usize,
    before: CycleWindow,
    warm_up: u32,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct LiveChoice {
    candidates: Vec<LiveCandidate>,
    playing: usize,
    period: Nanos,
    /// Time that waking the workers takes.
    wake: Nanos,
    /// Mean of the sequential executor before the start, as long as the graph is the same.
    promise: Option<Nanos>,
    compared: Vec<Option<Compared>>,
    /// Candidates that have been taken before.
    taken: Vec<bool>,
    trial: Option<Trial>,
    last: Option<CycleWindow>,
    windows: u64,
    since_swap: u32,
    dwell: u32,
    quiet: u32,
    reason: Option<(SwapReason, usize)>,
    reason_windows: u32,
    next: Option<Swap>,
}

impl LiveChoice {
    /// The candidate number `playing` plays. The first candidate is the sequential one.
    pub(crate) fn new(
        candidates: Vec<LiveCandidate>,
        playing: usize,
        (period, wake): (Nanos, Nanos),
        promise: Option<Nanos>,
    ) -> Self {
        let count = candidates.len();
        let mut taken = vec![false; count];
        taken[playing] = true;
        Self {
            candidates,
            playing,
            period,
            wake,
            promise: promise.filter(|_| playing != 0),
            compared: vec![None; count],
            taken,
            trial: None,
            last: None,
            windows: 0,
            since_swap: DWELL.0,
            dwell: DWELL.0,
            quiet: 0,
            reason: None,
            reason_windows: 0,
            next: None,
        }
    }

    /// Candidate number `index`.
    pub(crate) fn candidate(&self, index: usize) -> LiveCandidate {
        self.candidates[index]
    }

    /// Adds a window of what plays.
    pub(crate) fn add(&mut self, window: CycleWindow) {
        self.windows += 1;
        self.since_swap = self.since_swap.saturating_add(1);
        match &mut self.trial {
            Some(trial) if trial.warm_up > 0 => trial.warm_up -= 1,
            Some(trial) => {
                let trial = *trial;
                self.judge(trial, window);
            }
            None => self.look_for_reason(window),
        }
    }

    /// The change that is due; it is asked for again until [`swapped`](Self::swapped) is called.
    pub(crate) fn due(&self) -> Option<Swap> {
        self.next
    }

    /// The change that was due is on its way to the audio thread.
    pub(crate) fn swapped(&mut self) {
        let Some(swap) = self.next.take() else {
            return;
        };
        self.since_swap = 0;
        self.reason = None;
        self.reason_windows = 0;
        self.playing = swap.to;
        self.trial = match swap.reason {
            SwapReason::Promise { .. } | SwapReason::Load { .. } => self.last.map(|before| Trial {
                from: swap.from,
                before,
                warm_up: WARM_UP,
            }),
            SwapReason::NotBetter { .. } | SwapReason::GraphChanged => {
                self.dwell = (2 * self.dwell).min(DWELL.1);
                None
            }
        };
    }

    /// Compares the window of a trial with the one before it.
    fn judge(&mut self, trial: Trial, window: CycleWindow) {
        let (from, to) = (trial.from, self.playing);
        let back = |reason| {
            Some(Swap {
                from: to,
                to: from,
                reason,
            })
        };
        if !is_near(trial.before.cost, window.cost) {
            self.next = back(SwapReason::GraphChanged);
            return;
        }
        let compared = |mean: Nanos| {
            Some(Compared {
                load: mean.0 as f64,
                at: self.windows,
            })
        };
        if self.is_better(&window, &trial.before, (to, from)) {
            self.compared[from] = compared(window.mean);
            self.trial = None;
            self.last = Some(window);
            if std::mem::replace(&mut self.taken[to], true) {
                self.dwell = (2 * self.dwell).min(DWELL.1);
            }
        } else {
            self.compared[to] = compared(trial.before.mean);
            self.next = back(SwapReason::NotBetter {
                lived: window.mean,
                before: trial.before.mean,
            });
        }
    }

    /// Returns true if `new` is better than `old` in mean and upper time, by more than readings can tell, and by more than
    /// a wake where it wakes more workers.
    fn is_better(&self, new: &CycleWindow, old: &CycleWindow, (to, from): (usize, usize)) -> bool {
        let workers = |index: usize| self.candidates[index].workers;
        let margin = if workers(to) > workers(from) {
            self.wake
        } else {
            Nanos(0)
        };
        gains(new.mean, old.mean, margin) && gains(new.upper, old.upper, margin)
    }

    fn look_for_reason(&mut self, window: CycleWindow) {
        if self
            .last
            .is_some_and(|last| !is_near(last.cost, window.cost))
        {
            self.promise = None;
        }
        // At the start all counts as compared: the trials before the start have done so.
        if self.last.replace(window).is_none() {
            let compared = Compared {
                load: window.mean.0 as f64,
                at: self.windows,
            };
            self.compared.fill(Some(compared));
        }
        let reason = self.find_reason(&window);
        let candidate = |reason: Option<(SwapReason, usize)>| reason.map(|(_, to)| to);
        let is_same = reason.is_some() && candidate(reason) == candidate(self.reason);
        self.reason_windows = match reason {
            None => 0,
            Some(_) if is_same => self.reason_windows + 1,
            Some(_) => 1,
        };
        self.reason = reason;
        self.relax();
        let (is_due, is_over) = (
            self.reason_windows >= REASON_WINDOWS,
            self.since_swap >= self.dwell,
        );
        if let Some((reason, to)) = reason.filter(|_| is_due && is_over) {
            let from = self.playing;
            self.next = Some(Swap { from, to, reason });
            if matches!(reason, SwapReason::Promise { .. }) {
                self.promise = None;
            }
        }
    }

    /// Halves the dwell time after a long time without a reason.
    fn relax(&mut self) {
        self.quiet = if self.reason.is_some() {
            0
        } else {
            self.quiet + 1
        };
        if self.quiet >= QUIET.saturating_mul(self.dwell) {
            self.dwell = (self.dwell / 2).max(DWELL.0);
            self.quiet = 0;
        }
    }

    /// The best reason for another candidate than the one that plays.
    fn find_reason(&self, window: &CycleWindow) -> Option<(SwapReason, usize)> {
        if let Some(promised) = self.promise
            && gains(promised, window.mean, BESIDE)
        {
            let lived = window.mean;
            return Some((SwapReason::Promise { lived, promised }, 0));
        }
        let mut others = (0..self.candidates.len()).filter(|other| *other != self.playing);
        let mut best: Option<(f64, usize)> = None;
        for other in others.by_ref() {
            let planned = self.planned(window, other);
            let is_best = best.is_none_or(|(time, _)| planned < time);
            if is_best && self.is_worth_a_trial(window, other, planned) {
                best = Some((planned, other));
            }
        }
        let (planned, to) = best?;
        let (lived, planned) = (window.mean, Nanos(planned as u64));
        Some((SwapReason::Load { lived, planned }, to))
    }

    fn is_worth_a_trial(&self, window: &CycleWindow, other: usize, planned: f64) -> bool {
        let mean = window.mean.0 as f64;
        let is_out_of_date = self.compared[other].is_none_or(|compared| {
            let (low, high) = (mean.min(compared.load), mean.max(compared.load));
            high > STALE * low || self.windows - compared.at > MAX_AGE
        });
        let promises = planned < mean * (1.0 - PROMISED_GAIN);
        is_out_of_date && promises && self.has_room(window, other)
    }

    /// Time of a cycle of `other` as the plan says, with nodes as costly as they are now.
    fn planned(&self, window: &CycleWindow, other: usize) -> f64 {
        let now = self.planned_units(window, self.playing);
        let (lived, wake) = (window.mean.0 as f64, self.wake.0 as f64);
        let woken = |index: usize| {
            if self.candidates[index].workers > 1 {
                wake
            } else {
                0.0
            }
        };
        let unit = (lived - woken(self.playing)).max(0.0) / now;
        let same_workers = self.candidates[other].workers == self.candidates[self.playing].workers;
        // The plan does not say if fusion pays: once for each load it is worth a look.
        let hope = if same_workers {
            1.0 - 1.5 * PROMISED_GAIN
        } else {
            1.0
        };
        (unit * self.planned_units(window, other) + woken(other)) * hope
    }

    /// Planned cost of a cycle: that of all nodes over the workers, and at least the longest path (Graham 1966).
    fn planned_units(&self, window: &CycleWindow, index: usize) -> f64 {
        let workers = self.candidates[index].workers as f64;
        let (cost, path) = (window.cost.0 as f64, window.path.0 as f64);
        (cost / workers).max(path.min(cost)).max(1.0)
    }

    /// Returns true if a cycle of `other` leaves room in the period at worst: on one worker all that the workers do now, on
    /// several the same time as now and a wake. Where cycles miss the period anyway nothing can be lost.
    fn has_room(&self, window: &CycleWindow, other: usize) -> bool {
        let (upper, period) = (window.upper.0 as f64, self.period.0 as f64);
        let (now, then) = (
            self.candidates[self.playing].workers,
            self.candidates[other].workers,
        );
        let worst = match then < now {
            true => upper * now as f64 / then as f64,
            false => upper + self.wake.0 as f64,
        };
        worst <= ROOM * period || (then > now && upper >= period)
    }
}

/// Returns true if two planned costs are those of one graph.
fn is_near(one: Nanos, other: Nanos) -> bool {
    let (one, other) = (one.0 as f64, other.0 as f64);
    (one - other).abs() <= SAME_GRAPH * one.max(other)
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
