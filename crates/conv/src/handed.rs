//! What a level hands on to the next larger one, which makes its spectra from it ([`fft::ComposedFft`]).
//!
//! A level of size M has the spectrum of every window of two periods. The next one, of R times that size, needs those of
//! every other window. Their sum over one of its periods is handed on when the last one is there: that is in the smaller
//! level's period after the larger one's input is complete. The deadline of that period's work comes before the larger
//! level's, but after its work has begun: who runs both in order of their deadlines finds the sum there, and who does not
//! may find nothing. Then the larger level makes it itself, by the same transforms of the same sound: the same bits.
//! Nobody waits.
//!
//! | memory | belongs to |
//! |---|---|
//! | what is being added up | [`Giver`] |
//! | a sum on its way, or what is free on its way back | nobody: in a ring |
//! | the sums of the last two periods | [`Taker`] |

use fft::{AlignedBuffer, ComposedFft, Kernels};
use rtrb::{Consumer, Producer, PushError, RingBuffer};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// So many sums of an input are with the giver or on their way.
const OUT: usize = 3;

/// When: how often sound has been forgotten, and the number of the smaller level's period since.
pub(crate) type Time = (u64, u64);

/// The sum of an input's spectra, up to and with those of a period.
struct Given {
    time: Time,
    sum: AlignedBuffer,
}

/// The smaller level's side.
pub(crate) struct Giver {
    ratio: u64,
    kernels: Kernels,
    inputs: Box<[Giving]>,
    /// A period whose spectra lack something that was heard.
    spoiled: Option<Time>,
}

struct Giving {
    to: Producer<Given>,
    back: Consumer<AlignedBuffer>,
    sum: Option<AlignedBuffer>,
    /// Whether anything is being added to it.
    is_adding: bool,
    /// Whose spectrum is to be added next.
    next: Time,
}

/// The larger level's side.
pub(crate) struct Taker {
    larger: Arc<ComposedFft>,
    inputs: Box<[Taking]>,
    scratch: AlignedBuffer,
    alone: u64,
}

struct Taking {
    from: Consumer<Given>,
    back: Producer<AlignedBuffer>,
    /// What has come for a period that has not.
    early: Option<Given>,
    /// The sums of the window's two halves.
    earlier: AlignedBuffer,
    later: AlignedBuffer,
}

/// The two sides, for so many inputs.
///
/// Real-time: setup.
pub(crate) fn handing_on(
    larger: &Arc<ComposedFft>,
    inputs: usize,
    kernels: Kernels,
) -> (Giver, Taker) {
    let memory = || AlignedBuffer::new(larger.sum_len());
    let ends = (0..inputs).map(|_| {
        let (to, from) = RingBuffer::new(OUT);
        let (mut free, back) = RingBuffer::new(OUT);
        for _ in 0..OUT {
            debug_assert!(!free.is_full(), "there is room for all");
            drop(free.push(memory()));
        }
        let giving = Giving {
            to,
            back,
            sum: None,
            is_adding: false,
            next: (0, 0),
        };
        let taking = Taking {
            from,
            back: free,
            early: None,
            earlier: memory(),
            later: memory(),
        };
        (giving, taking)
    });
    let (giving, taking): (Vec<_>, Vec<_>) = ends.unzip();
    let giver = Giver {
        ratio: larger.ratio() as u64,
        kernels,
        inputs: giving.into(),
        spoiled: None,
    };
    let taker = Taker {
        larger: larger.clone(),
        inputs: taking.into(),
        scratch: AlignedBuffer::new(larger.sum_scratch_len()),
        alone: 0,
    };
    (giver, taker)
}

impl Giver {
    /// The spectra of period `now` are not those of the sound: something before it has been lost.
    ///
    /// Real-time: hot.
    pub(crate) fn lose(&mut self, now: Time) {
        self.spoiled = Some(now);
    }

    /// Adds floats `part` of the spectrum of an input in period `now`; parts come in order. Hands on what is complete.
    ///
    /// Real-time: hot.
    pub(crate) fn add(&mut self, input: usize, now: Time, part: Range<usize>, spectrum: &[f32]) {
        let (jumps, period) = now;
        if period % 2 == 1 {
            return;
        }
        let last = period.next_multiple_of(self.ratio);
        let is_first = period + self.ratio == last + 2;
        let giving = &mut self.inputs[input];
        if part.start == 0 {
            giving.begin(now, is_first, self.spoiled == Some(now));
        }
        let Some(sum) = giving.sum.as_mut().filter(|_| giving.is_adding) else {
            return;
        };
        let to = &mut sum[part.clone()];
        match is_first {
            true => to.copy_from_slice(&spectrum[part.clone()]),
            false => self.kernels.add_assign(to, &spectrum[part.clone()]),
        }
        if part.end < spectrum.len() {
            return;
        }
        giving.next = (jumps, period + 2);
        if period == last
            && let Some(sum) = giving.sum.take()
            && let Err(PushError::Full(given)) = giving.to.push(Given { time: now, sum })
        {
            // There is room for all that there is; but if not, it is free again.
            giving.sum = Some(given.sum);
        }
    }
}

impl Giving {
    /// Whether a sum begins or goes on; else there will be none until the next begins.
    fn begin(&mut self, now: Time, is_first: bool, is_spoiled: bool) {
        if is_first && self.sum.is_none() {
            self.sum = self.back.pop().ok();
        }
        let goes_on = is_first || self.is_adding && self.next == now;
        self.is_adding = goes_on && !is_spoiled;
    }
}

impl Taker {
    /// The transform.
    ///
    /// Real-time: hot.
    pub(crate) fn larger(&self) -> &ComposedFft {
        &self.larger
    }

    /// Gets the sum of an input's period `now`, the larger level's; else makes it from its sound, `half`. `is_new`: all
    /// before was silence.
    ///
    /// Real-time: hot.
    pub(crate) fn take(&mut self, input: usize, (jumps, now): Time, half: &[f32], is_new: bool) {
        let time = (jumps, now * self.larger.ratio() as u64);
        let taking = &mut self.inputs[input];
        std::mem::swap(&mut taking.earlier, &mut taking.later);
        if is_new {
            taking.earlier.fill(0.0);
        }
        if !taking.get(time) {
            self.alone += 1;
            self.larger
                .sum_spectra(half, &mut taking.later, &mut self.scratch);
        }
    }

    /// The sums of the two halves of an input's window.
    ///
    /// Real-time: hot.
    pub(crate) fn sums(&self, input: usize) -> (&[f32], &[f32]) {
        let taking = &self.inputs[input];
        (&taking.earlier, &taking.later)
    }

    /// How many sums were not there, and have been made.
    pub(crate) fn alone(&self) -> u64 {
        self.alone
    }

    /// Floats in memory, with those on their way.
    pub(crate) fn floats(&self) -> usize {
        (2 + OUT) * self.inputs.len() * self.larger.sum_len() + self.scratch.len()
    }
}

impl Taking {
    /// Whether the sum for that time is there now; what is older is given back.
    fn get(&mut self, time: Time) -> bool {
        while let Some(mut given) = self.early.take().or_else(|| self.from.pop().ok()) {
            let is_it = given.time.cmp(&time);
            match is_it {
                Ordering::Greater => {
                    self.early = Some(given);
                    return false;
                }
                Ordering::Equal => std::mem::swap(&mut self.later, &mut given.sum),
                Ordering::Less => {}
            }
            if let Err(PushError::Full(lost)) = self.back.push(given.sum) {
                debug_assert!(lost.is_empty(), "there is room for all that there is");
            }
            if is_it == Ordering::Equal {
                return true;
            }
        }
        false
    }
}
