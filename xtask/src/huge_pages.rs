//! Huge pages for the tests that need them: reserved where that is allowed, and released in the end. After
//! Ctrl-C they stay reserved: `echo 0 > /proc/sys/vm/nr_hugepages`.

use std::fs;

const FILE: &str = "/proc/sys/vm/nr_hugepages";
/// Number of pages of 2 MB that the tests need.
const WANTED: u64 = 16;

/// Number of pages before the reservation; restored when dropped.
pub(crate) struct HugePages(Option<u64>);

impl HugePages {
    /// Reserves the pages. If that is refused, the tests print it themselves.
    pub(crate) fn set_aside() -> Self {
        let had = fs::read_to_string(FILE).ok();
        let had = had.and_then(|text| text.trim().parse::<u64>().ok());
        let had = had.filter(|had| *had < WANTED);
        Self(had.filter(|_| fs::write(FILE, WANTED.to_string()).is_ok()))
    }
}

impl Drop for HugePages {
    fn drop(&mut self) {
        if let Some(had) = self.0 {
            let _ = fs::write(FILE, had.to_string());
        }
    }
}
