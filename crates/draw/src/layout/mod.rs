//! Layout of a graph from left to right: few crossings, edges as straight as can be.
//!
//! This is the method of Sugiyama, Tagawa and Toda, *Methods for Visual Understanding of Hierarchical System Structures*
//! (IEEE Trans. SMC 11(2), 1981), turned by 90°, with two passes of this project's own (marked *) for graphs of audio,
//! which are often one long line or a rake of hundreds of chains. The passes, a file each:
//!
//! | pass | decides | how |
//! |---|---|---|
//! | [`layer`] | the layer (column) of each box, and which edges are feedback | depth-first search for cycles, then the longest path from a source |
//! | [`pack`] * | later layers for boxes that would make a layer too high | first fit, chain by chain |
//! | [`dummy`] | where long edges pass through the layers between their ends | one dummy a layer, shared by the edges of one output |
//! | [`order`] | the order of each layer from top to bottom | barycentre sweeps; the order with the fewest crossings wins |
//! | [`place`] | y of each vertex and x of each layer | weighted least squares that keep the order |
//! | [`fold`] * | where a picture that is too long breaks into rows | at the cut that the fewest edges cross |
//! | [`route`] | corners and routes in the finished picture | from the coordinates above |
//!
//! ```text
//!   layer 0      layer 1      layer 2
//!   +-----+      +-----+      +-----+
//!   | osc |----->| mix |----->| out |      solid: links between neighbouring layers
//!   +-----+  \   +-----+      +-----+
//!             \                  ^
//!              `---- o ---------'          o: a dummy, where osc -> out passes layer 1
//! ```
//!
//! Sizes only, no text and no colour: [`diagram`](crate::diagram) draws the result.

mod dummy;
mod fold;
mod layer;
mod order;
mod pack;
mod place;
mod route;
mod types;

use types::LayeredGraph;
pub(crate) use types::{BoxLayout, BoxSize, LayoutEdge, Route};

/// From this many edges into one box on, packed chains are aligned at the top.
const MANY_INPUTS: usize = 24;

/// Finds a place for every box and a route for every edge.
pub(crate) fn lay_out(boxes: &[BoxSize], edges: &[LayoutEdge]) -> BoxLayout {
    let mut layers = layer::assign(boxes.len(), edges);
    let packed = pack::pack(boxes, edges, &layers);
    let is_top_aligned =
        packed.is_some() && boxes.iter().any(|size| size.inputs.len() >= MANY_INPUTS);
    layers.of_box = packed.unwrap_or(layers.of_box);
    let graph = LayeredGraph {
        is_top_aligned,
        ..dummy::add_dummies(boxes, edges, &layers)
    };
    let orders = order::sort(&graph);
    let coordinates = place::place(&graph, &orders);
    route::finish(boxes, edges, &graph, &coordinates)
}
