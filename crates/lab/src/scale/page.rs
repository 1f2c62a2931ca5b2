//! What the experiment *scale* says: everything from its table.

use super::cells::{BLOCK, WAYS};
use crate::chart::{Body, Chart};
use crate::page::Page;
use crate::{MachineInfo, Row, Table, state};

/// The page and its pictures.
pub(crate) fn page(table: &Table, machine: &MachineInfo) -> (String, Vec<Chart>) {
    let view = View {
        table,
        here: machine.cores,
    };
    let mut page = Page::new("From 1 to 128 cores");
    let mut charts = Vec::new();
    method(&mut page, machine);
    page.machine(machine, crate::dates(table));
    state::section(&mut page, table, machine.cores);
    view.costs(&mut page);
    view.beside(&mut page);
    view.curves(&mut page, &mut charts);
    view.shows(&mut page);
    (page.finish(), charts)
}

fn method(page: &mut Page, machine: &MachineInfo) {
    page.text(
        "How long would a cycle of an audio graph take on 4, 16 or 128 cores, under each way of sharing it out? A simulator \
         plays the graph's tasks move by move under each executor's own protocol: lanes that wait for one another, halves of \
         the graph a block apart, one queue without a lock, weighted batches, own queues that are stolen from, one locked \
         queue. What its moves cost was measured on this machine. On the cores that are here, the same graphs are also \
         played, and the simulator's error is printed.",
    );
    page.section("What was done");
    page.list([
        format!(
            "Nodes that burn 1 µs (line, diamond, rake, random), a session of 500 objects with 64 plug-ins of 16 µs, and a rake \
             of modulators that cost far less; blocks of {} frames at 48 kHz; one task a node (no fusion).",
            BLOCK.0
        ),
        "Measured: what a node of each kind costs; handing data between two cores; taking a count that another core had; \
         stealing a task; and, on lines of nodes that burn nothing, what each executor costs a task and a cycle."
            .to_owned(),
        "Calculated: when each worker does what. A task is begun when its worker has it and all that it waits for is there; \
         what other cores wrote is fetched first. A queue, a lock, a count is had by one core at a time. As many workers take \
         part as could be busy at once on average, as in the executors."
            .to_owned(),
        format!(
            "Played: the same graphs on 1 and 2 of the {} cores here, block after block, by ordinary threads; the median of \
             the cycles counts.",
            machine.cores
        ),
        "The control is the line: no way of sharing out a block can shorten it, so whatever differs there is overhead. Only \
         `pipelined`, which plays the second half of the graph a block later, shares out a line too."
            .to_owned(),
    ]);
}

struct View<'a> {
    table: &'a Table,
    /// How many cores the machine has.
    here: usize,
}

