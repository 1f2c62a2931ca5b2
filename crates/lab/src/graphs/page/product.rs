//! Everything with everything, in one table a sort of nodes.

use super::view::{View, Which, median};
use crate::graphs::cells::{BLOCKS, OWN, Shape, THREADS};
use crate::page::Page;

impl View<'_> {
    /// The product of threads, blocks and machines.
    pub(super) fn product(&self, page: &mut Page) {
        page.section("Everything with everything");
        page.text(
            "2, 3 and 4 threads times 16 to 512 frames times rest and use, block after block. Each cell: the median over \
             these runs of how many times as fast as sequential a schedule is, then in brackets the share of missed cycles. \
             Void runs do not count. The runs themselves are in results.csv.",
        );
        let columns: Vec<_> = columns().collect();
        let head = columns
            .iter()
            .map(|(s, load, t)| format!("{} {load} {t}", s.name));
        let head: Vec<String> = std::iter::once("Schedule".to_owned()).chain(head).collect();
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        for inner in ["sound", "dear"] {
            let rows = self.rows(|way, fuse| {
                let cells = columns.iter().map(|(shape, load, threads)| {
                    let runs = BLOCKS.map(|block| Which {
                        load,
                        fuse,
                        pace: "behind",
                        ..Which::own(*shape, inner, *threads, block)
                    });
                    self.sum_up(&runs, way)
                });
                cells.collect()
            });
            let caption = format!("`{inner}` nodes: shape, machine, threads");
            page.table(&caption, &head, &rows);
        }
    }

    /// The median gain of several runs, and their share of missed cycles.
    fn sum_up(&self, runs: &[Which<'_>], way: &str) -> String {
        let gains = runs.iter().filter_map(|which| self.gain(*which, way));
        let Some(gain) = median(gains.collect()) else {
            return String::new();
        };
        let sum = |column| -> f64 {
            let numbers = runs
                .iter()
                .filter_map(|which| self.number(*which, way, column));
            numbers.sum()
        };
        let missed = 100.0 * sum("missed") / sum("cycles").max(1.0);
        match missed {
            0.0 => format!("{gain:.2}"),
            missed => format!("{gain:.2} ({missed:.2} %)"),
        }
    }
}

/// Shape, machine, threads.
fn columns() -> impl Iterator<Item = (Shape, &'static str, usize)> {
    OWN.into_iter().flat_map(|shape| {
        let loads = ["rest", "video"].into_iter();
        loads.flat_map(move |load| THREADS.map(|threads| (shape, load, threads)))
    })
}
