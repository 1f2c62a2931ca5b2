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
use std::collections::BTreeSet;
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
            let answer = self.answer_to(client, command, (engine, whole.as_ref()));
            let answer = answer.map_err(|error| (error, Some(number)))?;
            answers.extend(answer.map(|answer| (number, answer)));
        }
        Ok(answers)
    }

    /// The answer to one command, if it has one. `whole` is the graph of a session with cells.
    fn answer_to(
        &mut self,
        client: u64,
        command: &Command,
        (engine, whole): (&Engine, Option<&Graph>),
    ) -> Result<Option<Value>, ControlError> {
        let graph = whole.unwrap_or(engine.graph());
        Ok(Some(match command {
            Command::Query { what } => self.query(*what, engine, whole),
            Command::Learn { target, range } => {
                check_learned(target, graph, self.registry.catalogue())?;
                self.learning = Some((target.clone(), *range));
                json!({ "learns": target })
            }
            Command::Save { file } => self.save(file.as_deref(), engine)?,
            Command::SavePreset { part, name } => {
                let names = (name.as_str(), part.as_str());
                let (folder, catalogue) = (self.file.folder(), self.registry.catalogue());
                json!({ "saved": snapshot::save_preset(folder, names, (graph, engine), catalogue)? })
            }
            Command::Subscribe {
                topics,
                ports,
                every_ms,
            } => {
                self.check_measured(client, ports, graph)?;
                let wanted = (topics.as_slice(), ports.as_slice());
                let playing = (engine, graph);
                self.subscriptions.set(client, wanted, *every_ms, playing)?;
                return Ok(None);
            }
            _ => return Ok(None),
        }))
    }

    fn query(&self, what: Query, engine: &Engine, whole: Option<&Graph>) -> Value {
        let cells = self.cells.as_ref();
        match what {
            Query::Snapshots => snapshot::listed(&self.snapshots),
            Query::Presets => snapshot::presets(self.file.folder()),
            Query::Cells => cells.map_or(Value::Null, |it| it.query()),
            Query::Meters => {
                let mut gauges = engine.gauges();
                gauges.extend(cells.iter().flat_map(|it| it.gauges()));
                json!(gauges)
            }
            _ => query::answer(what, (engine, whole), self.registry.catalogue()),
        }
    }

    /// Refuses to measure too many outputs that stay inside cells.
    fn check_measured(
        &self,
        client: u64,
        ports: &[String],
        graph: &Graph,
    ) -> Result<(), ControlError> {
        let Some(cells) = &self.cells else {
            return Ok(());
        };
        let found = ports.iter().map(|port| target::audio_output(graph, port));
        let ports: Vec<String> = found.collect::<Result<_, _>>()?;
        let others = self.subscriptions.ports_beside(client);
        let all: BTreeSet<&str> = ports.iter().map(String::as_str).chain(others).collect();
        let all: Vec<&str> = all.into_iter().collect();
        cells.check_taps(&all).map_err(ControlError::Cells)
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
        if let (true, Some(cells)) = (self.file.is_own(&saved), &mut self.cells) {
            cells.note_filed(&saved, self.file.session_mut());
        }
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
