//! A table of numbers, words and lists, each asked for once; what nobody asked for is a mistake.

use super::Reader;
use graph::{SourceSpan, nearest};
use std::ops::RangeInclusive;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A table that is being read.
pub(super) struct Params<'a, 't> {
    table: &'a DeTable<'t>,
    /// What has been asked for.
    asked: Vec<&'static str>,
}

impl<'a, 't> Params<'a, 't> {
    pub(super) fn new(table: &'a DeTable<'t>) -> Self {
        Self {
            table,
            asked: Vec::new(),
        }
    }

    pub(super) fn get(&mut self, key: &'static str) -> Option<&'a Spanned<DeValue<'t>>> {
        self.asked.push(key);
        self.table.get(key)
    }

    /// A whole number in `range`; the default where there is none.
    pub(super) fn count(
        &mut self,
        reader: &mut Reader<'t>,
        key: &'static str,
        default: usize,
        range: RangeInclusive<usize>,
    ) -> usize {
        let Some(value) = self.get(key) else {
            return default;
        };
        let count = match value.get_ref() {
            DeValue::Integer(n) => i64::from_str_radix(n.as_str(), n.radix()).ok(),
            _ => None,
        };
        let count = count.and_then(|n| usize::try_from(n).ok());
        match count.filter(|n| range.contains(n)) {
            Some(n) => n,
            None => {
                let (least, most) = range.into_inner();
                let place = reader.source.place(value.span());
                reader.error(
                    place,
                    format!("`{key}` is a whole number from {least} to {most}"),
                );
                default
            }
        }
    }

    /// A number in `range`, if there is one.
    pub(super) fn number(
        &mut self,
        reader: &mut Reader<'t>,
        key: &'static str,
        range: RangeInclusive<f64>,
    ) -> Option<f64> {
        let value = self.get(key)?;
        let number = number(value.get_ref()).filter(|n| range.contains(n));
        if number.is_none() {
            let (least, most) = range.into_inner();
            let place = reader.source.place(value.span());
            reader.error(place, format!("`{key}` is a number from {least} to {most}"));
        }
        number
    }

    /// A list of at most `most` numbers, if there is one.
    pub(super) fn numbers(
        &mut self,
        reader: &mut Reader<'t>,
        key: &'static str,
        most: usize,
    ) -> Option<Vec<f32>> {
        let value = self.get(key)?;
        let list = value.get_ref().as_array();
        let finite = |value: &Spanned<DeValue<'_>>| {
            let number = number(value.get_ref())? as f32;
            number.is_finite().then_some(number)
        };
        let numbers: Option<Vec<f32>> = list.and_then(|list| list.iter().map(finite).collect());
        let numbers = numbers.filter(|numbers| (1..=most).contains(&numbers.len()));
        if numbers.is_none() {
            let place = reader.source.place(value.span());
            reader.error(place, format!("`{key}` is a list of 1 to {most} numbers"));
        }
        numbers
    }

    /// Says what nobody asked for.
    pub(super) fn end(self, reader: &mut Reader<'t>, whose: &str) {
        for (key, _) in self.table {
            if self.asked.contains(&key.get_ref().as_ref()) {
                continue;
            }
            let place = reader.source.place(key.span());
            let told = reader.error(place, format!("{whose} has no `{}`", key.get_ref()));
            if let Some(meant) = nearest(key.get_ref(), self.asked.iter().copied()) {
                told.help = format!("did you mean `{meant}`?");
            }
        }
    }
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(n) => n.as_str().parse().ok().filter(|n: &f64| n.is_finite()),
        DeValue::Integer(n) => i64::from_str_radix(n.as_str(), n.radix())
            .ok()
            .map(|n| n as f64),
        _ => None,
    }
}

/// The words of `value`, or a mistake.
pub(super) fn words<'a>(
    reader: &mut Reader<'_>,
    value: &'a Spanned<DeValue<'_>>,
    what: &str,
) -> Option<(&'a str, SourceSpan)> {
    let place = reader.source.place(value.span());
    match value.get_ref().as_str() {
        Some(text) => Some((text, place)),
        None => {
            reader.error(place, format!("{what} is a text"));
            None
        }
    }
}
