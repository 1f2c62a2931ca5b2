//! The costs file: what was measured on which machine, kept in the user's cache folder.
//!
//! JSON, one table a machine. What one machine measured says nothing of another, and nothing of the same machine with
//! other kernels, so both are in the key. A file that cannot be read costs only a new measurement.

use graph::{Graph, NodeId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};
use units::{Frames, Nanos};

/// What was measured, by machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CostsFile {
    /// See [`machine_key`].
    pub machines: BTreeMap<String, MachineCosts>,
}

/// What was measured on one machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineCosts {
    /// A node of a kind.
    pub kinds: BTreeMap<String, Vec<BlockCost>>,
    /// The nodes of a patch, by the patch's name and the node's.
    pub patches: BTreeMap<String, BTreeMap<String, Vec<BlockCost>>>,
    /// The machine itself; `None` until it has been measured.
    pub facts: Option<CoreTimings>,
    /// How graphs are to be played, by what the engine knows them again by.
    pub choices: BTreeMap<String, ChosenSchedule>,
    /// What partitioned convolution costs; `None` until it has been measured.
    pub convolution: Option<crate::Tuning>,
}

/// How a graph is to be played: what was tried and was best.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChosenSchedule {
    /// When that was chosen, in seconds since 1970.
    pub at_s: u64,
    /// The scheduler's name.
    pub scheduler: String,
    /// How many workers.
    pub workers: usize,
    /// By how many blocks a pipeline's last stage lags.
    pub ahead: Option<u32>,
    /// The worst cycle, in ns.
    pub worst_ns: Option<u64>,
    /// The mean one.
    pub mean_ns: Option<u64>,
    /// The worst one of the sequential code.
    pub sequential_worst_ns: Option<u64>,
    /// And its mean one.
    pub sequential_mean_ns: Option<u64>,
}

/// What passing something on costs between cores: what was measured of the machine itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CoreTimings {
    /// When it was measured, in seconds since 1970.
    pub at_s: u64,
    /// Each pair of cores that was measured. A pair stands for both directions.
    pub links: Vec<CoreLink>,
    /// What it costs a worker to wake another that sleeps; `None` where there is only one core.
    pub wake_ns: Option<f64>,
    /// How long it takes from then until the other runs.
    pub woken_ns: Option<f64>,
    /// Taking a count that another core took last.
    pub claim_ns: Option<f64>,
    /// From the push of a task to its theft by another core.
    pub steal_ns: Option<f64>,
    /// Taking one time stamp and keeping it in a trace: this is taken off what nodes were measured to cost.
    pub mark_ns: f64,
}

/// What data costs on its way from one core to another: more than it would on one core alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoreLink {
    /// The system's number of one core.
    pub from: usize,
    /// And of the other.
    pub to: usize,
    /// Until the other sees that it is there.
    pub base_ns: f64,
    /// For each 1024 bytes of it.
    pub per_kib_ns: f64,
}

/// What one block costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockCost {
    /// Frames in the block.
    pub block: u32,
    /// Nanoseconds, typically.
    pub ns: u64,
    /// The worst, with caches that hold nothing of use; `None` where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_ns: Option<u64>,
}

/// Why the costs file is of no use.
#[derive(Debug)]
#[non_exhaustive]
pub enum CostsError {
    /// It cannot be read or written. Without it costs are measured anew.
    Io(PathBuf, io::Error),
    /// It is not a costs file, or a broken one. Remove it, or measure anew: that replaces it.
    Broken(PathBuf, serde_json::Error),
}

/// How many choices are kept.
const MOST_CHOICES: usize = 1000;

/// The largest file that is read; a real one is far smaller.
const LARGEST: u64 = 64 << 20;

impl CostsFile {
    /// Reads the file `path`; one that is not there is an empty one.
    ///
    /// # Errors
    ///
    /// [`CostsError`]: go on with [`MeasuredCosts::default`] and say so.
    pub fn read(path: &Path) -> Result<Self, CostsError> {
        let broken = |error| CostsError::Broken(path.into(), error);
        match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Ok(facts) if facts.len() > LARGEST => {
                return Err(broken(serde::de::Error::custom(
                    "it is too large to be true",
                )));
            }
            _ => {}
        }
        let bytes = fs::read(path).map_err(|error| CostsError::Io(path.into(), error))?;
        serde_json::from_slice(&bytes).map_err(broken)
    }

    /// Writes the file `path`, at once and whole: who reads it meanwhile sees the old one or the new one.
    ///
    /// # Errors
    ///
    /// [`CostsError::Io`]: the old file is as it was.
    pub fn write(&self, path: &Path) -> Result<(), CostsError> {
        let failed = |error| CostsError::Io(path.into(), error);
        let text = serde_json::to_vec_pretty(self).expect("its maps have text for keys");
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let new = path.with_extension(format!("new-{}", std::process::id()));
        let written = fs::write(&new, text).and_then(|()| fs::rename(&new, path));
        written
            .inspect_err(|_| drop(fs::remove_file(&new)))
            .map_err(failed)
    }
}

