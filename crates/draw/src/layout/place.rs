//! Coordinates. Each item wants to be level with those it is linked with; the order of its layer and the room between
//! neighbours are kept, and within that the sum of squared wishes is least.

use super::fold::Rows;
use super::{Course, Layout, Shape, Web, Wire};

/// How often every layer is placed anew.
const SWEEPS: usize = 24;
/// How strongly wires and boxes of packed chains want to be at the top, where a layer has more than a few: else each block of chains would stand below the
/// wires of the block before, which would rather stay level with their chains, and blocks would go down like stairs.
const PULL: (f64, f64) = (16.0, 8.0);
const FEW: usize = 4;
/// How much room is left between layers for the wires to rise and fall in, at least and at most: more would be less
/// steep, and a large graph too wide to be read.
const BETWEEN: (f64, f64) = (56.0, 100.0);
/// Room for the bend of a wire that leads back, too.
const MARGIN: f64 = 28.0;

/// Places everything.
pub(super) fn place(shapes: &[Shape], wires: &[Wire], web: &Web, layers: &[Vec<usize>]) -> Layout {
    let wishes = Wishes::of(web);
    let mut y = stacked(web, layers);
    for sweep in 0..SWEEPS {
        let (left, right) = match sweep {
            s if s + 4 >= SWEEPS => (1.0, 1.0),
            s if s % 2 == 0 => (1.0, 0.05),
            _ => (0.05, 1.0),
        };
        let one =
            |layer: &Vec<usize>, y: &mut Vec<f64>| settle(web, layer, &wishes, (left, right), y);
        if sweep % 2 == 0 {
            layers.iter().for_each(|layer| one(layer, &mut y));
        } else {
            layers.iter().rev().for_each(|layer| one(layer, &mut y));
        }
    }
    let top = web
        .items
        .iter()
        .zip(&y)
        .map(|(item, y)| y - item.height / 2.0)
        .fold(f64::INFINITY, f64::min);
    let top = if top.is_finite() { top } else { 0.0 };
    y.iter_mut().for_each(|y| *y += MARGIN - top);
    let columns = columns(web, layers, &y);
    finish(shapes, wires, web, &y, &columns)
}

/// For each item, whom it wants to be level with: the other, how far below the other's middle its own shall be, weight,
/// and whether the other is in the layer to the left.
struct Wishes(Vec<Vec<(usize, f64, f64, bool)>>);

impl Wishes {
    fn of(web: &Web) -> Self {
        let mut all = vec![Vec::new(); web.items.len()];
        for link in &web.links {
            let below = link.left.1 - link.right.1;
            all[link.right.0].push((link.left.0, below, link.weight, true));
            all[link.left.0].push((link.right.0, -below, link.weight, false));
        }
        for (end, host) in web.tied.iter().flatten() {
            let below = web.items[*host].height / 2.0 + 14.0;
            all[*end].push((*host, below, 6.0, true));
            all[*end].push((*host, below, 6.0, false));
        }
        Self(all)
    }
}

/// Every layer's items one below the other, the layers level with each other in the middle, or at the top.
fn stacked(web: &Web, layers: &[Vec<usize>]) -> Vec<f64> {
    let mut y = vec![0.0; web.items.len()];
    for layer in layers {
        let steps = distances(web, layer);
        let middle = steps.iter().sum::<f64>() / 2.0;
        let mut at = if web.hangs { 0.0 } else { -middle };
        for (item, step) in layer.iter().zip(steps) {
            at += step;
            y[*item] = at;
        }
    }
    y
}

/// How far each item's middle must be below that of the one above it; 0 for the first.
fn distances(web: &Web, layer: &[usize]) -> Vec<f64> {
    let gap = |a: usize, b: usize| match (a < web.boxes, b < web.boxes) {
        (true, true) => 18.0,
        (false, false) => 8.0,
        _ => 13.0,
    };
    let pairs = layer.windows(2).map(|pair| {
        let heights = web.items[pair[0]].height + web.items[pair[1]].height;
        heights / 2.0 + gap(pair[0], pair[1])
    });
    let first = (!layer.is_empty()).then_some(0.0);
    first.into_iter().chain(pairs).collect()
}

