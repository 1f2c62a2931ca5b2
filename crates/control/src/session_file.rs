//! The session's file: read again, and written as a whole.

use crate::ControlError;
use graph::{Catalogue, Graph};
use std::path::{Path, PathBuf};
use text::Session;
use text::toml::snapshots::{Snapshots, read_snapshots, set_snapshots, snapshots_text};

/// Reads a session; an error is the text of its mistakes.
pub(crate) type ReadSession = Box<dyn Fn(&Path) -> Result<Session, String>>;

/// The session that plays, as far as the graph does not hold it, and its file.
pub(crate) struct SessionFile {
    path: PathBuf,
    session: Session,
    read: ReadSession,
}

impl SessionFile {
    pub(crate) fn new(path: PathBuf, session: Session, read: ReadSession) -> Self {
        Self {
            path,
            session,
            read,
        }
    }

    /// Folder of the session.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// The session, whose graph may be older than the one that plays.
    pub(crate) fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The graph of a file; it is the session's own from [`Self::accept`] on.
    pub(crate) fn load(&self, file: Option<&Path>) -> Result<(PathBuf, Session), ControlError> {
        let path = file.unwrap_or(&self.path);
        if path.parent() != self.path.parent() {
            return Err(ControlError::Folder(path.to_owned()));
        }
        let session = (self.read)(path).map_err(|mistakes| ControlError::Session {
            file: path.to_owned(),
            mistakes,
        })?;
        Ok((path.to_owned(), session))
    }

    /// Takes what was loaded: its graph plays.
    pub(crate) fn accept(&mut self, (path, session): (PathBuf, Session)) {
        (self.path, self.session) = (path, session);
    }

    /// Writes the session with `graph` and `snapshots`. The own file is replaced as a whole; another one must not be there.
    pub(crate) fn save(
        &mut self,
        file: Option<&Path>,
        (graph, snapshots): (&Graph, &Snapshots),
        catalogue: &Catalogue,
    ) -> Result<PathBuf, ControlError> {
        let path = file.unwrap_or(&self.path);
        let is_own = files::FileId::of(path) == files::FileId::of(&self.path);
        if !is_own && path.symlink_metadata().is_ok() {
            return Err(ControlError::Exists(path.to_owned()));
        }
        self.session.graph = graph.clone();
        let (written, _) = read_snapshots(&snapshots_text(&self.session), graph, catalogue);
        if written != *snapshots {
            set_snapshots(&mut self.session, snapshots);
        }
        let is_ag = path.extension().is_some_and(|extension| extension == "ag");
        let written = match is_ag {
            true => text::ag::write(&self.session, catalogue).map_err(|all| {
                let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                ControlError::Format(all.join("; "))
            })?,
            false => text::toml::write(&self.session, catalogue),
        };
        files::write(path, written).map_err(|source| ControlError::Write {
            file: path.to_owned(),
            source,
        })?;
        Ok(path.to_owned())
    }
}
