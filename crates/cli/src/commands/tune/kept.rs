//! The tuning in the user's costs file, and the built-in table where there is none.

use crate::failure::in_full;
use crate::say;
use divisi::conv::{self, LevelCost, TransformCost};
use divisi::fft::{Kernels, LANES, Packing};
use divisi::report::{Costs, TunedLevel, TunedTransform, Tuning, costs_path, machine_key};
use std::time::{SystemTime, UNIX_EPOCH};

/// What is known of this machine with these kernels.
pub(in crate::commands) struct Tuned {
    costs: Costs,
    key: String,
}

impl Tuned {
    /// Reads it. A file that cannot be read is said, and counts as empty.
    pub(in crate::commands) fn read() -> Self {
        let read = costs_path().map_or(Ok(Costs::default()), |path| Costs::read(&path));
        let costs = read.unwrap_or_else(|error| {
            say::note(&format!("{}: nothing in it is used", in_full(&error)));
            Costs::default()
        });
        Self {
            costs,
            key: machine_key(Kernels::best().name()),
        }
    }

    fn tuning(&self) -> Option<&Tuning> {
        self.costs.machines.get(&self.key)?.convolution.as_ref()
    }

    /// Whether it was measured, in words.
    pub(super) fn source(&self) -> &'static str {
        match self.tuning() {
            Some(_) => "measured on this machine",
            None => "the built-in table; `divisi tune` measures this machine",
        }
    }

    /// The costs: what was measured, and of what was not, the built-in table.
    pub(in crate::commands) fn costs(&self) -> conv::Costs {
        match self.tuning() {
            Some(tuning) => costs_of(tuning),
            None => conv::Costs::built_in(),
        }
    }

    /// Keeps what was measured; where, or why not.
    pub(super) fn keep(&mut self, found: &conv::Costs) -> Result<String, String> {
        let mut all = self.tuning().map(costs_of).unwrap_or_default();
        all.merge(found);
        let machine = self.costs.machines.entry(self.key.clone()).or_default();
        machine.convolution = Some(tuning_of(&all));
        let path = costs_path().ok_or("there is no home to keep it in")?;
        self.costs.write(&path).map_err(|error| in_full(&error))?;
        Ok(path.display().to_string())
    }
}

fn costs_of(tuning: &Tuning) -> conv::Costs {
    let mut costs = conv::Costs::default();
    for level in &tuning.levels {
        costs.keep_level(LevelCost {
            packing: packing(level.channels),
            size: level.size,
            count: level.count,
            worst_ns: level.worst_ns,
            typical_ns: level.typical_ns,
        });
    }
    for transform in &tuning.transforms {
        costs.keep_transform(TransformCost {
            packing: packing(transform.channels),
            bins: transform.bins,
            backend: transform.backend.clone(),
            ns: transform.ns,
        });
    }
    costs
}

fn tuning_of(costs: &conv::Costs) -> Tuning {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let levels = costs.levels().iter().map(|cost| TunedLevel {
        channels: channels(cost.packing),
        size: cost.size,
        count: cost.count,
        worst_ns: cost.worst_ns,
        typical_ns: cost.typical_ns,
    });
    let transforms = costs.transforms().iter().map(|cost| TunedTransform {
        channels: channels(cost.packing),
        bins: cost.bins,
        backend: cost.backend.clone(),
        ns: cost.ns,
    });
    Tuning {
        at_s: now.map_or(0, |now| now.as_secs()),
        levels: levels.collect(),
        transforms: transforms.collect(),
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
