//! Answers of a session of cells that plays, at its socket `s`.

use super::{CallResult, Folder};
use serde_json::Value;

pub(crate) fn send(here: &Folder, words: &[&str]) -> Value {
    let mut command = here.command("send --socket s");
    let gave = CallResult::from(command.args(words).output().unwrap());
    assert_eq!(gave.code, Some(0), "{words:?}: {}", gave.err);
    serde_json::from_str(&gave.out).unwrap()
}

pub(crate) fn query(here: &Folder, what: &str) -> Value {
    send(here, &[&format!("query {what}")])["data"][0].clone()
}

pub(crate) fn param(here: &Folder, node: &str, param: &str) -> Option<f64> {
    let graph = query(here, "graph");
    let mut nodes = graph["nodes"].as_array().unwrap().iter();
    let node = nodes.find(|it| it["name"] == node)?;
    node["params"][param].as_f64()
}

/// Name, state and cores of each cell, and its process.
pub(crate) fn cells(here: &Folder) -> Vec<(String, Value)> {
    let cells = query(here, "cells");
    let cells = cells["cells"].as_array().unwrap().iter();
    let facts = cells.map(|it| {
        let name = it["cell"].as_str().unwrap().to_owned();
        let facts = serde_json::json!([it["state"], it["cores"], it["nodes"], it["process"]]);
        (name, facts)
    });
    facts.collect()
}

/// Names of all nodes with their kinds, and all edges.
pub(crate) fn shape(here: &Folder) -> (Vec<String>, Vec<String>) {
    let graph = query(here, "graph");
    let all = |key: &str, parts: [&str; 2]| {
        let all = graph[key].as_array().unwrap().iter();
        let mut all: Vec<String> = all
            .map(|it| format!("{} {}", it[parts[0]], it[parts[1]]))
            .collect();
        all.sort();
        all
    };
    (all("nodes", ["name", "kind"]), all("edges", ["from", "to"]))
}

pub(crate) fn process(here: &Folder, cell: &str) -> Option<u64> {
    let all = cells(here);
    let (_, facts) = all.iter().find(|(name, _)| name == cell)?;
    facts[3].as_u64()
}

/// Name and nodes of each cell.
pub(crate) fn parts(here: &Folder) -> Vec<(String, Value)> {
    let all = cells(here).into_iter();
    all.map(|(name, facts)| (name, facts[2].clone())).collect()
}
