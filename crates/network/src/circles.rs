//! Which nodes stand in a circle: each hears, by way of others, what it gave.

use crate::shape::Topology;

/// For each node a number that it shares with all nodes of its circles and with no other one (strongly connected
/// components, by Tarjan's way without recursion).
pub(crate) fn circles(shape: &Topology) -> Vec<usize> {
    let nodes = shape.nodes.len();
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for queue in &shape.queues {
        after[queue.from.0.0].push(queue.to.0.0);
    }
    let mut search = Search {
        found: 0,
        order: vec![usize::MAX; nodes],
        low: vec![0; nodes],
        circle: vec![usize::MAX; nodes],
        open: Vec::new(),
    };
    for node in 0..nodes {
        if search.order[node] == usize::MAX {
            search.from(node, &after);
        }
    }
    search.circle
}

struct Search {
    /// How many nodes were found so far.
    found: usize,
    /// When each was found, and the earliest open one that it leads to.
    order: Vec<usize>,
    low: Vec<usize>,
    /// What is sought, by the node of each circle that was found first.
    circle: Vec<usize>,
    /// Found, in a circle that is not known whole.
    open: Vec<usize>,
}

impl Search {
    fn from(&mut self, first: usize, after: &[Vec<usize>]) {
        self.open(first);
        let mut way = vec![(first, 0)];
        while let Some((node, next)) = way.last_mut() {
            let node = *node;
            match after[node].get(*next) {
                Some(&to) => {
                    *next += 1;
                    if self.order[to] == usize::MAX {
                        self.open(to);
                        way.push((to, 0));
                    } else if self.circle[to] == usize::MAX {
                        self.low[node] = self.low[node].min(self.order[to]);
                    }
                }
                None => {
                    way.pop();
                    self.close(node);
                    if let Some((before, _)) = way.last() {
                        self.low[*before] = self.low[*before].min(self.low[node]);
                    }
                }
            }
        }
    }

    fn open(&mut self, node: usize) {
        (self.order[node], self.low[node]) = (self.found, self.found);
        self.found += 1;
        self.open.push(node);
    }

    /// All that `node` leads to is known.
    fn close(&mut self, node: usize) {
        if self.low[node] < self.order[node] {
            return;
        }
        while let Some(last) = self.open.pop() {
            self.circle[last] = node;
            if last == node {
                return;
            }
        }
    }
}
