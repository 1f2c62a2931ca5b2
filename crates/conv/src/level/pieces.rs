//! The work of one period as a list of operations, and which of them make a piece.
//!
//! An operation is the smallest unit of work: a step of a transform, a stretch of a multiplication, some blocks that are
//! copied. A piece is a run of operations of about the same cost: small enough to be done beside other work, and not so small
//! that handing it out costs more than doing it.
//!
//! ```text
//! operations  CopyInput  Forward Forward Forward  Multiply Multiply Multiply  Inverse Inverse  CopyOutput
//! pieces      └──── 0 ────────┘└───── 1 ──────┘└────── 2 ───────┘└─────── 3 ───────┘└─────── 4 ────────┘
//! ```
//!
//! Costs are estimates in vector instructions, from `benches/distributed` (`--bin weigh`).

use super::lookahead::{product_count, summed};
use super::spec::{FdlSpec, LevelPaths};
use fft::Packing;
use std::ops::Range;

/// Smallest unit of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// Copies blocks of an input to the window.
    CopyInput { input: usize, blocks: Range<usize> },
    /// Runs a piece of the forward transform of an input.
    Forward { input: usize, piece: usize },
    /// Multiplies the spectra that an output needs: some floats of the range of bins that is in `phase`.
    Multiply {
        output: usize,
        phase: usize,
        floats: Range<usize>,
    },
    /// Runs a piece of the inverse transform.
    Inverse { piece: usize },
    /// Copies blocks of the result to an output.
    CopyOutput { output: usize, blocks: Range<usize> },
    /// Switches to the filters that fade in, or back.
    SwitchFilters,
}

/// Operations in order, divided into pieces.
#[derive(Debug)]
pub(super) struct PieceList {
    operations: Box<[Operation]>,
    /// For each piece the end of its operations, and its cost.
    ends: Box<[(u32, u32)]>,
}

/// Costs that depend on the number of channels side by side.
struct CostModel {
    /// Sixteen floats copied.
    copy: u32,
    /// Sixteen bins of a sum, beside its products, where each input is multiplied for several outputs.
    sum: u32,
    /// Factor for a transform's instructions, in halves: 3 stands for 1.5.
    transform: u32,
}

/// Costs for one channel, whose memory stays in the caches.
const ONE_CHANNEL: CostModel = CostModel {
    copy: 4,
    sum: 13,
    transform: 2,
};
/// Costs for sixteen channels, whose memory other levels push out of the caches.
const SIXTEEN_CHANNELS: CostModel = CostModel {
    copy: 12,
    sum: 40,
    transform: 3,
};
/// Fixed cost of an operation.
const OPERATION: u32 = 32;
/// Fixed cost of a piece.
const PIECE: u32 = 64;
/// Sixteen bins of one product: loads and multiply-adds.
const PRODUCT: u32 = 18;
/// The same where each input is multiplied for several outputs.
const LOOKAHEAD_PRODUCT: u32 = 10;

impl PieceList {
    /// Lists for a period without a cross-fade, and with one. The second has at most as many pieces as the first: a
    /// scheduler that does a fixed number of pieces in each callback must not be late in a cross-fade.
    ///
    /// Real-time: setup.
    pub(super) fn plain_and_fading(
        spec: &FdlSpec,
        inputs: usize,
        connections: &LevelPaths,
    ) -> [Self; 2] {
        let plain = Self::new(spec, inputs, connections, false);
        let mut spec = spec.clone();
        loop {
            let fading = Self::new(&spec, inputs, connections, true);
            if fading.len() <= plain.len() {
                return [plain, fading];
            }
            spec.max_piece_cost = spec
                .max_piece_cost
                .saturating_add(spec.max_piece_cost / 8 + 1);
        }
    }

