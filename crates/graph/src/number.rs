//! Numbers as texts.

/// `number` as a person writes it: 440, 0.5, 1e20. A reader gets the same number from it.
pub fn number_text(number: f64) -> String {
    match number.abs() {
        size if size == 0.0 || (1e-5..1e15).contains(&size) => number.to_string(),
        _ => format!("{number:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::number_text;

    #[test]
    fn a_number_is_shown_as_it_is_written() {
        for text in ["440", "0.5", "-6", "0", "1e20", "-1e-9", "5000000000"] {
            assert_eq!(number_text(text.parse().unwrap()), text);
        }
    }
}
