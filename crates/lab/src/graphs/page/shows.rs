//! What the experiment *graphs* shows and what it does not, in sentences.

use super::view::{View, Which, median, named};
use crate::graphs::cells::{CONTROL, OWN, THREADS, ways};
use crate::page::Page;
use crate::state;

impl View<'_> {
    /// Sentences, each from numbers.
    pub(super) fn shows(&self, page: &mut Page) {
        page.section("What it shows");
        let cores = self.cores.min(4).max(THREADS[0]);
        let mut said = Vec::new();
        for inner in ["sound", "dear"] {
            for shape in OWN {
                let which = Which {
                    pace: "behind",
                    ..Which::own(shape, inner, cores, 128)
                };
                said.extend(self.best(which, cores));
            }
        }
        said.extend(self.crowd(cores));
        said.extend(self.misses());
        if said.is_empty() {
            said.push("Nothing yet: too few runs have been made.".into());
        }
        page.list(said);
        page.section("What it does not show");
        page.list([
            "How it would be on more cores: every figure is of this machine, and the experiment `scale` only calculates more.",
            "How it sounds: no device was there. A missed cycle is one that a device of this block would have heard as a click.",
            "How the engine of 2019 would do here: its code was not run. The report's figures are in its pictures, not in its text, so they are not set beside these.",
            "Rare events: a run lasts some hundred milliseconds, so that a schedule without a missed cycle may still have one in an hour.",
        ]);
    }

    /// The best way to play something, in a sentence.
    fn best(&self, which: Which<'_>, threads: usize) -> Option<String> {
        let mut gains = Vec::new();
        for way in ways().iter().filter(|way| way.name() != "sequential") {
            for fuse in ["off", "on"] {
                let which = Which { fuse, ..which };
                if let Some(gain) = self.gain(which, way.name()) {
                    gains.push((gain, way.name(), fuse));
                }
            }
        }
        gains.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (best, worst) = (gains.first()?, gains.last()?);
        let told = |(gain, way, fuse): &(f64, &str, &str)| {
            let name = named(way, fuse);
            format!("{name} at {gain:.2}")
        };
        let Which { shape, inner, .. } = which;
        Some(format!(
            "{} of {} `{inner}` nodes, {threads} threads, 128 frames, block after block: the best is {} times the speed of \
             sequential, the last {}.",
            shape.name,
            shape.nodes,
            told(best),
            told(worst)
        ))
    }

    /// What more threads than cores cost, in a sentence.
    fn crowd(&self, cores: usize) -> Option<String> {
        let ratios = ways().into_iter().flat_map(|way| {
            OWN.map(|shape| {
                let which = Which::own(shape, "dear", cores, 128);
                let few = self.number(which, way.name(), "mean_us")?;
                let many = Which {
                    threads: 4,
                    ..which
                };
                (way.name() != "sequential").then_some(())?;
                Some(self.number(many, way.name(), "mean_us")? / few)
            })
        });
        let ratio = median(ratios.flatten().collect())?;
        (cores < 4).then(|| {
            format!(
                "4 threads on {cores} cores take {ratio:.2} times as long as {cores} threads (the median over the three \
                 shapes of dear nodes and all schedules, at the beat)."
            )
        })
    }

    /// How many cycles were missed at rest and in use, in a sentence.
    fn misses(&self) -> Option<String> {
        let share = |load: &str, is_alone: bool| {
            let (mut missed, mut cycles) = (0.0, 0.0);
            for row in self.table.rows() {
                let is_counted = row.text("load") == load
                    && row.text("pace") == "beat"
                    && row.text("shape") != CONTROL.name
                    && row.text("block") == "128"
                    && (row.text("scheduler") == "sequential") == is_alone
                    && state::void(&row, self.cores).is_none();
                if is_counted {
                    missed += row.number("missed").unwrap_or(0.0);
                    cycles += row.number("cycles").unwrap_or(0.0);
                }
            }
            (cycles > 0.0).then(|| 100.0 * missed / cycles)
        };
        Some(format!(
            "Missed cycles at the beat at 128 frames: at rest {:.2} % of the sequential and {:.2} % of the parallel ones; on a \
             machine in use {:.2} % and {:.2} %.",
            share("rest", true)?,
            share("rest", false)?,
            share("video", true)?,
            share("video", false)?
        ))
    }
}
