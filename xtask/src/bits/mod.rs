//! `cargo xtask bits OLD NEW`: compares the sound of two builds of `divisi`, bit for bit.
//!
//! A change that promises "the same bits" is checked with it: keep the program from before, build the new one, run this.
//! Each case is one file that a program writes. Cases of one group differ in executor, workers or block only, so all
//! files of a group must be equal, in both programs.

mod cases;
mod run;

pub(crate) use run::run;
