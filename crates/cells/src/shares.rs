//! [`MachineShares`]: shares of what the cores of a machine have together: caches, memory bandwidth, power.

use ::toml::Table;

/// Shares that a cell asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineShares {
    /// Another cell may have the other thread of a physical core.
    pub siblings: bool,
    /// Ways of the last cache that it fills.
    pub cache_ways: Option<u32>,
    /// Part of the memory bandwidth, in percent.
    pub bandwidth_percent: Option<u32>,
    /// Highest clock rate of its cores.
    pub max_mhz: Option<u32>,
}

impl MachineShares {
    /// Reads the keys of a cell.
    pub(crate) fn read(table: &Table) -> Result<Self, String> {
        let count = |key: &str, max: i64| match table.get(key) {
            None => Ok(None),
            Some(value) => (value.as_integer().filter(|it| (1..=max).contains(it)))
                .map(|it| Some(it as u32))
                .ok_or_else(|| format!("`{key}` is a whole number from 1 to {max}")),
        };
        let siblings = match table.get("share_siblings") {
            None => Some(false),
            Some(value) => value.as_bool(),
        };
        Ok(Self {
            siblings: siblings.ok_or("`share_siblings` is true or false")?,
            cache_ways: count("cache_ways", 32)?,
            bandwidth_percent: count("memory_bandwidth", 100)?,
            max_mhz: count("max_mhz", 100_000)?,
        })
    }

    /// Returns true if it asks for a group of the kernel's resctrl.
    pub(crate) fn is_in_group(&self) -> bool {
        self.cache_ways.or(self.bandwidth_percent).is_some()
    }
}
