//! Assigns layers, and finds the feedback edges that every cycle has.

use super::types::LayoutEdge;

/// A layer for each box, and for each edge true if it is a feedback edge: it goes to its own or an earlier layer.
#[derive(Debug)]
pub(super) struct Layers {
    pub(super) of_box: Vec<usize>,
    pub(super) is_feedback: Vec<bool>,
}

/// Assigns each box the length of the longest path to it from a source. A box with more edges out than in then moves
/// right, to the layer before the first box that it feeds, which makes its edges shorter.
pub(super) fn assign(boxes: usize, edges: &[LayoutEdge]) -> Layers {
    let mut outs = vec![Vec::new(); boxes];
    let mut has_inputs = vec![false; boxes];
    for (i, edge) in edges.iter().enumerate() {
        outs[edge.from.0].push(i);
        has_inputs[edge.to.0] = true;
    }
    let (is_feedback, order) = depth_first(edges, &outs, &has_inputs);
    let mut of_box = vec![0; boxes];
    let forward = |from: usize| {
        outs[from]
            .iter()
            .filter(|edge| !is_feedback[**edge])
            .map(|edge| edges[*edge].to.0)
    };
    for from in &order {
        for to in forward(*from) {
            of_box[to] = of_box[to].max(of_box[*from] + 1);
        }
    }
    let mut entering = vec![0; boxes];
    (0..boxes)
        .flat_map(forward)
        .for_each(|to| entering[to] += 1);
    for from in order.iter().rev() {
        let (leaving, next) = forward(*from).fold((0, usize::MAX), |(n, next), to| {
            (n + 1, next.min(of_box[to]))
        });
        if leaving > entering[*from] && next > 0 {
            of_box[*from] = next - 1;
        }
    }
    Layers {
        of_box,
        is_feedback,
    }
}

/// Searches depth-first from the boxes without inputs. An edge to a box on the current path closes a cycle: it is a
/// feedback edge. Returns those, and the boxes in topological order of the other edges.
fn depth_first(
    edges: &[LayoutEdge],
    outs: &[Vec<usize>],
    has_inputs: &[bool],
) -> (Vec<bool>, Vec<usize>) {
    const NEW: u8 = 0;
    const ON_PATH: u8 = 1;
    const DONE: u8 = 2;
    let mut state = vec![NEW; outs.len()];
    let mut is_feedback = vec![false; edges.len()];
    let mut finished = Vec::new();
    let sources = (0..outs.len()).filter(|i| !has_inputs[*i]);
    for root in sources.chain(0..outs.len()) {
        if state[root] != NEW {
            continue;
        }
        state[root] = ON_PATH;
        let mut path = vec![(root, 0)];
        while let Some((at, next)) = path.last_mut() {
            let Some(edge) = outs[*at].get(*next).copied() else {
                state[*at] = DONE;
                finished.push(*at);
                path.pop();
                continue;
            };
            *next += 1;
            let to = edges[edge].to.0;
            if state[to] == NEW {
                state[to] = ON_PATH;
                path.push((to, 0));
            } else if state[to] == ON_PATH {
                is_feedback[edge] = true;
            }
        }
    }
    finished.reverse();
    (is_feedback, finished)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(pairs: &[(usize, usize)]) -> Vec<LayoutEdge> {
        let edge = |(from, to): &(usize, usize)| LayoutEdge {
            from: (*from, 0),
            to: (*to, 0),
        };
        pairs.iter().map(edge).collect()
    }

    #[test]
    fn every_edge_goes_to_a_later_layer_or_is_feedback() {
        let edges = edges(&[(0, 1), (1, 2), (2, 3), (3, 1), (4, 3), (2, 2)]);
        let layers = assign(5, &edges);
        assert_eq!(layers.of_box, [0, 1, 2, 3, 2]);
        assert_eq!(layers.is_feedback, [false, false, false, true, false, true]);
    }

    #[test]
    fn a_ring_without_a_source_is_cut_once() {
        let layers = assign(3, &edges(&[(0, 1), (1, 2), (2, 0)]));
        assert_eq!(layers.is_feedback.iter().filter(|is| **is).count(), 1);
    }
}
