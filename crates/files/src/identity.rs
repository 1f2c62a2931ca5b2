//! [`FileId`]: the identity of a file, whatever name leads to it.

use crate::{new_file, system};
use std::path::{Path, PathBuf};

/// Identity of a file: two names of one file (links of both kinds, `a/../b`) have the same one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileId(Identity);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Identity {
    /// Device and inode.
    Existing(u64, u64),
    /// The whole path, where a file does not exist yet or the system has no inodes.
    Named(PathBuf),
}

impl FileId {
    /// Identity of the file `path`, or of the one that would be created there. `None` for folders, pipes and devices, and
    /// where no file can be.
    ///
    /// Real-time: waits, on the disk.
    pub fn of(path: impl AsRef<Path>) -> Option<Self> {
        let path = path.as_ref();
        let Ok(metadata) = path.metadata() else {
            return Self::of_missing(path);
        };
        if !metadata.is_file() {
            return None;
        }
        let id = match system::device_and_inode(&metadata) {
            Some((device, inode)) => Identity::Existing(device, inode),
            None => Identity::Named(path.canonicalize().ok()?),
        };
        Some(Self(id))
    }

    fn of_missing(path: &Path) -> Option<Self> {
        let path = new_file::follow_links(path).ok()?;
        let folder = new_file::folder_of(&path).canonicalize().ok()?;
        Some(Self(Identity::Named(folder.join(path.file_name()?))))
    }
}
