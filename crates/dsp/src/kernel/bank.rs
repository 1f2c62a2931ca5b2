//! Units of a kernel side by side: a lane of vectors for each ([`processor::BankKind`]).
//!
//! A unit takes part where it has one channel, its parameters stand still, no event has come and it does not sleep. All others are
//! processed by themselves, as are all if there are too few.

use super::{FRAMES, KernelNode, Memory, UnitKernel};
use crate::filters::lanes::LANES;
use crate::steps::{BlockStep, block_steps};
use processor::{BankMember, BankMembers, Block, MAX_BANK, ProcessStatus};
use rt::vectors::{Wide, WideWork};
use std::ops::Range;

const _: () = assert!(MAX_BANK == LANES, "a lane for each member");

/// A unit in a lane.
pub(crate) struct Lane<'a, K: UnitKernel> {
    pub(crate) kernel: &'a K,
    /// The values of all frames.
    pub(crate) values: &'a K::Values,
    pub(crate) memory: &'a mut Memory,
}

/// The units of all lanes; those that are there come first.
pub(crate) type LaneUnits<'a, K> = [Option<Lane<'a, K>>; LANES];

/// The samples of some frames of all lanes; those of a lane without a unit are zeros, and none of them go out.
pub(crate) struct LaneSignals<'b> {
    /// At least as many samples as there are frames.
    pub(crate) inputs: [&'b [f32]; LANES],
    /// As many samples, or none.
    pub(crate) outputs: [&'b mut [f32]; LANES],
    pub(crate) count: usize,
}

/// A step of some units.
struct LanesWork<'a, 'b, K: UnitKernel> {
    lanes: LaneUnits<'a, K>,
    signals: LaneSignals<'b>,
}

impl<K: UnitKernel> WideWork for LanesWork<'_, '_, K> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        K::process_lanes(&mut self.lanes, self.signals);
    }
}

/// The members of a bank, those that are there first.
type Units<'m, 'a, K> = [Option<(&'m mut KernelNode<K>, &'m mut Block<'a>)>; LANES];

/// Processes the members of a bank.
///
/// Real-time: hot.
pub(super) fn run_bank<K: UnitKernel>(members: &mut BankMembers<'_>) {
    let fits = |member: &mut BankMember<'_>| {
        let parts = member.parts::<KernelNode<K>>();
        parts.is_some_and(|(unit, block)| unit.fits_bank(block))
    };
    let mut fitting = [false; LANES];
    for (fitting, member) in fitting.iter_mut().zip(members.iter_mut().flatten()) {
        *fitting = fits(member);
    }
    let is_enough = fitting.iter().filter(|it| **it).count() >= K::MIN_LANES;
    let mut units: Units<'_, '_, K> = [const { None }; LANES];
    let mut count = 0;
    for (fits, member) in fitting.into_iter().zip(members.iter_mut().flatten()) {
        if !(fits && is_enough) {
            member.process();
            continue;
        }
        member.status = ProcessStatus::Continue;
        units[count] = member.parts::<KernelNode<K>>();
        count += 1;
    }
    if let Some((_, block)) = &units[0] {
        // No event has come: the steps of all blocks are the same.
        for step in block_steps(block) {
            match step {
                BlockStep::Process(range) => process_units(&mut units, &range),
                BlockStep::Cleanup => clean_up(&mut units),
                BlockStep::Event(_) => {}
            }
        }
    }
    for (unit, _) in units.iter_mut().flatten() {
        unit.show();
    }
}

fn process_units<K: UnitKernel>(units: &mut Units<'_, '_, K>, range: &Range<usize>) {
    let mut work = LanesWork::<K> {
        lanes: [const { None }; LANES],
        signals: LaneSignals {
            inputs: [&[0.0; FRAMES]; LANES],
            outputs: Default::default(),
            count: range.len(),
        },
    };
    for (at, (unit, block)) in units.iter_mut().flatten().enumerate() {
        work.signals.inputs[at] = &block.input(0).channel(0)[range.clone()];
        work.signals.outputs[at] = &mut block.output(0).into_channel(0)[range.clone()];
        work.lanes[at] = unit.lane();
    }
    Wide::best().run(work);
    for (unit, _) in units.iter_mut().flatten() {
        unit.advance(range.len());
    }
}

fn clean_up<K: UnitKernel>(units: &mut Units<'_, '_, K>) {
    units
        .iter_mut()
        .flatten()
        .for_each(|(unit, _)| unit.clean_up());
}
