//! Which instructions: [`Kernels`] is chosen once, when the program starts, and carried by value.

use crate::vector::Vector;
use crate::vector::scalar::One;
use std::fmt;

#[cfg(target_arch = "aarch64")]
use crate::vector::neon::Neon;
#[cfg(target_arch = "x86_64")]
use crate::vector::x86::{Eight, Four, Sixteen};

/// A set of kernels that this machine can run. The same set gives the same bits for the same values, wherever they lie
/// in memory and however the work is cut; another set may round differently.
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

/// Why there are no kernels of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KernelsError {
    /// Nobody knows that name; [`Kernels::NAMES`] are known.
    Unknown,
    /// This machine has not the instructions; [`Kernels::best`] always runs.
    Unsupported,
}

impl fmt::Display for KernelsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "there are no kernels of that name",
            Self::Unsupported => "this machine has not the instructions for these kernels",
        })
    }
}

impl std::error::Error for KernelsError {}

/// Something to be done with whichever vectors the machine has.
pub(crate) trait Work {
    /// What it gives.
    type Out;

    /// Does it. Implementations are `inline(always)`, with all that they call, so that they are compiled for the
    /// instructions of the function that calls them.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    unsafe fn run<V: Vector>(self) -> Self::Out;
}

impl Kernels {
    /// The names that [`Kernels::from_name`] knows, on whatever machine.
    pub const NAMES: [&'static str; 5] = ["scalar", "sse3", "avx2", "avx512", "neon"];

    /// The widest that this machine has.
    ///
    /// Real-time: setup.
    pub fn best() -> Self {
        let named = |name: &&str| Self::from_name(name).ok();
        let widest = ["avx512", "avx2", "sse3", "neon"].iter().find_map(named);
        widest.unwrap_or(Self(Set::Scalar))
    }

    /// All that this machine has, the narrowest first.
    ///
    /// Real-time: setup.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::NAMES
            .into_iter()
            .filter_map(|name| Self::from_name(name).ok())
    }

    /// Those of that name, for tests and for comparing; `auto` is [`Kernels::best`].
    ///
    /// Real-time: setup.
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

    /// What [`Kernels::from_name`] calls it.
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

    /// Whether eight complex vectors fit into the registers with room to work.
    pub(crate) fn has_many_registers(self) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => true,
            #[cfg(target_arch = "aarch64")]
            Set::Neon => true,
            _ => false,
        }
    }

    /// Does `work` with this set's vectors.
    ///
    /// Real-time: hot as far as the work is.
    #[inline]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Out {
        // SAFETY: `named` has asked the machine for the instructions before it made the value.
        unsafe {
            match self.0 {
                Set::Scalar => work.run::<One>(),
                #[cfg(target_arch = "x86_64")]
                Set::Sse3 => on_sse3(work),
                #[cfg(target_arch = "x86_64")]
                Set::Avx2 => on_avx2(work),
                #[cfg(target_arch = "x86_64")]
                Set::Avx512 => on_avx512(work),
                #[cfg(target_arch = "aarch64")]
                Set::Neon => work.run::<Neon>(),
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
fn on_sse3<W: Work>(work: W) -> W::Out {
    // SAFETY: this function's own instructions.
    unsafe { work.run::<Four>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
fn on_avx2<W: Work>(work: W) -> W::Out {
    // SAFETY: this function's own instructions.
    unsafe { work.run::<Eight>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma,f16c")]
fn on_avx512<W: Work>(work: W) -> W::Out {
    // SAFETY: this function's own instructions.
    unsafe { work.run::<Sixteen>() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_gives_kernels_of_that_name_or_says_why_not() {
        for name in Kernels::NAMES {
            match Kernels::from_name(name) {
                Ok(kernels) => assert_eq!(kernels.name(), name),
                Err(why) => assert_eq!(why, KernelsError::Unsupported),
            }
        }
        assert_eq!(Kernels::from_name("mmx"), Err(KernelsError::Unknown));
        assert_eq!(Kernels::from_name("auto"), Ok(Kernels::best()));
        assert_eq!(Kernels::available().next().unwrap().name(), "scalar");
        assert_eq!(Kernels::available().last(), Some(Kernels::best()));
    }
}
