//! Files to instances.
//!
//! | file | holds |
//! |---|---|
//! | `abstractions` | object boxes: classes, abstractions, clones |

mod abstractions;

use super::arguments::{with_argument, with_arguments};
use super::connections::checked;
use super::copied::words_of;
use super::instance::{Instance, LoadedObject, LoadedPatch, ObjectBody, SourceFile};
use super::parsed::{ParsedFile, ParsedFiles};
use super::ports::{gui_ports, ports_of_canvas};
use super::scope::Scope;
use super::search::{SearchPath, declared, read_text};
use super::signal_loops::signal_loop;
use crate::class::Ports;
use crate::disk::FileAccess;
use crate::file::{Atom, BoxBody, Canvas, PatchBox, read_patch};
use graph::{Diagnostic, SourceSpan};
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Canvases of a loaded patch, at most: abstractions in abstractions multiply.
pub const MAX_INSTANCES: usize = 65_536;
/// Boxes of a loaded patch, at most.
pub(crate) const MAX_PATCH_BOXES: usize = 1 << 21;
/// Different files of a patch, at most.
const MAX_FILES: usize = 4096;
/// Patches that are read because message boxes let `pd~` start them, at most: they multiply.
pub(super) const MAX_SUB_PATCHES: usize = 256;
/// Mistakes that are kept, at most.
const MAX_REPORTED: usize = 10_000;
/// Value of `$0` in the first patch, as in Pd.
const FIRST_NUMBER: u32 = 1003;

/// Loads the patch file `path` with everything that it names.
///
/// What is missing or wrong is a diagnostic; the rest is loaded.
///
/// # Errors
///
/// The file itself cannot be read.
///
/// Real-time: waits, on the disk.
pub fn load_patch(path: &Path, search: &SearchPath) -> io::Result<LoadedPatch> {
    load_patch_with(path, search, Vec::new())
}

/// As [`load_patch`]; `arguments` are `$1` and further ones, as those of an abstraction.
///
/// # Errors
///
/// The file itself cannot be read.
///
/// Real-time: waits, on the disk.
pub fn load_patch_with(
    path: &Path,
    search: &SearchPath,
    arguments: Vec<Atom>,
) -> io::Result<LoadedPatch> {
    let chain = [path.canonicalize().unwrap_or_else(|_| path.to_owned())];
    let mut patch = load_file(path, search, arguments)?;
    let mut left = MAX_SUB_PATCHES;
    patch.read_sub_patches(&chain, &mut left);
    Ok(patch)
}

/// A patch that `pd~` starts, below those of `chain` and itself, which is the last of them; `left` more within it.
///
/// Real-time: waits, on the disk.
pub(crate) fn load_inner(
    path: &Path,
    search: &SearchPath,
    chain: &[PathBuf],
    left: &mut usize,
) -> io::Result<LoadedPatch> {
    let mut patch = load_file(path, search, Vec::new())?;
    patch.read_sub_patches(chain, left);
    Ok(patch)
}

/// A patch without those that it starts.
fn load_file(path: &Path, search: &SearchPath, arguments: Vec<Atom>) -> io::Result<LoadedPatch> {
    let mut loader = Loader::new(search);
    let file = loader.read(path)?;
    Ok(loader.patch(&file, arguments))
}

impl LoadedPatch {
    /// The same patch behind others: its first `$0` is `first`. Nothing is read again.
    ///
    /// Real-time: setup.
    pub(crate) fn numbered_from(mut self, first: u32) -> Self {
        if let Some(file) = self.parsed.first.clone()
            && self.root.number != first
        {
            let mut loader = Loader::new(&self.search);
            loader.next_number = first;
            (loader.files, loader.parsed) = (self.files, self.parsed);
            self.root = loader.root(&file, self.root.arguments);
            (self.files, self.parsed) = (loader.files, loader.parsed);
            self.next_number = loader.next_number;
        }
        self
    }
}

