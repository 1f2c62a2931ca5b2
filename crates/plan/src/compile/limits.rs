//! Upper bounds on the size of a plan: a number in a file is never an allocation without a bound.

use super::wiring::{NodePart, WiredNode, Wiring};
use crate::{Plan, PlanError, PlanOptions, StepInput};
use graph::{Diagnostic, Graph, Kind, Signal, SourceSpan};
use units::Frames;

/// Maximum number of nodes of a graph. A node takes about 5 KB and 45 µs until it plays (random graph of 100,000 nodes); a
/// graph of this size takes some ten seconds, and its cycles are long beyond any deadline.
pub const MAX_NODES: usize = 1 << 18;
const MAX_BLOCK: Frames = Frames(1 << 20);
/// Channels that all ports of a graph may have together.
const MAX_CHANNELS: u64 = 1 << 22;
/// Samples that all delay lines may hold together: 1 GiB.
const MAX_DELAYED: u64 = 1 << 28;
/// Samples that all slots may hold together: 2 GiB.
const MAX_IN_SLOTS: u64 = 1 << 29;

const CAN_BE_OFF: &str =
    "some node has a very long latency; latency compensation can be turned off";
/// Number of events that one port can send in a short block.
const EVENTS_PER_PORT: usize = 128;
/// Frames of a longer block in which a port can send one event more: 24,000 a second at 48 kHz.
const FRAMES_PER_EVENT: usize = 2;
/// Maximum number of events that one step can receive in a short block; in a longer one, twice what a port can send.
const EVENTS_PER_STEP: usize = 256;
/// Number of events that each parameter can receive in a short block.
const EVENTS_PER_PARAM: usize = 16;
/// Frames of a longer block in which a parameter can receive one event more: 750 a second at 48 kHz.
const FRAMES_PER_PARAM_EVENT: usize = 64;
/// Number of events that can wait in the line of one aligner, whatever its length.
const MAX_WAITING_EVENTS: usize = 4096;
/// Size of a waiting event with its time, in samples.
pub const SAMPLES_PER_EVENT: usize = 8;

/// Number of events that one port can send in a block.
pub fn events_per_port(block: Frames) -> usize {
    EVENTS_PER_PORT + block.count() / FRAMES_PER_EVENT
}

/// Number of events that the line of an aligner holds, if its longest delay is `frames`.
pub fn event_capacity(frames: u32, block: Frames) -> usize {
    let blocks = (frames / block.0.max(1)).saturating_add(1);
    (blocks as usize)
        .saturating_mul(events_per_port(block))
        .min(MAX_WAITING_EVENTS)
}

/// Number of events that a step with these `inputs` can receive in a block, and its node of `kind` if it does the node's
/// own work. (Aligners receive events too.) Most nodes of a large graph receive none, and room for the maximum would be
/// most of its memory.
pub(super) fn event_room(kind: Option<&Kind>, inputs: &[StepInput], block: Frames) -> u16 {
    let has_event_input = inputs.iter().any(|i| matches!(i, StepInput::Events(_)));
    let params = kind.into_iter().flat_map(|kind| &kind.params);
    let live_params = params.filter(|param| param.live).count();
    let has_own = kind.is_some_and(|kind| kind.has_own_params);
    let room = match has_event_input || has_own {
        true => 2 * events_per_port(block),
        false => {
            let of_params = EVENTS_PER_PARAM.max(block.count() / FRAMES_PER_PARAM_EVENT);
            (live_params * of_params).min(EVENTS_PER_STEP)
        }
    };
    u16::try_from(room).unwrap_or(u16::MAX)
}

/// Checks that a graph is not too large to be planned. To be called before anything is made for each of its nodes.
///
/// # Errors
///
/// It has more than [`MAX_NODES`] nodes. The error stands at the first node beyond.
///
/// Real-time: setup.
pub fn check_node_count(graph: &Graph) -> Result<(), PlanError> {
    let Some((_, first)) = graph.nodes().nth(MAX_NODES) else {
        return Ok(());
    };
    let message = format!(
        "the graph has {} nodes; {MAX_NODES} is the maximum",
        graph.len()
    );
    let mistake = Diagnostic::error(first.span, message);
    Err(PlanError(vec![mistake.help("play it as several sessions")]))
}

/// Checks the sizes that the nodes ask for. Each kind of excess is reported once, at the first node beyond the bound.
pub(super) fn check_size(nodes: &[WiredNode<'_>], options: &PlanOptions) -> Vec<Diagnostic> {
    let mut mistakes = Vec::new();
    if options.block == Frames(0) || options.block > MAX_BLOCK {
        let message = format!("a block has 1 to {} frames", MAX_BLOCK.0);
        mistakes.push(Diagnostic::error(SourceSpan::NONE, message));
    }
    let channels = |node: &WiredNode<'_>| {
        let ports = node.node.inputs.iter().chain(&node.node.outputs);
        let widths = ports.map(|port| match port.signal {
            Signal::Audio(channels) => u64::from(channels.0),
            Signal::Control | Signal::Event => 1,
        });
        widths.sum()
    };
    mistakes.extend(excess(nodes, MAX_CHANNELS, "channels of ports", channels));
    let delayed = |node: &WiredNode<'_>| line_samples(node, options);
    mistakes.extend(excess(nodes, MAX_DELAYED, "samples in delays", delayed));
    mistakes
}

