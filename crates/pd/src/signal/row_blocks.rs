//! [`RowBlocks`]: which block of a row holds which signal.
//!
//! ```text
//!   blocks │ silence │ inputs │ numbers, and signals that come one after the other …
//! ```

use super::bound_step::BoundStep;
use super::world::BufferId;
use std::collections::HashMap;

/// The block that stays silent.
const SILENCE: u32 = 0;

/// The blocks of a row.
pub(crate) struct RowBlocks {
    /// Block of each signal.
    of_signal: HashMap<BufferId, u32>,
    count: u32,
    /// Blocks that are free again; the last one was used last.
    free: Vec<u32>,
    /// The last step that reads a signal; `usize::MAX` where its block is not used again.
    last_reader: HashMap<BufferId, usize>,
    /// Number of inlets and outputs that read a signal.
    readers: HashMap<BufferId, usize>,
}

impl RowBlocks {
    /// Blocks for the signals of `inputs`, and what is needed to find those of `steps`.
    pub(super) fn new(steps: &[BoundStep], inputs: &[BufferId], outputs: &[BufferId]) -> Self {
        let mut blocks = Self {
            of_signal: HashMap::new(),
            count: SILENCE + 1,
            free: Vec::new(),
            last_reader: HashMap::new(),
            readers: HashMap::new(),
        };
        let read = steps.iter().flat_map(|step| step.step.inlets());
        for signal in read.chain(outputs.iter().copied()) {
            *blocks.readers.entry(signal).or_default() += 1;
        }
        for (at, step) in steps.iter().enumerate() {
            for signal in step.step.inlets() {
                blocks.last_reader.insert(signal, at);
            }
        }
        for step in steps {
            let numbers = step.numbers.iter().map(|(_, signal)| *signal);
            for signal in numbers.chain(inputs.iter().copied()) {
                blocks.last_reader.insert(signal, usize::MAX);
            }
        }
        for signal in outputs {
            blocks.last_reader.insert(*signal, usize::MAX);
        }
        for signal in inputs {
            let block = blocks.add();
            blocks.of_signal.insert(*signal, block);
        }
        blocks
    }

    fn add(&mut self) -> u32 {
        self.count += 1;
        self.count - 1
    }

    /// Number of blocks.
    pub(super) fn count(&self) -> usize {
        self.count as usize
    }

    /// Block of a signal: silence where no step writes it.
    pub(crate) fn block(&self, signal: BufferId) -> u32 {
        self.of_signal.get(&signal).copied().unwrap_or(SILENCE)
    }

    /// Returns true if a step reads a signal, or it goes outside.
    pub(super) fn is_read(&self, signal: BufferId) -> bool {
        self.last_reader.contains_key(&signal)
    }

    /// Returns true if a signal has a reader, and one only.
    pub(super) fn has_one_reader(&self, signal: BufferId) -> bool {
        self.readers.get(&signal) == Some(&1)
    }

    /// Blocks that step `at` reads and writes. Steps come in their order.
    pub(super) fn of_step(&mut self, at: usize, bound: &BoundStep) -> [Box<[u32]>; 2] {
        for (_, number) in &bound.numbers {
            let block = self.add();
            self.of_signal.insert(*number, block);
        }
        let read = bound.step.inlets();
        let inlets = read.iter().map(|signal| self.block(*signal)).collect();
        let written = bound.step.outlets();
        let outlets = written.iter().map(|signal| {
            let block = self.free.pop().unwrap_or_else(|| self.add());
            self.of_signal.insert(*signal, block);
            block
        });
        let outlets = outlets.collect();
        let is_over = |signal: &BufferId| match self.last_reader.get(signal) {
            Some(last) => *last == at,
            // Nobody reads what is written.
            None => written.contains(signal),
        };
        let over = read.iter().chain(&written).filter(|signal| is_over(signal));
        let over = over.filter_map(|signal| self.of_signal.get(signal).copied());
        let mut over = Vec::from_iter(over);
        over.sort_unstable();
        over.dedup();
        self.free.append(&mut over);
        [inlets, outlets]
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::Step;
    use super::*;

    fn steps(all: &[(&[u32], &[u32])]) -> Vec<BoundStep> {
        let ids = |ids: &[u32]| ids.iter().copied().map(BufferId).collect();
        let step = |(inlets, outlets): &(&[u32], &[u32])| {
            BoundStep::unbound(Step::Perform {
                object: crate::control::ObjectId(0),
                inlets: ids(inlets),
                outlets: ids(outlets),
            })
        };
        all.iter().map(step).collect()
    }

    #[test]
    fn a_block_is_used_again_behind_its_last_reader_but_never_by_that_reader() {
        let steps = steps(&[
            (&[], &[1]),
            (&[1, 9], &[2]),
            (&[2, 1], &[3]),
            (&[3], &[4, 5]),
            (&[4], &[6]),
        ]);
        let mut blocks = RowBlocks::new(&steps, &[BufferId(9)], &[BufferId(6)]);
        let found: Vec<_> = (0..)
            .zip(&steps)
            .map(|(at, step)| blocks.of_step(at, step))
            .map(|[inlets, outlets]| (inlets.to_vec(), outlets.to_vec()))
            .collect();
        let expected = [
            (vec![], vec![2]),
            (vec![2, 1], vec![3]),
            (vec![3, 2], vec![4]),
            (vec![4], vec![2, 3]),
            (vec![2], vec![3]),
        ];
        assert_eq!(found[..3], expected[..3]);
        // 4 and 5 take what 1 and 2 have left, and nobody reads 5.
        let (read, written) = (&found[3], &found[4]);
        assert_eq!(read.0, [4]);
        assert!(!read.1.contains(&4) && read.1[0] != read.1[1]);
        assert_eq!(written.0, [read.1[0]]);
        assert!(!written.1.contains(&read.1[0]));
        assert_eq!(blocks.count(), 5);
        assert_eq!(blocks.block(BufferId(77)), SILENCE);
    }
}