/// A patch of the program itself, which names no files.
///
/// Real-time: setup.
pub(crate) fn load_text(name: &str, text: String) -> LoadedPatch {
    let mut loader = Loader::new(&SearchPath::only([]));
    let file = loader.parse(Path::new(name), text);
    loader.patch(&file, Vec::new())
}

pub(super) struct Loader {
    search: SearchPath,
    pub(super) files: Vec<SourceFile>,
    parsed: ParsedFiles,
    diagnostics: Vec<Diagnostic>,
    reported: HashSet<(SourceSpan, String)>,
    next_number: u32,
    pub(super) instances: usize,
    pub(super) boxes: usize,
    /// Canvases that are being loaded, one inside the other.
    depth: usize,
}

impl Loader {
    /// The patch of a file.
    fn patch(mut self, file: &Arc<ParsedFile>, arguments: Vec<Atom>) -> LoadedPatch {
        self.parsed.first = Some(file.clone());
        let root = self.root(file, arguments);
        let mut access = FileAccess::default();
        let folders = file.folders.iter().chain(self.search.folders());
        access.search.extend(folders.cloned());
        for file in &self.files {
            access.protect(&file.path);
        }
        LoadedPatch {
            files: self.files,
            root,
            sub_patches: Vec::new(),
            silent_children: 0,
            diagnostics: self.diagnostics,
            access,
            search: self.search,
            parsed: self.parsed,
            next_number: self.next_number,
        }
    }

    /// The outermost canvas of a file.
    fn root(&mut self, file: &ParsedFile, arguments: Vec<Atom>) -> Instance {
        let scope = Scope {
            chain: vec![file.number],
            folders: file.folders.clone(),
            ..Scope::default()
        };
        self.instance(file, scope, arguments)
    }

    pub(super) fn new(search: &SearchPath) -> Self {
        Self {
            search: search.clone(),
            files: Vec::new(),
            parsed: ParsedFiles::default(),
            diagnostics: Vec::new(),
            reported: HashSet::new(),
            next_number: FIRST_NUMBER,
            instances: 0,
            boxes: 0,
            depth: 0,
        }
    }

    /// The file at `path`, from the disk the first time.
    fn read(&mut self, path: &Path) -> io::Result<Arc<ParsedFile>> {
        let key = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if let Some(file) = self.parsed.parsed.get(&key) {
            return Ok(file.clone());
        }
        if self.files.len() >= MAX_FILES {
            return Err(io::Error::other(format!(
                "a patch has at most {MAX_FILES} files"
            )));
        }
        let file = self.parse(path, read_text(path)?);
        self.parsed.parsed.insert(key, file.clone());
        Ok(file)
    }

    /// The file of a text.
    fn parse(&mut self, path: &Path, text: String) -> Arc<ParsedFile> {
        let number = u16::try_from(self.files.len()).expect("there are at most MAX_FILES");
        let mut patch = read_patch(&text);
        for mut diagnostic in std::mem::take(&mut patch.diagnostics) {
            diagnostic.span.file = number;
            self.report(diagnostic);
        }
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let mut folders = vec![folder.clone()];
        for words in &patch.canvas.declares {
            folders.extend(declared(words, &folder));
        }
        self.files.push(SourceFile {
            path: path.to_owned(),
            text,
        });
        let stem = path.file_stem().unwrap_or_default();
        Arc::new(ParsedFile {
            number,
            name: stem.to_string_lossy().into_owned(),
            patch,
            folders,
        })
    }

    /// One use of a file.
    fn instance(&mut self, file: &ParsedFile, scope: Scope, arguments: Vec<Atom>) -> Instance {
        let number = self.next_number;
        self.next_number += 1;
        let scope = Arc::new(Scope {
            number,
            arguments: Arc::new(arguments),
            file: file.number,
            ..scope
        });
        let canvas = self.canvas(&file.patch.canvas, file.name.clone(), &scope);
        Instance {
            structs: file.patch.structs.clone(),
            ..canvas
        }
    }

