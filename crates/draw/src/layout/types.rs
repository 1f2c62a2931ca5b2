//! The types that the passes share.

/// A box as the layout sees it: its size and its ports. Lengths are in pixels.
#[derive(Clone, Debug)]
pub(crate) struct BoxSize {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Positions of the inputs, from the middle of the left side downwards.
    pub(crate) inputs: Vec<f64>,
    /// Positions of the outputs, from the middle of the right side downwards.
    pub(crate) outputs: Vec<f64>,
}

/// An edge from an output to an input, both as (box, port).
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayoutEdge {
    pub(crate) from: (usize, usize),
    pub(crate) to: (usize, usize),
}

/// A vertex of the layered graph: a box, or a dummy, where a long edge passes through a layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex {
    pub(super) layer: usize,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A piece of an edge between neighbouring layers. Each end is a vertex and a distance below its middle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) left: (usize, f64),
    pub(super) right: (usize, f64),
    /// Weight of keeping it straight.
    pub(super) weight: f64,
}

/// The path of an edge through the layered graph.
#[derive(Clone, Debug, Default)]
pub(super) struct EdgePath {
    /// The dummies from its source to its target.
    pub(super) dummies: Vec<usize>,
    pub(super) is_feedback: bool,
}

/// The graph with dummies, so that every link joins neighbouring layers.
#[derive(Debug, Default)]
pub(super) struct LayeredGraph {
    /// The boxes, in their order, then the dummies.
    pub(super) vertices: Vec<Vertex>,
    pub(super) links: Vec<Link>,
    /// By layer, dummies at an end of a feedback edge, each with the box below which it has to be.
    pub(super) tied: Vec<Vec<(usize, usize)>>,
    /// A path for each edge.
    pub(super) paths: Vec<EdgePath>,
    /// The boxes at both ends of each path.
    pub(super) ends: Vec<(usize, usize)>,
    /// Number of boxes; vertices from here on are dummies.
    pub(super) boxes: usize,
    /// True if layers are aligned at the top and not in the middle: many packed chains meet in one box.
    pub(super) is_top_aligned: bool,
}

/// Positions of boxes and edges, in pixels.
#[derive(Debug, Default)]
pub(crate) struct BoxLayout {
    /// The upper left corner of each box.
    pub(crate) corners: Vec<(f64, f64)>,
    /// The route of each edge, in the order of the edges.
    pub(crate) routes: Vec<Route>,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// The route of an edge.
#[derive(Debug, Default)]
pub(crate) struct Route {
    /// Horizontal runs, each from (x0, y) to (x1, y), as (x0, x1, y). Between two of them the edge bends.
    pub(crate) runs: Vec<(f64, f64, f64)>,
    pub(crate) is_feedback: bool,
}
