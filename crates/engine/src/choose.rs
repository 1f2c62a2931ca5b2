//! Chooses the scheduler and the number of workers: by trying candidates on this graph, on this machine, now.
//!
//! ```text
//!   screen   sequential ▓ ▓ ▓ ▓   stealing x 2 ▓ ▓ ▓ ▓   hlfet x 2 ▓ ▓ ▓ ▓  …   each a few cycles, a period apart
//!   pairs    sequential ▓▓▓▓    ▓▓▓▓    ▓▓▓▓                                   the best of them beside the
//!            best           ▓▓▓▓    ▓▓▓▓    ▓▓▓▓                               sequential executor, in rounds
//!   compare  mean and 95th percentile ──▶ SchedulerChoice ──▶ kept with the costs of the machine
//! ```
//!
//! Live the candidates play as a driver does: asleep until each period begins, at the priority of the later playback where
//! that is granted, with the deadline of a period, over whole periods of deferred work and seconds of sound. A candidate must be
//! better than the sequential executor in the mean *and* at the 95th percentile, by more than a wake costs and by a quarter. Files are read and none
//! is written.
//!
//! The choice is kept by machine, graph, block, rate, workers, priority and waiting policy, with a reading of the machine's
//! state (`probe`). It is taken from there the next time the machine is in that state; in a new state the trials are made
//! again, and both choices are kept.
//! A choice that was made beside other programs is made again at the first start on a quiet machine (`disturbance`).
//! While it plays, `live` goes on: it compares what is lived with what was promised, and tries another schedule where
//! graph or load have changed. A broken promise drops the kept choice ([`forget_choice`]).

mod candidates;
mod choice;
mod compare;
mod disturbance;
mod fingerprint;
pub(crate) mod live;
mod options;
mod pace;
mod paired_trial;
mod probe;
mod trials;

use crate::{EngineError, EngineOptions};
use choice::from_costs;
use costs::{ChosenSchedule, MachineCosts, MachineProbe};
use disturbance::Disturbance;
use graph::{Catalogue, Graph};
use processor::{Mode, Registry};
use rt::stamp::TickScale;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use trials::{Trials, TrialsResult};

pub use choice::{ChoiceReason, SchedulerChoice, SchedulerTrial};
pub(crate) use compare::CycleTimes;
pub use options::ChooseOptions;

/// Time beyond the limit after which a trial counts as unresponsive: some node does not return.
const GRACE: Duration = Duration::from_secs(10);
/// Number of states of the machine for which choices are kept.
const MAX_STATES: usize = 4;
/// Interval at which the flag that ends the trials is read.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Chooses how `graph` is played: live by the mean and the 95th percentile of the cycles, offline by the mean. The choice is
/// [`Scheduler::Sequential`](crate::Scheduler::Sequential) on one worker where nothing is clearly better, unless all
/// workers must be used. The choice, and what had to be measured for it, is stored in `machine`: write that back.
///
/// # Errors
///
/// The mistakes in the graph, as for [`Engine::new`](crate::Engine::new).
///
/// Real-time: waits, on a thread that tries the graph, for `options.limit` and some; for ten seconds more if a node
/// does not return.
pub fn choose_scheduler(
    graph: &Graph,
    registry: &Arc<Registry>,
    options: &ChooseOptions,
    machine: &mut MachineCosts,
) -> Result<SchedulerChoice, EngineError> {
    if options.engine.workers <= 1 {
        return Ok(SchedulerChoice::sequential(ChoiceReason::OneWorker));
    }
    let key = fingerprint::key(graph, options);
    let start = Instant::now();
    let now = probe::probe(TickScale::calibrated());
    if options.ignore_cached {
        forget_choice(graph, options, machine);
    }
    if let Some(choice) = kept_choice(&key, &now, machine, disturbance::is_quiet()) {
        return Ok(choice);
    }
    if is_shorter_than_trials(options) {
        return Ok(SchedulerChoice::sequential(ChoiceReason::RunTooShort));
    }
    let has_machine_changed = state_keys(&key).any(|key| machine.choices.contains_key(&key));
    let disturbance = Disturbance::begin();
    let found = try_out(graph, registry, options, machine)?;
    let mut choice = found.choice;
    choice.was_disturbed = disturbance.was_large();
    choice.elapsed = start.elapsed();
    choice.has_machine_changed = has_machine_changed;
    choice.probe = Some(now);
    if let Some(facts) = found.facts {
        machine.core_timings = Some(facts);
    }
    if let Some(costs) = found.costs {
        costs.store(machine, &options.patch, graph, registry.catalogue());
    }
    if choice.is_to_keep() {
        machine.keep_choice(free_key(&key, machine), choice.to_costs());
    }
    Ok(choice)
}

/// Returns true if fewer blocks will be played than one paired trial plays of each executor. Making the candidates' runs would
/// take longer than the run: 100,000 nodes are planned in seconds.
fn is_shorter_than_trials(options: &ChooseOptions) -> bool {
    let is_short = |blocks| blocks < paired_trial::MIN_CYCLES as u64;
    !options.engine.use_all_workers && options.blocks.is_some_and(is_short)
}

/// Keys of the choices for one graph and its options: one for each state of the machine that was met. A virtual machine's
/// cores go back and forth between two threads of one core and two cores, and each state has its own choice.
fn state_keys(key: &str) -> impl Iterator<Item = String> {
    (1..=MAX_STATES).map(move |state| format!("{key} state {state}"))
}

/// The first key without a choice, else that of the oldest choice.
fn free_key(key: &str, machine: &MachineCosts) -> String {
    let age = |key: &String| machine.choices.get(key).map_or(0, |kept| kept.at_s);
    let oldest = state_keys(key).min_by_key(age);
    oldest.expect("there is at least one state")
}

