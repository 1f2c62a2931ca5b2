//! How wide words will be, without a font at hand.

/// About how many pixels `text` takes in a sans-serif font of `size` pixels; rather too many than too few.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(|c| ems(c) * size).sum()
}

fn ems(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' | '(' | ')' | '['
        | ']' => 0.36,
        'f' | 't' | 'r' | 'I' | '-' | '/' => 0.42,
        'm' | 'M' | 'w' | 'W' | '@' | '%' => 0.95,
        'A'..='Z' => 0.74,
        '\u{300}'..='\u{36f}' => 0.0,
        c if c < '\u{1100}' => 0.62,
        _ => 1.05,
    }
}

/// The first `most` characters of `text`, with a sign where there were more; characters that no text may show become
/// spaces.
pub(crate) fn short(text: &str, most: usize) -> String {
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    let is_longer = text.chars().nth(most).is_some();
    let kept = text
        .chars()
        .take(if is_longer { most - 1 } else { most })
        .map(shown);
    kept.chain(is_longer.then_some('…')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_are_cut_and_short_ones_are_not() {
        assert_eq!(short("reverb", 6), "reverb");
        assert_eq!(short("reverb\n2", 6), "rever…");
        assert_eq!(short("a\tb", 6), "a b");
        assert!(width("iiii", 12.0) < width("MMMM", 12.0));
    }
}
