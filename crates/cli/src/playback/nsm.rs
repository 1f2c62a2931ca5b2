//! `play` under the New Session Manager (`NSM_URL`): the session lies where the server says, and is saved when it asks.
//!
//! The server gives a path; the folder of that name holds `session.toml`. A new one begins as a copy of the file that was
//! named, with the files that it uses, so the user's own file is never written. Without one it begins with a silent output.

use crate::failure::Failure;
use crate::files::{write_failure, write_file};
use crate::session::load::LoadedSession;
use divisi::control::Controller;
use divisi::control::nsm::{NsmClient, NsmErrorCode, NsmProject, NsmRequest};
use divisi::files::{self, NewFile};
use divisi::prelude::Engine;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest wait for an answer of the server.
const PATIENCE: Duration = Duration::from_secs(20);
/// Names of a session in its folder, the first for new ones.
const NAMES: [&str; 2] = ["session.toml", "session.ag"];
/// A session without a template.
const EMPTY: &str = "# A session of Divisi.\n\n[nodes.out]\nkind = \"sink\"\n";

/// Address of the session manager, if this program was started by one.
pub(crate) fn url() -> Option<String> {
    std::env::var("NSM_URL").ok().filter(|url| !url.is_empty())
}

/// A session that a server keeps.
pub(crate) struct NsmSession {
    client: NsmClient,
    project: NsmProject,
    file: PathBuf,
    /// True once the server knows that the session is open.
    is_answered: bool,
    /// The server knows of changes that are not saved.
    has_unsaved: bool,
}

impl NsmSession {
    /// Announces this program and prepares the session that the server opens; `None` without a server. `template` is the
    /// file that was named, or empty.
    pub(crate) fn join(template: &Path) -> Result<Option<Self>, Failure> {
        let Some(url) = url() else {
            return Ok(None);
        };
        let name = std::env::args_os().next().unwrap_or_default();
        let name = Path::new(&name).file_name().unwrap_or_default();
        let name = name.to_string_lossy();
        let announced = NsmClient::announce(&url, ("Divisi", &name), PATIENCE);
        let (mut client, _) = announced.map_err(Failure::from_error)?;
        let project = client
            .wait_for_open(PATIENCE)
            .map_err(Failure::from_error)?;
        match prepare(&project.path, template) {
            Ok(file) => Ok(Some(Self {
                client,
                project,
                file,
                is_answered: false,
                has_unsaved: false,
            })),
            Err(failure) => {
                let refused = (NsmErrorCode::CreateFailed, failure.text());
                // The server sees us end too.
                let _ = client.answer(&NsmRequest::Open(project), Err(refused));
                Err(failure)
            }
        }
    }

    /// The session's file.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Name of our client, unique in the server's session.
    pub(crate) fn client_id(&self) -> &str {
        &self.project.client_id
    }

    /// Says that the session plays, and saves it when asked. Returns messages.
    pub(crate) fn serve(&mut self, controller: &mut Controller, engine: &Engine) -> Vec<String> {
        let mut messages = Vec::new();
        if !std::mem::replace(&mut self.is_answered, true) {
            let open = NsmRequest::Open(self.project.clone());
            // A server that is gone will not ask again.
            let _ = self.client.answer(&open, Ok("it plays"));
        }
        for request in self.client.requests() {
            let _ = match &request {
                NsmRequest::Save => match controller.save_session(engine) {
                    Ok(warning) => {
                        messages.extend(warning);
                        self.client.answer(&request, Ok("saved"))
                    }
                    Err(error) => {
                        let reason = error.to_string();
                        let refused = (NsmErrorCode::General, reason.as_str());
                        let answered = self.client.answer(&request, Err(refused));
                        messages.push(reason);
                        answered
                    }
                },
                // It was not announced that sessions can be changed.
                NsmRequest::Open(_) => {
                    let refused = (NsmErrorCode::NotNow, "a session plays: start anew");
                    self.client.answer(&request, Err(refused))
                }
            };
        }
        let has_unsaved = controller.has_unsaved_changes();
        if std::mem::replace(&mut self.has_unsaved, has_unsaved) != has_unsaved {
            // A server that is gone needs no news.
            let _ = self.client.report_unsaved(has_unsaved);
        }
        messages
    }
}

impl Drop for NsmSession {
    fn drop(&mut self) {
        if !self.is_answered {
            let open = NsmRequest::Open(self.project.clone());
            let refused = (
                NsmErrorCode::BadProject,
                "it does not play: its output says why",
            );
            let _ = self.client.answer(&open, Err(refused));
        }
    }
}

/// The session in `folder`, which is made if there is none.
fn prepare(folder: &Path, template: &Path) -> Result<PathBuf, Failure> {
    let there = NAMES.map(|name| folder.join(name));
    if let Some(file) = there.iter().find(|file| file.symlink_metadata().is_ok()) {
        return Ok(file.clone());
    }
    std::fs::create_dir_all(folder).map_err(|error| write_failure(folder, &error))?;
    if template.as_os_str().is_empty() {
        write_file(&there[0], EMPTY)?;
        return Ok(there[0].clone());
    }
    let is = |wanted: &str| template.extension().is_some_and(|it| it == wanted);
    if !is("toml") && !is("ag") {
        let message = "a session manager keeps sessions: name a .toml or .ag file, which may have a node `pd`";
        return Err(Failure::bad_input(message));
    }
    let loaded = LoadedSession::read_valid(template)?;
    for file in used_files(&loaded)? {
        copy_new(&loaded.folder.join(&file), &folder.join(&file))?;
    }
    // Last: a session that is there is whole.
    let is_ag = template
        .extension()
        .is_some_and(|extension| extension == "ag");
    let file = there[usize::from(is_ag)].clone();
    copy_new(template, &file)?;
    Ok(file)
}

/// Files that a session reads, relative to its folder. Those with an absolute name stay where they are.
fn used_files(loaded: &LoadedSession) -> Result<Vec<PathBuf>, Failure> {
    let folder = loaded.folder.join(".").canonicalize();
    let folder = folder.map_err(Failure::from_error)?;
    let named = loaded.file_params().filter(|(.., is_written)| !is_written);
    let named = named.map(|(_, name, _)| PathBuf::from(name));
    let named = named.filter(|name| name.is_relative());
    let named = named.map(|name| loaded.folder.join(name));
    let mut all = Vec::new();
    for path in named.chain(loaded.included_files()) {
        // What is not there is a mistake of the session, which its node reports.
        let Ok(path) = path.canonicalize() else {
            continue;
        };
        let inside = path.strip_prefix(&folder).map_err(|_| {
            let path = path.display();
            Failure::bad_input(format!(
                "{path} lies outside the session's folder: name it by its whole path, so that the session manager's copy finds it"
            ))
        })?;
        if !all.iter().any(|known| known == inside) {
            all.push(inside.to_owned());
        }
    }
    Ok(all)
}

/// Copies a file to a place where there is none.
fn copy_new(from: &Path, to: &Path) -> Result<(), Failure> {
    if to.symlink_metadata().is_ok() {
        return Ok(());
    }
    let failed = |error: std::io::Error| write_failure(to, &error);
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut source = files::open(from).map_err(|error| {
        let from = from.display();
        Failure::failed(format!("cannot read {from}: {error}"))
    })?;
    let copy = NewFile::create(to).map_err(failed)?;
    std::io::copy(&mut source, &mut copy.file()).map_err(failed)?;
    copy.commit().map(drop).map_err(failed)
}
