//! Live edits: from an edited graph to a plan, an executor and the swap.
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
//! Connections that come or go fade (`transition`): then a second swap follows when the fades are over, by
//! [`Engine::update`]. Where the graph before and the graph after cannot play together, because their connections make a
//! circle without a delay, the edit cuts.
//!
//! Only one edit is on its way at a time: a second one is refused as [`EngineError::Busy`]. A node that stays keeps its
//! processor, and so its state: processors live in a pool, and a plan holds indices into it.

use super::Engine;
use super::transition::{Reversal, Transition};
use crate::EngineError;
use crate::messages::EventMessage;
use crate::resources::{fade, fade_frames};
use graph::{BuildError, Edit, EditError, Graph, GraphBuilder, Node, NodeId, ParamValue};
use plan::{DelayedEdge, PreviousDelays, PreviousStages};
use processor::{Event, EventBody};
use report::StepNames;
use units::Frames;

impl Engine {
    /// Makes changes to the graph. They take effect together, from one block on. Nodes that stay keep their state. Gives
    /// the ids of the nodes that were added, in their order.
    ///
    /// If sound would jump, it fades for [`edit_fade`](crate::EngineOptions::edit_fade): connections that go fade out
    /// while those that come fade in, in straight lines, so that the gains of a frame add up to 1. Removed nodes play on
    /// until then. The fade is a function of the frames since the edit, so every scheduler gives the same bits.
    ///
    /// # Errors
    ///
    /// The mistake in them; then nothing has changed. A parameter that is set must be one that may change while it
    /// plays, as for [`set_param`](Self::set_param), unless its node is new. [`EngineError::Busy`] while the last
    /// change is on its way, [`EngineError::PlaysUndriven`] if another edge is to drive a parameter of a node that plays.
    ///
    /// Real-time: setup.
    pub fn edit(
        &mut self,
        edits: impl IntoIterator<Item = Edit>,
    ) -> Result<Vec<NodeId>, EngineError> {
        self.begin();
        let added = self.edit_held(edits);
        match &added {
            Ok(_) => {
                self.commit()?;
            }
            Err(_) => self.cancel(),
        }
        added
    }

    /// As [`edit`](Self::edit), within a transaction: nothing is sent before [`commit`](Self::commit). After an error,
    /// [`cancel`](Self::cancel) it.
    ///
    /// # Errors
    ///
    /// As for [`edit`](Self::edit).
    ///
    /// Real-time: setup.
    pub fn edit_held(
        &mut self,
        edits: impl IntoIterator<Item = Edit>,
    ) -> Result<Vec<NodeId>, EngineError> {
        let mut graph = self.graph.clone();
        let (mut events, mut added) = (Vec::new(), Vec::new());
        let mut needs_swap = false;
        for edit in edits {
            if let Edit::Place(id, node) = &edit
                && self.tap_ids.contains(id)
            {
                // It would get the processor of the tap.
                return Err(EngineError::Edit(EditError::NameTaken(node.name.clone())));
            }
            let is_set = matches!(&edit, Edit::Set(id, ..) if self.graph.node(*id).is_some());
            needs_swap |= !is_set;
            if let Edit::Set(id, name, value) = &edit
                && is_set
            {
                let ParamValue::Number(value) = value else {
                    return Err(EngineError::NoParam(name.clone()));
                };
                events.push(self.param_event(*id, name, *value as f32)?);
                self.keep_delay_bounds(&mut graph, *id);
            }
            added.extend(graph.apply(edit).map_err(EngineError::Edit)?);
        }
        self.resources.place_expansions(&mut graph)?;
        self.check_driven(&graph)?;
        self.collect();
        if !needs_swap && !events.is_empty() {
            return self.set_together(graph, events).map(|()| added);
        }
        self.swap_faded(graph, events)?;
        Ok(added)
    }

    /// Latency that this graph would have, after an edit. Nothing changes.
    ///
    /// # Errors
    ///
    /// A node cannot be made, or no plan.
    ///
    /// Real-time: setup.
    pub fn latency_after(
        &mut self,
        edits: impl IntoIterator<Item = Edit>,
    ) -> Result<Frames, EngineError> {
        let mut graph = self.graph.clone();
        for edit in edits {
            graph.apply(edit).map_err(EngineError::Edit)?;
        }
        let graph = graph.without_bypasses().into_owned();
        let added = self.resources.add_nodes(&graph);
        let latency = added.and_then(|()| self.resources.latency_of(&graph));
        let transition = self.transition.as_ref();
        let playing = transition.map_or(&self.graph, |it| &it.graph);
        self.resources.remove_unused(playing);
        latency
    }

