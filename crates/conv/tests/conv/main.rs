//! Convolvers against convolution by definition, and against each other.

mod ahead;
mod blocks;
mod channels;
mod deadlines;
mod distributed;
mod exchanges;
mod kit;
mod memory;
mod mistakes;
mod mixed;
mod oracle;
mod schedulers;
