//! [`NewFile`]: a file that is written beside the one that it replaces, and takes its name when it is complete.
//!
//! ```text
//!  create ──▶ .divisi-PID-N ── write, seek ──▶ commit: fsync, rename ──▶ NAME; what was there is NAME~
//!                    │                           │ refused: full disk
//!                    └── dropped ──▶ removed ◀───┘                       the old NAME is as it was
//! ```
//!
//! The earlier file is kept ([`keep`](crate::keep)) unless it has the same bytes, or was begun with [`NewFile::replace`].
//!
//! A terminal, a pipe that has a reader, or `/dev/null` is written directly: there is nothing to replace.

use crate::kept::{SecondName, have_equal_content, second_name};
use crate::regular::irregular;
use crate::system;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A file that is being written. Dropped before [`commit`](Self::commit) it leaves nothing behind.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    /// The file that it will replace, links followed.
    target: PathBuf,
    /// Its name until then; `None` if it is written directly, or has its name already.
    temporary: Option<PathBuf>,
    /// True if an earlier file is not kept.
    replaces: bool,
    /// The name of the earlier file, once this one has taken its place.
    kept: Option<SecondName>,
}

/// Time without a change after which a temporary file of a program that does not run is removed.
const ABANDONED_AFTER: Duration = Duration::from_secs(60);
/// Links that are followed from one name.
const MAX_LINKS: usize = 40;

