//! Long levels of a node, done in another process: which, and both ends of them.

use super::config::ConvolverConfig;
use super::scheduler::Work;
use crate::Convolver;
use processor::{MakeError, Mode, Setup, WorkContext, WorkSeat};

/// Blocks that a period has at least: a result that is due a block later would come late.
const MIN_BLOCKS: usize = 2;

/// The delay lines of `convolver` whose work can be done in another process, in a graph with this block.
fn lines(convolver: &Convolver, block: usize) -> Vec<usize> {
    let lines = convolver.fdls().enumerate();
    let long = lines.filter(|(_, line)| !line.is_in_callback && line.size >= MIN_BLOCKS * block);
    long.map(|(at, _)| at).collect()
}

/// Has lines done in another process, if one does the work of the node at `seat`. Returns those that are not.
///
/// Real-time: setup.
pub(super) fn travel(convolver: &mut Convolver, seat: &WorkSeat, setup: &Setup<'_>) -> Vec<usize> {
    let long = match setup.mode {
        Mode::DryRun => Vec::new(),
        _ => lines(convolver, setup.block.count()),
    };
    for (index, line) in long.iter().enumerate() {
        let words = convolver.line_words(*line);
        if let Some(channel) = words.and_then(|words| seat.channel(index, words)) {
            convolver.send_away(*line, channel, setup.mode == Mode::Offline);
        }
    }
    let lines = convolver.fdls().enumerate();
    let beside = lines.filter(|(_, line)| !line.is_in_callback);
    let mut here: Vec<usize> = beside.map(|(at, _)| at).collect();
    here.retain(|at| !convolver.is_away(*at));
    here
}

/// The work of a node with this configuration, for another process.
///
/// # Errors
///
/// Its parameters say that something else does it, it has a second response, or no level is long enough.
///
/// Real-time: setup.
pub(super) fn works(
    config: &ConvolverConfig,
    context: &WorkContext<'_>,
) -> Result<Vec<Box<dyn processor::Work>>, MakeError> {
    let refused = |message: &str| MakeError::param("work", message);
    if !matches!(config.work, Work::Deferred) {
        return Err(refused("with this `work` no other process does it"));
    }
    if config.responses.count() > 1 {
        return Err(refused("a node with `other` does its work itself"));
    }
    let block = context.block.count();
    let built = config.build((context.rate, block), 0);
    let built = built.map_err(|why| MakeError::param("file", why))?;
    let convolver = built.adapter.into_convolver();
    let lines = lines(&convolver, block);
    match lines.is_empty() {
        true => Err(refused("no level is as long as two blocks")),
        false => Ok(convolver.into_line_works(&lines)),
    }
}
