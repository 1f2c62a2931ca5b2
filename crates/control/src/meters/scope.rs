//! [`Scope`]: the last waveform of a port, which begins where the first channel rises through zero.

/// Frames of the waveform.
const FRAMES: usize = 1024;

/// The last frames of a port.
pub(super) struct Scope {
    channels: usize,
    /// The last frames, channels side by side, written in a circle.
    last: Vec<f32>,
    at: usize,
}

impl Scope {
    pub(super) fn new(channels: usize) -> Self {
        Self {
            channels,
            last: vec![0.0; 2 * FRAMES * channels],
            at: 0,
        }
    }

    /// Takes samples, channels side by side.
    pub(super) fn write(&mut self, samples: &[f32]) {
        let skipped = samples.len().saturating_sub(self.last.len());
        self.at = (self.at + skipped) % self.last.len();
        for sample in &samples[skipped..] {
            self.last[self.at] = *sample;
            self.at = (self.at + 1) % self.last.len();
        }
    }

    /// Sample of a channel; frame 0 is the oldest.
    fn sample(&self, frame: usize, channel: usize) -> f32 {
        let x = self.last[(self.at + frame * self.channels + channel) % self.last.len()];
        if x.is_finite() { x } else { 0.0 }
    }

    /// The last waveform that begins with a rise through zero, or the last frames if there is no such.
    pub(super) fn waves(&self) -> Vec<Vec<f32>> {
        let rises =
            |frame: &usize| self.sample(frame - 1, 0) < 0.0 && self.sample(*frame, 0) >= 0.0;
        let first = (1..=FRAMES).rev().find(rises).unwrap_or(FRAMES);
        let wave = |channel| {
            let frames = first..first + FRAMES;
            frames.map(|frame| self.sample(frame, channel)).collect()
        };
        (0..self.channels).map(wave).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sine;
    use super::*;

    #[test]
    fn a_wave_begins_where_it_rises_through_zero() {
        for more in [0, 10, 33] {
            let mut scope = Scope::new(2);
            scope.write(&sine(500.0, 0.0, 0.5, 2));
            scope.write(&sine(500.0, 0.0, 0.5, 2)[..2 * more]);
            let waves = scope.waves();
            assert_eq!((waves.len(), waves[0].len()), (2, FRAMES));
            assert_eq!(waves[0], waves[1]);
            // A quarter of 96 frames later it is at the top.
            assert!(waves[0][0].abs() < 0.07 && waves[0][24] > 0.99, "{more}");
        }
        assert_eq!(Scope::new(1).waves(), [vec![0.0; FRAMES]]);
    }
}
