//! Checks the entries of a node against the parameters of its kind.

use crate::ast::{AstEntry, AstNode, Dialect};
use crate::diagnostics::Diagnostics;
use crate::source::ByteRange;
use graph::{Kind, Layout, Node, Param, ParamRange, ParamValue, number_text};

/// Keys with the number of ports and channels; they are not parameters of the kind.
const COUNTS: [&str; 3] = ["in", "out", "channels"];

/// Keys of every node that only `.toml` has.
pub(crate) const TOML_ONLY: [&str; 6] = [
    "bypass", "channels", "cost_us", "enabled", "every", "stand_in",
];

/// Largest number of keys of a node.
pub(super) const MAX_KEYS: usize = 100;

/// A number of ports or channels that a node asks for, however large, and its place.
pub(super) type Count = Option<(f64, ByteRange)>;

/// The counts that a node asks for.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) inputs: Count,
    pub(super) outputs: Count,
    pub(super) channels: Count,
}

/// Reads the counts of a node; reports values that are no counts.
pub(super) fn counts(
    written: &AstNode<'_>,
    dialect: Dialect,
    diagnostics: &mut Diagnostics<'_>,
) -> Counts {
    let mut counts = Counts::default();
    for entry in written.entries.iter().filter(|entry| !entry.is_own) {
        let count = match entry.key.text.as_ref() {
            "in" => &mut counts.inputs,
            "out" => &mut counts.outputs,
            "channels" if dialect == Dialect::Toml => &mut counts.channels,
            _ => continue,
        };
        *count = parse_count(entry, dialect, diagnostics);
    }
    counts
}

fn parse_count(entry: &AstEntry<'_>, dialect: Dialect, diagnostics: &mut Diagnostics<'_>) -> Count {
    let number = number(&entry.value, dialect);
    if let Some(n) = number.filter(|n| *n >= 0.0 && n.fract() == 0.0) {
        return Some((n, entry.value_at.clone()));
    }
    let message = format!("`{}` takes a whole number", entry.key.text);
    diagnostics.error(entry.value_at.clone(), message);
    None
}

/// Keeps all entries unchecked: without a kind there are no parameters to check them against.
pub(super) fn keep_unchecked(written: &AstNode<'_>, node: &mut Node) {
    for entry in written.entries.iter().take(MAX_KEYS) {
        node.set(entry.key.text.as_ref(), entry.value.clone());
    }
}

/// The entries without repeated keys, which are reported.
fn distinct<'w, 't>(
    written: &'w AstNode<'t>,
    diagnostics: &mut Diagnostics<'_>,
) -> Vec<&'w AstEntry<'t>> {
    let mut all: Vec<&AstEntry<'_>> = Vec::with_capacity(written.entries.len().min(MAX_KEYS));
    for entry in &written.entries {
        let key = &entry.key.text;
        if let Some(first) = all.iter().find(|e| e.key.text == *key) {
            let message = format!("`{key}` is written twice");
            let more = diagnostics.error(entry.key.at.clone(), message);
            more.note(first.key.at.clone(), "the first time is here");
        } else if all.len() == MAX_KEYS {
            let message = format!("a node has at most {MAX_KEYS} keys");
            diagnostics.error(entry.key.at.clone(), message);
            break;
        } else {
            all.push(entry);
        }
    }
    all
}

/// Gives `node` its parameters, each of the type that `kind` asks for. A wrong one is reported and left out, so that its
/// default holds.
pub(super) fn check(
    written: &AstNode<'_>,
    kind: &Kind,
    dialect: Dialect,
    node: &mut Node,
    diagnostics: &mut Diagnostics<'_>,
) {
    let has_stand_in = node.stand_in.is_some();
    for entry in distinct(written, diagnostics) {
        let key = entry.key.text.as_ref();
        let is_count = COUNTS.contains(&key) && !(key == "channels" && dialect == Dialect::Ag);
        if is_count && !entry.is_own {
            continue;
        }
        let key = current_key(entry, written, kind, diagnostics);
        let is_layout = key == "layout" && kind.has_layout();
        match kind.param(key) {
            _ if dialect == Dialect::Ag && TOML_ONLY.contains(&key) => {
                toml_only(entry, diagnostics)
            }
            found if entry.is_own && (found.is_some() || is_common(key) || is_layout) => {
                let message = format!("`{key}` has a meaning for `{}`", kind.name);
                let more = diagnostics.error(entry.key.at.clone(), message);
                more.help("write it outside of `own`");
            }
            None if is_layout => layout(entry, node, diagnostics),
            None => {
                if !has_stand_in && !entry.is_own {
                    unknown(entry, kind, dialect, diagnostics);
                }
                node.set(key, entry.value.clone());
            }
            Some((_, param)) => match convert(entry, param, kind, dialect) {
                Ok(value) => node.set(key, value),
                Err(message) if has_stand_in => {
                    diagnostics.warning(entry.value_at.clone(), message);
                }
                Err(message) => {
                    diagnostics.error(entry.value_at.clone(), message);
                }
            },
        }
    }
    required(written, kind, has_stand_in, node, diagnostics);
}

