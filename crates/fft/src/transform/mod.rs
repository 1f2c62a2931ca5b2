//! The transforms: how a real transform of one channel or of sixteen is made from complex ones.
//!
//! ```text
//!  RealFft ─┬─ one channel, from 256 bins on ── FourStep ─┬─ LaneFft (columns)
//!           │                                             ├─ LaneFft (rows)
//!           │                                             └─ Mirror
//!           ├─ one channel, fewer bins ──────── SmallFft ─── the crate realfft
//!           └─ sixteen channels ─────────────── BatchFft ─┬─ LaneFft (a channel a lane)
//!                                                         └─ Split
//! ```
//!
//! | file | transform | source |
//! |---|---|---|
//! | `lanes.rs` | sixteen independent complex transforms, one a lane | Cooley and Tukey 1965; order: Frigo and Johnson 2005 |
//! | `butterflies.rs` | its smallest parts, radix 4 and 8 | Linzer and Feig 1993 |
//! | `four_step.rs` | one large transform as columns and rows | Bailey 1990 |
//! | `split.rs`, `mirror.rs` | a real spectrum from a complex one of half the length | Sorensen et al. 1987 |
//! | `batch.rs`, `small.rs` | sixteen channels; one channel and few bins | |
//! | `twiddle.rs` | the factors, in double precision | |

pub(crate) mod batch;
pub(crate) mod butterflies;
pub(crate) mod four_step;
pub(crate) mod lanes;
pub(crate) mod mirror;
pub(crate) mod small;
pub(crate) mod split;
pub(crate) mod twiddle;
