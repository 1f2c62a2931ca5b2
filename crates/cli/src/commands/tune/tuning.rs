//! The tuning in the user's costs file, and the built-in table where there is none.

use crate::failure::error_chain;
use crate::output::messages;
use divisi::conv;
use divisi::costs::{CostsFile, Tuning, costs_path};

/// Tuning of this machine with these kernels.
pub(in crate::commands) struct Tuned {
    costs: CostsFile,
    key: String,
}

impl Tuned {
    /// Reads the file. An unreadable file is reported and counts as empty.
    pub(in crate::commands) fn read() -> Self {
        let read = costs_path().map_or(Ok(CostsFile::default()), |path| CostsFile::read(&path));
        let costs = read.unwrap_or_else(|error| {
            messages::print_note(&format!("{}: nothing in it is used", error_chain(&error)));
            CostsFile::default()
        });
        Self {
            costs,
            key: conv::costs_file_key(),
        }
    }

    fn tuning(&self) -> Option<&Tuning> {
        self.costs.machines.get(&self.key)?.convolution.as_ref()
    }

    /// Source of the costs, in words.
    pub(super) fn source(&self) -> &'static str {
        match self.tuning() {
            Some(_) => "measured on this machine",
            None => "the built-in table; `divisi tune` measures this machine",
        }
    }

    /// The measured tuning; `None` if nothing was measured.
    pub(in crate::commands) fn measured(&self) -> Option<conv::CostTable> {
        self.tuning().map(conv::CostTable::from)
    }

    /// The measured costs, else the built-in table.
    pub(super) fn costs(&self) -> conv::CostTable {
        self.measured().unwrap_or_else(conv::CostTable::built_in)
    }

    /// Stores the measured costs. Returns the file, or the reason why not.
    pub(super) fn store(&mut self, found: &conv::CostTable) -> Result<String, String> {
        let mut all = self.tuning().map(conv::CostTable::from).unwrap_or_default();
        all.merge(found);
        let machine = self.costs.machines.entry(self.key.clone()).or_default();
        machine.convolution = Some(Tuning::from(&all));
        let path = costs_path().ok_or("there is no home to keep it in")?;
        self.costs
            .write(&path)
            .map_err(|error| error_chain(&error))?;
        Ok(path.display().to_string())
    }
}
