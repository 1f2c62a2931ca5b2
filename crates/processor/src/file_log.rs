//! [`FileLog`]: problems with the files of a node, for the user.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// News for the user about a file of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileProblem {
    /// A file that is read is damaged; what it lacks is silent.
    Damaged(String),
    /// Sound that was to be recorded is lost.
    Lost(String),
    /// An earlier file is kept under another name: no loss, but the user should know.
    Kept(String),
}

impl FileProblem {
    /// The sentence for the user.
    pub fn message(&self) -> &str {
        match self {
            Self::Damaged(message) | Self::Lost(message) | Self::Kept(message) => message,
        }
    }

    /// Returns true if sound was lost that cannot be had again.
    pub fn is_loss(&self) -> bool {
        matches!(self, Self::Lost(_))
    }

    /// Returns true if a file that is read is damaged.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged(_))
    }

    /// The earlier file of the name `path` is kept as `kept`.
    pub fn kept(path: &Path, kept: &Path) -> Self {
        let (path, kept) = (path.display(), kept.display());
        Self::Kept(format!("the earlier {path} is kept as {kept}"))
    }
}

/// The problems of one node. Its processor and its background tasks report them, the engine reads them.
#[derive(Clone, Debug, Default)]
pub struct FileLog(Arc<Mutex<Vec<FileProblem>>>);

/// The most problems that are kept of a node.
const MAX_PROBLEMS: usize = 16;

impl FileLog {
    /// Adds a problem, once.
    ///
    /// Real-time: waits, on other threads that report. For [`Processor::setup`](crate::Processor::setup) and background
    /// tasks.
    pub fn report(&self, problem: FileProblem) {
        let mut all = self.lock();
        if all.len() < MAX_PROBLEMS && !all.contains(&problem) {
            all.push(problem);
        }
    }

    /// The problems so far.
    ///
    /// Real-time: setup.
    pub fn problems(&self) -> Vec<FileProblem> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<FileProblem>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
