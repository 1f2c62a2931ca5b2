//! Snapshots: the values that a part or the whole session has, kept by name and recalled at once or over a time.
//!
//! A recalled number moves in a straight line of its law: a parameter in Hz in octaves, one in dB and a gain as a factor
//! (`gain`, `volume`) in dB, any other as a plain number. Switches (`enabled`, `bypass`) change at the beginning. Nodes that do not exist any more are left out, and the reply names
//! them.

use crate::ControlError;
use crate::edits::{Draft, ramp_law};
use crate::target::node;
use engine::Engine;
use graph::{Catalogue, Graph, Kind, Node, NodeId, ParamRange};
use processor::OwnParam;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use text::toml::snapshots::{
    NodeState, Snapshot, Snapshots, read_snapshots, why_not_recalled, write_snapshots,
};

/// Largest number of parameters that move at one time: the engine's.
const MAX_MOVING: usize = 128;
/// Largest preset, in bytes.
const MAX_PRESET: u64 = 16 << 20;
/// End of the name of a preset's file.
const EXTENSION: &str = ".preset.toml";
/// Name of the one snapshot in a preset's file.
const PRESET: &str = "preset";
/// Name in a preset of the node that is itself the part.
const ITSELF: &str = ".";

/// The values of `part`, or of the whole session `graph` that `engine` plays.
pub(crate) fn take(
    (graph, engine): (&Graph, &Engine),
    catalogue: &Catalogue,
    part: Option<&str>,
) -> Result<Snapshot, ControlError> {
    let is_in = |name: &str| part.is_none_or(|part| name_in(part, name).is_some());
    let nodes = graph.nodes().filter(|(_, node)| is_in(&node.name));
    let states = nodes.map(|(id, node)| {
        let state = state_of(node, engine.own_params(id), catalogue);
        (node.name.clone(), state)
    });
    let snapshot: Snapshot = states.collect();
    match part {
        Some(part) if snapshot.is_empty() => node(graph, part).map(|_| snapshot),
        _ => Ok(snapshot),
    }
}

/// The values of a node; `own` are its parameters beside those of its kind.
fn state_of(node: &Node, own: &[OwnParam], catalogue: &Catalogue) -> NodeState {
    let mut state = NodeState::default();
    state.switches.insert("enabled".into(), node.enabled);
    state.switches.insert("bypass".into(), node.bypassed);
    let kind = catalogue.get(node.effective_kind());
    for param in kind.into_iter().flat_map(|kind| &kind.params) {
        if let (true, ParamRange::Number { default, .. }) = (param.live, &param.range) {
            let value = node.number(param.name).unwrap_or(*default);
            if value.is_finite() {
                state.params.insert(param.name.to_owned(), value);
            }
        }
    }
    if let Some(kind) = kind.filter(|kind| kind.has_own_params) {
        state.params.extend(own_values((node, own), kind));
    }
    state
}

/// The values of a node's own parameters: what the session states, else what a box shows. A name to which nothing was sent has none.
fn own_values<'n>(
    (node, own): (&'n Node, &'n [OwnParam]),
    kind: &'n Kind,
) -> impl Iterator<Item = (String, f64)> + 'n {
    let is_own = |name: &str| matches!(kind.param(name), Some((Kind::OWN, _)));
    let shown = own.iter().filter(|it| it.can_be_set());
    let shown = shown.filter_map(|it| Some((&it.name, f64::from(it.value()?))));
    let keys = node.params.iter().map(|(key, _)| key);
    let stated = keys.filter_map(|key| Some((key, node.number(key)?)));
    let all = shown.chain(stated);
    all.filter(move |(name, value)| is_own(name) && value.is_finite())
        .map(|(name, value)| (name.clone(), value))
}

/// Returns true if an own parameter has `value`, by all that is known of it.
fn has_value(own: &OwnParam, stated: Option<f64>, value: f64) -> bool {
    let known = [stated, own.value().map(f64::from)];
    let mut known = known.into_iter().flatten().peekable();
    known.peek().is_some() && known.all(|it| it == value)
}

/// The name of a node within `part`; `None` if it is not in it.
fn name_in<'n>(part: &str, name: &'n str) -> Option<&'n str> {
    match name.strip_prefix(part)? {
        "" => Some(ITSELF),
        rest => rest.strip_prefix('.'),
    }
}

/// Goes to `snapshot` in a draft, over a time and from a frame on. Gives the nodes that are left out.
pub(crate) fn recall(
    draft: &mut Draft<'_>,
    snapshot: &Snapshot,
    timing: (f64, u64),
) -> Result<Vec<String>, ControlError> {
    let mut left_out = Vec::new();
    let before = draft.timed.len();
    for (name, state) in snapshot {
        let Some((id, there)) = crate::target::node(draft.builder.graph(), name).ok() else {
            left_out.push(name.clone());
            continue;
        };
        let there = there.clone();
        for (param, value) in &state.params {
            if let Some(why) = recall_param(draft, (id, &there), (param, *value), timing)? {
                left_out.push(format!("{name}.{param}: {why}"));
            }
        }
        recall_switches(draft, (id, &there), state)?;
    }
    let moving = draft.timed[before..].iter().filter(|set| set.over_ms > 0.0);
    match moving.count() {
        count if count > MAX_MOVING => Err(ControlError::TooMany(format!(
            "at most {MAX_MOVING} parameters move at one time, and this would move {count}"
        ))),
        _ => Ok(left_out),
    }
}

