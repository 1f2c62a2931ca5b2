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

use crate::policy::{Policy, Server, TimeWindow, Windows};
use crate::shares::MachineShares;
use crate::target::{self, Target};
use ::toml::{Table, Value};
use graph::{Diagnostic, SourceSpan};
use serde_json::json;
use text::{Section, Session};
use units::Nanos;

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

/// Keys of a cell.
const KEYS: [&str; 18] = [
    "nodes",
    "work",
    "cores",
    "memory_mib",
    "policy",
    "precedence",
    "latency",
    "windows",
    "budget_us",
    "period_us",
    "target_load",
    "target_response",
    "cores_min",
    "cores_max",
    "share_siblings",
    "cache_ways",
    "memory_bandwidth",
    "max_mhz",
];
/// Longest time in microseconds of a window, a budget or a period.
const MAX_TIME_US: i64 = 10_000_000;
const MAX_MEMORY_MIB: i64 = 1 << 20;
const DEFAULT_MEMORY_MIB: i64 = 256;

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
        for (name, value) in all {
            match read_cell(name, value, span) {
                Ok(cell) => cells.push(CellSpec {
                    cores_span: place_of(section, "`cores`"),
                    ..cell
                }),
                Err(why) => {
                    let place = place_of(section, &why);
                    mistakes.push(Diagnostic::error(place, format!("cell `{name}`: {why}")));
                }
            }
        }
    }
    mistakes.extend(shared_cores(&cells.iter().collect::<Vec<_>>()));
    (cells, mistakes)
}

