//! The work of one period of a delay line as a list of parts, and which of them make a piece.
//!
//! A part is the least that can be done by itself: a step of a transform, a stretch of a multiplication, some blocks that
//! are copied. Pieces are runs of parts of about the same weight: light enough to be done beside other work, and not so
//! light that handing them out costs more than doing them.

use crate::ahead::{products, takes};
use crate::nested;
use crate::shape::{Shape, Wire};
use fft::Packing;
use std::ops::Range;

/// The least that can be done by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Puts blocks of an input, the second number up to the third, where they are transformed.
    Gather(usize, usize, usize),
    /// Does a piece, the second number, of the transform of an input.
    Forward(usize, usize),
    /// Does a piece, the second number, of what the transform of an input needs nothing of a smaller level for.
    Larger(usize, usize),
    /// Gets what a smaller level has for it.
    Take(usize),
    /// Does a piece of the rest.
    LargerLast(usize, usize),
    /// Hands on an input's spectrum to a larger level: floats from the second number up to the third.
    Give(usize, usize, usize),
    /// Adds up two spectra of an input, as [`crate::nested`] has it: floats from the second number up to the third.
    Pair(usize, usize, usize),
    /// Multiplies the spectra that an output needs: floats `from..to` of the range that is in `phase`.
    Multiply {
        output: usize,
        phase: usize,
        from: usize,
        to: usize,
    },
    /// Does a piece of the transform back.
    Inverse(usize),
    /// Puts blocks of what came back where an output is heard.
    Scatter(usize, usize, usize),
    /// What goes on with the impulse responses to come.
    Next,
}

/// Parts in order, in pieces.
#[derive(Debug)]
pub(crate) struct List {
    parts: Box<[Part]>,
    /// Where each piece ends, and its weight.
    ends: Box<[(u32, u32)]>,
}

/// What things weigh, in what an instruction takes that multiplies and adds with vectors as wide as half a block.
struct Weights {
    /// What sixteen floats cost that are copied.
    copy: u32,
    /// What sixteen bins of a sum cost beside its products, where each input is taken for several outputs.
    sum: u32,
    /// By how much a transform's instructions take longer, in halves.
    transform: u32,
}

/// One channel by itself stays in the caches.
const NEAR: Weights = Weights {
    copy: 4,
    sum: 13,
    transform: 2,
};
/// Sixteen channels come to memory that others have used since: `benches/distributed`, `--bin weigh`, shows what that takes.
const FAR: Weights = Weights {
    copy: 12,
    sum: 40,
    transform: 3,
};
/// What a part costs beside its arithmetic.
const EACH: u32 = 32;
/// What it costs to come to a piece.
const COME: u32 = 64;
/// What sixteen bins of one product cost: loads and multiply-adds.
const BINS: u32 = 18;
/// The same where each input is taken for several outputs.
const AHEAD: u32 = 10;
/// What sixteen bins of two spectra take that are added up,
const PAIR: u32 = 24;
/// and those of the results of three periods.
const RESULTS: u32 = 40;

impl List {
    /// The parts of a period, and those of a period in which one impulse response fades into another. The second list
    /// has no more pieces than the first: whoever does so many in each callback is as early with them.
    ///
    /// Real-time: setup.
    pub(crate) fn both(
        shape: &Shape,
        inputs: usize,
        wires: &[Wire],
        ends: &[(usize, usize)],
    ) -> [Self; 2] {
        let plain = Self::new(shape, inputs, wires, ends, false);
        let mut shape = shape.clone();
        loop {
            let fading = Self::new(&shape, inputs, wires, ends, true);
            if fading.pieces() <= plain.pieces() {
                return [plain, fading];
            }
            shape.piece = shape.piece.saturating_add(shape.piece / 8 + 1);
        }
    }

    /// All parts of a period; with `fades` those of both impulse responses. Each input is transformed when the first
    /// output needs it.
    fn new(
        shape: &Shape,
        inputs: usize,
        wires: &[Wire],
        ends: &[(usize, usize)],
        fades: bool,
    ) -> Self {
        let mut making = Making {
            shape,
            parts: Vec::new(),
            ends: Vec::new(),
            weight: 0,
        };
        let mut is_there = vec![false; inputs];
        for (output, &(first, end)) in ends.iter().enumerate() {
            for wire in &wires[first..end] {
                if !std::mem::replace(&mut is_there[wire.input], true) {
                    making.input(wire.input);
                }
            }
            for _ in 0..if fades { 2 } else { 1 } {
                making.output(output, end - first, fades);
                if fades {
                    making.add(Part::Next, 0);
                }
            }
        }
        making.end()
    }