fn excess(
    nodes: &[WiredNode<'_>],
    max: u64,
    unit: &str,
    size: impl Fn(&WiredNode<'_>) -> u64,
) -> Option<Diagnostic> {
    let mut total = 0;
    let first = nodes.iter().find(|node| {
        total += size(node);
        total > max
    })?;
    let message = format!(
        "with `{}` there are more than {max} {unit}",
        first.node.name
    );
    Some(first.node.mistake(message))
}

/// Samples in the line of a delay node.
fn line_samples(node: &WiredNode<'_>, options: &PlanOptions) -> u64 {
    match node.part {
        NodePart::Delay(line) => ring_samples(line.max, line.channels.0, options),
        _ => 0,
    }
}

/// Samples in a ring that delays by up to `max`.
fn ring_samples(max: Frames, channels: u16, options: &PlanOptions) -> u64 {
    let frames = u64::from(max.0) + u64::from(options.block.0);
    frames.next_power_of_two() * u64::from(channels)
}

/// Checks the number and the sizes of aligners.
pub(super) fn check_aligners(wiring: &Wiring<'_>, options: &PlanOptions) -> Result<(), PlanError> {
    let max_taps = usize::from(u16::MAX);
    if let Some(aligner) = wiring.aligners.iter().find(|a| a.taps.len() > max_taps) {
        let node = wiring.nodes[aligner.node as usize].node;
        let message = format!(
            "latency compensation would need more than {max_taps} different delays of an output of `{}`",
            node.name
        );
        let mistake = node.mistake(message);
        return Err(PlanError(vec![mistake.help(CAN_BE_OFF)]));
    }
    let nodes = wiring.nodes.iter();
    let mut total: u64 = nodes.map(|node| line_samples(node, options)).sum();
    let first = wiring.aligners.iter().find(|aligner| {
        let max = aligner.taps.iter().map(|tap| tap.max_frames()).max();
        let max = max.unwrap_or_default();
        total += match wiring.signal(aligner.node, aligner.output) {
            Signal::Audio(channels) => ring_samples(max, channels.0, options),
            Signal::Control | Signal::Event => {
                let frames = ring_samples(max, 1, options).try_into().unwrap_or(u32::MAX);
                (event_capacity(frames, options.block) * SAMPLES_PER_EVENT) as u64
            }
        };
        total > MAX_DELAYED
    });
    let Some(first) = first else {
        return Ok(());
    };
    let node = wiring.nodes[first.node as usize].node;
    let message = format!(
        "latency compensation of an output of `{}` would need more than {MAX_DELAYED} samples in delays",
        node.name
    );
    let mistake = node.mistake(message);
    Err(PlanError(vec![mistake.help(CAN_BE_OFF)]))
}

/// Checks the size of all slots.
pub(super) fn check_slots(plan: &Plan) -> Result<(), PlanError> {
    if u64::from(plan.slots) * u64::from(plan.block.0) <= MAX_IN_SLOTS {
        return Ok(());
    }
    let message = format!(
        "{} slots of {} frames are more than {MAX_IN_SLOTS} samples",
        plan.slots, plan.block.0
    );
    let mistake = Diagnostic::error(SourceSpan::NONE, message);
    Err(PlanError(vec![mistake.help("take a shorter block")]))
}

#[cfg(test)]
mod tests {
    use super::event_room;
    use crate::{IndexRange, StepInput};
    use graph::{Kind, Param, ParamRange};
    use units::Frames;

    #[test]
    fn a_step_has_room_for_what_its_node_can_receive() {
        let kind = |live: usize, others: usize| Kind {
            params: (0..live + others)
                .map(|at| Param {
                    name: "gain",
                    unit: "",
                    range: ParamRange::Flag,
                    live: at < live,
                    audio_rate: false,
                    doc: "",
                })
                .collect(),
            ..Kind::new("gain", "multiplies")
        };
        let audio = [StepInput::Audio(IndexRange::default())];
        let events = [StepInput::Events(IndexRange::default())];
        let room = |kind: Kind, inputs: &[StepInput], block| {
            event_room(Some(&kind), inputs, Frames(block))
        };
        assert_eq!(room(kind(0, 3), &audio, 64), 0);
        assert_eq!(room(kind(1, 3), &audio, 64), 16);
        assert_eq!(room(kind(2, 0), &audio, 4096), 128);
        assert_eq!(room(kind(20, 0), &audio, 64), 256);
        assert_eq!(room(kind(0, 0), &events, 64), 320);
        // An aligner, or another step that only transports.
        let transport = [&audio, &events].map(|inputs| event_room(None, inputs, Frames(64)));
        assert_eq!(transport, [0, 320]);
    }
}
