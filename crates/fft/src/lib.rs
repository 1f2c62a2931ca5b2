//! Real Fourier transforms of one channel or of sixteen at once, and the complex multiply-adds that convolution needs.
//!
//! Takes slices of floats and gives slices of floats; what is prepared for a size ([`RealFft`]) and for a machine
//! ([`Kernels`]) is made beforehand and shared freely. May: compute, use `unsafe` for vectors. May not: allocate after
//! it is made, know audio, keep anything between two calls.
//!
//! ```
//! use divisi_fft::{Aligned, Backend, Kernels, Packing, RealFft};
//!
//! let fft = RealFft::new(64, Packing::Mono, Kernels::best(), Backend::Own)?;
//! let mut time = Aligned::new(fft.floats());
//! let mut spectrum = Aligned::new(fft.floats());
//! let mut scratch = Aligned::new(fft.scratch());
//! time[0] = 1.0;
//! fft.forward(&time, &mut spectrum, &mut scratch);
//! assert_eq!(spectrum[..16], [1.0; 16]); // the real parts of the first sixteen bins
//! fft.inverse(&mut spectrum, &mut time, &mut scratch);
//! assert_eq!(time[0], 128.0);
//! # Ok::<(), divisi_fft::SizeError>(())
//! ```

mod aligned;
pub mod compare;
mod composed;
pub mod half;
mod kernels;
mod real_fft;
pub mod simd;
mod transform;

pub use aligned::AlignedBuffer;
pub use composed::{ComposedFft, SmallerFft};
pub use kernels::nested::{Minuend, SpectrumPairs};
pub use kernels::{Kernels, KernelsError};
pub use real_fft::{Backend, LANES, Packing, RealFft, SizeError};
