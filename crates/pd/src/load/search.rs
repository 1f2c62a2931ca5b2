//! [`SearchPath`]: the folders in which abstractions are looked for.

use crate::file::Atom;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of one patch file, at most.
const MAX_BYTES: u64 = 256 << 20;

/// Folders that a user names, searched after those of the patch itself.
#[derive(Clone, Debug, Default)]
pub struct SearchPath {
    folders: Vec<PathBuf>,
}

impl SearchPath {
    /// Folders of Pd on this system, behind every other: its abstractions (`rev1~`, `output~`) are there.
    const SYSTEM: [&str; 2] = ["/usr/lib/puredata/extra", "/usr/lib/pd/extra"];

    /// `folders` first, then those of Pd on this system.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let system = Self::SYSTEM.iter().map(PathBuf::from);
        Self {
            folders: folders.into_iter().chain(system).collect(),
        }
    }

    /// `folders` alone.
    pub fn only(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            folders: folders.into_iter().collect(),
        }
    }

    /// All folders, in their order.
    pub(super) fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.folders.iter()
    }

    /// The abstraction `name`: searched in `near`, then in the user's folders, there also in a folder of its own name.
    pub(super) fn find(&self, near: &[PathBuf], name: &str) -> Option<PathBuf> {
        let file = PathBuf::from(format!("{name}.pd"));
        if file.is_absolute() {
            return file.is_file().then_some(file);
        }
        let own = Path::new(name).join(&file);
        let mut paths = near.iter().map(|folder| folder.join(&file)).chain(
            self.folders
                .iter()
                .flat_map(|folder| [folder.join(&file), folder.join(&own)]),
        );
        paths.find(|path| path.is_file())
    }
}

/// Folders that `declare -path` of a patch in `folder` names.
pub(super) fn declared(words: &[Atom], folder: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let flag = word.as_symbol().unwrap_or("");
        if matches!(flag, "-path" | "-stdpath")
            && let Some(name) = words.next()
        {
            folders.push(folder.join(name.to_string()));
        }
    }
    folders
}

/// Text of a patch file. Old patches are in Latin-1, so bytes that are not UTF-8 become U+FFFD.
pub(super) fn read_text(path: &Path) -> io::Result<String> {
    let bytes = files::read(path, MAX_BYTES)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(wrong) => String::from_utf8_lossy(wrong.as_bytes()).into_owned(),
    })
}
