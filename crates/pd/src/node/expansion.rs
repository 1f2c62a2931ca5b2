//! The steps of a patch as nodes and edges.

use super::groups::MAX_GROUP_NS;
use super::lines::lines;
use super::midi::MidiExchange;
use super::printer::{LineSender, Printer};
use super::processors::{Messages, Outputs, OwnParams, SmallPatch};
use super::wiring::{MadeGroup, Places, WiredSteps};
use crate::signal::{MessageStep, PatchSteps};
use graph::{Node, Port, Signal};
use processor::{Expansion, InnerPort, ORDER, Processor};
use std::collections::BTreeSet;
use units::{Channels, Nanos};

/// Kind of the inner nodes. No session can have it: names of kinds in sessions have no space.
pub(super) const STEP_KIND: &str = "pd step";

/// Signal of one channel.
const SOUND: Signal = Signal::Audio(Channels(1));

/// Number of the node of the messages.
const MESSAGES: u32 = 0;

/// Makes the nodes of a patch; `messages` are its first. With `fuse`, cheap steps share a node. Its own parameters have the indices from
/// `first_own` on.
pub(super) fn expand(
    patch: PatchSteps,
    (console, printer): (LineSender, Option<Printer>),
    (fuse, first_own): (bool, usize),
) -> Expansion {
    let PatchSteps {
        mut messages,
        steps,
        outputs,
        ..
    } = patch;
    let (mut outside, inbox) = lines();
    let names = messages.machine().received();
    let symbols = names.iter().map(|name| messages.machine().symbol(name));
    let own_params = OwnParams {
        first: first_own,
        names: symbols.collect(),
    };
    let wired = WiredSteps::new(steps, outputs.len());
    let may_change = messages.may_change_signals();
    let groups = match may_change {
        true => wired.one_group(),
        false => wired.groups(fuse),
    };
    let is_cheap = fuse && groups.len() <= 1 && wired.cost_ns() <= MAX_GROUP_NS;
    let is_small = is_cheap || may_change;
    // Behind what the inner nodes read.
    let midi_output = if is_small { outputs.len() } else { 1 };
    let outputs = Outputs { channels: outputs };
    let mut messages = Messages {
        step: messages,
        console,
        inbox,
        printer,
        is_loaded: false,
        jobs: None,
        midi: MidiExchange::new(midi_output),
        own_params,
    };
    let mut expansion = match is_small {
        true => small(messages, (wired, &groups), outputs),
        false => Nodes::of((wired, &groups), outputs, &mut messages.step)
            .into_expansion(Box::new(messages)),
    };
    expansion.own_params = names;
    expansion.inbox = Some(Box::new(move |text| outside.write(text)));
    expansion
}

/// A patch that is one node.
fn small(
    mut messages: Messages,
    (wired, groups): (WiredSteps, &[Vec<usize>]),
    outputs: Outputs,
) -> Expansion {
    let channels = 0..clamp(outputs.channels.len());
    let sound = |port| Port::new(format!("out{}", port + 1), SOUND);
    let midi = channels.end;
    let places = Places::new(&wired, groups);
    let steps = wired.into_groups(&places, &mut messages.step).pop();
    let head = SmallPatch {
        messages,
        steps: steps.map(|made| made.group.row),
        outputs,
    };
    Expansion {
        head: Box::new(head),
        head_outputs: channels.clone().map(sound).chain([midi_port()]).collect(),
        nodes: Vec::new(),
        edges: Vec::new(),
        outputs: std::iter::once(midi)
            .chain(channels)
            .map(|port| InnerPort { node: 0, port })
            .collect(),
        inbox: None,
        own_params: Vec::new(),
    }
}

/// The output of MIDI.
fn midi_port() -> Port {
    Port::new("midi", Signal::Event)
}

/// The nodes of a patch, and the edges between them.
struct Nodes {
    made: Vec<(Node, Box<dyn Processor>)>,
    edges: Vec<(InnerPort, InnerPort)>,
    outputs: Vec<InnerPort>,
}

impl Nodes {
    /// The nodes of `groups`, and behind them that of the channels of `dac~`.
    fn of(
        (wired, groups): (WiredSteps, &[Vec<usize>]),
        outputs: Outputs,
        messages: &mut MessageStep,
    ) -> Self {
        let mut nodes = Self {
            made: Vec::with_capacity(groups.len() + 1),
            edges: Vec::new(),
            outputs: vec![InnerPort { node: 0, port: 1 }],
        };
        let places = Places::new(&wired, groups);
        let before_end = places.groups_of(&wired.before_end);
        for made in wired.into_groups(&places, messages) {
            nodes.add_group(made, &places);
        }
        nodes.add_outputs(outputs, (&before_end, &places));
        nodes
    }

    fn into_expansion(self, head: Box<dyn Processor>) -> Expansion {
        Expansion {
            head,
            head_outputs: vec![Port::new("order", ORDER), midi_port()],
            nodes: self.made,
            edges: self.edges,
            outputs: self.outputs,
            inbox: None,
            own_params: Vec::new(),
        }
    }

    /// Number of the node that is made next.
    fn next(&self) -> u32 {
        number(self.made.len())
    }

    fn add_group(&mut self, made: MadeGroup, places: &Places) {
        let mut node = Node::new(made.name, STEP_KIND);
        node.cost = Some(Nanos(made.cost_ns));
        let this = self.next();
        for (port, signal) in (0..).zip(&made.inputs) {
            node.inputs
                .push(Port::new(format!("in{}", port + 1), SOUND));
            let (group, output) = places.outputs[signal];
            let from = InnerPort {
                node: number(group),
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
            node: self.next(),
            port,
        };
        if before.is_empty() && is_silent {
            let node = MESSAGES;
            self.edges.push((InnerPort { node, port: 0 }, to));
        }
        for group in before {
            // Behind its sound.
            let port = clamp(places.output_count(*group));
            let node = number(*group);
            self.edges.push((InnerPort { node, port }, to));
        }
    }

    /// Adds the node that gives the channels of `dac~`.
    fn add_outputs(&mut self, outputs: Outputs, before: (&BTreeSet<usize>, &Places)) {
        let mut node = Node::new("out", STEP_KIND);
        node.cost = Some(Nanos(20));
        let this = self.next();
        for port in 0..clamp(outputs.channels.len()) {
            node.outputs
                .push(Port::new(format!("out{}", port + 1), SOUND));
            self.outputs.push(InnerPort { node: this, port });
        }
        self.wait(&mut node, before, true);
        self.made.push((node, Box::new(outputs)));
    }
}

/// Number of the node of a group.
fn number(group: usize) -> u32 {
    u32::try_from(group + 1).expect("steps are bounded")
}

fn clamp(number: usize) -> u16 {
    u16::try_from(number).expect("a node has few ports")
}
