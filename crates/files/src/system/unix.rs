//! Unix: opening without waiting, the identity of a file, free space.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Opens `path` as `options` say. A pipe without a peer, or a slow device, does not block.
pub(crate) fn open_without_waiting(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    options.custom_flags(flags.bits() as i32).open(path)
}

/// Device and inode of a file.
pub(crate) fn device_and_inode(metadata: &Metadata) -> Option<(u64, u64)> {
    Some((metadata.dev(), metadata.ino()))
}

/// Returns true for what takes bytes and keeps none: a terminal, a pipe, `/dev/null`.
pub(crate) fn is_stream(metadata: &Metadata) -> bool {
    let kind = metadata.file_type();
    kind.is_char_device() || kind.is_fifo()
}

/// Describes what is not a regular file.
pub(crate) fn describe(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    match () {
        () if kind.is_dir() => "it is a folder",
        () if kind.is_fifo() => "it is a pipe, not a regular file",
        () if kind.is_socket() => "it is a socket, not a regular file",
        () => "it is a device, not a regular file",
    }
}

/// Number of bytes that may still be written to the file system of `folder`; `None` if it does not say.
///
/// Real-time: setup.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let system = rustix::fs::statvfs(folder).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize))
}

/// Returns true if a program with this number runs.
pub(crate) fn is_running(program: u32) -> bool {
    let number = i32::try_from(program).ok();
    let process = number.and_then(rustix::process::Pid::from_raw);
    // Another user's program may not be signalled, but it runs.
    process.is_some_and(|process| {
        rustix::process::test_kill_process(process) != Err(rustix::io::Errno::SRCH)
    })
}
