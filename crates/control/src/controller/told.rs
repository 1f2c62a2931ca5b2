//! Snapshots and steps of the history as the host of cells keeps them: they outlive the supervisor, whether they were saved or not.

use super::Controller;
use crate::history::KeptHistory;
use std::sync::Arc;
use text::toml::snapshots::{read_snapshots, write_snapshots};

impl Controller {
    /// Takes the snapshots that a supervisor before this one had, if any were kept.
    pub(super) fn take_snapshots(&mut self, kept: Option<String>) {
        let Some(text) = kept else {
            return;
        };
        // Nodes that there are no more stay in their snapshots.
        let (snapshots, _) =
            read_snapshots(&text, &graph::Graph::default(), self.registry.catalogue());
        self.snapshots = Arc::new(snapshots);
        self.told_snapshots = self.snapshots.clone();
    }

    /// Tells the cells the snapshots, if they are others than before.
    pub(super) fn tell_snapshots(&mut self) {
        if let Some(cells) = &mut self.cells
            && !Arc::ptr_eq(&self.told_snapshots, &self.snapshots)
        {
            self.told_snapshots = self.snapshots.clone();
            cells.note_snapshots(&write_snapshots(&self.snapshots));
        }
    }

    /// Takes the steps that a supervisor before this one had.
    pub(super) fn take_history(&mut self, kept: &KeptHistory) {
        self.history.restore(kept, self.registry.catalogue());
        self.told_history = self.history.revision();
    }

    /// Tells the cells the steps of the history, if they are others than before.
    pub(super) fn tell_history(&mut self) {
        let revision = self.history.revision();
        if let Some(cells) = &mut self.cells
            && self.told_history != revision
            // What a step has begun is no step yet.
            && self.cell_edit.is_none()
        {
            self.told_history = revision;
            let kept = self.history.kept(&**cells);
            cells.note_history(&kept);
        }
    }
}
