//! [`Supervisor`]: the cells of a run that have started, and the process that asks them for blocks.

use super::drill::DrillOption;
use super::events::{end, event_texts, moved_text, silence_text};
use super::kept::KeptChanges;
use super::service::{MeasuredOutputs, ServedCells, cell};
use crate::failure::Failure;
use crate::output::messages;
use divisi::cells::{CellService, Drill, SupervisedCallback, WorkLinks};
use divisi::control::Controller;
use divisi::prelude::{Engine, EngineCallback, Graph, Registry};
use divisi::units::Nanos;
use serde_json::Value;
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// The cells of a run.
pub(super) struct Supervisor {
    pub(super) service: Rc<RefCell<CellService>>,
    pub(super) taps: MeasuredOutputs,
    /// The session's file.
    pub(super) file: PathBuf,
    /// Things that the next supervisor is to have.
    pub(super) kept: Rc<RefCell<KeptChanges>>,
    /// All kinds, with those of cells.
    pub(super) registry: Arc<Registry>,
    /// Failures of this process to cause.
    pub(super) drills: Vec<Drill>,
    /// All failures that the call asks for.
    pub(super) planned_drills: Vec<DrillOption>,
    /// Memory of the work that cells do for nodes elsewhere, which their next processes open.
    pub(super) _work: WorkLinks,
    /// Length of a block.
    pub(super) period: Nanos,
    /// Supervisors that were lost before this one.
    pub(super) lost: u64,
    pub(super) has_told: bool,
}

impl Supervisor {
    /// The callback of a supervisor: it goes on where the one before was lost.
    pub(super) fn begin(
        &mut self,
        engine: &mut Engine,
        callback: EngineCallback,
    ) -> Result<SupervisedCallback, Failure> {
        let (graph, drills) = (engine.graph().clone(), std::mem::take(&mut self.drills));
        let session = (&graph, self.registry.catalogue());
        let mut service = self.service.borrow_mut();
        let made = (service.monitor_mut()).supervise((engine, callback), session, drills);
        let (callback, notes) = made.map_err(Failure::failed)?;
        for note in notes {
            messages::print_message(&format!("the supervisor: {note}"));
        }
        Ok(callback)
    }

    /// Lines on what has happened since the last call.
    pub(super) fn news(&mut self) -> Vec<String> {
        let mut lines = event_texts(self.service.borrow().monitor());
        self.service.borrow_mut().retell_words();
        lines.extend(self.service.borrow_mut().order_taps());
        let moved = self.service.borrow_mut().govern();
        if moved.is_some() {
            let service = self.service.borrow();
            self.kept.borrow_mut().note_service(&service);
        }
        lines.extend(moved.iter().map(moved_text));
        if self.lost > 0
            && !self.has_told
            && let Some(silence) = self.service.borrow().monitor().silence()
        {
            self.has_told = true;
            lines.push(silence_text(silence));
        }
        lines
    }

    /// Prints [`Self::news`].
    pub(super) fn print_news(&mut self) {
        (self.news().iter()).for_each(|line| messages::print_message(line));
    }

    /// The whole graph of the session.
    pub(super) fn graph(&self) -> Graph {
        self.service.borrow().graph().clone()
    }

    /// Lets commands reach the cells.
    pub(super) fn extend(&self, controller: &mut Controller) {
        let served = ServedCells::new(self.service.clone(), self.kept.clone(), self.file.clone());
        controller.host_cells(Box::new(served));
    }

    /// Prints what the sound lacks of each cell. Fails if it lacks anything.
    pub(super) fn end(&self) -> Result<(), Failure> {
        self.tell_missed_drills();
        end(self.service.borrow().monitor(), self.lost)
    }

    /// The cells as they are, for a report.
    pub(super) fn cells(&self) -> Value {
        let cells = self.service.borrow().cells();
        cells.iter().map(cell).collect()
    }

    /// Says which failures have not happened, because the run ended before.
    fn tell_missed_drills(&self) {
        let service = self.service.borrow();
        let blocks = service.monitor().statuses().iter();
        let blocks = blocks.map(|(_, status)| status.blocks()).max();
        let played = blocks.unwrap_or(0) as f64 * self.period.0 as f64 / 1e9;
        for drill in self.planned_drills.iter().filter(|it| it.seconds > played) {
            let (cell, seconds) = (&drill.cell, drill.seconds);
            messages::print_message(&format!(
                "--drill: the failure of `{cell}` at {seconds} s did not happen: it played for {played:.1} s"
            ));
        }
    }
}
