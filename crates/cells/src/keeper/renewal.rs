//! [`NextPlaces`]: the places of what a cell's nodes hold, once an edit of the cell's own engine has changed them.
//!
//! The thread of edits takes the memory that it may need; the audio thread fills it in between two blocks, as soon as the edited
//! graph plays alone. Both buffers keep their sizes: what finds no room begins anew after a failure.

use super::Keeper;
use super::places::{KeptPlaces, MAX_STATE_BYTES, TIME_WORDS};
use engine::EngineCallback;
use graph::Graph;
use std::collections::HashMap;

/// Buffers up to this many words: longer ones are not written at once between two blocks.
const MAX_WORDS_AT_ONCE: usize = 1 << 18;
/// Processors and lines beside those of the graph's own nodes and edges.
const MORE: usize = 256;

/// Room for a layout of another graph.
pub(crate) struct NextPlaces {
    layout: KeptPlaces,
    graph: Graph,
}

impl NextPlaces {
    /// Real-time: setup.
    pub(crate) fn new(graph: &Graph) -> Self {
        let nodes = 2 * graph.len() + MORE;
        let lines = graph.edges().len() + nodes;
        let layout = KeptPlaces {
            nodes: Vec::with_capacity(nodes),
            lines: Vec::with_capacity(lines),
            without_state: Vec::with_capacity(nodes),
            too_large: Vec::with_capacity(nodes),
            scratch: Vec::with_capacity(2 * MAX_STATE_BYTES),
            lines_of: HashMap::with_capacity(nodes),
            ..KeptPlaces::default()
        };
        let graph = graph.clone();
        Self { layout, graph }
    }
}

impl KeptPlaces {
    /// Returns true if all that is kept has the same place there.
    fn is_as(&self, other: &Self) -> bool {
        let nodes = self.nodes.iter().map(|it| (it.node, it.key, it.at));
        let lines = self.lines.iter().map(|it| (it.key, it.at, it.samples));
        nodes.eq(other.nodes.iter().map(|it| (it.node, it.key, it.at)))
            && lines.eq(other.lines.iter().map(|it| (it.key, it.at, it.samples)))
    }

    /// Returns true if words of a checkpoint have a place of one of its nodes or lines.
    pub(super) fn has_any_of(&self, words: &[u64]) -> bool {
        let places = super::successor::places(words);
        let nodes = self.nodes.iter().map(|it| it.key);
        let mut keys = nodes.chain(self.lines.iter().map(|it| it.key));
        keys.any(|key| places.contains_key(&key))
    }
}

impl Keeper {
    /// Returns true if an edit may change what is kept, without a long pause between two blocks.
    pub(crate) fn is_renewable(&self) -> bool {
        self.capacity <= MAX_WORDS_AT_ONCE
    }

    /// Keeps what `callback` plays now in the places of `next`, which gets the present ones. Returns false where that is not
    /// possible yet.
    ///
    /// Real-time: hot, with an allocation for nodes that have more than [`MORE`] processors of their own.
    pub(crate) fn renew(&mut self, callback: &mut EngineCallback, next: &mut NextPlaces) -> bool {
        let layout = &mut next.layout;
        (layout.words, layout.limit) = (TIME_WORDS, self.capacity);
        if !callback.visit_states(layout) {
            return false;
        }
        layout.name(&next.graph);
        if layout.is_as(&self.layout) {
            return true;
        }
        self.fingerprint = layout.fingerprint(&next.graph);
        std::mem::swap(&mut self.layout, layout);
        std::mem::swap(&mut self.scratch, &mut self.layout.scratch);
        // Lines have other places: they are written as a whole.
        self.written = [None; 2];
        self.blocks = self.interval;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::played;
    use super::NextPlaces;

    #[test]
    fn outputs_that_are_tapped_leave_all_places_as_they_are() {
        let (mut player, _memory, mut keeper) = played(20);
        let mut taps = Vec::new();
        for node in ["tone", "echo", "limit"] {
            taps.push(player.engine.add_tap(node, "out").unwrap());
            while player.engine.is_swapping() {
                player.play();
                player.engine.update();
            }
            let mut next = Box::new(NextPlaces::new(player.engine.graph()));
            assert!(keeper.renew(&mut player.callback, &mut next));
            assert!(keeper.written.iter().all(Option::is_some), "{node}: others");
        }
        // A node more is another place.
        let mut heard = 0;
        taps[0].read(|samples| heard += samples.len());
        assert!(heard > 0, "it is tapped");
        let edits = [graph::Edit::Add(graph::Node {
            outputs: vec![graph::Port::new(
                "out",
                graph::Signal::Audio(units::Channels(1)),
            )],
            params: vec![("freq".to_owned(), 9.0.into())],
            ..graph::Node::new("more", "osc")
        })];
        player.engine.edit(edits).unwrap();
        while !player.engine.is_settled() {
            player.play();
            player.engine.update();
        }
        let mut next = Box::new(NextPlaces::new(player.engine.graph()));
        assert!(keeper.renew(&mut player.callback, &mut next));
        assert_eq!(keeper.written, [None; 2]);
    }
}
