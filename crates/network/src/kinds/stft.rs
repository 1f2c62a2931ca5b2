//! Short-time Fourier transforms: overlapping windows to spectra, and back by overlap-add.
//!
//! ```text
//! w[i] = sin(π (i + 1/2) / size)                 root of a Hann window
//! X_m  = FFT(w · x[m hop ..])                    `Stft`: reads `size` frames, consumes `hop`
//! y    = Σm w · IFFT(X_m), shifted by m hop      `InverseStft`: writes `size` frames, produces `hop`
//! ```
//!
//! Analysis and synthesis windows multiply to a Hann window, whose copies `hop` apart add up to a constant: so the inverse gives
//! the input back (Griffin and Lim, "Signal estimation from modified short-time Fourier transform", 1984). Fewer
//! windows overlap at the very first frames; factors make up for that.
//!
//! A spectrum travels as `size` frames, packed as [`fft::Packing::Mono`].

use super::{KindError, nonzero, transform};
use crate::actor::{Actor, FireStatus, Windows};
use crate::topology::{EndOfStream, InputPort, NodePorts, OutputPort};
use fft::{AlignedBuffer, RealFft};
use std::f64::consts::PI;

/// Short-time Fourier transform.
pub struct Stft {
    buffers: TransformBuffers,
    hop: usize,
    channels: usize,
}

/// Inverse short-time Fourier transform.
pub struct InverseStft {
    buffers: TransformBuffers,
    hop: usize,
    channels: usize,
    /// Factors of the first frames, which fewer windows overlap.
    first: Box<[f32]>,
    /// Number of factors that have been applied.
    applied: usize,
}

/// Transform, window and buffers of one node.
struct TransformBuffers {
    fft: RealFft,
    window: AlignedBuffer,
    /// Windowed samples, or a spectrum.
    samples: AlignedBuffer,
    sound: AlignedBuffer,
    scratch: AlignedBuffer,
}

impl TransformBuffers {
    /// The window is multiplied by `scale`.
    fn new(size: usize, scale: f64) -> Result<Self, KindError> {
        let fft = transform(size)?;
        let mut window = AlignedBuffer::new(size);
        for (i, x) in window.iter_mut().enumerate() {
            *x = (libm::sin(PI * (i as f64 + 0.5) / size as f64) * scale) as f32;
        }
        Ok(Self {
            window,
            samples: AlignedBuffer::new(size),
            sound: AlignedBuffer::new(size),
            scratch: AlignedBuffer::new(fft.scratch_len()),
            fft,
        })
    }
}

fn check_hop(size: usize, hop: usize) -> Result<(), KindError> {
    match hop {
        0 => Err(KindError::Zero("hop")),
        hop if hop > size / 2 || !size.is_multiple_of(hop) => Err(KindError::Hop { hop, size }),
        _ => Ok(()),
    }
}

impl Stft {
    /// A spectrum of `size` samples every `hop` frames.
    ///
    /// # Errors
    ///
    /// There is no such transform or hop, or there are no channels.
    pub fn new(size: usize, hop: usize, channels: usize) -> Result<Self, KindError> {
        let buffers = TransformBuffers::new(size, 1.0)?;
        check_hop(size, hop)?;
        Ok(Self {
            buffers,
            hop,
            channels: nonzero(channels, "channels")?,
        })
    }
}

impl InverseStft {
    /// The inverse of an [`Stft`] with the same numbers.
    ///
    /// # Errors
    ///
    /// As for [`Stft::new`].
    pub fn new(size: usize, hop: usize, channels: usize) -> Result<Self, KindError> {
        // The squares of the size / hop overlapping windows add up to half their number; forward and inverse transform
        // together multiply by the size.
        let overlaps = size as f64 / hop.max(1) as f64 / 2.0;
        let buffers = TransformBuffers::new(size, 1.0 / (overlaps * size as f64))?;
        check_hop(size, hop)?;
        Ok(Self {
            first: first(&TransformBuffers::new(size, 1.0)?.window, hop),
            buffers,
            hop,
            channels: nonzero(channels, "channels")?,
            applied: 0,
        })
    }
}

/// Factor of each of the first frames, for the windows that would have come before.
fn first(window: &[f32], hop: usize) -> Box<[f32]> {
    let all = window.len() as f64 / hop as f64 / 2.0;
    let factor = |i: usize| {
        let there = (i % hop..=i)
            .step_by(hop)
            .map(|at| f64::from(window[at]).powi(2));
        (all / there.sum::<f64>()) as f32
    };
    (0..window.len() - hop).map(factor).collect()
}

