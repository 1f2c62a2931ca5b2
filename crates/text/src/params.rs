//! A node's keys and values against the parameters of its kind.

use crate::assemble::{Count, Counts};
use crate::draft::{Dialect, DraftNode, Entry};
use crate::findings::Findings;
use graph::{Kind, Node, Param, ParamRange, ParamValue};

/// Keys that say how many ports or channels; they are no parameters of the kind.
const COUNTS: [&str; 3] = ["in", "out", "channels"];

/// Keys about a node that only `.toml` has.
pub(crate) const TOML_ONLY: [&str; 5] = ["channels", "cost_us", "enabled", "every", "stand_in"];

/// More keys than any node has a use for.
pub(crate) const MOST_KEYS: usize = 100;

/// Reads the counts of `written`; what is no count is said.
pub(crate) fn counts(
    written: &DraftNode<'_>,
    dialect: Dialect,
    findings: &mut Findings<'_>,
) -> Counts {
    let mut counts = Counts::default();
    for entry in &written.entries {
        let count = match entry.key.text.as_ref() {
            "in" => &mut counts.inputs,
            "out" => &mut counts.outputs,
            "channels" if dialect == Dialect::Toml => &mut counts.channels,
            _ => continue,
        };
        *count = whole(entry, dialect, findings);
    }
    counts
}

fn whole(entry: &Entry<'_>, dialect: Dialect, findings: &mut Findings<'_>) -> Count {
    let number = number(&entry.value, dialect);
    if let Some(n) = number.filter(|n| *n >= 0.0 && n.fract() == 0.0) {
        return Some((n, entry.value_at.clone()));
    }
    let message = format!("`{}` takes a whole number", entry.key.text);
    findings.error(entry.value_at.clone(), message);
    None
}

/// Keeps what is written as it is: nobody knows what the keys mean.
pub(crate) fn keep(written: &DraftNode<'_>, node: &mut Node) {
    for entry in written.entries.iter().take(MOST_KEYS) {
        node.set(entry.key.text.as_ref(), entry.value.clone());
    }
}

/// The entries whose keys are new; the others are said.
fn once<'w, 't>(written: &'w DraftNode<'t>, findings: &mut Findings<'_>) -> Vec<&'w Entry<'t>> {
    let mut all: Vec<&Entry<'_>> = Vec::with_capacity(written.entries.len().min(MOST_KEYS));
    for entry in &written.entries {
        let key = &entry.key.text;
        if let Some(first) = all.iter().find(|e| e.key.text == *key) {
            let message = format!("`{key}` is written twice");
            let more = findings.error(entry.key.at.clone(), message);
            more.also(first.key.at.clone(), "the first time is here");
        } else if all.len() == MOST_KEYS {
            let message = format!("a node has at most {MOST_KEYS} keys");
            findings.error(entry.key.at.clone(), message);
            break;
        } else {
            all.push(entry);
        }
    }
    all
}

/// Gives `node` the parameters that are written, each of the type that `kind` asks for. A wrong one is said and left
/// out, so that its default holds.
pub(crate) fn check(
    written: &DraftNode<'_>,
    kind: &Kind,
    dialect: Dialect,
    node: &mut Node,
    findings: &mut Findings<'_>,
) {
    let stands_in = node.stand_in.is_some();
    for entry in once(written, findings) {
        let key = entry.key.text.as_ref();
        if COUNTS.contains(&key) && !(key == "channels" && dialect == Dialect::Ag) {
            continue;
        }
        match kind.param(key) {
            _ if dialect == Dialect::Ag && TOML_ONLY.contains(&key) => toml_only(entry, findings),
            None => {
                unknown(entry, kind, stands_in, dialect, findings);
                node.set(key, entry.value.clone());
            }
            Some((_, param)) => match fit(entry, param, kind, dialect) {
                Ok(value) => node.set(key, value),
                Err(message) if stands_in => {
                    findings.warning(entry.value_at.clone(), message);
                }
                Err(message) => {
                    findings.error(entry.value_at.clone(), message);
                }
            },
        }
    }
    mandatory(written, kind, stands_in, node, findings);
}

/// Says that an `.ag` file has no words for this, unless it says what holds anyway.
fn toml_only(entry: &Entry<'_>, findings: &mut Findings<'_>) {
    let key = entry.key.text.as_ref();
    if key != "channels" || number(&entry.value, Dialect::Ag) != Some(1.0) {
        let message = format!("`{key}` means nothing in an .ag file");
        let more = findings.warning(entry.key.at.clone(), message);
        more.help("write the session as .toml to have it");
    }
}

