//! Which steps wait for which, because they share a thing.
//!
//! For each thing the last step that changed it and those that have read it since are kept. A reader waits for the last change, a
//! change waits for both. So there are few edges, and their number grows with that of the accesses.

use super::shared::SharedName;
use std::collections::HashMap;

/// The steps that a thing has seen.
#[derive(Default)]
struct Seen {
    writer: Option<usize>,
    readers: Vec<usize>,
}

/// Finds the order of steps that share things.
#[derive(Default)]
pub(crate) struct OrderEdges {
    seen: HashMap<SharedName, Seen>,
}

impl OrderEdges {
    /// The steps for which `step` waits, if it touches these things (true: it changes them). Steps come in Pd's order.
    pub(crate) fn before(&mut self, step: usize, accesses: &[(SharedName, bool)]) -> Vec<usize> {
        let mut before = Vec::new();
        for (name, is_write) in accesses {
            let seen = self.seen.entry(*name).or_default();
            match is_write {
                true => {
                    // Readers have waited for the writer.
                    if seen.readers.is_empty() {
                        before.extend(seen.writer);
                    }
                    before.append(&mut seen.readers);
                    seen.writer = Some(step);
                }
                false => {
                    before.extend(seen.writer);
                    seen.readers.push(step);
                }
            }
        }
        before.sort_unstable();
        before.dedup();
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_wait_for_the_writer_before_and_the_next_writer_for_the_readers() {
        let mut edges = OrderEdges::default();
        let (a, b) = (SharedName::Output(0), SharedName::Output(1));
        assert_eq!(edges.before(0, &[(a, false)]), [] as [usize; 0]);
        assert_eq!(edges.before(1, &[(a, true), (b, true)]), [0]);
        assert_eq!(edges.before(2, &[(a, false)]), [1]);
        assert_eq!(edges.before(3, &[(a, false), (b, false)]), [1]);
        assert_eq!(edges.before(4, &[(a, true)]), [2, 3]);
        assert_eq!(edges.before(5, &[(a, true), (b, true)]), [3, 4]);
    }
}
