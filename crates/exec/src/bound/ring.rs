//! Ring memory of delay lines, addressed by absolute frame.
//!
//! ```text
//!             position & (capacity - 1)
//!                      v
//! channel 0  | a | b | c | d |      capacity: a power of two
//! channel 1  | a | b | c | d |
//! ```

use plan::DelayLine;
use processor::RawDelayLine;
use std::cell::UnsafeCell;
use units::Frames;

/// Samples per memory page of 4096 bytes.
const PAGE: usize = 1024;

/// Zeroed samples whose pages are all mapped, because each was written once: the first write on an audio thread causes
/// no page fault.
pub(super) fn mapped_samples(count: usize) -> Box<[UnsafeCell<f32>]> {
    let samples: Box<[_]> = (0..count).map(|_| UnsafeCell::new(0.0)).collect();
    for page in samples.iter().step_by(PAGE) {
        // SAFETY: no other thread has it yet. Volatile, so that the write is not optimized away.
        unsafe { page.get().write_volatile(0.0) };
    }
    samples
}

/// Samples of a cache line.
const CACHE_LINE: usize = 16;

/// Sets of a first cache: memory that lies a multiple of so many lines apart falls on the same one.
const SETS: usize = 64;

/// One cache line of zeroed samples.
#[repr(C, align(64))]
struct CacheLine([UnsafeCell<f32>; CACHE_LINE]);

/// Zeroed samples that begin on a cache line, with all pages mapped.
///
/// Large memories begin at the same place of a page each, and all delay lines of a graph are written at the same place of their ring: all
/// of that would fall on few sets of a cache, which hold less than 64 delays. So each memory begins at a line of its page by chance.
struct LineSamples {
    lines: Box<[CacheLine]>,
    /// The line of the first sample.
    first: usize,
}

impl LineSamples {
    fn new(count: usize) -> Self {
        let needed = count.div_ceil(CACHE_LINE);
        // At most a quarter more.
        let spare = if needed >= 4 * SETS { SETS - 1 } else { 0 };
        let line = |_| CacheLine(std::array::from_fn(|_| UnsafeCell::new(0.0)));
        let lines: Box<[CacheLine]> = (0..needed + spare).map(line).collect();
        for line in lines.iter().step_by(PAGE / CACHE_LINE) {
            // SAFETY: no other thread has it yet. Volatile, so that the write is not optimized away.
            unsafe { line.0[0].get().write_volatile(0.0) };
        }
        let page = lines.as_ptr().addr() as u64 / (PAGE * size_of::<f32>()) as u64;
        // Fibonacci hashing: pages at even distances are spread evenly.
        let hash = page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SETS.ilog2());
        Self {
            lines,
            first: (hash as usize).min(spare),
        }
    }

    fn first(&self) -> *mut f32 {
        let lines = self.lines.as_ptr().wrapping_add(self.first);
        UnsafeCell::raw_get(lines.cast())
    }
}

/// Memory of one delay line: a ring of samples per channel.
pub(crate) struct DelayLineMemory {
    samples: LineSamples,
    capacity: u32,
    channels: u32,
}

// SAFETY: the cells are reached only through `RawDelayLine`s, by steps of the executor that owns the runtime. The plan
// orders or separates the reads and writes of these steps (`plan::DelayLine`).
unsafe impl Sync for DelayLineMemory {}

impl DelayLineMemory {
    /// Silent rings of `capacity` frames.
    pub(crate) fn new(channels: u32, capacity: u32) -> Self {
        Self {
            samples: LineSamples::new(channels as usize * capacity as usize),
            capacity,
            channels,
        }
    }

    /// Returns true if it has this many frames and channels.
    pub(crate) fn has_size(&self, (channels, capacity): (u32, u32)) -> bool {
        (self.channels, self.capacity) == (channels, capacity)
    }

    /// The ring with the delays that `line` allows.
    pub(crate) fn for_line(&self, line: &DelayLine) -> RawDelayLine {
        RawDelayLine {
            min_delay: line.min.0,
            max_delay: line.max.0,
            ..self.raw()
        }
    }

    /// The ring with any delay up to its capacity.
    pub(crate) fn raw(&self) -> RawDelayLine {
        RawDelayLine {
            data: self.samples.first(),
            capacity: self.capacity,
            channels: self.channels,
            min_delay: 0,
            max_delay: self.capacity,
        }
    }
}

