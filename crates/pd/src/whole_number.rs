//! Floats as C casts them to whole numbers.

/// A float as C casts it to an integer of 32 bits on x86: the lowest one for all that does not fit.
#[expect(clippy::cast_possible_truncation, reason = "it is in range")]
pub(crate) fn whole_number(x: f64) -> i32 {
    match x {
        -2_147_483_648.0..2_147_483_648.0 => x as i32,
        _ => i32::MIN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_out_of_range_are_the_lowest_number() {
        let far = [1e10, -1e10, 2_147_483_648.0, f64::NAN, f64::INFINITY];
        assert!(far.into_iter().all(|x| whole_number(x) == i32::MIN));
        let near = [5.7, -5.7, 2_147_483_520.0, -2_147_483_648.0];
        assert_eq!(near.map(whole_number), [5, -5, 2_147_483_520, i32::MIN]);
    }
}
