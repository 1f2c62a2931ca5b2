//! A depth-first topological order, which pipelines and fusion cut into runs.

use std::cmp::Reverse;
use units::Nanos;

/// Order of vertices that follows a path to its end before it begins another. `sources` have no predecessors, and
/// `missing` is the number of predecessors of each vertex. Of the vertices that one vertex releases, the one with the
/// highest `level` goes first, then the smallest.
///
/// ```text
///   A -> B -> D         A B D C E     and not level by level: A B C D E
///   A -> C -> E
/// ```
pub(crate) fn depth_first<I: Iterator<Item = u32>>(
    sources: Vec<u32>,
    mut missing: Vec<u32>,
    successors: impl Fn(u32) -> I,
    level: impl Fn(u32) -> Nanos,
) -> Vec<u32> {
    let mut stack = Vec::new();
    let mut order = Vec::with_capacity(missing.len());
    for source in sources {
        stack.push(source);
        while let Some(vertex) = stack.pop() {
            order.push(vertex);
            let released = stack.len();
            for next in successors(vertex) {
                missing[next as usize] -= 1;
                if missing[next as usize] == 0 {
                    stack.push(next);
                }
            }
            stack[released..].sort_by_key(|next| (level(*next), Reverse(*next)));
        }
    }
    order
}
