//! Short-time Fourier transforms: windows that overlap to spectra, and back by overlap-add.
//!
//! A spectrum is a run of as many frames as the window has, laid out as [`fft::Packing::Mono`]. Both ways multiply by a
//! window (the root of a Hann window), so that the way there and back is the sound itself, frame by frame: where at first
//! fewer windows overlap, the inverse makes up for it.

use super::{KindError, some, transform};
use crate::fire::{Actor, FireStatus, InputWindows, OutputWindows};
use crate::shape::{EndOfStream, InputPort, OutputPort, Ports};
use fft::{AlignedBuffer, RealFft};
use std::f64::consts::PI;

/// Sound to spectra.
pub struct Stft {
    frame: Frame,
    hop: usize,
    channels: usize,
}

/// Spectra to sound.
pub struct InverseStft {
    frame: Frame,
    hop: usize,
    channels: usize,
    /// For the first frames, what the windows that are missing would have added.
    first: Box<[f32]>,
    /// Frames of these that have been given away.
    given: usize,
}

/// What one transform needs.
struct Frame {
    fft: RealFft,
    window: AlignedBuffer,
    /// The window's samples, or a spectrum.
    samples: AlignedBuffer,
    sound: AlignedBuffer,
    scratch: AlignedBuffer,
}

impl Frame {
    /// The window is times `scale`.
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

fn check(size: usize, hop: usize) -> Result<(), KindError> {
    match hop {
        0 => Err(KindError::Zero("hop")),
        hop if hop > size / 2 || !size.is_multiple_of(hop) => Err(KindError::Hop { hop, size }),
        _ => Ok(()),
    }
}

impl Stft {
    /// A spectrum of `size` frames every `hop`.
    ///
    /// # Errors
    ///
    /// No such transform or hop, or no channels.
    pub fn new(size: usize, hop: usize, channels: usize) -> Result<Self, KindError> {
        let frame = Frame::new(size, 1.0)?;
        check(size, hop)?;
        Ok(Self {
            frame,
            hop,
            channels: some(channels, "channels")?,
        })
    }
}

impl InverseStft {
    /// The inverse of [`Stft`] with the same numbers.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn new(size: usize, hop: usize, channels: usize) -> Result<Self, KindError> {
        // The squares of size / hop windows add up to half of that; a transform there and back is times the size.
        let overlaps = size as f64 / hop.max(1) as f64 / 2.0;
        let frame = Frame::new(size, 1.0 / (overlaps * size as f64))?;
        check(size, hop)?;
        Ok(Self {
            first: first(&Frame::new(size, 1.0)?.window, hop),
            frame,
            hop,
            channels: some(channels, "channels")?,
            given: 0,
        })
    }
}

/// What each of the first frames has to be multiplied by, since no windows came before.
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
    fn ports(&self) -> Ports {
        let size = self.frame.fft.buffer_len();
        let input = InputPort::new("in", size, self.hop).at_end(EndOfStream::Flush);
        let output = OutputPort::new("out", size, size);
        Ports::through(
            input.channels(self.channels),
            output.channels(self.channels),
        )
    }

    fn fire(
        &mut self,
        inputs: &mut InputWindows<'_>,
        outputs: &mut OutputWindows<'_>,
    ) -> FireStatus {
        let (view, mut room) = (inputs.window(0), outputs.window(0));
        let Frame {
            fft,
            window,
            samples,
            scratch,
            ..
        } = &mut self.frame;
        for channel in 0..self.channels {
            let heard = view.channel(channel).iter().zip(window.iter());
            let windowed = samples.iter_mut().zip(heard);
            windowed.for_each(|(to, (x, w))| *to = x * w);
            fft.forward(samples, room.channel(channel), scratch);
        }
        FireStatus::Continue
    }
}

impl Actor for InverseStft {
    fn ports(&self) -> Ports {
        let size = self.frame.fft.buffer_len();
        let output = OutputPort::new("out", size, self.hop);
        Ports::through(
            InputPort::new("in", size, size).channels(self.channels),
            output.channels(self.channels),
        )
    }

    /// What later windows add to lies in the room behind what is given away.
    fn fire(
        &mut self,
        inputs: &mut InputWindows<'_>,
        outputs: &mut OutputWindows<'_>,
    ) -> FireStatus {
        let (view, mut room) = (inputs.window(0), outputs.window(0));
        let Frame {
            fft,
            window,
            samples,
            sound,
            scratch,
        } = &mut self.frame;
        let overlap = fft.buffer_len() - self.hop;
        for channel in 0..self.channels {
            // The inverse transform destroys what it reads, and others may see it yet.
            samples.copy_from_slice(view.channel(channel));
            fft.inverse(samples, sound, scratch);
            let to = room.channel(channel);
            let heard: &mut dyn Iterator<Item = (&f32, &f32)> =
                &mut sound.iter().zip(window.iter());
            to[..overlap]
                .iter_mut()
                .zip(&mut *heard)
                .for_each(|(to, (x, w))| *to += x * w);
            to[overlap..]
                .iter_mut()
                .zip(heard)
                .for_each(|(to, (x, w))| *to = x * w);
            let given = to[..self.hop].iter_mut().zip(&self.first[self.given..]);
            given.for_each(|(to, factor)| *to *= factor);
        }
        self.given = (self.given + self.hop).min(self.first.len());
        FireStatus::Continue
    }

    fn reset(&mut self) {
        self.given = 0;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{InverseStft, KindError, Stft};
    use crate::kinds::testing::{is_near, noise, through, through_all};

    #[test]
    fn there_and_back_is_the_sound() {
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
    fn a_spectrum_is_that_of_the_window() {
        let (size, hop) = (32, 8);
        let sound = noise(64, 6);
        let spectra = through(Stft::new(size, hop, 1).unwrap(), vec![sound.clone()]);
        let spectrum = &spectra[0][..size];
        for bin in 1..16 {
            let part = |f: fn(f64) -> f64| -> f64 {
                let term = |i: usize| {
                    let window = (std::f64::consts::PI * (i as f64 + 0.5) / 32.0).sin();
                    let turn = -2.0 * std::f64::consts::PI * (bin * i) as f64 / 32.0;
                    f64::from(sound[i]) * window * f(turn)
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
