//! [`LaneFft`]: sixteen independent complex transforms, one a lane.
//!
//! The transform is of rows of blocks: lane 5 of all blocks is one transform, and no arithmetic crosses lanes. So there
//! are no shuffles, and the same code serves sixteen channels side by side or sixteen columns of one channel.
//!
//! It is a decimation in time of radix 4 and 8. The first pass (*leaves*) reads its blocks from their places in the
//! source, in digit-reversed order, so that no reordering comes before it. Every later pass (*joins*) joins four or eight
//! neighbouring transforms in place; the last one may write elsewhere:
//!
//! ```text
//!  source    b0 b16 b32 b48 │ b4 b20 ...      64 blocks, leaves of four
//!            └─── leaf ───┘   └── leaf ──
//!  work      4 4 4 4 │ 4 4 4 4 │ ...          transforms of 4
//!            └─ join ┘ └─ join ┘
//!  work      16 │ 16 │ 16 │ 16                transforms of 16
//!            └───────join──────┘
//!  target    64
//! ```
//!
//! Transforms beyond the first-level cache are done depth first: each part through all its passes before the next part (Frigo
//! and Johnson, "The Design and Implementation of FFTW3", Proc. IEEE 93(2), 2005, section IV). The order is a list of steps
//! made beforehand, so that the code that runs is one loop.

use crate::kernels::Kernels;
use crate::simd::{BLOCK, Kernel, Vector, form::BLOCKED};
use crate::transform::butterflies::{
    BlockSource, BlockTarget, factor_floats, join, leaf_4, leaf_8,
};
use crate::transform::twiddle::twiddle;
use std::ops::Range;

/// Blocks (128 bytes each) that fit into the first-level cache: they go through their passes together.
const LOCAL_BLOCKS: usize = 64;

/// Blocks that one step of a larger join works on.
const JOIN_BLOCKS: usize = 512;

/// A transform of `len` blocks.
pub(crate) struct LaneFft {
    len: usize,
    kernels: Kernels,
    /// Blocks of a leaf: four or eight.
    leaf: usize,
    /// First block that each leaf reads; its others are `len / leaf` blocks apart.
    starts: Vec<u32>,
    passes: Vec<Pass>,
    tables: Vec<f32>,
    /// All work, in order.
    steps: Vec<Step>,
}

/// A pass that joins transforms.
#[derive(Clone, Copy)]
struct Pass {
    radix: usize,
    /// Blocks of each transform that is joined.
    size: usize,
    /// Offset of its factors.
    table: usize,
}

/// Part of a pass.
#[derive(Clone, Copy)]
enum Step {
    /// Leaves `first .. first + count`.
    Leaves { first: u32, count: u32 },
    /// `count` neighbouring joins of `pass` from block `at` on; of each, `places` places from `first` on.
    Join {
        pass: u32,
        at: u32,
        count: u32,
        first: u32,
        places: u32,
    },
}

/// Divides a transform of `2^log` blocks: the exponent of the leaf, then of each pass.
fn exponents(log: u32, many_registers: bool) -> Vec<u32> {
    if !many_registers {
        let leaf = 2 + log % 2;
        let mut all = vec![leaf];
        all.resize(1 + (log - leaf) as usize / 2, 2);
        return all;
    }
    // As many eights as possible, in the last passes, where a pass costs most.
    let fours = match log % 3 {
        0 => 0,
        1 => 2,
        _ => 1,
    };
    let eights = ((log - 2 * fours) / 3) as usize;
    let mut all = vec![2; fours as usize];
    all.resize(all.len() + eights, 3);
    if eights > 0 && fours > 0 {
        // The leaf has no factors, so radix 8 saves most there.
        all.swap(0, fours as usize);
    }
    all
}

impl LaneFft {
    /// Prepares a transform of `len` blocks, a power of two from 16 on.
    ///
    /// Real-time: setup.
    pub(crate) fn new(len: usize, kernels: Kernels) -> Self {
        let all = exponents(len.ilog2(), kernels.has_many_registers());
        let leaf = 1 << all[0];
        let mut plan = Self {
            len,
            kernels,
            leaf,
            starts: Vec::new(),
            passes: Vec::new(),
            tables: Vec::new(),
            steps: Vec::new(),
        };
        let mut size = leaf;
        for log in &all[1..] {
            plan.add_pass(1 << log, size);
            size <<= log;
        }
        plan.add_starts(plan.passes.len(), 0, 1);
        plan.add_steps_depth_first(plan.passes.len(), 0);
        plan
    }

