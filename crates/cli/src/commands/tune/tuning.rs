//! Costs of convolution levels: those in the user's costs file, else the built-in table.

use crate::session::costs_store::CostsStore;
use divisi::conv;
use divisi::costs::Tuning;

/// Costs of convolution levels on this machine, with these kernels.
pub(in crate::commands) struct Tuned {
    store: CostsStore,
    key: String,
}

impl Tuned {
    /// Reads the file. An unreadable file is reported and counts as empty.
    pub(in crate::commands) fn read() -> Self {
        Self {
            store: CostsStore::load(),
            key: conv::costs_file_key(),
        }
    }

    fn tuning(&self) -> Option<&Tuning> {
        self.store
            .costs
            .machines
            .get(&self.key)?
            .convolution
            .as_ref()
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
        let machine = self
            .store
            .costs
            .machines
            .entry(self.key.clone())
            .or_default();
        machine.convolution = Some(Tuning::from(&all));
        Ok(self.store.save()?.display().to_string())
    }
}
