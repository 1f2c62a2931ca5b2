//! [`FileHandles`]: files that a patch reads and writes byte by byte (`file handle`).

use super::access::FileAccess;
use super::name::FileName;
use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Files that a patch has open at a time, at most.
const MAX_OPEN: usize = 64;

/// Way in which a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandleMode {
    Read,
    /// Bytes are written over those that are there.
    Write,
    /// Bytes come behind those that are there.
    Append,
    /// An empty file takes the place of an older one.
    Create,
}

/// Origin of an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeekFrom {
    Start,
    Current,
    End,
}

/// Something of the open file `number`, which is given by who opens it and which nobody else uses.
#[expect(
    clippy::large_enum_variant,
    reason = "where it is made nothing may be allocated: it moves through queues of fixed size"
)]
#[derive(Clone, Debug)]
pub(crate) enum HandleRequest {
    Open {
        number: u64,
        name: FileName,
        mode: HandleMode,
    },
    /// Reads `count` bytes, or those that are left.
    Read {
        number: u64,
        count: usize,
    },
    Write {
        number: u64,
        bytes: Vec<u8>,
    },
    Seek {
        number: u64,
        offset: i64,
        from: SeekFrom,
    },
    Close(u64),
}

/// Result of a request. A mistake is a sentence.
#[derive(Debug)]
pub(crate) enum HandleReply {
    Opened(u64, Result<(), String>),
    /// None at the end of the file, which is closed then. `Err(None)`: it is not open.
    Read(u64, Result<Vec<u8>, Option<String>>),
    /// The memory, to be used again; a file that took not all is closed.
    Written(u64, Vec<u8>, Result<(), String>),
    /// The place; `None` if the file is not open.
    Sought(Option<i64>),
    Closed,
}

/// Open files by their numbers. All copies are one.
#[derive(Clone, Default)]
pub(crate) struct FileHandles(Arc<Mutex<HashMap<u64, File>>>);

impl std::fmt::Debug for FileHandles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FileHandles")
    }
}

impl FileHandles {
    fn all(&self) -> MutexGuard<'_, HashMap<u64, File>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, number: u64, file: File) -> Result<(), String> {
        let mut all = self.all();
        if all.len() >= MAX_OPEN {
            return Err(format!("more than {MAX_OPEN} files are open"));
        }
        all.insert(number, file);
        Ok(())
    }

    fn read(&self, number: u64, count: usize) -> Result<Vec<u8>, Option<String>> {
        let mut all = self.all();
        let file = all.get_mut(&number).ok_or(None)?;
        let mut bytes = Vec::new();
        let read = file.take(count as u64).read_to_end(&mut bytes);
        if bytes.is_empty() {
            all.remove(&number);
        }
        match read {
            Err(why) if bytes.is_empty() => Err(Some(why.to_string())),
            _ => Ok(bytes),
        }
    }

    /// Writes bytes. A file that takes not all is closed.
    fn write(&self, number: u64, bytes: &[u8]) -> Result<(), String> {
        let mut all = self.all();
        let file = all.get_mut(&number).ok_or("it is not open")?;
        let result = file.write_all(bytes);
        if result.is_err() {
            all.remove(&number);
        }
        result.map_err(|why| why.to_string())
    }

    fn seek(&self, number: u64, offset: i64, from: SeekFrom) -> Option<i64> {
        let mut all = self.all();
        let file = all.get_mut(&number)?;
        let to = match from {
            SeekFrom::Start => u64::try_from(offset).ok().map(std::io::SeekFrom::Start),
            SeekFrom::Current => Some(std::io::SeekFrom::Current(offset)),
            SeekFrom::End => Some(std::io::SeekFrom::End(offset)),
        };
        // As C says that there is no such place.
        let place = to.and_then(|to| file.seek(to).ok());
        Some(place.map_or(-1, |place| place.cast_signed()))
    }
}

