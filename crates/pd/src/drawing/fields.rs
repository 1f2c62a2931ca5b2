//! [`FieldNumber`]: a number that a drawing box states, or the field of a scalar from which it takes it, and colours.

use super::store::Store;
use crate::control::{Place, Symbol};
use crate::file::Atom;

/// A number of a drawing box.
#[derive(Clone, Copy, Debug)]
pub(super) enum FieldNumber {
    Constant(f32),
    /// A field, and the ends of its range with the two places at which they are drawn: `name(0:10)(20:40)`.
    Field {
        name: Symbol,
        range: [f32; 4],
    },
}

impl FieldNumber {
    /// The number that a word states.
    pub(super) fn of(word: &Atom, store: &mut Store) -> Self {
        let text = match word {
            Atom::Float(number) => return Self::Constant(*number),
            word => word.to_string(),
        };
        let (name, range) = match text.split_once('(') {
            Some((name, rest)) if rest.contains(')') => (name, range(rest)),
            _ => (&*text, [0.0; 4]),
        };
        let name = store.symbols.intern(name);
        Self::Field { name, range }
    }

    /// The first of `words`, which is taken out, or `other`.
    pub(super) fn take(words: &mut &[Atom], other: f32, store: &mut Store) -> Self {
        match words {
            [first, rest @ ..] => {
                *words = rest;
                Self::of(first, store)
            }
            [] => Self::Constant(other),
        }
    }

    /// The field; `None` for a number.
    pub(super) fn name(self) -> Option<Symbol> {
        match self {
            Self::Constant(_) => None,
            Self::Field { name, .. } => Some(name),
        }
    }

    /// The number itself.
    pub(super) fn number(self, place: Place, store: &mut Store) -> f32 {
        match self {
            Self::Constant(number) => number,
            Self::Field { name, .. } => store.number(place, name).unwrap_or(0.0),
        }
    }

    /// The number as a coordinate.
    pub(super) fn coordinate(self, place: Place, store: &mut Store) -> f64 {
        let number = self.number(place, store);
        f64::from(self.scaled(number))
    }

    /// The place at which the range draws a number.
    pub(super) fn scaled(self, number: f32) -> f32 {
        match self {
            Self::Field { range, .. } if range[0] != range[1] => {
                let [from, to, low, high] = range;
                let place = low + (number - from) * (high - low) / (to - from);
                place.max(low.min(high)).min(low.max(high))
            }
            _ => number,
        }
    }
}

/// The numbers of `0:10)(20:40)`. Without a second pair the places are the ends themselves.
fn range(text: &str) -> [f32; 4] {
    let is_part = |letter: char| matches!(letter, ':' | '(' | ')');
    let parts = text.split(is_part).filter(|part| !part.is_empty());
    let mut numbers = parts.map(|part| part.trim().parse::<f32>().unwrap_or(0.0));
    match (
        numbers.next(),
        numbers.next(),
        numbers.next(),
        numbers.next(),
    ) {
        (Some(from), Some(to), Some(low), Some(high)) => [from, to, low, high],
        (Some(from), Some(to), ..) => [from, to, from, to],
        _ => [0.0; 4],
    }
}

/// Red, green and blue of a number of three digits: red, green, blue from 0 to 9.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and 999"
)]
pub(super) fn color(number: f32) -> [u8; 3] {
    let number = number.clamp(0.0, 999.0) as u32;
    // The brightest digit is not brighter than the one before it.
    let part = |digit: u32| u8::try_from(digit.min(8) << 5).unwrap_or(u8::MAX);
    [number / 100, number / 10 % 10, number % 10].map(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_have_a_digit_for_each_part() {
        assert_eq!(color(900.0), [255, 0, 0]);
        assert_eq!(color(71.0), [0, 224, 32]);
        assert_eq!(color(-5.0), [0; 3]);
        assert_eq!(color(f32::NAN), [0; 3]);
    }

    #[test]
    fn a_range_draws_its_ends_at_two_places() {
        let mut store = Store::default();
        let mut of = |text: &str| FieldNumber::of(&Atom::symbol(text), &mut store);
        let scaled = of("y(0:10)(20:40)");
        assert_eq!(
            [-1.0, 0.0, 5.0, 11.0].map(|it| scaled.scaled(it)),
            [20.0, 20.0, 30.0, 40.0]
        );
        let falling = of("y(0:100)(100:0)");
        assert_eq!([0.0, 25.0].map(|it| falling.scaled(it)), [100.0, 75.0]);
        let clipped = of("y(0:10)");
        assert_eq!(
            [-3.0, 7.0, 30.0].map(|it| clipped.scaled(it)),
            [0.0, 7.0, 10.0]
        );
        assert_eq!(of("y").scaled(-3.0), -3.0);
        assert_eq!(of("y(").scaled(-3.0), -3.0);
    }
}
