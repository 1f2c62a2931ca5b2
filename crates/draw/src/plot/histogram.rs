//! How often what was measured.

use super::field::{Around, Field, Range, can_show, noted};
use super::{Bin, GuideAt, Histogram, HistogramSeries, series};
use crate::ink;
use crate::picture::{Look, Picture, Verb};

/// Bins over two axes; one that counts a single value is seen on a logarithmic axis too.
pub fn histogram(plot: &Histogram) -> Picture {
    let shown = &plot.series[..plot.series.len().min(series::MOST)];
    let can = |bin: &&Bin| {
        bin.count > 0 && can_show(&plot.x, bin.to) && bin.from.is_finite() && bin.from <= bin.to
    };
    let good: Vec<Vec<Bin>> = shown
        .iter()
        .map(|series| gathered(series.bins.iter().filter(can).copied().collect()))
        .collect();
    let counted = |series: &HistogramSeries| series.bins.iter().filter(|bin| bin.count > 0).count();
    let drawn = |series: &HistogramSeries| series.bins.iter().filter(can).count();
    let missing = shown
        .iter()
        .map(|series| counted(series) - drawn(series))
        .sum();
    let left_out = [
        (missing, "bins cannot be drawn"),
        (plot.series.len() - shown.len(), "more series are not drawn"),
    ];
    let upright = plot
        .guides
        .iter()
        .take(16)
        .filter_map(|guide| match guide.at {
            GuideAt::X(x) => Some(x),
            GuideAt::Y(_) => None,
        });
    let bins = || good.iter().flatten();
    let ends = bins().flat_map(|bin| [bin.from, bin.to]);
    let x = Range::of(&plot.x, ends.chain(upright), false);
    // A count of one shall stand above the ground.
    let counts = bins().map(|bin| bin.count as f64).chain([0.7]);
    let y = Range::of(&plot.y, counts, true);
    let around = Around {
        title: &plot.title,
        note: &noted(&plot.note, &left_out),
        guides: &plot.guides,
        below: 44.0,
        names: if shown.len() > 1 {
            shown.iter().map(|series| series.name.clone()).collect()
        } else {
            Vec::new()
        },
    };
    let (field, mut picture, legend) = Field::draw((Some(&plot.x), x), (&plot.y, y), &around);
    match good.as_slice() {
        [bins] => filled(&mut picture, &field, bins, plot.late_from),
        many => {
            for (i, bins) in many.iter().enumerate() {
                picture.path(steps(&field, bins), Look::drawn(series::pen(i)));
            }
        }
    }
    field.guides(&mut picture, around.guides, &[]);
    for (i, (x, y)) in legend.iter().enumerate() {
        picture.line((*x, y - 4.0), (x + 24.0, y - 4.0), series::pen(i));
    }
    picture
}

fn filled(picture: &mut Picture, field: &Field, bins: &[Bin], late_from: Option<f64>) {
    let ground = field.below();
    for bin in bins {
        let (x0, x1, top) = (
            field.px(bin.from),
            field.px(bin.to),
            field.py(bin.count as f64),
        );
        let is_late = late_from.is_some_and(|late| bin.from >= late);
        let ink = if is_late {
            ink::ALARM
        } else {
            series::ink_of(0)
        };
        let gap = if x1 - x0 > 4.0 { 1.0 } else { 0.0 };
        let size = ((x1 - x0 - gap).max(1.2), ground - top);
        picture.rect((x0, top), size, 0.0, Look::filled(ink));
    }
}

/// Up and down along the bins, to the ground where there are none.
fn steps(field: &Field, bins: &[Bin]) -> Vec<Verb> {
    let ground = field.below();
    let mut verbs = Vec::new();
    let mut until = f64::NEG_INFINITY;
    for bin in bins {
        let (x0, x1, top) = (
            field.px(bin.from),
            field.px(bin.to),
            field.py(bin.count as f64),
        );
        if x0 - until > 0.05 {
            if !verbs.is_empty() {
                verbs.push(Verb::Line(until, ground));
            }
            verbs.push(Verb::Move(x0, ground));
        }
        verbs.extend([Verb::Line(x0, top), Verb::Line(x1, top)]);
        until = x1;
    }
    if !verbs.is_empty() {
        verbs.push(Verb::Line(until, ground));
    }
    verbs
}

/// In rising order, and no more bins than a field has pixels: neighbours are added up where there are.
fn gathered(mut bins: Vec<Bin>) -> Vec<Bin> {
    const MOST: usize = 2000;
    bins.sort_by(|a, b| a.from.total_cmp(&b.from));
    let together = bins.len().div_ceil(MOST).max(1);
    let add = |bins: &[Bin]| Bin {
        from: bins[0].from,
        to: bins.iter().map(|bin| bin.to).fold(bins[0].to, f64::max),
        count: bins
            .iter()
            .fold(0, |sum: u64, bin| sum.saturating_add(bin.count)),
    };
    bins.chunks(together).map(add).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Axis, Guide};
    use crate::{ink::ALARM, picture::Item};

    fn one(bins: &[(f64, f64, u64)]) -> HistogramSeries {
        let bin = |(from, to, count): &(f64, f64, u64)| Bin {
            from: *from,
            to: *to,
            count: *count,
        };
        HistogramSeries {
            name: "one".into(),
            bins: bins.iter().map(bin).collect(),
        }
    }

    #[test]
    fn late_bins_differ_and_single_counts_are_seen() {
        let bins = [
            (1.0, 2.0, 3),
            (1000.0, 1500.0, 100_000),
            (2e6, 3e6, 1),
            (5.0, 6.0, 0),
        ];
        let plot = Histogram {
            x: Axis::log("cycle", "ns"),
            y: Axis::log("cycles", ""),
            series: vec![one(&bins)],
            guides: vec![Guide {
                at: GuideAt::X(1.3e6),
                label: "deadline".into(),
            }],
            late_from: Some(1.3e6),
            ..Histogram::default()
        };
        let picture = histogram(&plot);
        let heights = |wanted: crate::ink::Ink| -> Vec<f64> {
            let height = |item: &Item| match item {
                Item::Shape(crate::picture::Form::Rect(_, size, _), look) => {
                    (look.fill == Some(wanted)).then_some(size.1)
                }
                _ => None,
            };
            picture.items.iter().filter_map(height).collect()
        };
        assert_eq!(heights(series::ink_of(0)).len(), 2);
        assert!(matches!(heights(ALARM)[..], [height] if height > 3.0));
        assert!(picture.svg().contains("deadline"));
    }

    #[test]
    fn several_are_lines_and_odd_bins_are_said() {
        let odd = [
            (f64::NAN, 1.0, 2),
            (5.0, 1.0, 2),
            (0.0, f64::INFINITY, 1),
            (1.0, 2.0, u64::MAX),
        ];
        let plot = Histogram {
            series: vec![one(&odd), one(&[(0.0, 1.0, 1)])],
            ..Histogram::default()
        };
        let svg = histogram(&plot).svg();
        assert!(svg.contains("3 bins cannot be drawn") && !svg.contains("NaN"));
        assert!(histogram(&Histogram::default()).svg().ends_with("</svg>\n"));
    }
}
