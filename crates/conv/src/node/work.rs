//! The other end of a node's long levels: their work in another process.

use super::away::lines;
use super::config::ConvolverConfig;
use super::scheduler::SchedulerChoice;
use processor::{MakeError, NodeWork, WorkContext};

/// The work of a node with this configuration, for another process.
///
/// # Errors
///
/// Its parameters say that something else does it, or no level is long enough.
///
/// Real-time: setup.
pub(super) fn works(
    config: &ConvolverConfig,
    context: &WorkContext<'_>,
) -> Result<Vec<Box<dyn NodeWork>>, MakeError> {
    let refused = |message: &str| MakeError::param("work", message);
    if !matches!(config.work, SchedulerChoice::Deferred) {
        return Err(refused("with this `work` no other process does it"));
    }
    let block = context.block.count();
    let built = config.build((context.rate, block), 0);
    let built = built.map_err(|why| MakeError::param("file", why))?;
    let (convolver, spare) = (built.adapter.into_convolver(), built.spare);
    let lines = lines(&convolver, block);
    match lines.is_empty() {
        true => Err(refused("no level is as long as two blocks")),
        false => Ok(convolver.into_line_works(&lines, spare)),
    }
}
