//! [`FileGuard`]: refuses an output that is also an input, or another output.

use crate::failure::Failure;
use divisi::costs::costs_path;
use divisi::files::FileId;
use divisi::pd::protect_from_writing;
use std::path::Path;

/// The files of one call. Links of both kinds lead to one file: it is known by its device and inode.
pub(crate) struct FileGuard {
    files: Vec<(FileId, Use)>,
}

/// Use that a call makes of a file.
#[derive(Clone, Copy)]
enum Use {
    Reads,
    Writes,
}

impl FileGuard {
    /// A guard that knows `inputs`, and the user's costs file.
    pub(crate) fn new<P: AsRef<Path>>(inputs: impl IntoIterator<Item = P>) -> Self {
        let ids = inputs.into_iter().filter_map(FileId::of);
        let costs = costs_path().and_then(FileId::of);
        Self {
            files: ids.chain(costs).map(|id| (id, Use::Reads)).collect(),
        }
    }

    /// Adds an input.
    pub(crate) fn input(&mut self, path: &Path) {
        self.files
            .extend(FileId::of(path).map(|id| (id, Use::Reads)));
    }

    /// Adds the file of a recorder. Another recorder of the session may have it too: that is a mistake in the session, which
    /// is shown with its place.
    pub(crate) fn recording(&mut self, path: &Path) -> Result<(), Failure> {
        let id = FileId::of(path);
        let is_recorded = |(other, used): &(FileId, Use)| {
            matches!(used, Use::Writes) && id.as_ref() == Some(other)
        };
        match self.files.iter().any(is_recorded) {
            true => Ok(()),
            false => self.output(path),
        }
    }

    /// Adds an output, over which no patch may write.
    pub(crate) fn output(&mut self, path: &Path) -> Result<(), Failure> {
        protect_from_writing(path);
        let Some(id) = FileId::of(path) else {
            return Ok(());
        };
        let name = path.display();
        match self.files.iter().find(|(other, _)| *other == id) {
            Some((_, Use::Reads)) => Err(Failure::bad_input(format!(
                "{name} is also an input: write to another file"
            ))),
            Some((_, Use::Writes)) => Err(Failure::bad_input(format!(
                "{name} would be written twice: write to another file"
            ))),
            None => {
                self.files.push((id, Use::Writes));
                Ok(())
            }
        }
    }
}
