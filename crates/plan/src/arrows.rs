//! A directed graph of small numbers: who comes after whom, in which order, and what goes in circles.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// For each of `0..count` the numbers that it points to, sorted, each once.
#[derive(Clone, Debug)]
pub(crate) struct Arrows {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Arrows {
    /// From pairs in any order, (from, to).
    pub(crate) fn new(count: usize, mut pairs: Vec<(u32, u32)>) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0; count + 1];
        for (from, _) in &pairs {
            starts[*from as usize + 1] += 1;
        }
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        let ends = pairs.into_iter().map(|(_, to)| to).collect();
        Self { starts, ends }
    }

    /// How many numbers there are.
    pub(crate) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Where `at` points to.
    pub(crate) fn after(&self, at: u32) -> &[u32] {
        &self.ends[self.starts[at as usize] as usize..self.starts[at as usize + 1] as usize]
    }

    /// How many point to each.
    pub(crate) fn incoming(&self) -> Vec<u32> {
        let mut incoming = vec![0; self.count()];
        for to in &self.ends {
            incoming[*to as usize] += 1;
        }
        incoming
    }

    /// Every number after all that point to it, the smallest first where there is a choice (Kahn); what lies on or
    /// behind a cycle is missing.
    pub(crate) fn topological(&self) -> Vec<u32> {
        let mut waits = self.incoming();
        let mut ready: BinaryHeap<Reverse<u32>> = (0..self.count() as u32)
            .filter(|i| waits[*i as usize] == 0)
            .map(Reverse)
            .collect();
        let mut order = Vec::with_capacity(self.count());
        while let Some(Reverse(at)) = ready.pop() {
            order.push(at);
            for to in self.after(at) {
                waits[*to as usize] -= 1;
                if waits[*to as usize] == 0 {
                    ready.push(Reverse(*to));
                }
            }
        }
        order
    }

    /// For each number the smallest number of its strongly connected component (Tarjan, without recursion).
    pub(crate) fn components(&self) -> Vec<u32> {
        let mut search = Search::new(self.count());
        for root in 0..self.count() as u32 {
            if search.seen[root as usize] == 0 {
                search.from(self, root);
            }
        }
        search.component
    }

    /// The shortest way from `start` back to itself over arrows that `may` be used, without its second mention.
    pub(crate) fn cycle(&self, start: u32, may: impl Fn(u32) -> bool) -> Option<Vec<u32>> {
        let mut from = HashMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            for &to in self.after(at).iter().filter(|to| may(**to)) {
                if to == start {
                    let mut way = vec![at];
                    while let Some(&last) = way.last().filter(|last| **last != start) {
                        way.push(from[&last]);
                    }
                    way.reverse();
                    return Some(way);
                }
                from.entry(to).or_insert_with(|| {
                    queue.push_back(to);
                    at
                });
            }
        }
        None
    }
}

/// What Tarjan's search remembers.
struct Search {
    /// When each was first seen, from 1; 0 is never.
    seen: Vec<u32>,
    /// The earliest still open that each reaches.
    low: Vec<u32>,
    open: Vec<u32>,
    is_open: Vec<bool>,
    component: Vec<u32>,
    clock: u32,
}

impl Search {
    fn new(count: usize) -> Self {
        Self {
            seen: vec![0; count],
            low: vec![0; count],
            open: Vec::new(),
            is_open: vec![false; count],
            component: vec![0; count],
            clock: 0,
        }
    }

    fn enter(&mut self, at: u32) {
        self.clock += 1;
        self.seen[at as usize] = self.clock;
        self.low[at as usize] = self.clock;
        self.open.push(at);
        self.is_open[at as usize] = true;
    }

    fn from(&mut self, arrows: &Arrows, root: u32) {
        // Each entry: where we are, and which of its arrows is next.
        let mut way = vec![(root, 0)];
        self.enter(root);
        while let Some((at, next)) = way.last_mut() {
            let at = *at;
            if let Some(&to) = arrows.after(at).get(*next) {
                *next += 1;
                if self.seen[to as usize] == 0 {
                    self.enter(to);
                    way.push((to, 0));
                } else if self.is_open[to as usize] {
                    self.low[at as usize] = self.low[at as usize].min(self.seen[to as usize]);
                }
                continue;
            }
            way.pop();
            if let Some((parent, _)) = way.last() {
                let low = self.low[at as usize];
                self.low[*parent as usize] = self.low[*parent as usize].min(low);
            }
            self.close(at);
        }
    }

    /// If `at` is where its component was entered, closes the component.
    fn close(&mut self, at: u32) {
        if self.low[at as usize] != self.seen[at as usize] {
            return;
        }
        let from = self
            .open
            .iter()
            .rposition(|o| *o == at)
            .expect("it is open until its component closes");
        let members = self.open.split_off(from);
        let name = members.iter().copied().min().unwrap_or(at);
        for member in members {
            self.is_open[member as usize] = false;
            self.component[member as usize] = name;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_named_by_their_smallest_member() {
        let arrows = Arrows::new(6, vec![(0, 1), (1, 2), (2, 1), (2, 3), (4, 4), (5, 3)]);
        assert_eq!(arrows.components(), [0, 1, 1, 3, 4, 5]);
        assert_eq!(arrows.cycle(1, |_| true), Some(vec![1, 2]));
        assert_eq!(arrows.cycle(4, |_| true), Some(vec![4]));
        assert_eq!(arrows.cycle(0, |_| true), None);
    }

    #[test]
    fn the_smallest_goes_first_and_what_lies_behind_a_cycle_is_missing() {
        let arrows = Arrows::new(5, vec![(2, 0), (0, 1), (3, 4), (4, 3)]);
        assert_eq!(arrows.topological(), [2, 0, 1]);
    }
}
