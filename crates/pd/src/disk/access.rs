//! [`FileAccess`]: where files are found, and which may be written.

use super::handles::FileHandles;
use super::name::FileName;
use super::stream::SoundStreams;
use files::{FileId, NewFile};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// What the user of the program allows all patches that are nodes.
static GRANTED: LazyLock<Mutex<FileAccess>> = LazyLock::new(Mutex::default);

fn granted() -> MutexGuard<'static, FileAccess> {
    GRANTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Allows every patch that is a node to write into `folder` and folders in it. A session cannot allow that: only who starts the
/// program can.
///
/// Real-time: setup.
pub fn allow_writing(folder: &Path) {
    granted().allow(folder);
}

/// Keeps a file from being replaced by patches: one that the program itself writes.
///
/// Real-time: setup.
pub fn protect_from_writing(path: &Path) {
    granted().protect(path);
}

/// Number of files that patches could not write: they lie where no patch may write, or the disk has failed.
pub fn lost_writes() -> u64 {
    granted().lost_writes()
}

/// Folders of a patch, and what it may write.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileAccess {
    /// Searched after the folder of the file in which a box stands.
    pub search: Vec<PathBuf>,
    /// Folders, links followed, in which files may be made and replaced.
    writable: Vec<PathBuf>,
    /// Files that are in use: those of the patch, and the output of the program, which need not be there yet.
    protected: Vec<(Option<FileId>, Option<PathBuf>)>,
    refused: Arc<AtomicU64>,
    /// Sound files that are being written.
    pub streams: SoundStreams,
    /// Files that are read and written byte by byte.
    pub handles: FileHandles,
}

impl FileAccess {
    /// Allows a patch to write into `folder` and folders in it. A folder that is not there allows nothing.
    ///
    /// Real-time: setup.
    pub(crate) fn allow(&mut self, folder: &Path) {
        self.writable.extend(folder.canonicalize());
    }

    /// Keeps a file from being replaced.
    ///
    /// Real-time: setup.
    pub(crate) fn protect(&mut self, path: &Path) {
        self.protected.push((FileId::of(path), real_target(path)));
    }

    /// Adds the folders and files of another patch. What cannot be written is counted where the other one counts it.
    ///
    /// Real-time: setup.
    pub(crate) fn add(&mut self, other: &Self) {
        self.search.extend(other.search.iter().cloned());
        self.writable.extend(other.writable.iter().cloned());
        self.protected.extend(other.protected.iter().cloned());
        self.refused = other.refused.clone();
        self.streams = other.streams.clone();
        self.handles = other.handles.clone();
    }

    /// Adds what the user of the program has allowed for all patches.
    ///
    /// Real-time: setup.
    pub(crate) fn add_granted(&mut self) {
        let granted = granted();
        self.writable.extend(granted.writable.iter().cloned());
        self.protected.extend(granted.protected.iter().cloned());
        self.refused = granted.refused.clone();
    }

    /// Number of writes that were refused or failed: something was lost.
    pub(crate) fn lost_writes(&self) -> u64 {
        // Relaxed: a number that is read at the end.
        self.refused.load(Ordering::Relaxed)
    }

    /// Counts a file that is not written, whatever the cause.
    ///
    /// Real-time: hot.
    pub(crate) fn count_lost(&self) {
        // Relaxed: a number that is read at the end.
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// The file of a name that is there, or the name in the box's own folder.
    pub(super) fn find(&self, name: &FileName) -> PathBuf {
        let own = name.folder.join(&*name.name);
        if own.exists() {
            return own;
        }
        let found = self.search.iter().map(|folder| folder.join(&*name.name));
        found.into_iter().find(|path| path.is_file()).unwrap_or(own)
    }

    /// Replaces a file, or makes one.
    ///
    /// # Errors
    ///
    /// The file lies outside of the folders that may be written, or is in use, or the disk fails.
    pub(super) fn write(&self, name: &FileName, content: &[u8]) -> Result<(), String> {
        let result = self.write_checked(name, content);
        if result.is_err() {
            self.count_lost();
        }
        result.map_err(|why| format!("{}: {why}", name.name))
    }

    /// The path of a file that may be written.
    pub(super) fn target(&self, name: &FileName) -> Result<PathBuf, String> {
        let target =
            real_target(&name.folder.join(&*name.name)).ok_or("there is no such folder")?;
        if !self
            .writable
            .iter()
            .any(|folder| target.starts_with(folder))
        {
            return Err("a patch writes only into folders that --allow-write names".into());
        }
        let own = FileId::of(&target);
        let is_used = |(id, path): &(Option<FileId>, Option<PathBuf>)| {
            (own.is_some() && own == *id) || path.as_ref() == Some(&target)
        };
        match self.protected.iter().any(is_used) {
            true => Err("the file is in use".into()),
            false => Ok(target),
        }
    }

    fn write_checked(&self, name: &FileName, content: &[u8]) -> Result<(), String> {
        let target = self.target(name)?;
        let write = || {
            let new = NewFile::replace(&target)?;
            new.file().write_all(content)?;
            new.commit().map(drop)
        };
        write().map_err(|why: std::io::Error| why.to_string())
    }
}

/// A path without links; its last part need not be there.
fn real_target(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    if path.is_symlink() {
        return None;
    }
    let folder = match path.parent()? {
        folder if folder.as_os_str().is_empty() => Path::new("."),
        folder => folder,
    };
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(folder: &Path, name: &str) -> FileName {
        FileName {
            folder: folder.into(),
            name: crate::disk::ShortText::new(&[name]).expect("short"),
        }
    }

    #[test]
    fn a_patch_writes_only_where_it_may_and_never_over_its_own_files() {
        let folder = std::env::temp_dir().join(format!("divisi-pd-access-{}", std::process::id()));
        let inner = folder.join("out");
        std::fs::create_dir_all(&inner).expect("a folder can be made");
        std::fs::write(folder.join("patch.pd"), "#N").expect("writable");
        std::fs::write(inner.join("used.wav"), "used").expect("writable");
        let mut access = FileAccess::default();
        assert!(
            access.write(&name(&folder, "a"), b"x").is_err(),
            "nothing was allowed"
        );
        access.allow(&inner);
        access.protect(&inner.join("used.wav"));
        for refused in [
            "a",
            "out/../a",
            "patch.pd",
            "out/used.wav",
            "/nowhere/x",
            "out/no/x",
            "out",
        ] {
            assert!(
                access.write(&name(&folder, refused), b"x").is_err(),
                "{refused}"
            );
        }
        access
            .write(&name(&folder, "out/new"), b"1")
            .expect("allowed");
        access
            .write(&name(&folder, "out/new"), b"2")
            .expect("a patch replaces what it may write");
        assert_eq!(std::fs::read(inner.join("new")).expect("there"), b"2");
        assert_eq!(
            std::fs::read(folder.join("patch.pd")).expect("there"),
            b"#N"
        );
        assert_eq!(access.lost_writes(), 8);
        std::fs::remove_dir_all(&folder).expect("ours");
    }
}
