//! Systems other than Unix: files are told apart by their names only.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// Opens `path` as `options` say.
pub(crate) fn open_without_waiting(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

/// Device and inode of a file: unknown.
pub(crate) fn device_and_inode(_metadata: &Metadata) -> Option<(u64, u64)> {
    None
}

/// Returns true for what takes bytes and keeps none.
pub(crate) fn is_stream(_metadata: &Metadata) -> bool {
    false
}

/// Describes what is not a regular file.
pub(crate) fn describe(metadata: &Metadata) -> &'static str {
    match metadata.is_dir() {
        true => "it is a folder",
        false => "it is not a regular file",
    }
}

/// Number of bytes that may still be written: unknown.
///
/// Real-time: setup.
pub fn free_bytes(_folder: &Path) -> Option<u64> {
    None
}

/// Returns true: running programs are not known here, so that nothing is taken for abandoned.
pub(crate) fn is_running(_program: u32) -> bool {
    true
}
