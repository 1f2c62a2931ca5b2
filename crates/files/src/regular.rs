//! Reading: regular files only, and never more than a stated number of bytes.

use crate::system;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Opens a regular file for reading.
///
/// # Errors
///
/// There is no such file, it may not be read, or it is a folder, a pipe or a device.
///
/// Real-time: waits, on the disk, never on another program.
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    let path = path.as_ref();
    // Looked at before it is opened, because opening some devices has effects; and after it, because the name may have
    // been given to another file in between.
    check_regular(&path.metadata()?)?;
    let file = system::open_without_waiting(OpenOptions::new().read(true), path)?;
    check_regular(&file.metadata()?)?;
    Ok(file)
}

/// Opens a regular file to change it where it is, or makes an empty one. Its bytes stay; with `appends` all that is written comes
/// behind them. A link is not followed: name what it leads to.
///
/// # Errors
///
/// It may not be written, or it is a link, a folder, a pipe or a device.
///
/// Real-time: waits, on the disk, never on another program.
pub fn open_to_change(path: impl AsRef<Path>, appends: bool) -> io::Result<File> {
    let path = path.as_ref();
    let mut options = OpenOptions::new();
    options.read(true).write(!appends).append(appends);
    match path.symlink_metadata() {
        Ok(metadata) => check_regular(&metadata)?,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return options.write(true).create_new(true).open(path);
        }
        Err(error) => return Err(error),
    }
    let file = system::open_without_waiting(&mut options, path)?;
    check_regular(&file.metadata()?)?;
    Ok(file)
}

/// Reads a whole regular file of at most `max_bytes` bytes.
///
/// # Errors
///
/// As for [`open`]; [`ErrorKind::FileTooLarge`] if there are more bytes.
///
/// Real-time: waits, on the disk.
pub fn read(path: impl AsRef<Path>, max_bytes: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let stated = file.metadata()?.len();
    let mut bytes = Vec::new();
    if stated <= max_bytes {
        // Files of `/proc` state no length, and a file may grow while it is read.
        bytes.reserve_exact(usize::try_from(stated).unwrap_or(0));
        file.take(max_bytes.saturating_add(1))
            .read_to_end(&mut bytes)?;
    }
    if stated > max_bytes || bytes.len() as u64 > max_bytes {
        let message = format!("it has more than {max_bytes} bytes");
        return Err(io::Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Refuses folders, pipes and devices.
pub(crate) fn check_regular(metadata: &Metadata) -> io::Result<()> {
    match metadata.is_file() {
        true => Ok(()),
        false => Err(irregular(metadata)),
    }
}

/// The error for what is not a regular file.
pub(crate) fn irregular(metadata: &Metadata) -> io::Error {
    let kind = match metadata.is_dir() {
        true => ErrorKind::IsADirectory,
        false => ErrorKind::InvalidInput,
    };
    io::Error::new(kind, system::describe(metadata))
}