    /// All operations of a period; in a cross-fade those of both sets of filters. Each input is transformed when the first
    /// output needs it.
    fn new(spec: &FdlSpec, inputs: usize, connections: &LevelPaths, is_fading: bool) -> Self {
        let mut builder = PieceListBuilder {
            spec,
            operations: Vec::new(),
            ends: Vec::new(),
            cost: 0,
        };
        let mut is_transformed = vec![false; inputs];
        for output in 0..connections.outputs() {
            let connections = connections.get(connections.range(output));
            for connection in connections {
                if !std::mem::replace(&mut is_transformed[connection.input], true) {
                    builder.add_input(connection.input);
                }
            }
            for _ in 0..if is_fading { 2 } else { 1 } {
                builder.add_output(output, connections.len(), is_fading);
                if is_fading {
                    builder.add(Operation::SwitchFilters, 0);
                }
            }
        }
        builder.finish()
    }

    /// Number of pieces.
    ///
    /// Real-time: hot.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Estimated cost of each piece.
    pub(super) fn costs(&self) -> Vec<u64> {
        self.ends.iter().map(|end| u64::from(end.1)).collect()
    }

    /// Places of a piece's operations.
    ///
    /// Real-time: hot.
    pub(super) fn operations_of(&self, piece: usize) -> Range<usize> {
        let end = |piece: usize| self.ends[piece].0 as usize;
        piece.checked_sub(1).map_or(0, end)..end(piece)
    }

    /// The operation at a place.
    ///
    /// Real-time: hot.
    pub(super) fn operation(&self, at: usize) -> Operation {
        self.operations[at].clone()
    }
}

/// A list while it is being made.
struct PieceListBuilder<'a> {
    spec: &'a FdlSpec,
    operations: Vec<Operation>,
    ends: Vec<(u32, u32)>,
    /// Cost of the piece that has not ended.
    cost: u32,
}

