//! [`Atom`]: one word of a box, as Pd reads it.

use std::fmt::Write;

/// One word of a box or of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Atom {
    /// A number.
    Float(f32),
    /// A text.
    Symbol(Box<str>),
    /// `,`: the next message goes to the same receiver.
    Comma,
    /// `;`: the next message begins with its receiver.
    Semicolon,
    /// `$1`: the whole word is one argument; 0 is the number of the patch.
    Dollar(u32),
    /// `$1-name`: a text with arguments in it.
    DollarSymbol(Box<str>),
}

impl Atom {
    /// A symbol.
    pub fn symbol(text: &str) -> Self {
        Self::Symbol(text.into())
    }

    /// The words of a text that a user typed: numbers and symbols.
    pub fn words(text: &str) -> Vec<Self> {
        let atom = |word| parse_float(word).map_or_else(|| Self::symbol(word), Self::Float);
        text.split_whitespace().map(atom).collect()
    }

    /// The word of a box's text: `word` is as in the file.
    ///
    /// Pd reads it twice. The first time is that of the file, which takes one level of escapes away; then separators and dollars
    /// that are still visible count as such.
    pub(crate) fn of_box(word: &str) -> Self {
        if let Some(number) = parse_float(word) {
            return Self::Float(number);
        }
        let once = unescape(word);
        match once.as_str() {
            ";" => Self::Semicolon,
            "," => Self::Comma,
            _ => Self::of_text(&once),
        }
    }

    /// A word whose separators were taken out: dollars and remaining escapes.
    fn of_text(text: &str) -> Self {
        let Some(has_name) = dollar(text) else {
            return Self::Symbol(unescape(text).into());
        };
        let number = text[1..].parse().ok().filter(|_| !has_name);
        match number {
            Some(number) => Self::Dollar(number),
            None => Self::DollarSymbol(text.into()),
        }
    }

    /// The number, if it is one.
    pub fn as_float(&self) -> Option<f32> {
        match self {
            Self::Float(number) => Some(*number),
            _ => None,
        }
    }

    /// The text, if it is a symbol.
    pub fn as_symbol(&self) -> Option<&str> {
        match self {
            Self::Symbol(text) => Some(text),
            _ => None,
        }
    }
}

impl std::fmt::Display for Atom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Float(number) => write_float(f, *number),
            Self::Symbol(text) | Self::DollarSymbol(text) => f.write_str(text),
            Self::Comma => f.write_str(","),
            Self::Semicolon => f.write_str(";"),
            Self::Dollar(number) => write!(f, "${number}"),
        }
    }
}

/// Writes a number as Pd prints it: `%g`, six significant digits.
///
/// Real-time: as writing to `to`.
pub(crate) fn write_float(to: &mut dyn Write, number: f32) -> std::fmt::Result {
    if !number.is_finite() || number == 0.0 {
        return match number {
            n if n.is_nan() => to.write_str("nan"),
            n if n.is_infinite() => to.write_str(if n > 0.0 { "inf" } else { "-inf" }),
            n => to.write_str(if n.is_sign_negative() { "-0" } else { "0" }),
        };
    }
    let scientific = Digits::of(format_args!("{:.5e}", f64::from(number)));
    let (digits, exponent) = scientific
        .text()
        .split_once('e')
        .expect("`e` was asked for");
    let exponent: i32 = exponent.parse().expect("an exponent is a number");
    if !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        let digits = without_zeros(digits);
        return write!(to, "{digits}e{sign}{:02}", exponent.abs());
    }
    let places = usize::try_from(5 - exponent).expect("an exponent below 6");
    let plain = Digits::of(format_args!("{:.places$}", f64::from(number)));
    to.write_str(without_zeros(plain.text()))
}

/// The text of a number: short, so that it needs no memory of its own.
struct Digits {
    bytes: [u8; 32],
    len: usize,
}

impl Digits {
    fn of(number: std::fmt::Arguments<'_>) -> Self {
        let mut digits = Self {
            bytes: [0; 32],
            len: 0,
        };
        digits
            .write_fmt(number)
            .expect("six digits, a sign, a point and an exponent");
        digits
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).expect("digits are ASCII")
    }
}

impl Write for Digits {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let to = self.bytes.get_mut(self.len..self.len + text.len());
        to.ok_or(std::fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len += text.len();
        Ok(())
    }
}

fn without_zeros(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

/// The number that a whole word states, by Pd's own rule: no `+`, no `inf`, no `nan`, no hexadecimal digits.
pub(crate) fn parse_float(word: &str) -> Option<f32> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let has_digits = !(whole.is_empty() && fraction.is_empty());
    if !(is_number(whole) && is_number(fraction) && has_digits) {
        return None;
    }
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if digits.is_empty() || !is_number(digits) {
            return None;
        }
    }
    // As C's atof and a cast: rounded to a double first.
    #[expect(clippy::cast_possible_truncation, reason = "Pd's numbers are floats")]
    word.parse::<f64>().ok().map(|number| number as f32)
}

/// Takes one level of escapes away.
fn unescape(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => text.extend(chars.next()),
            c => text.push(c),
        }
    }
    text
}

/// Looks for an argument in a word: `None` without one, else true if there is more than the argument.
fn dollar(text: &str) -> Option<bool> {
    let mut arguments = text
        .match_indices('$')
        .filter(|(at, _)| text[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
    let (first, _) = arguments.next()?;
    let all_digits = text[first + 1..].bytes().all(|b| b.is_ascii_digit());
    Some(!(first == 0 && all_digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_pd_reads_them() {
        let float = |word| match Atom::of_box(word) {
            Atom::Float(number) => number,
            other => panic!("{other:?}"),
        };
        assert_eq!(float("-.5"), -0.5);
        assert_eq!(float("1."), 1.0);
        assert_eq!(float("2e3"), 2000.0);
        for word in [
            "+5", "1e", ".", "-", "e5", "0x10", "inf", "nan", "1_0", r"\5",
        ] {
            assert!(matches!(Atom::of_box(word), Atom::Symbol(_)), "{word}");
        }
        assert_eq!(Atom::of_box(r"\;"), Atom::Semicolon);
        assert_eq!(Atom::of_box(r"\,"), Atom::Comma);
        assert_eq!(Atom::of_box(r"\\\;"), Atom::symbol(";"));
        assert_eq!(Atom::of_box(r"\$12"), Atom::Dollar(12));
        assert_eq!(Atom::of_box(r"\$0-a"), Atom::DollarSymbol("$0-a".into()));
        assert_eq!(Atom::of_box(r"a\ b"), Atom::symbol("a b"));
        assert_eq!(Atom::of_box("$x"), Atom::symbol("$x"));
    }

    #[test]
    fn numbers_print_as_percent_g() {
        let cases = [
            (440.0, "440"),
            (0.1, "0.1"),
            (1e6, "1e+06"),
            (123_456.7, "123457"),
            (1e-5, "1e-05"),
            (-0.000_123_45, "-0.00012345"),
            (999_999.5, "1e+06"),
        ];
        for (number, text) in cases {
            assert_eq!(Atom::Float(number).to_string(), text);
        }
    }
}
