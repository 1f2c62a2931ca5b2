//! Runs a bank: the leader's step runs the others too, side by side, and these find nothing left to do.

use super::claim::StepClaim;
use super::run::run_plain;
use crate::bound::{BankPlace, Operation};
use processor::{BankMember, BankMembers, MAX_BANK, Processor};

/// Runs a step that is in a bank.
///
/// Real-time: hot.
#[inline(never)]
pub(super) fn run_bank_step(claim: StepClaim<'_>, processor: *mut dyn Processor) {
    match &claim.step().cold.bank {
        Some(BankPlace::Leader { run, others }) => {
            run_leader(claim, *run, others);
        }
        Some(BankPlace::Member(played)) if played.is_set() => {}
        _ => run_plain(claim, processor),
    }
}

/// Runs the leader, and with it all others that have to be computed.
fn run_leader(claim: StepClaim<'_>, run: fn(&mut BankMembers<'_>), others: &[u32]) {
    let mut claims = [const { None }; MAX_BANK];
    let mut count = 0;
    for index in 0..=others.len().min(MAX_BANK - 1) {
        let mut member = claim.bank_member(index);
        if let Some(played) = member.played() {
            played.set(false);
        }
        if member.is_plain() {
            claims[count] = Some(member);
            count += 1;
        } else if index == 0 {
            run_alone(member);
        }
    }
    let claims = &mut claims[..count];
    match claims {
        [] => return,
        // Another one's turn comes.
        [Some(only)] if only.played().is_some() => return,
        [Some(only)] => return only.process_plain(),
        _ => {}
    }
    let mut members: BankMembers<'_> = [const { None }; MAX_BANK];
    for (member, claim) in members.iter_mut().zip(claims.iter_mut().flatten()) {
        *member = claim.begin_member();
    }
    run(&mut members);
    let statuses = members.map(|member| member.map(|it: BankMember<'_>| it.status));
    for (claim, status) in claims.iter_mut().flatten().zip(statuses) {
        if let Some(status) = status {
            claim.end_process(status);
            if let Some(played) = claim.played() {
                played.set(true);
            }
        }
    }
}

fn run_alone(claim: StepClaim<'_>) {
    if let Operation::Process(processor) = &claim.step().operation {
        run_plain(claim, *processor);
    }
}
