//! A session of cells is read again: its changes are made as those of a request, and the program is told what has become of them.

use super::{Answering, CellEdit, Controller, EffectTime, Reply};
use crate::ControlError;
use crate::cells::{CELL_SECTION, EditGoal};
use crate::history::UndoEntry;
use crate::live_controllers;
use crate::session_file::LoadedFile;
use engine::{Engine, EngineError};
use graph::{Catalogue, Edit, Graph, ParamValue, edits_between};
use std::sync::Arc;
use text::toml::snapshots::{read_snapshots, snapshots_text};
use text::{Section, Session};

/// Number of the client that no server has.
pub(super) const NOBODY: u64 = u64::MAX;

/// A session that was read again, until its changes are made.
pub(super) struct Reloading {
    loaded: LoadedFile,
    changes: usize,
}

impl Controller {
    /// The outcome for a session of cells that was read again: the number of its changes, or the reason why it plays on as it was.
    ///
    /// Real-time: setup.
    pub fn take_reloaded(&mut self) -> Option<Result<usize, ControlError>> {
        self.reloaded.take()
    }

    /// Begins to make the changes of a session of cells.
    pub(super) fn reload_cells(
        &mut self,
        loaded: LoadedFile,
        engine: &mut Engine,
    ) -> Result<(), ControlError> {
        let is_held = |it: &Answering| it.waits_for.holds_others() || it.client == NOBODY;
        if self.answering.iter().any(is_held) {
            return Err(EngineError::Busy.into());
        }
        let registry = self.registry.clone();
        let catalogue = registry.catalogue();
        let Some(whole) = self.cells.as_ref().map(|it| it.graph()) else {
            return Ok(());
        };
        self.speed_of(&loaded, engine)?;
        let controllers = live_controllers::bindings(&loaded.session);
        live_controllers::check(&controllers, &loaded.session.graph, catalogue)?;
        let edits = edits_between(&whole, &loaded.session.graph, catalogue);
        let cells = cell_sections(&loaded.session);
        let moves = cells != cell_sections(self.file.session_mut());
        let text = snapshots_text(&loaded.session);
        let (snapshots, _) = read_snapshots(&text, &loaded.session.graph, catalogue);
        let is_kept = *self.snapshots == snapshots;
        let snapshots = Arc::new(snapshots);
        let changes = edits.len() + usize::from(!is_kept) + usize::from(moves && edits.is_empty());
        let changes_graph = moves || edits.iter().any(|edit| !is_live(edit, &whole, catalogue));
        let before = UndoEntry::before(&edits, changes_graph, (&whole, engine));
        let before = before.with_snapshots(&self.snapshots, &snapshots);
        let waits_for = match &mut self.cells {
            Some(host) if changes_graph => {
                let begun = host.begin_edit(EditGoal::Session(edits, cells));
                begun.map_err(ControlError::Cells)?;
                self.cell_edit = Some(CellEdit::New(Box::new(before), snapshots));
                EffectTime::WithCells
            }
            _ => {
                let heard = self.send(edits, &[], &[], engine)?;
                if changes > 0 {
                    self.history.remember(before);
                    self.snapshots = snapshots;
                }
                heard
            }
        };
        self.reloading = Some(Reloading { loaded, changes });
        let reply = Reply {
            ok: true,
            ..Reply::default()
        };
        self.answering.push_back(Answering {
            client: NOBODY,
            reply,
            waits_for,
            words: Vec::new(),
        });
        Ok(())
    }

    /// The changes of a session that was read again are made, or refused.
    pub(super) fn end_reload(&mut self, reply: Reply, engine: &mut Engine) {
        let Some(Reloading { loaded, changes }) = self.reloading.take() else {
            return;
        };
        self.reloaded = Some(match reply.error {
            Some(why) => Err(ControlError::Cells(why)),
            None => self.accept_reloaded(loaded, changes, engine),
        });
    }

    fn accept_reloaded(
        &mut self,
        loaded: LoadedFile,
        mut changes: usize,
        engine: &mut Engine,
    ) -> Result<usize, ControlError> {
        let speed = self.speed_of(&loaded, engine)?;
        let controllers = live_controllers::bindings(&loaded.session);
        let path = loaded.path.clone();
        self.file.accept(loaded);
        if let Some(cells) = &mut self.cells {
            cells.note_filed(&path, self.file.session_mut());
        }
        if let Some(speed) = speed {
            engine.set_tempo_scale(speed, 0)?;
            changes += 1;
        }
        if engine.controllers() != controllers {
            engine.set_controllers(controllers)?;
            changes += 1;
        }
        self.saved_changes = self.history.changes();
        self.saved_values = engine.controller_changes();
        self.values = self.saved_values;
        Ok(changes)
    }
}

fn cell_sections(session: &Session) -> Vec<Section> {
    let all = session.sections.iter();
    all.filter(|it| it.name == CELL_SECTION).cloned().collect()
}

/// Returns true if an edit sets a number that may change while its node plays.
fn is_live(edit: &Edit, graph: &Graph, catalogue: &Catalogue) -> bool {
    let Edit::Set(id, name, ParamValue::Number(_)) = edit else {
        return false;
    };
    let kind = graph
        .node(*id)
        .and_then(|node| catalogue.get(node.effective_kind()));
    let found = kind.and_then(|kind| kind.param(name));
    found.is_some_and(|(_, param)| param.live)
}
