//! `$1` and `$0` in words: the arguments of an abstraction in their places.

use crate::file::Atom;

/// Words of an object box with arguments in place.
///
/// `$3` without a third argument is 0, as in Pd; in a longer word (`$3-x`) it stays as it is written.
pub(super) fn with_arguments(words: &[Atom], arguments: &[Atom], number: u32) -> Vec<Atom> {
    words
        .iter()
        .map(|word| with_argument(word, arguments, number))
        .collect()
}

/// One word with arguments in place.
pub(super) fn with_argument(word: &Atom, arguments: &[Atom], number: u32) -> Atom {
    match word {
        Atom::Dollar(0) => Atom::Float(to_float(number)),
        Atom::Dollar(n) => match argument(arguments, *n) {
            Some(argument) => argument.clone(),
            None => Atom::Float(0.0),
        },
        // `$1$2` of two numbers is a symbol in Pd, not a third number.
        Atom::DollarSymbol(text) => Atom::Symbol(expand(text, arguments, number).into()),
        word => word.clone(),
    }
}

fn argument(arguments: &[Atom], n: u32) -> Option<&Atom> {
    arguments.get(usize::try_from(n).ok()?.checked_sub(1)?)
}

/// Replaces each `$N` in `text`.
fn expand(text: &str, arguments: &[Atom], number: u32) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        expanded += &rest[..at];
        rest = &rest[at + 1..];
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (digits, behind) = rest.split_at(end);
        let found = match digits.parse::<u32>() {
            Ok(0) => Some(number.to_string()),
            Ok(n) => argument(arguments, n).map(ToString::to_string),
            Err(_) => None,
        };
        match found {
            Some(found) => expanded += &found,
            None => {
                expanded.push('$');
                expanded += digits;
            }
        }
        rest = behind;
    }
    expanded + rest
}

#[expect(clippy::cast_precision_loss, reason = "numbers of patches are small")]
fn to_float(number: u32) -> f32 {
    number as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_take_their_places() {
        let arguments = [Atom::Float(440.0), Atom::symbol("bass")];
        let put = |word| with_argument(&Atom::of_box(word), &arguments, 1003);
        assert_eq!(put(r"\$1"), Atom::Float(440.0));
        assert_eq!(put(r"\$2"), Atom::symbol("bass"));
        assert_eq!(put(r"\$3"), Atom::Float(0.0));
        assert_eq!(put(r"\$0"), Atom::Float(1003.0));
        assert_eq!(put(r"\$0-\$2-\$1"), Atom::symbol("1003-bass-440"));
        assert_eq!(put(r"\$3-x"), Atom::symbol("$3-x"));
        assert_eq!(put(r"\$1\$1"), Atom::symbol("440440"));
    }
}
