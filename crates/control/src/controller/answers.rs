//! Commands that change nothing that sounds: queries, subscriptions, saves, the search for a controller.

use super::{Answers, Controller};
use crate::ControlError;
use crate::cells::CELL_SECTION;
use crate::command::{Command, Query, Request};
use crate::query;
use crate::snapshot;
use crate::target;
use engine::{Engine, EngineError};
use graph::{Catalogue, Graph, ParamRange};
use serde_json::{Value, json};
use std::path::Path;
impl Controller {
    /// Queries, subscriptions and saves: what changes no sound.
    pub(super) fn read_only(
        &mut self,
        client: u64,
        request: &Request,
        engine: &Engine,
    ) -> Result<Answers, (ControlError, Option<usize>)> {
        let mut answers = Answers::new();
        let whole = self.cells.as_ref().map(|it| it.graph());
        for (number, command) in (1..).zip(&request.commands) {
            let answer = match command {
                Command::Query {
                    what: Query::Snapshots,
                } => snapshot::listed(&self.snapshots),
                Command::Query {
                    what: Query::Presets,
                } => snapshot::presets(self.file.folder()),
                Command::Query { what: Query::Cells } => {
                    let cells = self.cells.as_ref();
                    cells.map_or(Value::Null, |it| it.query())
                }
                Command::Learn { target, range } => {
                    let catalogue = self.registry.catalogue();
                    check_learned(target, whole.as_ref().unwrap_or(engine.graph()), catalogue)
                        .map_err(|error| (error, Some(number)))?;
                    self.learning = Some((target.clone(), *range));
                    json!({ "learns": target })
                }
                Command::Query {
                    what: Query::Meters,
                } => {
                    let mut gauges = engine.gauges();
                    gauges.extend(self.cells.iter().flat_map(|it| it.gauges()));
                    json!(gauges)
                }
                Command::Query { what } => {
                    let graph = whole.as_ref();
                    query::answer(*what, (engine, graph), self.registry.catalogue())
                }
                Command::Save { file } => self
                    .save(file.as_deref(), engine)
                    .map_err(|error| (error, Some(number)))?,
                Command::SavePreset { part, name } => {
                    let names = (name.as_str(), part.as_str());
                    let (folder, catalogue) = (self.file.folder(), self.registry.catalogue());
                    let graph = whole.as_ref().unwrap_or(engine.graph());
                    let saved = snapshot::save_preset(folder, names, (graph, engine), catalogue);
                    json!({ "saved": saved.map_err(|error| (error, Some(number)))? })
                }
                Command::Subscribe {
                    topics,
                    ports,
                    every_ms,
                } => {
                    let at = |error| (error, Some(number));
                    check_measured(ports, engine.graph(), whole.as_ref()).map_err(at)?;
                    let wanted = (topics.as_slice(), ports.as_slice());
                    let set = self.subscriptions.set(client, wanted, *every_ms, engine);
                    set.map_err(|error| (error, Some(number)))?;
                    continue;
                }
                _ => continue,
            };
            answers.push((number, answer));
        }
        Ok(answers)
    }

    pub(super) fn save(
        &mut self,
        file: Option<&Path>,
        engine: &Engine,
    ) -> Result<Value, ControlError> {
        let whole = self.cells.as_ref().map(|it| it.graph());
        let graph = whole.as_ref().unwrap_or(engine.graph());
        let now = (graph, &*self.snapshots);
        if let Some(cells) = self.cells.as_ref().and_then(|it| it.sections()) {
            let sections = &mut self.file.session_mut().sections;
            sections.retain(|it| it.name != CELL_SECTION);
            sections.extend(cells);
        }
        let (saved, kept) = self.file.save(file, now, self.registry.catalogue())?;
        if file.is_none() {
            self.saved_values = engine.controller_changes();
            self.values = self.saved_values;
            self.saved_changes = self.history.changes();
        }
        Ok(match kept {
            None => json!({ "saved": saved }),
            Some(kept) => json!({
                "saved": saved,
                "warning": kept.to_string(),
            }),
        })
    }
}

/// Refuses to measure what stays inside a cell: it is in the `whole` graph only.
fn check_measured(
    ports: &[String],
    here: &Graph,
    whole: Option<&Graph>,
) -> Result<(), ControlError> {
    let is_inside = |port: &&String| {
        let is_in = |graph| target::audio_output(graph, port).is_ok();
        whole.is_some_and(is_in) && !is_in(here)
    };
    match ports.iter().find(is_inside) {
        Some(port) => Err(ControlError::Cells(format!(
            "`{port}` stays inside its cell: what leaves a cell can be measured"
        ))),
        None => Ok(()),
    }
}

/// Refuses to learn a parameter that is no number.
fn check_learned(name: &str, graph: &Graph, catalogue: &Catalogue) -> Result<(), ControlError> {
    let (_, node, param) = target::required(graph, name, "a parameter")?;
    let kind = catalogue.get(node.effective_kind());
    let range = kind.and_then(|kind| Some(kind.param(param)?.1.range.clone()));
    match range {
        Some(ParamRange::Number { .. }) => Ok(()),
        _ => Err(EngineError::NoParam(name.to_owned()).into()),
    }
}
