//! A session's process network: `check` verifies it, `render` runs it over a file, and
//! `draw` draws it.

mod check;
mod job;
pub(crate) mod picture;

pub(crate) use check::NetworkCheck;

use crate::failure::Failure;
use crate::guard::FileGuard;
use crate::output::json::JsonOutput;
use crate::session::load::LoadedSession;
use crate::session::options::PlayOptions;
use divisi::network::session::{NetworkReading, NetworkSpec};
use job::NetworkJob;
use std::path::Path;

/// The session's network: `None` if it has none, an error if it cannot run.
pub(crate) fn read_valid(loaded: &LoadedSession) -> Result<Option<NetworkSpec>, Failure> {
    let Some(NetworkReading {
        network: spec,
        diagnostics,
    }) = loaded.network()
    else {
        return Ok(None);
    };
    loaded.print_diagnostics(&diagnostics);
    let spec = spec.ok_or_else(Failure::bad_input_reported)?;
    match loaded.session.graph.is_empty() {
        true => Ok(Some(spec)),
        false => Err(Failure::bad_input(
            "this session has nodes and a network: give the network a file of its own",
        )),
    }
}

/// Runs the session's network over the input into `output`. Returns false if the session has no network.
pub(crate) fn render_network(
    loaded: &LoadedSession,
    options: &PlayOptions,
    output: &Path,
    guard: &mut FileGuard,
) -> Result<bool, Failure> {
    let Some(spec) = read_valid(loaded)? else {
        return Ok(false);
    };
    let job = NetworkJob::new(&spec, loaded, options, output)?;
    let json = JsonOutput::open(options.json.as_deref(), guard)?;
    let (text, report) = job.run(&spec, options, output)?;
    json.write(&text, &report.to_string())?;
    Ok(true)
}
