//! Impulse responses: where they come from, and how they are exchanged while the convolver runs.
//!
//! | file | holds |
//! |---|---|
//! | `ir/` | sound files, SOFA files, samples in memory; trimming, gain, rates; paths between channels |
//! | `jconvolver/` | jconvolver's configuration files |
//! | `exchange.rs` | other responses for a convolver that is running |

pub(crate) mod exchange;
pub mod ir;
pub mod jconvolver;
