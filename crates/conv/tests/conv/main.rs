//! Convolvers against convolution by definition.

mod kit;
mod oracle;
