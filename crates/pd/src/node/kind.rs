//! The kind `pd`: a patch as a node.

use super::class_kinds;
use super::expansion::{STEP_KIND, expand, is_long};
use super::inbox::inbox;
use super::joined::{JoinedPatch, expand_joined};
use super::midi::MidiExchange;
use super::names::{PatchNames, sharing_patches};
use super::outside::Outside;
use super::own_params::OwnParams;
use super::playing_names::PlayingNames;
use super::printer::{Printer, queue};
use super::whole::WholePatch;
use crate::Atom;
use crate::child::allow_children;
use crate::load::{LoadedPatch, SearchPath, load_patch_with};
use crate::signal::{BLOCK, JoinedSteps, MessageStep, PatchSteps};
use graph::{Kind, Node, Param, Port, PortCount, PortSignal, PortSpec, Signal};
use processor::{
    ExpandContext, ExpandedGroup, Expansion, MakeContext, MakeError, Processor, Registry,
};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::{Channels, Frames};

/// Frames that a patch and its objects compute at once.
pub(super) const BLOCK_FRAMES: Frames = Frames(BLOCK as u32);

/// Most channels of a side.
const MAX_CHANNELS: u16 = 64;

/// Adds the kinds of this crate to `registry`.
pub fn register(registry: &mut Registry) {
    registry.add(kind(), make);
    registry.add_expander("pd", expand_nodes);
    let step = Kind {
        duplicable: false,
        shares_state: true,
        min_block: Frames(BLOCK as u32),
        typical_ns: 60,
        ..Kind::new(STEP_KIND, "Computes one object of a patch.")
    };
    registry.add_inner_kind(step);
    class_kinds::register(registry);
}

fn kind() -> Kind {
    let channels = |name, default| PortSpec {
        name,
        signal: PortSignal::Fixed(Channels(1)),
        count: PortCount::Many {
            default,
            min: 0,
            max: MAX_CHANNELS,
        },
    };
    Kind {
        inputs: vec![PortSpec::events("midi"), channels("in", 0)],
        outputs: vec![PortSpec::events("midi"), channels("out", 2)],
        params: vec![
            Param::file("file", true).doc("The patch."),
            Param::text("path").doc("Folders in which abstractions are looked for after those of the patch, with `:` between them."),
            Param::text("args").doc("Arguments of the patch, `$1` and further ones in it: words with spaces between them."),
            Param::text("version").doc("Fingerprint of the files of the patch: another one makes a new patch of the node."),
            Param::choice("names", &["shared", "own"]).doc("`shared`: with the other patches of the session, as in Pd."),
            Param::text("send").doc("Messages, with `;` between them: milliseconds, receiver, words."),
        ],
        duplicable: false,
        shares_state: true,
        min_block: Frames(BLOCK as u32),
        typical_ns: 5000,
        has_own_params: true,
        ..Kind::new("pd", "Plays a Pure Data patch: its adc~ are inputs, its dac~ are outputs, and MIDI reaches notein and the like.")
    }
}

/// One processor for the whole patch, where nobody takes its nodes.
fn make(context: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let channels = channels(context.node);
    Ok(Box::new(WholePatch::new(load(context)?, channels)))
}

/// Channels of `adc~` and `dac~`: all ports but those of MIDI.
fn channels(node: &Node) -> (usize, usize) {
    let sound = |ports: &[Port]| {
        let all = ports.iter();
        all.filter(|port| matches!(port.signal, Signal::Audio(_)))
            .count()
    };
    (sound(node.kind_inputs()), sound(&node.outputs))
}

/// Path and patch of a node of kind `pd` in a session in `folder`.
///
/// Real-time: waits, on the disk.
pub fn load_node(node: &Node, folder: &Path) -> (PathBuf, io::Result<LoadedPatch>) {
    let text = |key| node.text(key).unwrap_or_default();
    let folders = text("path").split(':').filter(|it| !it.is_empty());
    let search = SearchPath::new(folders.map(|it| folder.join(it)));
    let path = folder.join(text("file"));
    let patch = load_patch_with(&path, &search, Atom::words(text("args")));
    (path, patch)
}

/// The patch that a node names.
fn load(context: &MakeContext<'_>) -> Result<LoadedPatch, MakeError> {
    let (path, patch) = load_node(context.node, context.folder);
    let mut patch = patch.map_err(|why| {
        MakeError::param("file", format!("cannot read {}: {why}", path.display()))
    })?;
    patch.access.add_granted();
    match patch.diagnostics.iter().find(|found| found.is_error()) {
        Some(found) => {
            let message = format!(
                "{}: {}; `divisi check` lists all mistakes",
                path.display(),
                found.message
            );
            Err(MakeError::param("file", message))
        }
        None => Ok(patch),
    }
}

