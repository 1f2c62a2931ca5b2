//! [`ServedCells`]: the cells of a run, for the commands that come through its socket.

use super::kept::{KeptChanges, read_session, session_words};
use crate::failure::Failure;
use crate::session::load::LoadedSession;
use divisi::cells::{
    CellChange, CellInfo, CellService, CellState, ChangeDone, Goal, GraphGoal, InnerChange,
    InnerTap, cell_text,
};
use divisi::control::{CellHost, CellTap, CellTaps, Command, EditGoal, InsideEvent, KeptHistory};
use divisi::engine::{EngineError, WordsFate};
use divisi::graph::{NodeId, ParamValue};
use divisi::prelude::{Engine, Graph};
use divisi::text::{Section, Session};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

/// The service of a run, which prints what happens to the cells meanwhile.
pub(super) struct ServedCells {
    service: Rc<RefCell<CellService>>,
    taps: MeasuredOutputs,
    kept: Rc<RefCell<KeptChanges>>,
    /// The session's file, whose folder has the files of its nodes.
    file: PathBuf,
    began: Instant,
}

impl ServedCells {
    pub(super) fn new(
        service: Rc<RefCell<CellService>>,
        kept: Rc<RefCell<KeptChanges>>,
        file: PathBuf,
    ) -> Self {
        Self {
            taps: MeasuredOutputs(service.clone()),
            service,
            kept,
            file,
            began: Instant::now(),
        }
    }
}

impl ServedCells {
    /// Keeps a value for the next supervisor.
    fn keep_param(&self, node: NodeId, name: &str, value: &ParamValue) {
        let service = self.service.borrow();
        if let Some(node) = service.graph().node(node) {
            self.kept.borrow_mut().note_param(&node.name, name, value);
        }
    }
}

/// The outputs inside the cells of a run, for meters.
pub(super) struct MeasuredOutputs(pub(super) Rc<RefCell<CellService>>);

/// One of them that is measured.
struct MeasuredOutput(Rc<RefCell<CellService>>, InnerTap);

impl CellTap for MeasuredOutput {
    fn read(&mut self, read: &mut dyn FnMut(usize, &[f32])) {
        self.0.borrow_mut().read_tap(&self.1, read);
    }
}

impl CellTaps for MeasuredOutputs {
    fn stays_inside(&self, port: &str) -> bool {
        let (node, port) = ends(port);
        self.0.borrow().stays_inside(node, port)
    }

    fn hold_taps(&mut self, ports: &[&str]) -> Result<(), String> {
        let ports: Vec<_> = ports.iter().map(|port| ends(port)).collect();
        self.0.borrow_mut().hold_taps(&ports)
    }

    fn check_taps(&self, ports: &[&str]) -> Result<(), String> {
        let ports: Vec<_> = ports.iter().map(|port| ends(port)).collect();
        self.0.borrow().check_taps(&ports)
    }

    fn add_tap(&mut self, port: &str) -> Result<Box<dyn CellTap>, String> {
        let (node, port) = ends(port);
        let tap = self.0.borrow_mut().add_tap(node, port)?;
        Ok(Box::new(MeasuredOutput(self.0.clone(), tap)))
    }
}

/// Node and output of `node.port`.
fn ends(port: &str) -> (&str, &str) {
    port.rsplit_once('.').unwrap_or((port, "out"))
}

impl CellTaps for ServedCells {
    fn stays_inside(&self, port: &str) -> bool {
        self.taps.stays_inside(port)
    }

    fn hold_taps(&mut self, ports: &[&str]) -> Result<(), String> {
        self.taps.hold_taps(ports)
    }

    fn check_taps(&self, ports: &[&str]) -> Result<(), String> {
        self.taps.check_taps(ports)
    }

    fn add_tap(&mut self, port: &str) -> Result<Box<dyn CellTap>, String> {
        self.taps.add_tap(port)
    }
}

impl CellHost for ServedCells {
    fn begin(&mut self, command: &Command) -> Result<(), String> {
        let change = change(command)?;
        self.service.borrow_mut().begin(change)
    }

    fn poll(&mut self, engine: &mut Engine) -> Option<Result<(Value, Option<u64>), String>> {
        let done = self.service.borrow_mut().poll(engine)?;
        let service = self.service.borrow();
        self.kept.borrow_mut().note_service(&service);
        drop(service);
        Some(done.map(|done| {
            let ChangeDone {
                frame,
                yielded,
                resumed,
                note,
            } = done;
            let answer = json!({ "yielded": yielded, "resumed": resumed, "note": note });
            (answer, frame)
        }))
    }

    fn begin_edit(&mut self, goal: EditGoal) -> Result<(), String> {
        self.service.borrow_mut().begin_edit(match goal {
            EditGoal::Edits(edits) => GraphGoal::Edits(edits),
            EditGoal::Graph(graph) => GraphGoal::Graph(graph),
            EditGoal::Session(edits, cells) => GraphGoal::Session(edits, cells),
        })
    }

    fn sections(&self) -> Option<Vec<Section>> {
        self.service.borrow().sections()
    }

    fn query(&self) -> Value {
        let service = self.service.borrow();
        let capacity = service.capacity();
        json!({
            "period_ns": service.period().0,
            "goal": service.goal().map(Goal::name),
            "reserve_percent": capacity.map(|it| it.reserve_percent),
            "uptime_ns": self.began.elapsed().as_nanos() as u64,
            "cells": service.cells().iter().map(cell).collect::<Vec<_>>(),
        })
    }

