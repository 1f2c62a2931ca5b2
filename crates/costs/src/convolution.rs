//! Costs of partitioned convolution on one machine.

use serde::{Deserialize, Serialize};

/// Costs of levels. Files of earlier versions also have `transforms`, which are ignored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tuning {
    /// Time of the last measurement, in seconds since 1970.
    pub at_s: u64,
    /// Levels, each over one of its periods.
    pub levels: Vec<TunedLevel>,
}

/// Cost of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TunedLevel {
    /// Number of channels that are computed side by side: 1 or 16.
    pub channels: u32,
    /// Frames in a partition; 1 for the direct head.
    pub size: usize,
    /// Number of partitions.
    pub count: usize,
    /// Longest time observed, with cold caches.
    pub worst_ns: f64,
    /// Median time.
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
