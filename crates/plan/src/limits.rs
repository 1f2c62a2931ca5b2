//! How large a plan may be: a number in a file is never an allocation without a bound.

use crate::wiring::{Member, Part};
use crate::{Options, Plan, PlanError};
use graph::{Diagnostic, Place, Signal};
use units::Frames;

/// The longest block.
const LONGEST_BLOCK: Frames = Frames(1 << 20);
/// The most channels that all ports of a graph may have together.
const MOST_CHANNELS: u64 = 1 << 22;
/// The most samples that all delay lines may hold together: 1 GiB.
const MOST_DELAYED: u64 = 1 << 28;
/// The most samples that all slots may hold together: 2 GiB.
const MOST_IN_SLOTS: u64 = 1 << 29;

/// What is too large about the graph; each kind of excess once, at the node that is one too many.
pub(crate) fn too_large(members: &[Member<'_>], options: &Options) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    if options.block == Frames(0) || options.block > LONGEST_BLOCK {
        let words = format!("a block has 1 to {} frames", LONGEST_BLOCK.0);
        wrong.push(Diagnostic::error(Place::NOWHERE, words));
    }
    wrong.extend(excess(
        members,
        MOST_CHANNELS,
        "channels of ports",
        |member| {
            let ports = member.node.inputs.iter().chain(&member.node.outputs);
            let widths = ports.map(|port| match port.signal {
                Signal::Audio(channels) => u64::from(channels.0),
                Signal::Control | Signal::Event => 1,
            });
            widths.sum()
        },
    ));
    wrong.extend(excess(
        members,
        MOST_DELAYED,
        "samples in delays",
        |member| match member.part {
            Part::Delay(line) => {
                let frames = u64::from(line.most.0) + u64::from(options.block.0);
                frames.next_power_of_two() * u64::from(line.channels.0)
            }
            _ => 0,
        },
    ));
    wrong
}

fn excess(
    members: &[Member<'_>],
    most: u64,
    what: &str,
    size: impl Fn(&Member<'_>) -> u64,
) -> Option<Diagnostic> {
    let mut total = 0;
    let first = members.iter().find(|member| {
        total += size(member);
        total > most
    })?;
    let name = &first.node.name;
    let words = format!("with `{name}` there are more than {most} {what}");
    Some(Diagnostic::error(first.node.place, words))
}

/// Refuses a plan whose slots do not fit.
pub(crate) fn check_slots(plan: &Plan) -> Result<(), PlanError> {
    if u64::from(plan.slots) * u64::from(plan.block.0) <= MOST_IN_SLOTS {
        return Ok(());
    }
    let words = format!(
        "{} slots of {} frames are more than {MOST_IN_SLOTS} samples",
        plan.slots, plan.block.0
    );
    Err(PlanError(vec![
        Diagnostic::error(Place::NOWHERE, words).help("take a shorter block"),
    ]))
}