    /// Checks that no node that plays gets another input that drives a parameter. (An input that loses its edge stays, and
    /// changes nothing.)
    fn check_driven(&self, graph: &Graph) -> Result<(), EngineError> {
        let has_more = |(id, before): &(NodeId, &Node)| {
            let after = graph.node(*id);
            after.is_some_and(|after| after.inputs.len() != before.inputs.len())
        };
        match self.graph.nodes().find(has_more) {
            Some((_, node)) => Err(EngineError::PlaysUndriven(node.name.clone())),
            None => Ok(()),
        }
    }

    /// As [`edit`](Self::edit), with changes by names: kinds, parameters and ports are checked at each call. Gives what
    /// `change` gives, such as the ids of new nodes.
    ///
    /// # Errors
    ///
    /// As for [`edit`](Self::edit), and [`EngineError::Build`] if `change` fails; then nothing has changed.
    ///
    /// Real-time: setup.
    pub fn edit_with<T>(
        &mut self,
        change: impl FnOnce(&mut GraphBuilder<'_>) -> Result<T, BuildError>,
    ) -> Result<T, EngineError> {
        let registry = self.resources.registry.clone();
        let folder = self.resources.options.folder.clone();
        let probe = |node: &Node| registry.probe(node, &folder);
        let builder = GraphBuilder::with_graph(self.graph.clone(), registry.catalogue());
        let mut builder = builder.with_probe(&probe);
        let result = change(&mut builder).map_err(EngineError::Build)?;
        self.edit(builder.into_edits())?;
        Ok(result)
    }

    /// Sends parameters that take effect at one block. The audio thread sees all of them at once.
    fn set_together(&mut self, graph: Graph, events: Vec<EventMessage>) -> Result<(), EngineError> {
        if self.event_room() < events.len() {
            return Err(EngineError::Busy);
        }
        for event in events {
            self.send(event)?;
        }
        self.graph = graph;
        Ok(())
    }

    /// Swaps to `graph`, with a fade where connections come or go, and sends `events` to its nodes.
    fn swap_faded(
        &mut self,
        mut graph: Graph,
        mut events: Vec<EventMessage>,
    ) -> Result<(), EngineError> {
        let has_fade = fade_frames(&self.resources.options) > 0;
        if self.event_room() < events.len() {
            return Err(EngineError::Busy);
        }
        let before = self.graph.without_bypasses().into_owned();
        let mut after = graph.without_bypasses().into_owned();
        let catalogue = &self.resources.catalogue;
        let running = (&before, self.transition.as_ref());
        let whole = has_fade.then(|| Transition::new(running, &mut after, catalogue));
        let whole = whole.flatten();
        let mut result = match whole {
            Some(whole) => self.begin_transition(whole, (&mut events, &mut graph)),
            None => self.swap_to(&graph).map(|()| self.transition = None),
        };
        if has_fade && matches!(result, Err(EngineError::Graph(_))) {
            let catalogue = &self.resources.catalogue;
            let running = (&before, self.transition.as_ref());
            let after = graph.without_bypasses();
            // The mistake may be in the edited graph itself: only one that can be played is faded to in two steps.
            let first = Transition::first_half(running, &after, catalogue);
            drop(after);
            result = match first.filter(|_| self.can_play(&graph)) {
                Some(first) => self.begin_transition(first, (&mut events, &mut graph)),
                None => Err(EngineError::Graph(Vec::new())),
            };
            if result.is_err() {
                result = self.swap_to(&graph).map(|()| self.transition = None);
            }
        }
        result?;
        self.graph = graph;
        for event in events {
            let sent = self.send(event);
            debug_assert!(
                sent.is_ok(),
                "there was room, and only this thread fills it"
            );
        }
        Ok(())
    }

    /// Swaps to a transition, and adds to `events` those that turn fades round.
    fn begin_transition(
        &mut self,
        (transition, reversals): (Transition, Vec<Reversal>),
        (events, graph): (&mut Vec<EventMessage>, &mut Graph),
    ) -> Result<(), EngineError> {
        if self.event_room() < events.len() + reversals.len() {
            return Err(EngineError::Busy);
        }
        while graph.id_bound() < transition.graph.id_bound() {
            graph.reserve_id();
        }
        let targets = self.transition.iter().flat_map(Transition::targets);
        self.fades = targets.chain(transition.targets()).collect();
        self.swap_to(&transition.graph)?;
        events.extend(reversals.into_iter().map(reversal_event));
        self.transition = Some(transition);
        Ok(())
    }

    /// Returns true if a plan can be made of `graph`.
    fn can_play(&mut self, graph: &Graph) -> bool {
        let added = self.resources.add_nodes(graph);
        added.is_ok() && self.resources.can_plan(graph)
    }

    /// Begins to fade in what the last edit adds, after what it removes has faded out.
    fn begin_second_half(&mut self, between: &Graph) -> Result<(), EngineError> {
        let mut graph = self.graph.clone();
        while graph.id_bound() < between.id_bound() {
            graph.reserve_id();
        }
        let mut after = graph.without_bypasses().into_owned();
        let second = Transition::new((between, None), &mut after, &self.resources.catalogue);
        match second {
            Some(second) => self.begin_transition(second, (&mut Vec::new(), &mut graph))?,
            None => {
                self.swap_to(&graph)?;
                self.transition = None;
            }
        }
        self.graph = graph;
        Ok(())
    }

    /// Swaps to the graph after the last edit, if its fades are over.
    pub(super) fn end_transition(&mut self) {
        let swaps = self.swaps;
        self.end_fades();
        self.is_later_swap |= self.swaps != swaps;
    }

    fn end_fades(&mut self) {
        let ends_at = self.transition.as_ref().and_then(|it| it.ends_at);
        if ends_at.is_some_and(|end| self.position >= end) {
            let between = self.transition.as_ref().and_then(|it| it.ends_in.clone());
            if let Some(between) = between {
                match self.begin_second_half(&between) {
                    Ok(()) | Err(EngineError::Busy) => return,
                    Err(_) => {}
                }
            }
            let graph = self.graph.clone();
            // If a change is on its way, it is tried again at the next call.
            if self.swap_to(&graph).is_ok() {
                self.transition = None;
            }
        }
    }

    /// Swaps to the graph without any fade.
    pub(super) fn swap_at_once(&mut self) -> Result<(), EngineError> {
        self.collect();
        let graph = self.graph.clone();
        self.swap_to(&graph)?;
        self.transition = None;
        Ok(())
    }

    /// Sends the executor of `graph` to the audio thread.
    pub(super) fn swap_to(&mut self, graph: &Graph) -> Result<(), EngineError> {
        if self.is_swapping() || self.rings.swaps.is_full() {
            return Err(EngineError::Busy);
        }
        let graph = &*self.with_taps(graph);
        let added = self.resources.add_nodes(graph);
        let has_delays = self.resources.has_latency() || !self.plan.delayed_edges.is_empty();
        let delays = has_delays.then(|| self.previous_delays());
        let previous = (delays, PreviousStages::new(&self.plan));
        let planned = match added.and_then(|()| self.resources.plan_parts(graph, previous)) {
            Ok(planned) => planned,
            Err(error) => {
                let transition = self.transition.as_ref();
                let playing = transition.map_or(&self.graph, |it| &it.graph);
                self.resources.remove_unused(playing);
                return Err(error);
            }
        };
        let executor = self.resources.executor_of(&planned);
        let plan = planned.plan;
        self.swaps += 1;
        let watchdog = executor.watchdog();
        self.send_swap(executor);
        self.has_retiring = true;
        self.next = Some((
            watchdog,
            StepNames::from_plan(&plan, &self.resources.expanded(graph)),
        ));
        self.plan = plan;
        Ok(())
    }

    /// The delays that play now, for the plan that comes next.
    fn previous_delays(&self) -> PreviousDelays {
        let plan = &self.plan;
        let state = |it: &DelayedEdge| self.resources.fade_state(plan, it, self.position);
        let delays = PreviousDelays::new(
            &self.playing_graph().without_bypasses(),
            &plan.delayed_edges,
            self.swaps + 1,
            state,
        );
        match fade_frames(&self.resources.options) {
            0 => delays,
            _ => delays.with_fades(self.fades.clone()),
        }
    }
}

/// The event that changes the direction of a fade.
fn reversal_event((node, is_in): Reversal) -> EventMessage {
    let event = Event {
        frame: 0,
        target: fade::TARGET,
        body: EventBody::Value(if is_in { 1.0 } else { 0.0 }),
    };
    EventMessage {
        node,
        event,
        at: 0,
        ramp: None,
        after_swap: 0,
    }
}
