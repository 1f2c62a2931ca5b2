//! [`Kernels`]: the instruction set that all work is done with, chosen once and carried by value.
//!
//! | file | operation on blocked spectra |
//! |---|---|
//! | `multiply.rs` | complex multiply-adds onto one sum |
//! | `outputs.rs` | the same onto several sums, in one pass over memory |
//! | `pass.rs` | the loop that both of them run |
//! | `add.rs` | sums and differences |
//! | `transpose.rs` | sixteen rows to sixteen columns |

mod add;
mod multiply;
mod outputs;
mod pass;
mod transpose;

use crate::simd::Kernel;
use crate::simd::scalar::F32x1;
use std::fmt;

#[cfg(target_arch = "aarch64")]
use crate::simd::neon::Neon;
#[cfg(target_arch = "x86_64")]
use crate::simd::x86::{F32x4, F32x8, F32x16};

/// A set of kernels that this machine can run.
///
/// The same set gives the same bits for the same values, wherever they are in memory and however the work is divided.
/// Another set may round differently: some have fused multiply-adds, and some use a larger radix in transforms.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kernels(Set);

/// The instruction sets. A value is made only where the machine has the instructions.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Set {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Sse3,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "aarch64")]
    Neon,
}

/// Reason why there are no kernels of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelsError {
    /// There is no such name: take one of [`Kernels::NAMES`].
    #[error("there are no kernels of that name")]
    Unknown,
    /// This machine lacks the instructions: take [`Kernels::best`].
    #[error("this machine does not support these kernels")]
    Unsupported,
}

impl Kernels {
    /// The names that [`Kernels::from_name`] knows, on every machine.
    pub const NAMES: [&'static str; 5] = ["scalar", "sse3", "avx2", "avx512", "neon"];

    /// The widest set that this machine supports.
    ///
    /// Real-time: setup.
    pub fn best() -> Self {
        let named = |name: &&str| Self::from_name(name).ok();
        let widest = ["avx512", "avx2", "sse3", "neon"].iter().find_map(named);
        widest.unwrap_or(Self(Set::Scalar))
    }

    /// All sets that this machine supports, the narrowest first.
    ///
    /// Real-time: setup.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::NAMES
            .into_iter()
            .filter_map(|name| Self::from_name(name).ok())
    }

    /// The set of that name, for tests and comparisons; `auto` is [`Kernels::best`].
    ///
    /// Real-time: setup.
    ///
    /// # Errors
    ///
    /// The name is unknown, or this machine lacks the instructions.
    pub fn from_name(name: &str) -> Result<Self, KernelsError> {
        match name {
            "auto" => Ok(Self::best()),
            "scalar" => Ok(Self(Set::Scalar)),
            #[cfg(target_arch = "x86_64")]
            "sse3" if is_x86_feature_detected!("sse3") => Ok(Self(Set::Sse3)),
            #[cfg(target_arch = "x86_64")]
            "avx2" if has_avx2() => Ok(Self(Set::Avx2)),
            #[cfg(target_arch = "x86_64")]
            "avx512" if has_avx2() && is_x86_feature_detected!("avx512f") => Ok(Self(Set::Avx512)),
            #[cfg(target_arch = "aarch64")]
            "neon" => Ok(Self(Set::Neon)),
            name if Self::NAMES.contains(&name) => Err(KernelsError::Unsupported),
            _ => Err(KernelsError::Unknown),
        }
    }

    /// The name that [`Kernels::from_name`] knows it by.
    pub fn name(self) -> &'static str {
        match self.0 {
            Set::Scalar => "scalar",
            #[cfg(target_arch = "x86_64")]
            Set::Sse3 => "sse3",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => "avx512",
            #[cfg(target_arch = "aarch64")]
            Set::Neon => "neon",
        }
    }

    /// Returns true if the registers hold eight complex vectors and still have room for factors: then transforms use
    /// radix 8.
    pub(crate) fn has_many_registers(self) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => true,
            #[cfg(target_arch = "aarch64")]
            Set::Neon => true,
            _ => false,
        }
    }

    /// Runs `kernel` with this set's vectors.
    ///
    /// Real-time: hot if the kernel is.
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: `from_name` has found the instructions on this machine before it made the value.
        unsafe {
            match self.0 {
                Set::Scalar => kernel.run::<F32x1>(),
                #[cfg(target_arch = "x86_64")]
                Set::Sse3 => with_sse3(kernel),
                #[cfg(target_arch = "x86_64")]
                Set::Avx2 => with_avx2(kernel),
                #[cfg(target_arch = "x86_64")]
                Set::Avx512 => with_avx512(kernel),
                #[cfg(target_arch = "aarch64")]
                Set::Neon => kernel.run::<Neon>(),
            }
        }
    }
}

impl fmt::Debug for Kernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse3")]
fn with_sse3<K: Kernel>(kernel: K) -> K::Output {
    // SAFETY: this function has the instructions enabled.
    unsafe { kernel.run::<F32x4>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
fn with_avx2<K: Kernel>(kernel: K) -> K::Output {
    // SAFETY: this function has the instructions enabled.
    unsafe { kernel.run::<F32x8>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma,f16c")]
fn with_avx512<K: Kernel>(kernel: K) -> K::Output {
    // SAFETY: this function has the instructions enabled.
    unsafe { kernel.run::<F32x16>() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_gives_its_kernels_or_a_reason() {
        for name in Kernels::NAMES {
            match Kernels::from_name(name) {
                Ok(kernels) => assert_eq!(kernels.name(), name),
                Err(error) => assert_eq!(error, KernelsError::Unsupported),
            }
        }
        assert_eq!(Kernels::from_name("mmx"), Err(KernelsError::Unknown));
        assert_eq!(Kernels::from_name("auto"), Ok(Kernels::best()));
        assert_eq!(Kernels::available().next().unwrap().name(), "scalar");
        assert_eq!(Kernels::available().last(), Some(Kernels::best()));
    }
}
