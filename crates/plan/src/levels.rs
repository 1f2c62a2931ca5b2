//! The pass backward through a topological order that static levels and b-levels share.

use units::Nanos;

/// Computes the level of each of `count` vertices, the last first. `level` gets a vertex and the levels of all vertices
/// behind it.
pub(crate) fn longest_to_end(count: usize, level: impl Fn(usize, &[Nanos]) -> Nanos) -> Vec<Nanos> {
    let mut levels = vec![Nanos(0); count];
    for at in (0..count).rev() {
        levels[at] = level(at, &levels);
    }
    levels
}
