//! The steps of a patch as nodes and edges.

use super::groups::MAX_GROUP_NS;
use super::joined::JoinedPatch;
use super::processors::{Messages, Outputs};
use super::small_patch::SmallPatch;
use super::wiring::{MadeGroup, Places, WiredSteps};
use crate::signal::{BLOCK, MessageStep, PatchSteps};
use graph::{Node, Port, Signal};
use processor::{ExpandFormat, ExpandedNode, Expansion, InnerPort, ORDER, Processor};
use std::collections::BTreeSet;
use std::ops::Range;
use units::{Channels, Nanos};

/// Kind of the inner nodes. No session can have it: names of kinds in sessions have no space.
pub(super) const STEP_KIND: &str = "pd step";

/// Signal of one channel.
const SOUND: Signal = Signal::Audio(Channels(1));

/// Makes the nodes of a patch; `messages` are its first. With `format.fuse`, cheap steps share a node. In blocks that are longer than
/// Pd's a patch is one node.
pub(super) fn expand(
    patch: PatchSteps,
    (mut outside, inbox, own_params): JoinedPatch,
    format: ExpandFormat,
) -> Expansion {
    let PatchSteps {
        mut messages,
        steps,
        outputs,
        ..
    } = patch;
    let wired = WiredSteps::new(steps, &[outputs.len()], |_| None);
    let fuse = format.fuse;
    let may_change = is_long(format) || messages.may_change_signals();
    let groups = match may_change {
        true => wired.one_group(),
        false => wired.groups(fuse),
    };
    let is_cheap = fuse && groups.len() <= 1 && wired.cost_ns() <= MAX_GROUP_NS;
    let children = match may_change {
        true => Vec::new(),
        false => messages.machine().take_children(),
    };
    let is_small = (is_cheap && children.is_empty()) || may_change;
    // Behind what the inner nodes read.
    let midi_output = if is_small { outputs.len() } else { 1 };
    outside.midi.leave_at(midi_output);
    let channels = 0..clamp(outputs.len());
    let outputs = Outputs { channels: outputs };
    let made = |messages| Messages::new(messages, vec![outside], Vec::new());
    let mut expansion = match is_small {
        true => {
            let places = Places::new(&wired, &groups);
            let row = wired.into_groups(&places, &mut messages).pop();
            let row = row.map(|made| made.group.row);
            let patch = SmallPatch::new(made(messages), row, outputs);
            let patch = match is_long(format) {
                true => patch.in_batches(),
                false => patch,
            };
            small(patch.ending_at(format.end), channels)
        }
        false => {
            let (mut nodes, reads) = Nodes::of((wired, &groups), outputs, &mut messages);
            nodes.add_children(children, groups.len());
            nodes.into_expansion(Box::new(made(messages)), reads)
        }
    };
    let head = &mut expansion.heads[0];
    head.own_params = own_params;
    head.inbox = Some(inbox);
    expansion
}

/// Returns true if a block is longer than Pd's: then a patch is one node, which computes one after the other.
pub(super) fn is_long(format: ExpandFormat) -> bool {
    format.block.count() != BLOCK
}

/// A patch that is one node.
fn small(patch: SmallPatch, channels: Range<u16>) -> Expansion {
    let sound = |port| Port::new(format!("out{}", port + 1), SOUND);
    let midi = channels.end;
    let head = ExpandedNode {
        processor: Box::new(patch),
        outputs: channels.clone().map(sound).chain([midi_port()]).collect(),
        reads: std::iter::once(midi)
            .chain(channels)
            .map(|port| InnerPort { node: 0, port })
            .collect(),
        inbox: None,
        own_params: Vec::new(),
    };
    Expansion {
        heads: vec![head],
        nodes: Vec::new(),
        edges: Vec::new(),
        meeting: None,
    }
}

/// The output of MIDI.
pub(super) fn midi_port() -> Port {
    Port::new("midi", Signal::Event)
}

/// Inner nodes, and the edges between all.
pub(super) struct Nodes {
    pub(super) made: Vec<(Node, Box<dyn Processor>)>,
    pub(super) edges: Vec<(InnerPort, InnerPort)>,
    /// Number of the node of the messages.
    pub(super) messages: u32,
}

