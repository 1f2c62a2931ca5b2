//! The session's file: read again, and written as a whole.

use crate::ControlError;
use graph::{Catalogue, Graph, TempoMap};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use text::Session;
use text::toml::snapshots::{Snapshots, read_snapshots, set_snapshots, snapshots_text};

/// Largest session whose comments are looked for, in bytes.
const MAX_BYTES: u64 = 256 << 20;

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

    /// The tempo of the session as it was read last.
    pub(crate) fn tempo(&self) -> &TempoMap {
        self.session.graph.tempo()
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

    /// Writes the session with `graph` and `snapshots`. Gives the file, and the one that has the comments that are lost. The own file is replaced as a whole; another one must not be there.
    pub(crate) fn save(
        &mut self,
        file: Option<&Path>,
        (graph, snapshots): (&Graph, &Snapshots),
        catalogue: &Catalogue,
    ) -> Result<(PathBuf, Option<PathBuf>), ControlError> {
        let path = file.unwrap_or(&self.path);
        if path.extension().is_some_and(|extension| extension == "pd") {
            let message = "a patch is not written: name a .toml file";
            return Err(ControlError::Format(message.to_owned()));
        }
        let is_own = files::FileId::of(path) == files::FileId::of(&self.path);
        if !is_own && path.symlink_metadata().is_ok() {
            return Err(ControlError::Exists(path.to_owned()));
        }
        // The graph that plays has the tempo of its start; that of the session may be another one by now.
        let tempo = self.session.graph.tempo().clone();
        self.session.graph = graph.clone();
        self.session.graph.set_tempo(tempo);
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
        let failed = |source| ControlError::Write {
            file: path.to_owned(),
            source,
        };
        let kept = self.keep_comments(path, &written).map_err(failed)?;
        files::write(path, written).map_err(failed)?;
        Ok((path.to_owned(), kept))
    }

    /// Copies the file to `NAME~`, if it has comments that `written` has not. Gives that name.
    fn keep_comments(&self, path: &Path, written: &str) -> std::io::Result<Option<PathBuf>> {
        let Ok(old) = files::read(path, MAX_BYTES) else {
            return Ok(None);
        };
        let (name, text) = (path.to_string_lossy(), String::from_utf8_lossy(&old));
        let kept: HashSet<&str> = text::comments(&name, written).into_iter().collect();
        let mut comments = text::comments(&name, &text).into_iter();
        if comments.all(|comment| kept.contains(comment)) {
            return Ok(None);
        }
        let mut copy = path.as_os_str().to_owned();
        copy.push("~");
        let copy = PathBuf::from(copy);
        files::write(&copy, old)?;
        Ok(Some(copy))
    }
}
