//! Controllers: from names to what the audio thread applies, and back to the graph's values.

use super::Engine;
use crate::controllers::{BoundController, ControllerMap};
use crate::messages::{ControllerMessage, EventMessage};
use crate::{ControllerBinding, EngineError, MAX_CONTROLLERS, RemoteParam};
use graph::{NodeId, ParamValue};
use processor::{Event, EventBody, EventTarget};
use std::collections::{BTreeMap, HashMap};

impl Engine {
    /// Has live MIDI controllers set parameters, in place of those that did. A binding whose node an edit removes waits
    /// for a node of its name.
    ///
    /// # Errors
    ///
    /// The first binding that cannot be: an unknown node or parameter ([`EngineError::NoParam`]), a range beyond that of
    /// the parameter ([`EngineError::OutOfRange`]); or more than [`MAX_CONTROLLERS`] ([`EngineError::Busy`]). None is
    /// changed then.
    ///
    /// Real-time: setup.
    pub fn set_controllers(&mut self, bindings: Vec<ControllerBinding>) -> Result<(), EngineError> {
        if bindings.len() > MAX_CONTROLLERS {
            return Err(EngineError::Busy);
        }
        for binding in &bindings {
            self.bound(binding)?;
        }
        self.controllers.bindings = bindings;
        self.controllers.is_stale = true;
        self.update_controllers();
        Ok(())
    }

    /// Sets which parameters of nodes that are not in the graph controllers can set.
    ///
    /// Real-time: setup.
    pub fn set_remote_params(&mut self, params: Vec<RemoteParam>) {
        let places = (0..).zip(&params);
        let places = places.map(|(at, it)| ((it.through.clone(), it.index), at));
        self.controllers.remote_places = places.collect();
        self.controllers.remote = params;
        self.controllers.is_stale = true;
        self.update_controllers();
    }

    /// The values that controllers have set of these since the last call: node, parameter, value.
    ///
    /// Real-time: setup.
    pub fn take_remote_values(&mut self) -> Vec<(String, String, f32)> {
        let values = std::mem::take(&mut self.controllers.remote_values);
        let values = values.into_iter().filter_map(|(at, value)| {
            let RemoteParam { node, param, .. } = self.controllers.remote.get(at)?;
            Some((node.clone(), param.clone(), value))
        });
        values.collect()
    }

    /// Number of values that live controllers have set, as far as is known.
    pub fn controller_changes(&self) -> u64 {
        self.controllers.changes
    }

    /// The bindings.
    pub fn controllers(&self) -> &[ControllerBinding] {
        &self.controllers.bindings
    }

    /// Messages of controllers that came in since the last call, each with the name of its port; the latest 1024.
    ///
    /// Real-time: setup.
    pub fn take_controller_messages(&mut self) -> Vec<(String, [u8; 3])> {
        std::mem::take(&mut self.controllers.received)
    }

    /// Takes the values that controllers have set into the graph, and gives the audio thread a map that an edit or
    /// [`set_controllers`](Self::set_controllers) has changed.
    pub(super) fn update_controllers(&mut self) {
        while self.rings.retired_maps.pop().is_ok() {}
        while let Ok(ControllerMessage { port, message }) = self.rings.controllers.pop() {
            self.follow_controller(port, message);
        }
        if self.controllers.graph_swaps != self.swaps {
            self.controllers.graph_swaps = self.swaps;
            self.controllers.is_stale = true;
        }
        if !self.controllers.is_stale || self.rings.maps.is_full() {
            return;
        }
        let bindings = self.controllers.bindings.iter();
        let bound = bindings.filter_map(|binding| self.bound(binding).ok());
        let map = ControllerMap(bound.collect());
        self.controllers.map = map.clone();
        self.controllers.is_stale = self.rings.maps.push(Box::new(map)).is_err();
    }

