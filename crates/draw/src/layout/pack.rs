//! Layers for graphs that would be much higher than wide: what has no room in one layer goes to a later one.
//!
//! A chain is placed whole before the next begins, so that its boxes stay side by side: the second half of a rake stands
//! to the right of the first, not below.

use super::{Shape, Wire};

/// Around a box: its wires at the sides, a gap above or below.
const AROUND: (f64, f64) = (75.0, 18.0);
/// Lower pictures stay as they are.
const LOW: f64 = 1400.0;
/// How many times wider than high a packed picture shall be.
const WIDE: f64 = 1.5;

/// Other layers than `of_box`, if those are too high.
pub(super) fn pack(
    shapes: &[Shape],
    wires: &[Wire],
    is_back: &[bool],
    of_box: &[usize],
) -> Option<Vec<usize>> {
    let room = room(shapes, of_box)?;
    let mut befores = vec![Vec::new(); shapes.len()];
    let mut afters = vec![Vec::new(); shapes.len()];
    for (wire, _) in wires.iter().zip(is_back).filter(|(_, back)| !**back) {
        befores[wire.to.0].push(wire.from.0);
        afters[wire.from.0].push(wire.to.0);
    }
    let order = chains(&befores, &afters);
    let mut layers = Layers {
        room,
        used: Vec::new(),
    };
    let mut packed = vec![0; shapes.len()];
    for item in &order {
        let earliest = befores[*item]
            .iter()
            .map(|before| packed[*before] + 1)
            .max();
        packed[*item] = layers.put(shapes[*item].height, earliest.unwrap_or(0));
    }
    // What nothing feeds stands right before the first that it feeds, if there is room.
    for item in order.iter().rev().filter(|item| befores[**item].is_empty()) {
        let first = afters[*item].iter().map(|after| packed[*after]).min();
        let height = shapes[*item].height;
        if let Some(near) = first.and_then(|first| layers.last_free(height, packed[*item], first)) {
            layers.used[packed[*item]] -= height + AROUND.1;
            layers.used[near] += height + AROUND.1;
            packed[*item] = near;
        }
    }
    close_gaps(&mut packed);
    Some(packed)
}

/// How high layers may be; none if they are not too high as they are.
fn room(shapes: &[Shape], of_box: &[usize]) -> Option<f64> {
    let count = of_box.iter().max()? + 1;
    let (mut wide, mut high) = (vec![0.0f64; count], vec![0.0; count]);
    let (mut area, mut highest_box) = (0.0, 0.0f64);
    for (shape, rank) in shapes.iter().zip(of_box) {
        let size = (shape.width + AROUND.0, shape.height + AROUND.1);
        wide[*rank] = wide[*rank].max(size.0);
        high[*rank] += size.1;
        area += size.0 * size.1;
        highest_box = highest_box.max(size.1);
    }
    let tallest = high.into_iter().fold(0.0, f64::max);
    if tallest < LOW || tallest < wide.iter().sum::<f64>() * 1.25 {
        return None;
    }
    // Wires that pass and layers that are not full take room too.
    Some((area * 1.3 / WIDE).sqrt().max(highest_box).max(LOW / 2.0))
}

struct Layers {
    room: f64,
    used: Vec<f64>,
}

impl Layers {
    fn has_room(&self, rank: usize, height: f64) -> bool {
        let used = self.used.get(rank).copied().unwrap_or(0.0);
        used == 0.0 || used + height + AROUND.1 <= self.room
    }

    /// In the first layer from `rank` on that has room.
    fn put(&mut self, height: f64, mut rank: usize) -> usize {
        while !self.has_room(rank, height) {
            rank += 1;
        }
        if self.used.len() <= rank {
            self.used.resize(rank + 1, 0.0);
        }
        self.used[rank] += height + AROUND.1;
        rank
    }

    /// The last layer with room between two.
    fn last_free(&self, height: f64, after: usize, before: usize) -> Option<usize> {
        (after + 1..before)
            .rev()
            .find(|rank| self.has_room(*rank, height))
    }
}

/// Every box after those that feed it, and a chain whole before the next.
fn chains(befores: &[Vec<usize>], afters: &[Vec<usize>]) -> Vec<usize> {
    let ends = (0..befores.len()).filter(|item| afters[*item].is_empty());
    let mut is_seen = vec![false; befores.len()];
    let mut order = Vec::with_capacity(befores.len());
    for end in ends {
        let mut way = vec![(end, 0)];
        is_seen[end] = true;
        while let Some((at, next)) = way.last_mut() {
            match befores[*at].get(*next) {
                Some(before) => {
                    *next += 1;
                    if !std::mem::replace(&mut is_seen[*before], true) {
                        way.push((*before, 0));
                    }
                }
                None => {
                    order.push(*at);
                    way.pop();
                }
            }
        }
    }
    order
}

/// Numbers layers without leaving one out.
fn close_gaps(packed: &mut [usize]) {
    let mut ranks = packed.to_vec();
    ranks.sort_unstable();
    ranks.dedup();
    for rank in packed {
        *rank = ranks.partition_point(|other| other < rank);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> Shape {
        Shape {
            width: 80.0,
            height: 42.0,
            ins: vec![0.0],
            outs: vec![0.0],
        }
    }

    #[test]
    fn a_hundred_chains_stand_in_blocks_and_each_goes_on_to_the_right() {
        let wire = |from, to| Wire {
            from: (from, 0),
            to: (to, 0),
        };
        let wires: Vec<Wire> = (0..100)
            .flat_map(|i| {
                [
                    wire(3 * i, 3 * i + 1),
                    wire(3 * i + 1, 3 * i + 2),
                    wire(3 * i + 2, 300),
                ]
            })
            .collect();
        let of_box: Vec<usize> = (0..300).map(|i| i % 3).chain([3]).collect();
        let shapes = vec![shape(); 301];
        let back = vec![false; wires.len()];
        let packed = pack(&shapes, &wires, &back, &of_box).unwrap();
        assert!(
            wires
                .iter()
                .all(|wire| packed[wire.from.0] < packed[wire.to.0])
        );
        let next_to = (0..100)
            .filter(|i| packed[3 * i] + 2 == packed[3 * i + 2])
            .count();
        assert!(next_to > 90);
        let last = packed[300];
        let most = (0..last)
            .map(|rank| packed.iter().filter(|r| **r == rank).count())
            .max();
        assert!(last > 6 && most < Some(40));
    }

    #[test]
    fn what_is_low_stays_as_it_is() {
        assert_eq!(pack(&vec![shape(); 10], &[], &[], &[0; 10]), None);
        assert_eq!(pack(&[], &[], &[], &[]), None);
    }
}
