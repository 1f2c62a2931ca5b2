//! How large a plan may be: a number in a file is never an allocation without a bound.

use crate::wiring::{Member, Part, Wiring};
use crate::{Plan, PlanError, PlanOptions};
use graph::{Diagnostic, Signal, SourceSpan};
use units::Frames;

/// The longest block.
const LONGEST_BLOCK: Frames = Frames(1 << 20);
/// The most channels that all ports of a graph may have together.
const MOST_CHANNELS: u64 = 1 << 22;
/// The most samples that all delay lines may hold together: 1 GiB.
const MOST_DELAYED: u64 = 1 << 28;
/// The most samples that all slots may hold together: 2 GiB.
const MOST_IN_SLOTS: u64 = 1 << 29;

const CAN_BE_OFF: &str = "some node is very late; latency compensation can be turned off";
/// How many events one port can send in a block.
pub const EVENTS_PER_PORT: usize = 64;
/// So many events can wait in the line of one aligner at most.
const WAITING: usize = 4096;
/// An event that waits takes the room of so many samples, with its moment.
pub const SAMPLES_PER_EVENT: usize = 6;

/// How many events have room in the line of an aligner that holds so many `frames`.
pub fn event_capacity(frames: u32, block: Frames) -> usize {
    let blocks = (frames / block.0.max(1)).saturating_add(1);
    (blocks as usize)
        .saturating_mul(EVENTS_PER_PORT)
        .min(WAITING)
}

/// What is too large about the graph; each kind of excess once, at the node that is one too many.
pub(crate) fn too_large(members: &[Member<'_>], options: &PlanOptions) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    if options.block == Frames(0) || options.block > LONGEST_BLOCK {
        let words = format!("a block has 1 to {} frames", LONGEST_BLOCK.0);
        wrong.push(Diagnostic::error(SourceSpan::NONE, words));
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
        |member| delayed(member, options),
    ));
    wrong
}

/// What the line of a delay holds.
fn delayed(member: &Member<'_>, options: &PlanOptions) -> u64 {
    match member.part {
        Part::Delay(line) => held(line.max, line.channels.0, options),
        _ => 0,
    }
}

fn held(most: Frames, channels: u16, options: &PlanOptions) -> u64 {
    let frames = u64::from(most.0) + u64::from(options.block.0);
    frames.next_power_of_two() * u64::from(channels)
}

/// Refuses to make up for latencies that are too long, or too many.
pub(crate) fn too_late(wiring: &Wiring<'_>, options: &PlanOptions) -> Result<(), PlanError> {
    let is_many = |taps: usize| taps > usize::from(u16::MAX);
    if let Some(many) = wiring.aligners.iter().find(|a| is_many(a.taps.len())) {
        let node = wiring.members[many.of as usize].node;
        let words = format!(
            "making up for latencies, an output of `{}` would be heard at more than {} times",
            node.name,
            u16::MAX
        );
        let wrong = Diagnostic::error(node.span, words);
        return Err(PlanError(vec![wrong.help(CAN_BE_OFF)]));
    }
    let members = wiring.members.iter();
    let mut total: u64 = members.map(|member| delayed(member, options)).sum();
    let first = wiring.aligners.iter().find(|aligner| {
        let most = aligner.taps.iter().map(|tap| tap.max_frames()).max();
        let most = most.unwrap_or_default();
        total += match wiring.signal(aligner.of, aligner.output) {
            Signal::Audio(channels) => held(most, channels.0, options),
            Signal::Control | Signal::Event => {
                let frames = held(most, 1, options).try_into().unwrap_or(u32::MAX);
                (event_capacity(frames, options.block) * SAMPLES_PER_EVENT) as u64
            }
        };
        total > MOST_DELAYED
    });
    let Some(first) = first else {
        return Ok(());
    };
    let node = wiring.members[first.of as usize].node;
    let words = format!(
        "making up for latencies, with that of what meets `{}` there are more than {MOST_DELAYED} samples in delays",
        node.name
    );
    let wrong = Diagnostic::error(node.span, words);
    Err(PlanError(vec![wrong.help(CAN_BE_OFF)]))
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
    Some(Diagnostic::error(first.node.span, words))
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
        Diagnostic::error(SourceSpan::NONE, words).help("take a shorter block"),
    ]))
}