impl<'a> View<'a> {
    fn rows(&self, what: &'static str) -> impl Iterator<Item = Row<'a>> {
        self.table
            .rows()
            .filter(move |row| row.text("what") == what)
    }

    /// The graphs in the table, each with its number of nodes.
    fn graphs(&self) -> Vec<(&'a str, &'a str)> {
        let mut all: Vec<_> = self
            .rows("cycle")
            .map(|row| (row.text("graph"), row.text("nodes")))
            .collect();
        all.dedup();
        all
    }

    /// What was calculated for a graph on so many cores; the sequential way has only one.
    fn cycle(&self, graph: &str, way: &str, cores: usize) -> Option<f64> {
        let cores = if way == "sequential" { 1 } else { cores };
        let wanted = [
            ("what", "cycle"),
            ("graph", graph),
            ("scheduler", way),
            ("cores", &cores.to_string()),
        ];
        self.table.find(&wanted)?.number("predicted_us")
    }

    /// How many times as fast as sequential.
    fn gain(&self, graph: &str, way: &str, cores: usize) -> Option<f64> {
        Some(self.cycle(graph, "sequential", 1)? / self.cycle(graph, way, cores)?)
    }

    fn cores(&self) -> Vec<usize> {
        let cores = self
            .rows("cycle")
            .filter_map(|row| row.text("cores").parse().ok());
        let mut cores: Vec<usize> = cores.collect();
        cores.sort_unstable();
        cores.dedup();
        cores
    }

    fn costs(&self, page: &mut Page) {
        page.section("What was measured");
        let list = |facts: &str| facts.replace(';', ", ");
        if let Some(row) = self.rows("machine").last() {
            page.text(&format!(
                "Between two cores, in ns: {}. (base: until the other sees it; kib: for each 1024 bytes; claim: a count that the \
                 other took last; wake: what waking costs the waker; woken: until the sleeper runs.)",
                list(row.text("facts"))
            ));
        }
        let rows = self
            .rows("overhead")
            .map(|row| vec![row.text("scheduler").to_owned(), list(row.text("facts"))]);
        let rows: Vec<_> = rows.collect();
        page.table(
            "What each executor costs besides the nodes, in ns a task and a cycle",
            &["Schedule", "Cost, ns"],
            &rows,
        );
        let rows = self.rows("nodes").map(|row| {
            let graph = format!("{} {}", row.text("graph"), row.text("nodes"));
            vec![graph, list(row.text("facts"))]
        });
        let rows: Vec<_> = rows.collect();
        page.table(
            "What a node of each kind costs, in ns a block",
            &["Graph", "Cost, ns"],
            &rows,
        );
    }

    /// How far a calculated cycle is off the played one, in percent.
    fn error(&self, row: &Row<'_>) -> Option<f64> {
        if state::void(row, self.here).is_some() {
            return None;
        }
        let (told, seen) = (row.number("predicted_us")?, row.number("measured_us")?);
        (seen > 0.0).then(|| 100.0 * (told / seen - 1.0))
    }

    fn beside(&self, page: &mut Page) {
        page.section("How wrong it is here");
        page.text("For each graph and way: calculated, played (the median), and how far the calculation is off. A minus says that it is too hopeful.");
        for (graph, nodes) in self.graphs() {
            let mut rows = Vec::new();
            for way in WAYS {
                let mut cells = vec![way.to_owned()];
                for cores in ["1", "2"] {
                    let wanted = [
                        ("what", "cycle"),
                        ("graph", graph),
                        ("scheduler", way),
                        ("cores", cores),
                    ];
                    let row = self.table.find(&wanted);
                    let error = row.as_ref().and_then(|row| self.error(row));
                    let text =
                        |column: &str| row.map_or(String::new(), |row| row.text(column).to_owned());
                    cells.extend(["predicted_us", "measured_us"].map(text));
                    let is_void = row.is_some_and(|row| state::void(&row, self.here).is_some());
                    cells.push(match error {
                        Some(error) => format!("{error:+.1} %"),
                        None if is_void => "void".to_owned(),
                        None => String::new(),
                    });
                }
                if cells[1..].iter().any(|cell| !cell.is_empty()) {
                    rows.push(cells);
                }
            }
            let head = [
                "Schedule",
                "1 core, calculated µs",
                "played µs",
                "error",
                "2 cores, calculated µs",
                "played µs",
                "error",
            ];
            page.table(&format!("{graph} of {nodes} nodes"), &head, &rows);
        }
    }

    fn curves(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        page.section("How it would go on");
        page.text("How many times as fast as sequential, as calculated. Up to two cores this can be checked above; beyond that it is a calculation.");
        for (graph, nodes) in self.graphs() {
            let curves =
                WAYS.into_iter()
                    .filter(|way| *way != "sequential")
                    .map(|way| {
                        let points = self.cores().into_iter().filter_map(|cores| {
                            Some((cores as f64, self.gain(graph, way, cores)?))
                        });
                        (way.to_owned(), points.collect())
                    });
            let chart = Chart {
                file: format!("scale-{}", graph.replace(' ', "-")),
                title: format!("{graph} of {nodes} nodes: times the speed of sequential"),
                x: "cores",
                y: "speed-up",
                body: Body::Curves {
                    log: (true, true),
                    curves: curves.collect(),
                },
            };
            if !chart.is_empty() {
                page.figure(&chart.svg(), "Calculated. Both axes are logarithmic.");
                charts.push(chart);
            }
            self.table(page, graph);
        }
    }

    fn table(&self, page: &mut Page, graph: &str) {
        let all = self.cores();
        let shown: Vec<usize> = all.into_iter().filter(|c| c.is_power_of_two()).collect();
        let head: Vec<String> = shown.iter().map(|cores| format!("{cores}")).collect();
        let head: Vec<&str> = std::iter::once("Schedule")
            .chain(head.iter().map(String::as_str))
            .collect();
        let rows = WAYS.into_iter().map(|way| {
            let gains = shown.iter().map(|cores| {
                let gain = self.gain(graph, way, *cores);
                gain.map_or(String::new(), |gain| format!("{gain:.2}"))
            });
            std::iter::once(way.to_owned()).chain(gains).collect()
        });
        let rows: Vec<Vec<String>> = rows.collect();
        page.table(
            "Calculated: times the speed of sequential, by cores",
            &head,
            &rows,
        );
    }

    fn shows(&self, page: &mut Page) {
        page.section("What it shows");
        let mut said = Vec::new();
        for cores in ["1", "2"] {
            let errors = self.rows("cycle").filter(|row| row.text("cores") == cores);
            let mut errors: Vec<f64> = errors
                .filter_map(|row| self.error(&row))
                .map(f64::abs)
                .collect();
            errors.sort_by(f64::total_cmp);
            if let (Some(middle), Some(worst)) = (errors.get(errors.len() / 2), errors.last()) {
                let count = errors.len();
                said.push(format!(
                    "On {cores} core{}: the error of {count} calculations is {middle:.1} % in the median, {worst:.1} % at worst.",
                    if cores == "1" { "" } else { "s" }
                ));
            }
        }
        for (graph, nodes) in self.graphs() {
            said.extend(self.peak(graph, nodes));
        }
        if said.is_empty() {
            said.push("Nothing yet: too few runs have been made.".into());
        }
        page.list(said);
        page.section("What it does not show");
        page.list([
            "Real machines of many cores: their cores are not all equally near, share caches and memory, and slow down when many are busy. Here every pair of cores is taken to be like the one pair that was measured.",
            "Caches: a task costs the same on every core, wherever its state was in the cycle before. That makes every way that moves tasks about look better than it is.",
            "Waking: everybody is taken to be awake, as block after block. At a device's beat each cycle begins with waking the others, one after another.",
            "Other work: no cycle is interrupted.",
        ]);
    }

    /// Where a graph goes fastest, in a sentence.
    fn peak(&self, graph: &str, nodes: &str) -> Option<String> {
        let cores = self.cores();
        let most = *cores.last()?;
        let all = WAYS
            .into_iter()
            .filter(|way| *way != "sequential")
            .flat_map(|way| {
                let gains = cores
                    .iter()
                    .filter_map(move |cores| Some((self.gain(graph, way, *cores)?, way, *cores)));
                gains.collect::<Vec<_>>()
            });
        let best = all.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let locked = self.gain(graph, "mutex", most)?;
        Some(format!(
            "{graph} of {nodes} nodes: at best {:.1} times the speed of sequential, by {} on {} cores; the locked queue comes to \
             {locked:.2} on {most}.",
            best.0, best.1, best.2
        ))
    }
}