    fn add_pass(&mut self, radix: usize, size: usize) {
        let table = self.tables.len();
        self.passes.push(Pass { radix, size, table });
        let n = radix * size;
        for place in 0..size {
            let factors: &[(usize, usize)] = match radix {
                4 => &[(place, n), (2 * place, n)],
                _ => &[
                    (place, n),
                    (8 * place + n, 8 * n),
                    (2 * place, n),
                    (4 * place, n),
                ],
            };
            for &(part, whole) in factors {
                let (re, im) = twiddle(part, whole);
                self.tables.extend([re as f32, im as f32]);
            }
        }
        debug_assert_eq!(self.tables.len(), table + size * factor_floats(radix));
    }

    /// Adds the leaves' first blocks, in the order of the leaves, for a transform of the first `passes` passes.
    fn add_starts(&mut self, passes: usize, first: usize, step: usize) {
        match passes.checked_sub(1) {
            None => self.starts.push(first as u32),
            Some(below) => {
                let radix = self.passes[below].radix;
                for part in 0..radix {
                    self.add_starts(below, first + part * step, step * radix);
                }
            }
        }
    }

    /// Adds steps for the leaves and the first `passes` passes of `len` blocks, pass after pass.
    fn add_steps_by_pass(&mut self, passes: usize, at: usize, len: usize) {
        self.steps.push(Step::Leaves {
            first: (at / self.leaf) as u32,
            count: (len / self.leaf) as u32,
        });
        for pass in 0..passes {
            let Pass { radix, size, .. } = self.passes[pass];
            self.steps.push(Step::Join {
                pass: pass as u32,
                at: at as u32,
                count: (len / (radix * size)) as u32,
                first: 0,
                places: size as u32,
            });
        }
    }

    /// Adds steps for one whole transform of the first `passes` passes, depth first.
    fn add_steps_depth_first(&mut self, passes: usize, at: usize) {
        let Some(top) = passes.checked_sub(1) else {
            return self.add_steps_by_pass(0, at, self.leaf);
        };
        let Pass { radix, size, .. } = self.passes[top];
        if radix * size <= LOCAL_BLOCKS {
            return self.add_steps_by_pass(passes, at, radix * size);
        }
        for part in 0..radix {
            self.add_steps_depth_first(top, at + part * size);
        }
        let places = size.min(JOIN_BLOCKS / radix);
        for first in (0..size).step_by(places) {
            self.steps.push(Step::Join {
                pass: top as u32,
                at: at as u32,
                count: 1,
                first: first as u32,
                places: places as u32,
            });
        }
    }

    /// Number of steps.
    pub(crate) fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Cost of a step, roughly its instructions with vectors of sixteen floats.
    pub(crate) fn cost(&self, step: usize) -> u32 {
        match self.steps[step] {
            Step::Leaves { count, .. } => count * if self.leaf == 4 { 32 } else { 86 },
            Step::Join {
                pass,
                count,
                places,
                ..
            } => match self.passes[pass as usize].radix {
                4 => count * places * 46,
                _ => count * places * 114,
            },
        }
    }

    /// Number of blocks that a step reads from the source.
    pub(crate) fn blocks_read(&self, step: usize) -> u32 {
        match self.steps[step] {
            Step::Leaves { count, .. } => count * self.leaf as u32,
            Step::Join { .. } => 0,
        }
    }

    /// Number of blocks that a step writes to the target.
    pub(crate) fn blocks_written(&self, step: usize) -> u32 {
        match self.steps[step] {
            Step::Join {
                pass,
                count,
                places,
                ..
            } if pass as usize + 1 == self.passes.len() => {
                count * places * self.passes[pass as usize].radix as u32
            }
            _ => 0,
        }
    }

    /// Runs some steps of the transform of the blocks at `from` to the blocks at `to`, through `work`. All steps, in
    /// order, are the transform.
    ///
    /// Real-time: hot.
    ///
    /// # Safety
    /// `len` blocks are valid to read at `from` (of form `IN`), to write at `to` (of form `OUT`), and to read and write,
    /// next to each other, at `work`. `work` may be `to` if the blocks of `to` are next to each other; else they do not
    /// overlap. The steps exist.
    #[inline]
    pub(crate) unsafe fn run<const IN: u8, const OUT: u8>(
        &self,
        steps: Range<usize>,
        from: BlockSource,
        work: *mut f32,
        to: BlockTarget,
    ) {
        self.kernels.run(RunSteps::<IN, OUT> {
            plan: self,
            steps,
            from,
            work,
            to,
        });
    }
}

/// Some steps; the pointers are as [`LaneFft::run`] demands.
struct RunSteps<'a, const IN: u8, const OUT: u8> {
    plan: &'a LaneFft,
    steps: Range<usize>,
    from: BlockSource,
    work: *mut f32,
    to: BlockTarget,
}

