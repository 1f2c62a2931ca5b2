//! Commands that go to another state as a whole: steps of the history, and sessions that are loaded.

use super::{CellEdit, Controller, EffectTime};
use crate::ControlError;
use crate::command::Command;
use crate::history::{Playing, UndoEntry, go_to};
use crate::live_controllers;
use crate::loaded_state::LoadedState;
use crate::session_file::LoadedFile;
use engine::{Engine, EngineError};
use std::sync::Arc;
use text::toml::snapshots::{read_snapshots, snapshots_text};
impl Controller {
    /// Undo, redo and load: to another graph as a whole.
    pub(super) fn step(
        &mut self,
        command: &Command,
        engine: &mut Engine,
    ) -> Result<EffectTime, ControlError> {
        let sent_before = engine.sent_events();
        let playing = Playing {
            engine: &mut *engine,
            cells: self.cells.as_deref_mut(),
            snapshots: &mut self.snapshots,
            session: self.file.session_mut(),
        };
        match command {
            Command::Undo | Command::Redo => {
                let stepped = match command {
                    Command::Undo => self.history.undo(playing, &self.registry)?,
                    _ => self.history.redo(playing, &self.registry)?,
                };
                if let Some(entry) = stepped {
                    self.cell_edit = Some(CellEdit::Step(Box::new(entry)));
                    return Ok(EffectTime::WithCells);
                }
            }
            Command::Load { file } => {
                let loaded = self.file.load(file.as_deref())?;
                self.go_to_loaded(loaded, engine)?;
            }
            _ => {}
        }
        Ok(match engine.is_swapping() {
            true => EffectTime::WithSwap,
            // Nothing has changed.
            false if engine.sent_events() == sent_before => EffectTime::Never,
            false => EffectTime::WithEvents(engine.sent_events(), 0),
        })
    }

    /// Plays a session that was loaded. Gives the number of edits.
    pub(super) fn go_to_loaded(
        &mut self,
        loaded: LoadedFile,
        engine: &mut Engine,
    ) -> Result<usize, ControlError> {
        let speed = self.speed_of(&loaded, engine)?;
        let controllers = live_controllers::bindings(&loaded.session);
        live_controllers::check(
            &controllers,
            &loaded.session.graph,
            self.registry.catalogue(),
        )?;
        let before = UndoEntry::before(&[], true, (engine.graph(), engine));
        let edits = go_to(&loaded.session.graph, engine, &self.registry)?;
        let text = snapshots_text(&loaded.session);
        let (snapshots, _) =
            read_snapshots(&text, &loaded.session.graph, self.registry.catalogue());
        let before = before.with_snapshots(&self.snapshots, &Arc::new(snapshots.clone()));
        let is_kept = *self.snapshots == snapshots;
        self.snapshots = Arc::new(snapshots);
        let state = LoadedState::new(engine, self.file.session_mut());
        self.file.accept(loaded);
        let mut changes = edits + usize::from(!is_kept);
        if let Some(speed) = speed {
            engine.set_tempo_scale(speed, 0)?;
            changes += 1;
        }
        if engine.controllers() != controllers {
            engine.set_controllers(controllers)?;
            changes += 1;
        }
        let before = before.with_loaded(state, &LoadedState::new(engine, self.file.session_mut()));
        if changes > 0 {
            self.history.remember(before);
        }
        self.saved_changes = self.history.changes();
        self.saved_values = engine.controller_changes();
        self.values = self.saved_values;
        Ok(changes)
    }

    /// The speed at which the tempo of a loaded session is played, if it is another one than before: the map of the graph
    /// that plays stays.
    pub(super) fn speed_of(
        &self,
        loaded: &LoadedFile,
        engine: &Engine,
    ) -> Result<Option<f64>, ControlError> {
        let tempo = loaded.session.graph.tempo();
        if tempo == self.file.tempo() {
            return Ok(None);
        }
        if self.followed.is_some() {
            return Err(ControlError::Followed("a tempo"));
        }
        if engine.transport_room() == 0 {
            return Err(EngineError::Busy.into());
        }
        let speed = engine.graph().tempo().ratio_to(tempo);
        speed
            .map(Some)
            .ok_or_else(|| ControlError::Tempo(loaded.path.clone()))
    }
}
