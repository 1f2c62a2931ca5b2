//! An order that brings nodes together which are computed side by side.
//!
//! ```text
//!   osc1 -> filter1 -> gain1         osc1 osc2 filter1 filter2 gain1 gain2
//!   osc2 -> filter2 -> gain2         and not voice by voice: osc1 filter1 gain1 osc2 filter2 gain2
//! ```
//!
//! A vertex of a bank that is ready waits until as many of its bank as an executor computes at once are, or until nothing else is
//! ready. All others go on in the order of their numbers.

use graph::Adjacency;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

/// Vertices that are computed at once.
const MAX_BANK: usize = 8;

/// A topological order of `graph`, which has no cycle; `bank_of` names the bank of a vertex that is in one.
pub(super) fn order_in_banks<'k>(
    graph: &Adjacency,
    bank_of: impl Fn(u32) -> Option<&'k str>,
) -> Vec<u32> {
    let mut members: HashMap<&str, usize> = HashMap::new();
    for bank in (0..graph.len() as u32).filter_map(&bank_of) {
        *members.entry(bank).or_default() += 1;
    }
    // One alone has none to wait for.
    members.retain(|_, count| *count > 1);
    if members.is_empty() {
        return graph.topological_order();
    }
    let mut search = Search::new(graph);
    let mut waiting: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    loop {
        while let Some(Reverse(vertex)) = search.ready.pop() {
            let Some(bank) = bank_of(vertex).filter(|bank| members.contains_key(bank)) else {
                search.emit(vertex);
                continue;
            };
            let waiting = waiting.entry(bank).or_default();
            waiting.push(vertex);
            if waiting.len() == MAX_BANK {
                waiting.drain(..).for_each(|vertex| search.emit(vertex));
            }
        }
        // The fullest one goes on; of equals the first by name.
        let fullest = waiting.values_mut().rev().max_by_key(|them| them.len());
        match fullest.filter(|them| !them.is_empty()) {
            Some(them) => them.drain(..).for_each(|vertex| search.emit(vertex)),
            None => return search.order,
        }
    }
}

/// An order that grows.
struct Search<'g> {
    graph: &'g Adjacency,
    missing: Vec<u32>,
    ready: BinaryHeap<Reverse<u32>>,
    order: Vec<u32>,
}

impl<'g> Search<'g> {
    fn new(graph: &'g Adjacency) -> Self {
        let missing = graph.in_degrees();
        let sources = (0..graph.len() as u32).filter(|vertex| missing[*vertex as usize] == 0);
        Self {
            ready: sources.map(Reverse).collect(),
            order: Vec::with_capacity(graph.len()),
            graph,
            missing,
        }
    }

    fn emit(&mut self, vertex: u32) {
        self.order.push(vertex);
        for to in self.graph.successors(vertex) {
            let missing = &mut self.missing[*to as usize];
            *missing -= 1;
            if *missing == 0 {
                self.ready.push(Reverse(*to));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Voices of three vertices in a row, of which the second one is in a bank.
    fn voices(count: u32) -> Vec<u32> {
        let edges = (0..count)
            .flat_map(|voice| [(3 * voice, 3 * voice + 1), (3 * voice + 1, 3 * voice + 2)]);
        let graph = Adjacency::new(3 * count as usize, edges.collect());
        order_in_banks(&graph, |vertex| (vertex % 3 == 1).then_some("filter"))
    }

    #[test]
    fn the_filters_of_voices_come_together() {
        assert_eq!(voices(1), [0, 1, 2]);
        assert_eq!(voices(2), [0, 3, 1, 4, 2, 5]);
        let many = voices(10);
        let filters = Vec::from_iter((0..many.len()).filter(|at| many[*at] % 3 == 1));
        assert_eq!(filters[7] - filters[0], 7, "{many:?}");
        assert_eq!(filters[9] - filters[8], 1, "{many:?}");
    }

    #[test]
    fn all_come_behind_what_they_wait_for() {
        // Filters behind filters, of two banks.
        let edges: Vec<(u32, u32)> = (0..40)
            .flat_map(|to| [(to / 2, to), (to / 3, to)])
            .filter(|(a, b)| a != b)
            .collect();
        let graph = Adjacency::new(40, edges.clone());
        let order = order_in_banks(&graph, |vertex| match vertex % 4 {
            0 => Some("svf"),
            1 => Some("ladder"),
            _ => None,
        });
        let mut place = vec![usize::MAX; 40];
        order
            .iter()
            .enumerate()
            .for_each(|(at, vertex)| place[*vertex as usize] = at);
        assert_eq!(order.len(), 40);
        assert!(
            edges
                .iter()
                .all(|(a, b)| place[*a as usize] < place[*b as usize])
        );
    }
}
