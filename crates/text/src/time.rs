//! Times in microseconds, as both formats write them.

use units::Nanos;

/// Longest time in a text, in microseconds: 1000 s. Up to here an f64 is exact to the nanosecond.
pub(crate) const MAX_MICROS: f64 = 1e9;

/// `micros` as a time, if it is within 0 to [`MAX_MICROS`].
pub(crate) fn from_micros(micros: f64) -> Option<Nanos> {
    Nanos::from_micros(micros).filter(|_| micros <= MAX_MICROS)
}

/// `time` in microseconds, exact to the nanosecond and always with a decimal point, as TOML's floats need it.
pub(crate) fn to_micros(time: Nanos) -> String {
    let text = format!("{}.{:03}", time.0 / 1000, time.0 % 1000);
    let short = text.trim_end_matches('0');
    match short.ends_with('.') {
        true => format!("{short}0"),
        false => short.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_as_it_was_written() {
        for nanos in [0, 1, 10, 282, 1000, 50_000, 1_333_333, 999_999_999_999] {
            let text = to_micros(Nanos(nanos));
            assert_eq!(
                from_micros(text.parse().unwrap()),
                Some(Nanos(nanos)),
                "{text}"
            );
        }
        assert_eq!(from_micros(1e10), None);
        assert_eq!(from_micros(-1.0), None);
        assert_eq!(from_micros(f64::NAN), None);
    }
}
