//! Numbers, times and names behind a command's name. `None` where words do not fit.

use crate::{PositionArg, PositionUnit};
use serde_json::Value;
use std::collections::BTreeMap;

/// `at FRAME`, or nothing.
pub(super) fn at(words: &[&str]) -> Option<u64> {
    match option(words, "at", 0)? {
        (at, []) => Some(at),
        _ => None,
    }
}

/// `over MS` and `at FRAME`, each of which may be missing.
pub(super) fn timing(words: &[&str]) -> Option<(f64, u64)> {
    let (over_ms, rest) = option(words, "over", 0.0)?;
    match option(rest, "at", 0)? {
        (at, []) => Some((over_ms, at)),
        _ => None,
    }
}

/// The number behind `key`, if `words` begin with it, and the words behind that.
pub(super) fn option<'w, 't, T: std::str::FromStr>(
    words: &'w [&'t str],
    key: &str,
    default: T,
) -> Option<(T, &'w [&'t str])> {
    match words {
        [word, number, rest @ ..] if *word == key => Some((number.parse().ok()?, rest)),
        _ => Some((default, words)),
    }
}

/// A position: a number in the unit that may follow it, or a text such as `17.1` before `bars`, `12.5s` or `17.2.5`.
pub(super) fn position(word: &str, unit: Option<&str>) -> Option<PositionArg> {
    let is_piece = || word.parse::<graph::PiecePosition>().is_ok();
    match word.parse() {
        Ok(number) if unit != Some("bars") => Some(PositionArg::Number(number)),
        _ => is_piece().then(|| PositionArg::Text(word.to_owned())),
    }
}

/// The unit with which `words` begin, if they do, and the words behind it. `bars` is the unit of a text.
pub(super) fn unit<'w, 't>(words: &'w [&'t str]) -> (Option<&'t str>, PositionUnit, &'w [&'t str]) {
    match words {
        ["bars", rest @ ..] => (Some("bars"), PositionUnit::default(), rest),
        [word, rest @ ..] => match named::<PositionUnit>(word) {
            Some(unit) => (Some(word), unit, rest),
            None => (None, PositionUnit::default(), words),
        },
        [] => (None, PositionUnit::default(), words),
    }
}

/// A byte in decimal, or in hexadecimal behind `0x`.
pub(super) fn byte(word: &str) -> Option<u8> {
    match word.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

pub(super) fn pairs(words: &[&str]) -> Option<BTreeMap<String, Value>> {
    let pair = |word: &&str| {
        let (key, value) = word.split_once('=')?;
        Some((key.to_owned(), self::value(value)))
    };
    words.iter().map(pair).collect()
}

/// The list of whole numbers that a value like `0,1` or `1` stands for.
pub(super) fn numbers(value: &Value) -> Option<Value> {
    let whole = |number: f64| (number >= 0.0 && number.fract() == 0.0).then_some(number as u64);
    match value {
        Value::Number(number) => Some(Value::from(vec![whole(number.as_f64()?)?])),
        Value::String(text) => {
            let all = text.split(',').map(|word| word.trim().parse().ok());
            Some(Value::from(all.collect::<Option<Vec<u64>>>()?))
        }
        _ => None,
    }
}

/// A number, `true`, `false`, or else a text.
pub(super) fn value(word: &str) -> Value {
    match word {
        "true" => true.into(),
        "false" => false.into(),
        _ => match word.parse::<f64>() {
            Ok(number) if number.is_finite() => number.into(),
            _ => word.into(),
        },
    }
}

/// The variant that serde calls `word`.
pub(super) fn named<T: serde::de::DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}
