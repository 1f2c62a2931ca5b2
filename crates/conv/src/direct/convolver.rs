//! [`DirectConvolver`]: the first taps of each impulse response, multiplied frame by frame.

use super::fir::{self, InputHistory};
use crate::level::crossfade::blend;
use crate::level::filters::ScaledIr;
use fft::Kernels;

/// First taps of each path's impulse response.
pub(crate) struct HeadFilters {
    taps: Box<[Box<[f32]>]>,
    /// True if the convolver was made with them.
    is_original: bool,
}

impl HeadFilters {
    /// Copies the first `head` taps of each response.
    ///
    /// Real-time: setup.
    pub(crate) fn new(head: usize, irs: &[ScaledIr]) -> Self {
        let taps = |ir: &ScaledIr| -> Box<[f32]> {
            let end = head.min(ir.frames.len());
            ir.frames[..end].iter().map(|x| x * ir.gain).collect()
        };
        Self {
            taps: irs.iter().map(taps).collect(),
            is_original: false,
        }
    }

    /// Marks the filters as those that a convolver is made with.
    ///
    /// Real-time: setup.
    pub(crate) fn into_original(self) -> Self {
        Self {
            is_original: true,
            ..self
        }
    }
}

/// Direct convolution of all paths.
pub(crate) struct DirectConvolver {
    kernels: Kernels,
    block: usize,
    /// Frames by which the output lags: the partition's added latency.
    delay: usize,
    /// Past input of each channel; empty where there is no head.
    histories: Box<[InputHistory]>,
    /// Input, output and number of each path, sorted by output.
    paths: Box<[(usize, usize, usize)]>,
    filters: HeadFilters,
    /// Filters that fade in, and the frames of the fade that have passed.
    fade: Option<(HeadFilters, usize)>,
    fade_frames: usize,
    /// Output through the filters, and through those that fade in.
    sums: [Box<[f32]>; 2],
}

impl DirectConvolver {
    /// Makes a head of `taps` taps for these paths from an input to an output.
    ///
    /// Real-time: setup.
    pub(crate) fn new(
        kernels: Kernels,
        (block, delay, taps): (usize, usize, usize),
        inputs: usize,
        paths: &[(usize, usize)],
        fade_frames: usize,
        filters: HeadFilters,
    ) -> Self {
        let mut paths: Vec<_> = paths
            .iter()
            .zip(0..)
            .map(|(&(input, output), path)| (input, output, path))
            .collect();
        paths.sort_by_key(|&(input, output, path)| (output, input, path));
        let histories = if taps > 0 { inputs } else { 0 };
        let past = taps.saturating_sub(1) + delay;
        Self {
            kernels,
            block,
            delay,
            histories: (0..histories)
                .map(|_| InputHistory::new(past, block))
                .collect(),
            paths: paths.into(),
            filters,
            fade: None,
            fade_frames: fade_frames.max(1),
            sums: [(); 2].map(|()| vec![0.0; block].into()),
        }
    }

    /// Appends a block to an input.
    ///
    /// Real-time: hot.
    pub(crate) fn write_input(&mut self, input: usize, block: &[f32]) {
        if let Some(history) = self.histories.get_mut(input) {
            history.write(block);
        }
    }

    /// Adds its output to all outputs, which lie one behind the other, a block each.
    ///
    /// Real-time: hot.
    pub(crate) fn add_outputs(&mut self, outputs: &mut [f32]) {
        if self.histories.is_empty() {
            return;
        }
        let [now, next] = &mut self.sums;
        for paths in self.paths.chunk_by(|a, b| a.1 == b.1) {
            let sum = |filters: &HeadFilters, to: &mut [f32]| {
                to.fill(0.0);
                for &(input, _, path) in paths {
                    let taps = &filters.taps[path];
                    let before = taps.len() - 1;
                    let frames = self.histories[input].last(before, self.block, self.delay);
                    fir::add(self.kernels, taps, frames, to);
                }
            };
            sum(&self.filters, now);
            if let Some((filters, frame)) = &self.fade {
                sum(filters, next);
                blend(now, next, *frame, self.fade_frames, 1);
            }
            let output = paths[0].1 * self.block;
            for (out, sum) in outputs[output..].iter_mut().zip(&**now) {
                *out += sum;
            }
        }
    }

    /// Begins a cross-fade to `next` with the next block.
    ///
    /// Real-time: hot.
    pub(crate) fn exchange(&mut self, next: HeadFilters) {
        self.fade = Some((next, 0));
    }

    /// Counts a block of a cross-fade. Returns the old filters when it has ended.
    ///
    /// Real-time: hot.
    pub(crate) fn advance_fade(&mut self) -> Option<HeadFilters> {
        let (_, frame) = self.fade.as_mut()?;
        *frame += self.block;
        if *frame < self.fade_frames {
            return None;
        }
        let (next, _) = self.fade.take()?;
        Some(std::mem::replace(&mut self.filters, next))
    }

    /// Returns to the filters that it was made with, at once. The other filters come in `spare`
    /// or are left there, unless a cross-fade has them.
    ///
    /// Real-time: hot.
    pub(crate) fn restart(&mut self, spare: &mut Option<HeadFilters>) {
        let coming = self.fade.take().map(|(next, _)| next);
        if let Some(filters) = coming.or_else(|| spare.take()) {
            *spare = Some(match filters.is_original {
                true => std::mem::replace(&mut self.filters, filters),
                false => filters,
            });
        }
    }

    /// Forgets all sound.
    ///
    /// Real-time: hot.
    pub(crate) fn clear(&mut self) {
        self.histories.iter_mut().for_each(InputHistory::clear);
    }

    /// Bytes of taps and past input.
    pub(crate) fn bytes(&self) -> usize {
        let taps: usize = self.filters.taps.iter().map(|taps| taps.len()).sum();
        4 * taps
            + self
                .histories
                .iter()
                .map(InputHistory::bytes)
                .sum::<usize>()
    }
}
