//! [`Target`]: what a cell is to reach, with how many cores; [`Goal`]: what the whole system is to reach.
//!
//! ```toml
//! [cells]
//! goal = "fewest-cores"      # or "headroom"
//! reserve = 20               # percent of each core that stays idle
//!
//! [cell.voices]
//! nodes = ["voices"]
//! cores = [0, 1, 2, 3]       # those that it may get
//! cores_min = 1
//! cores_max = 3
//! target_load = 0.6          # of the time of its cores
//! target_response = 0.25     # p99 of its response, of a block
//! ```

use ::toml::{Table, Value};
use graph::Diagnostic;
use serde_json::json;
use text::Session;

/// The session's section of the system.
pub const SYSTEM_SECTION: &str = "cells";
/// Most cores of a cell.
const MAX_CORES: i64 = 1024;
/// Share of its cores that a cell of changing size may use, if it says nothing.
pub(crate) const DEFAULT_LOAD: f64 = 0.7;

/// Performance that a cell is to reach, and the cores that it may get for it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Target {
    /// Largest share of the time of its cores that it is to use.
    pub load: Option<f64>,
    /// Largest p99 of its response, as a share of a block.
    pub response: Option<f64>,
    /// Fewest and most cores. None: it keeps those that it has.
    pub cores: Option<(usize, usize)>,
}

impl Target {
    /// Reads the keys of a cell that names the cores `named`.
    pub(crate) fn read(table: &Table, named: &[usize], latency: u64) -> Result<Self, String> {
        let share = |key: &str| match table.get(key) {
            None => Ok(None),
            Some(value) => {
                let share = value.as_float().or(value.as_integer().map(|it| it as f64));
                (share.filter(|it| *it > 0.0 && *it <= 1.0).map(Some))
                    .ok_or_else(|| format!("`{key}` is above 0 and 1 at most"))
            }
        };
        let count = |key: &str| match table.get(key) {
            None => Ok(None),
            Some(value) => (value.as_integer().filter(|it| (1..=MAX_CORES).contains(it)))
                .map(|it| Some(it as usize))
                .ok_or_else(|| format!("`{key}` is a whole number from 1 to {MAX_CORES}")),
        };
        let (load, response) = (share("target_load")?, share("target_response")?);
        if response.is_some() && latency > 0 {
            return Err(
                "`target_response` needs latency = 0, where the graph waits for it; name `target_load`"
                    .to_owned(),
            );
        }
        let cores = match (count("cores_min")?, count("cores_max")?) {
            (None, None) if load.or(response).is_some() => {
                return Err("a target needs `cores_min` and `cores_max`, between which the number of its cores changes".to_owned());
            }
            (None, None) => None,
            (min, max) => Some((min.unwrap_or(1), max.unwrap_or(named.len()))),
        };
        match cores {
            Some(_) if named.is_empty() => {
                Err("`cores_min` and `cores_max` need `cores`, those that it may get".to_owned())
            }
            Some((min, max)) if min > max || max > named.len() => Err(format!(
                "`cores_min` is {min} and `cores_max` {max}: the first is at most the second, and that as many as `cores` names"
            )),
            _ => Ok(Self {
                load,
                response,
                cores,
            }),
        }
    }

    /// Largest share of the time of its cores that it is to use.
    pub(crate) fn load_or_default(&self) -> f64 {
        self.load.unwrap_or(DEFAULT_LOAD)
    }
}

/// Goal of the service once cells have what they need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// Few cores awake: a cell gives a core back as soon as it can do without it.
    #[default]
    FewestCores,
    /// Room for what comes: a cell has as many cores as it may get, and nobody else needs.
    Headroom,
}

impl Goal {
    /// Its name in a session.
    pub fn name(self) -> &'static str {
        match self {
            Self::FewestCores => "fewest-cores",
            Self::Headroom => "headroom",
        }
    }
}

/// The section `[cells]` of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SystemSpec {
    /// Goal of the service.
    pub goal: Goal,
    /// Part of each block that stays idle, in percent, if it is stated.
    pub reserve_percent: Option<u8>,
}

