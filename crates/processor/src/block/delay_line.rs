//! [`DelayLineView`]: a delay line, read only, for the reading step of a delay.

use super::RawDelayLine;
use units::Channels;

/// A delay line, read only: samples by channel, frame and delay.
#[derive(Clone, Copy)]
pub struct DelayLineView<'a> {
    line: &'a RawDelayLine,
    position: u64,
}

impl<'a> DelayLineView<'a> {
    pub(super) fn new(line: &'a RawDelayLine, position: u64) -> Self {
        Self { line, position }
    }

    /// Number of channels.
    ///
    /// Real-time: hot.
    pub fn channels(&self) -> Channels {
        Channels(self.line.channels as u16)
    }

    /// Shortest delay that can be read, in frames.
    ///
    /// Real-time: hot.
    pub fn min_delay(&self) -> u32 {
        self.line.min_delay
    }

    /// Longest delay that can be read, in frames.
    ///
    /// Real-time: hot.
    pub fn max_delay(&self) -> u32 {
        self.line.max_delay
    }

    /// Returns the sample of `channel` that was written `delay` frames before frame `frame` of this block; 0 before the
    /// start. The delay is clamped to [`min_delay`](Self::min_delay)..=[`max_delay`](Self::max_delay): for the delays
    /// in between, the plan ensures that the line is written in time.
    ///
    /// # Panics
    ///
    /// The line has no such channel.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn read(&self, channel: usize, frame: usize, delay: u32) -> f32 {
        let line = self.line;
        assert!(
            channel < line.channels as usize,
            "a delay line has no such channel"
        );
        let now = self.position + frame as u64;
        let delay = u64::from(delay.max(line.min_delay).min(line.max_delay));
        let Some(then) = now.checked_sub(delay) else {
            return 0.0;
        };
        let capacity = line.capacity as usize;
        let index = then as usize & (capacity - 1);
        // SAFETY: `channel` and `index` are within the ring; the plan keeps the writing half out of the frames that may
        // be read now, by order or by the ring's size (see `Plan::delay_lines`).
        unsafe { *line.data.add(channel * capacity + index) }
    }

    /// As [`read`](Self::read), for all `frames` of this block, if they lie behind each other in memory: nearly always.
    ///
    /// # Panics
    ///
    /// The line has no such channel.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub fn run(&self, channel: usize, delay: u32, frames: usize) -> Option<&'a [f32]> {
        let line = self.line;
        let capacity = line.capacity as usize;
        assert!(
            channel < line.channels as usize,
            "a delay line has no such channel"
        );
        let delay = delay.max(line.min_delay).min(line.max_delay);
        let then = self.position.checked_sub(u64::from(delay))?;
        let index = then as usize & (capacity - 1);
        if index + frames > capacity {
            return None;
        }
        // SAFETY: as in `read`: the frames are within the ring, and the writing half is kept out of them while the step runs.
        Some(unsafe {
            let first = line.data.add(channel * capacity + index);
            std::slice::from_raw_parts(first, frames)
        })
    }

    /// As [`read`](Self::read), for the frames from `frame` on: as many as `to` takes.
    ///
    /// # Panics
    ///
    /// The line has no such channel, or it is shorter than `to`.
    ///
    /// Real-time: hot.
    pub fn read_run(&self, channel: usize, frame: usize, delay: u32, to: &mut [f32]) {
        let line = self.line;
        let capacity = line.capacity as usize;
        assert!(
            channel < line.channels as usize && to.len() <= capacity,
            "a delay line has no such samples"
        );
        let now = self.position + frame as u64;
        let delay = u64::from(delay.max(line.min_delay).min(line.max_delay));
        let before_start = delay.saturating_sub(now).min(to.len() as u64) as usize;
        let (silent, to) = to.split_at_mut(before_start);
        silent.fill(0.0);
        // Of use only if a frame is left, and then not below 0.
        let then = (now + before_start as u64).wrapping_sub(delay);
        let index = then as usize & (capacity - 1);
        let (head, rest) = to.split_at_mut(to.len().min(capacity - index));
        // SAFETY: `channel`, `index` and both lengths are within the ring; the plan keeps the writing half out of the frames
        // that may be read now, by order or by the ring's size (see `Plan::delay_lines`). No output is a part of a line.
        unsafe {
            let ring = line.data.add(channel * capacity).cast_const();
            head.as_mut_ptr()
                .copy_from_nonoverlapping(ring.add(index), head.len());
            rest.as_mut_ptr().copy_from_nonoverlapping(ring, rest.len());
        }
    }
}