/// Places one layer: what its items wish for, as far as their order lets them. Those that ask for the same room are
/// pooled and placed at their mean.
fn settle(web: &Web, layer: &[usize], wishes: &Wishes, (left, right): (f64, f64), y: &mut [f64]) {
    let steps = distances(web, layer);
    let mut before = 0.0;
    // Pools from top to bottom: (mean wish, weight, how many), in coordinates that leave the distances out.
    let mut pools: Vec<(f64, f64, usize)> = Vec::with_capacity(layer.len());
    for (item, step) in layer.iter().zip(&steps) {
        before += step;
        let (mut sum, mut weight) = (y[*item] * 0.01, 0.01);
        for (other, below, w, is_left) in &wishes.0[*item] {
            let w = w * if *is_left { left } else { right };
            sum += w * (y[*other] + below);
            weight += w;
        }
        if web.hangs && layer.len() > FEW {
            // As high as those above it let it: the top is where the first item is, at 0.
            let pull = if *item < web.boxes { PULL.1 } else { PULL.0 };
            sum += pull * before;
            weight += pull;
        }
        let mut pool = (sum / weight - before, weight, 1);
        while let Some(above) = pools.last().copied().filter(|above| above.0 > pool.0) {
            pools.pop();
            let weight = above.1 + pool.1;
            pool = (
                (above.0 * above.1 + pool.0 * pool.1) / weight,
                weight,
                above.2 + pool.2,
            );
        }
        pools.push(pool);
    }
    let placed = pools
        .iter()
        .flat_map(|pool| std::iter::repeat_n(pool.0, pool.2));
    let mut before = 0.0;
    for ((item, step), at) in layer.iter().zip(&steps).zip(placed) {
        before += step;
        y[*item] = at + before;
    }
}

/// The left and right end of each layer: as wide as its widest box, as far apart as the wires between are steep.
fn columns(web: &Web, layers: &[Vec<usize>], y: &[f64]) -> Vec<(f64, f64)> {
    let mut steepest = vec![0.0f64; layers.len()];
    for link in &web.links {
        let rank = web.items[link.left.0].rank;
        let rise = (y[link.left.0] + link.left.1 - y[link.right.0] - link.right.1).abs();
        steepest[rank] = steepest[rank].max(rise);
    }
    let mut at = MARGIN;
    let mut columns = Vec::with_capacity(layers.len());
    for (layer, rise) in layers.iter().zip(steepest) {
        let width = layer
            .iter()
            .map(|item| web.items[*item].width)
            .fold(0.0, f64::max);
        columns.push((at, at + width));
        at += width + (rise * 0.22).clamp(BETWEEN.0, BETWEEN.1);
    }
    columns
}

fn finish(
    shapes: &[Shape],
    wires: &[Wire],
    web: &Web,
    y: &[f64],
    columns: &[(f64, f64)],
) -> Layout {
    let rows = Rows::of(web, y, columns, MARGIN);
    let row = |item: usize| rows.of_layer[web.items[item].rank].0;
    let column = |item: usize| {
        let rank = web.items[item].rank;
        let (x0, x1) = columns[rank];
        (x0 + rows.of_layer[rank].1, x1 + rows.of_layer[rank].1)
    };
    let level = |item: usize| y[item] + rows.of_layer[web.items[item].rank].2;
    let corner = |item: usize| {
        let (x0, x1) = column(item);
        let shape = &shapes[item];
        (
            (x0 + x1 - shape.width) / 2.0,
            level(item) - shape.height / 2.0,
        )
    };
    let courses = wires.iter().zip(&web.ways).map(|(wire, way)| {
        let (from, to) = (wire.from.0, wire.to.0);
        let out = level(from) + shapes[from].outs[wire.from.1];
        let inlet = level(to) + shapes[to].ins[wire.to.1];
        let (begin, end) = (corner(from).0 + shapes[from].width, corner(to).0);
        let passing = way.via.iter().map(|place| {
            let (x0, x1) = column(*place);
            let ends = if way.is_back { (x1, x0) } else { (x0, x1) };
            (*place, (ends.0, ends.1, level(*place)))
        });
        let last = (to, (column(to).0, end, inlet));
        let mut before = from;
        let mut stretches = vec![(begin, column(from).1, out)];
        for (item, stretch) in passing.chain([last]) {
            // From row to row: right around, back between them, and in at the left.
            for row in row(before)..row(item) {
                stretches.push(rows.turn(row, stretches[stretches.len() - 1].2));
            }
            stretches.push(stretch);
            before = item;
        }
        Course {
            stretches,
            is_back: way.is_back,
        }
    });
    Layout {
        courses: courses.collect(),
        corners: (0..shapes.len()).map(corner).collect(),
        width: rows.size.0,
        height: rows.size.1,
    }
}
