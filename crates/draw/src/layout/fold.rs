//! Long pictures in rows, one below the other, as lines of words are: cut where few wires cross.

use super::Web;

/// Shorter pictures stay in one row.
const SHORT: f64 = 3200.0;
/// How many times wider than high a picture may be.
const FLAT: f64 = 4.0;
/// How many times wider than high a folded picture shall be.
const WIDE: f64 = 1.6;
/// No cut goes through more wires than this.
const MOST_CUT: usize = 14;
/// Between neighbouring wires that go from row to row.
const STEP: f64 = 9.0;
/// Between two rows, beside those wires.
const GAP: f64 = 44.0;

/// Which layers are in which row, and where rows are.
#[derive(Debug)]
pub(super) struct Rows {
    /// For each layer its row, and how far it is moved.
    pub(super) of_layer: Vec<(usize, f64, f64)>,
    /// For each cut, above which is the row it ends: the levels between the rows, from the upper row's lowest wire's to
    /// its highest wire's, of which there are as many as wires cross.
    turns: Vec<Turn>,
    /// Width and bottom of all.
    pub(super) size: (f64, f64),
}

/// The way from the end of a row to the begin of the next.
#[derive(Debug)]
struct Turn {
    /// Below the upper row.
    top: f64,
    /// Where the wires that cross are, in the upper row, from the lowest up.
    wires: Vec<f64>,
    right: f64,
    left: f64,
}

impl Rows {
    /// As it is, or in rows.
    pub(super) fn of(web: &Web, y: &[f64], columns: &[(f64, f64)], margin: f64) -> Self {
        let spans = spans(web, y, columns.len());
        let width = columns.last().map_or(0.0, |column| column.1) + margin;
        let (top, bottom) = join(&spans);
        let height = bottom - top;
        let crossing = crossing(web, y, columns.len());
        let is_long = width > SHORT && width > FLAT * (height + 2.0 * margin);
        let cuts = if is_long {
            cuts(&crossing, columns, height)
        } else {
            Vec::new()
        };
        Self::cut(&spans, &crossing, columns, &cuts, margin)
    }

    fn cut(
        spans: &[(f64, f64)],
        crossing: &[Option<Vec<f64>>],
        columns: &[(f64, f64)],
        cuts: &[usize],
        margin: f64,
    ) -> Self {
        let mut rows = Self {
            of_layer: Vec::with_capacity(columns.len()),
            turns: Vec::new(),
            size: (0.0, 0.0),
        };
        let mut at = margin;
        let most = cuts
            .iter()
            .filter_map(|cut| crossing[*cut].as_ref())
            .map(Vec::len)
            .max();
        // The wires that turn stand one outside the other.
        let aside = most.map_or(0.0, |most| most as f64 * STEP + 16.0);
        let ends = cuts.iter().map(|cut| cut + 1).chain([columns.len()]);
        let mut begin = 0;
        for (row, end) in ends.enumerate() {
            if begin == end {
                break;
            }
            let (top, bottom) = join(&spans[begin..end]);
            let (left, right) = (columns[begin].0, columns[end - 1].1);
            let moved = (row, margin + aside - left, at - top);
            rows.of_layer
                .extend(std::iter::repeat_n(moved, end - begin));
            rows.size.0 = rows.size.0.max(right + moved.1 + aside + margin);
            at += bottom - top;
            rows.size.1 = at + margin;
            let wires = crossing.get(end - 1).cloned().flatten().unwrap_or_default();
            let moved_wires: Vec<f64> = wires.iter().map(|y| y + moved.2).collect();
            rows.turns.push(Turn {
                top: at + GAP / 2.0,
                right: right + moved.1 + 22.0,
                left: margin + aside - 22.0,
                wires: moved_wires,
            });
            at += GAP + wires.len() as f64 * STEP;
            begin = end;
        }
        rows
    }

    /// The level stretch from right to left that a wire takes which ends row `row` at `y`: its ends and its level.
    pub(super) fn turn(&self, row: usize, y: f64) -> (f64, f64, f64) {
        let turn = &self.turns[row];
        let far = |wire: &f64| (wire - y).abs();
        let nearest = (0..turn.wires.len())
            .min_by(|a, b| far(&turn.wires[*a]).total_cmp(&far(&turn.wires[*b])));
        let out = nearest.unwrap_or(0) as f64 * STEP;
        // The highest wire goes around all others at the right, and is the lowest between the rows.
        let inner = (turn.wires.len().max(1) - 1) as f64 * STEP - out;
        (turn.right + out, turn.left - inner, turn.top + out)
    }
}

/// The highest and lowest point of each layer.
fn spans(web: &Web, y: &[f64], layers: usize) -> Vec<(f64, f64)> {
    let mut spans = vec![(f64::INFINITY, f64::NEG_INFINITY); layers];
    for (item, y) in web.items.iter().zip(y) {
        let span = &mut spans[item.rank];
        let half = item.height / 2.0;
        *span = (span.0.min(y - half), span.1.max(y + half));
    }
    spans
}

fn join(spans: &[(f64, f64)]) -> (f64, f64) {
    let ends = spans
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |all, span| {
            (all.0.min(span.0), all.1.max(span.1))
        });
    if ends.0 <= ends.1 { ends } else { (0.0, 0.0) }
}

/// For each layer at which levels wires leave it for the next, from the lowest up; none where one leads back there, or
/// one that has no passing places.
fn crossing(web: &Web, y: &[f64], layers: usize) -> Vec<Option<Vec<f64>>> {
    let mut levels = vec![Some(Vec::new()); layers];
    for link in &web.links {
        let rank = web.items[link.left.0].rank;
        if let Some(levels) = &mut levels[rank] {
            levels.push(y[link.left.0] + link.left.1);
        }
    }
    for (way, (from, to)) in web.ways.iter().zip(&web.ends) {
        let (low, high) = (web.items[*from].rank, web.items[*to].rank);
        let is_lost = way.via.is_empty() && low + 1 < high;
        if way.is_back || is_lost {
            levels[low.min(high)..low.max(high)].fill(None);
        }
    }
    for levels in levels.iter_mut().flatten() {
        levels.sort_by(|a, b| b.total_cmp(a));
        levels.dedup_by(|a, b| (*a - *b).abs() < 0.5);
    }
    levels
}

/// After which layers to cut.
fn cuts(crossing: &[Option<Vec<f64>>], columns: &[(f64, f64)], height: f64) -> Vec<usize> {
    let all = columns.last().map_or(0.0, |column| column.1);
    let rows = (all / (WIDE * (height + GAP))).sqrt().round().max(1.0);
    let row = all / rows;
    let wires = |layer: usize| match &crossing[layer] {
        Some(levels) if levels.len() <= MOST_CUT => levels.len(),
        _ => usize::MAX,
    };
    let mut cuts = Vec::new();
    let mut begin = 0;
    while begin < columns.len() && all - columns[begin].0 > 1.15 * row {
        let long = |layer: usize| columns[layer].1 - columns[begin].0;
        let later = begin..columns.len() - 1;
        let near = later
            .clone()
            .filter(|layer| long(*layer) > 0.7 * row && long(*layer) < 1.05 * row);
        let best = near
            .min_by_key(|layer| (wires(*layer), columns.len() - layer))
            .filter(|layer| wires(*layer) < usize::MAX);
        let next = || {
            later
                .clone()
                .find(|layer| long(*layer) >= 0.7 * row && wires(*layer) < usize::MAX)
        };
        let Some(cut) = best.or_else(next) else { break };
        cuts.push(cut);
        begin = cut + 1;
    }
    cuts
}
