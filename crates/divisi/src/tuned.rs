//! What `divisi tune` measured, between the costs file (`report`) and the choice of partitions (`conv`), which do not know
//! each other.

use conv::LevelCost;
use fft::{Kernels, LANES, Packing};
use report::{CostsFile, TunedLevel, Tuning, costs_path, machine_key};
use std::time::{SystemTime, UNIX_EPOCH};

/// This machine's name in the costs file, with the kernels that convolution takes.
pub fn key() -> String {
    machine_key(Kernels::best().name())
}

/// What this user's costs file says of this machine; `None` where it has not been measured, or the file cannot be read.
pub fn measured() -> Option<conv::CostTable> {
    let costs = CostsFile::read(&costs_path()?).ok()?;
    let machine = costs.machines.get(&key())?;
    machine.convolution.as_ref().map(costs_of)
}

/// From the costs file.
pub fn costs_of(tuning: &Tuning) -> conv::CostTable {
    let mut costs = conv::CostTable::default();
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

/// Into the costs file, as measured just now.
pub fn tuning_of(costs: &conv::CostTable) -> Tuning {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let levels = costs.levels().iter().map(|cost| TunedLevel {
        channels: channels(cost.packing),
        size: cost.size,
        count: cost.count,
        worst_ns: cost.worst_ns,
        typical_ns: cost.typical_ns,
    });
    Tuning {
        at_s: now.map_or(0, |now| now.as_secs()),
        levels: levels.collect(),
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
    fn what_is_kept_comes_back() {
        let costs = conv::CostTable::built_in();
        assert_eq!(costs_of(&tuning_of(&costs)), costs);
    }
}
