//! Partitions compared by `tune`: Gardner's doubling, Garcia's optimum by operation count, the optimum by measured costs.

use divisi::conv::{
    CostTable, FoundPartition, Partition, PartitionSpace, garcia_partition, gardner_partition,
    min_peak_load,
};
use divisi::draw::{PartitionChart, PartitionLevel, PartitionRow, Picture, partitions};
use divisi::fft::{LANES, Packing};
use divisi::prelude::SampleRate;

/// The compared partitions.
pub(super) struct PartitionComparison {
    pub(super) space: PartitionSpace,
    pub(super) packing: Packing,
    pub(super) cores: usize,
    pub(super) methods: Vec<PartitionMethod>,
}

/// One partition with its cost.
pub(super) struct PartitionMethod {
    pub(super) name: String,
    pub(super) partition: Partition,
    /// Worst and typical cost, in ns per frame, where known.
    pub(super) worst: Option<f64>,
    pub(super) typical: Option<f64>,
    /// Worst and typical cost of each level, without the direct head.
    pub(super) levels: Vec<Option<(f64, f64)>>,
    /// Load of the busiest core, and each level's core; for the measured optimum only.
    pub(super) core_assignment: Option<(f64, Vec<usize>)>,
}

impl PartitionComparison {
    /// Computes the partitions that are compared.
    pub(super) fn compare(
        space: &PartitionSpace,
        costs: &CostTable,
        packing: Packing,
        cores: usize,
    ) -> Self {
        let lanes = match packing {
            Packing::Mono => 1.0,
            Packing::Batch => LANES as f64,
        };
        let worst = |size, count| Some(costs.worst_ns(packing, size, count)? / lanes);
        let typical = |size, count| Some(costs.typical_ns(packing, size, count)? / lanes);
        let method = |name: &str, partition: Partition| PartitionMethod {
            name: name.into(),
            worst: space.total_load(&partition, &worst),
            typical: space.total_load(&partition, &typical),
            levels: {
                let levels = partition.levels().iter();
                let cost = |size, count| Some((worst(size, count)?, typical(size, count)?));
                levels.map(|l| cost(l.size(), l.count())).collect()
            },
            partition,
            core_assignment: None,
        };
        let mut methods = vec![
            method("doubling (Gardner)", gardner_partition(space)),
            method("fewest operations (Garcia)", garcia_partition(space)),
        ];
        if let Some(found) = min_peak_load(space, cores, &worst) {
            let FoundPartition {
                partition,
                peak_load: peak,
                level_cores: on,
                ..
            } = found;
            let name = match cores {
                1 => "smallest worst-case load".to_owned(),
                cores => format!("smallest load of the busiest of {cores} cores"),
            };
            methods.push(PartitionMethod {
                core_assignment: Some((peak, on)),
                ..method(&name, partition)
            });
        }
        Self {
            space: *space,
            packing,
            cores,
            methods,
        }
    }

    /// The best partition.
    pub(super) fn best(&self) -> &PartitionMethod {
        self.methods.last().expect("the list has at least two")
    }

    /// All partitions, and the deadlines of the best one, as a picture.
    pub(super) fn picture(&self, rate: SampleRate) -> Picture {
        let percent = |ns: Option<f64>| match ns {
            Some(ns) => format!("{:.3} % of a core at worst", period_share(ns, rate) * 100.0),
            None => "unknown cost".into(),
        };
        let rows = self.methods.iter().map(|method| PartitionRow {
            name: method.name.clone(),
            note: format!("{} · {}", method.partition, percent(method.worst)),
            levels: partition_levels(&method.partition),
        });
        partitions(&PartitionChart {
            title: format!("An impulse response of {} frames", self.space.length()),
            note: format!(
                "blocks of {} frames, {} frames of latency added, {rate}",
                self.space.block(),
                self.best().partition.latency_frames()
            ),
            length: self.space.length() as u64,
            block: self.space.block() as u64,
            rate_hz: rate.hz(),
            rows: rows.collect(),
            deadlines_of: Some(self.methods.len() - 1),
        })
    }
}

/// Converts ns per frame to a share of one core.
pub(super) fn period_share(ns_a_frame: f64, rate: SampleRate) -> f64 {
    ns_a_frame * f64::from(rate.hz()) * 1e-9
}

fn partition_levels(partition: &Partition) -> Vec<PartitionLevel> {
    let head = (partition.head() > 0).then(|| PartitionLevel {
        start: 0,
        size: 1,
        count: partition.head() as u64,
        in_callback: true,
    });
    let levels = partition.levels().iter().map(|level| PartitionLevel {
        start: level.start() as u64,
        size: level.size() as u64,
        count: level.count() as u64,
        in_callback: level.is_in_callback(),
    });
    head.into_iter().chain(levels).collect()
}
