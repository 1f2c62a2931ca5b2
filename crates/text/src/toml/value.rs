//! Values of TOML in the types that a session asks for.

use ::toml::de::DeValue;

/// The value as a number, if it is finite, and exact if it is an integer: up to 2^53.
pub(super) fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(n) => n.as_str().parse().ok().filter(|n: &f64| n.is_finite()),
        _ => integer(value)
            .filter(|n| n.unsigned_abs() <= 1 << 53)
            .map(|n| n as f64),
    }
}

/// The value as an integer from 0.
pub(super) fn count(value: &DeValue<'_>) -> Option<u32> {
    integer(value).and_then(|n| n.try_into().ok())
}

fn integer(value: &DeValue<'_>) -> Option<i64> {
    match value {
        DeValue::Integer(n) => i64::from_str_radix(n.as_str(), n.radix()).ok(),
        _ => None,
    }
}

/// The message why the value cannot be a parameter.
pub(super) fn why_no_parameter(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::Integer(_) => "this is more than a number can hold exactly (2^53)",
        DeValue::Float(_) => "a parameter is a finite number",
        DeValue::Table(_) => "a node's name with a dot is put in quotes: [nodes.\"a.b\"]",
        _ => "a parameter is a number, a text, true or false",
    }
}