/// Reads the section `[cells]` of `session`, with its mistakes.
///
/// Real-time: setup.
pub fn read_system(session: &Session) -> (SystemSpec, Vec<Diagnostic>) {
    let (mut system, mut mistakes) = (SystemSpec::default(), Vec::new());
    for section in session
        .sections
        .iter()
        .filter(|it| it.name == SYSTEM_SECTION)
    {
        match read_table(&section.text) {
            Ok(read) => system = read,
            Err(why) => mistakes.push(Diagnostic::error(section.span, format!("[cells]: {why}"))),
        }
    }
    (system, mistakes)
}

fn read_table(text: &str) -> Result<SystemSpec, String> {
    let table = text
        .parse::<Table>()
        .map_err(|it| it.message().to_owned())?;
    let table = table.get(SYSTEM_SECTION).and_then(Value::as_table);
    let table = table.ok_or("it is a table; a cell is [cell.NAME]")?;
    if let Some(unknown) = table
        .keys()
        .find(|key| !["goal", "reserve"].contains(&key.as_str()))
    {
        return Err(format!("`{unknown}` is no key; keys are goal, reserve"));
    }
    let goal = match table.get("goal").map(Value::as_str) {
        None | Some(Some("fewest-cores")) => Goal::FewestCores,
        Some(Some("headroom")) => Goal::Headroom,
        _ => return Err("`goal` is \"fewest-cores\" or \"headroom\"".to_owned()),
    };
    let reserve_percent = match table.get("reserve") {
        None => None,
        Some(value) => {
            let percent = value.as_integer().filter(|it| (0..=90).contains(it));
            Some(percent.ok_or("`reserve` is a whole number from 0 to 90")? as u8)
        }
    };
    Ok(SystemSpec {
        goal,
        reserve_percent,
    })
}

/// Adds the section `[cells]` to the schema of a session.
pub(crate) fn extend_schema(schema: &mut serde_json::Value) {
    schema["properties"][SYSTEM_SECTION] = json!({
        "description": "What the cells of a session are to reach together.",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "goal": { "enum": ["fewest-cores", "headroom"], "default": "fewest-cores", "description": "How many cores cells have that may have more or fewer." },
            "reserve": { "type": "integer", "minimum": 0, "maximum": 90, "description": "Part of each core that stays idle, in percent." },
        },
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CellSpec;
    use graph::Catalogue;

    fn cell(lines: &str) -> Result<Target, String> {
        let cell = CellSpec::from_text("a", &format!("nodes = [\"x\"]\n{lines}"));
        cell.map(|it| it.target)
    }

    #[test]
    fn targets_and_bounds_are_read_and_their_mistakes_named() {
        let all = "cores = [0, 1, 2]\ncores_min = 1\ncores_max = 2\ntarget_load = 0.5\ntarget_response = 0.25";
        let target = cell(all).unwrap();
        assert_eq!(
            (target.cores, target.load, target.response),
            (Some((1, 2)), Some(0.5), Some(0.25))
        );
        assert_eq!(
            cell("cores = [0, 1]\ncores_min = 2").unwrap().cores,
            Some((2, 2))
        );
        for (wrong, part) in [
            ("cores = [0]\ntarget_load = 0.5", "needs `cores_min`"),
            ("cores_min = 1", "need `cores`"),
            (
                "cores = [0]\ncores_min = 2\ncores_max = 1",
                "at most the second",
            ),
            ("cores = [0]\ncores_max = 2", "as many as"),
            ("cores = [0]\ncores_min = 0", "from 1 to"),
            ("cores = [0]\ncores_min = 1\ntarget_load = 1.5", "1 at most"),
            (
                "cores = [0]\ncores_min = 1\nlatency = 1\ntarget_response = 0.5",
                "needs latency = 0",
            ),
        ] {
            let why = cell(wrong).unwrap_err();
            assert!(why.contains(part), "{wrong}: {why}");
        }
    }

    #[test]
    fn the_goal_and_the_reserve_are_read_and_their_mistakes_named() {
        let read = |text: &str| read_system(&text::toml::read(text, &Catalogue::default()).session);
        let (system, mistakes) = read("[cells]\ngoal = \"headroom\"\nreserve = 30\n");
        assert_eq!(
            (system.goal, system.reserve_percent),
            (Goal::Headroom, Some(30))
        );
        assert!(mistakes.is_empty());
        for wrong in ["goal = 1", "reserve = 91", "speed = 2"] {
            assert_eq!(read(&format!("[cells]\n{wrong}\n")).1.len(), 1, "{wrong}");
        }
    }
}