/// Gives `node` its layout, if it is one.
fn layout(entry: &AstEntry<'_>, node: &mut Node, diagnostics: &mut Diagnostics<'_>) {
    let name = match &entry.value {
        ParamValue::Text(name) => name.as_str(),
        _ => "",
    };
    if Layout::named(name).is_some() {
        return node.set("layout", entry.value.clone());
    }
    let names: Vec<&str> = Layout::names().collect();
    let suggestion = diagnostics.nearest(name, names.iter().copied());
    let message = format!("there is no layout {}", describe(&entry.value));
    let more = diagnostics.error(entry.value_at.clone(), message);
    match suggestion {
        Some(_) => more.did_you_mean(suggestion),
        None => more.help(format!("it must be one of {}", listed(&names))),
    };
}

/// Returns true if every node has the key.
fn is_common(key: &str) -> bool {
    COUNTS.contains(&key) || TOML_ONLY.contains(&key) || key == "kind"
}

/// The key of `entry`; the new one if it was renamed, which is noted.
fn current_key<'e>(
    entry: &'e AstEntry<'_>,
    written: &AstNode<'_>,
    kind: &Kind,
    diagnostics: &mut Diagnostics<'_>,
) -> &'e str {
    let old = entry.key.text.as_ref();
    let Some(new) = kind.new_key(old).filter(|_| !entry.is_own) else {
        return old;
    };
    if let Some(both) = written.entries.iter().find(|e| e.key.text == new) {
        let message = format!("`{new}` is written twice: `{old}` is its old name");
        let more = diagnostics.error(entry.key.at.clone(), message);
        more.note(both.key.at.clone(), "the new name is here");
    } else {
        let message = format!("`{old}` is now called `{new}`");
        let more = diagnostics.note(entry.key.at.clone(), message);
        more.help("write the new name: the next release does not know the old one");
    }
    new
}

/// Reports a key that an `.ag` file cannot have, unless its value is the default.
fn toml_only(entry: &AstEntry<'_>, diagnostics: &mut Diagnostics<'_>) {
    let key = entry.key.text.as_ref();
    if key != "channels" || number(&entry.value, Dialect::Ag) != Some(1.0) {
        let message = format!("`{key}` has no effect in an .ag file");
        let more = diagnostics.warning(entry.key.at.clone(), message);
        more.help("write the session as .toml to use it");
    }
}

/// Reports a key that the kind does not know: an error in `.toml`, where it would be a parameter that has no effect.
fn unknown(entry: &AstEntry<'_>, kind: &Kind, dialect: Dialect, diagnostics: &mut Diagnostics<'_>) {
    let key = entry.key.text.as_ref();
    let names: Vec<&str> = kind.params.iter().map(|p| p.name).collect();
    let suggestion = diagnostics.nearest(key, names.iter().copied());
    let (at, message) = (
        entry.key.at.clone(),
        format!("`{}` has no parameter `{key}`", kind.name),
    );
    let more = match dialect {
        // The format lets a node have keys of its author's own: only a likely misspelling is reported.
        Dialect::Ag if suggestion.is_none() => return,
        Dialect::Ag => diagnostics.warning(at, message),
        Dialect::Toml => diagnostics.error(at, message),
    };
    match suggestion {
        Some(_) => more.did_you_mean(suggestion),
        None if names.is_empty() => more,
        None => more.help(format!("it has {}", listed(&names))),
    };
}

