//! Which scheduler, on how many workers: tried out on this graph, on this machine, now.
//!
//! Every candidate plays the same first blocks to nobody, at the priority that the graph will be played at where that
//! is granted, with processors of its own that are thrown away; files are read and none is written. They take turns,
//! again and again, so that what disturbs one disturbs all. What is chosen is kept with the costs, by machine, graph,
//! block, rate, workers, priority and waiting policy, and is taken from there the next time: two starts then play
//! alike.
//!
//! An engine keeps its choice while it plays, whatever is edited: its threads are made once. After a start with the
//! edited graph another choice may be better.

mod candidates;
mod choice;
mod contest;
mod fingerprint;
mod judge;

use crate::{EngineError, EngineOptions, Scheduler};
use choice::kept;
use contest::{Contest, Found};
use graph::Graph;
use processor::{Mode, Registry};
use report::MachineCosts;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

pub use choice::{ChoiceReason, SchedulerChoice, SchedulerTrial};

/// Who does not answer within so much more than the limit is not waited for: some node does not return.
const GRACE: Duration = Duration::from_secs(10);

/// How to choose.
#[derive(Clone, Debug)]
pub struct ChooseOptions {
    /// What is wished; as many workers as may work at most. Its scheduler does not matter.
    pub engine: EngineOptions,
    /// What the graph is called in the costs file.
    pub patch: String,
    /// How long candidates may be tried, about. Offline it is less where there is less to gain.
    pub time_limit: Duration,
    /// Offline: how many blocks will be played, where that is known.
    pub blocks: Option<u64>,
    /// Whether a choice that was made before counts for nothing.
    pub ignore_cached: bool,
}

impl ChooseOptions {
    /// Half a second, and what was chosen before is taken again.
    pub fn new(engine: EngineOptions, patch: impl Into<String>) -> Self {
        Self {
            engine,
            patch: patch.into(),
            time_limit: Duration::from_millis(500),
            blocks: None,
            ignore_cached: false,
        }
    }
}

/// Chooses how `graph` is to be played: live by the worst cycle and then the mean one, offline by the mean one. It is
/// [`Scheduler::Sequential`] on one worker, the sequential code itself, where nothing is clearly better, unless workers
/// are forced. The choice, and what had to be measured for it, is kept in `machine`: write that back.
///
/// # Errors
///
/// What is wrong with the graph, as for [`Engine::new`](crate::Engine::new).
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
    if let Some(choice) = before.and_then(kept) {
        return Ok(choice);
    }
    let begun = Instant::now();
    let found = try_out(graph, registry, options, machine)?;
    let mut choice = found.choice;
    choice.elapsed = begun.elapsed();
    if let Some(facts) = found.facts {
        machine.facts = Some(facts);
    }
    if let Some(costs) = found.costs {
        costs.store(machine, &options.patch, graph);
    }
    if choice.reason == ChoiceReason::Measured {
        machine.keep_choice(key, choice.to_keep());
    }
    Ok(choice)
}

/// On a thread of its own, which is left alone if it does not come back.
fn try_out(
    graph: &Graph,
    registry: &Arc<Registry>,
    options: &ChooseOptions,
    machine: &MachineCosts,
) -> Result<Found, EngineError> {
    let contest = Contest::new(graph, registry, options, machine);
    let (sender, found) = channel();
    let thread = std::thread::Builder::new().name("divisi-choose".into());
    let started = thread.spawn(move || {
        // Nobody listens any more where it took too long.
        let _ = sender.send(contest.hold());
    });
    started.map_err(EngineError::Threads)?;
    let why = match found.recv_timeout(options.time_limit + GRACE) {
        Ok(found) => return found,
        Err(RecvTimeoutError::Timeout) => ChoiceReason::Unresponsive,
        Err(RecvTimeoutError::Disconnected) => ChoiceReason::Panicked,
    };
    Ok(Found::only(blind(&options.engine, why)))
}

/// What is chosen where nobody could be tried.
fn blind(wished: &EngineOptions, why: ChoiceReason) -> SchedulerChoice {
    match wished.use_all_workers {
        true => SchedulerChoice::of(Scheduler::Stealing, wished.workers, why),
        false => SchedulerChoice::sequential(why),
    }
}

impl EngineOptions {
    /// Takes over what is known of this machine, and of the nodes of the graph that is called `patch`.
    pub fn apply_measurements(&mut self, machine: &MachineCosts, patch: &str, graph: &Graph) {
        self.costs = machine.of_graph(patch, graph, self.block);
        self.core_timings = machine.facts.clone().unwrap_or_default();
    }

    pub(crate) fn is_live(&self) -> bool {
        self.mode == Mode::Live
    }
}
