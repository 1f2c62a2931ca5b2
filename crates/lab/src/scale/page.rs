//! The page of the experiment *scale*.

use super::runs::{BLOCK, SCHEDULERS};
use crate::Row;
use crate::chart::Chart;
use crate::page::Page;
use crate::results::{Results, decimals};

/// Explains the measurements of the machine.
const MACHINE_TIMES: &str = "(base: until the other core sees the data; kib: for each 1024 bytes; claim: a count that the \
    other changed last; wake: the waker's cost; woken: until the sleeper runs.)";

/// Fills the template.
pub(super) fn fill(results: &Results<'_>, page: &mut Page) {
    page.text("block", BLOCK.0);
    page.text("cores", results.machine.cores);
    let view = View(results);
    view.costs(page);
    for graph in view.graphs() {
        view.errors(page, graph);
        view.curves(page, graph);
    }
    view.findings(page);
}

/// A graph: its name and its number of nodes.
type GraphName<'a> = (&'a str, &'a str);

struct View<'a>(&'a Results<'a>);

impl<'a> View<'a> {
    /// The graphs in the table.
    fn graphs(&self) -> Vec<GraphName<'a>> {
        let cycles = self
            .0
            .table
            .rows()
            .filter(|row| row.text("what") == "cycle");
        let mut graphs: Vec<_> = cycles
            .map(|row| (row.text("graph"), row.text("nodes")))
            .collect();
        graphs.dedup();
        graphs
    }

    fn cores(&self) -> Vec<usize> {
        self.0.distinct_numbers(&[("what", "cycle")], "cores")
    }

    /// A simulated cycle; a sequential one has one core only.
    fn cycle(&self, graph: &str, scheduler: &str, cores: usize) -> Option<Row<'a>> {
        let cores = if scheduler == "sequential" { 1 } else { cores };
        self.0.find(&[
            ("what", "cycle"),
            ("graph", graph),
            ("scheduler", scheduler),
            ("cores", &cores.to_string()),
        ])
    }

    /// Simulated speed-up over sequential.
    fn speed_up(&self, graph: &str, scheduler: &str, cores: usize) -> Option<f64> {
        let us = |scheduler, cores| self.cycle(graph, scheduler, cores)?.number("predicted_us");
        Some(us("sequential", 1)? / us(scheduler, cores)?)
    }

    /// Error of a simulated cycle in percent; none where the playback is void.
    fn error(&self, row: &Row<'_>) -> Option<f64> {
        let (simulated, played) = (row.number("predicted_us")?, row.number("measured_us")?);
        (played > 0.0 && !self.0.is_void(row)).then(|| 100.0 * (simulated / played - 1.0))
    }

    fn costs(&self, page: &mut Page) {
        let list = |row: &Row<'_>| row.text("facts").replace(';', ", ");
        if let Some(row) = self.0.find(&[("what", "machine")]) {
            let times = format!("Between two cores, in ns: {}. {MACHINE_TIMES}", list(&row));
            page.paragraph("costs", &times);
        }
        let overhead = [("what", "overhead")];
        let rows = self
            .0
            .rows(&overhead)
            .map(|row| vec![row.text("scheduler").to_owned(), list(&row)]);
        let caption = "Overhead of each executor, in ns a task and a cycle";
        page.table("costs", caption, "Scheduler | Cost, ns", rows);
        let nodes = [("what", "nodes")];
        let rows = self.0.rows(&nodes).map(|row| {
            let graph = format!("{} {}", row.text("graph"), row.text("nodes"));
            vec![graph, list(&row)]
        });
        let caption = "Cost of a node by kind, in ns a block";
        page.table("costs", caption, "Graph | Cost, ns", rows);
    }

    fn errors(&self, page: &mut Page, (graph, nodes): GraphName<'_>) {
        let head = "Scheduler | 1 core, simulated µs | played µs | error | 2 cores, simulated µs | played µs | error";
        let rows = SCHEDULERS.into_iter().map(|scheduler| {
            let mut cells = vec![scheduler.to_owned()];
            for cores in ["1", "2"] {
                let filter = [
                    ("what", "cycle"),
                    ("graph", graph),
                    ("scheduler", scheduler),
                    ("cores", cores),
                ];
                let Some(row) = self.0.find(&filter) else {
                    cells.extend([const { String::new() }; 3]);
                    continue;
                };
                cells.extend(
                    ["predicted_us", "measured_us"].map(|column| row.text(column).to_owned()),
                );
                let error = self.error(&row).map(|error| format!("{error:+.1} %"));
                cells.push(error.unwrap_or_else(|| self.0.state(&row).to_owned()));
            }
            cells
        });
        let rows = rows.filter(|cells| cells[1..].iter().any(|cell| !cell.is_empty()));
        page.table("errors", &format!("{graph} of {nodes} nodes"), head, rows);
    }

    fn curves(&self, page: &mut Page, (graph, nodes): GraphName<'_>) {
        let cores = self.cores();
        let parallel = SCHEDULERS.into_iter().filter(|s| *s != "sequential");
        let curves = parallel.map(|scheduler| {
            let points = cores.iter();
            let points =
                points.filter_map(|n| Some((*n as f64, self.speed_up(graph, scheduler, *n)?)));
            (scheduler.to_owned(), points.collect())
        });
        let file = format!("scale-{}", graph.replace(' ', "-"));
        let title = format!("{graph} of {nodes} nodes: speed-up over sequential");
        let chart = Chart::curves(file, title, ["cores", "speed-up"], [true; 2], curves);
        page.chart("curves", chart, "Simulated. Both axes are logarithmic.");

        let shown: Vec<usize> = cores.into_iter().filter(|n| n.is_power_of_two()).collect();
        let head: Vec<String> = std::iter::once("Scheduler".to_owned())
            .chain(shown.iter().map(usize::to_string))
            .collect();
        let rows = SCHEDULERS.into_iter().map(|scheduler| {
            let speed_up = |n: &usize| decimals(self.speed_up(graph, scheduler, *n), 2);
            std::iter::once(scheduler.to_owned())
                .chain(shown.iter().map(speed_up))
                .collect()
        });
        page.table(
            "curves",
            "Simulated: speed-up over sequential, by cores",
            &head.join(" | "),
            rows,
        );
    }

    fn findings(&self, page: &mut Page) {
        let errors = ["1", "2"]
            .into_iter()
            .filter_map(|cores| self.errors_summary(cores));
        let best = self
            .graphs()
            .into_iter()
            .filter_map(|graph| self.best(graph));
        page.findings("findings", &errors.chain(best).collect::<Vec<_>>());
    }

    /// The simulator's error over all graphs and schedulers, in a sentence.
    fn errors_summary(&self, cores: &str) -> Option<String> {
        let filter = [("what", "cycle"), ("cores", cores)];
        let errors = self.0.rows(&filter).filter_map(|row| self.error(&row));
        let mut errors: Vec<f64> = errors.map(f64::abs).collect();
        errors.sort_by(f64::total_cmp);
        let (count, median, worst) = (errors.len(), errors.get(errors.len() / 2)?, errors.last()?);
        let s = if cores == "1" { "" } else { "s" };
        Some(format!(
            "On {cores} core{s}: the error of {count} simulations is {median:.1} % in the median, {worst:.1} % at worst."
        ))
    }

    /// The highest speed-up of a graph, in a sentence.
    fn best(&self, (graph, nodes): GraphName<'_>) -> Option<String> {
        let cores = self.cores();
        let max_cores = *cores.last()?;
        let mut best = (0.0, "", 0);
        for scheduler in SCHEDULERS.into_iter().filter(|s| *s != "sequential") {
            for cores in &cores {
                let speed_up = self.speed_up(graph, scheduler, *cores).unwrap_or(0.0);
                if speed_up >= best.0 {
                    best = (speed_up, scheduler, *cores);
                }
            }
        }
        let (speed_up, scheduler, cores) = best;
        let locked = self.speed_up(graph, "mutex", max_cores)?;
        Some(format!(
            "{graph} of {nodes} nodes: at best {speed_up:.1} times the speed of sequential, by {scheduler} on {cores} cores; \
             the locked queue comes to {locked:.2} on {max_cores}."
        ))
    }
}