    /// How many pieces there are.
    ///
    /// Real-time: hot.
    pub(crate) fn pieces(&self) -> usize {
        self.ends.len()
    }

    /// How heavy each piece is.
    pub(crate) fn weights(&self) -> Vec<u64> {
        self.ends.iter().map(|end| u64::from(end.1)).collect()
    }

    /// Which parts a piece has.
    ///
    /// Real-time: hot.
    pub(crate) fn parts_of(&self, piece: usize) -> Range<usize> {
        let end = |piece: usize| self.ends[piece].0 as usize;
        piece.checked_sub(1).map_or(0, end)..end(piece)
    }

    /// A part.
    ///
    /// Real-time: hot.
    pub(crate) fn part(&self, at: usize) -> Part {
        self.parts[at]
    }
}

/// A list while it is made.
struct Making<'a> {
    shape: &'a Shape,
    parts: Vec<Part>,
    ends: Vec<(u32, u32)>,
    /// Of the piece that has not ended.
    weight: u32,
}

impl Making<'_> {
    fn add(&mut self, part: Part, weight: u32) {
        let weight = weight.saturating_add(EACH);
        if self.weight > 0 && self.weight.saturating_add(weight) > self.shape.piece {
            self.end_piece();
        }
        self.parts.push(part);
        self.weight = self.weight.saturating_add(weight);
    }

    fn end_piece(&mut self) {
        let weight = self.weight.saturating_add(COME);
        self.ends.push((self.parts.len() as u32, weight));
        self.weight = 0;
    }

    /// Copies of `blocks` blocks, 16 floats of which weigh `each`.
    fn copies(&mut self, blocks: usize, each: u32, part: impl Fn(usize, usize) -> Part) {
        let weight = (self.shape.run() / 16) as u32 * each + EACH;
        let at_once = (self.shape.piece / weight).max(1) as usize;
        for from in (0..blocks).step_by(at_once) {
            let to = (from + at_once).min(blocks);
            self.add(part(from, to), weight * (to - from) as u32);
        }
    }

    fn weights(&self) -> &'static Weights {
        match self.shape.packing {
            Packing::Mono => &NEAR,
            Packing::Batch => &FAR,
        }
    }

    /// The weight of a piece of a transform.
    fn transform(&self, i: usize, forward: bool) -> u32 {
        self.longer(self.shape.fft.piece_cost(i, forward))
    }

    /// What so many instructions of a transform weigh.
    fn longer(&self, instructions: u32) -> u32 {
        instructions.saturating_mul(self.weights().transform) / 2
    }

    fn input(&mut self, input: usize) {
        let shape = self.shape;
        let blocks = 2 * shape.size / shape.block;
        self.copies(blocks, self.weights().copy, |from, to| {
            Part::Gather(input, from, to)
        });
        self.forward(input);
        if shape.gives {
            self.sums(|from, to| Part::Give(input, from, to));
        }
        if shape.is_nested {
            self.sums(|from, to| Part::Pair(input, from, to));
        }
    }

    fn forward(&mut self, input: usize) {
        let shape = self.shape;
        let Some(larger) = &shape.larger else {
            for i in 0..shape.fft.pieces() {
                self.add(Part::Forward(input, i), self.transform(i, true));
            }
            return;
        };
        for i in 0..larger.pieces() {
            self.add(Part::Larger(input, i), self.longer(larger.piece_cost(i)));
        }
        self.add(Part::Take(input), EACH);
        for i in 0..larger.final_pieces() {
            self.add(
                Part::LargerLast(input, i),
                self.longer(larger.final_piece_cost(i)),
            );
        }
    }

    /// Sums of two numbers each, of a whole spectrum.
    fn sums(&mut self, part: impl Fn(usize, usize) -> Part) {
        let shape = self.shape;
        let at_once = (shape.piece / PAIR).max(8) as usize * 32;
        for from in (0..shape.floats()).step_by(at_once) {
            let to = (from + at_once).min(shape.floats());
            self.add(part(from, to), (to - from) as u32 / 32 * PAIR);
        }
    }

    fn output(&mut self, output: usize, wires: usize, fades: bool) {
        let shape = self.shape;
        for phase in (0..shape.ahead).rev() {
            self.range(output, phase, wires.max(1));
        }
        for i in 0..shape.fft.pieces() {
            self.add(Part::Inverse(i), self.transform(i, false));
        }
        let blocks = shape.size / shape.block;
        let each = self.weights().copy * if fades { 4 } else { 1 };
        self.copies(blocks, each, |from, to| Part::Scatter(output, from, to));
    }

    fn range(&mut self, output: usize, phase: usize, wires: usize) {
        let shape = self.shape;
        let products = products(shape.count, shape.ahead, phase) as u32;
        let (_, outputs) = takes(shape.ahead, phase);
        let block = match shape.ahead {
            1 if shape.is_nested => BINS * nested::products(shape.count) as u32 + RESULTS,
            1 => BINS * products,
            _ => AHEAD * products + self.weights().sum * outputs as u32,
        };
        let block = block * wires as u32;
        let at_once = (shape.piece / block.max(1)).max(8) as usize * 32;
        let span = shape.floats() / shape.ahead;
        for from in (0..span).step_by(at_once) {
            let to = (from + at_once).min(span);
            let part = Part::Multiply {
                output,
                phase,
                from,
                to,
            };
            self.add(part, (to - from) as u32 / 32 * block);
        }
    }

    fn end(mut self) -> List {
        if self.weight > 0 || self.parts.is_empty() {
            self.end_piece();
        }
        List {
            parts: self.parts.into(),
            ends: self.ends.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fft::{Backend, Kernels, Packing, RealFft};
    use std::sync::Arc;

    fn shape(size: usize, piece: u32) -> Shape {
        let (packing, kernels) = (Packing::Mono, Kernels::best());
        Shape {
            size,
            count: 7,
            block: 64,
            width: 1,
            fade: 1000,
            piece,
            ahead: if piece == 700 { 4 } else { 1 },
            is_nested: piece == 900,
            larger: None,
            gives: piece == 900,
            is_half: false,
            fft: Arc::new(RealFft::new(size, packing, kernels, Backend::Own).unwrap()),
            kernels,
            packing,
        }
    }

    fn lists(shape: &Shape) -> [List; 2] {
        let wire = |input, output| Wire { input, output };
        let wires = [wire(0, 0), wire(1, 0), wire(1, 1)];
        List::both(shape, 2, &wires, &[(0, 2), (2, 3)])
    }

    #[test]
    fn every_part_is_in_one_piece_and_every_float_is_multiplied() {
        for piece in [1, 700, 900, 1 << 30] {
            let shape = shape(1024, piece);
            let [plain, _] = lists(&shape);
            let parts: Vec<usize> = (0..plain.pieces())
                .flat_map(|i| plain.parts_of(i))
                .collect();
            assert!(parts.iter().copied().eq(0..plain.parts.len()));
            let span = shape.floats() / shape.ahead;
            for of in (0..2).flat_map(|output| (0..shape.ahead).map(move |phase| (output, phase))) {
                let mut at = 0;
                for part in &plain.parts {
                    if let Part::Multiply {
                        output,
                        phase,
                        from,
                        to,
                    } = part
                        && (*output, *phase) == of
                    {
                        assert_eq!((*from, from % 32), (at, 0));
                        at = *to;
                    }
                }
                assert_eq!(at, span);
            }
        }
        assert_eq!(lists(&shape(1024, u32::MAX / 4))[0].pieces(), 1);
    }

    #[test]
    fn lighter_pieces_are_more_and_a_fade_has_no_more_than_usual() {
        let [coarse, _] = lists(&shape(4096, 8192));
        let [fine, fading] = lists(&shape(4096, 512));
        assert!(fine.pieces() > 4 * coarse.pieces());
        assert!(fading.pieces() <= fine.pieces() && fading.parts.len() > fine.parts.len() / 2);
        let sum = |list: &List| list.weights().iter().sum::<u64>() as f64;
        assert!((sum(&fine) / sum(&coarse) - 1.0).abs() < 0.2);
        let most = fine.weights().into_iter().max().unwrap();
        assert!(most < 16 * 512, "{most}");
    }
}
