//! The costs file itself, in the user's cache folder: JSON, an object for each machine.

use crate::MachineCosts;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

/// Measurements by machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CostsFile {
    /// By [`machine_key`](crate::machine_key).
    pub machines: BTreeMap<String, MachineCosts>,
}

/// Reason why the costs file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CostsError {
    /// It cannot be read or written. Without it, costs are measured anew.
    #[error("the costs file {0} cannot be read or written")]
    Io(PathBuf, #[source] io::Error),
    /// It is not a costs file, or it is damaged. [`CostsFile::keep_aside`] renames it.
    #[error("{0} is not a costs file")]
    Broken(PathBuf, #[source] serde_json::Error),
}

/// Upper bound on the bytes that are read; a real file is far smaller.
const MAX_BYTES: u64 = 64 << 20;

impl CostsFile {
    /// Reads the file `path`; a missing file is an empty one.
    ///
    /// # Errors
    ///
    /// [`CostsError`]: continue with [`CostsFile::default`], and report it.
    pub fn read(path: &Path) -> Result<Self, CostsError> {
        let broken = |error| CostsError::Broken(path.into(), error);
        match files::read(path, MAX_BYTES) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(broken),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Err(broken(
                serde::de::Error::custom("it is too large to be true"),
            )),
            Err(error) => Err(CostsError::Io(path.into(), error)),
        }
    }

    /// Writes the file `path` as a whole: a reader sees the old file or the new one, never a part.
    ///
    /// # Errors
    ///
    /// [`CostsError::Io`]: the old file is unchanged.
    ///
    /// Real-time: setup.
    pub fn write(&self, path: &Path) -> Result<(), CostsError> {
        let failed = |error| CostsError::Io(path.into(), error);
        let text = serde_json::to_vec(self).expect("its maps have text for keys");
        if text.len() as u64 > MAX_BYTES {
            let message = "it would be too large to be read again";
            return Err(failed(io::Error::new(io::ErrorKind::FileTooLarge, message)));
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        files::replace(path, text).map_err(failed)
    }

    /// Renames a damaged file, so that the next [`write`](Self::write) does not destroy what is left in it. Returns its
    /// new name.
    ///
    /// # Errors
    ///
    /// [`CostsError::Io`]: it keeps its name.
    ///
    /// Real-time: setup.
    pub fn keep_aside(path: &Path) -> Result<PathBuf, CostsError> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let seconds = now.map_or(0, |since| since.as_secs());
        let aside = path.with_extension(format!("damaged-{seconds}.json"));
        match fs::rename(path, &aside) {
            Ok(()) => Ok(aside),
            Err(error) => Err(CostsError::Io(path.into(), error)),
        }
    }
}

/// Path of this user's costs file; `None` where there is no home directory.
pub fn costs_path() -> Option<PathBuf> {
    let set = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(cache.join("divisi/costs.json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockCost, machine_key, node_shape};
    use graph::{Catalogue, Graph, Node};
    use units::{Frames, Nanos};

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("divisi-costs-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    fn measured(ns: u64) -> BlockCost {
        BlockCost {
            block: 64,
            ns,
            ..BlockCost::default()
        }
    }

    #[test]
    fn written_costs_are_read_back_and_found_by_node() {
        let mut graph = Graph::default();
        let osc = graph.add(Node::new("a", "osc")).unwrap();
        let mix = graph.add(Node::new("m", "mix")).unwrap();
        graph.add(Node::new("x", "unknown")).unwrap();
        let mut costs = CostsFile::default();
        let machine = costs.machines.entry(machine_key("scalar")).or_default();
        let kinds = Catalogue::default();
        let of = |id, ns| BlockCost {
            shape: node_shape(graph.node(id).unwrap(), &kinds),
            ..measured(ns)
        };
        machine.keep_kind("osc", of(osc, 100));
        machine.keep_kind("mix", measured(1883));
        machine.keep_patch("piece", &graph, [(mix, of(mix, 7)), (mix, of(mix, 8))]);
        let folder = folder("round");
        let path = folder.join("deep/costs.json");
        costs.write(&path).unwrap();
        costs.write(&path).unwrap();
        let read = CostsFile::read(&path).unwrap();
        assert_eq!(read, costs);
        let machine = &read.machines[&machine_key("scalar")];
        let found = machine
            .of_graph("piece", &graph, &kinds, Frames(64))
            .typical()
            .by_node;
        assert_eq!(found, [(osc, Nanos(100)), (mix, Nanos(8))].into());
        assert!(
            machine
                .of_graph("piece", &graph, &kinds, Frames(128))
                .0
                .is_empty()
        );
        assert_eq!(
            fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1,
            "nothing else is left behind"
        );
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_damaged_file_is_an_error_and_a_missing_one_is_empty() {
        let folder = folder("broken");
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("costs.json");
        assert_eq!(CostsFile::read(&path).unwrap(), CostsFile::default());
        for text in ["", "{", "{\"machines\": 3}", "\u{0}\u{1}"] {
            fs::write(&path, text).unwrap();
            assert!(
                matches!(CostsFile::read(&path), Err(CostsError::Broken(..))),
                "{text:?}"
            );
        }
        fs::write(&path, "{\"machines\": {}, \"of a later version\": 1}").unwrap();
        assert_eq!(CostsFile::read(&path).unwrap(), CostsFile::default());
        fs::remove_dir_all(folder).unwrap();
    }
}
