//! Which layer each box is in, and which wires lead back.

use super::Wire;

/// A layer for each box, and for each wire whether it leads back: to a box of its own or an earlier layer.
#[derive(Debug)]
pub(super) struct Ranks {
    pub(super) of_box: Vec<usize>,
    pub(super) is_back: Vec<bool>,
}

/// Layers by the longest way from a source; boxes that only give are then moved up to whom they give.
pub(super) fn ranks(boxes: usize, wires: &[Wire]) -> Ranks {
    let mut outs = vec![Vec::new(); boxes];
    let mut fed = vec![false; boxes];
    for (i, wire) in wires.iter().enumerate() {
        outs[wire.from.0].push(i);
        fed[wire.to.0] = true;
    }
    let (is_back, order) = walk(wires, &outs, &fed);
    let mut of_box = vec![0; boxes];
    let forward = |from: usize| {
        outs[from]
            .iter()
            .filter(|wire| !is_back[**wire])
            .map(|wire| wires[*wire].to.0)
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
    Ranks { of_box, is_back }
}

/// Depth first from the boxes that nothing feeds: which wires lead back into the way that led to them; and all boxes,
/// each before those it feeds otherwise.
fn walk(wires: &[Wire], outs: &[Vec<usize>], fed: &[bool]) -> (Vec<bool>, Vec<usize>) {
    const NEW: u8 = 0;
    const ON_THE_WAY: u8 = 1;
    const DONE: u8 = 2;
    let mut state = vec![NEW; outs.len()];
    let mut is_back = vec![false; wires.len()];
    let mut finished = Vec::new();
    let sources = (0..outs.len()).filter(|i| !fed[*i]);
    for root in sources.chain(0..outs.len()) {
        if state[root] != NEW {
            continue;
        }
        state[root] = ON_THE_WAY;
        let mut way = vec![(root, 0)];
        while let Some((at, next)) = way.last_mut() {
            let Some(wire) = outs[*at].get(*next).copied() else {
                state[*at] = DONE;
                finished.push(*at);
                way.pop();
                continue;
            };
            *next += 1;
            let to = wires[wire].to.0;
            if state[to] == NEW {
                state[to] = ON_THE_WAY;
                way.push((to, 0));
            } else if state[to] == ON_THE_WAY {
                is_back[wire] = true;
            }
        }
    }
    finished.reverse();
    (is_back, finished)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wires(pairs: &[(usize, usize)]) -> Vec<Wire> {
        let wire = |(from, to): &(usize, usize)| Wire {
            from: (*from, 0),
            to: (*to, 0),
        };
        pairs.iter().map(wire).collect()
    }

    #[test]
    fn every_wire_goes_to_a_later_layer_or_is_said_to_lead_back() {
        let wires = wires(&[(0, 1), (1, 2), (2, 3), (3, 1), (4, 3), (2, 2)]);
        let ranks = ranks(5, &wires);
        assert_eq!(ranks.of_box, [0, 1, 2, 3, 2]);
        assert_eq!(ranks.is_back, [false, false, false, true, false, true]);
    }

    #[test]
    fn a_ring_without_a_source_is_cut_once() {
        let ranks = ranks(3, &wires(&[(0, 1), (1, 2), (2, 0)]));
        assert_eq!(ranks.is_back.iter().filter(|back| **back).count(), 1);
    }
}
