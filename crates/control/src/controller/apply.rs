//! The changes of a request on their way to the engine, or to the cells: checked for room, then sent as one transaction.

use super::{CellEdit, Controller, EffectTime, MAX_LATER, MAX_STEPS};
use crate::ControlError;
use crate::cells::{self, EditGoal, InsideEvent};
use crate::edits::{Changes, LiveSet};
use crate::events::NodeEvent;
use crate::history::UndoEntry;
use crate::transport::TransportStep;
use engine::{Engine, EngineError};
use graph::{Edit, NodeId, ParamValue};
use units::Frames;

impl Controller {
    /// Makes the changes of a draft, which take effect at one block.
    pub(super) fn apply(
        &mut self,
        changes: Changes,
        engine: &mut Engine,
    ) -> Result<EffectTime, ControlError> {
        let Changes {
            edits,
            timed,
            changes_graph,
            snapshots,
            events,
        } = changes;
        let is_changed = !edits.is_empty() || snapshots != self.snapshots;
        let whole = self.cells.as_ref().map(|it| it.graph());
        let graph = whole.as_ref().unwrap_or(engine.graph());
        let before = UndoEntry::before(&edits, changes_graph, (graph, engine));
        if let (true, Some(cells)) = (changes_graph, &mut self.cells) {
            let begun = cells.begin_edit(EditGoal::Edits(edits));
            begun.map_err(ControlError::Cells)?;
            let before = before.with_snapshots(&self.snapshots, &snapshots);
            self.cell_edit = Some(CellEdit::New(Box::new(before), snapshots));
            return Ok(EffectTime::WithCells);
        }
        let heard = self.send(edits, &timed, &events, engine)?;
        if is_changed {
            let before = before.with_snapshots(&self.snapshots, &snapshots);
            self.history.remember(before);
            self.snapshots = snapshots;
        }
        Ok(heard)
    }

    /// Sends edits, parameters with a time, and events to the engine as one transaction.
    pub(super) fn send(
        &mut self,
        edits: Vec<Edit>,
        timed: &[LiveSet],
        events: &[NodeEvent],
        engine: &mut Engine,
    ) -> Result<EffectTime, ControlError> {
        let at_once = without_timed(edits, timed);
        if at_once.is_empty() && timed.is_empty() && events.is_empty() {
            return Ok(EffectTime::Never);
        }
        self.check_room(&at_once, timed, events, engine.position())?;
        NodeEvent::check_words(events, engine, &self.cells.as_deref_mut())?;
        let is_at_once = !at_once.is_empty();
        // A swap of the engine's own may be on its way.
        let was_swapping = engine.is_swapping();
        engine.begin();
        if timed.len() + events.len() > engine.event_room() {
            engine.cancel();
            return Err(EngineError::Busy.into());
        }
        let mut cells = self.cells.as_deref_mut();
        let mut words = Vec::new();
        let done = match &cells {
            Some(_) => cells::set_params(at_once, engine, &mut cells),
            None if is_at_once => engine.edit_held(at_once).map(|_| ()),
            None => Ok(()),
        };
        if let Err(error) = done {
            engine.cancel();
            return Err(error.into());
        }
        let (mut sets, mut later) = (timed.iter(), events.iter());
        let sent = sets.try_for_each(|set| self.send_timed(set, engine));
        let mut cells = self.cells.as_deref_mut();
        let sent = sent.and_then(|()| {
            later.try_for_each(|event| {
                words.extend(event.send_with(engine, &mut cells)?);
                Ok(())
            })
        });
        let is_swapping = engine.is_swapping() && !was_swapping;
        let ticket = engine.commit()?;
        sent?;
        self.later.extend(frames_of(timed, events));
        let at = frames_of(timed, events).min();
        let are_all_words =
            !is_at_once && timed.is_empty() && events.iter().all(NodeEvent::is_words);
        self.sent_words = words;
        Ok(match is_swapping {
            true => EffectTime::WithSwap,
            false if are_all_words => EffectTime::WithWords,
            false => EffectTime::WithEvents(ticket, at.filter(|_| !is_at_once).unwrap_or(0)),
        })
    }