    fn graph(&self) -> Graph {
        self.service.borrow().graph().clone()
    }

    fn name(&self, node: NodeId) -> Option<String> {
        let service = self.service.borrow();
        service.graph().node(node).map(|it| it.name.clone())
    }

    fn is_inside(&self, node: NodeId) -> bool {
        self.service.borrow().is_inside(node)
    }

    fn send(
        &mut self,
        engine: &mut Engine,
        node: NodeId,
        event: InsideEvent<'_>,
        at: u64,
    ) -> Result<(), EngineError> {
        let change = match event {
            InsideEvent::Param(name, value, ramp) => InnerChange::Param(name, value, ramp),
            InsideEvent::Value(input, value) => InnerChange::Value(input, value),
            InsideEvent::Midi(input, bytes) => InnerChange::Midi(input, bytes),
        };
        self.service.borrow_mut().send(engine, node, change, at)?;
        if let InsideEvent::Param(name, value, _) = event {
            self.keep_param(node, name, &ParamValue::Number(f64::from(value)));
        }
        Ok(())
    }

    fn check_words(&self, messages: &[(NodeId, &str)]) -> Result<(), EngineError> {
        self.service.borrow().check_words(messages)
    }

    fn send_words(&mut self, node: NodeId, text: &str) -> Result<u32, EngineError> {
        let number = self.service.borrow_mut().send_words(node, text)?;
        (self.kept.borrow_mut()).note_words(&self.service.borrow().words());
        Ok(number)
    }

    fn words_fate(&self, node: NodeId, number: u32) -> WordsFate {
        self.service.borrow().words_fate(node, number)
    }

    fn note_snapshots(&mut self, text: &str) {
        self.kept.borrow_mut().note_snapshots(text);
    }

    fn kept_snapshots(&self) -> Option<String> {
        self.kept.borrow().snapshots()
    }

    fn note_history(&mut self, history: &KeptHistory) {
        self.kept.borrow_mut().note_history(history);
    }

    fn kept_history(&self) -> KeptHistory {
        self.kept.borrow().history()
    }

    fn write_graph(&self, graph: &Graph) -> String {
        let session = self.service.borrow().written(graph);
        Value::Object(session_words(session)).to_string()
    }

    fn read_graph(&self, words: &str) -> Result<Graph, String> {
        let none = || "the step that was kept is none".to_owned();
        let words = serde_json::from_str::<Value>(words).map_err(|_| none())?;
        let session = read_session(&words).ok_or_else(none)?;
        let loaded = LoadedSession::read_valid_text(&self.file, &session.text);
        let mistakes = |why: Failure| {
            let why = match why.text() {
                "" => "the console names them",
                why => why,
            };
            format!("files of this step have mistakes by now, mend them and try again: {why}")
        };
        let loaded = loaded.map_err(mistakes)?;
        session.place(&loaded.session.graph)
    }

    fn gauges(&self) -> BTreeMap<String, f32> {
        self.service.borrow().gauges()
    }

    fn note_param(&mut self, node: NodeId, name: &str, value: &ParamValue) {
        self.service.borrow_mut().note_param(node, name, value);
        self.keep_param(node, name, value);
    }

    fn note_filed(&mut self, file: &Path, session: &Session) {
        let mut service = self.service.borrow_mut();
        service.note_filed(session);
        let mut kept = self.kept.borrow_mut();
        if let Ok(text) = std::fs::read_to_string(file) {
            kept.note_session(&text);
        }
        kept.note_service(&service);
    }
}

/// The change that a command of cells asks for.
fn change(command: &Command) -> Result<CellChange, String> {
    Ok(match command.clone() {
        Command::StopCell { cell } => CellChange::Stop(cell),
        Command::StartCell { cell } => CellChange::Start(cell),
        Command::RemoveCell { cell } => CellChange::Remove(cell),
        Command::ResizeCell { cell, cores } => CellChange::Resize(cell, cores),
        Command::AddCell {
            cell,
            nodes,
            settings,
        } => CellChange::Add(cell, cell_text(&nodes, &settings)?),
        _ => return Err("this is no command of cells".to_owned()),
    })
}

/// The work that a cell does for nodes elsewhere; null if it does none.
fn work(info: &CellInfo) -> Value {
    let counts = info.status.work();
    match info.spec.work.is_empty() {
        true => Value::Null,
        false => json!({
            "nodes": info.spec.work,
            "done": counts.done(),
            "late": counts.late(),
            "lost": counts.lost(),
            "nonsense": counts.nonsense(),
        }),
    }
}

/// A cell as it is now.
pub(super) fn cell(info: &CellInfo) -> Value {
    let (spec, status) = (&info.spec, &info.status);
    json!({
        "cell": spec.name,
        "state": info.state.name(),
        "nodes": spec.nodes,
        "work": work(info),
        "policy": spec.policy.name(),
        "precedence": spec.precedence,
        "cores": spec.cores,
        "workers": status.workers(),
        "process": status.process().filter(|_| info.state == CellState::Playing),
        "restarts": status.restarts(),
        "blocks": status.blocks(),
        "lost": status.lost(),
        "not_finite": status.not_finite(),
        "load": status.load(),
        "cores_min": spec.target.cores.map(|it| it.0),
        "cores_max": spec.target.cores.map(|it| it.1),
        "target_load": spec.target.load,
        "target_response": spec.target.response,
        "response": info.response,
        "moves": info.moves,
        "cost_ns": info.cost.0,
        "used_ns": status.used().0,
        "outside_ns": status.used_outside().0,
    })
}