/// Capacity of a ring that holds delays up to `max_delay`, and the block that is being written.
pub(crate) fn capacity(max_delay: Frames, block: Frames) -> u32 {
    let frames = max_delay.0.saturating_add(block.0).max(2);
    frames.checked_next_power_of_two().unwrap_or(1 << 31)
}

/// Writes `from` to `channel` of `line`, its first frame at absolute frame `position`.
///
/// # Safety
///
/// `line` points to a ring, and no other thread reads or writes these frames of it now.
pub(crate) unsafe fn write(line: &RawDelayLine, channel: usize, position: u64, from: &[f32]) {
    let mask = line.capacity as usize - 1;
    let start = position as usize & mask;
    let first = from.len().min(line.capacity as usize - start);
    // SAFETY: both parts lie within the ring of `channel`, and are ours alone by this function's contract.
    unsafe {
        let ring = line.data.add(channel * line.capacity as usize);
        ring.add(start)
            .copy_from_nonoverlapping(from.as_ptr(), first);
        ring.copy_from_nonoverlapping(from[first..].as_ptr(), from.len() - first);
    }
}

/// The `frames` frames of `channel` from absolute frame `position` on, if the ring does not end among them: nearly always.
///
/// # Safety
///
/// As [`write`], for as long as the slice lives.
#[inline(always)]
pub(crate) unsafe fn run_mut<'a>(
    line: &RawDelayLine,
    channel: usize,
    position: u64,
    frames: usize,
) -> Option<&'a mut [f32]> {
    let capacity = line.capacity as usize;
    let start = position as usize & (capacity - 1);
    // SAFETY: the frames lie within the ring of `channel`, and are ours alone by this function's contract.
    (start + frames <= capacity).then(|| unsafe {
        let first = line.data.add(channel * capacity + start);
        std::slice::from_raw_parts_mut(first, frames)
    })
}

/// The `frames` frames of `channel` from absolute frame `position` on, as the two parts before and after the ring's end.
///
/// # Safety
///
/// As [`write`], for as long as the slices live.
pub(crate) unsafe fn parts_mut<'a>(
    line: &RawDelayLine,
    channel: usize,
    position: u64,
    frames: usize,
) -> [&'a mut [f32]; 2] {
    let mask = line.capacity as usize - 1;
    let start = position as usize & mask;
    let first = frames.min(line.capacity as usize - start);
    // SAFETY: both parts lie within the ring of `channel`, do not overlap since a block fits the ring, and are ours
    // alone by this function's contract.
    unsafe {
        let ring = line.data.add(channel * line.capacity as usize);
        [
            std::slice::from_raw_parts_mut(ring.add(start), first),
            std::slice::from_raw_parts_mut(ring, frames - first),
        ]
    }
}

/// Reads `channel` of `line` into `to`, its first frame from absolute frame `position`.
///
/// # Safety
///
/// `line` points to a ring, and no thread writes these frames of it now.
pub(crate) unsafe fn read(line: &RawDelayLine, channel: usize, position: u64, to: &mut [f32]) {
    let mask = line.capacity as usize - 1;
    let start = position as usize & mask;
    let first = to.len().min(line.capacity as usize - start);
    let rest = to.len() - first;
    // SAFETY: both parts lie within the ring of `channel`, and no thread writes there by this function's contract.
    unsafe {
        let ring = line.data.add(channel * line.capacity as usize);
        to.as_mut_ptr()
            .copy_from_nonoverlapping(ring.add(start), first);
        to.as_mut_ptr()
            .add(first)
            .copy_from_nonoverlapping(ring, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn lines_begin_on_cache_lines_and_not_all_at_the_same_place_of_a_page() {
        for frames in [128, 4096, 65_536] {
            let lines: Vec<_> = (0..64).map(|_| DelayLineMemory::new(1, frames)).collect();
            let first = |line: &DelayLineMemory| line.raw().data.addr();
            assert!(lines.iter().all(|line| first(line).is_multiple_of(64)));
            let places: HashSet<_> = lines.iter().map(|it| first(it) / 64 % SETS).collect();
            assert!(places.len() > 16, "{frames}: {}", places.len());
            // All samples are there, and silent.
            for line in &lines {
                let samples = line.raw();
                let mut to = vec![1.0; frames as usize];
                // SAFETY: no other thread has it.
                unsafe { read(&samples, 0, 0, &mut to) };
                assert!(to.iter().all(|x| x.to_bits() == 0));
            }
        }
    }
}
