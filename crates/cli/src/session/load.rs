//! Reading a session file and showing its diagnostics.

use crate::failure::Failure;
use crate::files::read_file;
use crate::guard::FileGuard;
use crate::output::messages;
use crate::patch::{PatchCheck, PatchOptions, PatchSession, SessionPatches};
use crate::session::options::{DEFAULT_BLOCK, default_rate};
use divisi::conv::jconvolver;
use divisi::engine::expanded_graph;
use divisi::files::{self, FileId};
use divisi::graph::{Diagnostic, Node, ParamRange, Signal, SourceSpan, nearest};
use divisi::network::{self, session::NetworkReading};
use divisi::pd::protect_from_writing;
use divisi::plan::{Plan, PlanOptions};
use divisi::prelude::{
    Engine, EngineCallback, EngineError, EngineOptions, Frames, Registry, SampleRate,
};
use divisi::processor::{ExpandFormat, MidiPortNames};
use divisi::text::toml::snapshots::{Snapshots, read_snapshots, recall, snapshots_text};
use divisi::text::toml::{LiveSections, read_live};
use divisi::text::{self, IncludedFile, ReadContext, Session};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Largest session file, in bytes. A larger one is a mistake, or an attempt to use up the memory.
const MAX_BYTES: u64 = 256 << 20;

/// Largest configuration of jconvolver whose sounds are looked up.
const MAX_CONFIGURATION_BYTES: u64 = 1 << 20;

/// A session, its diagnostics, its source text, and the registry of kinds.
pub(crate) struct LoadedSession {
    /// Graph, settings and other sections.
    pub(crate) session: Session,
    /// Diagnostics of the reader.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Sections about live ports.
    pub(crate) live: LiveSections,
    /// All kinds of nodes.
    pub(crate) registry: Arc<Registry>,
    /// Folder of the session; its relative file names start here.
    pub(crate) folder: PathBuf,
    name: String,
    source: String,
    /// The files that the session includes.
    files: Vec<IncludedFile>,
    /// A patch without some of its objects.
    pub(crate) lacks_objects: bool,
    /// Options with which a patch was read.
    pub(crate) patch: PatchOptions,
    /// Frames in a block in which a patch is rendered; `None` for a session.
    pub(crate) render_block: Option<Frames>,
}

