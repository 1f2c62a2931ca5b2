//! [`CellSpec`]: the tables `[cell.NAME]` of a session.
//!
//! ```toml
//! [cell.reverb]
//! nodes = ["room", "damp"]   # the nodes that it plays
//! cores = [1]                # the machine's numbers; none: wherever the system lets it run
//! memory_mib = 256           # on top of what it has when it begins to play
//! policy = "best-effort"     # or "none", "time-triggered", "event-triggered"
//! precedence = 1             # 0 to 9; a higher one runs before a lower one
//! latency = 1                # blocks, 0 to 256
//! work = ["pitch"]           # nodes in no cell whose deferred work it does; then `nodes` may be left out
//! ```

mod places;
mod read;
mod schema;

pub(crate) use read::check_cores;
pub use schema::extend_schema;

use crate::policy::Policy;
use crate::shares::MachineShares;
use crate::target::Target;
use ::toml::{Table, Value};
use graph::{Diagnostic, SourceSpan};
use places::SectionPlaces;
use read::read_cell;
use text::{Section, Session};

/// The session's section of cells.
pub const SECTION: &str = "cell";

/// Time at which a cell's result is due, in blocks after the one that asks for it.
///
/// With 0 the graph waits for it, within a budget. With more nobody waits: the cell has so many blocks for each result,
/// and works on several at a time, one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellLatency(u16);

impl CellLatency {
    /// Most blocks: the rings of a cell hold so many messages.
    pub const MAX: u16 = 256;

    /// A latency of so many blocks, [`Self::MAX`] at most.
    pub fn new(blocks: u16) -> Self {
        Self(blocks.min(Self::MAX))
    }

    /// In blocks.
    pub fn blocks(self) -> u64 {
        u64::from(self.0)
    }

    /// Returns true if the graph waits for each result.
    pub fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// One cell of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct CellSpec {
    /// Its name.
    pub name: String,
    /// Names of its nodes.
    pub nodes: Vec<String>,
    /// Names of nodes in no cell whose deferred work it does.
    pub work: Vec<String>,
    /// Cores that its threads may run on; empty for all.
    pub cores: Vec<usize>,
    /// Cores that it may get, if their number changes: those of the session.
    pub pool: Vec<usize>,
    /// Memory in MiB that it may take after its start.
    pub memory_mib: u64,
    /// Rule by which it shares its cores.
    pub policy: Policy,
    /// From 0 to 9; a higher one runs before a lower one.
    pub precedence: u8,
    /// Time at which its result is due.
    pub latency: CellLatency,
    /// Its target, and its bounds of cores.
    pub target: Target,
    /// Its shares of what cores have together.
    pub shares: MachineShares,
    /// Its table as it was written.
    pub(crate) keys: Table,
    /// Place of the section.
    pub span: SourceSpan,
    /// Place of its cores; that of the section, if it names none.
    pub(crate) cores_span: SourceSpan,
}

impl CellSpec {
    /// Number of its workers: one for each core, and one alone under the policy `event-triggered`.
    ///
    /// Real-time: setup.
    pub fn workers(&self) -> usize {
        match self.policy {
            Policy::EventTriggered(_) => 1,
            _ => self.cores.len().max(1),
        }
    }

    /// Number of workers that its process has. A cell whose number of cores changes has one for each that it may get, if
    /// other threads may interrupt them; workers at real-time priority that share a core would keep it from each other.
    ///
    /// Real-time: setup.
    pub fn process_workers(&self) -> usize {
        match (self.target.cores, &self.policy) {
            (Some((_, max)), Policy::BestEffort) => max,
            (Some((min, _)), Policy::Exclusive) => min.min(self.workers()),
            _ => self.workers(),
        }
    }

    /// Gives it other cores, as its table says from now on. Where their number changes by itself, the table keeps all that it may get.
    pub(crate) fn set_cores(&mut self, cores: Vec<usize>) {
        if self.target.cores.is_none() {
            let numbers = cores.iter().filter_map(|core| i64::try_from(*core).ok());
            let list = Value::Array(numbers.map(Value::Integer).collect());
            self.keys.insert("cores".to_owned(), list);
            self.pool.clone_from(&cores);
        }
        self.cores = cores;
    }

