//! [`MachineFiles`]: what the system's files say of its cores, and give of them to a cell.
//!
//! | file | holds |
//! |---|---|
//! | `siblings` | threads of one physical core, which two cells do not share unasked |
//! | `grant` | [`Grant`]: cpuset, resctrl and clock rates of one cell, undone when it is dropped |
//! | `left` | what supervisors that have ended have not undone |
//!
//! All files are below a root folder, so that tests have a machine of their own. What a supervisor makes has its process
//! in its name: the next one undoes what one that has ended left.

mod grant;
mod left;
mod siblings;

pub(crate) use grant::Grant;

use std::path::{Path, PathBuf};

/// The files of the system below a folder.
#[derive(Clone, Debug)]
pub struct MachineFiles {
    root: PathBuf,
    /// Process in the names of what is made.
    owner: u32,
}

impl Default for MachineFiles {
    fn default() -> Self {
        Self::below(Path::new("/"))
    }
}

impl MachineFiles {
    /// The files below `root`.
    pub fn below(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            owner: std::process::id(),
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }
}
