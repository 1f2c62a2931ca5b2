//! Live edits and parameters: from an edited graph to a plan, an executor and the swap.
//!
//! ```text
//!   control thread                                              audio thread
//!   ──────────────                                              ────────────
//!   edit(edits)
//!     graph, copied and edited
//!       └─▶ add_nodes: processors for nodes that are new
//!             └─▶ plan: compiled anew, with the delays that play now
//!                   └─▶ executor: the plan bound to memory
//!                         └──────── swap ring, 1 place ──────────▶ at a block's start:
//!                                                                   the current executor is released,
//!     events of the edit ─────────── event ring ────────────────▶   the next one runs, events go to its nodes
//!                                                                   │
//!   update()  drops it  ◀──────── retired ring, 1 place ────────────┘
//!             removes the processors that left the graph
//! ```
//!
//! Only one edit is on its way at a time: a second one is refused as [`EngineError::Busy`]. A node that stays keeps its
//! processor, and so its state: processors live in a pool, and a plan holds indices into it.

use super::Engine;
use crate::EngineError;
use crate::messages::EventMessage;
use crate::resources::EngineResources;
use graph::{Edit, Graph, NodeId, ParamRange, ParamValue};
use plan::{DelayedEdge, PreviousDelays};
use processor::{Event, EventBody, EventTarget};
use report::StepNames;

/// Tolerance of a delay time's bounds, in seconds: the precision of an event's `f32`. The processor clamps.
const TIME_TOLERANCE: f64 = 1e-6;

impl Engine {
    /// Makes changes to the graph. They take effect together, from one block on. Nodes that stay keep their state.
    ///
    /// # Errors
    ///
    /// The mistake in them; then nothing has changed. A parameter that is set must be one that may change while it
    /// plays, as for [`set_param`](Self::set_param), unless its node is new. [`EngineError::Busy`] while the last
    /// change is on its way, [`EngineError::PipelineTooDeep`] where a pipeline has more than two stages.
    ///
    /// Real-time: setup.
    pub fn edit(&mut self, edits: impl IntoIterator<Item = Edit>) -> Result<(), EngineError> {
        if self.plan.latency_blocks > 1 {
            return Err(EngineError::PipelineTooDeep);
        }
        let mut graph = self.graph.clone();
        let mut events = Vec::new();
        for edit in edits {
            if let Edit::Set(id, name, value) = &edit
                && self.graph.node(*id).is_some()
            {
                let ParamValue::Number(value) = value else {
                    return Err(EngineError::NoParam(name.clone()));
                };
                events.push(self.param_event(*id, name, *value as f32)?);
                keep_delay_bounds(&mut graph, &self.resources, *id);
            }
            graph.apply(edit).map_err(EngineError::Edit)?;
        }
        if self.rings.events.slots() < events.len() {
            return Err(EngineError::Busy);
        }
        self.replace_graph(graph)?;
        for event in events {
            let pushed = self.rings.events.push(event);
            debug_assert!(
                pushed.is_ok(),
                "there was room, and only this thread fills it"
            );
        }
        Ok(())
    }

    /// Sends the executor of `graph` to the audio thread.
    pub(super) fn replace_graph(&mut self, graph: Graph) -> Result<(), EngineError> {
        self.collect();
        if self.next.is_some() || self.rings.swaps.is_full() {
            return Err(EngineError::Busy);
        }
        let added = self.resources.add_nodes(&graph);
        let has_delays = self.resources.has_latency() || !self.plan.delayed_edges.is_empty();
        let previous = has_delays.then(|| self.previous_delays());
        let plan = match added.and_then(|()| self.resources.plan(&graph, previous)) {
            Ok(plan) => plan,
            Err(error) => {
                self.resources.remove_unused(&self.graph);
                return Err(error);
            }
        };
        let executor = self.resources.executor(&plan);
        self.swaps += 1;
        let watchdog = executor.watchdog();
        let pushed = self.rings.swaps.push(executor);
        debug_assert!(
            pushed.is_ok(),
            "there was room, and only this thread fills it"
        );
        self.next = Some((watchdog, StepNames::from_plan(&plan, &graph)));
        self.graph = graph;
        self.plan = plan;
        Ok(())
    }

    /// The delays that play now, for the plan that comes next.
    fn previous_delays(&self) -> PreviousDelays {
        let plan = &self.plan;
        let state = |it: &DelayedEdge| self.resources.fade_state(plan, it, self.position);
        PreviousDelays::new(&self.graph, &plan.delayed_edges, self.swaps + 1, state)
    }

    /// Sets the parameter `name` of `node` to `value`, from the next block on.
    ///
    /// # Errors
    ///
    /// [`EngineError::NoParam`] if it is no parameter that can change while it plays, or if `value` is out of its
    /// range. [`EngineError::Busy`] while too many changes are on their way.
    ///
    /// Real-time: setup.
    pub fn set_param(&mut self, node: NodeId, name: &str, value: f32) -> Result<(), EngineError> {
        let event = self.param_event(node, name, value)?;
        let pushed = self.rings.events.push(event);
        pushed.map_err(|_| EngineError::Busy)?;
        keep_delay_bounds(&mut self.graph, &self.resources, node);
        if let Some(there) = self.graph.node_mut(node) {
            there.set(name, ParamValue::Number(f64::from(value)));
        }
        Ok(())
    }

    /// The event that sets a parameter of `node`, if it may change while it plays.
    fn param_event(
        &self,
        node: NodeId,
        name: &str,
        value: f32,
    ) -> Result<EventMessage, EngineError> {
        let error = || EngineError::NoParam(name.to_owned());
        let there = self.graph.node(node).ok_or_else(error)?;
        let catalogue = self.resources.registry.catalogue();
        let kind = catalogue.get(there.effective_kind()).ok_or_else(error)?;
        let (index, param) = kind.param(name).ok_or_else(error)?;
        let wanted = f64::from(value);
        let mut fits = match param.range {
            ParamRange::Number { min, max, .. } => (min..=max).contains(&wanted),
            _ => true,
        };
        if let Some(delay) = kind.delay.filter(|delay| delay.time == name) {
            let initial = there.number(delay.time);
            let bound = |key| there.number(key).or(initial);
            fits &= bound(delay.min).is_none_or(|min| wanted >= min - TIME_TOLERANCE);
            fits &= bound(delay.max).is_none_or(|max| wanted <= max + TIME_TOLERANCE);
        }
        if !param.live || !fits {
            return Err(error());
        }
        let event = Event {
            frame: 0,
            target: EventTarget::Param(index),
            body: EventBody::Value(value),
        };
        Ok(EventMessage { node, event })
    }
}

/// Writes the bounds of a delay's time into the graph before the time changes. Its processor was made for these bounds,
/// and a plan must not take the new time for them.
fn keep_delay_bounds(graph: &mut Graph, resources: &EngineResources, id: NodeId) {
    let Some(node) = graph.node_mut(id) else {
        return;
    };
    let kind = resources.registry.catalogue().get(node.effective_kind());
    let delay = kind.and_then(|kind| Some((kind.delay?, node.number(kind.delay?.time)?)));
    let Some((delay, time)) = delay else {
        return;
    };
    for key in [delay.min, delay.max] {
        if node.param(key).is_none() {
            node.set(key, ParamValue::Number(time));
        }
    }
}
