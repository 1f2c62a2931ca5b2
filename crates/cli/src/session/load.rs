//! A session from a file: read, diagnosed, shown.

use crate::failure::{Failure, error_chain};
use crate::output::messages;
use divisi::graph::{Diagnostic, ParamRange, Signal, SourceSpan};
use divisi::network::{self, session::NetworkReading};
use divisi::plan::{Plan, PlanOptions};
use divisi::prelude::{Engine, EngineCallback, EngineError, EngineOptions, Registry};
use divisi::text::{self, Session};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The longest session file: larger ones are a mistake, or meant to fill the memory.
const MAX_BYTES: u64 = 256 << 20;

/// A session with what is needed to talk about it.
pub(crate) struct LoadedSession {
    /// What was read.
    pub(crate) session: Session,
    /// What reading it has found.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Every kind there is.
    pub(crate) registry: Arc<Registry>,
    /// Relative file names in the session are meant from here.
    pub(crate) folder: PathBuf,
    name: String,
    source: String,
}

impl LoadedSession {
    /// Reads `path`, whatever is wrong in it.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let bytes = read_bytes(path)?;
        let name = path.display().to_string();
        let registry = Arc::new(divisi::registry());
        let reading = text::read_by_extension(&name, &bytes, registry.catalogue());
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut loaded = Self {
            session: reading.session,
            diagnostics: reading.diagnostics,
            registry,
            folder: folder.to_path_buf(),
            name,
            source: String::from_utf8_lossy(&bytes).into_owned(),
        };
        // The reader cannot know which parts of a session can do without nodes.
        let is_empty = loaded.session.graph.is_empty() && !loaded.has_network();
        if is_empty && !has_errors(&loaded.diagnostics) {
            let told = Diagnostic::error(
                SourceSpan::new(1, 1, 1),
                "there is neither a node nor a network",
            );
            let help = "write one: [nodes.tone] and below it kind = \"osc\" and freq = 440";
            loaded.diagnostics.push(told.help(help));
        }
        Ok(loaded)
    }

    /// Reads `path`, shows what is wrong in it, and fails if it is no graph that can be used.
    pub(crate) fn read_valid(path: &Path) -> Result<Self, Failure> {
        let loaded = Self::read_valid_or_network(path)?;
        match loaded.session.graph.is_empty() {
            true => Err(Failure::bad_input(
                "this session is a process network: `render` runs it over a file, `check` looks at it, `draw` draws it",
            )),
            false => Ok(loaded),
        }
    }

    /// The same where a process network alone will do.
    pub(crate) fn read_valid_or_network(path: &Path) -> Result<Self, Failure> {
        let loaded = Self::read(path)?;
        loaded.print_diagnostics(&loaded.diagnostics);
        if has_errors(&loaded.diagnostics) {
            return Err(Failure::bad_input_reported());
        }
        Ok(loaded)
    }

    /// The session's process network, if it has one.
    pub(crate) fn network(&self) -> Option<NetworkReading> {
        // Large graphs are not read once more for what they do not have.
        { self.has_network() }.then(|| network::session::read(&self.source))?
    }

    /// Whether the session has a section for a process network.
    fn has_network(&self) -> bool {
        let sections = &self.session.sections;
        sections
            .iter()
            .any(|section| section.name == network::session::SECTION)
    }

    /// Shows diagnostics with the lines that they are about.
    pub(crate) fn print_diagnostics(&self, diagnostics: &[Diagnostic]) {
        let shown = text::render_diagnostics(&self.name, &self.source, diagnostics);
        if !shown.is_empty() {
            messages::print_note(shown.trim_end());
        }
    }

    /// What to do for the session's graph, or everything that is wrong with it.
    pub(crate) fn plan(&self, options: &PlanOptions) -> Result<Plan, Vec<Diagnostic>> {
        let catalogue = self.registry.catalogue();
        divisi::plan::compile(&self.session.graph, catalogue, options).map_err(|wrong| wrong.0)
    }

    /// How many channels the session's `input` nodes listen to.
    pub(crate) fn input_channels(&self) -> u16 {
        let nodes = self.session.graph.nodes().map(|(_, node)| node);
        let heard = nodes
            .filter(|node| node.effective_kind() == "input")
            .map(|node| {
                let first = node.number("channel").unwrap_or(1.0).max(1.0) as u16;
                let width = node.outputs.iter().map(|port| match port.signal {
                    Signal::Audio(channels) => channels.0,
                    _ => 0,
                });
                (first - 1).saturating_add(width.max().unwrap_or(0))
            });
        heard.max().unwrap_or(0)
    }

    /// The files that the session's nodes name.
    pub(crate) fn named_files(&self) -> impl Iterator<Item = PathBuf> {
        let nodes = self.session.graph.nodes();
        nodes.flat_map(|(_, node)| {
            let kind = self.registry.catalogue().get(node.effective_kind());
            let params = kind.into_iter().flat_map(|kind| &kind.params);
            let files = params.filter(|param| matches!(param.range, ParamRange::File(_)));
            files.filter_map(|param| Some(self.folder.join(node.text(param.name)?)))
        })
    }

    /// An engine for the session; what is wrong with it is shown.
    pub(crate) fn make_engine(
        &self,
        mut options: EngineOptions,
    ) -> Result<(Engine, EngineCallback), Failure> {
        options.folder = self.folder.clone();
        let graph = self.session.graph.clone();
        Engine::new(graph, self.registry.clone(), options).map_err(|error| match error {
            EngineError::Graph(wrong) => {
                self.print_diagnostics(&wrong);
                Failure::bad_input_reported()
            }
            other => Failure::failed(error_chain(&other)),
        })
    }
}

/// Whether the session cannot be used.
pub(crate) fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(Diagnostic::is_error)
}

/// How many output channels a plan has.
pub(crate) fn output_channels(plan: &Plan) -> u16 {
    let channels = plan
        .output_channels
        .iter()
        .map(|sink| sink.channel.saturating_add(1));
    channels.max().unwrap_or(0)
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let refuse = |error: std::io::Error| {
        let name = path.display();
        Failure::bad_input(format!("cannot read {name}: {error}"))
    };
    let mut file = File::open(path).map_err(refuse)?;
    if file.metadata().map_err(refuse)?.is_dir() {
        let name = path.display();
        return Err(Failure::bad_input(format!(
            "{name} is a folder: name a session in it, one that ends in .ag or .toml"
        )));
    }
    let mut bytes = Vec::new();
    let limited = (&mut file).take(MAX_BYTES + 1);
    { limited }.read_to_end(&mut bytes).map_err(refuse)?;
    if bytes.len() as u64 > MAX_BYTES {
        let most = MAX_BYTES >> 20;
        let name = path.display();
        return Err(Failure::bad_input(format!(
            "{name} is too large: a session has at most {most} MiB"
        )));
    }
    Ok(bytes)
}
