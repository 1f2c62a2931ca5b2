//! The keys of a cell that arrive as JSON, as the text of its table.

use serde_json::Value;
use std::collections::BTreeMap;
use toml::Table;

/// Longest text: a process takes it as one argument, of 128 KiB at most.
const MAX_TEXT: usize = 100_000;

/// The text of the table of a cell with these nodes and other keys.
///
/// # Errors
///
/// A value that TOML has not, or more than 100,000 bytes.
///
/// Real-time: setup.
pub fn cell_text(nodes: &[String], settings: &BTreeMap<String, Value>) -> Result<String, String> {
    let mut table = Table::new();
    let nodes = nodes.iter().map(|it| toml::Value::from(it.as_str()));
    table.insert("nodes".to_owned(), nodes.collect::<Vec<_>>().into());
    for (key, value) in settings {
        if key == "nodes" {
            return Err("`nodes` stands beside the other keys, not among them".to_owned());
        }
        let value = to_toml(value).ok_or_else(|| format!("`{key}` has no value"))?;
        table.insert(key.clone(), value);
    }
    let text = table.to_string();
    match text.len() <= MAX_TEXT {
        true => Ok(text),
        false => Err(format!(
            "a cell that is added has at most {MAX_TEXT} bytes of keys: write it into the session"
        )),
    }
}

/// The value in TOML; whole numbers are integers, as in a session. JSON has one kind of numbers.
fn to_toml(value: &Value) -> Option<toml::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number.as_f64()? {
            whole if whole.fract() == 0.0 && whole.abs() < 1e15 => (whole as i64).into(),
            other => other.into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(all) => {
            let all: Option<Vec<toml::Value>> = all.iter().map(to_toml).collect();
            all?.into()
        }
        Value::Object(all) => {
            let all = all
                .iter()
                .map(|(key, value)| Some((key.clone(), to_toml(value)?)));
            toml::Value::Table(all.collect::<Option<Table>>()?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CellSpec, Policy};
    use serde_json::json;

    fn text(settings: Value) -> Result<String, String> {
        let settings = serde_json::from_value(settings).unwrap();
        cell_text(&["a \"b\"\n".to_owned()], &settings)
    }

    #[test]
    fn keys_in_json_are_those_of_a_session() {
        let windows = json!([{ "period_us": 9.0, "length_us": 3 }]);
        let keys = json!({ "cores": [0, 1.0], "latency": 1.0, "policy": "time-triggered", "windows": windows });
        let spec = CellSpec::from_text("x", &text(keys).unwrap()).unwrap();
        assert_eq!(
            (spec.nodes, spec.cores),
            (vec!["a \"b\"\n".to_owned()], vec![0, 1])
        );
        assert!(matches!(spec.policy, Policy::TimeTriggered(_)));
        assert_eq!(spec.latency.blocks(), 1);
    }

    #[test]
    fn what_toml_has_not_is_refused() {
        for wrong in [
            json!({ "cores": null }),
            json!({ "cores": [null] }),
            json!({ "nodes": ["x"] }),
        ] {
            assert!(text(wrong.clone()).is_err(), "{wrong}");
        }
        assert!(text(json!({ "policy": "x".repeat(MAX_TEXT) })).is_err());
    }
}
