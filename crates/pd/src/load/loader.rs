//! Files to instances.

use super::arguments::{with_argument, with_arguments};
use super::connections::checked;
use super::copied::words_of;
use super::instance::{Instance, LoadedObject, LoadedPatch, ObjectBody, SourceFile};
use super::parsed::{ParsedFile, ParsedFiles};
use super::scope::Scope;
use super::search::{SearchPath, declared, read_text};
use super::signal_loops::signal_loop;
use crate::class::{PortKind, Ports, class_name, known_names, mistake, ports_of};
use crate::disk::FileAccess;
use crate::file::{Atom, BoxBody, Canvas, Gui, GuiKind, PatchBox, read_patch};
use graph::{Diagnostic, SourceSpan, nearest};
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Canvases of a loaded patch, at most: abstractions in abstractions multiply.
pub const MAX_INSTANCES: usize = 65_536;
/// Boxes of a loaded patch, at most.
pub(crate) const MAX_PATCH_BOXES: usize = 1 << 21;
/// Canvases inside one another beyond which no abstraction is opened: with the depth of one file this bounds every recursion over
/// a loaded patch.
const MAX_DEPTH: usize = 256;
/// Instances of one `clone`, at most.
const MAX_CLONES: usize = 4096;
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

    /// An object box: a class, or an abstraction, or what stands in for neither.
    fn of_class(
        &mut self,
        mut words: Vec<Atom>,
        span: SourceSpan,
        scope: &Scope,
    ) -> (ObjectBody, Vec<Atom>, Ports) {
        let Some(first) = words.first().cloned() else {
            return (ObjectBody::Comment, words, Ports::default());
        };
        // A number alone is a `float` that holds it.
        if matches!(first, Atom::Float(_)) {
            return (
                ObjectBody::Class("float".into()),
                words,
                Ports::of("mm", "m"),
            );
        }
        let arguments = words.split_off(1);
        let written = first.to_string();
        let name = class_name(&written);
        if let Some(why) = mistake(name, &arguments) {
            let diagnostic = Diagnostic::warning(span, why);
            self.report(diagnostic.help("it passes nothing; the rest plays"));
            return (
                ObjectBody::StandIn(name.into()),
                arguments,
                Ports::default(),
            );
        }
        if let Some(ports) = ports_of(name, &arguments) {
            return (ObjectBody::Class(name.into()), arguments, ports);
        }
        let body = match name {
            "clone" => self.clones(&arguments, span, scope),
            name => self.abstraction(name, arguments.clone(), span, scope),
        };
        let ports = match &body {
            ObjectBody::Abstraction(inner) => ports_of_canvas(inner),
            ObjectBody::Clones { instances, .. } => ports_of_canvas(&instances[0]),
            _ => Ports::default(),
        };
        (body, arguments, ports)
    }

    fn abstraction(
        &mut self,
        name: &str,
        arguments: Vec<Atom>,
        span: SourceSpan,
        scope: &Scope,
    ) -> ObjectBody {
        match self.open(name, span, scope) {
            Some((file, scope)) => {
                ObjectBody::Abstraction(Box::new(self.instance(&file, scope, arguments)))
            }
            None => ObjectBody::StandIn(name.into()),
        }
    }

    /// `clone [-x] [-s FIRST] NAME COUNT ARGUMENTS`: `$1` of each is its number, the arguments follow.
    fn clones(&mut self, words: &[Atom], span: SourceSpan, scope: &Scope) -> ObjectBody {
        let stand_in = || ObjectBody::StandIn("clone".into());
        let (mut rest, mut first, mut has_number) = (words, 0, true);
        loop {
            match rest {
                [flag, tail @ ..] if flag.as_symbol() == Some("-x") => {
                    (rest, has_number) = (tail, false);
                }
                [flag, Atom::Float(number), tail @ ..] if flag.as_symbol() == Some("-s") => {
                    (rest, first) = (tail, to_index(*number));
                }
                _ => break,
            }
        }
        let (name, count, arguments) = match rest {
            [Atom::Symbol(name), Atom::Float(count), arguments @ ..] => (name, *count, arguments),
            // The order of Pd 0.47.
            [Atom::Float(count), Atom::Symbol(name), arguments @ ..] => (name, *count, arguments),
            _ => {
                let message = "`clone` needs the name of an abstraction and a number";
                self.report(Diagnostic::warning(span, message));
                return stand_in();
            }
        };
        let asked = to_index(count).max(1);
        let count = usize::try_from(asked).unwrap_or(1);
        if count > MAX_CLONES {
            let message = format!("`clone` makes at most {MAX_CLONES} instances, not {asked}");
            self.report(Diagnostic::error(span, message));
            return stand_in();
        }
        let mut instances = Vec::with_capacity(count);
        for index in 0..asked {
            let Some((file, scope)) = self.open(name, span, scope) else {
                return stand_in();
            };
            let number = has_number.then(|| Atom::Float(to_float(first.saturating_add(index))));
            let arguments = number
                .into_iter()
                .chain(arguments.iter().cloned())
                .collect();
            instances.push(self.instance(&file, scope, arguments));
        }
        ObjectBody::Clones { first, instances }
    }

    /// The file of an abstraction and the scope inside it; `None` where there is none, which is reported.
    fn open(
        &mut self,
        name: &str,
        span: SourceSpan,
        scope: &Scope,
    ) -> Option<(Arc<ParsedFile>, Scope)> {
        if self.instances >= MAX_INSTANCES || self.boxes >= MAX_PATCH_BOXES {
            let message = format!(
                "the patch is too large: at most {MAX_INSTANCES} canvases and {MAX_PATCH_BOXES} boxes"
            );
            self.report(Diagnostic::error(
                SourceSpan {
                    line: 1,
                    column: 1,
                    len: 1,
                    file: 0,
                },
                message,
            ));
            return None;
        }
        let Some(path) = self.find(name, scope) else {
            self.report(unknown(name, span));
            return None;
        };
        let file = match self.read(&path) {
            Ok(file) => file,
            Err(why) => {
                let message = format!("`{}` cannot be read: {why}", path.display());
                self.report(Diagnostic::warning(span, message));
                return None;
            }
        };
        if scope.chain.contains(&file.number) {
            self.report(self.recursion(&file, span, scope));
            return None;
        }
        if self.depth >= MAX_DEPTH {
            let message = format!("`{name}` is nested deeper than {MAX_DEPTH} canvases");
            self.report(Diagnostic::error(span, message));
            return None;
        }
        let mut inner = scope.clone();
        inner.chain.push(file.number);
        inner.folders.splice(..0, file.folders.iter().cloned());
        let mut seen = HashSet::new();
        inner.folders.retain(|folder| seen.insert(folder.clone()));
        Some((file, inner))
    }

    fn find(&mut self, name: &str, scope: &Scope) -> Option<PathBuf> {
        let key = (scope.folders.clone(), name.to_owned());
        if let Some(found) = self.parsed.found.get(&key) {
            return found.clone();
        }
        let found = self.search.find(&scope.folders, name);
        self.parsed.found.insert(key, found.clone());
        found
    }

    /// An abstraction inside itself would never end.
    fn recursion(&self, file: &ParsedFile, span: SourceSpan, scope: &Scope) -> Diagnostic {
        let from = scope
            .chain
            .iter()
            .position(|n| *n == file.number)
            .unwrap_or(0);
        let chain = scope.chain[from..].iter().chain([&file.number]);
        let names: Vec<String> = chain
            .map(|number| {
                let path = &self.files[usize::from(*number)].path;
                path.file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        let message = format!("the abstraction `{}` contains itself", file.name);
        Diagnostic::error(span, message).help(names.join(" → "))
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

fn unknown(name: &str, span: SourceSpan) -> Diagnostic {
    let diagnostic = Diagnostic::warning(span, format!("there is no object `{name}`"));
    match nearest(name, known_names()) {
        Some(near) => diagnostic.help(format!(
            "did you mean `{near}`? Here it passes nothing; the rest plays"
        )),
        None => diagnostic.help("it passes nothing; the rest plays"),
    }
}

/// Ports of a box that shows a value. A number, symbol or list box that receives by name has no inlet, one that sends by name no
/// outlet.
fn gui_ports(gui: &Gui) -> Ports {
    let port = |name: &Option<Atom>| if name.is_some() { "" } else { "m" };
    match gui.kind {
        GuiKind::Meter => Ports::of("mm", "mm"),
        GuiKind::Canvas => Ports::default(),
        GuiKind::Float | GuiKind::Symbol | GuiKind::List => {
            Ports::of(port(&gui.receive), port(&gui.send))
        }
        _ => Ports::of("m", "m"),
    }
}

/// Ports of a canvas.
pub(crate) fn ports_of_canvas(inner: &Instance) -> Ports {
    let side = |signal: &str, message: &str| {
        let kind = |at: usize| match &inner.objects[at].body {
            ObjectBody::Class(name) if **name == *signal => PortKind::Signal,
            _ => PortKind::Message,
        };
        inner
            .ports([signal, message])
            .into_iter()
            .map(kind)
            .collect()
    };
    Ports {
        inlets: side("inlet~", "inlet"),
        outlets: side("outlet~", "outlet"),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a float as large as this saturates"
)]
fn to_index(number: f32) -> i32 {
    number as i32
}

#[expect(clippy::cast_precision_loss, reason = "numbers of clones are small")]
fn to_float(number: i32) -> f32 {
    number as f32
}