impl Nodes {
    /// No nodes yet, behind that of the messages, whose number is `messages`.
    pub(super) fn behind(messages: usize) -> Self {
        Self {
            made: Vec::new(),
            edges: Vec::new(),
            messages: u32::try_from(messages).expect("a session has few patches"),
        }
    }

    /// The nodes of `groups`, and behind them that of the channels of `dac~`, with what is read of them.
    fn of(
        (wired, groups): (WiredSteps, &[Vec<usize>]),
        outputs: Outputs,
        messages: &mut MessageStep,
    ) -> (Self, Vec<InnerPort>) {
        let mut nodes = Self::behind(0);
        let places = Places::new(&wired, groups);
        let before_end = places.groups_of(&wired.before_end[0]);
        for made in wired.into_groups(&places, messages) {
            nodes.add_group(made, &places);
        }
        let reads = nodes.add_outputs(outputs, (&before_end, &places), "out".into());
        (nodes, reads)
    }

    fn into_expansion(self, head: Box<dyn Processor>, reads: Vec<InnerPort>) -> Expansion {
        let midi = InnerPort { node: 0, port: 1 };
        let head = ExpandedNode {
            processor: head,
            outputs: vec![Port::new("order", ORDER), midi_port()],
            reads: std::iter::once(midi).chain(reads).collect(),
            inbox: None,
            own_params: Vec::new(),
        };
        Expansion {
            heads: vec![head],
            nodes: self.made,
            edges: self.edges,
            meeting: None,
        }
    }

    /// Number of the node of a group.
    pub(super) fn number(&self, group: usize) -> u32 {
        self.messages + 1 + u32::try_from(group).expect("steps are bounded")
    }

    /// The input of a group that waits.
    pub(super) fn order_input(&self, group: usize) -> InnerPort {
        InnerPort {
            node: self.number(group),
            port: clamp(self.made[group].0.inputs.len() - 1),
        }
    }

    pub(super) fn add_group(&mut self, made: MadeGroup, places: &Places) {
        let mut node = Node::new(made.name, STEP_KIND);
        node.cost = Some(Nanos(made.cost_ns));
        let this = self.number(self.made.len());
        for (port, signal) in (0..).zip(&made.inputs) {
            node.inputs
                .push(Port::new(format!("in{}", port + 1), SOUND));
            let (group, output) = places.outputs[signal];
            let from = InnerPort {
                node: self.number(group),
                port: output,
            };
            self.edges.push((from, InnerPort { node: this, port }));
        }
        for port in 1..=made.group.outputs.len() {
            node.outputs.push(Port::new(format!("out{port}"), SOUND));
        }
        self.wait(&mut node, (&made.before, places), made.inputs.is_empty());
        node.outputs.push(Port::new("order", ORDER));
        self.made.push((node, Box::new(made.group)));
    }

    /// Lets a node wait for groups, or for the messages if it waits for nothing else.
    fn wait(
        &mut self,
        node: &mut Node,
        (before, places): (&BTreeSet<usize>, &Places),
        is_silent: bool,
    ) {
        let port = clamp(node.inputs.len());
        node.inputs.push(Port::new("order", ORDER));
        let to = InnerPort {
            node: self.number(self.made.len()),
            port,
        };
        if before.is_empty() && is_silent {
            let node = self.messages;
            self.edges.push((InnerPort { node, port: 0 }, to));
        }
        for group in before {
            // Behind its sound.
            let port = clamp(places.output_count(*group));
            let node = self.number(*group);
            self.edges.push((InnerPort { node, port }, to));
        }
    }

    /// Adds the node that gives the channels of `dac~` of a patch. Gives its outputs.
    pub(super) fn add_outputs(
        &mut self,
        outputs: Outputs,
        before: (&BTreeSet<usize>, &Places),
        name: String,
    ) -> Vec<InnerPort> {
        let mut node = Node::new(name, STEP_KIND);
        node.cost = Some(Nanos(20));
        let this = self.number(self.made.len());
        let mut reads = Vec::new();
        for port in 0..clamp(outputs.channels.len()) {
            node.outputs
                .push(Port::new(format!("out{}", port + 1), SOUND));
            reads.push(InnerPort { node: this, port });
        }
        self.wait(&mut node, before, true);
        self.made.push((node, Box::new(outputs)));
        reads
    }
}

pub(super) fn clamp(number: usize) -> u16 {
    u16::try_from(number).expect("a node has few ports")
}
