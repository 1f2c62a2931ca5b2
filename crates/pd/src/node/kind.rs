//! The kind `pd`: a patch as a node.

use super::class_kinds;
use super::expansion::{STEP_KIND, expand};
use super::printer::{Printer, queue};
use super::whole::WholePatch;
use crate::Atom;
use crate::load::{LoadedPatch, SearchPath, load_patch_with};
use crate::signal::{BLOCK, PatchSteps};
use graph::{Kind, Node, Param, Port, PortCount, PortSignal, PortSpec, Signal};
use processor::{ExpandContext, Expansion, MakeContext, MakeError, Processor, Registry};
use std::io;
use std::path::{Path, PathBuf};
use units::{Channels, Frames};

/// Frames that a patch and its objects compute at once.
pub(super) const BLOCK_FRAMES: Frames = Frames(BLOCK as u32);

/// Most channels of a side.
const MAX_CHANNELS: u16 = 64;

/// Adds the kinds of this crate to `registry`.
pub fn register(registry: &mut Registry) {
    registry.add(kind(), make);
    registry.add_expander("pd", expand_node);
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

/// What a node states for the names that its patch receives.
fn own_values<'n>(make: &MakeContext<'n>) -> impl Iterator<Item = (&'n str, f64)> {
    let (node, kind) = (make.node, make.kind);
    let is_own = |name: &str| matches!(kind.param(name), Some((Kind::OWN, _)));
    let keys = node.params.iter().map(|(key, _)| key.as_str());
    keys.filter(move |key| is_own(key))
        .filter_map(|key| Some((key, node.number(key)?)))
}

fn expand_node(context: &ExpandContext<'_>) -> Result<Expansion, MakeError> {
    if context.format.block != Frames(BLOCK as u32) {
        let message = format!(
            "a patch plays in blocks of {BLOCK} frames, and not of {}",
            context.format.block.0
        );
        return Err(MakeError { message, key: None });
    }
    let node = context.make.node;
    let patch = load(&context.make)?;
    #[expect(clippy::cast_precision_loss, reason = "rates are small")]
    let rate = context.format.rate.hz() as f32;
    let channels = channels(node);
    let (mut steps, _) = PatchSteps::new(&patch, rate, channels);
    for message in node.text("send").unwrap_or_default().split(';') {
        let mut words = message.trim().splitn(3, char::is_whitespace);
        if let (Some(Ok(ms)), Some(receiver)) = (words.next().map(str::parse), words.next()) {
            steps.schedule(ms, receiver, &Atom::words(words.next().unwrap_or("")));
        }
    }
    let own = own_values(&context.make);
    let received = steps.messages.machine().received();
    for (name, value) in own {
        if !received.iter().any(|known| known == name) {
            let nearest = graph::nearest(name, received.iter().map(String::as_str));
            let hint = nearest.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let message = format!("nothing in the patch receives `{name}`{hint}");
            return Err(MakeError { message, key: None });
        }
        #[expect(clippy::cast_possible_truncation, reason = "Pd's numbers are floats")]
        steps.schedule(0.0, name, &[Atom::Float(value as f32)]);
    }
    let (producer, lines) = queue();
    let printer = context.console.clone().map(|console| {
        let name = node.name.clone();
        Printer {
            name,
            console,
            lines,
        }
    });
    let first_own = context.make.kind.params.len();
    Ok(expand(
        steps,
        (producer, printer),
        (context.format.fuse, first_own),
    ))
}
