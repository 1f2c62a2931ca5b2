//! The machine model for planning: from measurements, or typical.

use costs::CoreTimings;
use plan::{FusionOptions, Link, MachineModel};
use units::Nanos;

/// Transfer times until the machine has been measured: two cores of one processor in 2026.
const TYPICAL: Link = Link {
    base: Nanos(100),
    per_kib: Nanos(150),
};
/// Bytes that most edges carry: a block of 64 frames.
const USUAL_BYTES: u32 = 256;

/// The model of `workers` workers on the cores that were measured; typical where nothing was measured. `transfer_time`
/// overrides the measured transfer times.
pub fn machine_model(workers: usize, facts: &CoreTimings, comm: Option<Nanos>) -> MachineModel {
    if let Some(base) = comm {
        let per_kib = Nanos(0);
        return MachineModel::uniform(workers, Link { base, per_kib });
    }
    let cores = workers::cores();
    let core = |worker: usize| cores.get(worker % cores.len().max(1)).map(|c| c.0);
    let pairs = (0..workers * workers).map(|at| (core(at / workers), core(at % workers)));
    let links = pairs.map(|(from, to)| link(facts, from, to)).collect();
    MachineModel::new(workers, links).unwrap_or_else(|| MachineModel::uniform(workers, TYPICAL))
}

/// The link between two cores: as measured, else the mean of those that were.
fn link(facts: &CoreTimings, from: Option<usize>, to: Option<usize>) -> Link {
    let is_it = |l: &&costs::CoreLink| {
        let ends = [(Some(l.from), Some(l.to)), (Some(l.to), Some(l.from))];
        ends.contains(&(from, to))
    };
    if let Some(found) = facts.links.iter().find(is_it) {
        return measured(found.base_ns, found.per_kib_ns);
    }
    if facts.links.is_empty() {
        return TYPICAL;
    }
    let count = facts.links.len() as f64;
    let mean = |of: fn(&costs::CoreLink) -> f64| facts.links.iter().map(of).sum::<f64>() / count;
    measured(mean(|l| l.base_ns), mean(|l| l.per_kib_ns))
}

fn measured(base_ns: f64, per_kib_ns: f64) -> Link {
    // Numbers from a file: a negative number or NaN becomes 0.
    let nanos = |ns: f64| Nanos(ns.ceil() as u64);
    Link {
        base: nanos(base_ns),
        per_kib: nanos(per_kib_ns),
    }
}

/// Costs that fusion weighs against each other.
pub(crate) fn fusion_options(machine: &MachineModel) -> FusionOptions {
    FusionOptions {
        transfer: machine.mean_transfer_time(USUAL_BYTES),
        ..FusionOptions::typical(machine.workers())
    }
}
