//! Complex transforms of rows of blocks: sixteen independent ones side by side, all arithmetic between whole vectors.
//!
//! Decimation in time: the first pass reads its blocks from where they stand (so that nothing is put in order
//! beforehand) and transforms four or eight of them; every later pass joins four or eight neighbouring transforms in
//! place, the last one may write elsewhere. What exceeds the first cache is done depth first. The order is a list of
//! steps made beforehand, so that the code that runs is one loop.

use crate::transform::butterflies::{From, To, factors, join, leaf_4, leaf_8};
use crate::simd::{BLOCK, form::BLOCKED};
use crate::kernels::Kernels;
use crate::simd::Kernel;
use crate::transform::twiddle::turn;
use crate::simd::Vector;
use std::ops::Range;

/// How many blocks (128 bytes each) are worked on together, pass after pass, before the next ones.
const LOCAL: usize = 64;

/// How many blocks one step of a larger join works on.
const STEP: usize = 512;

/// A transform of `len` blocks.
pub(crate) struct Vertical {
    len: usize,
    kernels: Kernels,
    /// How many blocks the first pass takes at a time: four or eight.
    leaf: usize,
    /// The first block that each leaf reads; its others stand `len / leaf` blocks apart.
    starts: Vec<u32>,
    levels: Vec<Level>,
    tables: Vec<f32>,
    /// What to do, in order.
    steps: Vec<Step>,
}

/// A pass that joins.
#[derive(Clone, Copy)]
struct Level {
    radix: usize,
    /// How many blocks each of the joined ones has.
    size: usize,
    /// Where its factors begin.
    table: usize,
}

/// A part of a pass.
#[derive(Clone, Copy)]
enum Step {
    /// Leaves `first .. first + count`.
    Leaves { first: u32, count: u32 },
    /// `count` joins of `level`, side by side, from block `at` on; of each, `places` places from `first` on.
    Join {
        level: u32,
        at: u32,
        count: u32,
        first: u32,
        places: u32,
    },
}

/// The exponents of a transform of `2^log` blocks: the leaf's, then each level's.
fn exponents(log: u32, many_registers: bool) -> Vec<u32> {
    if !many_registers {
        let leaf = 2 + log % 2;
        let mut all = vec![leaf];
        all.resize(1 + (log - leaf) as usize / 2, 2);
        return all;
    }
    // As many eights as there can be, at the top, where a pass costs most.
    let fours = match log % 3 {
        0 => 0,
        1 => 2,
        _ => 1,
    };
    let eights = ((log - 2 * fours) / 3) as usize;
    let mut all = vec![2; fours as usize];
    all.resize(all.len() + eights, 3);
    if eights > 0 && fours > 0 {
        // The leaf has no factors, so an eight is worth most there.
        all.swap(0, fours as usize);
    }
    all
}

impl Vertical {
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
            levels: Vec::new(),
            tables: Vec::new(),
            steps: Vec::new(),
        };
        let mut size = leaf;
        for log in &all[1..] {
            plan.level(1 << log, size);
            size <<= log;
        }
        plan.order(plan.levels.len(), 0, 1);
        plan.steps_below(plan.levels.len(), 0);
        plan
    }

    fn level(&mut self, radix: usize, size: usize) {
        let table = self.tables.len();
        self.levels.push(Level { radix, size, table });
        let n = radix * size;
        for place in 0..size {
            let turns: &[(usize, usize)] = match radix {
                4 => &[(place, n), (2 * place, n)],
                _ => &[
                    (place, n),
                    (8 * place + n, 8 * n),
                    (2 * place, n),
                    (4 * place, n),
                ],
            };
            for &(part, whole) in turns {
                let (re, im) = turn(part, whole);
                self.tables.extend([re as f32, im as f32]);
            }
        }
        debug_assert_eq!(self.tables.len(), table + size * factors(radix));
    }

    /// The leaves' first blocks, in the order of the leaves, for a transform of what `levels` levels join.
    fn order(&mut self, levels: usize, first: usize, step: usize) {
        match levels.checked_sub(1) {
            None => self.starts.push(first as u32),
            Some(below) => {
                let radix = self.levels[below].radix;
                for part in 0..radix {
                    self.order(below, first + part * step, step * radix);
                }
            }
        }
    }

    /// Steps for the leaves and the first `levels` levels of `len` blocks, pass after pass.
    fn steps_together(&mut self, levels: usize, at: usize, len: usize) {
        self.steps.push(Step::Leaves {
            first: (at / self.leaf) as u32,
            count: (len / self.leaf) as u32,
        });
        for level in 0..levels {
            let Level { radix, size, .. } = self.levels[level];
            self.steps.push(Step::Join {
                level: level as u32,
                at: at as u32,
                count: (len / (radix * size)) as u32,
                first: 0,
                places: size as u32,
            });
        }
    }

    /// Steps for one whole transform of the first `levels` levels, depth first.
    fn steps_below(&mut self, levels: usize, at: usize) {
        let Some(top) = levels.checked_sub(1) else {
            return self.steps_together(0, at, self.leaf);
        };
        let Level { radix, size, .. } = self.levels[top];
        if radix * size <= LOCAL {
            return self.steps_together(levels, at, radix * size);
        }
        for part in 0..radix {
            self.steps_below(top, at + part * size);
        }
        let places = size.min(STEP / radix);
        for first in (0..size).step_by(places) {
            self.steps.push(Step::Join {
                level: top as u32,
                at: at as u32,
                count: 1,
                first: first as u32,
                places: places as u32,
            });
        }
    }

    /// How many steps there are.
    pub(crate) fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Roughly how many instructions a step is, with a vector as wide as half a block.
    pub(crate) fn weight(&self, step: usize) -> u32 {
        match self.steps[step] {
            Step::Leaves { count, .. } => count * if self.leaf == 4 { 32 } else { 86 },
            Step::Join {
                level,
                count,
                places,
                ..
            } => match self.levels[level as usize].radix {
                4 => count * places * 46,
                _ => count * places * 114,
            },
        }
    }

    /// How many blocks a step reads that no other has written.
    pub(crate) fn read(&self, step: usize) -> u32 {
        match self.steps[step] {
            Step::Leaves { count, .. } => count * self.leaf as u32,
            Step::Join { .. } => 0,
        }
    }

    /// How many blocks a step writes that no other reads.
    pub(crate) fn written(&self, step: usize) -> u32 {
        match self.steps[step] {
            Step::Join {
                level,
                count,
                places,
                ..
            } if level as usize + 1 == self.levels.len() => {
                count * places * self.levels[level as usize].radix as u32
            }
            _ => 0,
        }
    }

    /// Some steps of the transform of the blocks at `from` to the blocks at `to`, through `work`; all of them, in order,
    /// are the transform.
    ///
    /// Real-time: hot.
    ///
    /// # Safety
    /// As many blocks as the plan has are good to read at `from` (of form `IN`), to write at `to` (of form `OUT`), and
    /// to read and write, next to each other, at `work`. `work` may be `to` if the blocks of `to` are next to each
    /// other; else they do not overlap. There are such steps.
    #[inline]
    pub(crate) unsafe fn run<const IN: u8, const OUT: u8>(
        &self,
        steps: Range<usize>,
        from: From,
        work: *mut f32,
        to: To,
    ) {
        self.kernels.run(Run::<IN, OUT> {
            plan: self,
            steps,
            from,
            work,
            to,
        });
    }
}