impl LoadedSession {
    /// Reads `path`, with any mistakes in it.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        Self::read_with(path, &PatchOptions::default())
    }

    /// Reads `path`, with any mistakes in it; `options` are for a patch.
    pub(crate) fn read_with(path: &Path, options: &PatchOptions) -> Result<Self, Failure> {
        if PatchCheck::is_patch(path) {
            return Self::read_patch(path, options);
        }
        let bytes = read_file(path, MAX_BYTES, "a session")?;
        Ok(Self::read_bytes(path, &bytes, options))
    }

    /// Reads the text of the session `path`, as another process has read it.
    pub(crate) fn read_text(path: &Path, text: &str) -> Result<Self, Failure> {
        match PatchCheck::is_patch(path) {
            true => Self::read(path),
            false => Ok(Self::read_bytes(
                path,
                text.as_bytes(),
                &PatchOptions::default(),
            )),
        }
    }

    /// The text of the session.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    fn read_bytes(path: &Path, bytes: &[u8], options: &PatchOptions) -> Self {
        let name = path.display().to_string();
        let registry = Arc::new(new_registry());
        let folder = path.parent().unwrap_or(Path::new(""));
        let context = ReadContext {
            catalogue: registry.catalogue(),
            probe: &|node| registry.probe(node, folder),
            include: &|including, name| open_included(folder, including, name),
        };
        let mut reading = text::read_by_extension_with(&name, bytes, &context);
        let patches = SessionPatches::read(&mut reading.session, folder, 1 + reading.files.len());
        reading.files.extend(patches.files);
        let source = String::from_utf8_lossy(bytes).into_owned();
        let (live, mistakes) = read_live(&reading.session, &source);
        let mut diagnostics = reading.diagnostics;
        diagnostics.extend(mistakes);
        diagnostics.extend(patches.diagnostics);
        let mut loaded = Self {
            session: reading.session,
            diagnostics,
            live,
            files: reading.files,
            registry,
            folder: folder.to_path_buf(),
            name,
            source,
            lacks_objects: patches.lacks_objects,
            patch: options.clone(),
            render_block: None,
        };
        loaded.check_snapshots();
        // The reader cannot know which sessions need no nodes.
        let is_empty = loaded.session.graph.is_empty() && !loaded.has_network();
        if is_empty && !has_errors(&loaded.diagnostics) {
            let message = Diagnostic::error(
                SourceSpan::new(1, 1, 1),
                "there is neither a node nor a network",
            );
            let help = "write one: [nodes.tone] and below it kind = \"osc\" and freq = 440";
            loaded.diagnostics.push(message.help(help));
        }
        loaded
    }

    /// Reads a patch, as a session of one node.
    fn read_patch(path: &Path, options: &PatchOptions) -> Result<Self, Failure> {
        let mut patch = PatchSession::read(path, options)?;
        let registry = Arc::new(new_registry());
        let reading = text::toml::read(&patch.text, registry.catalogue());
        debug_assert!(!reading.has_errors(), "{:?}", reading.diagnostics);
        let has_stand_ins = patch.check.has_stand_ins();
        let render_block = patch.check.loaded().render_block();
        let (diagnostics, files) = patch.check.take_diagnostics();
        let mut files = files.into_iter().map(|file| IncludedFile {
            name: file.path.display().to_string(),
            text: file.text,
        });
        let first = files.next();
        if !patch.missing.is_empty() {
            let missing = patch.missing.join(", ");
            messages::print_message(&format!("not built yet, so they pass nothing: {missing}"));
        }
        Ok(Self {
            session: reading.session,
            diagnostics,
            live: LiveSections::default(),
            registry,
            folder: path.parent().unwrap_or(Path::new("")).to_path_buf(),
            name: path.display().to_string(),
            source: first.map_or_else(String::new, |file| file.text),
            files: files.collect(),
            lacks_objects: has_stand_ins || !patch.missing.is_empty(),
            patch: options.clone(),
            render_block: Some(render_block),
        })
    }

    /// Puts the nodes that play in place of others into the graph.
    pub(crate) fn expand(&mut self, format: ExpandFormat) -> Result<(), Failure> {
        let from = (&*self.registry, self.folder.as_path());
        match expanded_graph(&self.session.graph, from, format) {
            Ok(expanded) => self.session.graph = expanded,
            Err(error) => return Err(self.engine_failure(error)),
        }
        Ok(())
    }

    /// The mistakes of nodes that play patches: files that are not there, names that nothing receives.
    pub(crate) fn patch_mistakes(&self) -> Vec<Diagnostic> {
        let format = ExpandFormat {
            rate: self.rate_or_default(None),
            block: Frames(64),
            end: None,
            fuse: true,
        };
        let from = (&*self.registry, self.folder.as_path());
        match expanded_graph(&self.session.graph, from, format) {
            Err(EngineError::Graph(mistakes)) => mistakes,
            _ => Vec::new(),
        }
    }

    /// Returns true if a node plays a patch.
    pub(crate) fn has_patch(&self) -> bool {
        let mut nodes = self.session.graph.nodes();
        nodes.any(|(_, node)| node.effective_kind() == "pd")
    }

    /// Adds the diagnostics of the session's snapshots.
    fn check_snapshots(&mut self) {
        if !snapshots_text(&self.session).is_empty() {
            let (_, found) = self.snapshots();
            self.diagnostics.extend(found);
        }
    }

    fn snapshots(&self) -> (Snapshots, Vec<Diagnostic>) {
        let catalogue = self.registry.catalogue();
        read_snapshots(&self.source, &self.session.graph, catalogue)
    }

    /// Gives the nodes the values of a snapshot.
    pub(crate) fn recall(&mut self, name: &str) -> Result<(), Failure> {
        let (all, _) = self.snapshots();
        let Some(snapshot) = all.get(name) else {
            let near = nearest(name, all.keys().map(String::as_str));
            let help = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(Failure::bad_input(format!(
                "the session has no snapshot `{name}`{help}"
            )));
        };
        let catalogue = self.registry.catalogue();
        let left_out = recall(&mut self.session.graph, snapshot, catalogue);
        if !left_out.is_empty() {
            let left_out = left_out.join(", ");
            messages::print_note(&format!(
                "`{name}` leaves out {left_out}: there is no such node"
            ));
        }
        Ok(())
    }

    /// Warnings for players that play fewer channels than their file has.
    pub(crate) fn left_out_channels(&self) -> Vec<Diagnostic> {
        let nodes = self.session.graph.nodes().map(|(_, node)| node);
        let sources = nodes.filter(|node| node.inputs.is_empty());
        let warnings = sources.filter_map(|node| {
            let there = self.registry.probe(node, &self.folder)?.channels;
            let (name, played) = (&node.name, node.channels.0);
            (there.0 > played).then(|| {
                let file_has = there.0;
                let message =
                    format!("`{name}` plays {played} of the {file_has} channels of its file");
                Diagnostic::warning(node.span, message)
                    .help("leave `channels` out to play all of them")
            })
        });
        warnings.collect()
    }

    /// Reads `path` and shows its mistakes. Fails if they are errors, or if the session has no graph.
    pub(crate) fn read_valid(path: &Path) -> Result<Self, Failure> {
        Self::read_valid_with(path, &PatchOptions::default())
    }

    /// As [`read_valid`](Self::read_valid); `options` are for a patch.
    pub(crate) fn read_valid_with(path: &Path, options: &PatchOptions) -> Result<Self, Failure> {
        let loaded = Self::read_valid_or_network(path, options)?;
        match loaded.session.graph.is_empty() {
            true => Err(Failure::bad_input(
                "this session is only a process network: use `render` (which runs it over a file), `check` or `draw`",
            )),
            false => Ok(loaded),
        }
    }

    /// Like `read_valid`, but accepts a session that is only a process network.
    pub(crate) fn read_valid_or_network(
        path: &Path,
        options: &PatchOptions,
    ) -> Result<Self, Failure> {
        Self::read_with(path, options)?.without_errors()
    }

    /// Reads the text of the session `path`, as another process has read it. Mistakes are printed.
    pub(crate) fn read_valid_text(path: &Path, text: &str) -> Result<Self, Failure> {
        Self::read_text(path, text)?.without_errors()
    }

    fn without_errors(self) -> Result<Self, Failure> {
        self.print_diagnostics(&self.diagnostics);
        if has_errors(&self.diagnostics) {
            return Err(Failure::bad_input_reported());
        }
        Ok(self)
    }

    /// The session's process network, if it has one.
    pub(crate) fn network(&self) -> Option<NetworkReading> {
        // Large graphs without a network are not read again.
        { self.has_network() }.then(|| network::session::read(&self.source))?
    }

    /// Returns true if the session has a process network.
    fn has_network(&self) -> bool {
        let sections = &self.session.sections;
        sections
            .iter()
            .any(|section| section.name == network::session::SECTION)
    }

    /// Diagnostics with their source lines, from the session or from a file that it includes. What is wrong with several copies of
    /// a node is shown once: copies have one place, and messages that differ in numbers only.
    fn rendered(&self, diagnostics: &[Diagnostic]) -> String {
        let mut known = HashSet::new();
        let mut is_new = |found: &&Diagnostic| {
            let letters = found.message.chars().filter(|c| !c.is_ascii_digit());
            known.insert((found.span, letters.collect::<String>()))
        };
        let has_copies = self.session.parts.is_some();
        let diagnostics = diagnostics
            .iter()
            .filter(|found| !has_copies || is_new(found));
        let diagnostics: Vec<Diagnostic> = diagnostics.cloned().collect();
        let included = self
            .files
            .iter()
            .map(|file| (file.name.as_str(), file.text.as_str()));
        let files = [(self.name.as_str(), self.source.as_str())].into_iter();
        let files: Vec<(&str, &str)> = files.chain(included).collect();
        text::render_diagnostics_of_files(&files, &diagnostics)
    }

    /// Prints diagnostics with their source lines.
    pub(crate) fn print_diagnostics(&self, diagnostics: &[Diagnostic]) {
        let shown = self.rendered(diagnostics);
        if !shown.is_empty() {
            messages::print_message(shown.trim_end());
        }
    }

    /// The mistakes as a terminal shows them; `None` if the session can be played.
    pub(crate) fn mistakes(&self) -> Option<String> {
        let shown = || self.rendered(&self.diagnostics);
        has_errors(&self.diagnostics).then(|| shown().trim_end().to_owned())
    }

    /// Prints diagnostics that end the command.
    pub(crate) fn graph_failure(&self, diagnostics: &[Diagnostic]) -> Failure {
        self.print_diagnostics(diagnostics);
        Failure::bad_input_reported()
    }

    /// Fails if there are mistakes, which it prints.
    pub(crate) fn refuse(&self, mistakes: &[Diagnostic]) -> Result<(), Failure> {
        match mistakes.is_empty() {
            true => Ok(()),
            false => Err(self.graph_failure(mistakes)),
        }
    }

    /// Failure of the engine. Mistakes in the graph are printed.
    pub(crate) fn engine_failure(&self, error: EngineError) -> Failure {
        match error {
            EngineError::Graph(wrong) => self.graph_failure(&wrong),
            other => Failure::from_error(other),
        }
    }

    /// Frames in a block: `requested`, else the session's, else the default.
    pub(crate) fn block_or_default(&self, requested: Option<Frames>) -> Frames {
        let block = requested.or(self.session.settings.block);
        block.unwrap_or(DEFAULT_BLOCK)
    }

    /// Sample rate: `requested`, else the session's, else the default.
    pub(crate) fn rate_or_default(&self, requested: Option<SampleRate>) -> SampleRate {
        let rate = requested.or(self.session.settings.rate);
        rate.unwrap_or_else(default_rate)
    }

    /// Compiles the session's graph to a plan, or returns all its mistakes.
    pub(crate) fn plan(&self, options: &PlanOptions) -> Result<Plan, Vec<Diagnostic>> {
        let catalogue = self.registry.plan_catalogue();
        divisi::plan::compile(&self.session.graph, &catalogue, options).map_err(|wrong| wrong.0)
    }

    /// Names of the live MIDI ports that the session's nodes use.
    pub(crate) fn midi_ports(&self) -> MidiPortNames {
        divisi::midi::port_names(&self.session.graph)
    }

    /// Name under which other programs see the session: that of its file.
    pub(crate) fn client_name(&self) -> String {
        let stem = Path::new(&self.name).file_stem();
        stem.map_or("divisi".into(), |stem| stem.to_string_lossy().into_owned())
    }

    /// Number of input channels that the session's `input` nodes use.
    pub(crate) fn input_channels(&self) -> u16 {
        let nodes = self.session.graph.nodes().map(|(_, node)| node);
        let channels = nodes
            .filter(|node| node.effective_kind() == "input")
            .map(|node| {
                let first = node.number("channel").unwrap_or(1.0).max(1.0) as u16;
                let width = node.outputs.iter().map(|port| match port.signal {
                    Signal::Audio(channels) => channels.0,
                    _ => 0,
                });
                (first - 1).saturating_add(width.max().unwrap_or(0))
            });
        channels.max().unwrap_or(0)
    }

    /// Files that the session's nodes name, each with the node: those that are read, or those that are recorded.
    pub(crate) fn named_files(&self, are_recorded: bool) -> impl Iterator<Item = (&Node, PathBuf)> {
        let files = self
            .file_params()
            .filter(move |(_, _, is_recorded)| *is_recorded == are_recorded);
        files.map(|(node, name, _)| (node, self.folder.join(name)))
    }

    /// Values of all parameters that name a file, as they are written: node, name, and true if the node writes the file.
    pub(crate) fn file_params(&self) -> impl Iterator<Item = (&Node, &str, bool)> {
        let nodes = self.session.graph.nodes().map(|(_, node)| node);
        nodes.flat_map(|node| {
            let kind = self.registry.catalogue().get(node.effective_kind());
            let writes = kind.and_then(|kind| kind.writes);
            let params = kind.into_iter().flat_map(|kind| &kind.params);
            let files = params.filter(|param| matches!(param.range, ParamRange::File(_)));
            files.filter_map(move |param| {
                Some((node, node.text(param.name)?, writes == Some(param.name)))
            })
        })
    }

    /// Files that the session includes.
    pub(crate) fn included_files(&self) -> Vec<PathBuf> {
        let names = self.files.iter().map(|file| PathBuf::from(&file.name));
        names.collect()
    }

    /// Returns true if parts of the session are in other files.
    pub(crate) fn includes(&self) -> bool {
        let is_part = |path: PathBuf| path.extension().is_none_or(|it| it != "pd");
        self.included_files().into_iter().any(is_part)
    }

    /// A guard of all files of the session and of `inputs`. Refuses a recorder that would overwrite one.
    pub(crate) fn guard<'a>(
        &self,
        inputs: impl Iterator<Item = &'a PathBuf>,
    ) -> Result<FileGuard, Failure> {
        let read = self.named_files(false);
        let read = read.flat_map(|(node, path)| sounds_of(node, &path).into_iter().chain([path]));
        let read: Vec<PathBuf> = read
            .chain(self.included_files())
            .chain(inputs.cloned())
            .collect();
        // Patches are made later: they may write over none of these.
        read.iter().for_each(|path| protect_from_writing(path));
        let mut guard = FileGuard::new(read);
        self.check_recorders()?;
        for (node, path) in self.named_files(true) {
            let recorder = format!("the {} `{}` writes it", node.effective_kind(), node.name);
            protect_from_writing(&path);
            guard
                .recording(&path)
                .map_err(|failure| failure.with_note(&recorder))?;
        }
        Ok(guard)
    }

    /// Refuses two nodes that write one file under different names: links, or `a/../b`. The plan refuses equal names.
    fn check_recorders(&self) -> Result<(), Failure> {
        let mut written: HashMap<FileId, (&Node, PathBuf)> = HashMap::new();
        for (node, path) in self.named_files(true) {
            let Some(id) = FileId::of(&path) else {
                continue;
            };
            let (first, other) = written.entry(id).or_insert((node, path.clone()));
            if *other != path {
                let message = format!("`{}` and `{}` write the same file", first.name, node.name);
                let mistake = node.mistake(message);
                let mistake = mistake.related(first.span, "the first one is here");
                let mistake = mistake.help("give one of them another file");
                return Err(self.graph_failure(&[mistake]));
            }
        }
        Ok(())
    }

    /// Makes an engine for the session. Mistakes are printed.
    pub(crate) fn make_engine(
        &self,
        mut options: EngineOptions,
    ) -> Result<(Engine, EngineCallback), Failure> {
        options.folder = self.folder.clone();
        let graph = self.session.graph.clone();
        Engine::new(graph, self.registry.clone(), options)
            .map_err(|error| self.engine_failure(error))
    }
}

