//! Long levels of a node that are done in another process: which, and how they leave.

use crate::Convolver;
use processor::{Mode, Setup, WorkSeat};

/// Blocks that a period has at least: a result that is due a block later would come late.
const MIN_BLOCKS: usize = 2;

/// The delay lines of `convolver` whose work can be done in another process, in a graph with this block.
pub(super) fn lines(convolver: &Convolver, block: usize) -> Vec<usize> {
    let lines = convolver.fdls().enumerate();
    let long = lines.filter(|(_, line)| !line.is_in_callback && line.size >= MIN_BLOCKS * block);
    long.map(|(at, _)| at).collect()
}

/// Has lines done in another process, if one does the work of the node at `seat`, which was made with response `first`. Returns those
/// that are not.
///
/// Real-time: setup.
pub(super) fn travel(
    convolver: &mut Convolver,
    (seat, first): (&WorkSeat, usize),
    setup: &Setup<'_>,
) -> Vec<usize> {
    let long = match setup.mode {
        Mode::DryRun => Vec::new(),
        _ => lines(convolver, setup.block.count()),
    };
    for (index, line) in long.iter().enumerate() {
        let words = convolver.line_words(*line);
        if let Some(channel) = words.and_then(|words| seat.channel(index, words)) {
            let waits = setup.mode == Mode::Offline;
            convolver.send_away(*line, channel, (waits, first));
        }
    }
    let lines = convolver.fdls().enumerate();
    let beside = lines.filter(|(_, line)| !line.is_in_callback);
    let mut here: Vec<usize> = beside.map(|(at, _)| at).collect();
    here.retain(|at| !convolver.is_away(*at));
    here
}