/// Sets one parameter of a node to its value in a snapshot. Returns why it is left out, if it is.
fn recall_param(
    draft: &mut Draft<'_>,
    (id, there): (NodeId, &Node),
    (param, value): (&str, f64),
    timing: (f64, u64),
) -> Result<Option<String>, ControlError> {
    let catalogue = draft.catalogue;
    if let Some(why) = why_not_recalled(there, param, value, catalogue) {
        return Ok(Some(why));
    }
    let kind = catalogue.get(there.effective_kind());
    let Some((index, spec)) = kind.and_then(|kind| kind.param(param)) else {
        return Ok(None);
    };
    let own = draft.own_params(id);
    let has_value = if let (Kind::OWN, false) = (index, own.is_empty()) {
        let known = own.iter().find(|it| it.name == param);
        let Some(known) = known.filter(|it| it.can_be_set()) else {
            return Ok(Some("the patch has it no more".to_owned()));
        };
        has_value(known, there.number(param), value)
    } else {
        let default = match spec.range {
            ParamRange::Number { default, .. } => default,
            _ => f64::NAN,
        };
        there.number(param).unwrap_or(default) == value
    };
    if !has_value {
        draft.set_live(id, param, value.into(), timing, ramp_law(spec))?;
    }
    Ok(None)
}

/// Enables and bypasses a node as a snapshot has it.
fn recall_switches(
    draft: &mut Draft<'_>,
    (id, there): (NodeId, &Node),
    state: &NodeState,
) -> Result<(), ControlError> {
    let switch = |name: &str, now: bool| {
        let wanted = state.switches.get(name).copied();
        wanted.filter(|wanted| *wanted != now)
    };
    if let Some(is_enabled) = switch("enabled", there.enabled) {
        draft.builder.enable(id, is_enabled)?;
        draft.changes_graph = true;
    }
    if let Some(is_bypassed) = switch("bypass", there.bypassed) {
        draft.builder.bypass(id, is_bypassed)?;
        draft.changes_graph = true;
    }
    Ok(())
}

/// The path of a preset in `folder`, by its name with or without the extension.
fn preset_path(folder: &Path, name: &str) -> Result<PathBuf, ControlError> {
    let stem = name.strip_suffix(EXTENSION).unwrap_or(name);
    let is_plain = !stem.is_empty() && !stem.contains(['/', '\\', '\0']) && !stem.starts_with('.');
    match is_plain {
        true => Ok(folder.join(format!("{stem}{EXTENSION}"))),
        false => Err(ControlError::PresetName(name.to_owned())),
    }
}

/// Writes the values of `part` as a preset.
pub(crate) fn save_preset(
    folder: &Path,
    (name, part): (&str, &str),
    playing: (&Graph, &Engine),
    catalogue: &Catalogue,
) -> Result<PathBuf, ControlError> {
    let path = preset_path(folder, name)?;
    let taken = take(playing, catalogue, Some(part))?.into_iter();
    let inside = taken.filter_map(|(node, state)| Some((name_in(part, &node)?.to_owned(), state)));
    let preset = Snapshots::from([(PRESET.to_owned(), inside.collect())]);
    files::write(&path, write_snapshots(&preset)).map_err(|source| ControlError::Write {
        file: path.clone(),
        source,
    })?;
    Ok(path)
}

/// Reads a preset for `part`.
pub(crate) fn load_preset(
    folder: &Path,
    (name, part): (&str, &str),
    graph: &Graph,
    catalogue: &Catalogue,
) -> Result<Snapshot, ControlError> {
    let file = preset_path(folder, name)?;
    let is_there = graph
        .nodes()
        .any(|(_, node)| name_in(part, &node.name).is_some());
    if !is_there {
        node(graph, part)?;
    }
    let wrong = |mistakes: String| ControlError::Session {
        file: file.clone(),
        mistakes,
    };
    let bytes = files::read(&file, MAX_PRESET).map_err(|error| wrong(error.to_string()))?;
    let text = String::from_utf8_lossy(&bytes);
    // Its names are those within the part, so only the form is checked here.
    let (mut all, found) = read_snapshots(&text, &Graph::default(), catalogue);
    if let Some(mistake) = found.iter().find(|it| it.is_error()) {
        return Err(wrong(mistake.message.clone()));
    }
    let Some(preset) = all.remove(PRESET) else {
        return Err(wrong(format!("it has no table [snapshot.{PRESET}]")));
    };
    let outside = preset.into_iter().map(|(node, state)| match node.as_str() {
        ITSELF => (part.to_owned(), state),
        _ => (format!("{part}.{node}"), state),
    });
    Ok(outside.collect())
}

/// The names of the presets in `folder`.
pub(crate) fn presets(folder: &Path) -> Value {
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_suffix(EXTENSION).map(str::to_owned)
    });
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    json!(names)
}

/// The names of snapshots, each with its number of nodes.
pub(crate) fn listed(snapshots: &Snapshots) -> Value {
    let one = |(name, nodes): (&String, &Snapshot)| json!({ "name": name, "nodes": nodes.len() });
    snapshots.iter().map(one).collect()
}
