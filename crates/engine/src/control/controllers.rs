//! Controllers: from names to what the audio thread applies, and back to the graph's values.

use super::Engine;
use crate::controllers::{BoundController, ControllerMap};
use crate::messages::ControllerMessage;
use crate::{ControllerBinding, EngineError, MAX_CONTROLLERS};
use graph::ParamValue;
use processor::{EventBody, EventTarget};

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
        let ControllerBinding { node, param, .. } = binding;
        let found = self.graph.nodes().find(|(_, there)| there.name == *node);
        let unknown = || EngineError::NoParam(format!("{node}.{param}"));
        let (id, _) = found.ok_or_else(unknown)?;
        let (low, high) = binding.range;
        self.param_event(id, param, low as f32)?;
        let set = self.param_event(id, param, high as f32)?;
        let inputs = &self.resources.options.midi.inputs;
        let port = match binding.port.as_str() {
            "" => None,
            // A port that is not there: no message comes from it.
            name => Some((inputs.iter().position(|it| it == name)).map_or(u16::MAX, |i| i as u16)),
        };
        Ok(BoundController::new(binding, port, set))
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
}