/// All kinds of nodes. What patches print goes to the terminal.
pub(crate) fn new_registry() -> Registry {
    let mut registry = divisi::registry();
    registry.set_console(Arc::new(|patch: &str, line: &str| {
        messages::print_message(&format!("{patch}: {line}"));
    }));
    registry
}

/// The sound files that the configuration `path` of a node `jconvolver` names, or the instrument of a `sampler`.
pub(crate) fn sounds_of(node: &Node, path: &Path) -> Vec<PathBuf> {
    if node.effective_kind() == "sampler" {
        return divisi::dsp::samples_of(path);
    }
    let is_configuration = node.effective_kind() == "jconvolver";
    let bytes = is_configuration.then(|| files::read(path, MAX_CONFIGURATION_BYTES).ok());
    let folder = path.parent().unwrap_or(Path::new(""));
    let named = bytes
        .flatten()
        .map(|it| jconvolver::named_files(it, folder));
    named.unwrap_or_default()
}

/// Opens a file that a session in `folder` includes, by its name relative to the including file.
fn open_included(folder: &Path, including: &str, name: &str) -> Result<(String, Vec<u8>), String> {
    let folder = match including {
        "" => folder,
        file => Path::new(file).parent().unwrap_or(Path::new("")),
    };
    let path = folder.join(name);
    // One name for a file, however it is reached.
    let path = path.canonicalize().map_err(|error| error.to_string())?;
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let shown = match here.as_ref().map(|here| path.strip_prefix(here)) {
        Ok(Ok(inside)) => inside,
        _ => &path,
    };
    let bytes = read_file(&path, MAX_BYTES, "a session").map_err(Failure::message)?;
    Ok((shown.display().to_string(), bytes))
}

/// Returns true if any diagnostic is an error.
pub(crate) fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(Diagnostic::is_error)
}

/// Number of output channels of a plan.
pub(crate) fn output_channels(plan: &Plan) -> u16 {
    let channels = plan
        .output_channels
        .iter()
        .map(|sink| sink.channel.saturating_add(1));
    channels.max().unwrap_or(0)
}