/// Opens a file as `mode` says: to be written only where a patch may write.
fn open(name: &FileName, mode: HandleMode, access: &FileAccess) -> Result<File, String> {
    let opened = match mode {
        HandleMode::Read => files::open(name.folder.join(&*name.name)),
        HandleMode::Write => files::open_to_change(access.target(name)?, false),
        HandleMode::Append => files::open_to_change(access.target(name)?, true),
        HandleMode::Create => {
            let create = |target| {
                let mut new = files::NewFile::replace(target)?;
                // Readers see it at once, as in Pd.
                new.publish()?;
                new.file().try_clone()
            };
            create(access.target(name)?)
        }
    };
    opened.map_err(|why| why.to_string())
}

impl HandleRequest {
    /// Returns true if it writes a file.
    pub(super) fn is_write(&self) -> bool {
        match self {
            Self::Open { mode, .. } => *mode != HandleMode::Read,
            Self::Write { .. } => true,
            _ => false,
        }
    }

    /// The reply where nothing may be written.
    pub(super) fn left_out(&self) -> Option<HandleReply> {
        match self {
            Self::Open { number, mode, .. } if *mode != HandleMode::Read => {
                Some(HandleReply::Opened(*number, Ok(())))
            }
            _ => None,
        }
    }

    /// Does what is asked.
    ///
    /// Real-time: waits, on the disk.
    pub(super) fn serve(self, access: &FileAccess) -> HandleReply {
        let handles = &access.handles;
        match self {
            Self::Open { number, name, mode } => {
                let opened = open(&name, mode, access).and_then(|file| handles.open(number, file));
                if opened.is_err() && mode != HandleMode::Read {
                    access.count_lost();
                }
                HandleReply::Opened(
                    number,
                    opened.map_err(|why| format!("unable to open '{}': {why}", name.name)),
                )
            }
            Self::Read { number, count } => HandleReply::Read(number, handles.read(number, count)),
            Self::Write { number, bytes } => {
                let result = handles.write(number, &bytes);
                if result.is_err() {
                    access.count_lost();
                }
                HandleReply::Written(number, bytes, result)
            }
            Self::Seek {
                number,
                offset,
                from,
            } => HandleReply::Sought(handles.seek(number, offset, from)),
            Self::Close(number) => {
                handles.all().remove(&number);
                HandleReply::Closed
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::ShortText;
    use std::path::Path;

    fn opened(folder: &Path, name: &str, mode: HandleMode, access: &FileAccess) -> bool {
        let name = FileName {
            folder: folder.into(),
            name: ShortText::new(&[name]).expect("short"),
        };
        let request = HandleRequest::Open {
            number: 1,
            name,
            mode,
        };
        matches!(request.serve(access), HandleReply::Opened(1, Ok(())))
    }

    #[test]
    fn a_handle_changes_only_what_a_patch_may_write() {
        let folder = std::env::temp_dir().join(format!("divisi-pd-handles-{}", std::process::id()));
        let inner = folder.join("out");
        std::fs::create_dir_all(&inner).expect("a folder can be made");
        std::fs::write(folder.join("mine"), "mine").expect("writable");
        std::fs::write(inner.join("used"), "used").expect("writable");
        std::os::unix::fs::symlink(folder.join("mine"), inner.join("link")).expect("a link");
        std::os::unix::fs::symlink(folder.join("new"), inner.join("dangling")).expect("a link");
        let mut access = FileAccess::default();
        access.allow(&inner);
        access.protect(&inner.join("used"));
        use HandleMode::{Append, Create, Read, Write};
        for mode in [Write, Append, Create] {
            for name in [
                "mine",
                "out/../mine",
                "out/link",
                "out/dangling",
                "out/used",
                "out",
                "out/no/x",
                "/dev/null",
            ] {
                assert!(!opened(&folder, name, mode, &access), "{name} {mode:?}");
            }
        }
        for name in ["out", "/dev/zero", "nothing"] {
            assert!(!opened(&folder, name, Read, &access), "{name}");
        }
        assert_eq!(access.lost_writes(), 24);
        assert!(opened(&folder, "mine", Read, &access));
        assert!(opened(&folder, "out/new", Create, &access));
        assert!(!folder.join("new").exists());
        assert_eq!(std::fs::read(folder.join("mine")).expect("there"), b"mine");
        assert_eq!(std::fs::read(inner.join("used")).expect("there"), b"used");
        std::fs::remove_dir_all(&folder).expect("ours");
    }
}
