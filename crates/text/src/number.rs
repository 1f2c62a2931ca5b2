//! Numbers and times as both formats write them.

use units::Nanos;

/// The longest time that a text may state, in microseconds: a quarter of an hour, exact to the nanosecond.
pub(crate) const MOST_MICROS: f64 = 1e9;

/// `micros` as a time, where it is one that a text may state.
pub(crate) fn micros(micros: f64) -> Option<Nanos> {
    Nanos::from_micros(micros).filter(|_| micros <= MOST_MICROS)
}

/// `time` in microseconds, exact to the nanosecond; always with a point.
pub(crate) fn write_micros(time: Nanos) -> String {
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
            let text = write_micros(Nanos(nanos));
            assert_eq!(micros(text.parse().unwrap()), Some(Nanos(nanos)), "{text}");
        }
        assert_eq!(micros(1e10), None);
        assert_eq!(micros(-1.0), None);
        assert_eq!(micros(f64::NAN), None);
    }
}
