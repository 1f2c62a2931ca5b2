//! Costs as `divisi tune` measured them on this machine: from the costs file (`costs`) to the choice of partitions and back.

use super::{CostTable, LevelCost};
use ::costs::{CostsFile, TunedLevel, Tuning, costs_path};
use fft::{Kernels, LANES, Packing};
use std::time::{SystemTime, UNIX_EPOCH};

/// Key of this machine in the costs file, with the kernels that convolution uses.
///
/// Real-time: setup.
pub fn costs_file_key() -> String {
    ::costs::machine_key(Kernels::best().name())
}

/// The costs of this machine in the user's costs file; `None` where it was not measured, or the file cannot be read.
///
/// Real-time: setup.
pub fn read_tuned_costs() -> Option<CostTable> {
    let file = CostsFile::read(&costs_path()?).ok()?;
    let machine = file.machines.get(&costs_file_key())?;
    machine.convolution.as_ref().map(CostTable::from)
}

impl From<&Tuning> for CostTable {
    fn from(tuning: &Tuning) -> Self {
        let mut costs = Self::default();
        for level in &tuning.levels {
            costs.insert_level(LevelCost {
                packing: packing(level.channels),
                size: level.size,
                count: level.count,
                worst_ns: level.worst_ns,
                typical_ns: level.typical_ns,
            });
        }
        costs
    }
}

impl From<&CostTable> for Tuning {
    /// The costs as measured just now.
    fn from(costs: &CostTable) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let levels = costs.levels().iter().map(|cost| TunedLevel {
            channels: channels(cost.packing),
            size: cost.size,
            count: cost.count,
            worst_ns: cost.worst_ns,
            typical_ns: cost.typical_ns,
        });
        Self {
            at_s: now.map_or(0, |now| now.as_secs()),
            levels: levels.collect(),
        }
    }
}

fn packing(channels: u32) -> Packing {
    match channels {
        0 | 1 => Packing::Mono,
        _ => Packing::Batch,
    }
}

fn channels(packing: Packing) -> u32 {
    match packing {
        Packing::Mono => 1,
        Packing::Batch => LANES as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_survive_the_costs_file() {
        let costs = CostTable::built_in();
        assert_eq!(CostTable::from(&Tuning::from(&costs)), costs);
    }
}
