//! What partitioned convolution was measured to cost on one machine: a part of the costs file.

use serde::{Deserialize, Serialize};

/// What levels and transforms cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tuning {
    /// When it was measured last, in seconds since 1970.
    pub at_s: u64,
    /// Levels, each for one of its periods.
    pub levels: Vec<TunedLevel>,
    /// Transforms, forward and inverse together.
    pub transforms: Vec<TunedTransform>,
}

/// What a level costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TunedLevel {
    /// How many channels side by side: 1 or 16.
    pub channels: u32,
    /// Frames in a partition; 1 for the direct head.
    pub size: usize,
    /// How many partitions.
    pub count: usize,
    /// The worst that was observed, with swept caches.
    pub worst_ns: f64,
    /// The median.
    pub typical_ns: f64,
}

/// What a transform costs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TunedTransform {
    /// How many channels side by side: 1 or 16.
    pub channels: u32,
    /// How many bins.
    pub bins: usize,
    /// Whose transform.
    pub backend: String,
    /// The median.
    pub ns: f64,
}
