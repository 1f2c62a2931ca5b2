//! Every size, packing and set of kernels beside a transform in double precision.

use crate::oracle::{error, noise, place, spectrum};
use divisi_fft::{AlignedBuffer, Kernels, Packing, RealFft, SizeError};

/// Upper bound on the relative RMS error: about 2^-24 per pass.
fn bound(bins: usize) -> f64 {
    6e-8 * (2.0 + f64::from(bins.ilog2()) / 2.0)
}

/// Every transform of `bins` bins that this machine can do.
fn all(bins: usize) -> impl Iterator<Item = (String, RealFft)> {
    let packings = [Packing::Mono, Packing::Batch];
    packings.into_iter().flat_map(move |packing| {
        Kernels::available().map(move |kernels| {
            let name = format!("{bins} {packing:?} {kernels:?}");
            (name, RealFft::new(bins, packing, kernels).unwrap())
        })
    })
}

/// Memory for one transform.
struct Memory {
    time: AlignedBuffer,
    spectrum: AlignedBuffer,
    scratch: AlignedBuffer,
}

impl Memory {
    /// Noise as time values, NaN in the scratch memory.
    fn of(fft: &RealFft) -> Self {
        let mut scratch = AlignedBuffer::new(fft.scratch_len());
        scratch.fill(f32::NAN);
        Self {
            time: AlignedBuffer::from(&*noise(fft.bins() as u64, fft.buffer_len())),
            spectrum: AlignedBuffer::new(fft.buffer_len()),
            scratch,
        }
    }

    fn forward(&mut self, fft: &RealFft) {
        fft.forward(&self.time, &mut self.spectrum, &mut self.scratch);
    }

    fn inverse(&mut self, fft: &RealFft) {
        fft.inverse(&mut self.spectrum, &mut self.time, &mut self.scratch);
    }
}

fn sizes() -> impl Iterator<Item = usize> {
    (4..=14).map(|log| 1 << log)
}

#[test]
fn spectra_agree_with_double_precision() {
    for bins in sizes() {
        for packing in [Packing::Mono, Packing::Batch] {
            let time = noise(bins as u64, 2 * bins * packing.channels());
            let want = spectrum(packing, bins, &time);
            for (name, fft) in all(bins).filter(|(_, fft)| fft.packing() == packing) {
                let mut memory = Memory::of(&fft);
                memory.forward(&fft);
                let error = error(&memory.spectrum, &want);
                assert!(
                    error <= bound(bins),
                    "{name}: {error:e} over {:e}",
                    bound(bins)
                );
            }
        }
    }
}

#[test]
fn forward_and_inverse_multiply_by_the_length() {
    for bins in sizes() {
        for (name, fft) in all(bins) {
            let mut memory = Memory::of(&fft);
            let scale = 2.0 * bins as f64;
            let want: Vec<f64> = memory.time.iter().map(|&x| f64::from(x) * scale).collect();
            memory.forward(&fft);
            memory.time.fill(f32::NAN);
            memory.inverse(&fft);
            let error = error(&memory.time, &want);
            assert!(
                error <= 1.5 * bound(bins),
                "{name}: {error:e} over {:e}",
                bound(bins)
            );
        }
    }
}

#[test]
fn a_cosine_is_one_bin() {
    for bins in [16, 64, 512] {
        for (name, fft) in all(bins) {
            let mut memory = Memory::of(&fft);
            let (bin, channel) = (bins / 4 + 3, fft.packing().channels() - 1);
            memory.time.fill(0.0);
            for n in 0..2 * bins {
                let phase = std::f64::consts::PI * (n * bin) as f64 / bins as f64;
                memory.time[n * fft.packing().channels() + channel] = phase.cos() as f32;
            }
            memory.forward(&fft);
            let (at, _) = place(fft.packing(), bin, channel);
            for (i, &value) in memory.spectrum.iter().enumerate() {
                let want = if i == at { bins as f32 } else { 0.0 };
                assert!(
                    (value - want).abs() < bins as f32 * 1e-6,
                    "{name}: {value} at {i}"
                );
            }
        }
    }
}

#[test]
fn bits_do_not_depend_on_where_the_memory_lies() {
    for bins in [16, 32, 64, 256, 1024] {
        for (name, fft) in all(bins) {
            let mut memory = Memory::of(&fft);
            let (mut time, mut spectrum) = (
                vec![0.0; fft.buffer_len() + 1],
                vec![0.0; fft.buffer_len() + 3],
            );
            let mut scratch = vec![0.0; fft.scratch_len() + 5];
            time[1..].copy_from_slice(&memory.time);
            memory.forward(&fft);
            fft.forward(&time[1..], &mut spectrum[3..], &mut scratch[5..]);
            assert!(spectrum[3..] == *memory.spectrum, "{name}");
            memory.inverse(&fft);
            fft.inverse(&mut spectrum[3..], &mut time[1..], &mut scratch[5..]);
            assert!(time[1..] == *memory.time, "{name}");
        }
    }
}

#[test]
fn impossible_sizes_are_refused_with_a_reason() {
    let new = |bins| RealFft::new(bins, Packing::Mono, Kernels::best()).err();
    assert_eq!(new(0), Some(SizeError::NotPowerOfTwo(0)));
    assert_eq!(new(48), Some(SizeError::NotPowerOfTwo(48)));
    assert_eq!(new(8), Some(SizeError::TooSmall(8)));
    assert_eq!(new(1 << 25), Some(SizeError::TooLarge(1 << 25)));
}

#[test]
fn pieces_in_order_give_the_bits_of_the_whole_transform() {
    for bins in [16, 256, 512, 1024, 2048, 8192] {
        for (name, fft) in all(bins) {
            let mut whole = Memory::of(&fft);
            let mut cut = Memory::of(&fft);
            whole.forward(&fft);
            for i in 0..fft.pieces() {
                fft.forward_piece(i, &cut.time, &mut cut.spectrum, &mut cut.scratch);
            }
            assert!(*cut.spectrum == *whole.spectrum, "{name}");
            whole.inverse(&fft);
            for i in 0..fft.pieces() {
                fft.inverse_piece(i, &mut cut.spectrum, &mut cut.time, &mut cut.scratch);
            }
            assert!(*cut.time == *whole.time, "{name}");
        }
    }
}

/// Pieces are put together until they fill what is free in a callback; so the longest counts, not how even they are.
#[test]
fn no_piece_exceeds_its_cost_limit() {
    const MAX_COST: u32 = 12_000;
    let kernels = Kernels::best();
    for (packing, sizes) in [
        (Packing::Mono, 256..=1 << 20),
        (Packing::Batch, 64..=1 << 16),
    ] {
        for bins in sizes.filter(|bins: &usize| bins.is_power_of_two()) {
            let fft = RealFft::new(bins, packing, kernels).unwrap();
            for forward in [true, false] {
                let weights = (0..fft.pieces()).map(|i| fft.piece_cost(i, forward));
                let worst = weights.max().unwrap();
                assert!(
                    worst <= MAX_COST,
                    "{packing:?} {bins}: {worst} instructions"
                );
            }
        }
    }
}
