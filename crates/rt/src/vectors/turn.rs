//! Four rows of four samples as columns, which the compiler turns into shuffles: for signals that are put side by side.

/// Columns as rows.
///
/// Real-time: hot.
#[inline(always)]
pub fn turned([a, b, c, d]: [[f32; 4]; 4]) -> [[f32; 4]; 4] {
    let (low, high) = ([a[0], b[0], a[1], b[1]], [a[2], b[2], a[3], b[3]]);
    let (next_low, next_high) = ([c[0], d[0], c[1], d[1]], [c[2], d[2], c[3], d[3]]);
    [
        [low[0], low[1], next_low[0], next_low[1]],
        [low[2], low[3], next_low[2], next_low[3]],
        [high[0], high[1], next_high[0], next_high[1]],
        [high[2], high[3], next_high[2], next_high[3]],
    ]
}

/// Four samples from `at` on.
///
/// # Panics
///
/// There are fewer.
///
/// Real-time: hot.
#[inline(always)]
pub fn four(from: &[f32], at: usize) -> [f32; 4] {
    [from[at], from[at + 1], from[at + 2], from[at + 3]]
}

#[cfg(test)]
mod tests {
    use super::{four, turned};

    #[test]
    fn columns_become_rows_and_rows_columns() {
        let samples: Vec<f32> = (0..16u8).map(f32::from).collect();
        let rows = [0, 4, 8, 12].map(|at| four(&samples, at));
        let columns = turned(rows);
        assert_eq!(columns[1], [1.0, 5.0, 9.0, 13.0]);
        assert_eq!(turned(columns), rows);
    }
}
