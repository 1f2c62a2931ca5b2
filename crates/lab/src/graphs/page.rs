//! What the experiment *graphs* says: everything from its table.

mod own;
mod product;
mod shows;
mod view;

use super::cells::{CONTROL, DEAR_NS};
use crate::chart::Chart;
use crate::page::Page;
use crate::{MachineInfo, Table, state};
use view::View;

/// The page and its pictures.
pub(crate) fn page(table: &Table, machine: &MachineInfo) -> (String, Vec<Chart>) {
    let view = View {
        table,
        cores: machine.cores,
    };
    let mut page = Page::new("Audio graphs under every schedule");
    let mut charts = Vec::new();
    method(&mut page, machine);
    page.machine(machine, crate::dates(table));
    state::section(&mut page, table, machine.cores);
    control(&view, &mut page);
    view.own(&mut page, &mut charts);
    view.product(&mut page);
    view.shows(&mut page);
    (page.finish(), charts)
}

fn method(page: &mut Page, machine: &MachineInfo) {
    page.text(
        "An audio engine plays a graph of nodes (oscillators, modulators, mixers, outputs) a block of frames at a time. \
         Each block must be done before the device asks for the next: its period is the deadline. The nodes of one block can \
         be shared out among threads in many ways. In 2019 Eisha Chen-yen-su and Ivan Delgado compared four of them \
         (sequential, HLFET, ETF, work stealing) in a student's report; here their comparison is made again with Divisi, \
         with every schedule that it has.",
    );
    page.section("What was done");
    page.list([
        "Three shapes: a line (nothing can run side by side: what is lost here is the price of sharing out), a diamond \
         (splits in two again and again, then joins), a rake (chains that meet in one mixer: the most that can be gained)."
            .to_owned(),
        format!(
            "Two kinds of inner nodes. `sound`: modulators, as in the report; at 128 frames each takes far less than a \
             microsecond. `dear`: nodes that burn {DEAR_NS} ns a frame, about one transcendental function a frame, so that \
             there is something to share out."
        ),
        "The report's own cells are played at the beat of a clock at 48 kHz, as a device would give it: 2, 3 and 4 threads \
         at 128 frames; 16 to 512 frames at 3 threads; 3 threads at 128 frames on a machine at rest and on one in use. Its \
         histograms (3 threads, 2048 frames) and the product of everything with everything are played block after block, \
         without waiting."
            .to_owned(),
        "The machine in use: for each core an ordinary thread that works 20 ms out of every 33, half of it streaming through \
         32 MiB of memory, half computing, as a player of video does (the report played a video)."
            .to_owned(),
        "A cycle is timed from the call to its return. It is counted as missed if it takes longer than the period, or, at the \
         beat, if it is not done when the next beat comes, be it that it was called late. The first 8 cycles of a run count \
         for nothing."
            .to_owned(),
        format!(
            "This machine has {} cores. With more threads than cores, threads take turns on a core and nobody gets real-time \
             priority; with no more threads than cores, runs at the beat ask for it. Runs block after block are ordinary \
             threads always.",
            machine.cores
        ),
        "Fusion joins cheap steps to one task before they are shared out; `off` shows the bare schedules. What each node \
         costs, and what handing over between cores costs, was measured before and told to every schedule."
            .to_owned(),
    ]);
}

/// What the machine does to a graph of next to nothing.
fn control(view: &View<'_>, page: &mut Page) {
    page.section("The control");
    page.text(
        "An oscillator into an output, on one thread, in the same places: what takes long here is the machine's doing \
         (other programs, the host of a virtual machine), not a schedule's. Worst cases below that are no longer than \
         these say nothing about a schedule.",
    );
    let controls = view
        .table
        .rows()
        .filter(|r| r.text("shape") == CONTROL.name);
    let rows: Vec<_> = controls
        .map(|r| {
            let columns = [
                "block",
                "load",
                "pace",
                "cycles",
                "mean_us",
                "worst_us",
                "missed",
                "stolen_ms",
            ];
            columns.map(|c| r.text(c).to_owned()).into()
        })
        .collect();
    let head = [
        "Frames",
        "Machine",
        "Pace",
        "Cycles",
        "Mean µs",
        "Worst µs",
        "Missed",
        "Taken by the host, ms",
    ];
    page.table("Control runs", &head, &rows);
}