/// The place of the key that a mistake names first, in the lines of its section; else that of the section, as where several tables are in
/// it: these need not follow each other in the file.
fn place_of(section: &Section, why: &str) -> SourceSpan {
    let span = section.span;
    let key = why.split('`').nth(1).unwrap_or_default();
    let is_of_key = |line: &str| {
        let rest = line.trim_start().strip_prefix(key);
        rest.is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    let headers = section
        .text
        .lines()
        .filter(|it| it.trim_start().starts_with('['));
    let is_one = headers.count() == 1 && !key.is_empty() && span.line > 0;
    let mut lines = (span.line..).zip(section.text.lines());
    match lines.find(|(_, line)| is_one && is_of_key(line)) {
        Some((line, text)) => SourceSpan {
            line,
            column: 1 + (text.len() - text.trim_start().len()) as u32,
            len: key.chars().count() as u32,
            file: span.file,
        },
        _ => span,
    }
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

/// Adds cells to the schema of a session.
///
/// Real-time: setup.
pub fn extend_schema(schema: &mut serde_json::Value) {
    let count = |max: i64, default: i64, doc: &str| json!({ "type": "integer", "minimum": 0, "maximum": max, "default": default, "description": doc });
    let time = |min: i64, doc: &str| json!({ "type": "integer", "minimum": min, "maximum": MAX_TIME_US, "description": doc });
    target::extend_schema(schema);
    schema["properties"][SECTION] = json!({
        "description": "Parts that `divisi cells` plays in processes of their own, by name.",
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "anyOf": [{ "required": ["nodes"] }, { "required": ["work"] }],
            "additionalProperties": false,
            "properties": {
                "nodes": { "type": "array", "minItems": 1, "items": { "type": "string" }, "description": "Names of its nodes." },
                "work": { "type": "array", "minItems": 1, "uniqueItems": true, "items": { "type": "string" }, "description": "Names of nodes in no cell whose deferred work it does." },
                "cores": { "type": "array", "items": { "type": "integer", "minimum": 0 }, "description": "Cores that its threads may run on; without it, all." },
                "memory_mib": { "type": "integer", "minimum": 1, "maximum": MAX_MEMORY_MIB, "default": DEFAULT_MEMORY_MIB, "description": "Memory in MiB that it may take after its start." },
                "policy": { "enum": ["best-effort", "none", "time-triggered", "event-triggered"], "description": "none: its cores are its alone; time-triggered: in `windows`; event-triggered: `budget_us` in each `period_us` at most." },
                "windows": {
                    "type": "array",
                    "minItems": 1,
                    "description": "When a time-triggered cell may run.",
                    "items": {
                        "type": "object",
                        "required": ["period_us", "length_us"],
                        "additionalProperties": false,
                        "properties": {
                            "period_us": time(1, "Time between the beginnings of two windows, in microseconds."),
                            "offset_us": time(0, "Beginning of the first window, in microseconds."),
                            "length_us": time(1, "Length of each window, in microseconds."),
                        },
                    },
                },
                "budget_us": time(20, "Processor time of an event-triggered cell in each period, in microseconds."),
                "period_us": time(20, "Period of an event-triggered cell, in microseconds; 1 s at most."),
                "cores_min": { "type": "integer", "minimum": 1, "description": "Fewest of `cores` that it has." },
                "cores_max": { "type": "integer", "minimum": 1, "description": "Most of `cores` that it has." },
                "target_load": { "type": "number", "exclusiveMinimum": 0, "maximum": 1, "description": "Share of the time of its cores that it is to use at most; 0.7 where their number changes." },
                "target_response": { "type": "number", "exclusiveMinimum": 0, "maximum": 1, "description": "p99 of its response, as a share of a block." },
                "share_siblings": { "type": "boolean", "default": false, "description": "Another cell may have the other thread of a physical core." },
                "cache_ways": { "type": "integer", "minimum": 1, "maximum": 32, "description": "Ways of the last cache that it fills, by resctrl." },
                "memory_bandwidth": { "type": "integer", "minimum": 1, "maximum": 100, "description": "Share of the memory bandwidth in percent, by resctrl." },
                "max_mhz": { "type": "integer", "minimum": 1, "maximum": 100000, "description": "Highest clock rate of its cores, by cpufreq: a cap on their power." },
                "precedence": count(9, 0, "A higher one runs before a lower one."),
                "latency": count(i64::from(CellLatency::MAX), 0, "In blocks; 0: the graph waits for it within the block. With more it has so many blocks for its work."),
            },
        },
    });
}

fn read_cell(name: &str, value: &Value, span: SourceSpan) -> Result<CellSpec, String> {
    let table = value.as_table().ok_or("it is a table: [cell.NAME]")?;
    if let Some(unknown) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let keys = KEYS.join(", ");
        return Err(format!("`{unknown}` is no key; keys are {keys}"));
    }
    let whole_from = |min: i64, key: &str, max: i64, default: i64| match table.get(key) {
        None => Ok(default),
        Some(value) => (value.as_integer().filter(|it| (min..=max).contains(it)))
            .ok_or_else(|| format!("`{key}` is a whole number from {min} to {max}")),
    };
    let whole = |key: &str, max: i64, default: i64| whole_from(0, key, max, default);
    let list = |key: &str| match table.get(key) {
        None => Ok(&[][..]),
        Some(value) => {
            (value.as_array().map(Vec::as_slice)).ok_or_else(|| format!("`{key}` is a list"))
        }
    };
    let names = |key: &str| {
        let all = list(key)?.iter();
        let all: Option<Vec<String>> = all.map(|it| it.as_str().map(str::to_owned)).collect();
        Ok::<_, String>(all)
    };
    let work = names("work")?.ok_or("`work` is a list of names: [\"pitch\"]")?;
    let is_for_work = !work.is_empty() && !table.contains_key("nodes");
    let nodes = names("nodes")?.filter(|all| !all.is_empty() || is_for_work);
    let cores = list("cores")?.iter();
    let core = |it: &Value| it.as_integer().and_then(|core| usize::try_from(core).ok());
    let cores: Option<Vec<usize>> = cores.map(core).collect();
    let policy = match table.get("policy").map(Value::as_str) {
        None | Some(Some("best-effort")) => Policy::BestEffort,
        Some(Some("none")) => Policy::Exclusive,
        Some(Some("time-triggered")) => Policy::TimeTriggered(read_windows(list("windows")?)?),
        Some(Some("event-triggered")) => {
            let time = |key| match whole(key, MAX_TIME_US, 0)? {
                0 => Err(format!("policy \"event-triggered\" needs `{key}`")),
                us => Ok(Nanos(us as u64 * 1000)),
            };
            Policy::EventTriggered(Server::new(time("budget_us")?, time("period_us")?)?)
        }
        _ => {
            return Err(
                "`policy` is \"none\", \"best-effort\", \"time-triggered\" or \"event-triggered\""
                    .to_owned(),
            );
        }
    };
    check_keys(table, &policy)?;
    let pool = cores.ok_or("`cores` is a list of numbers: [1]")?;
    check_cores(&policy, &pool)?;
    let latency = whole("latency", CellLatency::MAX.into(), 0)?;
    // Nothing waits for a cell without nodes.
    let latency = if is_for_work { latency.max(1) } else { latency };
    let target = Target::read(table, &pool, latency as u64)?;
    if target.cores.is_some() && policy.is_switched() {
        return Err(format!(
            "the number of cores does not change under the policy \"{}\"",
            policy.name()
        ));
    }
    // It begins with as few as it may have.
    let count = target.cores.map_or(pool.len(), |(min, _)| min);
    let cores = pool[..count].to_vec();
    Ok(CellSpec {
        name: name.to_owned(),
        nodes: nodes.ok_or("it needs `nodes`, a list of names: [\"room\"]")?,
        work,
        cores,
        pool,
        memory_mib: whole_from(1, "memory_mib", MAX_MEMORY_MIB, DEFAULT_MEMORY_MIB)? as u64,
        policy,
        precedence: whole("precedence", 9, 0)? as u8,
        latency: CellLatency::new(latency as u16),
        target,
        shares: MachineShares::read(table)?,
        keys: table.clone(),
        span,
        cores_span: span,
    })
}

