//! Holds the manifests and the heads of files to the table of rooms in `ARCHITECTURE.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// One row of the table.
#[derive(Debug)]
struct CrateRow {
    may_lean_on: BTreeSet<String>,
    may_lean_on_all: bool,
    may_not: String,
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap().into()
}

/// The rows of the table of rooms, by crate.
fn rooms(text: &str) -> BTreeMap<String, CrateRow> {
    let (_, after) = text.split_once("\n## Rooms").expect("a section `Rooms`");
    let section = after.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, _, leans, may_not] = cells[..] else {
            panic!("this row of the table of rooms has not four cells: {row}");
        };
        let room = CrateRow {
            may_lean_on: leans.split_whitespace().map(str::to_string).collect(),
            may_lean_on_all: leans == "everything",
            may_not: may_not.to_string(),
        };
        (name.trim_matches('`').to_string(), room)
    })
    .collect()
}

/// The folders of the crates, by name.
fn folders() -> BTreeMap<String, PathBuf> {
    let all = fs::read_dir(root().join("crates")).unwrap().flatten();
    let crates = all.filter(|entry| entry.path().join("Cargo.toml").exists());
    crates
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.path()))
        .collect()
}

/// The rooms that a manifest leans on, for building and not for testing.
fn leans(manifest: &str) -> BTreeSet<String> {
    let manifest: toml::Table = manifest.parse().expect("a manifest is TOML");
    let mut tables = vec![manifest.get("dependencies")];
    for target in manifest
        .get("target")
        .and_then(toml::Value::as_table)
        .into_iter()
        .flatten()
    {
        tables.push(target.1.get("dependencies"));
    }
    let names = tables
        .into_iter()
        .flatten()
        .filter_map(toml::Value::as_table)
        .flat_map(toml::Table::iter);
    names
        .map(|(key, value)| {
            value
                .get("package")
                .and_then(toml::Value::as_str)
                .unwrap_or(key)
        })
        .map(|name| name.strip_prefix("divisi-").unwrap_or(name).to_string())
        .collect()
}

/// Differences between the table and the manifests, a sentence each.
fn wrong_edges(
    rooms: &BTreeMap<String, CrateRow>,
    manifests: &BTreeMap<String, String>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, manifest) in manifests {
        let Some(room) = rooms.get(name) else {
            wrong.push(format!(
                "`{name}` has no row in the table of rooms of ARCHITECTURE.md"
            ));
            continue;
        };
        let leans = leans(manifest);
        for other in leans.iter().filter(|other| manifests.contains_key(*other)) {
            if !room.may_lean_on_all && !room.may_lean_on.contains(other) {
                wrong.push(format!(
                    "`{name}` leans on `{other}`, which the table of rooms does not allow: take the dependency out of \
                     crates/{name}/Cargo.toml, or change ARCHITECTURE.md and say why"
                ));
            }
        }
    }
    for name in rooms.keys().filter(|name| !manifests.contains_key(*name)) {
        wrong.push(format!(
            "the table of rooms has `{name}`, but there is no crates/{name}"
        ));
    }
    wrong
}

/// The fact that is missing at the head of a `lib.rs`.
fn wrong_card(name: &str, source: &str) -> Option<String> {
    let card: Vec<&str> = source
        .lines()
        .take_while(|line| line.starts_with("//!"))
        .collect();
    let text = card.join("\n").replace("\n//!", "");
    let missing = ["Takes ", "May: ", "May not: "]
        .into_iter()
        .find(|word| !text.contains(word));
    match (card.first(), missing) {
        (Some(first), None) if first.len() > "//! .".len() => None,
        (Some(_), Some(word)) => Some(format!(
            "crates/{name}/src/lib.rs: its room card lacks `{}`",
            word.trim()
        )),
        _ => Some(format!(
            "crates/{name}/src/lib.rs does not begin with a sentence on what it is for"
        )),
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

#[track_caller]
fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn every_manifest_leans_only_on_rooms_that_the_table_allows() {
    let rooms = rooms(&fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap());
    let manifests = folders()
        .into_iter()
        .map(|(name, folder)| (name, fs::read_to_string(folder.join("Cargo.toml")).unwrap()))
        .collect();
    assert_none(&wrong_edges(&rooms, &manifests));
}

#[test]
fn every_lib_begins_with_its_room_card() {
    let libs = folders().into_iter().filter_map(|(name, folder)| {
        let source = fs::read_to_string(folder.join("src/lib.rs")).ok()?;
        wrong_card(&name, &source)
    });
    assert_none(&libs.collect::<Vec<_>>());
}

#[test]
fn every_file_begins_with_a_sentence() {
    let mut files = Vec::new();
    for folder in ["crates", "xtask", "fuzz", "benches", "examples"] {
        sources(&root().join(folder), &mut files);
    }
    assert!(files.len() > 20, "the sources were not found");
    let bare = files.iter().filter(|file| {
        let source = fs::read_to_string(file).unwrap();
        !source.starts_with("//! ") && !source.starts_with("#!")
    });
    let wrong = bare.map(|file| {
        format!(
            "{} does not begin with `//! ` and a sentence",
            file.display()
        )
    });
    assert_none(&wrong.collect::<Vec<_>>());
}

#[test]
fn rooms_that_may_not_be_unsafe_forbid_it() {
    let rooms = rooms(&fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap());
    let bold = folders().into_iter().filter(|(name, folder)| {
        let promises = rooms
            .get(name)
            .is_some_and(|room| room.may_not.contains("`unsafe`"));
        let source = fs::read_to_string(folder.join("src/lib.rs")).unwrap_or_default();
        promises && !source.lines().any(|line| line == "#![forbid(unsafe_code)]")
    });
    let wrong =
        bold.map(|(name, _)| format!("crates/{name}/src/lib.rs lacks `#![forbid(unsafe_code)]`"));
    assert_none(&wrong.collect::<Vec<_>>());
}

#[test]
fn an_edge_that_is_not_in_the_table_is_named() {
    let table = "x\n## Rooms\n| `a` | one | – | `unsafe` |\n| `b` | two | a | |\n| `gone` | three | a | |\n## Next";
    let manifest = |leans: &str| {
        format!("[dependencies]\n{leans}.workspace = true\n[dev-dependencies]\nc = \"1\"\n")
    };
    let manifests = BTreeMap::from([
        ("a".to_string(), manifest("b")),
        ("b".to_string(), manifest("a")),
        ("c".to_string(), String::new()),
    ]);
    let wrong = wrong_edges(&rooms(table), &manifests);
    assert_eq!(wrong.len(), 3, "{wrong:?}");
    assert!(wrong[0].starts_with("`a` leans on `b`"));
    assert!(wrong[1].starts_with("`c` has no row"));
    assert!(wrong[2].contains("`gone`"));
}
