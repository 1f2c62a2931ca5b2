//! Events for nodes inside cells: looked up in the whole graph, sent to the node of their cell.

use super::CellService;
use super::pending::Pending;
use super::served::{CellState, ServedCell};
use crate::inner_events::{InnerText, MAX_TEXT, TEXTS};
use crate::own_params::OwnParams;
use crate::slots::{Slot, slot_of};
use crate::status::ProcessMemory;
use crate::word_fates::told_fate;
use engine::{Engine, EngineError, RampLaw, WordsFate, live_param, param_number};
use graph::{Catalogue, Graph, NodeId, ParamValue, Signal};
use processor::{EventBody, EventTarget, OwnParam};
use std::collections::{BTreeMap, HashMap};
use units::Frames;

/// Event that is sent to a node inside a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InnerChange<'a> {
    /// A parameter moves to a value, in so many frames.
    Param(&'a str, f32, (Frames, RampLaw)),
    /// A number for an event or control input.
    Value(&'a str, f32),
    /// A MIDI channel message for an event input.
    Midi(&'a str, [u8; 3]),
}

impl CellService {
    /// The whole graph of the session, with the values that were set while it played.
    pub fn graph(&self) -> &Graph {
        &self.options.graph
    }

    /// Returns true if a node of the whole graph is in a cell.
    ///
    /// Real-time: setup.
    pub fn is_inside(&self, node: NodeId) -> bool {
        self.cell_of(node).is_some()
    }

    /// The newest values of the meters in cells, by node and name.
    ///
    /// Real-time: setup.
    pub fn gauges(&self) -> BTreeMap<String, f32> {
        let all = self.cells.iter().map(|cell| cell.status.gauges());
        all.flatten().collect()
    }

    /// Notes that a parameter of a node of the whole graph, inside a cell or not, has another value.
    ///
    /// Real-time: setup.
    pub fn note_param(&mut self, node: NodeId, name: &str, value: &ParamValue) {
        let coming = self.pending.as_mut().and_then(Pending::coming_graph);
        for graph in coming.into_iter().chain([&mut self.options.graph]) {
            if let Some(there) = graph.node_mut(node) {
                there.set(name, value.clone());
            }
        }
    }

    /// Sends `change` to a node inside a cell, at absolute frame `at`, or with the next block if that frame has passed. In a
    /// transaction of the engine it is heard with all the others.
    ///
    /// # Errors
    ///
    /// As for [`Engine::ramp_param`], [`Engine::send_value`] and [`Engine::send_midi`].
    ///
    /// Real-time: setup.
    pub fn send(
        &mut self,
        engine: &mut Engine,
        node: NodeId,
        change: InnerChange<'_>,
        at: u64,
    ) -> Result<(), EngineError> {
        let (target, body, ramp) = self.resolve(node, change)?;
        let name = match change {
            InnerChange::Param(name, ..)
            | InnerChange::Value(name, _)
            | InnerChange::Midi(name, _) => name,
        };
        let error = || EngineError::NoParam(name.to_owned());
        let cell = self.cell_of(node).ok_or_else(error)?;
        let slot = slot_of(&cell.slots, node, target).ok_or_else(error)?;
        let there = engine.graph().find(&cell.node).ok_or_else(error)?;
        engine.send_event(there, (EventTarget::Param(slot), body), at, ramp)?;
        // The process that comes in its place hears the same.
        let coming = self.pending.as_mut().and_then(Pending::graph_edit);
        if let Some((follower, Some(there))) = coming.and_then(|edit| edit.follower_of(node))
            && let Some(slot) = slot_of(&follower.slots, node, target)
        {
            engine.send_event(there, (EventTarget::Param(slot), body), at, ramp)?;
        }
        if let InnerChange::Param(name, value, _) = change {
            let own = self.own_of(node);
            let face = own.iter().find(|it| it.name == name);
            if let Some(face) = face.and_then(|it| it.face.as_ref()) {
                face.shown.set_value(value);
            }
            self.note_param(node, name, &ParamValue::Number(f64::from(value)));
        }
        Ok(())
    }

    /// Checks whether all of these messages in words can be sent to nodes inside cells.
    ///
    /// # Errors
    ///
    /// One is too long, or there are too many; [`EngineError::Busy`] while there is no room, [`EngineError::NoTaker`] where the cell
    /// does not play.
    ///
    /// Real-time: setup.
    pub fn check_words(&self, messages: &[(NodeId, &str)]) -> Result<(), EngineError> {
        if messages.iter().any(|(_, text)| text.len() > MAX_TEXT) {
            return Err(EngineError::LongWords(MAX_TEXT));
        }
        let graph = &self.options.graph;
        self.cells.iter().try_for_each(|cell| {
            let own = messages.iter().filter(|(node, _)| cell.has(graph, *node));
            let count = own.count();
            if count > TEXTS {
                return Err(EngineError::ManyMessages(TEXTS));
            }
            match (cell.texts.0.slots() >= count, cell.state()) {
                (true, _) => Ok(()),
                (false, CellState::Playing | CellState::Starting) => Err(EngineError::Busy),
                (false, _) => Err(EngineError::NoTaker),
            }
        })
    }

    /// Sends a message in words to a node inside a cell, and gives its number. It takes effect at one of the next blocks: one message comes
    /// in each.
    ///
    /// # Errors
    ///
    /// The node understands no words, the message is too long, or too many wait.
    ///
    /// Real-time: setup.
    pub fn send_words(&mut self, node: NodeId, text: &str) -> Result<u32, EngineError> {
        let kind = self.options.graph.node(node).map(|it| it.effective_kind());
        let kind = kind.and_then(|it| self.options.registry.catalogue().get(it));
        // A node understands words if it has parameters of its own: a patch.
        let understands = kind.is_some_and(|kind| kind.has_own_params);
        let cell = (self.cells.iter_mut()).find(|cell| cell.has(&self.options.graph, node));
        let (Some(cell), true) = (cell, understands) else {
            return Err(EngineError::NoParam("messages".to_owned()));
        };
        let number = self.last_words.checked_add(1).unwrap_or(1);
        let message = InnerText::new(node, number, text);
        let message = message.ok_or(EngineError::LongWords(MAX_TEXT))?;
        cell.texts.0.push(message).map_err(|_| EngineError::Busy)?;
        let coming = self.pending.as_mut().and_then(Pending::graph_edit);
        if let Some((follower, _)) = coming.and_then(|edit| edit.follower_of(node)) {
            // One that is not told begins with what the other process has understood.
            let _ = follower.texts.0.push(message);
        }
        self.keep_words(node, text);
        self.last_words = number;
        Ok(number)
    }

    /// The fate of the message of this number to a node inside a cell. One that a process has taken along when it ended waits for ever.
    ///
    /// Real-time: setup.
    pub fn words_fate(&self, node: NodeId, number: u32) -> WordsFate {
        let cell = self.cell_of(node).filter(|it| it.is_going_on());
        let Some(cell) = cell else {
            return WordsFate::Unknown;
        };
        let told = |memory: &ProcessMemory| told_fate(memory.head.words(), number);
        let fate = cell.status.with_memory(told);
        let own = |frame| self.monitor.engine_frame(frame);
        match fate.unwrap_or(WordsFate::Waits) {
            WordsFate::Received(frame) => WordsFate::Received(own(frame)),
            WordsFate::Unheard(frame) => WordsFate::Unheard(own(frame)),
            fate => fate,
        }
    }

    /// Parameters that a node inside a cell has beside those of its kind.
    pub(super) fn own_of(&self, node: NodeId) -> Vec<OwnParam> {
        let cell = self.cell_of(node);
        let own = cell.and_then(|cell| cell.status.own().get(&node).cloned());
        own.unwrap_or_default()
    }

    /// The same of all nodes inside cells.
    ///
    /// Real-time: setup.
    pub fn own_params(&self) -> HashMap<NodeId, Vec<OwnParam>> {
        let all = self.cells.iter().flat_map(|cell| {
            let own = cell.status.own();
            let own = own
                .iter()
                .filter(|(id, _)| cell.has(&self.options.graph, **id));
            own.map(|(id, own)| (*id, own.clone())).collect::<Vec<_>>()
        });
        all.collect()
    }

    fn cell_of(&self, node: NodeId) -> Option<&ServedCell> {
        let graph = &self.options.graph;
        self.cells.iter().find(|cell| cell.has(graph, node))
    }

    /// The target within the node, the event and its ramp.
    fn resolve(&self, node: NodeId, change: InnerChange<'_>) -> Result<Resolved, EngineError> {
        let catalogue = self.options.registry.catalogue();
        let none = |name: &str| EngineError::NoParam(name.to_owned());
        let input = |name: &str| {
            let there = self.options.graph.node(node).ok_or_else(|| none(name))?;
            let mut inputs = (0..).zip(there.kind_inputs());
            let found =
                inputs.find(|(_, it)| it.name == name && !matches!(it.signal, Signal::Audio(_)));
            let (port, _) = found.ok_or_else(|| none(name))?;
            Ok(EventTarget::Input(port))
        };
        Ok(match change {
            InnerChange::Param(name, value, (frames, law)) => {
                let there = self.options.graph.node(node).ok_or_else(|| none(name))?;
                let own = self.own_of(node);
                let index = live_param(catalogue, (there, &own), name, value)?;
                let shown = || {
                    own.iter()
                        .find(|it| it.name == name)?
                        .value()
                        .map(f64::from)
                };
                let from = param_number(catalogue, there, name).or_else(shown);
                let from = from.filter(|_| frames > Frames(0));
                let ramp = from.map(|from| (from as f32, frames, law));
                (EventTarget::Param(index), EventBody::Value(value), ramp)
            }
            InnerChange::Value(name, value) if value.is_finite() => {
                let target = match (input(name), self.options.graph.node(node)) {
                    (Err(_), Some(there)) => {
                        let own = self.own_of(node);
                        EventTarget::Param(live_param(catalogue, (there, &own), name, value)?)
                    }
                    (found, _) => found?,
                };
                (target, EventBody::Value(value), None)
            }
            InnerChange::Value(name, _) => return Err(none(name)),
            InnerChange::Midi(name, message) => {
                let [status, second, third] = message;
                if !(0x80..0xf0).contains(&status) || (second | third) >= 0x80 {
                    return Err(EngineError::NotMidi(message));
                }
                (input(name)?, EventBody::Midi(message), None)
            }
        })
    }
}

/// Numbers that a process of these slots is told at its beginning: those of the graph `now` that it has `read` otherwise.
pub(super) fn told(
    (slots, own): (&[Slot], &OwnParams),
    (now, read): (&Graph, &Graph),
    catalogue: &Catalogue,
) -> Vec<(u16, f32)> {
    let changed = (0..).zip(slots).filter_map(|(number, slot)| {
        let EventTarget::Param(index) = slot.target else {
            return None;
        };
        let now = now.node(slot.node)?;
        let kind = catalogue.get(now.effective_kind())?;
        let own = || {
            own.get(&slot.node)?
                .get(usize::from(index).checked_sub(kind.params.len())?)
        };
        let name = match kind.params.get(usize::from(index)) {
            Some(param) => param.name,
            None => own()?.name.as_str(),
        };
        let read = read.node(slot.node).and_then(|it| it.number(name));
        let value = now.number(name).filter(|value| Some(*value) != read)?;
        Some((number, value as f32))
    });
    changed.collect()
}

/// Target, event and ramp of a change.
type Resolved = (EventTarget, EventBody, Option<(f32, Frames, RampLaw)>);