    /// Sends a parameter that moves over a time, to the engine or to the cell of its node.
    fn send_timed(&mut self, set: &LiveSet, engine: &mut Engine) -> Result<(), EngineError> {
        let ramp = Frames((set.over_ms * self.rate_hz / 1000.0) as u32);
        if let Some(cells) = &mut self.cells {
            if cells.is_inside(set.node) {
                let event = InsideEvent::Param(&set.param, set.value, (ramp, set.law));
                return cells.send(engine, set.node, event, set.at);
            }
            let value = ParamValue::Number(f64::from(set.value));
            cells.note_param(set.node, &set.param, &value);
        }
        let node = cells::place(set.node, engine, &self.cells.as_deref_mut());
        engine.ramp_param(node, &set.param, set.value, set.at, (ramp, set.law))
    }

    /// Refuses what would never find room, or would leave none for others, before anything is sent.
    pub(super) fn check_room(
        &mut self,
        at_once: &[Edit],
        timed: &[LiveSet],
        events: &[NodeEvent],
        position: u64,
    ) -> Result<(), ControlError> {
        let is_set = |edit: &&Edit| matches!(edit, Edit::Set(..));
        let sets = at_once.iter().filter(is_set).count();
        let max = Engine::MAX_EVENTS;
        if sets + timed.len() + events.len() > max {
            let error = format!("a request has at most {max} parameters and events");
            return Err(ControlError::TooMany(error));
        }
        self.later.retain(|at| *at > position);
        let new = frames_of(timed, events).filter(|at| *at > position);
        if self.later.len() + new.count() > MAX_LATER {
            let error = format!("more than {MAX_LATER} events wait for their frames");
            return Err(ControlError::TooMany(error));
        }
        Ok(())
    }

    /// Refuses commands of the transport that would leave no room for others, before anything is sent.
    pub(super) fn check_steps(
        &mut self,
        steps: &[TransportStep],
        engine: &Engine,
    ) -> Result<(), ControlError> {
        let position = engine.position();
        self.later_steps.retain(|at| *at > position);
        let later = steps.iter().filter(|step| step.at() > position).count();
        if steps.len() > MAX_STEPS || self.later_steps.len() + later > MAX_STEPS {
            let error = format!(
                "a request has at most {MAX_STEPS} commands of the transport, and as many wait for their frames"
            );
            return Err(ControlError::TooMany(error));
        }
        if steps.len() > engine.transport_room() {
            return Err(EngineError::Busy.into());
        }
        Ok(())
    }

    /// Sends the steps of the transport. The frame is then the earliest one at which the first of them can be heard.
    pub(super) fn send_steps(
        &mut self,
        steps: &[TransportStep],
        heard: EffectTime,
        engine: &mut Engine,
    ) -> Result<EffectTime, ControlError> {
        for step in steps {
            step.send(engine, self.followed.as_deref())?;
            self.later_steps.push(step.at());
        }
        let first = steps.iter().map(TransportStep::at).min();
        Ok(match (first, heard) {
            (Some(at), EffectTime::Never) => EffectTime::At(at.max(engine.position())),
            _ => heard,
        })
    }
}

/// The frames for which parameters and events are meant.
fn frames_of(timed: &[LiveSet], events: &[NodeEvent]) -> impl Iterator<Item = u64> {
    let timed = timed.iter().map(|set| set.at);
    timed.chain(events.iter().map(NodeEvent::at))
}

/// The edits without the values of parameters that move over a time.
fn without_timed(edits: Vec<Edit>, timed: &[LiveSet]) -> Vec<Edit> {
    let is_timed = |id: NodeId, key: &str| {
        let same = |set: &LiveSet| set.node == id && set.param == key;
        timed.iter().any(same)
    };
    let at_once = edits.into_iter().filter(|edit| match edit {
        Edit::Set(id, key, _) => !is_timed(*id, key),
        _ => true,
    });
    at_once.collect()
}
