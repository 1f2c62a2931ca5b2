//! The delays of the plan before, from which a new plan fades to its own.

use crate::{AlignerTap, DelayedEdge};
use graph::{Graph, PortRef};
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
        Self { edges, swap }
    }

    /// The tap of an edge whose new delay is `frames`.
    ///
    /// A fade to the same delay goes on under its old number. A fade to another delay begins at the one that is audible.
    pub(crate) fn tap(&self, from: PortRef, to: PortRef, frames: Frames) -> AlignerTap {
        match self.edges.get(&(from, to)) {
            Some((tap, _)) if tap.frames == frames => *tap,
            Some((_, audible)) if *audible != frames => AlignerTap {
                frames,
                previous: *audible,
                swap: self.swap,
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
