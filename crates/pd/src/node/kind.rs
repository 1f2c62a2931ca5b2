//! The kind `pd`: a patch as a node.

use super::expansion::{STEP_KIND, expand};
use super::printer::{Printer, queue};
use super::whole::WholePatch;
use crate::Atom;
use crate::load::{LoadedPatch, SearchPath, load_patch};
use crate::signal::{BLOCK, PatchSteps};
use graph::{Kind, Param, PortCount, PortSignal, PortSpec};
use processor::{ExpandContext, Expansion, MakeContext, MakeError, Processor, Registry};
use units::{Channels, Frames};

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
        inputs: vec![channels("in", 0)],
        outputs: vec![channels("out", 2)],
        params: vec![
            Param::file("file", true).doc("The patch."),
            Param::text("path").doc("Folders in which abstractions are looked for after those of the patch, with `:` between them."),
            Param::text("version").doc("Fingerprint of the files of the patch: another one makes a new patch of the node."),
            Param::text("send").doc("Messages, with `;` between them: milliseconds, receiver, words."),
        ],
        duplicable: false,
        shares_state: true,
        min_block: Frames(BLOCK as u32),
        typical_ns: 5000,
        ..Kind::new("pd", "Plays a Pure Data patch: its adc~ are inputs, its dac~ are outputs.")
    }
}

/// One processor for the whole patch, where nobody takes its nodes.
fn make(context: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let channels = (context.node.inputs.len(), context.node.outputs.len());
    Ok(Box::new(WholePatch::new(load(context)?, channels)))
}

/// The patch that a node names.
fn load(context: &MakeContext<'_>) -> Result<LoadedPatch, MakeError> {
    let name = context.node.text("file").unwrap_or_default();
    let folders = context.node.text("path").unwrap_or_default();
    let folders = folders.split(':').filter(|folder| !folder.is_empty());
    let search = SearchPath::new(folders.map(|folder| context.folder.join(folder)));
    let path = context.folder.join(name);
    let mut patch = load_patch(&path, &search).map_err(|why| {
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
    let channels = (node.inputs.len(), node.outputs.len());
    let (mut steps, _) = PatchSteps::new(&patch, rate, channels);
    for message in node.text("send").unwrap_or_default().split(';') {
        let mut words = message.trim().splitn(3, char::is_whitespace);
        if let (Some(Ok(ms)), Some(receiver)) = (words.next().map(str::parse), words.next()) {
            steps.schedule(ms, receiver, &Atom::words(words.next().unwrap_or("")));
        }
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
    Ok(expand(steps, (producer, printer), context.format.fuse))
}
