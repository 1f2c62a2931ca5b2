//! Huge pages for the tests that want some: set aside where that is allowed, and given back in the end. After
//! Ctrl-C they stay set aside: `echo 0 > /proc/sys/vm/nr_hugepages`.

use std::fs;

const FILE: &str = "/proc/sys/vm/nr_hugepages";
/// What the tests need: 2 MB each.
const WANTED: u64 = 16;

/// How many there were, where more were set aside; dropped, it is so again.
pub(crate) struct HugePages(Option<u64>);

impl HugePages {
    /// Sets some aside. Where that is refused the tests say so themselves.
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