impl MachineCosts {
    /// What the nodes of `graph` cost in blocks of `block` frames: as measured in the patch called `patch`, else as
    /// measured for their kind. Nodes of which neither is known are left out.
    pub fn of_graph(&self, patch: &str, graph: &Graph, block: Frames) -> plan::MeasuredCosts {
        let patch = self.patches.get(patch);
        let ns = |name: &str, kind: &str| {
            let own = patch
                .and_then(|nodes| nodes.get(name))
                .and_then(|all| at(all, block));
            own.or_else(|| self.kinds.get(kind).and_then(|all| at(all, block)))
        };
        let known = graph
            .nodes()
            .filter_map(|(id, node)| Some((id, Nanos(ns(&node.name, node.effective_kind())?))));
        plan::MeasuredCosts {
            by_node: known.collect(),
        }
    }

    /// Keeps what the nodes of `graph` were measured to cost in the patch called `patch`.
    pub fn keep_patch(
        &mut self,
        patch: &str,
        graph: &Graph,
        costs: impl IntoIterator<Item = (NodeId, BlockCost)>,
    ) {
        let nodes = self.patches.entry(patch.into()).or_default();
        for (id, cost) in costs {
            if let Some(node) = graph.node(id) {
                replace(nodes.entry(node.name.clone()).or_default(), cost);
            }
        }
    }

    /// Keeps how a graph is to be played; of very many the oldest is forgotten.
    pub fn keep_choice(&mut self, key: String, chosen: ChosenSchedule) {
        self.choices.insert(key, chosen);
        while self.choices.len() > MOST_CHOICES {
            let oldest = self.choices.iter().min_by_key(|(_, chosen)| chosen.at_s);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
                return;
            };
            self.choices.remove(&oldest);
        }
    }

    /// Keeps what a node of a kind was measured to cost.
    pub fn keep_kind(&mut self, kind: &str, cost: BlockCost) {
        replace(self.kinds.entry(kind.into()).or_default(), cost);
    }
}

/// One measurement for each size of block: the newest.
fn replace(all: &mut Vec<BlockCost>, new: BlockCost) {
    all.retain(|one| one.block != new.block);
    all.push(new);
}

/// The cost at just this block size; sizes are not scaled, since costs are not proportional.
fn at(all: &[BlockCost], block: Frames) -> Option<u64> {
    let found = all.iter().find(|one| one.block == block.0);
    found.map(|one| one.ns)
}

/// The costs file of this user; none where there is no home.
pub fn costs_path() -> Option<PathBuf> {
    let set = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(cache.join("divisi/costs.json"))
}

/// This machine with these kernels: its processor's name, its number of cores, the kernels.
pub fn machine_key(kernels: &str) -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or(std::env::consts::ARCH, |rest| {
        rest.trim_start_matches([' ', '\t', ':'])
    });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{model}, {cores} cores, {kernels}")
}

impl fmt::Display for CostsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, _) => write!(
                f,
                "the costs file {} cannot be read or written",
                path.display()
            ),
            Self::Broken(path, _) => write!(f, "{} is not a costs file", path.display()),
        }
    }
}

impl std::error::Error for CostsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(_, error) => Some(error),
            Self::Broken(_, error) => Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use graph::Node;

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
            worst_ns: None,
        }
    }

    #[test]
    fn what_is_written_is_read_back_and_finds_its_nodes() {
        let mut graph = Graph::default();
        let osc = graph.add(Node::new("a", "osc")).unwrap();
        let mix = graph.add(Node::new("m", "mix")).unwrap();
        graph.add(Node::new("x", "unknown")).unwrap();
        let mut costs = CostsFile::default();
        let machine = costs.machines.entry(machine_key("scalar")).or_default();
        machine.kinds.insert("osc".into(), vec![measured(100)]);
        machine.keep_patch("piece", &graph, [(mix, measured(7)), (mix, measured(8))]);
        let folder = folder("round");
        let path = folder.join("deep/costs.json");
        costs.write(&path).unwrap();
        costs.write(&path).unwrap();
        let read = CostsFile::read(&path).unwrap();
        assert_eq!(read, costs);
        let machine = &read.machines[&machine_key("scalar")];
        let found = machine.of_graph("piece", &graph, Frames(64)).by_node;
        assert_eq!(found, [(osc, Nanos(100)), (mix, Nanos(8))].into());
        assert!(
            machine
                .of_graph("piece", &graph, Frames(128))
                .by_node
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
    fn a_broken_file_is_said_and_an_absent_one_is_empty() {
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
