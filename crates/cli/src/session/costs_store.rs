//! The user's costs file: every measurement of this machine.

use crate::output::messages;
use divisi::costs::{CostsError, CostsFile, MachineCosts, costs_path, machine_key};
use divisi::graph::error_chain;
use std::path::{Path, PathBuf};

/// Name of the kernel set in the key of this machine.
const KERNELS: &str = "scalar";

/// The costs file and its path.
pub(crate) struct CostsStore {
    pub(crate) costs: CostsFile,
    path: Option<PathBuf>,
    /// The file is damaged, and is kept under another name when it is written again.
    is_damaged: bool,
}

impl CostsStore {
    /// Reads the file. An unreadable file is reported and counts as empty.
    pub(crate) fn load() -> Self {
        let path = costs_path();
        let read = path
            .as_deref()
            .map_or(Ok(CostsFile::default()), CostsFile::read);
        let is_damaged = matches!(read, Err(CostsError::Broken(..)));
        let costs = read.unwrap_or_else(|error| {
            messages::print_message(&format!("{}: the file is ignored", error_chain(&error)));
            CostsFile::default()
        });
        Self {
            costs,
            path,
            is_damaged,
        }
    }

    /// Measurements of this machine.
    pub(crate) fn machine_costs(&mut self) -> &mut MachineCosts {
        let key = machine_key(KERNELS);
        self.costs.machines.entry(key).or_default()
    }

    /// Writes the file. Returns its path, or the reason why not.
    pub(crate) fn save(&mut self) -> Result<&Path, String> {
        let path = self
            .path
            .as_deref()
            .ok_or("there is no home folder for the costs file")?;
        let reason = |error: CostsError| error_chain(&error);
        if std::mem::take(&mut self.is_damaged) {
            let aside = CostsFile::keep_aside(path).map_err(reason)?;
            let (path, aside) = (path.display(), aside.display());
            messages::print_message(&format!("{path} was damaged and is now {aside}"));
        }
        self.costs.prune();
        self.costs.write(path).map_err(reason)?;
        Ok(path)
    }
}

/// Measurements of this machine in the costs file `path`, or of the only machine in it.
pub(crate) fn read_machine_costs(path: &Path) -> Result<MachineCosts, CostsError> {
    if !path.exists() {
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        return Err(CostsError::Io(path.into(), missing));
    }
    let mut costs = CostsFile::read(path)?;
    let here = costs.machines.remove(&machine_key(KERNELS));
    let only = |costs: CostsFile| costs.machines.into_values().next();
    Ok(here.or_else(|| only(costs)).unwrap_or_default())
}

/// Key of the session `file` in the costs file.
pub(crate) fn graph_key(file: &Path) -> String {
    let whole = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    whole.to_string_lossy().into_owned()
}