fn unknown(
    entry: &Entry<'_>,
    kind: &Kind,
    stands_in: bool,
    dialect: Dialect,
    findings: &mut Findings<'_>,
) {
    if stands_in {
        return;
    }
    let key = entry.key.text.as_ref();
    let names: Vec<&str> = kind.params.iter().map(|p| p.name).collect();
    let meant = findings.nearest(key, names.iter().copied());
    // In .ag files authors keep keys of their own; only one that looks like a slip is worth a word.
    if dialect == Dialect::Ag && meant.is_none() {
        return;
    }
    let message = format!("`{}` has no parameter `{key}`", kind.name);
    let more = findings.warning(entry.key.at.clone(), message);
    match meant {
        Some(_) => more.meant(meant),
        None if names.is_empty() => more,
        None => more.help(format!("it has {}", listed(&names))),
    };
}

/// Says which parameters are missing; fills in what the format says for a stand-in.
fn mandatory(
    written: &DraftNode<'_>,
    kind: &Kind,
    stands_in: bool,
    node: &mut Node,
    findings: &mut Findings<'_>,
) {
    for param in &kind.params {
        let must = match param.range {
            ParamRange::Number { default, .. } => default.is_nan(),
            ParamRange::File(must) => must,
            _ => false,
        };
        let is_written = |e: &Entry<'_>| e.key.text == param.name;
        if !must || node.param(param.name).is_some() {
            continue;
        }
        match (stands_in, kind.name, param.name) {
            (true, "osc", "freq") => node.set("freq", ParamValue::Number(440.0)),
            (true, "mod", "freq") => node.set("freq", ParamValue::Number(110.0)),
            // A wrong value has been said already.
            _ if written.is_damaged || written.entries.iter().any(is_written) => {}
            _ => {
                let at = written.kind.as_ref().unwrap_or(&written.name).at.clone();
                let message = format!("`{}` has no `{}`", node.name, param.name);
                let help = format!("`{}` needs one: {}", kind.name, param.doc.to_lowercase());
                let more = findings.error(at, message);
                more.help(help.trim_end_matches('.'));
            }
        }
    }
}

/// The number that `value` is.
fn number(value: &ParamValue, dialect: Dialect) -> Option<f64> {
    match value {
        ParamValue::Number(n) => Some(*n),
        ParamValue::Text(text) if dialect == Dialect::Ag => {
            text.trim().parse().ok().filter(|n: &f64| n.is_finite())
        }
        _ => None,
    }
}

fn flag(value: &ParamValue, dialect: Dialect) -> Option<bool> {
    match value {
        ParamValue::Flag(on) => Some(*on),
        ParamValue::Number(n) if dialect == Dialect::Ag && (*n == 0.0 || *n == 1.0) => {
            Some(*n == 1.0)
        }
        ParamValue::Text(text) if dialect == Dialect::Ag => match text.as_str() {
            "true" | "yes" | "on" | "1" => Some(true),
            "false" | "no" | "off" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// The value as `param` asks for it, or why it does not fit.
fn fit(
    entry: &Entry<'_>,
    param: &Param,
    kind: &Kind,
    dialect: Dialect,
) -> Result<ParamValue, String> {
    let (key, value) = (param.name, &entry.value);
    match &param.range {
        ParamRange::Number {
            min: least,
            max: most,
            ..
        } => {
            let n = number(value, dialect)
                .ok_or_else(|| format!("`{key}` takes a number, not {}", told(value)))?;
            if (*least..=*most).contains(&n) {
                return Ok(ParamValue::Number(n));
            }
            let unit = match param.unit {
                "" => String::new(),
                unit => format!(" {unit}"),
            };
            let name = kind.name;
            Err(format!(
                "`{key}` is {n}{unit}; `{name}` takes {least} to {most}{unit}"
            ))
        }
        ParamRange::Choice(words) => match value {
            ParamValue::Text(text) if words.contains(&text.as_str()) => Ok(value.clone()),
            _ => Err(format!(
                "`{key}` takes {}, not {}",
                listed(words),
                told(value)
            )),
        },
        ParamRange::Flag => match flag(value, dialect) {
            Some(on) => Ok(ParamValue::Flag(on)),
            None => Err(format!("`{key}` takes true or false, not {}", told(value))),
        },
        ParamRange::File(_) | ParamRange::Text => match value {
            ParamValue::Text(_) => Ok(value.clone()),
            _ => Err(format!(
                "`{key}` takes words in quotes, not {}",
                told(value)
            )),
        },
    }
}

fn told(value: &ParamValue) -> String {
    match value {
        ParamValue::Number(n) => n.to_string(),
        ParamValue::Text(text) => format!("{text:?}"),
        ParamValue::Flag(on) => on.to_string(),
    }
}

/// "`a`, `b` or `c`".
fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|w| format!("`{w}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}
