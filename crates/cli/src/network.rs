//! A session's process network: what `check` says of it, how `render` runs it over a file, and
//! how `draw` draws it.

mod job;
pub(crate) mod picture;
mod verdict;

pub(crate) use verdict::Verdict;

use crate::failure::Failure;
use crate::load::Loaded;
use crate::options::How;
use crate::outcome::Json;
use divisi::network::session::{NetworkReading, NetworkSpec};
use job::Job;
use std::path::Path;

/// The session's network; none where it has none, an error where it cannot run.
pub(crate) fn usable(loaded: &Loaded) -> Result<Option<NetworkSpec>, Failure> {
    let Some(NetworkReading {
        network: patch,
        diagnostics,
    }) = loaded.network()
    else {
        return Ok(None);
    };
    loaded.show(&diagnostics);
    let patch = patch.ok_or_else(Failure::said_wrong)?;
    match loaded.session.graph.is_empty() {
        true => Ok(Some(patch)),
        false => Err(Failure::wrong(
            "this session has nodes and a network: give the network a file of its own",
        )),
    }
}

/// Runs the session's network over the input into `output`; whether there was one.
pub(crate) fn render(loaded: &Loaded, how: &How, output: &Path) -> Result<bool, Failure> {
    let Some(patch) = usable(loaded)? else {
        return Ok(false);
    };
    let job = Job::new(&patch, loaded, how)?;
    let json = Json::open(how.json.as_deref())?;
    let (text, report) = job.run(&patch, how, output)?;
    json.tell(&text, &report.to_string())?;
    Ok(true)
}