/// Patches that share names together, each other one alone.
fn expand_nodes(contexts: &[ExpandContext<'_>]) -> Vec<ExpandedGroup> {
    let mut groups = Vec::new();
    let (mut loaded, mut at) = (Vec::new(), Vec::new());
    for (index, context) in contexts.iter().enumerate() {
        match load_in_format(context) {
            Ok(patch) => {
                loaded.push(patch);
                at.push(index);
            }
            Err(error) => groups.push(ExpandedGroup {
                members: vec![index],
                made: Err((index, error)),
            }),
        }
    }
    let are_apart = at.iter().map(|at| has_own_names(contexts[*at].make.node));
    let patches = Vec::from_iter(loaded.iter().zip(are_apart));
    let sets = sharing_patches(&patches);
    let mut loaded = Vec::from_iter(loaded.into_iter().map(Some));
    for set in sets {
        let members = Vec::from_iter(set.iter().map(|patch| at[*patch]));
        let made = match set[..] {
            [patch] => {
                let one = loaded[patch].take().expect("it is in one set");
                expand_one((&contexts[at[patch]], &one)).map_err(|error| (at[patch], error))
            }
            _ => {
                let patches = set.iter().filter_map(|patch| loaded[*patch].take());
                expand_set(&members, contexts, patches)
            }
        };
        groups.push(ExpandedGroup { members, made });
    }
    groups
}

/// Returns true if a node shares no names.
pub fn has_own_names(node: &Node) -> bool {
    node.text("names") == Some("own")
}

/// The patch of a node, if it can be played in the format.
fn load_in_format(context: &ExpandContext<'_>) -> Result<LoadedPatch, MakeError> {
    let block = context.format.block;
    if block.0 == 0 || !block.0.is_multiple_of(BLOCK as u32) {
        let message = format!(
            "a patch plays in blocks of {BLOCK} frames or a multiple, and not of {}",
            block.0
        );
        return Err(MakeError { message, key: None });
    }
    load(&context.make)
}

#[expect(clippy::cast_precision_loss, reason = "rates are small")]
fn rate(context: &ExpandContext<'_>) -> f32 {
    context.format.rate.hz() as f32
}

fn expand_one(
    (context, patch): (&ExpandContext<'_>, &LoadedPatch),
) -> Result<Expansion, MakeError> {
    let channels = channels(context.make.node);
    let (mut steps, _) = PatchSteps::new(patch, rate(context), channels);
    allow_children([patch], steps.messages.machine());
    let names = (!has_own_names(context.make.node)).then(|| PatchNames::of(patch));
    let outside = outside(context, 0, names, &mut steps.messages)?;
    Ok(expand(steps, outside, context.format))
}

/// The nodes of patches that share names. Each counts its `$0` behind those of the one before.
fn expand_set(
    members: &[usize],
    contexts: &[ExpandContext<'_>],
    loaded: impl Iterator<Item = LoadedPatch>,
) -> Result<Expansion, (usize, MakeError)> {
    if let Some(at) = members.iter().find(|at| is_long(contexts[**at].format)) {
        let message = format!(
            "patches that share names play in blocks of {BLOCK} frames: give them `names = own`, or that block"
        );
        return Err((*at, MakeError { message, key: None }));
    }
    let mut patches: Vec<LoadedPatch> = Vec::new();
    for patch in loaded {
        let first = patches.last().map(|patch| patch.next_number);
        patches.push(match first {
            Some(first) => patch.numbered_from(first),
            None => patch,
        });
    }
    let with_channels = patches.iter().zip(members);
    let with_channels = with_channels.map(|(patch, at)| (patch, channels(contexts[*at].make.node)));
    let (with_channels, first) = (Vec::from_iter(with_channels), &contexts[members[0]]);
    let sequence = sequence(members, contexts);
    let mut joined = JoinedSteps::new(&with_channels, &sequence, rate(first));
    allow_children(&patches, joined.messages.machine());
    let mut outsides = Vec::new();
    for (number, (patch, at)) in (0..).zip(patches.iter().zip(members)) {
        let names = Some(PatchNames::of(patch));
        let made = outside(&contexts[*at], number, names, &mut joined.messages);
        outsides.push(made.map_err(|error| (*at, error))?);
    }
    Ok(expand_joined(joined, outsides, first.format.fuse))
}

/// The order in which patches compute their signals: the last one first, as in Pd, but behind those whose sound leads to it.
fn sequence(members: &[usize], contexts: &[ExpandContext<'_>]) -> Vec<usize> {
    let leads = |from: usize, to: usize| contexts[members[from]].leads_to.contains(&members[to]);
    let mut left = Vec::from_iter((0..members.len()).rev());
    let mut sequence = Vec::new();
    while !left.is_empty() {
        let is_next = |at: &usize| {
            let mut others = left.iter().filter(|other| *other != at);
            // Patches that lead to each other keep Pd's order.
            !others.any(|other| leads(*other, *at) && !leads(*at, *other))
        };
        let next = left.iter().position(is_next).unwrap_or(0);
        sequence.push(left.remove(next));
    }
    sequence
}

/// The ways between a patch and the outside. What its node states is sent behind the loadbangs.
fn outside(
    context: &ExpandContext<'_>,
    patch: u16,
    names: Option<PatchNames>,
    messages: &mut MessageStep,
) -> Result<JoinedPatch, MakeError> {
    let node = context.make.node;
    for message in node.text("send").unwrap_or_default().split(';') {
        let mut words = message.trim().splitn(3, char::is_whitespace);
        if let (Some(Ok(ms)), Some(receiver)) = (words.next().map(str::parse), words.next()) {
            let words = Atom::words(words.next().unwrap_or(""));
            messages.schedule_in(patch, ms, receiver, &words);
        }
    }
    let first = context.make.kind.params.len();
    let (own_params, params) = OwnParams::new(messages.machine(), patch, first);
    own_params.state(&params, &context.make, messages)?;
    let (producer, lines) = queue();
    let printer = context.console.clone().map(|console| {
        let name = node.name.clone();
        Printer {
            name,
            console,
            lines,
        }
    });
    let (sender, words) = inbox();
    // Consoles of one program are one.
    let shown = context.console.as_ref();
    let program = shown.map_or(0, |console| Arc::as_ptr(console).cast::<()>().addr());
    let outside = Outside {
        console: producer,
        names: PlayingNames::new(program, &node.name, names),
        words,
        frame: 0,
        printer,
        // Behind the output that orders.
        midi: MidiExchange::new(1 + usize::from(patch)),
        own_params,
    };
    Ok((outside, Box::new(sender), params))
}
