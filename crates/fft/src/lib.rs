//! Real Fourier transforms of one channel or of sixteen at once, and the complex multiply-adds that convolution needs.
//!
//! Takes slices of floats and gives slices of floats; what is prepared for a size ([`RealFft`]) and for a machine
//! ([`Kernels`]) is made beforehand and shared freely. May: compute, use `unsafe` for vectors. May not: allocate after
//! it is made, know audio, keep anything between two calls.
//!
//! ```text
//!  time ── RealFft::forward ──▶ spectrum ── Kernels::multiply_add ──▶ sum ── RealFft::inverse ──▶ time
//!  one channel, or sixteen      blocked: sixteen real parts,          of all products
//!  as frames of sixteen floats  then sixteen imaginary ones
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `real_fft` | [`RealFft`], the layout of spectra ([`Packing`]) |
//! | `transform` | how a transform is done: columns and rows, butterflies, real from complex |
//! | `kernels` | [`Kernels`]: the instruction set, and the operations on spectra |
//! | [`simd`] | what a kernel is written over: vectors of any width, complex numbers, blocks |
//! | `composed` | [`ComposedFft`]: a larger transform from the spectra of smaller ones |
//! | `aligned`, [`half`](mod@half) | memory on cache lines; half-precision storage |
//!
//! ```
//! use divisi_fft::{AlignedBuffer, Kernels, Packing, RealFft};
//!
//! let fft = RealFft::new(64, Packing::Mono, Kernels::best())?;
//! let mut time = AlignedBuffer::new(fft.buffer_len());
//! let mut spectrum = AlignedBuffer::new(fft.buffer_len());
//! let mut scratch = AlignedBuffer::new(fft.scratch_len());
//! time[0] = 1.0;
//! fft.forward(&time, &mut spectrum, &mut scratch);
//! assert_eq!(spectrum[..16], [1.0; 16]); // the real parts of the first sixteen bins
//! fft.inverse(&mut spectrum, &mut time, &mut scratch);
//! assert_eq!(time[0], 128.0);
//! # Ok::<(), divisi_fft::SizeError>(())
//! ```

mod aligned;
mod composed;
pub mod half;
mod kernels;
mod real_fft;
pub mod simd;
mod transform;

pub use aligned::AlignedBuffer;
pub use composed::{ComposedFft, SmallerFft};
pub use kernels::{Kernels, KernelsError};
pub use real_fft::{LANES, Packing, RealFft, SizeError};
