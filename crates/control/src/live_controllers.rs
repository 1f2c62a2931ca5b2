//! MIDI controllers of a session, as the engine has them.

use crate::ControlError;
use engine::{ControllerBinding, ControllerSource, MAX_CONTROLLERS};
use graph::{Catalogue, Graph, ParamRange};
use text::Session;
use text::toml::{ControllerEntry, read_live};

/// What the engine binds for a `[[controller]]`.
///
/// Real-time: setup.
pub fn controller_binding(entry: &ControllerEntry) -> ControllerBinding {
    let (node, param) = entry.target.rsplit_once('.').unwrap_or((&entry.target, ""));
    ControllerBinding {
        port: entry.port.clone(),
        channel: entry.channel,
        source: match (entry.cc, entry.is_14_bit) {
            (None, _) => ControllerSource::PitchBend,
            (Some(number), false) => ControllerSource::Controller(number),
            (Some(number), true) => ControllerSource::Controller14(number),
        },
        node: node.to_owned(),
        param: param.to_owned(),
        range: entry.range,
        is_exponential: entry.is_exponential,
    }
}

/// Refuses a controller that could set nothing.
pub(crate) fn check(
    bindings: &[ControllerBinding],
    graph: &Graph,
    catalogue: &Catalogue,
) -> Result<(), ControlError> {
    let fits = |it: &ControllerBinding| {
        let node = graph.node(graph.find(&it.node)?)?;
        let (_, param) = catalogue.get(node.effective_kind())?.param(&it.param)?;
        let ParamRange::Number { min, max, .. } = param.range else {
            return None;
        };
        let is_in = |value| (min..=max).contains(&value);
        (param.live && is_in(it.range.0) && is_in(it.range.1)).then_some(())
    };
    if bindings.len() > MAX_CONTROLLERS {
        let message = format!("a session has at most {MAX_CONTROLLERS} controllers");
        return Err(ControlError::TooMany(message));
    }
    match bindings.iter().find(|it| fits(it).is_none()) {
        Some(it) => Err(ControlError::Controller(format!(
            "{}.{}",
            it.node, it.param
        ))),
        None => Ok(()),
    }
}

/// The controllers of a session that was read without a mistake.
pub(crate) fn bindings(session: &Session) -> Vec<ControllerBinding> {
    let (live, _) = read_live(session, "");
    live.controllers.iter().map(controller_binding).collect()
}
