//! Banks: steps whose processors the first of them computes side by side.
//!
//! ```text
//!  steps of a task, in order:   osc1  filter1  gain1  osc2 …         a bank of filter1 and filter2 if osc2 is before filter1
//! ```
//!
//! A step joins a bank if all that it waits for is before the bank's first step, the leader, in what one worker runs in order:
//! a task, or the whole plan. So it may run as early as the leader. What it writes early nobody reads any more: a slot is used
//! again behind steps that are ancestors of the next writer only (`plan`, pass 7), and these are before the leader too.

use super::plan::BoundPlan;
use super::step::{BoundStep, Operation, Preparation};
use plan::Plan;
use processor::{BankKind, BankMembers, MAX_BANK};
use std::any::TypeId;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// A step's place in a bank.
pub(crate) enum BankPlace {
    /// The first step: it runs the others too.
    Leader {
        run: fn(&mut BankMembers<'_>),
        /// The other steps, which come later in the same run.
        others: Box<[u32]>,
    },
    /// Another step.
    Member(PlayedMark),
}

/// Says if a member has run already in this cycle.
#[derive(Default)]
pub(crate) struct PlayedMark(AtomicBool);

impl PlayedMark {
    // Relaxed, both: the leader and the member are run by one worker, one after the other.
    pub(crate) fn set(&self, has_played: bool) {
        self.0.store(has_played, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A bank that may grow.
struct OpenBank {
    run: fn(&mut BankMembers<'_>),
    steps: Vec<u32>,
}

/// Forms the banks of a plan that was bound. One worker runs the steps of each of `runs` one after the other.
///
/// Real-time: setup.
pub(crate) fn join_banks(
    bound: &mut BoundPlan,
    plan: &Plan,
    runs: impl Iterator<Item = Range<u32>>,
) {
    if !bound.steps.iter().any(|step| bank_kind(step).is_some()) {
        return;
    }
    let last_before = last_before(plan);
    for run in runs.filter(|run| run.len() > 1) {
        let mut open: HashMap<TypeId, OpenBank> = HashMap::new();
        for at in run {
            let Some(kind) = bank_kind(&bound.steps[at as usize]) else {
                continue;
            };
            let new = || OpenBank {
                run: kind.run,
                steps: Vec::new(),
            };
            let bank = open.entry(kind.of).or_insert_with(new);
            let waits = |leader: &u32| last_before[at as usize].is_some_and(|it| it >= *leader);
            if bank.steps.len() == MAX_BANK || bank.steps.first().is_some_and(waits) {
                close(bound, std::mem::replace(bank, new()));
            }
            bank.steps.push(at);
        }
        open.into_values().for_each(|bank| close(bound, bank));
    }
}

/// Tells the steps of a bank of their places.
fn close(bound: &mut BoundPlan, bank: OpenBank) {
    let [leader, others @ ..] = bank.steps.as_slice() else {
        return;
    };
    if others.is_empty() {
        return;
    }
    let place = BankPlace::Leader {
        run: bank.run,
        others: others.into(),
    };
    let members = others
        .iter()
        .map(|at| (*at, BankPlace::Member(PlayedMark::default())));
    for (at, place) in std::iter::once((*leader, place)).chain(members) {
        let step = &mut bound.steps[at as usize];
        step.preparation = Preparation::Bank;
        step.cold.bank = Some(place);
    }
}

/// The way in which the processor of a step is computed side by side, if it may be: nothing is to be done before it in a block.
fn bank_kind(step: &BoundStep) -> Option<BankKind> {
    let is_plain = matches!(step.operation, Operation::Process(_))
        && step.preparation == Preparation::None
        && !step.cold.reads_delay_line;
    let processor = step.cold.processor.as_ref().filter(|_| is_plain)?;
    processor.bank.filter(|_| processor.lanes <= 1)
}

/// For each step, the last of those that it waits for.
pub(super) fn last_before(plan: &Plan) -> Vec<Option<u32>> {
    let mut last: Vec<Option<u32>> = vec![None; plan.steps.len()];
    for (id, step) in plan.steps_with_ids() {
        for next in step.successors.of(&plan.successors) {
            let last = &mut last[next.0 as usize];
            *last = (*last).max(Some(id.0));
        }
    }
    last
}
