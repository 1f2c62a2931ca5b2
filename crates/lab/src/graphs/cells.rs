//! Which runs the experiment *graphs* has.

use super::KEYS;
use crate::bench::Bench;
use crate::machine::{now, period_us};
use crate::play::{Pace, Run, play};
use crate::run::Cell;
use crate::{Effort, LabError, Table};
use divisi::graph::shape;
use divisi::prelude::{Frames, Graph, Scheduler};
use std::collections::HashSet;
use std::time::Duration;

/// What an inner node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Inner {
    /// A modulator, as the report's graphs had: far below a microsecond.
    Sound,
    /// One that burns [`DEAR_NS`] a frame: about a transcendental function for each.
    Dear,
}

/// What a dear node costs a frame.
pub(crate) const DEAR_NS: f64 = 20.0;

impl Inner {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::Dear => "dear",
        }
    }
}

/// A test graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) nodes: usize,
}

/// The report's three, in the sizes of its histograms.
pub(crate) const OWN: [Shape; 3] = [of("line", 100), of("diamond", 156), of("rake", 101)];
/// Smaller and larger ones.
const OTHERS: [Shape; 6] = [
    of("line", 20),
    of("line", 300),
    of("diamond", 16),
    of("diamond", 636),
    of("rake", 11),
    of("rake", 302),
];
/// As little as can be played: what is seen here is not the graph's.
pub(crate) const CONTROL: Shape = of("control", 2);

const fn of(name: &'static str, nodes: usize) -> Shape {
    Shape { name, nodes }
}

impl Shape {
    fn graph(self, inner: Inner, block: u32) -> Graph {
        let work = (inner == Inner::Dear).then(|| DEAR_NS * f64::from(block));
        let made = match self.name {
            "rake" => shape::rake(self.nodes, work),
            "diamond" => shape::diamond(self.nodes, work),
            _ => shape::line(self.nodes, work),
        };
        made.expect("the sizes above are sizes of these shapes")
    }
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GraphCell {
    pub(crate) shape: Shape,
    pub(crate) inner: Inner,
    pub(crate) threads: usize,
    pub(crate) block: u32,
    pub(crate) load: bool,
    pub(crate) scheduler: Scheduler,
    pub(crate) fuse: bool,
    pub(crate) pace: Pace,
    pub(crate) ms: u64,
}

impl Cell for GraphCell {
    fn key(&self) -> Vec<String> {
        let key = [
            self.shape.name.to_owned(),
            self.shape.nodes.to_string(),
            self.inner.name().to_owned(),
            self.threads.to_string(),
            self.block.to_string(),
            if self.load { "video" } else { "rest" }.to_owned(),
            self.scheduler.name().to_owned(),
            if self.fuse { "on" } else { "off" }.to_owned(),
            self.pace.name().to_owned(),
            self.ms.to_string(),
        ];
        debug_assert_eq!(key.len(), KEYS);
        key.into()
    }

    fn is_loaded(&self) -> bool {
        self.load
    }

    fn lasts(&self) -> Duration {
        // Threads, plans and the first cycles take some time too.
        Duration::from_millis(self.ms + 10)
    }

