//! Taps: the signal of an output port, copied while the graph plays, for a meter off the audio thread.
//!
//! A tap is a node beside the graph: plans have it, the graph of the user has not. A port that nobody taps costs nothing.
//!
//! ```text
//!   add_tap ─▶ swap to a plan with one node more ─▶ audio thread: frames ─▶ ring (half a second) ─▶ Tap::read
//! ```

use super::Engine;
use super::tap::{Tap, TapSpec};
use crate::EngineError;
use crate::resources::tap as tap_node;
use graph::{Edge, Graph, NodeId, PortRef, Signal, SourceSpan};
use std::borrow::Cow;

impl Engine {
    /// Taps the output `port` of the node called `node`.
    ///
    /// # Errors
    ///
    /// [`EngineError::NoParam`] if there is no such output of audio, [`EngineError::Busy`] while a change is on its way.
    ///
    /// Real-time: setup.
    pub fn add_tap(&mut self, node: &str, port: &str) -> Result<Tap, EngineError> {
        let frames = self.resources.options.rate.hz() as usize / 2;
        self.add_tap_with(node, port, frames.max(8192))
    }

    /// As [`add_tap`](Self::add_tap), with room for so many frames.
    ///
    /// # Errors
    ///
    /// The same.
    ///
    /// Real-time: setup.
    pub fn add_tap_with(
        &mut self,
        node: &str,
        port: &str,
        frames: usize,
    ) -> Result<Tap, EngineError> {
        let found = output(&self.graph, node, port);
        let Some((_, signal @ Signal::Audio(width))) = found else {
            return Err(EngineError::NoParam(format!("{node}.{port}")));
        };
        self.check_not_busy()?;
        let (id, channels) = (self.tap_id(), width.count().max(1));
        let (producer, ring) = rt::ring::ring(frames.max(1) * channels);
        let spec = TapSpec {
            id,
            node: node.to_owned(),
            port: port.to_owned(),
            signal,
        };
        self.resources.add_tap(id, spec.name(), producer);
        self.taps.push(spec);
        match self.swap_taps() {
            Ok(()) => Ok(Tap { id, channels, ring }),
            Err(error) => {
                if let Some(spec) = self.taps.pop() {
                    self.resources.remove_tap(id, &spec.name());
                }
                Err(error)
            }
        }
    }

    /// Ends a tap.
    ///
    /// # Errors
    ///
    /// [`EngineError::Busy`] while a change is on its way: to be tried again.
    ///
    /// Real-time: setup.
    pub fn remove_tap(&mut self, tap: &Tap) -> Result<(), EngineError> {
        self.check_not_busy()?;
        if let Some(at) = self.taps.iter().position(|spec| spec.id == tap.id) {
            let spec = self.taps.remove(at);
            // Freed after the swap.
            self.resources.remove_tap(tap.id, &spec.name());
        }
        self.swap_taps()
    }

    /// The id of a tap that is gone, or a new one.
    fn tap_id(&mut self) -> NodeId {
        let is_free = |id: &&NodeId| {
            let is_tap = self.taps.iter().any(|spec| spec.id == **id);
            !is_tap && !self.resources.has_processor(**id)
        };
        if let Some(id) = self.tap_ids.iter().find(is_free) {
            return *id;
        }
        let id = self.graph.reserve_id();
        self.tap_ids.push(id);
        id
    }

    fn check_not_busy(&mut self) -> Result<(), EngineError> {
        self.collect();
        match self.is_swapping() {
            true => Err(EngineError::Busy),
            false => Ok(()),
        }
    }

    /// Swaps to the graph that plays, with the taps that there are.
    fn swap_taps(&mut self) -> Result<(), EngineError> {
        let playing = self.playing_graph().clone();
        self.swap_to(&playing)
    }

    /// `graph` with the nodes that tap it.
    pub(super) fn with_taps<'g>(&self, graph: &'g Graph) -> Cow<'g, Graph> {
        let mut tapped = Cow::Borrowed(graph);
        for spec in &self.taps {
            let found = output(graph, &spec.node, &spec.port);
            let Some((from, _)) = found.filter(|(_, signal)| *signal == spec.signal) else {
                continue;
            };
            let graph = tapped.to_mut();
            while graph.id_bound() <= spec.id.0 as usize {
                graph.reserve_id();
            }
            let node = tap_node::node(spec.name(), spec.signal);
            if graph.restore(spec.id, node).is_ok() {
                let (to, span) = (
                    PortRef {
                        node: spec.id,
                        port: 0,
                    },
                    SourceSpan::NONE,
                );
                graph.connect(Edge { from, to, span });
            }
        }
        tapped
    }
}

/// The output `port` of the node called `node`.
fn output(graph: &Graph, node: &str, port: &str) -> Option<(PortRef, Signal)> {
    let id = graph.find(node)?;
    let mut outputs = (0..).zip(&graph.node(id)?.outputs);
    let (index, found) = outputs.find(|(_, it)| it.name == port)?;
    Some((
        PortRef {
            node: id,
            port: index,
        },
        found.signal,
    ))
}
