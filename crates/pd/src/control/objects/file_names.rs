//! `makefilename`: a text with one place for a value, which is written as C's `printf` writes it.

use super::super::context::Context;
use super::super::object::{Handled, Object};
use super::super::symbol::{Symbol, Symbols, words};
use super::super::value::{Message, Value};
use super::Making;
use crate::file::write_float;
use crate::state::held;
use std::fmt::Write;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    if making.class != "makefilename" {
        return None;
    }
    let format = making.symbol(0);
    let text = format.map_or("file.%d", |symbol| making.globals.symbols.text(symbol));
    Some(Box::new(FileName(text.to_owned())))
}

/// A text with one place for a value.
struct FileName(String);

impl FileName {
    fn output(&self, value: Option<Value>, context: &mut Context<'_>) -> Handled {
        let Ok(place) = Place::of(&self.0) else {
            context.print_with(|_, line| {
                let text = &self.0;
                write!(
                    line,
                    "error: makefilename: `{text}` has more than one place"
                )
            });
            return Handled::Yes;
        };
        let symbol = context
            .symbols()
            .intern_with(|symbols, text| match (place, value) {
                (Some(place), Some(value)) => place.write(value, symbols, text),
                (Some(place), None) if place.letter != 's' => {
                    place.write(Value::Float(0.0), symbols, text);
                }
                _ => text.push_str(&self.0),
            });
        context.send_value(0, Value::Symbol(symbol));
        Handled::Yes
    }
}

impl Object for FileName {
    held!(tuple text);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.output(None, context)
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        self.output(Some(Value::Float(number)), context)
    }

    fn symbol(&mut self, symbol: Symbol, context: &mut Context<'_>) -> Handled {
        self.output(Some(Value::Symbol(symbol)), context)
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match (message.selector, message.values) {
            (words::SET, [Value::Symbol(symbol), ..]) => {
                self.0.clear();
                self.0.push_str(context.symbols().text(*symbol));
            }
            _ => return Handled::No,
        }
        Handled::Yes
    }
}

/// The place of a value in a text.
struct Place<'t> {
    before: &'t str,
    behind: &'t str,
    flags: &'t str,
    width: usize,
    precision: Option<usize>,
    letter: char,
}

/// A text with several places.
struct Several;

impl<'t> Place<'t> {
    /// Characters of a value, at most.
    const MAX_WIDTH: usize = 1000;

    /// The place in a text, if it has one.
    fn of(text: &'t str) -> Result<Option<Self>, Several> {
        let mut found = None;
        let mut at = 0;
        while let Some(next) = text[at..].find('%') {
            let begin = at + next;
            let (place, len) = Self::at(&text[begin + 1..]);
            at = begin + 1 + len;
            let Some(place) = place else {
                continue;
            };
            let (before, behind) = (&text[..begin], &text[at..]);
            if found
                .replace(Self {
                    before,
                    behind,
                    ..place
                })
                .is_some()
            {
                return Err(Several);
            }
        }
        Ok(found)
    }

    /// The place behind a `%`, if it is one, and its length.
    fn at(text: &'t str) -> (Option<Self>, usize) {
        if text.starts_with('%') {
            return (None, 1);
        }
        let rest = text.trim_start_matches(['-', '+', ' ', '#', '0']);
        let flags = &text[..text.len() - rest.len()];
        let digits = |text: &'t str| {
            let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
            (&text[..text.len() - rest.len()], rest)
        };
        let (width, rest) = digits(rest);
        let (precision, rest) = match rest.strip_prefix('.') {
            Some(rest) => {
                let (digits, rest) = digits(rest);
                (Some(digits.parse().unwrap_or(0)), rest)
            }
            None => (None, rest),
        };
        let rest = rest.trim_start_matches(['h', 'l', 'q', 'L', 'j', 'z', 't']);
        let letter = rest.chars().next();
        let len = text.len() - rest.len();
        let Some(letter) = letter.filter(|letter| "diouxXcsfFeEgG".contains(*letter)) else {
            return (None, len);
        };
        let place = Self {
            before: "",
            behind: "",
            flags,
            width: width
                .parse()
                .map_or(0, |width: usize| width.min(Self::MAX_WIDTH)),
            precision: precision.map(|places: usize| places.min(60)),
            letter,
        };
        (Some(place), len + 1)
    }

    /// Writes the text with a value in its place.
    fn write(&self, value: Value, symbols: &Symbols, to: &mut String) {
        push_text(self.before, to);
        let from = to.len();
        // A `String` takes all.
        let is_number = self.write_value(value, symbols, to).unwrap_or(false);
        if self.letter == 'c' && to.len() == from {
            // A text of C ends here.
            return;
        }
        self.pad(from, is_number, to);
        push_text(self.behind, to);
    }

    /// Fills the value up to its width.
    fn pad(&self, from: usize, is_number: bool, to: &mut String) {
        let has = |flag: char| self.flags.contains(flag);
        if is_number && to.as_bytes().get(from) != Some(&b'-') {
            match (has('+'), has(' ')) {
                (true, _) => to.insert(from, '+'),
                (_, true) => to.insert(from, ' '),
                _ => {}
            }
        }
        let is_signed = matches!(to.as_bytes().get(from), Some(b'-' | b'+' | b' '));
        let is_whole = "diouxX".contains(self.letter);
        let has_zeros =
            has('0') && !"cs".contains(self.letter) && !(is_whole && self.precision.is_some());
        let (at, pad) = match (has('-'), has_zeros) {
            (true, _) => (to.len(), ' '),
            (_, true) => (from + usize::from(is_signed), '0'),
            _ => (from, ' '),
        };
        for _ in to[from..].chars().count()..self.width {
            to.insert(at, pad);
        }
    }

    /// Writes the value alone. Gives true if it may have a sign.
    fn write_value(
        &self,
        value: Value,
        symbols: &Symbols,
        to: &mut String,
    ) -> Result<bool, std::fmt::Error> {
        let number = f64::from(value.number());
        let whole = whole(number);
        let digits = self.precision.unwrap_or(1);
        match self.letter {
            'd' | 'i' => {
                let sign = if whole < 0 { "-" } else { "" };
                write!(to, "{sign}{:0digits$}", whole.unsigned_abs())?;
            }
            'u' => write!(to, "{:0digits$}", whole.cast_unsigned())?,
            'x' => write!(to, "{whole:0digits$x}")?,
            'X' => write!(to, "{whole:0digits$X}")?,
            'o' => write!(to, "{whole:0digits$o}")?,
            'c' => {
                let byte = u32::try_from(whole & 0xff).ok().filter(|byte| *byte != 0);
                to.extend(byte.and_then(char::from_u32));
            }
            's' => {
                let from = to.len();
                value.write(symbols, to)?;
                let end = to[from..]
                    .char_indices()
                    .nth(self.precision.unwrap_or(usize::MAX));
                if let Some((end, _)) = end {
                    to.truncate(from + end);
                }
            }
            letter => self.write_number(letter, number, to)?,
        }
        Ok(!"cuxXos".contains(self.letter))
    }

    /// Writes a number with places behind the point, or with an exponent.
    fn write_number(&self, letter: char, number: f64, to: &mut String) -> std::fmt::Result {
        let from = to.len();
        let precision = self.precision.unwrap_or(6);
        match letter.to_ascii_lowercase() {
            _ if !number.is_finite() => write!(to, "{number}")?,
            'f' => write!(to, "{number:.precision$}")?,
            'e' => write_exponent(number, precision, to)?,
            _ => write_short(number, precision.max(1), to)?,
        }
        if letter.is_ascii_uppercase() {
            to[from..].make_ascii_uppercase();
        }
        Ok(())
    }
}

