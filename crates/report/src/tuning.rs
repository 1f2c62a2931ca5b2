//! What partitioned convolution was measured to cost on one machine: a part of the costs file.

use serde::{Deserialize, Serialize};

/// Costs of levels. Files of earlier versions also have `transforms`, which are ignored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tuning {
    /// When it was measured last, in seconds since 1970.
    pub at_s: u64,
    /// Levels, each for one of its periods.
    pub levels: Vec<TunedLevel>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_an_earlier_version_is_read_without_its_transforms() {
        let text = r#"{"at_s": 7, "levels": [{"channels": 1, "size": 64, "count": 2, "worst_ns": 3.0, "typical_ns": 2.0}],
            "transforms": [{"channels": 1, "bins": 64, "backend": "realfft", "ns": 5.0}]}"#;
        let tuning: Tuning = serde_json::from_str(text).unwrap();
        assert_eq!((tuning.at_s, tuning.levels.len()), (7, 1));
    }
}
