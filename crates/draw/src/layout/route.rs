//! Corners of boxes and routes of edges, from the coordinates of the layered graph and its rows.

use super::fold::Rows;
use super::place::Coordinates;
use super::types::{BoxLayout, BoxSize, LayeredGraph, LayoutEdge, Route};

/// Builds the finished layout.
pub(super) fn finish(
    boxes: &[BoxSize],
    edges: &[LayoutEdge],
    graph: &LayeredGraph,
    coordinates: &Coordinates,
) -> BoxLayout {
    let router = Router {
        boxes,
        graph,
        coordinates,
        rows: Rows::of(graph, coordinates),
    };
    let routes = (0..edges.len()).map(|i| router.route(i, &edges[i]));
    BoxLayout {
        routes: routes.collect(),
        corners: (0..boxes.len()).map(|i| router.corner(i)).collect(),
        width: router.rows.size.0,
        height: router.rows.size.1,
    }
}

struct Router<'a> {
    boxes: &'a [BoxSize],
    graph: &'a LayeredGraph,
    coordinates: &'a Coordinates,
    rows: Rows,
}

impl Router<'_> {
    fn layer(&self, vertex: usize) -> usize {
        self.graph.vertices[vertex].layer
    }

    fn row(&self, vertex: usize) -> usize {
        self.rows.of_layer[self.layer(vertex)].row
    }

    /// The left and right end of a vertex's column.
    fn column(&self, vertex: usize) -> (f64, f64) {
        let (x0, x1) = self.coordinates.columns[self.layer(vertex)];
        let right = self.rows.of_layer[self.layer(vertex)].right;
        (x0 + right, x1 + right)
    }

    /// The middle of a vertex.
    fn y(&self, vertex: usize) -> f64 {
        self.coordinates.y[vertex] + self.rows.of_layer[self.layer(vertex)].down
    }

    /// The upper left corner of a box, which is in the middle of its column.
    fn corner(&self, i: usize) -> (f64, f64) {
        let (x0, x1) = self.column(i);
        let size = &self.boxes[i];
        ((x0 + x1 - size.width) / 2.0, self.y(i) - size.height / 2.0)
    }

    fn route(&self, i: usize, edge: &LayoutEdge) -> Route {
        let path = &self.graph.paths[i];
        let (from, to) = (edge.from.0, edge.to.0);
        let output = self.y(from) + self.boxes[from].outputs[edge.from.1];
        let input = self.y(to) + self.boxes[to].inputs[edge.to.1];
        let start = self.corner(from).0 + self.boxes[from].width;
        let through = path.dummies.iter().map(|dummy| {
            let (x0, x1) = self.column(*dummy);
            let (x0, x1) = if path.is_feedback { (x1, x0) } else { (x0, x1) };
            (*dummy, (x0, x1, self.y(*dummy)))
        });
        let last = (to, (self.column(to).0, self.corner(to).0, input));
        let mut before = from;
        let mut runs = vec![(start, self.column(from).1, output)];
        for (vertex, run) in through.chain([last]) {
            // To the next row: around the right end, back between the rows, and in at the left.
            for row in self.row(before)..self.row(vertex) {
                runs.push(self.rows.return_run(row, runs[runs.len() - 1].2));
            }
            runs.push(run);
            before = vertex;
        }
        Route {
            runs,
            is_feedback: path.is_feedback,
        }
    }
}
