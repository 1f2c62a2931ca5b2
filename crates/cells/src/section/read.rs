//! The keys of a cell's table are read.

use super::{CellLatency, CellSpec};
use crate::policy::{Policy, Server, TimeWindow, Windows};
use crate::shares::MachineShares;
use crate::target::Target;
use ::toml::{Table, Value};
use graph::{SourceSpan, nearest};
use std::collections::HashSet;
use units::Nanos;

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
pub(super) const MAX_TIME_US: i64 = 10_000_000;
pub(super) const MAX_MEMORY_MIB: i64 = 1 << 20;
pub(super) const DEFAULT_MEMORY_MIB: i64 = 256;

/// The keys of a cell's table.
struct Keys<'t>(&'t Table);

impl<'t> Keys<'t> {
    /// Refuses a table with other keys.
    fn of(table: &'t Table) -> Result<Self, String> {
        match table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            None => Ok(Self(table)),
            Some(unknown) => Err(no_key(unknown)),
        }
    }

    fn whole_from(&self, min: i64, key: &str, max: i64, default: i64) -> Result<i64, String> {
        match self.0.get(key) {
            None => Ok(default),
            Some(value) => (value.as_integer().filter(|it| (min..=max).contains(it)))
                .ok_or_else(|| format!("`{key}` is a whole number from {min} to {max}")),
        }
    }

    fn whole(&self, key: &str, max: i64, default: i64) -> Result<i64, String> {
        self.whole_from(0, key, max, default)
    }

    fn list(&self, key: &str) -> Result<&'t [Value], String> {
        match self.0.get(key) {
            None => Ok(&[][..]),
            Some(value) => {
                (value.as_array().map(Vec::as_slice)).ok_or_else(|| format!("`{key}` is a list"))
            }
        }
    }

    /// A list of names; `None` where it has something else.
    fn names(&self, key: &str) -> Result<Option<Vec<String>>, String> {
        let all = self.list(key)?.iter();
        Ok(all.map(|it| it.as_str().map(str::to_owned)).collect())
    }

    /// The cores that it may get.
    fn pool(&self) -> Result<Vec<usize>, String> {
        let cores = self.list("cores")?.iter();
        let core = |it: &Value| it.as_integer().and_then(|core| usize::try_from(core).ok());
        let cores: Option<Vec<usize>> = cores.map(core).collect();
        cores.ok_or_else(|| "`cores` is a list of numbers: [1]".to_owned())
    }

    fn policy(&self) -> Result<Policy, String> {
        let policy = match self.0.get("policy").map(Value::as_str) {
            None | Some(Some("best-effort")) => Policy::BestEffort,
            Some(Some("none")) => Policy::Exclusive,
            Some(Some("time-triggered")) => {
                Policy::TimeTriggered(read_windows(self.list("windows")?)?)
            }
            Some(Some("event-triggered")) => {
                let time = |key| match self.whole(key, MAX_TIME_US, 0)? {
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
        check_keys(self.0, &policy)?;
        Ok(policy)
    }
}

/// The words for a key that there is not, with the one that may be meant.
fn no_key(unknown: &str) -> String {
    let near = nearest(unknown, KEYS.into_iter());
    match (unknown, near) {
        ("watts", _) => "`watts` is no key: a machine caps the power of all of its cores together; `max_mhz` caps the clock rate of the cell's"
            .to_owned(),
        (_, Some(near)) => format!("`{unknown}` is no key; did you mean `{near}`?"),
        _ => format!("`{unknown}` is no key; keys are {}", KEYS.join(", ")),
    }
}

/// Reads what the table `[cell.NAME]` says.
pub(super) fn read_cell(name: &str, value: &Value, span: SourceSpan) -> Result<CellSpec, String> {
    let table = value.as_table().ok_or("it is a table: [cell.NAME]")?;
    let keys = Keys::of(table)?;
    let work = keys.names("work")?;
    let work = work.ok_or("`work` is a list of names: [\"pitch\"]")?;
    let is_for_work = !work.is_empty() && !table.contains_key("nodes");
    let nodes = keys.names("nodes")?;
    let nodes = nodes.filter(|all| !all.is_empty() || is_for_work);
    let (policy, pool) = (keys.policy()?, keys.pool()?);
    check_cores(&policy, &pool)?;
    let latency = keys.whole("latency", CellLatency::MAX.into(), 0)?;
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
    Ok(CellSpec {
        name: name.to_owned(),
        nodes: nodes.ok_or("it needs `nodes`, a list of names: [\"room\"]")?,
        work,
        cores: pool[..count].to_vec(),
        pool,
        memory_mib: keys.whole_from(1, "memory_mib", MAX_MEMORY_MIB, DEFAULT_MEMORY_MIB)? as u64,
        policy,
        precedence: keys.whole("precedence", 9, 0)? as u8,
        latency: CellLatency::new(latency as u16),
        target,
        shares: MachineShares::read(table)?,
        keys: table.clone(),
        span,
        cores_span: span,
    })
}

/// Refuses no cores where the policy is about them, and a core that is named twice: each gets a worker.
pub(crate) fn check_cores(policy: &Policy, cores: &[usize]) -> Result<(), String> {
    let mut known = HashSet::new();
    if let Some(core) = cores.iter().find(|core| !known.insert(**core)) {
        return Err(format!("`cores` names core {core} twice"));
    }
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
