//! Who transforms levels of which size.

use fft::{Backend, Packing};
use std::fmt;

/// Who transforms, by packing and size: this project's own transforms, unless something else is said. The bits of what is
/// played hang on it, as they hang on the partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backends {
    /// Bit k: of one channel, and of sixteen, transforms with 2^k bins are `realfft`'s.
    peers: [u64; 2],
}

impl Backends {
    /// The same for all sizes.
    pub fn all(backend: Backend) -> Self {
        let peers = match backend {
            Backend::Own => 0,
            Backend::RealFft => u64::MAX,
        };
        Self { peers: [peers; 2] }
    }

    /// Who transforms with so many bins, a power of two.
    pub fn of(&self, packing: Packing, bins: usize) -> Backend {
        match self.peers[place(packing)] & bit(bins) {
            0 => Backend::Own,
            _ => Backend::RealFft,
        }
    }

    /// The same, but `backend` for so many bins.
    pub fn with(mut self, packing: Packing, bins: usize, backend: Backend) -> Self {
        let peers = &mut self.peers[place(packing)];
        match backend {
            Backend::Own => *peers &= !bit(bins),
            Backend::RealFft => *peers |= bit(bins),
        }
        self
    }
}

fn place(packing: Packing) -> usize {
    match packing {
        Packing::Mono => 0,
        Packing::Batch => 1,
    }
}

fn bit(bins: usize) -> u64 {
    1 << bins.max(1).ilog2()
}

impl fmt::Display for Backends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.peers {
            [0, 0] => return f.write_str("own"),
            [u64::MAX, u64::MAX] => return f.write_str("realfft"),
            _ => f.write_str("own, but realfft for")?,
        }
        for (peers, times) in self.peers.iter().zip(["", "16x"]) {
            let sizes = (0..u64::BITS).filter(|k| peers >> k & 1 == 1);
            for k in sizes {
                write!(f, " {times}{}", 1_u64 << k)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_packing_and_size_has_its_own() {
        let some = Backends::default()
            .with(Packing::Mono, 256, Backend::RealFft)
            .with(Packing::Mono, 1024, Backend::RealFft)
            .with(Packing::Batch, 16, Backend::RealFft)
            .with(Packing::Mono, 1024, Backend::Own);
        assert_eq!(some.to_string(), "own, but realfft for 256 16x16");
        assert_eq!(some.of(Packing::Mono, 256), Backend::RealFft);
        assert_eq!(some.of(Packing::Batch, 256), Backend::Own);
        assert_eq!(some.of(Packing::Batch, 16), Backend::RealFft);
        for backend in Backend::ALL {
            let all = Backends::all(backend);
            for bits in [0, 4, 20, 24] {
                assert_eq!(all.of(Packing::Mono, 1 << bits), backend);
            }
        }
        assert_eq!(Backends::all(Backend::Own), Backends::default());
        assert_eq!(Backends::default().to_string(), "own");
    }
}