/// Steps to be done; the pointers are as [`Vertical::run`] demands.
struct Run<'a, const IN: u8, const OUT: u8> {
    plan: &'a Vertical,
    steps: Range<usize>,
    from: From,
    work: *mut f32,
    to: To,
}

impl<const IN: u8, const OUT: u8> Kernel for Run<'_, IN, OUT> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        // SAFETY: the pointers are good for all blocks of the plan, which its steps never leave.
        unsafe {
            for step in &self.plan.steps[self.steps.start..self.steps.end] {
                match *step {
                    Step::Leaves { first, count } => {
                        self.leaves::<V>(first as usize, count as usize);
                    }
                    Step::Join {
                        level,
                        at,
                        count,
                        first,
                        places,
                    } => {
                        let places = first as usize..(first + places) as usize;
                        if level as usize + 1 == self.plan.levels.len() {
                            self.last::<V>(places);
                        } else {
                            self.joins::<V>(level as usize, at as usize, count as usize, places);
                        }
                    }
                }
            }
        }
    }
}

impl<const IN: u8, const OUT: u8> Run<'_, IN, OUT> {
    /// # Safety
    /// The machine has `V`, and the plan has these leaves.
    #[inline(always)]
    unsafe fn leaves<V: Vector>(&self, first: usize, count: usize) {
        let leaf = self.plan.leaf;
        let step = self.plan.len / leaf * self.from.step;
        for (i, &start) in self.plan.starts[first..first + count].iter().enumerate() {
            // SAFETY: `start` and the leaf's other blocks are among the plan's.
            unsafe {
                let from = From {
                    at: self.from.at.add(start as usize * self.from.step),
                    step,
                };
                let to = To {
                    at: self.work.add((first + i) * leaf * BLOCK),
                    step: BLOCK,
                };
                match leaf {
                    4 => leaf_4::<V, IN>(from, to),
                    _ => leaf_8::<V, IN>(from, to),
                }
            }
        }
    }

    /// # Safety
    /// The machine has `V`, and the plan has these blocks and places at that level.
    #[inline(always)]
    unsafe fn joins<V: Vector>(&self, level: usize, at: usize, count: usize, places: Range<usize>) {
        let Level { radix, size, table } = self.plan.levels[level];
        for i in 0..count {
            // SAFETY: the blocks are the plan's; the table has `size` places.
            unsafe {
                let table = self.plan.tables.as_ptr().add(table);
                let at = self.work.add((at + i * radix * size) * BLOCK);
                let to = To { at, step: BLOCK };
                join::<V, BLOCKED>(radix, at, size, table, places.start..places.end, to);
            }
        }
    }

    /// # Safety
    /// The machine has `V`, and the last level has these places.
    #[inline(always)]
    unsafe fn last<V: Vector>(&self, places: Range<usize>) {
        let Level { radix, size, table } = self.plan.levels[self.plan.levels.len() - 1];
        // SAFETY: the last level joins all blocks; the table has `size` places.
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
    fn every_size_is_a_leaf_and_fours_and_eights() {
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
    fn every_block_is_read_once_and_every_join_comes_after_its_parts() {
        for log in 4..14 {
            let plan = Vertical::new(1 << log, Kernels::best());
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
                        level,
                        at,
                        count,
                        first,
                        places,
                    } => {
                        let Level {
                            radix, size: part, ..
                        } = plan.levels[level as usize];
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
