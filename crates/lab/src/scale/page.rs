//! The page of the experiment *scale*.

use super::runs::{BLOCK, settings};
use crate::Row;
use crate::chart::Chart;
use crate::page::Page;
use crate::results::{Results, decimals};
use divisi::prelude::Scheduler;

/// Explains the measurements of the machine.
const MACHINE_TIMES: &str = "(base: until the other core sees the data; kib: for each 1024 bytes; claim: a count that the \
    other changed last; wake: the waker's cost; woken: until the sleeper runs.)";
const ERRORS: &str = "Scheduler | 1 core, simulated µs | played µs | error | 2 cores, simulated µs | played µs | error";

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

fn parallel() -> impl Iterator<Item = Scheduler> {
    Scheduler::all().filter(|s| *s != Scheduler::Sequential)
}

struct View<'a>(&'a Results<'a>);

impl<'a> View<'a> {
    /// The graphs in the table.
    fn graphs(&self) -> Vec<GraphName<'a>> {
        let cycles = self.0.rows(&[("what", "cycle")]);
        let mut graphs: Vec<_> = cycles
            .map(|row| (row.text("graph"), row.text("nodes")))
            .collect();
        graphs.dedup();
        graphs
    }

    fn cores(&self) -> Vec<usize> {
        self.0.distinct_numbers(&[("what", "cycle")], "cores")
    }

    /// A simulated cycle.
    fn cycle(&self, graph: GraphName<'_>, scheduler: Scheduler, cores: usize) -> Option<Row<'a>> {
        self.0.find(settings("cycle", graph, scheduler, cores))
    }

    /// Simulated speed-up over sequential, which has one core only.
    fn speed_up(&self, graph: GraphName<'_>, scheduler: Scheduler, cores: usize) -> Option<f64> {
        let us = |scheduler, cores| self.cycle(graph, scheduler, cores)?.number("predicted_us");
        let cores = match scheduler {
            Scheduler::Sequential => 1,
            _ => cores,
        };
        Some(us(Scheduler::Sequential, 1)? / us(scheduler, cores)?)
    }

    /// Error of a simulated cycle in percent; none where the playback is void.
    fn error(&self, row: &Row<'_>) -> Option<f64> {
        let (simulated, played) = (row.number("predicted_us")?, row.number("measured_us")?);
        (played > 0.0 && !self.0.is_void(row)).then(|| 100.0 * (simulated / played - 1.0))
    }

    fn costs(&self, page: &mut Page) {
        let list = |row: &Row<'_>| row.text("facts").replace(';', ", ");
        if let Some(row) = self.0.rows(&[("what", "machine")]).last() {
            let times = format!("Between two cores, in ns: {}. {MACHINE_TIMES}", list(&row));
            page.paragraph("costs", &times);
        }
        let overhead = [("what", "overhead")];
        let rows = self.0.rows(&overhead);
        let rows = rows.map(|row| vec![row.text("scheduler").to_owned(), list(&row)]);
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

    fn errors(&self, page: &mut Page, graph: GraphName<'_>) {
        let rows = Scheduler::all().map(|scheduler| {
            let cells = [1, 2].map(|cores| {
                let Some(row) = self.cycle(graph, scheduler, cores) else {
                    return [const { String::new() }; 3];
                };
                let error = self.error(&row).map(|error| format!("{error:+.1} %"));
                let error = error.unwrap_or_else(|| self.0.state(&row).to_owned());
                let us = |column| row.text(column).to_owned();
                [us("predicted_us"), us("measured_us"), error]
            });
            [scheduler.to_string()]
                .into_iter()
                .chain(cells.into_iter().flatten())
                .collect()
        });
        let rows = rows.filter(|cells: &Vec<_>| cells[1..].iter().any(|cell| !cell.is_empty()));
        page.table(
            "errors",
            &format!("{} of {} nodes", graph.0, graph.1),
            ERRORS,
            rows,
        );
    }

    fn curves(&self, page: &mut Page, graph: GraphName<'_>) {
        let cores = self.cores();
        let curves = parallel().map(|scheduler| {
            let speed_up = |n: &usize| Some((*n as f64, self.speed_up(graph, scheduler, *n)?));
            (
                scheduler.to_string(),
                cores.iter().filter_map(speed_up).collect(),
            )
        });
        let file = format!("scale-{}", graph.0.replace(' ', "-"));
        let title = format!("{} of {} nodes: speed-up over sequential", graph.0, graph.1);
        let chart = Chart::curves(file, title, ["cores", "speed-up"], [true; 2], curves);
        page.chart("curves", chart, "Simulated. Both axes are logarithmic.");
        let shown = cores.iter().filter(|n| n.is_power_of_two());
        let shown: Vec<_> = shown.map(|n| (n.to_string(), *n)).collect();
        let caption = "Simulated: speed-up over sequential, by cores";
        page.grid(
            "curves",
            caption,
            "Scheduler",
            Scheduler::all(),
            &shown,
            |scheduler, n| decimals(self.speed_up(graph, *scheduler, *n), 2),
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
    fn best(&self, graph: GraphName<'_>) -> Option<String> {
        let cores = self.cores();
        let runs = parallel().flat_map(|scheduler| cores.iter().map(move |n| (scheduler, *n)));
        let speed_up = |(scheduler, n)| {
            (
                self.speed_up(graph, scheduler, n).unwrap_or(0.0),
                scheduler,
                n,
            )
        };
        let best = runs.map(speed_up).max_by(|a, b| a.0.total_cmp(&b.0));
        let ((speed_up, scheduler, cores), max_cores) = (best?, *cores.last()?);
        let locked = self.speed_up(graph, Scheduler::Mutex, max_cores)?;
        let (name, nodes) = graph;
        Some(format!(
            "{name} of {nodes} nodes: at best {speed_up:.1} times the speed of sequential, by {scheduler} on {cores} cores; \
             the locked queue comes to {locked:.2} on {max_cores}."
        ))
    }
}