    fn canvas(&mut self, canvas: &Canvas, name: String, scope: &Arc<Scope>) -> Instance {
        self.instances += 1;
        self.depth += 1;
        let mut objects = Vec::with_capacity(canvas.boxes.len());
        for patch_box in &canvas.boxes {
            objects.push(self.object(patch_box, scope));
        }
        self.depth -= 1;
        let place = |span: SourceSpan| SourceSpan {
            file: scope.file,
            ..span
        };
        let (connections, wrong) = checked(&canvas.connections, &objects, place);
        for diagnostic in wrong {
            self.report(diagnostic);
        }
        if let Some(diagnostic) = signal_loop(&connections, &objects, place) {
            self.report(diagnostic);
        }
        Instance {
            name,
            number: scope.number,
            arguments: scope.arguments.to_vec(),
            objects,
            connections,
            coordinates: canvas.coordinates,
            window: [canvas.window[2], canvas.window[3]],
            font: canvas.font,
            structs: Vec::new(),
            scope: scope.clone(),
        }
    }

    pub(super) fn object(&mut self, patch_box: &PatchBox, scope: &Arc<Scope>) -> LoadedObject {
        self.boxes += 1;
        let span = SourceSpan {
            file: scope.file,
            ..patch_box.span
        };
        let in_place = |words: &[Atom]| with_arguments(words, &scope.arguments, scope.number);
        let (body, arguments, ports) = match &patch_box.body {
            BoxBody::Object(words) => self.of_class(in_place(words), span, scope),
            BoxBody::Message(words) => (ObjectBody::Message, words.clone(), Ports::of("m", "m")),
            BoxBody::Comment(words) => (ObjectBody::Comment, words.clone(), Ports::default()),
            BoxBody::Gui(gui) => {
                let mut gui = gui.clone();
                for name in [&mut gui.send, &mut gui.receive, &mut gui.label] {
                    let argument =
                        |word: Atom| with_argument(&word, &scope.arguments, scope.number);
                    *name = name.take().map(argument);
                }
                let ports = gui_ports(&gui);
                (ObjectBody::Gui(gui), Vec::new(), ports)
            }
            BoxBody::Canvas { canvas, words } => {
                let words = in_place(words);
                let name = words.get(1).map_or_else(String::new, ToString::to_string);
                let inner = self.canvas(canvas, name, scope);
                let ports = ports_of_canvas(&inner);
                (ObjectBody::Subpatch(Box::new(inner)), words, ports)
            }
            BoxBody::Array(array) => {
                let mut array = array.clone();
                array.name = with_argument(&array.name, &scope.arguments, scope.number);
                (ObjectBody::Array(array), Vec::new(), Ports::default())
            }
            BoxBody::Scalar(words) => {
                let (name, rest) = words.split_at(words.len().min(1));
                let words = [in_place(name), rest.to_vec()].concat();
                (ObjectBody::Scalar, words, Ports::default())
            }
        };
        let written = words_of(&patch_box.body);
        LoadedObject {
            body,
            arguments,
            written,
            ports,
            position: patch_box.position,
            width: patch_box.width,
            saved: patch_box.saved.clone(),
            span,
        }
    }

    /// Takes the mistakes that were found.
    pub(super) fn take_diagnostics(&mut self) -> Vec<Diagnostic> {
        self.reported.clear();
        std::mem::take(&mut self.diagnostics)
    }

    /// Begins behind the numbers and files that another loader has given.
    pub(super) fn continue_from(&mut self, next_number: u32, files: Vec<SourceFile>) {
        self.next_number = next_number;
        self.files = files;
    }

    /// Keeps a mistake once, however many instances have it.
    fn report(&mut self, diagnostic: Diagnostic) {
        let key = (diagnostic.span, diagnostic.message.clone());
        if self.diagnostics.len() < MAX_REPORTED && self.reported.insert(key) {
            self.diagnostics.push(diagnostic);
        }
    }
}
