//! [`LoadedPatch`] and [`Instance`]: a patch in which nothing is left to look up.

use super::parsed::ParsedFiles;
use super::scope::Scope;
use super::search::SearchPath;
use crate::class::Ports;
use crate::disk::FileAccess;
use crate::file::{ArrayData, Atom, Connection, Coordinates, Gui, Position};
use crate::signal::BLOCK;
use graph::{Diagnostic, SourceSpan};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::Frames;

/// A patch with all its abstractions.
#[derive(Debug)]
pub struct LoadedPatch {
    /// The patch file first, then abstractions in the order in which they were found. Places count them from 0.
    pub files: Vec<SourceFile>,
    /// The outermost canvas.
    pub root: Instance,
    /// Patches that message boxes let `pd~` start. Each has names of its own.
    pub sub_patches: Vec<SubPatch>,
    /// Starts in message boxes that start nothing: the patch is missing or cannot be read. `pd~` stays silent.
    pub silent_children: usize,
    /// Every mistake of every file, each once.
    pub diagnostics: Vec<Diagnostic>,
    /// Files that it may read and write while it plays.
    pub(crate) access: FileAccess,
    /// Folders in which messages to canvases look for abstractions.
    pub(crate) search: SearchPath,
    /// Its files as they were read.
    pub(super) parsed: ParsedFiles,
    /// `$0` of the next abstraction.
    pub(crate) next_number: u32,
}

/// A patch that a message box lets `pd~` start.
#[derive(Debug)]
pub struct SubPatch {
    /// Its path.
    pub path: PathBuf,
    /// Place of the message box.
    pub span: SourceSpan,
    /// The patch. Its files are listed with those of the patch around, too.
    pub patch: Box<LoadedPatch>,
}

impl LoadedPatch {
    /// Allows the patch to write files into `folder` and the folders in it, where it may also replace files. Without this it writes
    /// nothing.
    ///
    /// Real-time: setup.
    pub fn allow_write(&mut self, folder: &Path) {
        self.access.allow(folder);
    }

    /// Keeps a file from being replaced by the patch: one that the program itself writes or needs.
    ///
    /// Real-time: setup.
    pub fn protect_file(&mut self, path: &Path) {
        self.access.protect(path);
    }

    /// Number of files that the patch could not write: they lie where it may not write, or the disk has failed.
    pub fn lost_writes(&self) -> u64 {
        self.access.lost_writes()
    }
}

/// A file that was read.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its path.
    pub path: PathBuf,
    /// Its text; bytes that are not UTF-8 are U+FFFD.
    pub text: String,
}

/// One use of a canvas: the patch itself, a subpatch, or an abstraction with its arguments.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// Name of the file or of the subpatch, without a folder and `.pd`.
    pub name: String,
    /// Value of `$0`: a number of its own for each patch and abstraction, that of the patch around for a subpatch.
    pub number: u32,
    /// Values of `$1` and further ones.
    pub arguments: Vec<Atom>,
    /// Its boxes: as many and in the same order as in the file.
    pub objects: Vec<LoadedObject>,
    /// Connections that hold, in the order of the file.
    pub connections: Vec<Connection>,
    /// The part of it that is shown outside.
    pub coordinates: Option<Coordinates>,
    /// Width and height of its window, in pixels.
    pub window: [f32; 2],
    /// Size of its letters, in Pd's units: 10 and 12 are usual.
    pub font: f32,
    /// Templates of data structures that its file defines, as words.
    pub(crate) structs: Vec<Vec<Atom>>,
    /// What its boxes know of the canvases around.
    pub(crate) scope: Arc<Scope>,
}

/// A box.
#[derive(Clone, Debug)]
pub struct LoadedObject {
    /// Its body.
    pub body: ObjectBody,
    /// Its words behind the class, with arguments in place. Those of a message box are as they are written: `$1` there
    /// stands for what is received.
    pub arguments: Vec<Atom>,
    /// The words of an object box and of a subpatch as they are written: with `r` for `receive`, and `$1` for an argument.
    /// Of other boxes names with dollars: of a box of the GUI the names to send to, to receive under and to show, of an array its name.
    pub written: Vec<Atom>,
    /// Inlets and outlets.
    pub ports: Ports,
    /// Its top left corner.
    pub position: Position,
    /// Its width in letters, where it is stated.
    pub width: Option<f32>,
    /// Contents that were saved with it, a list of words for each statement.
    pub saved: Vec<Vec<Atom>>,
    /// Its place in the files.
    pub span: SourceSpan,
}

/// The body of a box.
#[derive(Clone, Debug)]
pub enum ObjectBody {
    /// An object of one of Pd's classes, by its full name.
    Class(Box<str>),
    /// A message box.
    Message,
    /// A box that shows a value.
    Gui(Gui),
    /// A comment, or an empty box.
    Comment,
    /// A subpatch.
    Subpatch(Box<Instance>),
    /// An abstraction.
    Abstraction(Box<Instance>),
    /// `clone`: the same abstraction several times, the first of them with this number.
    Clones {
        /// Number of the first instance.
        first: i32,
        /// The instances, at least one.
        instances: Vec<Instance>,
    },
    /// An array with its contents.
    Array(ArrayData),
    /// A datum of a data structure.
    Scalar,
    /// A stand-in for an object that could not be made, by its name. It passes nothing.
    StandIn(Box<str>),
}