/// `%e`.
fn write_exponent(number: f64, places: usize, to: &mut String) -> std::fmt::Result {
    let from = to.len();
    write!(to, "{number:.places$e}")?;
    let at = to[from..].find('e').map_or(to.len(), |at| from + at);
    let exponent: i32 = to[at..].trim_start_matches('e').parse().unwrap_or(0);
    to.truncate(at);
    let sign = if exponent < 0 { '-' } else { '+' };
    write!(to, "e{sign}{:02}", exponent.abs())
}

/// `%g`.
fn write_short(number: f64, digits: usize, to: &mut String) -> std::fmt::Result {
    if digits == 6 {
        #[expect(clippy::cast_possible_truncation, reason = "it was of this kind")]
        return write_float(to, number as f32);
    }
    let from = to.len();
    write_exponent(number, digits - 1, to)?;
    let at = to[from..].find('e').map_or(to.len(), |at| from + at);
    let exponent: i32 = to[at + 1..].parse().unwrap_or(0);
    let places = usize::try_from(i32::try_from(digits).unwrap_or(0) - 1 - exponent);
    let end = match places {
        Ok(places) if exponent >= -4 => {
            to.truncate(from);
            write!(to, "{number:.places$}")?;
            to.len()
        }
        _ => at,
    };
    if to[from..end].contains('.') {
        let kept = to[from..end]
            .trim_end_matches('0')
            .trim_end_matches('.')
            .len();
        to.replace_range(from + kept..end, "");
    }
    Ok(())
}

/// A number as C casts it: what does not fit is the least one.
#[expect(clippy::cast_possible_truncation, reason = "it fits")]
fn whole(number: f64) -> i32 {
    match number > -2_147_483_649.0 && number < 2_147_483_648.0 {
        true => number as i32,
        false => i32::MIN,
    }
}

/// Writes what stands beside the place.
fn push_text(text: &str, to: &mut String) {
    for (at, part) in text.split("%%").enumerate() {
        if at > 0 {
            to.push('%');
        }
        to.push_str(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: &str, number: f32) -> String {
        let mut text = String::new();
        match Place::of(format) {
            Ok(Some(place)) => place.write(Value::Float(number), &Symbols::default(), &mut text),
            Ok(None) => text.push_str(format),
            Err(Several) => text.push_str("several"),
        }
        text
    }

    #[test]
    fn numbers_are_written_as_c_writes_them() {
        let cases = [
            ("a%d", 1e20, "a-2147483648"),
            ("a%-5db", 3.5, "a3    b"),
            ("a%+.3d", 9.0, "a+009"),
            ("a%05.1f|", -3.54, "a-03.5|"),
            ("%x", -7.0, "fffffff9"),
            ("%ld", 4.0, "4"),
            ("a%e", 3.5, "a3.500000e+00"),
            ("%.3g", 1234.5, "1.23e+03"),
            ("%.3g", 0.25, "0.25"),
            ("%.8g", 100.5, "100.5"),
            ("%G", 1e20, "1E+20"),
            ("%.3s", 1e20, "1e+"),
            ("a%%%d%%", 3.0, "a%3%"),
            ("100%", 3.0, "100%"),
            ("a%%d", 3.0, "a%%d"),
            ("a%cb", 0.0, "a"),
            ("%d%d", 3.0, "several"),
        ];
        for (format, number, text) in cases {
            assert_eq!(written(format, number), text, "{format} {number}");
        }
    }
}
