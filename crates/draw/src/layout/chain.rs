//! Threads wires through the layers between their ends.
//!
//! Wires from one output share their passing places, so that a signal which goes to many is one line that branches.

use super::rank::Ranks;
use super::{Item, Link, Shape, Way, Web, Wire};
use std::collections::BTreeMap;

/// So many passing places at most; wires that find none left go straight.
const MOST: usize = 20_000;

/// Boxes, passing places and the links between neighbouring layers.
pub(super) fn thread(shapes: &[Shape], wires: &[Wire], ranks: &Ranks) -> Web {
    let mut web = Web {
        boxes: shapes.len(),
        tied: vec![Vec::new(); ranks.of_box.iter().map(|rank| rank + 1).max().unwrap_or(0)],
        ..Web::default()
    };
    for (shape, rank) in shapes.iter().zip(&ranks.of_box) {
        web.items.push(Item {
            rank: *rank,
            width: shape.width,
            height: shape.height,
        });
    }
    let mut chains = BTreeMap::<(usize, usize), Vec<usize>>::new();
    for (wire, is_back) in wires.iter().zip(&ranks.is_back) {
        let way = if *is_back {
            web.lead_back(wire)
        } else {
            let chain = chains.entry(wire.from).or_default();
            web.lead_on(shapes, wire, chain)
        };
        web.ways.push(way);
        web.ends.push((wire.from.0, wire.to.0));
    }
    web
}

impl Web {
    /// Along the chain of its output, which grows as far as the wire needs it.
    fn lead_on(&mut self, shapes: &[Shape], wire: &Wire, chain: &mut Vec<usize>) -> Way {
        let (from, to) = (wire.from.0, wire.to.0);
        let begin = (from, shapes[from].outs[wire.from.1]);
        let end = (to, shapes[to].ins[wire.to.1]);
        let between = self.items[to].rank - self.items[from].rank - 1;
        if self.items.len() + between > self.boxes + MOST {
            return Way::default();
        }
        while chain.len() < between {
            let before = chain.last().map_or(begin, |last| (*last, 0.0));
            let rank = self.items[before.0].rank + 1;
            let place = self.passing_place(rank);
            self.link(before, (place, 0.0));
            chain.push(place);
        }
        let before = if between == 0 {
            begin
        } else {
            (chain[between - 1], 0.0)
        };
        self.link(before, end);
        Way {
            via: chain[..between].to_vec(),
            is_back: false,
        }
    }

    /// Below its source, through the layers between, and below its target.
    fn lead_back(&mut self, wire: &Wire) -> Way {
        let (from, to) = (wire.from.0, wire.to.0);
        let (high, low) = (self.items[from].rank, self.items[to].rank);
        let mut via = Vec::new();
        if self.items.len() + (high.abs_diff(low)) < self.boxes + MOST {
            for rank in (low..=high).rev() {
                let place = self.passing_place(rank);
                if let Some(before) = via.last().copied() {
                    self.link((place, 0.0), (before, 0.0));
                }
                via.push(place);
            }
            self.tied[high].extend(via.first().map(|first| (*first, from)));
            if high > low {
                self.tied[low].extend(via.last().map(|last| (*last, to)));
            }
        }
        Way { via, is_back: true }
    }

    fn passing_place(&mut self, rank: usize) -> usize {
        self.items.push(Item {
            rank,
            width: 0.0,
            height: 0.0,
        });
        self.items.len() - 1
    }

    fn link(&mut self, left: (usize, f64), right: (usize, f64)) {
        let passing = [left.0, right.0]
            .iter()
            .filter(|item| **item >= self.boxes)
            .count();
        let weight = [1.0, 2.0, 8.0][passing];
        self.links.push(Link {
            left,
            right,
            weight,
        });
    }
}