impl LoadedPatch {
    /// The patch, and all that message boxes let `pd~` start in it and in those.
    pub fn with_sub_patches(&self) -> Vec<&Self> {
        let mut all = vec![self];
        for sub in &self.sub_patches {
            all.extend(sub.patch.with_sub_patches());
        }
        all
    }

    /// Channels that its `adc~` and its `dac~` name, at most 64 each.
    pub fn channels(&self) -> (u16, u16) {
        (self.root.channels("adc~"), self.root.channels("dac~"))
    }

    /// Frames in a block of an offline engine in which it plays best. A patch of few signal objects plays in one node, and takes
    /// several of its blocks at once; a large one has its blocks computed by several workers.
    pub fn render_block(&self) -> Frames {
        let is_signal =
            |body: &ObjectBody| matches!(body, ObjectBody::Class(class) if class.ends_with('~'));
        match self.root.count(&is_signal) <= MAX_SMALL {
            true => RENDER_BLOCK,
            false => Frames(BLOCK as u32),
        }
    }

    /// True where boxes receive MIDI, and where they send it.
    pub fn uses_midi(&self) -> (bool, bool) {
        let has = |classes: &[&str]| {
            self.root.count(
                &|body| matches!(body, ObjectBody::Class(class) if classes.contains(&&**class)),
            ) > 0
        };
        (has(&MIDI_IN), has(&MIDI_OUT))
    }
}

/// Signal objects of a patch that costs less than waking a worker.
const MAX_SMALL: usize = 120;
/// Frames in a block in which such a patch is rendered: what an engine does for each block counts for little then.
const RENDER_BLOCK: Frames = Frames(2048);
/// Classes that receive MIDI.
const MIDI_IN: [&str; 9] = [
    "notein",
    "ctlin",
    "pgmin",
    "bendin",
    "touchin",
    "polytouchin",
    "midiin",
    "sysexin",
    "midirealtimein",
];
/// Classes that send MIDI.
const MIDI_OUT: [&str; 7] = [
    "noteout",
    "ctlout",
    "pgmout",
    "bendout",
    "touchout",
    "polytouchout",
    "midiout",
];

/// Channels that a patch may have.
const MAX_CHANNELS: f32 = 64.0;

impl Instance {
    /// The highest channel that a box of `class` names, here or inside.
    fn channels(&self, class: &str) -> u16 {
        let of_object = |object: &LoadedObject| match &object.body {
            ObjectBody::Subpatch(inner) | ObjectBody::Abstraction(inner) => inner.channels(class),
            ObjectBody::Clones { instances, .. } => {
                let all = instances.iter().map(|inner| inner.channels(class));
                all.max().unwrap_or(0)
            }
            ObjectBody::Class(name) if &**name == class => {
                let named = object.arguments.iter().filter_map(Atom::as_float);
                let highest = named.fold(0.0, f32::max).min(MAX_CHANNELS);
                match object.arguments.is_empty() {
                    true => 2,
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "0 to 64"
                    )]
                    false => highest as u16,
                }
            }
            _ => 0,
        };
        self.objects.iter().map(of_object).max().unwrap_or(0)
    }

    /// Its `inlet` or `outlet` boxes, of signals and of messages, by their index and from left to right. Of two that stand as
    /// far to the left, the one that was made later comes first, as in Pd.
    pub(crate) fn ports(&self, names: [&str; 2]) -> Vec<usize> {
        let boxes = self.objects.iter().enumerate();
        let mut found: Vec<usize> = boxes
            .filter(|(_, object)| matches!(&object.body, ObjectBody::Class(name) if names.contains(&&**name)))
            .map(|(at, _)| at)
            .collect();
        let x = |at: usize| self.objects[at].position.x;
        found.sort_by(|a, b| x(*a).total_cmp(&x(*b)).then(b.cmp(a)));
        found
    }

    /// Number of boxes in it and in everything inside, comments and empty boxes left out.
    pub fn box_count(&self) -> usize {
        self.count(&|body| !matches!(body, ObjectBody::Comment))
    }

    /// Number of stand-ins in it and in everything inside.
    pub fn stand_in_count(&self) -> usize {
        self.count(&|body| matches!(body, ObjectBody::StandIn(_)))
    }

    /// Number of boxes in it and in everything inside for which `counts` is true.
    fn count(&self, counts: &dyn Fn(&ObjectBody) -> bool) -> usize {
        let of_object = |object: &LoadedObject| {
            let inside = match &object.body {
                ObjectBody::Subpatch(inner) | ObjectBody::Abstraction(inner) => inner.count(counts),
                ObjectBody::Clones { instances, .. } => {
                    instances.iter().map(|inner| inner.count(counts)).sum()
                }
                _ => 0,
            };
            inside + usize::from(counts(&object.body))
        };
        self.objects.iter().map(of_object).sum()
    }
}