/// Reports missing parameters; gives a stand-in the values that the .ag format defines for it.
fn required(
    written: &AstNode<'_>,
    kind: &Kind,
    has_stand_in: bool,
    node: &mut Node,
    diagnostics: &mut Diagnostics<'_>,
) {
    for param in &kind.params {
        let is_required = match param.range {
            ParamRange::Number { default, .. } => default.is_nan(),
            ParamRange::File(is_required) => is_required,
            _ => false,
        };
        let is_written = |e: &AstEntry<'_>| {
            let key = e.key.text.as_ref();
            key == param.name || kind.new_key(key) == Some(param.name)
        };
        if !is_required || node.param(param.name).is_some() {
            continue;
        }
        match (has_stand_in, kind.name, param.name) {
            (true, "osc", "freq") => node.set("freq", ParamValue::Number(440.0)),
            (true, "mod", "freq") => node.set("freq", ParamValue::Number(110.0)),
            // A wrong value is reported already.
            _ if written.is_damaged || written.entries.iter().any(is_written) => {}
            _ => {
                let at = written.kind.as_ref().unwrap_or(&written.name).at.clone();
                let message = format!("`{}` has no `{}`", node.name, param.name);
                let help = format!("`{}` needs one: {}", kind.name, param.doc.to_lowercase());
                let more = diagnostics.error(at, message);
                more.help(help.trim_end_matches('.'));
            }
        }
    }
}

/// The value as a number; in `.ag` a quoted one counts too.
fn number(value: &ParamValue, dialect: Dialect) -> Option<f64> {
    match value {
        ParamValue::Number(n) => Some(*n),
        ParamValue::Text(text) if dialect == Dialect::Ag => {
            text.trim().parse().ok().filter(|n: &f64| n.is_finite())
        }
        _ => None,
    }
}

/// The value as a flag; in `.ag` some words and numbers count too.
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

/// The value in the type that `param` asks for, or the message why it does not fit.
fn convert(
    entry: &AstEntry<'_>,
    param: &Param,
    kind: &Kind,
    dialect: Dialect,
) -> Result<ParamValue, String> {
    let key = match param.name {
        "" => entry.key.text.as_ref(),
        name => name,
    };
    let value = &entry.value;
    match &param.range {
        ParamRange::Number { min, max, .. } => {
            let n = number(value, dialect)
                .ok_or_else(|| format!("`{key}` takes a number, not {}", describe(value)))?;
            if (*min..=*max).contains(&n) {
                return Ok(ParamValue::Number(n));
            }
            let unit = match param.unit {
                "" => String::new(),
                unit => format!(" {unit}"),
            };
            let (name, n) = (kind.name, number_text(n));
            let (min, max) = (number_text(*min), number_text(*max));
            Err(format!(
                "`{key}` is {n}{unit}; `{name}` takes {min} to {max}{unit}"
            ))
        }
        ParamRange::Choice(words) => match value {
            ParamValue::Text(text) if words.contains(&text.as_str()) => Ok(value.clone()),
            // A choice of numbers may be one, as in `oversample = 2`.
            ParamValue::Number(n) if words.contains(&number_text(*n).as_str()) => {
                Ok(ParamValue::Text(number_text(*n)))
            }
            _ => Err(format!(
                "`{key}` takes {}, not {}",
                listed(words),
                describe(value)
            )),
        },
        ParamRange::Flag => match flag(value, dialect) {
            Some(on) => Ok(ParamValue::Flag(on)),
            None => Err(format!(
                "`{key}` takes true or false, not {}",
                describe(value)
            )),
        },
        ParamRange::File(_) | ParamRange::Text => match value {
            ParamValue::Text(_) => Ok(value.clone()),
            _ => Err(format!("`{key}` takes a string, not {}", describe(value))),
        },
    }
}

/// The value as a message shows it.
fn describe(value: &ParamValue) -> String {
    match value {
        ParamValue::Number(n) => number_text(*n),
        ParamValue::Text(text) => format!("{text:?}"),
        ParamValue::Flag(on) => on.to_string(),
    }
}

/// A list for a message: "`a`, `b` or `c`".
fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|w| format!("`{w}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}