    fn run(&self, bench: &mut Bench, _: &Table) -> Result<Vec<String>, LabError> {
        let graph = self.shape.graph(self.inner, self.block);
        let key = self.key();
        let block = Frames(self.block);
        let name = format!("{} {} {} {}", key[0], key[1], key[2], self.block);
        let costs = bench.costs(&name, &graph, block)?;
        let date = now();
        let seen = play(Run {
            graph: &graph,
            scheduler: self.scheduler,
            workers: self.threads,
            block,
            fuse: self.fuse,
            pace: self.pace,
            facts: bench.facts(),
            costs,
            time: Duration::from_millis(self.ms),
        })?;
        let mut cells = seen.cells(date, block);
        let bars = seen.bars.iter().filter(|bar| bar.count > 0);
        let bars = bars.map(|bar| format!("{}-{}:{}", bar.from_ns, bar.to_ns, bar.count));
        // Only where it is drawn: the rest would be most of the table.
        cells.push(match self.block {
            HISTOGRAM_BLOCK => bars.collect::<Vec<_>>().join(" "),
            _ => String::new(),
        });
        Ok(cells)
    }
}

/// The block of the histograms.
pub(crate) const HISTOGRAM_BLOCK: u32 = 2048;
/// The buffers that the report went through.
pub(crate) const BLOCKS: [u32; 6] = [16, 32, 64, 128, 256, 512];
/// The threads likewise.
pub(crate) const THREADS: [usize; 3] = [2, 3, 4];

/// Every way of playing that the experiment compares.
pub(crate) fn ways() -> Vec<Scheduler> {
    let all = Scheduler::all();
    all.filter(|way| way.name() != "auto").collect()
}

/// Every run, those at rest first.
pub(crate) fn cells(effort: Effort) -> Vec<GraphCell> {
    let mut all = Vec::new();
    for load in [false, true] {
        own(effort, load, &mut all);
        cross(effort, load, &mut all);
    }
    let mut seen = HashSet::new();
    all.retain(|cell: &GraphCell| seen.insert(cell.key()));
    all
}

/// The report's own cells, at the beat of a device; and its histograms.
fn own(effort: Effort, load: bool, all: &mut Vec<GraphCell>) {
    let add = |all: &mut Vec<_>, (shape, inner), (threads, block), pace, fuse: bool| {
        let ms = match pace {
            // So many blocks at least.
            Pace::Beat => {
                let blocks = f64::from(effort.choose(40_u32, 10, 2));
                let least = blocks * period_us(Frames(block)) / 1e3;
                effort.choose(200, 20, 2).max(least.ceil() as u64)
            }
            Pace::Behind => effort.choose(200, 10, 2),
        };
        let cell = GraphCell {
            shape,
            inner,
            threads,
            block,
            load,
            scheduler: Scheduler::Sequential,
            fuse: false,
            pace,
            ms,
        };
        every_way(cell, fuse, all);
    };
    for inner in [Inner::Sound, Inner::Dear] {
        let few = effort != Effort::Full && inner == Inner::Sound;
        for shape in if few { &OWN[..1] } else { &OWN[..] } {
            let graph = (*shape, inner);
            let fuse = effort == Effort::Full;
            add(all, graph, (3, 128), Pace::Beat, true);
            if load || effort == Effort::Minimal {
                continue;
            }
            for threads in THREADS {
                add(all, graph, (threads, 128), Pace::Beat, fuse);
            }
            let blocks = effort.choose(&BLOCKS[..], &[16, 512], &[]);
            for &block in blocks {
                add(all, graph, (3, block), Pace::Beat, fuse);
            }
            add(all, graph, (3, HISTOGRAM_BLOCK), Pace::Behind, fuse);
        }
    }
    if effort == Effort::Full && !load {
        for shape in OTHERS {
            for threads in THREADS {
                add(
                    all,
                    (shape, Inner::Sound),
                    (threads, 128),
                    Pace::Beat,
                    false,
                );
            }
        }
    }
}

/// Everything with everything, block after block.
fn cross(effort: Effort, load: bool, all: &mut Vec<GraphCell>) {
    let inners = effort.choose(
        &[Inner::Sound, Inner::Dear][..],
        &[Inner::Dear],
        &[Inner::Dear],
    );
    let shapes = effort.choose(&OWN[..], &OWN[..], &OWN[2..]);
    let blocks = effort.choose(&BLOCKS[..], &[64], &[16]);
    let threads = effort.choose(&THREADS[..], &[2], &[2]);
    let ms = effort.choose(60, 10, 1);
    for &inner in inners {
        for &shape in shapes {
            for &block in blocks {
                for &threads in threads {
                    let cell = GraphCell {
                        shape,
                        inner,
                        threads,
                        block,
                        load,
                        scheduler: Scheduler::Sequential,
                        fuse: false,
                        pace: Pace::Behind,
                        ms,
                    };
                    every_way(cell, effort == Effort::Full, all);
                }
            }
        }
    }
}

/// The cell under every scheduler, fused and not; and its control. One thread is enough for the sequential ones.
fn every_way(cell: GraphCell, fuse: bool, all: &mut Vec<GraphCell>) {
    all.push(GraphCell {
        shape: CONTROL,
        inner: Inner::Sound,
        threads: 1,
        ..cell
    });
    for scheduler in ways() {
        let threads = match scheduler {
            Scheduler::Sequential => 1,
            _ => cell.threads,
        };
        for fuse in [false, true].into_iter().take(1 + usize::from(fuse)) {
            all.push(GraphCell {
                scheduler,
                threads,
                fuse,
                ..cell
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reports_own_cells_are_all_there() {
        let all = cells(Effort::Full);
        let has = |threads, block, load, pace, shape: Shape| {
            let way = Scheduler::Stealing;
            all.iter().any(|c| {
                (
                    c.threads,
                    c.block,
                    c.load,
                    c.pace,
                    c.shape,
                    c.scheduler,
                    c.inner,
                ) == (threads, block, load, pace, shape, way, Inner::Sound)
            })
        };
        for shape in OWN {
            assert!(
                THREADS
                    .iter()
                    .all(|t| has(*t, 128, false, Pace::Beat, shape))
            );
            assert!(BLOCKS.iter().all(|b| has(3, *b, false, Pace::Beat, shape)));
            assert!(has(3, 128, true, Pace::Beat, shape));
            assert!(has(3, 2048, false, Pace::Behind, shape));
            let product = THREADS.iter().flat_map(|t| BLOCKS.map(|b| (*t, b)));
            let mut product = product.flat_map(|(t, b)| [(t, b, false), (t, b, true)]);
            assert!(product.all(|(t, b, load)| has(t, b, load, Pace::Behind, shape)));
        }
    }

    #[test]
    fn no_run_is_there_twice_and_each_has_its_control() {
        for effort in [Effort::Full, Effort::Quick, Effort::Minimal] {
            let all = cells(effort);
            let keys: HashSet<_> = all.iter().map(Cell::key).collect();
            assert_eq!(keys.len(), all.len());
            let is_control = |c: &GraphCell, of: &GraphCell| {
                c.shape == CONTROL && (c.block, c.load, c.pace) == (of.block, of.load, of.pace)
            };
            assert!(
                all.iter()
                    .all(|cell| all.iter().any(|c| is_control(c, cell)))
            );
        }
    }
}
