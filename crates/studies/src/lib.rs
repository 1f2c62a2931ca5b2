//! Methods that the sources ask to be shown, beside what the product does.
//!
//! Takes impulse responses and blocks of sound, gives blocks of sound. May: all that a convolver may. May not: be a
//! dependency of the product; only the experiments (`lab`) and `benches` use it.
//!
//! | module | shows | source | why the product does without |
//! |---|---|---|---|
//! | [`two_level`] | a long level spread over callbacks by decimation in frequency | Battenberg and Avižienis 2011, section 4 | two levels only: more work than several levels with long responses |
//! | [`fewer_operations`] | larger transforms from smaller ones | Gardner 1995 | a few per cent at best, and levels then depend on each other's deadlines |
//! | [`multiply_variants`] | the complex multiply-add in other layouts and styles | Battenberg and Avižienis 2011, figure 5 | blocks with several products at a time are faster |
//! | [`fewer_operations`] | nested convolution of spectra | Hurchalla 2008 | fewer operations, but more memory to read |

pub mod fewer_operations;
pub mod multiply_variants;
#[cfg(test)]
mod reference;
pub mod two_level;
