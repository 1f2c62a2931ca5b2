//! Lines for the user: what happens to cells and their supervisors, and what the sound lacks at the end.

use crate::failure::Failure;
use crate::output::messages;
use divisi::cells::{CellEvent, CellMoved, CellStatus, Monitor, Silence};

/// A line on a cell that has other cores, or does not get them.
pub(super) fn moved_text(moved: &CellMoved) -> String {
    let CellMoved {
        cell,
        from,
        to,
        why,
        is_made,
    } = moved;
    match is_made {
        true => format!("cell `{cell}`: moves from the cores {from:?} to {to:?}: {why}"),
        false => format!("cell `{cell}`: stays on the cores {from:?}: {why}"),
    }
}

/// Lines on what has happened to the cells.
pub(super) fn event_texts(monitor: &Monitor) -> Vec<String> {
    let mut lines = Vec::new();
    for event in monitor.events() {
        let line = match event {
            CellEvent::Playing {
                cell,
                process,
                is_continued,
            } => {
                if is_continued {
                    lines.push(format!("cell `{cell}`: continues from before the failure"));
                }
                format!("cell `{cell}`: process {process}")
            }
            CellEvent::PlaysOn { cell, process } => {
                format!("cell `{cell}`: plays on as process {process}")
            }
            CellEvent::Back { cell, blocks } => {
                format!("cell `{cell}`: silent for {blocks} blocks")
            }
            CellEvent::Ended { cell, why } => format!("cell `{cell}`: {why}"),
            CellEvent::GivenUp { cell } => {
                format!("cell `{cell}`: it failed too often and stays silent")
            }
            CellEvent::Refused { cell, what } => format!("note: cell `{cell}`: {what}"),
        };
        lines.push(line);
    }
    lines
}

/// A line on the silence that supervisors have left.
pub(super) fn silence_text(silence: Silence) -> String {
    let Silence {
        lost,
        blocks,
        longest,
    } = silence;
    format!("the supervisor: plays on; {lost} lost, silent for {blocks} blocks, {longest} at most")
}

/// Prints what a cell has done of the work of nodes elsewhere. Returns true if nothing is missing.
fn tell_work(cell: &str, status: &CellStatus) -> bool {
    let work = status.work();
    let (done, late, lost) = (work.done(), work.late(), work.lost());
    if done + late + lost > 0 || work.is_alone() {
        messages::print_message(&format!(
            "cell `{cell}`: {done} results of its work in time, {late} late, {lost} lost"
        ));
    }
    let nonsense = work.nonsense();
    if nonsense > 0 {
        let message = format!("cell `{cell}`: {nonsense} results of its work were nonsense");
        messages::print_message(&message);
    }
    late + lost + nonsense == 0
}

/// Prints what the sound lacks of each cell, after `lost` supervisors. Fails if it lacks anything.
pub(super) fn end(monitor: &Monitor, lost: u64) -> Result<(), Failure> {
    event_texts(monitor)
        .iter()
        .for_each(|line| messages::print_message(line));
    if let Some(Silence { lost, blocks, .. }) = monitor.silence() {
        let times = match lost {
            1 => "once".to_owned(),
            more => format!("{more} times"),
        };
        let message = format!("the supervisor was lost {times}: silent for {blocks} blocks");
        messages::print_message(&message);
    }
    let mut is_whole = lost == 0;
    for (cell, status) in monitor.statuses() {
        is_whole &= tell_work(cell, status);
        if status.work().is_alone() {
            continue;
        }
        let (blocks, lost, not_finite) = (status.blocks(), status.lost(), status.not_finite());
        messages::print_message(&format!("cell `{cell}`: {lost} of {blocks} blocks lost"));
        if not_finite > 0 {
            let message = format!("cell `{cell}`: {not_finite} samples were no finite numbers");
            messages::print_message(&message);
        }
        let events = status.lost_events();
        if events > 0 {
            let message = format!("cell `{cell}`: {events} events did not cross its border");
            messages::print_message(&message);
        }
        is_whole &= events == 0 && lost == 0 && not_finite == 0;
    }
    match is_whole {
        true => Ok(()),
        false => Err(Failure::failed(
            "the sound is not whole: blocks or results were lost",
        )),
    }
}