impl NewFile {
    /// Begins a file that will be named `path`. A link is followed: what it names is meant. An earlier file of this name is kept
    /// as `NAME~`.
    ///
    /// # Errors
    ///
    /// No file can be made in its folder, the old one may not be written, or `path` is a folder.
    ///
    /// Real-time: waits, on the disk.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::begin(path.as_ref(), false)
    }

    /// Begins a file that will replace `path`, whose earlier content the caller has or made. Else as [`create`](Self::create).
    ///
    /// # Errors
    ///
    /// As for [`create`](Self::create).
    ///
    /// Real-time: waits, on the disk.
    pub fn replace(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::begin(path.as_ref(), true)
    }

    fn begin(path: &Path, replaces: bool) -> io::Result<Self> {
        // Not followed: the links of `/dev/stdout` lead to names that are no files.
        if path
            .metadata()
            .is_ok_and(|metadata| system::is_stream(&metadata))
        {
            return Self::stream(path.to_path_buf());
        }
        let target = follow_links(path)?;
        let old = match target.metadata() {
            Ok(metadata) if metadata.is_file() => {
                // What is write-protected stays, also where its folder is not.
                system::open_without_waiting(OpenOptions::new().write(true), &target)?;
                Some(metadata.permissions())
            }
            Ok(metadata) => return Err(irregular(&metadata)),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Self::beside(target, old, replaces)
    }

    fn stream(target: PathBuf) -> io::Result<Self> {
        // Refuses a pipe that nobody reads. Opened again, it waits for room as any program does; until then the first
        // one stays open, so that the reader does not see the end.
        let first = system::open_without_waiting(OpenOptions::new().write(true), &target)?;
        let file = OpenOptions::new().write(true).open(&target)?;
        drop(first);
        Ok(Self {
            file,
            target,
            temporary: None,
            replaces: true,
            kept: None,
        })
    }

    fn beside(
        target: PathBuf,
        permissions: Option<Permissions>,
        replaces: bool,
    ) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        if target.file_name().is_none() {
            return Err(ErrorKind::InvalidFilename.into());
        }
        loop {
            // Relaxed: only the number matters.
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!(".divisi-{}-{number}", std::process::id());
            let temporary = folder_of(&target).join(name);
            let mut options = OpenOptions::new();
            let made = options
                .read(true)
                .write(true)
                .create_new(true)
                .open(&temporary);
            match made {
                Ok(file) => {
                    let new = Self {
                        file,
                        target,
                        temporary: Some(temporary),
                        replaces,
                        kept: None,
                    };
                    if let Some(permissions) = permissions {
                        new.file.set_permissions(permissions)?;
                    }
                    return Ok(new);
                }
                // Left behind by a program with this number that was killed.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes everything to the disk and gives the file its name. Returns the name under which an earlier file of other content
    /// is kept.
    ///
    /// # Errors
    ///
    /// The disk fails: the old file is as it was.
    ///
    /// Real-time: waits, on the disk.
    pub fn commit(mut self) -> io::Result<Option<PathBuf>> {
        if self.file.metadata()?.is_file() {
            self.file.sync_all()?;
        }
        self.publish()?;
        self.forget_equal();
        Ok(self.kept.take().map(|kept| kept.path))
    }

    /// Gives the file its name now, while it is still being written: for recordings, which must outlive a killed program.
    /// Returns the name under which an earlier file is kept, for now: where both turn out to be equal, [`commit`](Self::commit)
    /// removes that name.
    ///
    /// # Errors
    ///
    /// It cannot be renamed, or the earlier file not be kept: that one is as it was.
    ///
    /// Real-time: waits, on the disk.
    pub fn publish(&mut self) -> io::Result<Option<&Path>> {
        let Some(temporary) = &self.temporary else {
            return Ok(None);
        };
        if !self.replaces && self.has_earlier(temporary) {
            self.kept = Some(second_name(&self.target)?);
        }
        if let Err(error) = fs::rename(temporary, &self.target) {
            // The earlier file has its name still.
            self.kept.take().into_iter().for_each(SecondName::remove);
            return Err(error);
        }
        self.temporary = None;
        // The new name reaches the disk with its folder. Where that cannot be forced, it does so within seconds.
        if let Ok(folder) = File::open(folder_of(&self.target)) {
            let _ = folder.sync_all();
        }
        Ok(self.kept.as_ref().map(|kept| kept.path.as_path()))
    }

    /// Returns true if there is a file of other content that would be lost.
    fn has_earlier(&self, temporary: &Path) -> bool {
        let earlier = self.target.metadata();
        earlier.is_ok_and(|earlier| earlier.len() > 0)
            && !have_equal_content(temporary, &self.target)
    }

    /// Removes the second name of an earlier file that turned out to have the same bytes: the same take was recorded again.
    fn forget_equal(&mut self) {
        let is_equal = |kept: &SecondName| have_equal_content(&kept.path, &self.target);
        if self.kept.as_ref().is_some_and(is_equal)
            && let Some(kept) = self.kept.take()
        {
            kept.remove();
        }
    }

    /// The open file.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for NewFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Writes `content` as the file `path`: a reader sees the old file or the new one, never a part. Returns the name under which an
/// earlier file of other content is kept.
///
/// # Errors
///
/// As for [`NewFile`]; the old file is as it was.
///
/// Real-time: waits, on the disk.
pub fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> io::Result<Option<PathBuf>> {
    let mut new = NewFile::create(path)?;
    new.write_all(content.as_ref())?;
    new.commit()
}

/// Writes `content` in place of the file `path`, whose earlier content the caller has or made. Else as [`write()`].
///
/// # Errors
///
/// As for [`write()`].
///
/// Real-time: waits, on the disk.
pub fn replace(path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> io::Result<()> {
    let mut new = NewFile::replace(path)?;
    new.write_all(content.as_ref())?;
    new.commit().map(drop)
}

/// Removes what killed programs left in `folder`: files named as [`NewFile`] names them, which have not changed for a minute
/// and whose program does not run any more. Files of others, links and folders stay.
///
/// Real-time: waits, on the disk.
pub fn remove_abandoned(folder: &Path) {
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let program = name.to_str().and_then(program_of);
        if let (Some(program), Ok(metadata)) = (program, entry.metadata()) {
            let age = metadata
                .modified()
                .ok()
                .and_then(|time| time.elapsed().ok());
            let is_old = age.is_some_and(|age| age >= ABANDONED_AFTER);
            if metadata.is_file() && is_old && !system::is_running(program) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// The number of the program in the name of a temporary file.
fn program_of(name: &str) -> Option<u32> {
    let (program, number) = name.strip_prefix(".divisi-")?.split_once('-')?;
    number.parse::<u64>().ok()?;
    program.parse().ok()
}

/// Returns an error if [`NewFile::create`] would. Changes nothing.
///
/// # Errors
///
/// As for [`NewFile::create`].
///
/// Real-time: waits, on the disk.
pub fn check_writable(path: impl AsRef<Path>) -> io::Result<()> {
    NewFile::create(path).map(drop)
}

/// The path that `path` names behind all links, whether there is a file or not.
pub(crate) fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match path.read_link() {
            Ok(to) => path = folder_of(&path).join(to),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links lead to it"))
}

/// The folder of `path`; `.` for a name alone.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
