//! The built-in table of costs, for machines on which nobody has measured.

use crate::costs::{Costs, LevelCost, TransformCost};
use fft::Packing;

/// One size: transforms, then each partition, in ns; and whose transform.
type Row = (usize, f64, f64, &'static str);

/// One channel.
const MONO: &[Row] = &[
    (16, 120.0, 12.0, "own"),
    (65536, 900_000.0, 60_000.0, "own"),
];

impl Costs {
    /// What levels cost on the machine on which the table was made.
    ///
    /// Real-time: setup.
    pub fn built_in() -> Self {
        let mut costs = Self::default();
        for &(size, fixed, each, backend) in MONO {
            for count in [1, 2] {
                let ns = fixed + each * count as f64;
                costs.keep_level(LevelCost {
                    packing: Packing::Mono,
                    size,
                    count,
                    worst_ns: ns,
                    typical_ns: ns,
                });
            }
            costs.keep_transform(TransformCost {
                packing: Packing::Mono,
                bins: size,
                backend: backend.to_owned(),
                ns: fixed,
            });
        }
        costs
    }
}
