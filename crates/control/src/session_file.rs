//! The session's file: read again, and written as a whole.

use crate::ControlError;
use graph::{Catalogue, Graph, TempoMap};
use std::collections::HashSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use text::Session;
use text::toml::snapshots::{Snapshots, read_snapshots, set_snapshots, snapshots_text};

/// Largest file that a save replaces, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// Reads a session; an error is the text of its mistakes.
pub(crate) type ReadSession = Box<dyn Fn(&Path) -> Result<Session, String>>;

/// The session that plays, as far as the graph does not hold it, and its file.
pub(crate) struct SessionFile {
    path: PathBuf,
    session: Session,
    read: ReadSession,
    /// Content of the file when it was read or written last; `None` if it was not there.
    known: Option<Digest>,
}

/// A session that was read, and what its file held before.
pub(crate) struct LoadedFile {
    pub(crate) path: PathBuf,
    pub(crate) session: Session,
    known: Option<Digest>,
}

/// An old file that a save has kept.
pub(crate) struct KeptFile {
    path: PathBuf,
    /// True if somebody changed it since it was read; else it has comments that are lost.
    is_changed: bool,
}

impl fmt::Display for KeptFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.path.display();
        match self.is_changed {
            true => write!(
                formatter,
                "the file was changed since it was read; what it held is in {file}"
            ),
            false => write!(formatter, "comments are lost; the old file is {file}"),
        }
    }
}

/// Tells one text from another.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Digest(u64);

impl Digest {
    fn of(bytes: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        Self(hasher.finish())
    }

    /// Of a file, if it can be read.
    fn of_file(path: &Path) -> Option<Self> {
        Some(Self::of(&files::read(path, MAX_BYTES).ok()?))
    }
}

impl SessionFile {
    pub(crate) fn new(path: PathBuf, session: Session, read: ReadSession) -> Self {
        let known = Digest::of_file(&path);
        Self {
            path,
            session,
            read,
            known,
        }
    }

    /// Folder of the session.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// Returns true if this path is that of the session's file.
    pub(crate) fn is_own(&self, path: &Path) -> bool {
        files::FileId::of(path) == files::FileId::of(&self.path)
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
    pub(crate) fn load(&self, file: Option<&Path>) -> Result<LoadedFile, ControlError> {
        let path = file.unwrap_or(&self.path);
        if path.parent() != self.path.parent() {
            return Err(ControlError::Folder(path.to_owned()));
        }
        // Looked at first: what is changed while it is read is found changed by a save.
        let known = Digest::of_file(path);
        let session = (self.read)(path).map_err(|mistakes| ControlError::Session {
            file: path.to_owned(),
            mistakes,
        })?;
        Ok(LoadedFile {
            path: path.to_owned(),
            session,
            known,
        })
    }

    /// Takes what was loaded: its graph plays.
    pub(crate) fn accept(&mut self, loaded: LoadedFile) {
        (self.path, self.session, self.known) = (loaded.path, loaded.session, loaded.known);
    }

    /// Writes the session with `graph` and `snapshots`. Gives the file, and the one that has what is lost: comments, or what somebody wrote meanwhile. The own file is replaced as a whole; another one must not be there.
    pub(crate) fn save(
        &mut self,
        file: Option<&Path>,
        (graph, snapshots): (&Graph, &Snapshots),
        catalogue: &Catalogue,
    ) -> Result<(PathBuf, Option<KeptFile>), ControlError> {
        let path = file.unwrap_or(&self.path).to_owned();
        let path = path.as_path();
        if path.extension().is_some_and(|extension| extension == "pd") {
            let message = "a patch is not written: name a .toml file";
            return Err(ControlError::Format(message.to_owned()));
        }
        let is_own = self.is_own(path);
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
        let kept = self.keep_old(path, &written).map_err(failed)?;
        files::replace(path, &written).map_err(failed)?;
        if is_own {
            self.known = Some(Digest::of(written.as_bytes()));
        }
        Ok((path.to_owned(), kept))
    }

    /// Copies the file to `NAME~`, if it was changed since it was read, or has comments that `written` has not.
    fn keep_old(&self, path: &Path, written: &str) -> std::io::Result<Option<KeptFile>> {
        let old = match files::read(path, MAX_BYTES) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            old => old?,
        };
        if old == written.as_bytes() {
            return Ok(None);
        }
        let is_changed = self.known != Some(Digest::of(&old));
        if !is_changed && !loses_comments(path, &old, written) {
            return Ok(None);
        }
        let path = files::keep(path)?;
        Ok(Some(KeptFile { path, is_changed }))
    }
}

/// Returns true if `old` has comments that `written` has not.
fn loses_comments(path: &Path, old: &[u8], written: &str) -> bool {
    let (name, text) = (path.to_string_lossy(), String::from_utf8_lossy(old));
    let kept: HashSet<&str> = text::comments(&name, written).into_iter().collect();
    let mut comments = text::comments(&name, &text).into_iter();
    !comments.all(|comment| kept.contains(comment))
}
