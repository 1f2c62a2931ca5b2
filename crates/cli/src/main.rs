//! The program `divisi`.
fn main() {}
