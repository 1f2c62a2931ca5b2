//! Ticks: round numbers along an axis, and numbers as text.

/// Round numbers from `low` to `high`, about `count` of them, and the step between them: 1, 2 or 5 times a power of ten.
pub(crate) fn linear(low: f64, high: f64, count: usize) -> (Vec<f64>, f64) {
    let span = high - low;
    if !span.is_finite() || span <= 0.0 {
        return (vec![low], 1.0);
    }
    let rough = span / count.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|digit| digit * power)
        .find(|step| *step >= rough * 0.999)
        .unwrap_or(power * 10.0);
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    let steps = (last - first).clamp(0.0, 100.0) as usize;
    let ticks = (0..=steps).map(|i| (first + i as f64) * step).collect();
    (ticks, step)
}

/// Ticks of a logarithmic axis; both ends are above 0. Each is true if it has a label: powers of ten, and 2 and 5 times those
/// if they are few. Labels are about `count`.
pub(crate) fn logarithmic(low: f64, high: f64, count: usize) -> Vec<(f64, bool)> {
    if !(low > 0.0 && high.is_finite() && high >= low) {
        return Vec::new();
    }
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let decades = high.log10() - low.log10();
    let every = ((decades / count.max(1) as f64).ceil() as i32).max(1);
    let has_two = decades * 3.0 <= count as f64;
    let has_all = decades * 9.0 <= count as f64;
    let mut ticks = Vec::new();
    for decade in first..=last {
        for digit in 1..10 {
            let value = f64::from(digit) * 10f64.powi(decade);
            if value < low * 0.999_999 || value > high * 1.000_001 {
                continue;
            }
            let has_label = match digit {
                1 => decade.rem_euclid(every) == 0,
                2 | 5 => has_two,
                _ => has_all,
            };
            if has_label || decades < 8.0 {
                ticks.push((value, has_label));
            }
        }
    }
    ticks
}

/// A number with the digits that steps of `step` need. Thousands are separated; long numbers are written as 3×10⁷.
pub(crate) fn number(value: f64, step: f64) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    if value != 0.0 && (value.abs() >= 1e7 || value.abs() < 1e-4) {
        return power(value);
    }
    let digits = (-(step.abs().max(1e-6)).log10().floor()).clamp(0.0, 6.0) as usize;
    let plain = format!("{:.digits$}", value.abs());
    let (whole, part) = plain.split_once('.').unwrap_or((&plain, ""));
    let mut grouped = String::new();
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) && whole.len() > 4 {
            grouped.push('\u{a0}');
        }
        grouped.push(c);
    }
    let is_zero = plain.chars().all(|c| matches!(c, '0' | '.'));
    let sign = if value < 0.0 && !is_zero { "−" } else { "" };
    let part = if part.is_empty() {
        String::new()
    } else {
        format!(".{part}")
    };
    format!("{sign}{grouped}{part}")
}

/// `value` as 3×10⁷.
fn power(value: f64) -> String {
    let exponent = value.abs().log10().floor() as i32;
    let digits = value / 10f64.powi(exponent);
    let high: String = exponent
        .to_string()
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '0' => '⁰',
            c => char::from_u32(0x2070 + c as u32 - '0' as u32).unwrap_or(c),
        })
        .collect();
    if (digits.abs() - 1.0).abs() < 1e-6 {
        let sign = if value < 0.0 { "−" } else { "" };
        return format!("{sign}10{high}");
    }
    let digits = format!("{digits:.1}");
    let digits = digits
        .strip_suffix(".0")
        .unwrap_or(&digits)
        .replace('-', "−");
    format!("{digits}×10{high}")
}

/// A note with the numbers of items that are not drawn: `3 more rows are not drawn · ...`.
pub(crate) fn omissions(counts: &[(usize, &str)]) -> String {
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let notes: Vec<String> = counts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    notes.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(linear(0.0, 97.0, 6).0, [0.0, 20.0, 40.0, 60.0, 80.0]);
        assert_eq!(linear(3.0, 3.0, 6).0, [3.0]);
        assert_eq!(linear(f64::NAN, 3.0, 6).0.len(), 1);
        assert!(linear(-1e300, 1e300, 6).0.len() <= 101);
        let labelled: Vec<f64> = logarithmic(0.7, 130.0, 8)
            .into_iter()
            .filter_map(|(value, has_label)| has_label.then_some(value))
            .collect();
        assert_eq!(labelled, [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert!(logarithmic(0.0, 1.0, 5).is_empty());
        assert!(logarithmic(1e-300, 1e300, 5).len() < 10);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(0.30000000000000004, 0.1), "0.3");
        assert_eq!(number(-0.0001, 1.0), "0");
        assert_eq!(number(12345.0, 5.0), "12\u{a0}345");
        assert_eq!(number(3e9, 1e9), "3×10⁹");
        assert_eq!(number(1e-9, 1e-9), "10⁻⁹");
        assert_eq!(number(-2.5, 0.5), "−2.5");
    }
}
