//! [`CellSpec`]: the tables `[cell.NAME]` of a session.
//!
//! ```toml
//! [cell.reverb]
//! nodes = ["room", "damp"]   # the nodes that it plays
//! cores = [1]                # the machine's numbers; none: wherever the system lets it run
//! memory_mib = 256           # on top of what it has when it begins to play
//! policy = "best-effort"     # or "none": its cores are its alone
//! precedence = 1             # 0 to 9; a higher one runs before a lower one
//! latency = 1                # blocks, 0 or 1
//! ```

use ::toml::{Table, Value};
use graph::{Diagnostic, SourceSpan};
use serde_json::json;
use text::Session;

/// The session's section of cells.
pub const SECTION: &str = "cell";

/// Time at which a cell's result is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellLatency {
    /// In the block that asks for it: the graph waits for it, within a budget.
    #[default]
    None,
    /// One block later: the cell has a whole block for it, and nobody waits.
    OneBlock,
}

impl CellLatency {
    /// In blocks.
    pub fn blocks(self) -> u64 {
        u64::from(self == Self::OneBlock)
    }
}

/// Rule by which a cell shares its cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// With every other program, at ordinary priority.
    #[default]
    BestEffort,
    /// Not at all: no other cell may name them.
    Exclusive,
}

/// One cell of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct CellSpec {
    /// Its name.
    pub name: String,
    /// Names of its nodes.
    pub nodes: Vec<String>,
    /// Cores that its threads may run on; empty for all.
    pub cores: Vec<usize>,
    /// Memory in MiB that it may take after its start.
    pub memory_mib: u64,
    /// Rule by which it shares its cores.
    pub policy: Policy,
    /// From 0 to 9; a higher one runs before a lower one.
    pub precedence: u8,
    /// Time at which its result is due.
    pub latency: CellLatency,
    /// Place of the section.
    pub span: SourceSpan,
}

/// Keys of a cell.
const KEYS: [&str; 6] = [
    "nodes",
    "cores",
    "memory_mib",
    "policy",
    "precedence",
    "latency",
];
/// Policies that are planned.
const PLANNED: [&str; 2] = ["time-triggered", "event-triggered"];
const MAX_MEMORY_MIB: i64 = 1 << 20;
const DEFAULT_MEMORY_MIB: i64 = 256;

/// Reads the cells of `session`, with their mistakes. A wrong cell costs only itself.
///
/// Real-time: setup.
pub fn read_cells(session: &Session) -> (Vec<CellSpec>, Vec<Diagnostic>) {
    let (mut cells, mut mistakes) = (Vec::new(), Vec::new());
    for section in session.sections.iter().filter(|it| it.name == SECTION) {
        let span = section.span;
        let mut refuse = |message: String| mistakes.push(Diagnostic::error(span, message));
        let table = match section.text.parse::<Table>() {
            Ok(table) => table,
            Err(error) => {
                refuse(error.message().to_owned());
                continue;
            }
        };
        let Some(Value::Table(all)) = table.get(SECTION) else {
            refuse("a cell is a table: [cell.NAME]".to_owned());
            continue;
        };
        for (name, value) in all {
            match read_cell(name, value, span) {
                Ok(cell) => cells.push(cell),
                Err(why) => refuse(format!("cell `{name}`: {why}")),
            }
        }
    }
    mistakes.extend(shared_cores(&cells));
    (cells, mistakes)
}