    /// The same cell with other nodes.
    pub(crate) fn with_nodes(&self, nodes: Vec<String>) -> Self {
        let mut keys = self.keys.clone();
        let names = nodes.iter().map(|it| Value::from(it.as_str()));
        keys.insert("nodes".to_owned(), Value::Array(names.collect()));
        Self {
            nodes,
            keys,
            ..self.clone()
        }
    }

    /// Names of the nodes that it plays, and of those whose work it does.
    ///
    /// Real-time: setup.
    pub fn computed(&self) -> Vec<String> {
        self.nodes.iter().chain(&self.work).cloned().collect()
    }

    /// The same cell, whose work has these names.
    pub(crate) fn with_work(&self, work: Vec<String>) -> Self {
        let mut keys = self.keys.clone();
        let names = work.iter().map(|it| Value::from(it.as_str()));
        keys.insert("work".to_owned(), Value::Array(names.collect()));
        Self {
            work,
            keys,
            ..self.clone()
        }
    }

    /// Returns true if all keys but the nodes are those of `other`.
    pub(crate) fn differs_in_nodes_only(&self, other: &Self) -> bool {
        let keys = |spec: &Self| {
            let mut keys = spec.keys.clone();
            keys.remove("nodes");
            keys
        };
        keys(self) == keys(other)
    }

    /// Its section in a session.
    pub(crate) fn section(&self) -> Section {
        let named = Table::from_iter([(self.name.clone(), Value::Table(self.keys.clone()))]);
        let all = Table::from_iter([(SECTION.to_owned(), Value::Table(named))]);
        Section {
            name: SECTION.to_owned(),
            span: SourceSpan::NONE,
            text: all.to_string(),
            elsewhere: Vec::new(),
        }
    }

    /// Reads a cell from the keys of its table, as text.
    ///
    /// # Errors
    ///
    /// The mistake in them.
    ///
    /// Real-time: setup.
    pub fn from_text(name: &str, text: &str) -> Result<Self, String> {
        let table = text.parse::<Table>();
        let table = table.map_err(|error| error.message().to_owned())?;
        read_cell(name, &Value::Table(table), SourceSpan::NONE)
    }
}

/// Reads the cells of `session`, with their mistakes. A wrong cell costs only itself.
///
/// Real-time: setup.
pub fn read_cells(session: &Session) -> (Vec<CellSpec>, Vec<Diagnostic>) {
    let (mut cells, mut mistakes) = (Vec::new(), Vec::new());
    for section in session.sections.iter().filter(|it| it.name == SECTION) {
        let span = section.span;
        let refuse = |message: String| Diagnostic::error(span, message);
        let table = match section.text.parse::<Table>() {
            Ok(table) => table,
            Err(error) => {
                mistakes.push(refuse(error.message().to_owned()));
                continue;
            }
        };
        let Some(Value::Table(all)) = table.get(SECTION) else {
            mistakes.push(refuse("a cell is a table: [cell.NAME]".to_owned()));
            continue;
        };
        let places = SectionPlaces::new(section);
        for (name, value) in all {
            let places = places.of_cell(name);
            match read_cell(name, value, places.cell()) {
                Ok(cell) => cells.push(CellSpec {
                    cores_span: places.key("cores"),
                    ..cell
                }),
                Err(why) => {
                    // The key that it names first.
                    let key = why.split('`').nth(1).unwrap_or_default();
                    let message = format!("cell `{name}`: {why}");
                    mistakes.push(Diagnostic::error(places.key(key), message));
                }
            }
        }
    }
    mistakes.extend(shared_cores(&cells.iter().collect::<Vec<_>>()));
    (cells, mistakes)
}

/// Refuses a core that one cell has alone and another names too.
pub(crate) fn shared_cores(cells: &[&CellSpec]) -> Vec<Diagnostic> {
    let mut mistakes = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        for other in &cells[..at] {
            let is_exclusive = [cell, other]
                .iter()
                .any(|it| it.policy == Policy::Exclusive);
            let shared = cell.cores.iter().find(|core| other.cores.contains(core));
            if let (true, Some(core)) = (is_exclusive, shared) {
                let (a, b) = (&other.name, &cell.name);
                let message = format!(
                    "the cells `{a}` and `{b}` both name core {core}, which policy \"none\" gives to one alone"
                );
                mistakes.push(
                    Diagnostic::error(cell.span, message)
                        .help("give one of them another core, or both the policy \"best-effort\""),
                );
            }
        }
    }
    mistakes
}

#[cfg(test)]
mod tests;
