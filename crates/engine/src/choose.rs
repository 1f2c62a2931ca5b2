//! Chooses the scheduler and the number of workers: by trying candidates on this graph, on this machine, now.
//!
//! ```text
//!   candidates        sequential │ stealing x 2 │ hlfet x 2 │ …
//!   round 1               ▓▓▓    │     ▓▓       │    ▓▓     │        each runs the same first blocks,
//!   round 2               ▓▓▓    │     ▓▓       │    ▓▓     │        with processors of its own
//!   …                                                                until the time is over
//!   worst, mean cycle ──▶ compare ──▶ SchedulerChoice ──▶ kept with the costs of the machine
//! ```
//!
//! Candidates run at the priority of the later playback, where that is granted. Files are read and none is written.
//! They run in rounds, so that a disturbance meets all of them. The choice is kept by machine, graph, block, rate,
//! workers, priority and waiting policy, and is taken from there the next time: two starts then play alike.
//!
//! An engine keeps its choice while it plays, whatever is edited: its threads are made once. With an edited graph
//! another choice may be better at the next start.

mod candidates;
mod choice;
mod compare;
mod fingerprint;
mod options;
mod trials;

use crate::{EngineError, EngineOptions};
use choice::from_costs;
use costs::MachineCosts;
use graph::{Catalogue, Graph};
use processor::{Mode, Registry};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use trials::{Trials, TrialsResult};

pub use choice::{ChoiceReason, SchedulerChoice, SchedulerTrial};
pub use options::ChooseOptions;

/// Time beyond the limit after which a trial counts as unresponsive: some node does not return.
const GRACE: Duration = Duration::from_secs(10);
/// Interval at which the flag that ends the trials is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Chooses how `graph` is played: live by the worst cycle and then the mean one, offline by the mean one. The choice is
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
    let before = machine.choices.get(&key).filter(|_| !options.ignore_cached);
    if let Some(choice) = before.and_then(from_costs) {
        return Ok(choice);
    }
    let start = Instant::now();
    let found = try_out(graph, registry, options, machine)?;
    let mut choice = found.choice;
    choice.elapsed = start.elapsed();
    if let Some(facts) = found.facts {
        machine.core_timings = Some(facts);
    }
    if let Some(costs) = found.costs {
        costs.store(machine, &options.patch, graph, registry.catalogue());
    }
    if choice.reason == ChoiceReason::Measured {
        machine.keep_choice(key, choice.to_costs());
    }
    Ok(choice)
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