    fn follow_controller(&mut self, port: u16, message: [u8; 3]) {
        let names = &self.resources.options.midi.inputs;
        if let Some(name) = names.get(usize::from(port)) {
            let received = &mut self.controllers.received;
            if received.len() == 1024 {
                received.remove(0);
            }
            received.push((name.clone(), message));
        }
        let mut changes = Vec::new();
        (self.controllers.map).apply(port, message, |change| changes.push(change));
        for change in changes {
            let (EventTarget::Param(param), EventBody::Value(value)) =
                (change.event.target, change.event.body)
            else {
                continue;
            };
            self.controllers.changes += 1;
            if let Some(at) = self.remote_place(change.node, param) {
                self.controllers.remote_values.insert(at, value);
                continue;
            }
            let mut graph = std::mem::take(&mut self.graph);
            self.keep_delay_bounds(&mut graph, change.node);
            if let Some(node) = graph.node_mut(change.node) {
                let kind = self.resources.catalogue.get(node.effective_kind());
                let (at, own) = (usize::from(param), self.resources.own_params(change.node));
                let name = kind.and_then(|kind| match kind.params.get(at) {
                    Some(param) => Some(param.name),
                    None => Some(own.get(at.checked_sub(kind.params.len())?)?.name.as_str()),
                });
                if let Some(name) = name {
                    node.set(name, ParamValue::Number(f64::from(value)));
                }
            }
            self.graph = graph;
        }
    }

    fn bound(&self, binding: &ControllerBinding) -> Result<BoundController, EngineError> {
        let set = match self.remote_event(binding) {
            Some(set) => set,
            None => self.own_event(binding)?,
        };
        let inputs = &self.resources.options.midi.inputs;
        let port = match binding.port.as_str() {
            "" => None,
            // A port that is not there: no message comes from it.
            name => Some((inputs.iter().position(|it| it == name)).map_or(u16::MAX, |i| i as u16)),
        };
        Ok(BoundController::new(binding, port, set))
    }

    /// The event that sets a parameter of a node of the graph.
    fn own_event(&self, binding: &ControllerBinding) -> Result<EventMessage, EngineError> {
        let ControllerBinding { node, param, .. } = binding;
        let unknown = || EngineError::NoParam(format!("{node}.{param}"));
        let id = self.graph.find(node).ok_or_else(unknown)?;
        let (low, high) = binding.range;
        self.param_event(id, param, low as f32)?;
        self.param_event(id, param, high as f32)
    }

    /// The event that sets a parameter of a node that is not in the graph.
    fn remote_event(&self, binding: &ControllerBinding) -> Option<EventMessage> {
        let is_it = |it: &&RemoteParam| (&it.node, &it.param) == (&binding.node, &binding.param);
        let remote = self.controllers.remote.iter().find(is_it)?;
        Some(EventMessage {
            node: self.graph.find(&remote.through)?,
            event: Event {
                frame: 0,
                target: EventTarget::Param(remote.index),
                body: EventBody::Value(0.0),
            },
            at: 0,
            ramp: None,
            after_swap: 0,
        })
    }

    fn remote_place(&self, node: NodeId, param: u16) -> Option<usize> {
        if self.controllers.remote.is_empty() {
            return None;
        }
        let name = self.graph.node(node)?.name.clone();
        self.controllers.remote_places.get(&(name, param)).copied()
    }
}

/// State of the controllers on the control thread.
#[derive(Default)]
pub(super) struct Controllers {
    bindings: Vec<ControllerBinding>,
    /// The map that the audio thread has, or is about to.
    map: ControllerMap,
    is_stale: bool,
    /// Number of swaps when the map was made.
    graph_swaps: u32,
    received: Vec<(String, [u8; 3])>,
    /// Parameters of nodes that are not in the graph, and their places by node and index there.
    remote: Vec<RemoteParam>,
    remote_places: HashMap<(String, u16), usize>,
    /// Values that controllers have set of them, by place.
    remote_values: BTreeMap<usize, f32>,
    /// Values that controllers have set so far.
    changes: u64,
}
