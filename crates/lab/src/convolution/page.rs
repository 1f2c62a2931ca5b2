//! What the experiment *convolution* says: everything from its table.

mod fewer;
mod figures;
mod words;

use super::cells::{CHANNELS, JITTERS, LENGTHS};
use super::kernels::SEED_US;
use super::sync::SCHEMES;
use super::ways::{Pin, Way};
use super::{BLOCK, RATE_HZ};
use crate::chart::{Body, Chart, Labelled};
use crate::page::Page;
use crate::{MachineInfo, Row, Table, state};

/// Instances of 524288 frames that were reported to play without dropouts (Colmenares and others 2010): preemptive, and
/// time-distributed.
const REPORTED: [(&str, u32); 2] = [("preemptive", 82), ("time-distributed", 22)];
/// How many times as many channels two cores held as one.
const GAIN: (f64, f64) = (1.3, 1.7);

/// The page and its pictures.
pub(crate) fn page(table: &Table, machine: &MachineInfo) -> (String, Vec<Chart>) {
    let view = View { table };
    let mut page = Page::new("Partitioned convolution on a conventional system");
    let mut charts = Vec::new();
    words::method(&mut page, machine);
    page.machine(machine, crate::dates(table));
    state::section(&mut page, table, machine.cores);
    view.kernels(&mut page, &mut charts);
    view.sync(&mut page);
    view.walk(&mut page, &mut charts);
    view.load(&mut page, &mut charts);
    view.most(&mut page, &mut charts);
    view.cores(&mut page, &mut charts);
    view.jitter(&mut page, &mut charts);
    view.fewer(&mut page);
    view.reported(&mut page);
    view.shows(&mut page);
    words::limits(&mut page);
    (page.finish(), charts)
}

struct View<'a> {
    table: &'a Table,
}

impl<'a> View<'a> {
    fn rows(&self, what: &'static str) -> impl Iterator<Item = Row<'a>> {
        self.table
            .rows()
            .filter(move |row| row.text("what") == what)
    }

    /// Different texts of a column, in the order in which they come.
    fn all(&self, what: &'static str, column: &str) -> Vec<&'a str> {
        let mut all = Vec::new();
        for row in self.rows(what) {
            let text = row.text(column);
            if !all.contains(&text) {
                all.push(text);
            }
        }
        all
    }

    fn find(&self, what: &str, way: &str, length: &str, setting: &str) -> Option<Row<'a>> {
        self.table.find(&[
            ("what", what),
            ("way", way),
            ("length", length),
            ("setting", setting),
        ])
    }

    /// A curve for each way: a column over the lengths.
    fn curves(
        &self,
        what: &'static str,
        setting: &str,
        column: &str,
    ) -> Vec<(String, Vec<(f64, f64)>)> {
        let lengths = self.all(what, "length");
        let curve = |way: Way| {
            let points = lengths.iter().filter_map(|length| {
                let row = self.find(what, way.name(), length, setting)?;
                Some((length.parse().ok()?, row.number(column)?))
            });
            (way.name().to_owned(), points.collect())
        };
        Way::ALL.map(curve).into()
    }

    /// A curve for each of `ways`: the most channels over the lengths, with words at each.
    fn labelled(
        &self,
        setting: &str,
        ways: &[Way],
        label: &dyn Fn(&Row<'_>) -> String,
    ) -> Vec<(String, Labelled)> {
        let lengths = self.all("most", "length");
        let curve = |way: &Way| {
            let points = lengths.iter().filter_map(|length| {
                let row = self.find("most", way.name(), length, setting)?;
                Some((length.parse().ok()?, row.number("held")?, label(&row)))
            });
            (way.name().to_owned(), points.collect())
        };
        ways.iter().map(curve).collect()
    }

    /// What the paper says of a figure's order, and what is so here.
    fn shows(&self, page: &mut Page) {
        page.section("What it shows");
        let mut said = Vec::new();
        said.extend(self.best_kernel());
        said.extend(self.best_scheme());
        let longest = LENGTHS[LENGTHS.len() - 1].to_string();
        let length = self
            .all("most", "length")
            .last()
            .copied()
            .unwrap_or(&longest);
        for way in Way::ALL {
            if let Some(row) = self.find("most", way.name(), length, "one-core") {
                said.push(format!(
                    "{length} frames on one core, {}: {} channels without a miss, at {} % of the core, cut into {}.",
                    way.name(),
                    row.text("held"),
                    row.text("percent"),
                    row.text("partition")
                ));
            }
        }
        if said.is_empty() {
            said.push("Nothing yet: too few runs have been made.".into());
        }
        page.list(said);
    }

    fn best_kernel(&self) -> Option<String> {
        let of_32 = self.rows("kernel").filter(|row| row.text("length") == "32");
        let timed: Vec<_> = of_32
            .filter_map(|row| Some((row.number("p50_us")?, row)))
            .collect();
        let (best, row) = timed.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
        let (complex, _) = timed
            .iter()
            .find(|(_, row)| row.text("way") == "complex type")?;
        Some(format!(
            "A partition of 32 frames: {best:.4} µs with {} ({}), {:.1} times as fast as the complex type. The paper has {} µs \
             against {} µs naive.",
            row.text("way"),
            row.text("setting"),
            complex / best,
            SEED_US.1,
            SEED_US.0
        ))
    }

    fn best_scheme(&self) -> Option<String> {
        let means = SCHEMES.map(|scheme| {
            let rows = self.rows("sync").filter(|row| row.text("way") == scheme);
            let means: Vec<f64> = rows.filter_map(|row| mean(&row)).collect();
            means.iter().sum::<f64>() / means.len() as f64
        });
        let [naive, .., ours] = means;
        (naive.is_finite() && ours.is_finite()).then(|| {
            format!(
                "Starting and waiting for levels takes {naive:.1} µs of a callback with a condition variable each, {ours:.1} µs \
                 with words that threads sleep on; on average over all cases."
            )
        })
    }
}

/// What a call of a scheme took on average, in µs.
fn mean(row: &Row<'_>) -> Option<f64> {
    row.text("facts").strip_prefix("mean ")?.parse().ok()
}
