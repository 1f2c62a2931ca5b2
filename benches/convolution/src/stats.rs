//! Medians and spreads.

/// Quartiles of `values`: 25 %, median, 75 %.
pub fn quartiles(values: &[f64]) -> [f64; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |q: f64| sorted[((sorted.len() - 1) as f64 * q).round() as usize];
    [at(0.25), at(0.5), at(0.75)]
}

/// Median of `values`.
pub fn median(values: &[f64]) -> f64 {
    quartiles(values)[1]
}
