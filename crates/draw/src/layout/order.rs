//! Sorts each layer so that few wires cross: by the mean place of neighbours, to and fro, keeping the best.

use super::Web;

/// How often all layers are sorted.
const SWEEPS: usize = 24;
/// With more links than this a few sweeps must do.
const MANY: usize = 100_000;

/// The items of each layer from top to bottom.
pub(super) fn sort(web: &Web) -> Vec<Vec<usize>> {
    let neighbours = Neighbours::of(web);
    let mut layers = first_order(web, &neighbours);
    let mut best = (crossings(web, &layers), layers.clone());
    let sweeps = if web.links.len() > MANY { 4 } else { SWEEPS };
    for sweep in 0..sweeps {
        if best.0 == 0 {
            break;
        }
        let mut place = places(web, &layers);
        let count = layers.len();
        for step in 1..count {
            let (at, side) = if sweep % 2 == 0 {
                (step, &neighbours.left)
            } else {
                (count - 1 - step, &neighbours.right)
            };
            sort_layer(&mut layers[at], side, &mut place);
            put_tied_below(web, &mut layers[at], &mut place);
        }
        let crossed = crossings(web, &layers);
        if crossed < best.0 {
            best = (crossed, layers.clone());
        }
    }
    best.1
}

/// For each item, those it is linked with in the layers beside, each with how far down its side the link ends.
struct Neighbours {
    left: Vec<Vec<(usize, f64)>>,
    right: Vec<Vec<(usize, f64)>>,
}

impl Neighbours {
    fn of(web: &Web) -> Self {
        let mut left = vec![Vec::new(); web.items.len()];
        let mut right = vec![Vec::new(); web.items.len()];
        for link in &web.links {
            let share = |(item, below): (usize, f64)| below / web.items[item].height.max(1.0) * 0.9;
            left[link.right.0].push((link.left.0, share(link.left)));
            right[link.left.0].push((link.right.0, share(link.right)));
        }
        Self { left, right }
    }
}

/// Along the links, depth first from the top of the first layer: what hangs together stays together.
fn first_order(web: &Web, neighbours: &Neighbours) -> Vec<Vec<usize>> {
    let count = web
        .items
        .iter()
        .map(|item| item.rank + 1)
        .max()
        .unwrap_or(0);
    let mut layers = vec![Vec::new(); count];
    let mut is_seen = vec![false; web.items.len()];
    let mut roots: Vec<usize> = (0..web.items.len()).collect();
    roots.sort_by_key(|item| web.items[*item].rank);
    for root in roots {
        let mut todo = vec![root];
        while let Some(item) = todo.pop() {
            if std::mem::replace(&mut is_seen[item], true) {
                continue;
            }
            layers[web.items[item].rank].push(item);
            todo.extend(neighbours.right[item].iter().rev().map(|(other, _)| *other));
        }
    }
    let mut place = places(web, &layers);
    for layer in &mut layers {
        put_tied_below(web, layer, &mut place);
    }
    layers
}

fn places(web: &Web, layers: &[Vec<usize>]) -> Vec<f64> {
    let mut place = vec![0.0; web.items.len()];
    for layer in layers {
        number(layer, &mut place);
    }
    place
}

fn number(layer: &[usize], place: &mut [f64]) {
    for (i, item) in layer.iter().enumerate() {
        place[*item] = i as f64;
    }
}

fn sort_layer(layer: &mut [usize], side: &[Vec<(usize, f64)>], place: &mut [f64]) {
    let mut keyed: Vec<(f64, usize)> = layer
        .iter()
        .map(|item| {
            let others = &side[*item];
            let sum: f64 = others
                .iter()
                .map(|(other, share)| place[*other] + share)
                .sum();
            let own = place[*item];
            (
                if others.is_empty() {
                    own
                } else {
                    sum / others.len() as f64
                },
                *item,
            )
        })
        .collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (slot, (_, item)) in layer.iter_mut().zip(keyed) {
        *slot = item;
    }
    number(layer, place);
}

/// Ends of wires that lead back go right below their box.
fn put_tied_below(web: &Web, layer: &mut [usize], place: &mut [f64]) {
    let Some(first) = layer.first() else {
        return;
    };
    for (end, host) in &web.tied[web.items[*first].rank] {
        place[*end] = place[*host] + 0.5;
    }
    layer.sort_by(|a, b| place[*a].total_cmp(&place[*b]));
    number(layer, place);
}

/// How many pairs of links cross.
fn crossings(web: &Web, layers: &[Vec<usize>]) -> u64 {
    let place = places(web, layers);
    let mut of_layer = vec![Vec::new(); layers.len()];
    for link in &web.links {
        let key = |(item, below): (usize, f64)| (place[item] as u64, (below * 16.0) as i64);
        of_layer[web.items[link.left.0].rank].push((key(link.left), key(link.right)));
    }
    of_layer.into_iter().map(inversions).sum()
}

/// How many pairs are ordered one way at the left and the other way at the right.
fn inversions<K: Ord + Copy>(mut pairs: Vec<(K, K)>) -> u64 {
    pairs.sort();
    let mut rights: Vec<K> = pairs.iter().map(|pair| pair.1).collect();
    rights.sort();
    rights.dedup();
    // A tree of counts by right end: `tree[i]` holds those of a power of two of ends up to i.
    let mut tree = vec![0u64; rights.len() + 1];
    let mut crossed = 0;
    for (seen, (_, right)) in pairs.iter().enumerate() {
        let rank = rights.partition_point(|other| other <= right);
        let mut not_above = 0;
        let mut i = rank;
        while i > 0 {
            not_above += tree[i];
            i &= i - 1;
        }
        crossed += seen as u64 - not_above;
        i = rank;
        while i < tree.len() {
            tree[i] += 1;
            i += i & i.wrapping_neg();
        }
    }
    crossed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossings_are_counted_as_the_obvious_count_does() {
        let pairs: Vec<(u32, u32)> = (0..200u32).map(|i| (i * 37 % 23, i * 53 % 29)).collect();
        let mut slow = 0;
        for (i, a) in pairs.iter().enumerate() {
            for b in &pairs[..i] {
                slow += u64::from((a.0 < b.0 && a.1 > b.1) || (a.0 > b.0 && a.1 < b.1));
            }
        }
        assert_eq!(inversions(pairs), slow);
    }
}
