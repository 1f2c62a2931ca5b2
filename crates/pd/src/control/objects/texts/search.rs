//! `text search`.

use super::super::Making;
use super::super::sources::DataSource;
use super::shared::{find, rename};
use crate::control::context::Context;
use crate::control::object::{Handled, Object};
use crate::control::text::TextWord;
use crate::control::value::{Message, Value};
use crate::state::held;

/// How a field is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    /// Everything fits, and the nearest best.
    Near,
}

pub(super) fn keys(making: &Making<'_>, values: &[Value]) -> Vec<(usize, Relation)> {
    let mut keys = Vec::new();
    let mut relation = Relation::Equal;
    for value in values {
        match value {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "not negative"
            )]
            Value::Float(field) => {
                keys.push((field.max(0.0) as usize, relation));
                relation = Relation::Equal;
            }
            Value::Pointer(_) => {}
            Value::Symbol(symbol) => {
                relation = match making.globals.symbols.text(*symbol) {
                    ">" => Relation::Greater,
                    ">=" => Relation::GreaterOrEqual,
                    "<" => Relation::Less,
                    "<=" => Relation::LessOrEqual,
                    "near" => Relation::Near,
                    _ => Relation::Equal,
                };
            }
        }
    }
    if keys.is_empty() {
        keys.push((0, Relation::Equal));
    }
    keys
}

pub(super) struct Search {
    pub(super) name: DataSource,
    pub(super) keys: Vec<(usize, Relation)>,
}

impl Search {
    /// The field for the value at `at`: beyond the keys the fields follow one another.
    fn key(&self, at: usize) -> (usize, Relation) {
        let last = self.keys.len() - 1;
        match self.keys.get(at) {
            Some(key) => *key,
            None => (self.keys[last].0 + (at - last), self.keys[last].1),
        }
    }

    fn fits(&self, line: &[TextWord], values: &[Value]) -> bool {
        values.iter().enumerate().all(|(at, value)| {
            let (field, relation) = self.key(at);
            match (line.get(field), value) {
                (Some(TextWord::Value(Value::Float(found))), Value::Float(wanted)) => {
                    match relation {
                        Relation::Equal => found == wanted,
                        Relation::Greater => found > wanted,
                        Relation::GreaterOrEqual => found >= wanted,
                        Relation::Less => found < wanted,
                        Relation::LessOrEqual => found <= wanted,
                        Relation::Near => true,
                    }
                }
                (Some(TextWord::Value(Value::Symbol(found))), Value::Symbol(wanted)) => {
                    relation == Relation::Equal && found == wanted
                }
                _ => false,
            }
        })
    }

    /// Returns true if a line fits better than the best one so far.
    fn is_better(&self, line: &[TextWord], best: &[TextWord], values: &[Value]) -> bool {
        let number = |line: &[TextWord], field: usize| match line.get(field) {
            Some(TextWord::Value(value)) => value.number(),
            _ => 0.0,
        };
        for (at, value) in values.iter().enumerate() {
            let Value::Float(wanted) = value else {
                continue;
            };
            let (field, relation) = self.key(at);
            let (new, old) = (number(line, field), number(best, field));
            let (new, old) = match relation {
                Relation::Equal => continue,
                Relation::Greater | Relation::GreaterOrEqual => (new, old),
                Relation::Less | Relation::LessOrEqual => (old, new),
                Relation::Near => ((new - wanted).abs(), (old - wanted).abs()),
            };
            if new != old {
                return new < old;
            }
        }
        false
    }
}

impl Object for Search {
    held!(name; not keys);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let Some(words) = find(self.name, context) else {
            return Handled::Yes;
        };
        let mut best: Option<(usize, &[TextWord])> = None;
        for (number, line) in words.split(|word| word.ends_line()).enumerate() {
            let is_better = best.is_none_or(|(_, best)| self.is_better(line, best, values));
            if self.fits(line, values) && is_better {
                best = Some((number, line));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "texts are short")]
        let found = best.map_or(-1.0, |(number, _)| number as f32);
        context.send_float(0, found);
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        rename(message, &mut self.name)
    }
}
