//! Writes sessions as `.ag`, for other programs that read the format.
//!
//! The graph is written flat: parts and repeats become their nodes. Whatever the format has no syntax for is an error, so
//! the file plays as the session does.

use crate::failure::Failure;
use crate::files::{extension, write_file};
use crate::output::messages;
use crate::session::load::LoadedSession;
use divisi::graph::Catalogue;
use divisi::text::{Session, ag};
use std::path::{Path, PathBuf};

/// The text of `session` as `.ag`.
pub(crate) fn to_ag(session: &Session, catalogue: &Catalogue) -> Result<String, Failure> {
    ag::write(session, catalogue).map_err(|unsupported| {
        let words: Vec<String> = unsupported.iter().map(ToString::to_string).collect();
        Failure::failed(words.join("; "))
    })
}

/// Writes a session as the new file `path`, with names that the format can hold, and prints each changed name. A file
/// that is there is not replaced.
pub(crate) fn write_as_ag(loaded: &LoadedSession, path: &Path) -> Result<(), Failure> {
    check_target(loaded, path)?;
    let name = path.display();
    let (graph, changed) = ag::with_plain_names(&loaded.session.graph);
    let session = Session {
        graph,
        ..loaded.session.clone()
    };
    write_file(path, to_ag(&session, loaded.registry.catalogue())?)?;
    for (old, new) in changed {
        messages::print_message(&format!("{name}: `{old}` is called `{new}`"));
    }
    Ok(())
}

/// Refuses another extension, a file that is there, and another folder than that of relative file names.
fn check_target(loaded: &LoadedSession, path: &Path) -> Result<(), Failure> {
    let refuse = |reason: String| Err(Failure::bad_input(format!("{}: {reason}", path.display())));
    if extension(path) != "ag" {
        return refuse("the name must end in .ag".into());
    }
    if path.symlink_metadata().is_ok() {
        return refuse("there is such a file already: take another name".into());
    }
    let folders = [&*loaded.folder.join("session"), path].map(folder_of);
    let is_moved = folders[0] != folders[1];
    let mut files = loaded
        .file_params()
        .filter(|(_, name, _)| Path::new(name).is_relative());
    match files.next().filter(|_| is_moved) {
        Some((node, ..)) => refuse(format!(
            "`{}` names a file from the session's folder: write to that folder",
            node.name
        )),
        None => Ok(()),
    }
}

/// Folder of a file, without links.
fn folder_of(file: &Path) -> Option<PathBuf> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).canonicalize().ok()
}