impl PieceListBuilder<'_> {
    fn add(&mut self, operation: Operation, cost: u32) {
        let cost = cost.saturating_add(OPERATION);
        if self.cost > 0 && self.cost.saturating_add(cost) > self.spec.max_piece_cost {
            self.end_piece();
        }
        self.operations.push(operation);
        self.cost = self.cost.saturating_add(cost);
    }

    fn end_piece(&mut self) {
        let cost = self.cost.saturating_add(PIECE);
        self.ends.push((self.operations.len() as u32, cost));
        self.cost = 0;
    }

    /// Adds copies of `blocks` blocks, where sixteen floats cost `copy`.
    fn add_copies(
        &mut self,
        blocks: usize,
        copy: u32,
        operation: impl Fn(Range<usize>) -> Operation,
    ) {
        let cost = (self.spec.block_len() / 16) as u32 * copy + OPERATION;
        let at_once = (self.spec.max_piece_cost / cost).max(1) as usize;
        for from in (0..blocks).step_by(at_once) {
            let to = (from + at_once).min(blocks);
            self.add(operation(from..to), cost * (to - from) as u32);
        }
    }

    fn model(&self) -> &'static CostModel {
        match self.spec.packing {
            Packing::Mono => &ONE_CHANNEL,
            Packing::Batch => &SIXTEEN_CHANNELS,
        }
    }

    /// Cost of a piece of a transform.
    fn transform_cost(&self, piece: usize, is_forward: bool) -> u32 {
        let cost = self.spec.fft.piece_cost(piece, is_forward);
        cost.saturating_mul(self.model().transform) / 2
    }

    fn add_input(&mut self, input: usize) {
        let spec = self.spec;
        let blocks = 2 * spec.size / spec.block;
        self.add_copies(blocks, self.model().copy, |blocks| Operation::CopyInput {
            input,
            blocks,
        });
        for piece in 0..spec.fft.pieces() {
            let cost = self.transform_cost(piece, true);
            self.add(Operation::Forward { input, piece }, cost);
        }
    }

    fn add_output(&mut self, output: usize, connections: usize, is_fading: bool) {
        let spec = self.spec;
        for phase in (0..spec.lookahead_periods).rev() {
            self.add_products(output, phase, connections.max(1));
        }
        for piece in 0..spec.fft.pieces() {
            let cost = self.transform_cost(piece, false);
            self.add(Operation::Inverse { piece }, cost);
        }
        let blocks = spec.size / spec.block;
        let copy = self.model().copy * if is_fading { 4 } else { 1 };
        self.add_copies(blocks, copy, |blocks| Operation::CopyOutput {
            output,
            blocks,
        });
    }

    /// Adds the products of the range of bins that is in `phase`.
    fn add_products(&mut self, output: usize, phase: usize, connections: usize) {
        let spec = self.spec;
        let products = product_count(spec.count, spec.lookahead_periods, phase) as u32;
        let (_, outputs) = summed(spec.lookahead_periods, phase);
        let cost = match spec.lookahead_periods {
            1 => PRODUCT * products,
            _ => LOOKAHEAD_PRODUCT * products + self.model().sum * outputs as u32,
        };
        // For a block of sixteen bins, 32 floats.
        let cost = cost * connections as u32;
        let at_once = (spec.max_piece_cost / cost.max(1)).max(8) as usize * 32;
        let len = spec.spectrum_len() / spec.lookahead_periods;
        for from in (0..len).step_by(at_once) {
            let to = (from + at_once).min(len);
            let operation = Operation::Multiply {
                output,
                phase,
                floats: from..to,
            };
            self.add(operation, (to - from) as u32 / 32 * cost);
        }
    }

    fn finish(mut self) -> PieceList {
        if self.cost > 0 || self.operations.is_empty() {
            self.end_piece();
        }
        PieceList {
            operations: self.operations.into(),
            ends: self.ends.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::spec::LevelPath;
    use super::*;
    use fft::{Kernels, Packing, RealFft};
    use std::sync::Arc;

    fn spec(size: usize, max_piece_cost: u32) -> FdlSpec {
        let (packing, kernels) = (Packing::Mono, Kernels::best());
        FdlSpec {
            size,
            count: 7,
            block: 64,
            width: 1,
            fade_frames: 1000,
            max_piece_cost,
            lookahead_periods: if max_piece_cost == 700 { 4 } else { 1 },
            is_half: false,
            fft: Arc::new(RealFft::new(size, packing, kernels).unwrap()),
            kernels,
            packing,
        }
    }

    fn lists(spec: &FdlSpec) -> [PieceList; 2] {
        let connection = |input, output| LevelPath { input, output };
        let all = [connection(0, 0), connection(1, 0), connection(1, 1)];
        PieceList::plain_and_fading(spec, 2, &LevelPaths::new(&all, 2))
    }

    #[test]
    fn every_operation_is_in_one_piece_and_every_float_is_multiplied() {
        for max_piece_cost in [1, 700, 1 << 30] {
            let spec = spec(1024, max_piece_cost);
            let [plain, _] = lists(&spec);
            let all: Vec<usize> = (0..plain.len())
                .flat_map(|i| plain.operations_of(i))
                .collect();
            assert!(all.iter().copied().eq(0..plain.operations.len()));
            let len = spec.spectrum_len() / spec.lookahead_periods;
            let phases = |output| (0..spec.lookahead_periods).map(move |phase| (output, phase));
            for of in (0..2).flat_map(phases) {
                let mut at = 0;
                for operation in &plain.operations {
                    if let Operation::Multiply {
                        output,
                        phase,
                        floats,
                    } = operation
                        && (*output, *phase) == of
                    {
                        assert_eq!((floats.start, floats.start % 32), (at, 0));
                        at = floats.end;
                    }
                }
                assert_eq!(at, len);
            }
        }
        assert_eq!(lists(&spec(1024, u32::MAX / 4))[0].len(), 1);
    }

    #[test]
    fn smaller_pieces_are_more_and_a_cross_fade_has_no_more_than_usual() {
        let [coarse, _] = lists(&spec(4096, 8192));
        let [fine, fading] = lists(&spec(4096, 512));
        assert!(fine.len() > 4 * coarse.len());
        assert!(fading.len() <= fine.len() && fading.operations.len() > fine.operations.len() / 2);
        let sum = |list: &PieceList| list.costs().iter().sum::<u64>() as f64;
        assert!((sum(&fine) / sum(&coarse) - 1.0).abs() < 0.2);
        let max = fine.costs().into_iter().max().unwrap();
        assert!(max < 16 * 512, "{max}");
    }
}
