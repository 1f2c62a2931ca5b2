//! Medians and spreads.

/// The quartiles of `values`.
pub fn quartiles(values: &[f64]) -> [f64; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |q: f64| sorted[((sorted.len() - 1) as f64 * q).round() as usize];
    [at(0.25), at(0.5), at(0.75)]
}

/// The middle one.
pub fn median(values: &[f64]) -> f64 {
    quartiles(values)[1]
}
