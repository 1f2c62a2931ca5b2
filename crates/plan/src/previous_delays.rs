//! The delays of the plan before, from which a new plan fades to its own.

use crate::{AlignerTap, DelayedEdge};
use graph::{Graph, NodeId, PortRef};
use std::collections::HashMap;
use units::Frames;

/// Progress of the fade of an edge whose delay changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FadeState {
    /// The edge has its new delay.
    Done,
    /// The fade goes on, and is nearest to this delay.
    Fading(Frames),
}

/// Delays of all edges of the plan that plays until now. An edge that was there fades from its old delay to its new one;
/// a new edge starts with its delay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PreviousDelays {
    /// The tap of each edge, and the delay that is audible now.
    edges: HashMap<(PortRef, PortRef), (AlignerTap, Frames)>,
    swap: u32,
    /// The inputs behind nodes that fade.
    fades: HashMap<NodeId, PortRef>,
    is_faded: bool,
}

impl PreviousDelays {
    /// The delays of `graph` before the edit: those in `delayed`, and none for all other edges. `swap` is a number that
    /// no swap before had, and `fade_state` reports how far an edge is whose delay was changing already.
    pub fn new(
        graph: &Graph,
        delayed: &[DelayedEdge],
        swap: u32,
        fade_state: impl Fn(&DelayedEdge) -> FadeState,
    ) -> Self {
        let edges = graph.edges().iter();
        let undelayed = edges.map(|edge| ((edge.from, edge.to), Default::default()));
        let mut edges: HashMap<_, _> = undelayed.collect();
        for edge in delayed {
            let frames = edge.tap.frames;
            let now = match fade_state(edge) {
                FadeState::Done => (AlignerTap::constant(frames), frames),
                FadeState::Fading(audible) => (edge.tap, audible),
            };
            edges.insert((edge.from, edge.to), now);
        }
        Self {
            edges,
            swap,
            fades: HashMap::new(),
            is_faded: false,
        }
    }

    /// With the nodes that an edit puts into connections to fade them, before this swap and after it, each with the input
    /// behind it. The delay of a connection lies before such a node, as it does without one: so the line keeps its content.
    ///
    /// A new edge begins without a delay and fades to the one that it needs, as soon as the line holds it. Otherwise its
    /// signal would begin in the middle, when the edit's own fade is over.
    #[must_use]
    pub fn with_fades(mut self, fades: HashMap<NodeId, PortRef>) -> Self {
        let edges = std::mem::take(&mut self.edges).into_iter();
        let edges = edges.filter(|((from, _), _)| !fades.contains_key(&from.node));
        let target = |to: PortRef| fades.get(&to.node).copied().unwrap_or(to);
        self.edges = edges
            .map(|((from, to), delay)| ((from, target(to)), delay))
            .collect();
        self.fades = fades;
        self.is_faded = true;
        self
    }

    /// The nodes that fade.
    pub(crate) fn fades(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.fades.keys().copied()
    }

    /// The tap of an edge whose new delay is `frames`.
    ///
    /// A fade to the same delay goes on under its old number. A fade to another delay begins at the one that is audible.
    pub(crate) fn tap(&self, from: PortRef, to: PortRef, frames: Frames) -> AlignerTap {
        let to = self.fades.get(&to.node).copied().unwrap_or(to);
        match self.edges.get(&(from, to)) {
            Some((tap, _)) if tap.frames == frames => *tap,
            Some((_, audible)) if *audible != frames => AlignerTap {
                frames,
                previous: *audible,
                swap: self.swap,
            },
            None if self.is_faded => AlignerTap {
                frames,
                previous: Frames(0),
                swap: if frames > Frames(0) { self.swap } else { 0 },
            },
            _ => AlignerTap::constant(frames),
        }
    }

    /// Returns true if any edge was delayed.
    pub(crate) fn has_delays(&self) -> bool {
        let mut taps = self.edges.values();
        taps.any(|(tap, _)| *tap != AlignerTap::default())
    }
}
