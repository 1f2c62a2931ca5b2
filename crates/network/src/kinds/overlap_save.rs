//! A long FIR filter by overlap-save, from queue memory to queue memory.
//!
//! ```text
//! input window   [ taps - 1: read again next time | size - taps + 1 new frames ]      one transform of `size`
//!                         │ FFT, × H, inverse FFT
//! output window  [ size - taps + 1 valid frames   | taps - 1: wrapped, not produced ]
//! ```
//!
//! Circular convolution wraps taps - 1 frames (Stockham, "High-speed convolution and correlation", 1966). The response is
//! rotated by taps - 1 in the transform, so that the valid frames come first; then the inverse transform writes the output
//! window itself, of which only those are produced, and the overlap of the input stays in its queue. No sample is
//! copied. (`conv` convolves in blocks of a graph, with many partitions; the two share `fft`.)

use super::{KindError, nonzero, transform};
use crate::actor::{Actor, FireStatus, Windows};
use crate::topology::{InputPort, NodePorts, OutputPort};
use fft::{AlignedBuffer, Kernels, Packing, RealFft};

/// A FIR filter by overlap-save. See the module.
pub struct OverlapSave {
    fft: RealFft,
    kernels: Kernels,
    response: AlignedBuffer,
    taps: usize,
    channels: usize,
    spectrum: AlignedBuffer,
    product: AlignedBuffer,
    scratch: AlignedBuffer,
}

impl OverlapSave {
    /// A filter with these taps, by transforms of `size` samples. It moves `size` - taps + 1 frames a firing, and has no
    /// latency of its own.
    ///
    /// # Errors
    ///
    /// There are no taps or channels, there is no such transform, or there are more taps than it has samples.
    pub fn new(taps: &[f32], size: usize, channels: usize) -> Result<Self, KindError> {
        nonzero(taps.len(), "taps")?;
        nonzero(channels, "channels")?;
        let fft = transform(size)?;
        if taps.len() > size {
            return Err(KindError::Taps {
                taps: taps.len(),
                size,
            });
        }
        let mut scratch = AlignedBuffer::new(fft.scratch_len());
        let mut reversed = AlignedBuffer::new(size);
        for (i, tap) in taps.iter().enumerate() {
            reversed[(i + size - (taps.len() - 1)) % size] = tap / size as f32;
        }
        let mut response = AlignedBuffer::new(size);
        fft.forward(&reversed, &mut response, &mut scratch);
        Ok(Self {
            kernels: Kernels::best(),
            response,
            taps: taps.len(),
            channels,
            spectrum: AlignedBuffer::new(size),
            product: AlignedBuffer::new(size),
            scratch,
            fft,
        })
    }
}

impl Actor for OverlapSave {
    fn ports(&self) -> NodePorts {
        let (size, overlap) = (self.fft.buffer_len(), self.taps - 1);
        let input = InputPort::new("in", size, size - overlap).history(overlap);
        let output = OutputPort::new("out", size, size - overlap);
        NodePorts::through(input, output).channels(self.channels)
    }

    fn fire(&mut self, windows: &mut Windows<'_>) -> FireStatus {
        let (spectrum, scratch) = (&mut self.spectrum, &mut self.scratch);
        windows.each_channel(self.channels, |input, output| {
            self.fft.forward(input, spectrum, scratch);
            self.product.fill(0.0);
            self.kernels
                .multiply_add(&mut self.product, spectrum, &self.response, Packing::Mono);
            self.fft.inverse(&mut self.product, output, scratch);
        });
        FireStatus::Continue
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{KindError, OverlapSave};
    use crate::kinds::fixtures::{convolved, is_near, noise, through};

    #[test]
    fn it_is_the_filter_computed_directly() {
        for (taps, size) in [(1, 32), (20, 32), (32, 32), (100, 128), (1000, 4096)] {
            let (sound, taps) = (noise(3000, 1), noise(taps, 2));
            let node = OverlapSave::new(&taps, size, 2).unwrap();
            let got = through(
                node,
                vec![sound.clone(), sound.iter().map(|x| -x).collect()],
            );
            let expected = &convolved(&sound, &taps)[..3000];
            is_near(&got[0][..3000], expected, 1e-4);
            let other: Vec<f32> = got[1].iter().map(|x| -x).collect();
            is_near(&other[..3000], expected, 1e-4);
        }
    }

    #[test]
    fn taps_that_do_not_fit_are_refused() {
        let made = |taps: usize, size| OverlapSave::new(&vec![1.0; taps], size, 1).map(drop);
        assert_eq!(made(0, 64), Err(KindError::Zero("taps")));
        assert_eq!(made(65, 64), Err(KindError::Taps { taps: 65, size: 64 }));
        for size in [0, 1, 16, 48, usize::MAX, 1 << 40] {
            assert_eq!(made(1, size), Err(KindError::Transform(size)));
        }
    }
}
