//! Values of a node that may differ from copy to copy: expressions, texts with `{expression}` in them, and lists.
//!
//! ```text
//!   freq = 220                     plain: the same in every copy
//!   freq = "220 * (i + 1)"         expression: a number in each copy
//!   file = "take-{i}.wav"          text in pieces: `take-`, an expression, `.wav`
//!   freq = [220, 330, 440]         list: copy k has value k modulo 3
//! ```
//!
//! A [`ValueParser`] belongs to a definition and knows the names of its parameters; what it parses, an [`InstanceScope`] evaluates with
//! the values that one instance gives them.

use super::expression::{Expression, Variables};
use crate::diagnostics::Diagnostics;
use crate::source::ByteRange;
use graph::{ParamValue, number_text};

/// Type that the reader of a value expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Number,
    Flag,
    Text,
    /// Nothing is known about the key.
    Any,
}

/// A value as it is written, parsed.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Fixed(ParamValue),
    Number(Expression),
    Flag(Expression),
    Text(Vec<TextFragment>),
    /// One value for each copy.
    List(Vec<(Value, ByteRange)>),
}

impl Value {
    /// Number of operations that one copy takes, at most.
    pub(super) fn work(&self) -> usize {
        match self {
            Self::Fixed(_) => 1,
            Self::Number(expression) | Self::Flag(expression) => expression.len(),
            Self::Text(pieces) => {
                pieces.len() + pieces.iter().map(TextFragment::work).sum::<usize>()
            }
            Self::List(items) => items.iter().map(|(item, _)| item.work()).max().unwrap_or(0),
        }
    }
}

/// A piece of a text.
#[derive(Clone, Debug)]
pub(super) enum TextFragment {
    Literal(String),
    Hole(Expression),
    /// A parameter of the part, shown as it is.
    Param(u32),
}

impl TextFragment {
    fn work(&self) -> usize {
        match self {
            Self::Hole(expression) => expression.len(),
            Self::Literal(_) | Self::Param(_) => 1,
        }
    }
}

/// The parameters of one instance of a part, and which copy is meant.
#[derive(Clone, Debug)]
pub(super) struct InstanceScope {
    pub(super) params: Vec<ParamValue>,
    /// The same as numbers; texts are `NaN`.
    pub(super) numbers: Vec<f64>,
    pub(super) index: u32,
    pub(super) count: u32,
}

impl InstanceScope {
    pub(super) fn new(params: Vec<ParamValue>, (index, count): (u32, u32)) -> Self {
        let number = |value: &ParamValue| match value {
            ParamValue::Number(number) => *number,
            ParamValue::Flag(on) => f64::from(u8::from(*on)),
            ParamValue::Text(_) => f64::NAN,
        };
        Self {
            numbers: params.iter().map(number).collect(),
            params,
            index,
            count,
        }
    }

    fn number(&self, expression: &Expression) -> Result<f64, String> {
        let value = expression.value(&Variables {
            index: f64::from(self.index),
            count: f64::from(self.count),
            params: &self.numbers,
        });
        match value.is_finite() {
            true => Ok(value),
            false => Err(format!(
                "the expression has no finite value where i is {}",
                self.index
            )),
        }
    }

    /// The value in this copy, or why it has none.
    pub(super) fn evaluate(&self, value: &Value) -> Result<ParamValue, String> {
        Ok(match value {
            Value::Fixed(value) => value.clone(),
            Value::Number(expression) => ParamValue::Number(self.number(expression)?),
            Value::Flag(expression) => ParamValue::Flag(self.number(expression)? != 0.0),
            Value::Text(pieces) => ParamValue::Text(self.text(pieces)?),
            Value::List(items) => match items.get(self.index as usize % items.len().max(1)) {
                Some((item, _)) => self.evaluate(item)?,
                None => return Err(format!("the list has no value for copy {}", self.index)),
            },
        })
    }

    fn text(&self, pieces: &[TextFragment]) -> Result<String, String> {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                TextFragment::Literal(literal) => text += literal,
                TextFragment::Hole(expression) => text += &number_text(self.number(expression)?),
                TextFragment::Param(index) => match &self.params[*index as usize] {
                    ParamValue::Number(number) => text += &number_text(*number),
                    ParamValue::Text(words) => text += words,
                    ParamValue::Flag(on) => text += &on.to_string(),
                },
            }
        }
        Ok(text)
    }
}

/// A parameter of a part: its name and the type of its default.
pub(super) struct ParamName<'a> {
    pub(super) name: &'a str,
    pub(super) expected: Expected,
}

/// Parses the values of one definition.
pub(super) struct ValueParser<'a> {
    /// The parameters of the part.
    pub(super) params: &'a [ParamName<'a>],
    /// True if texts have `{expression}` in them: inside a part, and where a node has a count.
    pub(super) has_holes: bool,
}

