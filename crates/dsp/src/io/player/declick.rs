//! [`Declick`]: no step in the sound where its time jumps.

use processor::OutputBuffer;
use std::ops::Range;

/// Frames in which a step fades.
const FRAMES: u32 = 64;

/// Adds, after a jump, the difference between the sample before and the one after it, fading to zero in a straight line.
#[derive(Clone, Debug, Default)]
pub(super) struct Declick {
    channels: Box<[DeclickChannel]>,
    /// A jump has begun whose first sample is not known yet.
    is_new: bool,
    /// Frames of the fade that are left.
    left: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct DeclickChannel {
    /// The last sample that left.
    last: f32,
    step: f32,
}

impl Declick {
    /// For `channels` channels.
    ///
    /// Real-time: setup.
    pub(super) fn new(channels: usize) -> Self {
        Self {
            channels: vec![DeclickChannel::default(); channels].into(),
            ..Self::default()
        }
    }

    /// Forgets what played.
    ///
    /// Real-time: hot.
    pub(super) fn reset(&mut self) {
        self.channels.fill(DeclickChannel::default());
        (self.is_new, self.left) = (false, 0);
    }

    /// The sound jumps at the next frame.
    ///
    /// Real-time: hot.
    pub(super) fn begin(&mut self) {
        self.is_new = true;
    }

    /// Fades the step in the frames `range`, at least one. Returns true if it adds sound.
    ///
    /// Real-time: hot.
    pub(super) fn process(&mut self, output: &mut OutputBuffer<'_>, range: Range<usize>) -> bool {
        let is_new = std::mem::take(&mut self.is_new);
        if is_new {
            self.left = FRAMES;
        }
        let frames = range.len().min(self.left as usize);
        for (c, channel) in self.channels.iter_mut().enumerate() {
            let samples = &mut output.channel(c)[range.clone()];
            if is_new {
                channel.step = channel.last - samples[0];
            }
            for (sample, left) in samples[..frames].iter_mut().zip((0..=self.left).rev()) {
                *sample += channel.step * (left as f32 / FRAMES as f32);
            }
            channel.last = samples[samples.len() - 1];
        }
        self.left -= frames as u32;
        frames > 0
    }
}