/// Refuses no cores where the policy is about them.
pub(crate) fn check_cores(policy: &Policy, cores: &[usize]) -> Result<(), String> {
    match policy {
        Policy::Exclusive if cores.is_empty() => {
            Err("policy \"none\" needs `cores`, which are then the cell's alone".to_owned())
        }
        Policy::TimeTriggered(_) if cores.is_empty() => {
            Err("policy \"time-triggered\" needs `cores`, on which its windows are".to_owned())
        }
        _ => Ok(()),
    }
}

/// Refuses keys of another policy.
fn check_keys(table: &Table, policy: &Policy) -> Result<(), String> {
    let others: &[&str] = match policy {
        Policy::TimeTriggered(_) => &["budget_us", "period_us"],
        Policy::EventTriggered(_) => &["windows"],
        _ => &["windows", "budget_us", "period_us"],
    };
    match others.iter().find(|key| table.contains_key(**key)) {
        Some(key) => Err(format!(
            "`{key}` is no key under the policy \"{}\"",
            policy.name()
        )),
        None => Ok(()),
    }
}

fn read_windows(list: &[Value]) -> Result<Windows, String> {
    let form = "`windows` is a list of { period_us = 10000, offset_us = 0, length_us = 2000 }";
    let table = list.iter().map(|one| {
        let one = one.as_table()?;
        let keys = ["period_us", "offset_us", "length_us"];
        let is_known = one.keys().all(|key| keys.contains(&key.as_str()));
        let time = |key: &str, default: Option<i64>| {
            let us = match one.get(key) {
                Some(us) => us.as_integer(),
                None => default,
            };
            let us = us.filter(|it| (0..=MAX_TIME_US).contains(it))?;
            Some(Nanos(us as u64 * 1000))
        };
        is_known.then_some(TimeWindow {
            period: time("period_us", None)?,
            offset: time("offset_us", Some(0))?,
            length: time("length_us", None)?,
        })
    });
    let table: Option<Vec<TimeWindow>> = table.collect();
    Windows::new(table.ok_or(form)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use graph::Catalogue;

    fn cells(text: &str) -> (Vec<CellSpec>, Vec<String>) {
        let session = text::toml::read(text, &Catalogue::default()).session;
        let (cells, mistakes) = read_cells(&session);
        (cells, mistakes.into_iter().map(|it| it.message).collect())
    }

    #[test]
    fn a_cell_is_read_with_its_defaults() {
        let text = "[cell.a]\nnodes = [\"x\"]\n\n[cell.b]\nnodes = [\"y\", \"z\"]\ncores = [1]\nlatency = 1\npolicy = \"none\"\nmemory_mib = 9\nprecedence = 3\n";
        let (cells, mistakes) = cells(text);
        assert_eq!((cells.len(), mistakes), (2, vec![]));
        assert_eq!(
            (cells[0].memory_mib, cells[0].latency),
            (256, CellLatency::default())
        );
        let b = &cells[1];
        assert_eq!(
            (b.cores.as_slice(), b.memory_mib, b.precedence),
            (&[1][..], 9, 3)
        );
        assert_eq!((&b.policy, b.latency.blocks()), (&Policy::Exclusive, 1));
    }

    #[test]
    fn windows_and_servers_are_read_with_their_policies() {
        let time = "nodes = [\"x\"]\npolicy = \"time-triggered\"\ncores = [0]\nwindows = [{ period_us = 9, length_us = 3 }, { period_us = 9, offset_us = 5, length_us = 1 }]";
        let Policy::TimeTriggered(windows) = CellSpec::from_text("a", time).unwrap().policy else {
            panic!("another policy");
        };
        assert_eq!(windows.table().len(), 2);
        assert_eq!(windows.max_supply(Nanos(9000)), Nanos(4000));
        let event = "nodes = [\"x\"]\npolicy = \"event-triggered\"\ncores = [0, 1]\nbudget_us = 100\nperiod_us = 400";
        let event = CellSpec::from_text("a", event).unwrap();
        let server = Server::new(Nanos(100_000), Nanos(400_000)).unwrap();
        assert_eq!(
            (event.workers(), event.policy),
            (1, Policy::EventTriggered(server))
        );
    }

    #[test]
    fn each_mistake_of_a_cell_is_named_and_costs_only_that_cell() {
        let wrong = [
            ("", "needs `nodes`"),
            ("nodes = []", "needs `nodes`"),
            ("nodes = [1]", "needs `nodes`"),
            ("nodes = [\"x\"]\ncores = \"all\"", "is a list"),
            ("nodes = [\"x\"]\ncores = [-1]", "list of numbers"),
            ("nodes = [\"x\"]\nlatency = 257", "0 to 256"),
            ("nodes = []\nwork = [\"x\"]", "needs `nodes`"),
            ("work = [1]", "`work` is a list of names"),
            ("work = []", "needs `nodes`"),
            ("nodes = [\"x\"]\nmemory_mib = -2", "1 to"),
            ("nodes = [\"x\"]\nprecedence = 10", "0 to 9"),
            ("nodes = [\"x\"]\npolicy = \"none\"", "needs `cores`"),
            (
                "nodes = [\"x\"]\npolicy = \"event-triggered\"",
                "needs `budget_us`",
            ),
            (
                "nodes = [\"x\"]\npolicy = \"event-triggered\"\nbudget_us = 300\nperiod_us = 200",
                "a budget lasts 20 us at least",
            ),
            (
                "nodes = [\"x\"]\npolicy = \"time-triggered\"\ncores = [0]",
                "there are 1 to",
            ),
            (
                "nodes = [\"x\"]\npolicy = \"time-triggered\"\nwindows = [{ period_us = 9, length_us = 3 }]",
                "needs `cores`",
            ),
            (
                "nodes = [\"x\"]\npolicy = \"time-triggered\"\ncores = [0]\nwindows = [{ period_us = 9, length = 3 }]",
                "is a list of { period_us",
            ),
            (
                "nodes = [\"x\"]\nbudget_us = 300",
                "is no key under the policy \"best-effort\"",
            ),
            ("nodes = [\"x\"]\npolicy = 3", "is \"none\", "),
            ("nodes = [\"x\"]\nrooms = 3", "is no key"),
        ];
        for (line, part) in wrong {
            let text = format!("[cell.good]\nnodes = [\"x\"]\n[cell.bad]\n{line}\n");
            let (cells, mistakes) = cells(&text);
            assert_eq!(cells.len(), 1, "{line}");
            let is_named = mistakes.len() == 1 && mistakes[0].contains(part);
            assert!(
                is_named && mistakes[0].contains("`bad`"),
                "{line}: {mistakes:?}"
            );
        }
    }

    #[test]
    fn a_mistake_in_a_key_has_its_line_and_other_cores_are_written() {
        let read = |cells: &str| {
            let text = format!("edges = []\n\n{cells}");
            read_cells(&text::toml::read(&text, &Catalogue::default()).session)
        };
        for (cell, place) in [
            ("[cell.a]\nnodes = [\"x\"]\n  memory_mib = 0\n", (5, 3)),
            ("[cell.b]\nnodes = [\"y\"]\nlatencies = 1\n", (5, 1)),
            ("[cell.c]\nlatency = 1\n", (3, 1)),
            (
                "[cell.a]\nnodes = [\"x\"]\n[cell.b]\nnodes = [\"y\"]\nlatencies = 1\n",
                (3, 1),
            ),
        ] {
            let (_, mistakes) = read(cell);
            let places: Vec<_> = mistakes
                .iter()
                .map(|it| (it.span.line, it.span.column))
                .collect();
            assert_eq!(places, [place], "{cell}");
        }
        let (cells, _) = read("[cell.d]\nnodes = [\"z\"]\n");
        let mut cell = cells.into_iter().next().unwrap();
        cell.set_cores(vec![0]);
        let section = cell.section();
        let again = CellSpec::from_text("d", &cell.keys.to_string()).unwrap();
        assert!(
            section.text.contains("cores = [0]") && again.cores == [0],
            "{section:?}"
        );
    }

    #[test]
    fn a_core_of_one_cell_alone_is_refused_to_another() {
        let cell = |name: &str, policy: &str| {
            format!("[cell.{name}]\nnodes = [\"x\"]\ncores = [0, 1]\npolicy = \"{policy}\"\n")
        };
        let both = |a, b| cells(&(cell("a", a) + &cell("b", b))).1;
        assert!(both("best-effort", "best-effort").is_empty());
        let refused = both("none", "best-effort");
        assert!(
            refused.len() == 1 && refused[0].contains("both name core 0"),
            "{refused:?}"
        );
    }
}