impl ValueParser<'_> {
    /// Parses `value`, which is at `at`. `None` if it is wrong, which is reported.
    pub(super) fn parse(
        &self,
        value: &ParamValue,
        at: &ByteRange,
        expected: Expected,
        diagnostics: &mut Diagnostics<'_>,
    ) -> Option<Value> {
        let ParamValue::Text(text) = value else {
            return Some(Value::Fixed(value.clone()));
        };
        match expected {
            Expected::Number => self
                .expression(text, text, at, diagnostics)
                .map(Value::Number),
            Expected::Flag => self
                .expression(text, text, at, diagnostics)
                .map(Value::Flag),
            Expected::Text | Expected::Any if self.has_holes && text.contains(['{', '}']) => {
                self.pieces(text, at, diagnostics).map(Value::Text)
            }
            _ => Some(Value::Fixed(value.clone())),
        }
    }

    fn expression(
        &self,
        text: &str,
        inside: &str,
        at: &ByteRange,
        diagnostics: &mut Diagnostics<'_>,
    ) -> Option<Expression> {
        let parsed = Expression::parse(text, &|name| self.param(name));
        let error = match parsed {
            Ok(parsed) => return Some(parsed),
            Err(error) => error,
        };
        let offset = text.as_ptr() as usize - inside.as_ptr() as usize;
        let place = part_of(
            diagnostics,
            at,
            inside,
            offset + error.at.start..offset + error.at.end,
        );
        let more = diagnostics.error(place, error.message);
        more.help("a text in place of a number is an expression, such as 440 * 2^(i / 12)");
        None
    }

    fn param(&self, name: &str) -> Result<u32, String> {
        let Some(index) = self.params.iter().position(|param| param.name == name) else {
            let known: Vec<&str> = self.params.iter().map(|param| param.name).collect();
            let candidates = known.iter().copied().chain(super::expression::RESERVED);
            return Err(match graph::nearest(name, candidates) {
                Some(near) => format!("there is no `{name}` here; did you mean `{near}`?"),
                None => format!("there is no `{name}` here"),
            });
        };
        match self.params[index].expected {
            Expected::Number | Expected::Flag => Ok(index as u32),
            _ => Err(format!("`{name}` is a text and not a number")),
        }
    }

    /// Splits a text at its `{expression}`s; `{{` and `}}` are braces.
    fn pieces(
        &self,
        text: &str,
        at: &ByteRange,
        diagnostics: &mut Diagnostics<'_>,
    ) -> Option<Vec<TextFragment>> {
        let (mut pieces, mut literal, mut rest) = (Vec::new(), String::new(), text);
        while let Some(brace) = rest.find(['{', '}']) {
            literal += &rest[..brace];
            let mark = &rest[brace..brace + 1];
            rest = &rest[brace + 1..];
            if let Some(after) = rest.strip_prefix(mark) {
                literal += mark;
                rest = after;
                continue;
            }
            let Some(end) = rest.find('}').filter(|_| mark == "{") else {
                let start = text.len() - rest.len() - 1;
                let place = part_of(diagnostics, at, text, start..start + 1);
                let more = diagnostics.error(place, format!("this `{mark}` has no other half"));
                more.help(
                    "a brace is written twice, {{ or }}, where texts have {expression} in them",
                );
                return None;
            };
            if !literal.is_empty() {
                pieces.push(TextFragment::Literal(std::mem::take(&mut literal)));
            }
            pieces.push(self.hole(&rest[..end], text, at, diagnostics)?);
            rest = &rest[end + 1..];
        }
        literal += rest;
        pieces.push(TextFragment::Literal(literal));
        Some(pieces)
    }

    fn hole(
        &self,
        text: &str,
        inside: &str,
        at: &ByteRange,
        diagnostics: &mut Diagnostics<'_>,
    ) -> Option<TextFragment> {
        match self
            .params
            .iter()
            .position(|param| param.name == text.trim())
        {
            Some(index) => Some(TextFragment::Param(index as u32)),
            None => self
                .expression(text, inside, at, diagnostics)
                .map(TextFragment::Hole),
        }
    }
}

/// The place of `part` of the string `text` that is written at `at`; all of it where the string has escapes.
fn part_of(
    diagnostics: &Diagnostics<'_>,
    at: &ByteRange,
    text: &str,
    part: ByteRange,
) -> ByteRange {
    let inside = at.start + 1..at.start + 1 + text.len();
    match diagnostics.text_at(&inside) == Some(text) {
        true => inside.start + part.start..inside.start + part.end,
        false => at.clone(),
    }
}
