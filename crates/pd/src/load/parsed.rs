//! [`ParsedFiles`]: the files of a patch as they were read, so that the patch can be loaded again without the disk.

use crate::file::PatchFile;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A patch file, read once however often it is used.
#[derive(Debug)]
pub(super) struct ParsedFile {
    pub(super) number: u16,
    pub(super) name: String,
    pub(super) patch: PatchFile,
    /// Its own folder, then those that it declares.
    pub(super) folders: Vec<PathBuf>,
}

/// Files that were read, and paths of abstractions that were found.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParsedFiles {
    pub(super) parsed: HashMap<PathBuf, Arc<ParsedFile>>,
    /// By folders and name.
    pub(super) found: HashMap<(Vec<PathBuf>, String), Option<PathBuf>>,
    /// The first of them.
    pub(super) first: Option<Arc<ParsedFile>>,
}
