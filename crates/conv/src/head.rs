//! The direct head of all paths, in the callback.

use crate::direct::{self, History};
use crate::fdl::blend;
use crate::ir_set::Scaled;
use fft::Kernels;

/// The first taps of each path's impulse response.
pub(crate) struct HeadSet {
    taps: Box<[Box<[f32]>]>,
    /// Whether the convolver was made with it.
    is_first: bool,
}

impl HeadSet {
    /// Real-time: setup.
    pub(crate) fn new(head: usize, irs: &[Scaled]) -> Self {
        let taps = |ir: &Scaled| -> Box<[f32]> {
            let end = head.min(ir.frames.len());
            ir.frames[..end].iter().map(|x| x * ir.gain).collect()
        };
        Self {
            taps: irs.iter().map(taps).collect(),
            is_first: false,
        }
    }

    /// As the one that a convolver is made with.
    ///
    /// Real-time: setup.
    pub(crate) fn first(self) -> Self {
        Self {
            is_first: true,
            ..self
        }
    }
}

/// What the callback convolves by itself.
pub(crate) struct Head {
    kernels: Kernels,
    block: usize,
    late: usize,
    /// Of each input; empty where there is no head.
    histories: Box<[History]>,
    /// Input, output and place in a set, sorted by output.
    wires: Box<[(usize, usize, usize)]>,
    set: HeadSet,
    fade: Option<(HeadSet, usize)>,
    of: usize,
    sums: [Box<[f32]>; 2],
}

impl Head {
    /// Real-time: setup.
    pub(crate) fn new(
        kernels: Kernels,
        (block, late, taps): (usize, usize, usize),
        inputs: usize,
        paths: &[(usize, usize)],
        fade: usize,
        set: HeadSet,
    ) -> Self {
        let mut wires: Vec<_> = paths
            .iter()
            .zip(0..)
            .map(|(&(i, o), p)| (i, o, p))
            .collect();
        wires.sort_by_key(|&(input, output, path)| (output, input, path));
        let histories = if taps > 0 { inputs } else { 0 };
        let past = taps.saturating_sub(1) + late;
        Self {
            kernels,
            block,
            late,
            histories: (0..histories).map(|_| History::new(past, block)).collect(),
            wires: wires.into(),
            set,
            fade: None,
            of: fade.max(1),
            sums: [(); 2].map(|()| vec![0.0; block].into()),
        }
    }

    /// Real-time: hot.
    pub(crate) fn hear(&mut self, input: usize, block: &[f32]) {
        if let Some(history) = self.histories.get_mut(input) {
            history.write(block);
        }
    }

    /// Adds its part to all outputs, which stand one behind the other.
    ///
    /// Real-time: hot.
    pub(crate) fn play(&mut self, outputs: &mut [f32]) {
        if self.histories.is_empty() {
            return;
        }
        let [now, next] = &mut self.sums;
        for wires in self.wires.chunk_by(|a, b| a.1 == b.1) {
            let sum = |set: &HeadSet, to: &mut [f32]| {
                to.fill(0.0);
                for &(input, _, path) in wires {
                    let taps = &set.taps[path];
                    let before = taps.len() - 1;
                    let heard = self.histories[input].last(before, self.block, self.late);
                    direct::add(self.kernels, taps, heard, to);
                }
            };
            sum(&self.set, now);
            if let Some((set, at)) = &self.fade {
                sum(set, next);
                blend(now, next, *at, self.of, 1);
            }
            let output = wires[0].1 * self.block;
            for (out, sum) in outputs[output..].iter_mut().zip(&**now) {
                *out += sum;
            }
        }
    }

    /// Fades to `next` from now on.
    ///
    /// Real-time: hot.
    pub(crate) fn exchange(&mut self, next: HeadSet) {
        self.fade = Some((next, 0));
    }

    /// Counts a block of a fade; what is left over when it is done.
    ///
    /// Real-time: hot.
    pub(crate) fn fade_on(&mut self) -> Option<HeadSet> {
        let (_, at) = self.fade.as_mut()?;
        *at += self.block;
        if *at < self.of {
            return None;
        }
        let (next, _) = self.fade.take()?;
        Some(std::mem::replace(&mut self.set, next))
    }

    /// Hears what it was made with, at once; what it heard, or was to hear, is put into `other`, which may hold what is to
    /// be heard.
    ///
    /// Real-time: hot.
    pub(crate) fn restart(&mut self, other: &mut Option<HeadSet>) {
        let coming = self.fade.take().map(|(next, _)| next);
        if let Some(set) = coming.or_else(|| other.take()) {
            *other = Some(match set.is_first {
                true => std::mem::replace(&mut self.set, set),
                false => set,
            });
        }
    }

    /// Real-time: hot.
    pub(crate) fn forget(&mut self) {
        self.histories.iter_mut().for_each(History::forget);
    }

    /// Bytes of taps and past input.
    pub(crate) fn bytes(&self) -> usize {
        let taps: usize = self.set.taps.iter().map(|taps| taps.len()).sum();
        4 * taps + self.histories.iter().map(History::bytes).sum::<usize>()
    }
}
