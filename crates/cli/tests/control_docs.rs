//! Every example of the pages about control is carried out by a session that plays, and fits the schema of commands.

mod common;

use common::json_schema::validate;
use common::playing::Playing;
use common::{Folder, repository};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::Stdio;

fn page(name: &str) -> String {
    std::fs::read_to_string(repository(&format!("docs/{name}"))).unwrap()
}

/// The blocks of `text` in a language.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let opening = format!("```{language}\n");
    let blocks = text.split(&opening).skip(1);
    blocks
        .map(|rest| rest.split("```").next().unwrap())
        .collect()
}

/// The schema, as it is published.
fn schema() -> Value {
    serde_json::from_str(&page("commands.schema.json")).unwrap()
}

fn check(schema: &Value, what: &str, line: &Value) {
    let part = &schema["$defs"][what];
    validate(schema, part, line).unwrap_or_else(|why| panic!("{what} {line}: {why}"));
}

/// A folder with the session of the page.
fn folder() -> Folder {
    let here = Folder::new();
    let text = page("control.md");
    let session = *blocks(&text, "toml").last().unwrap();
    here.write("tone.toml", session);
    here.write("hello.pd", *blocks(&text, "pd").last().unwrap());
    here
}

/// The words of a line of a shell, in which single quotes hold blanks.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        match index % 2 {
            1 => words.push(part.to_owned()),
            _ => words.extend(part.split_whitespace().map(str::to_owned)),
        }
    }
    words
}

#[test]
fn each_call_of_the_shell_is_done() {
    let schema = schema();
    for name in ["control.md", "transport.md"] {
        let here = folder();
        let playing = Playing::start(&here, "");
        let text = page(name);
        let mut count = 0;
        for line in blocks(&text, "sh").iter().flat_map(|block| block.lines()) {
            let Some(call) = line.strip_prefix("divisi send ") else {
                continue;
            };
            let words = shell_words(call);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let reply = playing
                .send(&words)
                .unwrap_or_else(|why| panic!("{line}: {why}"));
            check(&schema, "reply", &reply);
            count += 1;
        }
        assert!(count >= 4, "{name}");
    }
}

#[test]
fn each_command_of_the_page_is_done_and_its_answer_fits_the_schema() {
    let schema = schema();
    let here = folder();
    let playing = Playing::start(&here, "");
    let text = page("control.md");
    let mut done = cell_commands(&schema);
    for line in blocks(&text, "text").iter().flat_map(|block| block.lines()) {
        let verb = line.split_whitespace().next().unwrap();
        done.insert(verb.to_owned());
        if verb == "subscribe" {
            subscribe(&schema, &here, line);
            continue;
        }
        let reply = playing
            .send(&[line])
            .unwrap_or_else(|why| panic!("{line}: {why}"));
        check(&schema, "reply", &reply);
        if let Some(question) = line.strip_prefix("query ") {
            let definition = match question {
                "meters" => "gauges",
                "presets" => "names",
                other => other,
            };
            check(&schema, definition, &reply["data"][0]);
        }
    }
    let all = schema["$defs"]["command"]["oneOf"].as_array().unwrap();
    let all = all
        .iter()
        .map(|it| it["properties"]["do"]["const"].as_str().unwrap().to_owned());
    assert_eq!(
        done,
        all.collect::<BTreeSet<String>>(),
        "each command has an example"
    );
}

/// Carries out the commands of the page about cells, on its session. Gives them.
fn cell_commands(schema: &Value) -> BTreeSet<String> {
    let here = Folder::new();
    let text = page("cells.md");
    here.write("tone.toml", blocks(&text, "toml")[0]);
    here.write("hall.wav", common::sound(48_000, &[&[1.0, 0.5]]));
    let line = "cells tone.toml --driver clock --socket s --no-admission";
    let playing = Playing::begin(&here, line, |_| {});
    let mut done = BTreeSet::new();
    for line in blocks(&text, "text").iter().flat_map(|block| block.lines()) {
        let reply = playing.send(&[line]);
        let reply = reply.unwrap_or_else(|why| panic!("{line}: {why}"));
        check(schema, "reply", &reply);
        let definition = match line {
            "query cells" => "cells",
            _ => "cell_change",
        };
        check(schema, definition, &reply["data"][0]);
        done.extend(line.split_whitespace().next().map(str::to_owned));
    }
    done
}

/// Subscribes, and reads until each topic has come; of those that wait for something, that is made to happen.
fn subscribe(schema: &Value, here: &Folder, line: &str) {
    let mut command = here.command("send --socket s");
    let child = command.arg(line).stdout(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut lines = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    check(schema, "reply", &lines.next().unwrap());
    let changed = here.command("send --socket s").arg("disable tone").status();
    assert!(changed.unwrap().success());
    let mut topics: BTreeSet<String> = [
        "meters",
        "loudness",
        "spectrum",
        "load",
        "transport",
        "changes",
    ]
    .map(str::to_owned)
    .into();
    for message in lines {
        check(schema, "message", &message);
        topics.remove(message["topic"].as_str().unwrap());
        if topics.is_empty() {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn each_line_of_json_fits_the_schema_and_a_request_is_answered() {
    let schema = schema();
    let here = folder();
    let _playing = Playing::start(&here, "");
    let stream = UnixStream::connect(here.path("s")).unwrap();
    let mut replies = BufReader::new(&stream).lines();
    let text = page("control.md");
    let lines = blocks(&text, "json").concat();
    assert!(lines.lines().count() >= 3);
    for line in lines.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        validate(&schema, &schema, &value).unwrap_or_else(|why| panic!("{line}: {why}"));
        if value["commands"].is_array() {
            writeln!(&stream, "{line}").unwrap();
            let reply: Value = serde_json::from_str(&replies.next().unwrap().unwrap()).unwrap();
            check(&schema, "reply", &reply);
            assert_eq!((&reply["ok"], &reply["id"]), (&json!(true), &value["id"]));
        }
    }
}

#[test]
fn what_is_refused_does_not_fit_the_schema() {
    let schema = schema();
    for command in [
        json!({ "do": "sett", "target": "a.b", "value": 1 }),
        json!({ "do": "set", "target": "a.b" }),
        json!({ "do": "set", "target": "a.b", "value": null }),
        json!({ "do": "midi", "to": "a.b", "bytes": [1, 2] }),
        json!({ "do": "loop", "range": [1] }),
        json!({ "do": "undo", "knob": 1 }),
        json!({ "do": "query", "what": "nothing" }),
    ] {
        let request = json!({ "commands": [command] });
        assert!(
            validate(&schema, &schema["$defs"]["request"], &request).is_err(),
            "{command}"
        );
    }
}
