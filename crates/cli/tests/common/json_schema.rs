//! A validator of JSON Schema, as far as the schemas of this repository need it.

use serde_json::Value;

/// Checks `value` against `schema`, whose references lead into `root`.
///
/// # Errors
///
/// The path of the first value that does not fit, and why.
pub(crate) fn validate(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#'));
        let target = target.unwrap_or_else(|| panic!("no {reference}"));
        validate(root, target, value)?;
    }
    for key in schema
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key.as_str())
    {
        let fits = match key {
            "type" => is_type(&schema["type"], value),
            "const" => schema["const"] == *value,
            "enum" => schema["enum"].as_array().unwrap().contains(value),
            "minimum" => value
                .as_f64()
                .is_none_or(|x| x >= schema["minimum"].as_f64().unwrap()),
            "maximum" => value
                .as_f64()
                .is_none_or(|x| x <= schema["maximum"].as_f64().unwrap()),
            "minItems" => value
                .as_array()
                .is_none_or(|all| all.len() as u64 >= schema["minItems"].as_u64().unwrap()),
            "maxItems" => value
                .as_array()
                .is_none_or(|all| all.len() as u64 <= schema["maxItems"].as_u64().unwrap()),
            "required" => is_whole(&schema["required"], value),
            "oneOf" | "anyOf" => {
                let all = schema[key].as_array().unwrap();
                let count = all
                    .iter()
                    .filter(|one| validate(root, one, value).is_ok())
                    .count();
                count == 1 || (key == "anyOf" && count > 1)
            }
            "items" | "properties" | "additionalProperties" => continue,
            "$ref" | "$defs" | "$schema" | "title" | "description" => continue,
            other => panic!("the validator does not know {other}"),
        };
        if !fits {
            return Err(format!("{key}: {value}"));
        }
    }
    for item in value.as_array().into_iter().flatten() {
        if schema["items"].is_object() {
            validate(root, &schema["items"], item)?;
        }
    }
    for (key, item) in value.as_object().into_iter().flatten() {
        match (&schema["properties"][key], &schema["additionalProperties"]) {
            (known @ Value::Object(_), _) => validate(root, known, item),
            (_, Value::Bool(false)) => Err("it is no key".to_owned()),
            (_, other @ Value::Object(_)) => validate(root, other, item),
            _ => Ok(()),
        }
        .map_err(|why| format!("{key}: {why}"))?;
    }
    Ok(())
}

fn is_type(types: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => {
            value.is_u64() || value.is_i64() || value.as_f64().is_some_and(|x| x.fract() == 0.0)
        }
        other => panic!("no type {other}"),
    };
    match types {
        Value::Array(all) => all.iter().any(is),
        one => is(one),
    }
}

fn is_whole(required: &Value, value: &Value) -> bool {
    let keys = required.as_array().unwrap().iter();
    value.as_object().is_none_or(|object| {
        keys.into_iter()
            .all(|key| object.contains_key(key.as_str().unwrap()))
    })
}