/// The choice that was kept for the machine as it is now. One that other programs disturbed is dropped where `is_quiet`.
fn kept_choice(
    key: &str,
    now: &MachineProbe,
    machine: &mut MachineCosts,
    is_quiet: bool,
) -> Option<SchedulerChoice> {
    for key in state_keys(key) {
        let kept = machine.choices.get(&key);
        match kept.and_then(|kept| unchanged_choice(kept, now)) {
            Some(choice) if is_quiet && choice.was_disturbed => {
                machine.choices.remove(&key);
            }
            Some(choice) => return Some(choice),
            None => {}
        }
    }
    None
}

/// The kept choice, if the machine is still in the state in which it was made.
fn unchanged_choice(kept: &ChosenSchedule, now: &MachineProbe) -> Option<SchedulerChoice> {
    let before = kept.probe.as_ref()?;
    probe::is_unchanged(before, now).then(|| from_costs(kept))?
}

/// Drops what is kept for `graph` and `options`, so that the next start tries again: for an engine that turned out slower
/// than the sequential executor. Returns true if there was something.
pub fn forget_choice(graph: &Graph, options: &ChooseOptions, machine: &mut MachineCosts) -> bool {
    let key = fingerprint::key(graph, options);
    let dropped = state_keys(&key).filter(|key| machine.choices.remove(key).is_some());
    dropped.count() > 0
}

/// Runs the trials on a thread of their own, which is left alone if it does not return.
fn try_out(
    graph: &Graph,
    registry: &Arc<Registry>,
    options: &ChooseOptions,
    machine: &MachineCosts,
) -> Result<TrialsResult, EngineError> {
    let trials = Trials::new(graph, registry, options, machine);
    let (sender, found) = channel();
    let thread = std::thread::Builder::new().name("divisi-choose".into());
    let started = thread.spawn(move || {
        // Nobody receives it where it took too long.
        let _ = sender.send(trials.run());
    });
    started.map_err(EngineError::Threads)?;
    let end = Instant::now() + options.time_limit + GRACE;
    let reason = loop {
        match found.recv_timeout(POLL_INTERVAL) {
            Ok(found) => return found,
            Err(RecvTimeoutError::Disconnected) => break ChoiceReason::Panicked,
            Err(RecvTimeoutError::Timeout) if options.is_stopped() => {
                break ChoiceReason::Interrupted;
            }
            Err(RecvTimeoutError::Timeout) if Instant::now() >= end => {
                break ChoiceReason::Unresponsive;
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    let choice = SchedulerChoice::untried(&options.engine, reason);
    Ok(TrialsResult::only(choice))
}

impl EngineOptions {
    /// Takes over what is known of this machine, and of the nodes of the graph that is named `patch`.
    pub fn apply_measurements(
        &mut self,
        machine: &MachineCosts,
        patch: &str,
        graph: &Graph,
        catalogue: &Catalogue,
    ) {
        self.costs = machine
            .of_graph(patch, graph, catalogue, self.block)
            .typical();
        self.core_timings = machine.core_timings.clone().unwrap_or_default();
    }

    pub(crate) fn is_live(&self) -> bool {
        self.mode == Mode::Live
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(at_s: u64) -> ChosenSchedule {
        ChosenSchedule {
            at_s,
            ..ChosenSchedule::default()
        }
    }

    #[test]
    fn a_choice_for_each_state_of_the_machine_is_kept_and_the_oldest_gives_way() {
        let mut machine = MachineCosts::default();
        for (at_s, place) in [(40, 1), (10, 2), (30, 3), (20, 4), (50, 2), (60, 4)] {
            let key = free_key("graph", &machine);
            assert_eq!(key, format!("graph state {place}"));
            machine.keep_choice(key, kept(at_s));
        }
        assert_eq!(machine.choices.len(), MAX_STATES);
        assert_eq!(free_key("other", &machine), "other state 1");
    }

    #[test]
    fn a_choice_of_another_state_or_of_an_earlier_version_is_not_taken() {
        let now = MachineProbe {
            crossing_ns: Some(150.0),
            wake_ns: Some(1_300.0),
            computation_ns: 2_700.0,
        };
        let there = MachineProbe {
            crossing_ns: Some(30.0),
            ..now
        };
        let chosen = |probe| ChosenSchedule {
            scheduler: "hlfet".into(),
            workers: 2,
            probe,
            ..ChosenSchedule::default()
        };
        assert!(unchanged_choice(&chosen(Some(now)), &now).is_some());
        assert!(unchanged_choice(&chosen(Some(there)), &now).is_none());
        assert!(unchanged_choice(&chosen(None), &now).is_none());
    }

    #[test]
    fn a_choice_that_was_made_on_a_busy_machine_holds_until_it_is_quiet() {
        let now = MachineProbe {
            computation_ns: 2_700.0,
            ..MachineProbe::default()
        };
        let mut machine = MachineCosts::default();
        let mut keep = |was_disturbed| {
            let chosen = ChosenSchedule {
                scheduler: "sequential".into(),
                workers: 1,
                probe: Some(now),
                was_disturbed,
                ..ChosenSchedule::default()
            };
            machine.keep_choice("graph state 1".into(), chosen);
            let mut kept = |is_quiet| kept_choice("graph", &now, &mut machine, is_quiet).is_some();
            [kept(false), kept(true), kept(false)]
        };
        assert_eq!(keep(true), [true, false, false]);
        assert_eq!(keep(false), [true, true, true]);
    }
}
