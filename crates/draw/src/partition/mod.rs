//! A chart of partitions: how an impulse response is divided for convolution, and when each level's work is due.
//!
//! Above, a row for each partition, over the same frames: a box for each part. Below, for one of them, the deadlines: a
//! line for each level over the same time.
//!
//! [`chart`] has the data, [`sheet`] the sizes; [`axis`], [`rows`] and [`deadlines`](mod@deadlines) draw.

mod axis;
mod chart;
mod deadlines;
mod rows;
mod sheet;

pub use chart::{PartitionChart, PartitionLevel, PartitionRow};

use crate::picture::Picture;
use axis::Axis;
use deadlines::deadlines;
use rows::row;
use sheet::{FIELD, LEFT, LINE, MAX_LEVELS, ROW, TOP};

/// Rows beyond this number are not drawn.
const MAX_ROWS: usize = 12;

/// A chart of partitions, one above another over the same frames, and below them the deadlines of one.
pub fn partitions(chart: &PartitionChart) -> Picture {
    let rows = &chart.rows[..chart.rows.len().min(MAX_ROWS)];
    let timed = chart.deadlines_of.and_then(|i| rows.get(i));
    let below = TOP + rows.len() as f64 * ROW + 40.0;
    let height = match timed {
        Some(row) => below + 56.0 + row.levels.len().min(MAX_LEVELS) as f64 * LINE + 40.0,
        None => below,
    };
    let description = format!("{}: {} partitions", chart.title, rows.len());
    let mut picture = Picture::new(LEFT + FIELD + 40.0, height, &description);
    picture.has_dark_theme = true;
    picture.head(&chart.title, &chart.note, FIELD);
    let axis = Axis::of(chart, rows);
    axis.draw(&mut picture, rows.len());
    for (i, each) in rows.iter().enumerate() {
        let y = TOP + i as f64 * ROW;
        row(&mut picture, &axis, y, each, chart.deadlines_of == Some(i));
    }
    if let Some(row) = timed {
        deadlines(&mut picture, chart, row, below + 24.0);
    }
    picture
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, levels: &[(u64, u64, u64)]) -> PartitionRow {
        let level = |(start, size, count)| PartitionLevel {
            start,
            size,
            count,
            in_callback: false,
        };
        PartitionRow {
            name: name.into(),
            note: "a note".into(),
            levels: levels.iter().copied().map(level).collect(),
        }
    }

    #[test]
    fn every_level_is_drawn_in_its_row_and_with_its_deadlines() {
        let picture = partitions(&PartitionChart {
            title: "16128 frames".into(),
            length: 16128,
            block: 128,
            rate_hz: 44_100,
            rows: vec![
                row("doubling", &[(0, 128, 2), (256, 256, 2), (768, 512, 2)]),
                row("optimum", &[(0, 128, 14), (1792, 1024, 14)]),
            ],
            deadlines_of: Some(1),
            ..PartitionChart::default()
        });
        let svg = picture.svg();
        assert_eq!(svg.matches("14 partitions of 1024 frames").count(), 2);
        assert_eq!(svg.matches("2 partitions of 512 frames").count(), 1);
        assert!(svg.contains("14 × 1024: every 1024 (23.2 ms)"));
        assert!(!svg.contains("logarithmic"));
    }
}