impl Actor for Stft {
    fn ports(&self) -> NodePorts {
        let size = self.buffers.fft.buffer_len();
        let input = InputPort::new("in", size, self.hop).at_end(EndOfStream::Flush);
        let output = OutputPort::new("out", size, size);
        NodePorts::through(input, output).channels(self.channels)
    }

    fn fire(&mut self, windows: &mut Windows<'_>) -> FireStatus {
        let TransformBuffers {
            fft,
            window,
            samples,
            scratch,
            ..
        } = &mut self.buffers;
        windows.each_channel(self.channels, |input, output| {
            let input = input.iter().zip(window.iter());
            let windowed = samples.iter_mut().zip(input);
            windowed.for_each(|(to, (x, w))| *to = x * w);
            fft.forward(samples, output, scratch);
        });
        FireStatus::Continue
    }
}

impl Actor for InverseStft {
    fn ports(&self) -> NodePorts {
        let size = self.buffers.fft.buffer_len();
        let input = InputPort::new("in", size, size);
        let output = OutputPort::new("out", size, self.hop);
        NodePorts::through(input, output).channels(self.channels)
    }

    /// Adds to what earlier firings wrote behind the frames that they produced: the overlap-add takes place in the queue.
    fn fire(&mut self, windows: &mut Windows<'_>) -> FireStatus {
        let TransformBuffers {
            fft,
            window,
            samples,
            sound,
            scratch,
        } = &mut self.buffers;
        let overlap = fft.buffer_len() - self.hop;
        windows.each_channel(self.channels, |input, to| {
            // The inverse transform overwrites its input, which is the queue's.
            samples.copy_from_slice(input);
            fft.inverse(samples, sound, scratch);
            let frames = to.iter_mut().zip(sound.iter().zip(window.iter()));
            for (i, (to, (x, w))) in frames.enumerate() {
                *to = if i < overlap { *to + x * w } else { x * w };
            }
            let scaled = to[..self.hop].iter_mut().zip(&self.first[self.applied..]);
            scaled.for_each(|(to, factor)| *to *= factor);
        });
        self.applied = (self.applied + self.hop).min(self.first.len());
        FireStatus::Continue
    }

    fn reset(&mut self) {
        self.applied = 0;
    }

    fn progress(&self) -> u64 {
        self.applied as u64
    }

    fn go_on_from(&mut self, progress: u64) {
        self.applied = progress.min(self.first.len() as u64) as usize;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{InverseStft, KindError, Stft};
    use crate::kinds::fixtures::{is_near, noise, through, through_all};

    #[test]
    fn the_inverse_gives_the_input_back() {
        for (size, hop) in [(32, 16), (64, 16), (256, 32), (32, 1)] {
            let sound = noise(1000, 5);
            let there = Stft::new(size, hop, 2).unwrap();
            let back = InverseStft::new(size, hop, 2).unwrap();
            let nodes: Vec<Box<dyn crate::Actor>> = vec![Box::new(there), Box::new(back)];
            let got = through_all(nodes, vec![sound.clone(), sound.clone()]);
            let expected: Vec<f64> = sound.iter().map(|x| f64::from(*x)).collect();
            is_near(&got[0][..expected.len()], &expected, 1e-4);
            assert_eq!(got[0], got[1]);
        }
    }

    #[test]
    fn a_spectrum_is_that_of_the_windowed_input() {
        let (size, hop) = (32, 8);
        let sound = noise(64, 6);
        let spectra = through(Stft::new(size, hop, 1).unwrap(), vec![sound.clone()]);
        let spectrum = &spectra[0][..size];
        for bin in 1..16 {
            let part = |f: fn(f64) -> f64| -> f64 {
                let term = |i: usize| {
                    let window = (std::f64::consts::PI * (i as f64 + 0.5) / 32.0).sin();
                    let angle = -2.0 * std::f64::consts::PI * (bin * i) as f64 / 32.0;
                    f64::from(sound[i]) * window * f(angle)
                };
                (0..size).map(term).sum()
            };
            is_near(&[spectrum[bin]], &[part(f64::cos)], 1e-5);
            is_near(&[spectrum[16 + bin]], &[part(f64::sin)], 1e-5);
        }
    }

    #[test]
    fn hops_that_do_not_add_up_are_refused() {
        assert_eq!(Stft::new(64, 0, 1).map(drop), Err(KindError::Zero("hop")));
        for hop in [3, 64, 33] {
            let refused = Err(KindError::Hop { hop, size: 64 });
            assert_eq!(Stft::new(64, hop, 1).map(drop), refused);
            assert_eq!(InverseStft::new(64, hop, 1).map(drop), refused);
        }
    }
}