impl<const IN: u8, const OUT: u8> Kernel for RunSteps<'_, IN, OUT> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        // SAFETY: the pointers are valid for all blocks of the plan, and its steps stay among them.
        unsafe {
            for step in &self.plan.steps[self.steps.start..self.steps.end] {
                match *step {
                    Step::Leaves { first, count } => {
                        self.leaves::<V>(first as usize, count as usize);
                    }
                    Step::Join {
                        pass,
                        at,
                        count,
                        first,
                        places,
                    } => {
                        let places = first as usize..(first + places) as usize;
                        if pass as usize + 1 == self.plan.passes.len() {
                            self.last::<V>(places);
                        } else {
                            self.joins::<V>(pass as usize, at as usize, count as usize, places);
                        }
                    }
                }
            }
        }
    }
}

impl<const IN: u8, const OUT: u8> RunSteps<'_, IN, OUT> {
    /// # Safety
    /// The machine has `V`, and the plan has these leaves.
    #[inline(always)]
    unsafe fn leaves<V: Vector>(&self, first: usize, count: usize) {
        let leaf = self.plan.leaf;
        let step = self.plan.len / leaf * self.from.step;
        for (i, &start) in self.plan.starts[first..first + count].iter().enumerate() {
            // SAFETY: `start` and the leaf's other blocks are among the plan's.
            unsafe {
                let from =
                    BlockSource::new(self.from.at.add(start as usize * self.from.step), step);
                let to = BlockTarget::new(self.work.add((first + i) * leaf * BLOCK), BLOCK);
                match leaf {
                    4 => leaf_4::<V, IN>(from, to),
                    _ => leaf_8::<V, IN>(from, to),
                }
            }
        }
    }

    /// # Safety
    /// The machine has `V`, and the plan has these blocks and places at that pass.
    #[inline(always)]
    unsafe fn joins<V: Vector>(&self, pass: usize, at: usize, count: usize, places: Range<usize>) {
        let Pass { radix, size, table } = self.plan.passes[pass];
        for i in 0..count {
            // SAFETY: the blocks are the plan's; the table has `size` places.
            unsafe {
                let table = self.plan.tables.as_ptr().add(table);
                let at = self.work.add((at + i * radix * size) * BLOCK);
                let to = BlockTarget::new(at, BLOCK);
                join::<V, BLOCKED>(radix, at, size, table, places.start..places.end, to);
            }
        }
    }

    /// # Safety
    /// The machine has `V`, and the last pass has these places.
    #[inline(always)]
    unsafe fn last<V: Vector>(&self, places: Range<usize>) {
        let Pass { radix, size, table } = self.plan.passes[self.plan.passes.len() - 1];
        // SAFETY: the last pass joins all blocks; the table has `size` places.
        unsafe {
            let table = self.plan.tables.as_ptr().add(table);
            join::<V, OUT>(radix, self.work, size, table, places, self.to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_a_leaf_and_passes_of_radix_4_and_8() {
        for log in 4..24 {
            for many in [false, true] {
                let all = exponents(log, many);
                assert_eq!(all.iter().sum::<u32>(), log, "{all:?}");
                assert!(
                    all.len() > 1 && all.iter().all(|&log| log == 2 || log == 3),
                    "{all:?}"
                );
                assert!(many || all[1..].iter().all(|&log| log == 2), "{all:?}");
            }
        }
    }

    #[test]
    fn every_block_is_read_once_and_joins_follow_their_parts() {
        for log in 4..14 {
            let plan = LaneFft::new(1 << log, Kernels::best());
            let mut seen = vec![false; plan.len];
            for &start in &plan.starts {
                for i in 0..plan.leaf {
                    let block = start as usize + i * plan.len / plan.leaf;
                    assert!(!std::mem::replace(&mut seen[block], true));
                }
            }
            let mut size = vec![0; plan.len]; // how large a transform each block belongs to
            let mut joined = 0; // how many places of a large join have been done
            for step in &plan.steps {
                match *step {
                    Step::Leaves { first, count } => {
                        let (first, count) =
                            (first as usize * plan.leaf, count as usize * plan.leaf);
                        size[first..first + count].fill(plan.leaf);
                    }
                    Step::Join {
                        pass,
                        at,
                        count,
                        first,
                        places,
                    } => {
                        let Pass {
                            radix, size: part, ..
                        } = plan.passes[pass as usize];
                        let blocks = &mut size[at as usize..][..radix * part * count as usize];
                        assert!(blocks.iter().all(|&s| s == part));
                        assert_eq!(first as usize, joined);
                        joined += places as usize;
                        if joined == part {
                            blocks.fill(radix * part);
                            joined = 0;
                        }
                    }
                }
            }
            assert!(size.iter().all(|&s| s == plan.len));
        }
    }
}
