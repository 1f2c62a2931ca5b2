//! Methods of the claim on a step for the row that begins there.

use super::StepClaim;
use crate::bound::{BoundStep, RowWrite, StepState, ring};
use processor::{RowKind, RowMember, RowSteps};
use std::cell::Cell;
use std::mem::offset_of;

/// Steps of a row that have to be computed.
pub(in crate::step) struct PlainRow<'a> {
    kind: RowKind,
    members: &'a [RowMember],
}

impl PlainRow<'_> {
    /// Number of steps: at least 2.
    #[inline(always)]
    pub(in crate::step) fn len(&self) -> usize {
        self.members.len()
    }
}

impl<'a> StepClaim<'a> {
    /// Claims the steps that this one may run as a row, itself the first of them, which is not used meanwhile.
    #[inline(always)]
    pub(in crate::step) fn row(&self) -> impl Iterator<Item = StepClaim<'a>> {
        let at = self.at;
        // As in `bank_member`: these too are in one run of one worker, and wait for nothing behind the first one.
        let steps = at.plan.row_of(self.step).iter();
        steps.map(move |step| StepClaim { step, at })
    }

    /// The first steps of the row of processors that begins here of which each has to be computed, and nothing else is to be done before;
    /// `None` if those are fewer than two.
    #[inline(always)]
    pub(in crate::step) fn plain_row(&self) -> Option<PlainRow<'a>> {
        let place = self.step.cold.row?;
        let kind = place.kind?;
        let steps = self.plan().row_of(self.step);
        // SAFETY: the steps of a row are ours (`row`).
        let is_plain = |step: &BoundStep| unsafe { (*step.state.get()).is_plain() };
        // Nearly always all: so each is asked without waiting for what the one before has said.
        let all = steps.iter().fold(true, |all, step| all & is_plain(step));
        let count = match all {
            true => steps.len(),
            false => steps.iter().take_while(|step| is_plain(step)).count(),
        };
        let first = place.at as usize;
        let members = self.plan().row_members.get(first..first + count)?;
        (count > 1).then_some(PlainRow { kind, members })
    }

    /// The writes of the row that begins here.
    #[inline(always)]
    pub(in crate::step) fn row_writes(&self) -> &'a [RowWrite] {
        let count = self.plan().row_of(self.step).len();
        let place = self.step.cold.row.filter(|place| place.kind.is_none());
        let first = place.map_or(0, |place| place.at as usize);
        let writes = self.plan().row_writes.get(first..first + count);
        writes.unwrap_or_default()
    }

    /// The input of a `write` of this row and its place in the line, if that has one channel and the frames lie behind each other there.
    #[inline(always)]
    pub(in crate::step) fn write_samples(
        &mut self,
        write: &RowWrite,
        frames: usize,
    ) -> Option<(&[f32], &mut [f32])> {
        if write.line.channels != 1 {
            return None;
        }
        let info = self.info();
        // SAFETY: as in `row` and `write_line`: the step is ours, and the line's only writer, nobody writes its input, and the plan keeps readers
        // away from these frames.
        unsafe {
            let to = ring::run_mut(&write.line, 0, info.position, frames)?;
            let from = write.from.data.add(info.offset as usize);
            Some((std::slice::from_raw_parts(from, frames), to))
        }
    }

    /// Processes the steps of a row that begins here, and records which of them sleep. If one panics, its number is in `panicked`.
    #[inline(always)]
    pub(in crate::step) fn process_row(&self, row: &PlainRow<'a>, panicked: &Cell<usize>) {
        let io = offset_of!(BoundStep, state) + offset_of!(StepState, io);
        let first = self.plan().row_of(self.step).as_ptr().wrapping_byte_add(io);
        let steps = RowSteps {
            members: row.members,
            first: first.cast(),
            stride: size_of::<BoundStep>(),
        };
        // SAFETY: the steps of a row are ours (`row`), follow each other in the plan, and so are their processors, all of the kind's type
        // (`join_rows`), of which the members were made. No two have one processor. None writes what another one reads, none has events
        // (`plain_row`), and `info` is within the block.
        let status = unsafe { row.kind.run(steps, &self.at.info, panicked) };
        if !status.is_awake() {
            for (at, mut claim) in self.row().take(row.members.len()).enumerate() {
                claim.end_process(status.of(at));
            }
        }
    }
}
