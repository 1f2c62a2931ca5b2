//! Runs a row: equal steps, one behind the other, in one call.

use super::claim::StepClaim;
use super::run::run_plain;
use processor::{MAX_ROW, Processor, RowMember};

/// Runs the claimed step and, with it, those of its row behind it, up to one that sleeps or has something else to do. Returns the number
/// of these.
///
/// Real-time: hot.
#[inline(never)]
pub(super) fn run_row(claim: StepClaim<'_>, processor: *mut dyn Processor) -> u32 {
    let mut members = [RowMember::NONE; MAX_ROW];
    let mut count = 0;
    for (place, mut claim) in members.iter_mut().zip(claim.row()) {
        match claim.row_member() {
            Some(member) => *place = member,
            None => break,
        }
        count += 1;
    }
    if count < 2 {
        run_plain(claim, processor);
        return 0;
    }
    claim.process_row(&members[..count]);
    count as u32 - 1
}
