//! Patches that share names, as nodes: one node for the messages of all, behind the nodes that the user sees.

use super::expansion::{Nodes, STEP_KIND, midi_port};
use super::mailbox::{Mailbox, PatchHead};
use super::outside::Outside;
use super::processors::{Messages, Outputs};
use super::wiring::{Places, WiredSteps};
use crate::signal::{JoinedSteps, MessageStep};
use graph::{Node, Port};
use processor::{ExpandedNode, Expansion, Inbox, InnerPort, Meeting, ORDER, OwnParam};
use std::iter;
use units::Nanos;

/// A way out of a patch that shares names, and how the user reaches it.
pub(super) type JoinedPatch = (Outside, Box<dyn Inbox>, Vec<OwnParam>);

/// Makes the nodes of patches that share names. With `fuse`, cheap steps of one patch share a node.
pub(super) fn expand_joined(
    joined: JoinedSteps,
    patches: Vec<JoinedPatch>,
    fuse: bool,
) -> Expansion {
    let JoinedSteps {
        messages: mut step,
        steps,
        channels,
        heard,
    } = joined;
    let (inputs, outputs): (Vec<_>, Vec<_>) = channels.into_iter().unzip();
    let counts = Vec::from_iter(outputs.iter().map(|channels| channels.len()));
    let machine = step.machine();
    let wired = WiredSteps::new(steps, &counts, |step| {
        Some(machine.patch_of(step.object()?))
    });
    let groups = wired.groups(fuse);
    let group_count = groups.len();
    let mailboxes = Vec::from_iter(heard.into_iter().map(Mailbox::new));
    let outputs = outputs.into_iter().map(|channels| Outputs { channels });
    let mut nodes = Nodes::behind(patches.len());
    // The node of the messages is the first inner one; its processor is put in last.
    let (at, wired) = (nodes.messages, (wired, groups));
    let reads = add_steps(
        &mut nodes,
        wired,
        outputs.collect(),
        (&mut step, &mailboxes),
    );
    let children = step.machine().take_children();
    nodes.add_children(children, group_count);
    let mut heads = Vec::new();
    let mut outsides = Vec::new();
    let all = patches.into_iter().zip(inputs).zip(&mailboxes).zip(reads);
    for (midi, (((patch, inputs), mailbox), reads)) in (1..).zip(all) {
        let (outside, inbox, own_params) = patch;
        outsides.push(outside);
        let mail = mailbox.mail.clone();
        let midi = InnerPort {
            node: at,
            port: midi,
        };
        heads.push(ExpandedNode {
            processor: Box::new(PatchHead { mail, inputs }),
            outputs: vec![Port::new("order", ORDER)],
            reads: iter::once(midi).chain(reads).collect(),
            inbox: Some(inbox),
            own_params,
        });
    }
    let node = message_node(heads.len());
    let messages = Messages::new(step, outsides, mailboxes);
    nodes.made.insert(0, (node, Box::new(messages)));
    let port = |port| InnerPort { node: at, port };
    Expansion {
        heads,
        nodes: nodes.made,
        edges: nodes.edges,
        meeting: Some(Meeting {
            input: port(0),
            output: port(0),
            head_output: 0,
        }),
    }
}

/// The node of the messages of `patches` patches.
fn message_node(patches: usize) -> Node {
    let mut node = Node::new("messages", STEP_KIND);
    node.cost = Some(Nanos(1000));
    node.inputs = vec![Port::new("order", ORDER)];
    let midi = iter::repeat_with(midi_port).take(patches);
    node.outputs = iter::once(Port::new("order", ORDER)).chain(midi).collect();
    node
}

/// Adds the steps, and the channels of `dac~` of each patch. Gives what its readers read.
fn add_steps(
    nodes: &mut Nodes,
    (wired, groups): (WiredSteps, Vec<Vec<usize>>),
    outputs: Vec<Outputs>,
    (messages, mailboxes): (&mut MessageStep, &[Mailbox]),
) -> Vec<Vec<InnerPort>> {
    let places = Places::new(&wired, &groups);
    let of_each = |steps: &[Vec<usize>]| {
        let sets = steps.iter().map(|steps| places.groups_of(steps));
        Vec::from_iter(sets)
    };
    let before_end = of_each(&wired.before_end);
    let behind_input = of_each(&wired.behind_input);
    for mut made in wired.into_groups(&places, messages) {
        let mailbox = &mailboxes[usize::from(made.patch)];
        made.group.closed = Some(mailbox.is_closed.clone());
        nodes.add_group(made, &places);
    }
    for (patch, groups) in (0..).zip(&behind_input) {
        for group in groups {
            let to = nodes.order_input(*group);
            let from = InnerPort {
                node: patch,
                port: 0,
            };
            nodes.edges.push((from, to));
        }
    }
    let ends = (1..).zip(outputs.into_iter().zip(&before_end));
    let reads = ends.map(|(patch, (outputs, before))| {
        nodes.add_outputs(outputs, (before, &places), format!("out {patch}"))
    });
    reads.collect()
}
