//! Gives a cell that got other cores a process with as many workers: a process that plays may start no thread.
//!
//! The new process plays beside the present one and takes over its state, as in an edit ([`super::edit`]). Nothing else of the
//! graph changes. If it does not come, the present one plays on, on the new cores.

use super::CellService;
use super::draft::Draft;
use super::pending::{Pending, Reason};
use super::served::{CellState, ChangeDone};

impl CellService {
    /// The cell at `at` has these cores. Begins to replace its process, if that has more or fewer workers than it should.
    /// Gives what is still to be done.
    pub(super) fn resized(&mut self, at: usize, cores: Vec<usize>, done: ChangeDone) -> Pending {
        let cell = &mut self.cells[at];
        cell.spec.set_cores(cores);
        self.is_edited = true;
        let cell = &self.cells[at];
        let (has, wants) = (cell.status.workers(), cell.spec.process_workers());
        if has == wants || !matches!(cell.state(), CellState::Playing | CellState::Starting) {
            return Pending::done(done);
        }
        match self.replace_process(at) {
            Ok(pending) => Pending { done, ..pending },
            Err(why) => Pending::done(kept_workers(done, has, &why)),
        }
    }

    /// Begins to replace the process of the cell at `at`; its part of the graph stays.
    fn replace_process(&mut self, at: usize) -> Result<Pending, String> {
        let cell = &self.cells[at];
        if !cell.spec.work.is_empty() {
            return Err(format!(
                "it does work of nodes elsewhere; the next one, after stop_cell and start_cell, has {}",
                cell.spec.process_workers()
            ));
        }
        let graph = self.options.graph.clone();
        let specs: Vec<_> = self.cells.iter().map(|it| it.spec.clone()).collect();
        let before = self.split_of(&graph, &specs)?;
        let has = cell.status.workers();
        self.follow_all(Draft {
            after: before.clone(),
            reason: Reason::Resized { at, has },
            graph,
            specs,
            before,
        })
    }
}

/// The change is made, but the process has the workers that it had.
pub(super) fn kept_workers(done: ChangeDone, has: usize, why: &str) -> ChangeDone {
    let note = Some(format!("its process keeps {has} workers: {why}"));
    ChangeDone { note, ..done }
}