/// Refuses a core that one cell has alone and another names too.
fn shared_cores(cells: &[CellSpec]) -> Vec<Diagnostic> {
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
    schema["properties"][SECTION] = json!({
        "description": "Parts that `divisi cells` plays in processes of their own, by name.",
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "required": ["nodes"],
            "additionalProperties": false,
            "properties": {
                "nodes": { "type": "array", "minItems": 1, "items": { "type": "string" }, "description": "Names of its nodes." },
                "cores": { "type": "array", "items": { "type": "integer", "minimum": 0 }, "description": "Cores that its threads may run on; without it, all." },
                "memory_mib": count(MAX_MEMORY_MIB, DEFAULT_MEMORY_MIB, "Memory in MiB that it may take after its start."),
                "policy": { "enum": ["best-effort", "none"], "description": "none: its cores are its alone." },
                "precedence": count(9, 0, "A higher one runs before a lower one."),
                "latency": count(1, 0, "In blocks; 0: the graph waits for it within the block."),
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
    let whole = |key: &str, max: i64, default: i64| match table.get(key) {
        None => Ok(default),
        Some(value) => (value.as_integer().filter(|it| (0..=max).contains(it)))
            .ok_or_else(|| format!("`{key}` is a whole number from 0 to {max}")),
    };
    let list = |key: &str| match table.get(key) {
        None => Ok(&[][..]),
        Some(value) => {
            (value.as_array().map(Vec::as_slice)).ok_or_else(|| format!("`{key}` is a list"))
        }
    };
    let nodes = list("nodes")?.iter();
    let nodes: Option<Vec<String>> = nodes.map(|it| it.as_str().map(str::to_owned)).collect();
    let nodes = nodes.filter(|all| !all.is_empty());
    let cores = list("cores")?.iter();
    let core = |it: &Value| it.as_integer().and_then(|core| usize::try_from(core).ok());
    let cores: Option<Vec<usize>> = cores.map(core).collect();
    let policy = match table.get("policy").map(Value::as_str) {
        None | Some(Some("best-effort")) => Policy::BestEffort,
        Some(Some("none")) => Policy::Exclusive,
        Some(Some(planned)) if PLANNED.contains(&planned) => {
            return Err(format!("the policy \"{planned}\" is not built yet"));
        }
        _ => return Err("`policy` is \"none\" or \"best-effort\"".to_owned()),
    };
    let cores = cores.ok_or("`cores` is a list of numbers: [1]")?;
    if policy == Policy::Exclusive && cores.is_empty() {
        return Err("policy \"none\" needs `cores`, which are then the cell's alone".to_owned());
    }
    Ok(CellSpec {
        name: name.to_owned(),
        nodes: nodes.ok_or("it needs `nodes`, a list of names: [\"room\"]")?,
        cores,
        memory_mib: whole("memory_mib", MAX_MEMORY_MIB, DEFAULT_MEMORY_MIB)? as u64,
        policy,
        precedence: whole("precedence", 9, 0)? as u8,
        latency: match whole("latency", 1, 0)? {
            0 => CellLatency::None,
            _ => CellLatency::OneBlock,
        },
        span,
    })
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
            (256, CellLatency::None)
        );
        let b = &cells[1];
        assert_eq!(
            (b.cores.as_slice(), b.memory_mib, b.precedence),
            (&[1][..], 9, 3)
        );
        assert_eq!((b.policy, b.latency.blocks()), (Policy::Exclusive, 1));
    }

    #[test]
    fn each_mistake_of_a_cell_is_named_and_costs_only_that_cell() {
        let wrong = [
            ("", "needs `nodes`"),
            ("nodes = []", "needs `nodes`"),
            ("nodes = [1]", "needs `nodes`"),
            ("nodes = [\"x\"]\ncores = \"all\"", "is a list"),
            ("nodes = [\"x\"]\ncores = [-1]", "list of numbers"),
            ("nodes = [\"x\"]\nlatency = 2", "0 to 1"),
            ("nodes = [\"x\"]\nmemory_mib = -2", "0 to"),
            ("nodes = [\"x\"]\nprecedence = 10", "0 to 9"),
            ("nodes = [\"x\"]\npolicy = \"none\"", "needs `cores`"),
            (
                "nodes = [\"x\"]\npolicy = \"event-triggered\"",
                "not built yet",
            ),
            ("nodes = [\"x\"]\npolicy = 3", "is \"none\" or"),
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
