//! Holds every crate to files that do not import each other in large cycles.
//!
//! A file imports another if it names something that is defined there, by `use` or by a path. Names that a module
//! re-exports are followed to the file that defines them, and a re-export by itself is no import.

use graph::Adjacency;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Files of one cycle, at most.
const MAX_FILES: usize = 3;

/// Crates with larger cycles that are left: (crate, files, reason). Only ever gets shorter.
const ALLOWED: &[(&str, usize, &str)] = &[];

/// The path of a module within its crate.
type ModulePath = Vec<String>;

#[derive(Default)]
struct Module {
    /// Source without comments, strings and tests.
    text: String,
    /// Re-exports of the module: name (`*` for all), and the path as it is written.
    exports: Vec<(String, ModulePath)>,
    /// The other paths that it names.
    paths: Vec<ModulePath>,
}

/// The modules of a crate that are files.
struct Modules(BTreeMap<ModulePath, Module>);

impl Modules {
    fn read(src: &Path) -> Self {
        let mut files = Vec::new();
        sources(src, &mut files);
        let mut modules = BTreeMap::new();
        for file in files {
            let relative = file
                .strip_prefix(src)
                .expect("it is inside")
                .with_extension("");
            let mut path: ModulePath = relative
                .iter()
                .map(|part| part.to_str().expect("names of files are text").to_string())
                .collect();
            if ["lib", "mod", "main"].contains(&path.last().expect("a file has a name").as_str()) {
                path.pop();
            }
            if path.iter().any(|part| part == "tests") {
                continue;
            }
            let text = strip(&fs::read_to_string(&file).expect("a source is text"));
            let mut module = Module::default();
            let rest = uses(&text, &mut module);
            inline_paths(&rest, &mut module.paths);
            module.text = text;
            modules.insert(path, module);
        }
        Self(modules)
    }

    /// The module that defines what `path` names in `module`; `None` for other crates and for what is not found.
    fn definer(&self, module: &[String], path: &[String], depth: usize) -> Option<ModulePath> {
        let mut at: ModulePath = Vec::new();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => rest = &path[1..],
            "self" => {
                at = module.to_vec();
                rest = &path[1..];
            }
            "super" => {
                at = module.to_vec();
                while rest.first().is_some_and(|part| part == "super") {
                    at.pop()?;
                    rest = &rest[1..];
                }
            }
            first => {
                at = module.to_vec();
                at.push(first.to_string());
                if !self.0.contains_key(&at) {
                    return None;
                }
                rest = &path[1..];
            }
        }
        self.descend(at, rest, depth)
    }

    fn descend(&self, mut at: ModulePath, rest: &[String], depth: usize) -> Option<ModulePath> {
        let mut rest = rest;
        while let Some(name) = rest.first() {
            at.push(name.clone());
            if !self.0.contains_key(&at) {
                at.pop();
                return self.exported(&at, name, depth).or(Some(at));
            }
            rest = &rest[1..];
        }
        Some(at)
    }

    /// The module from which `at` re-exports `name`.
    fn exported(&self, at: &[String], name: &str, depth: usize) -> Option<ModulePath> {
        if depth == 0 {
            return None;
        }
        let module = self.0.get(at)?;
        let named = module.exports.iter().find(|(export, _)| export == name);
        if let Some((_, path)) = named {
            return self.definer(at, path, depth - 1);
        }
        let globs = module.exports.iter().filter(|(export, _)| export == "*");
        let mut targets = globs.filter_map(|(_, path)| self.definer(at, path, depth - 1));
        targets.find(|target| self.0[target].defines(name))
    }

    /// Cycles with more files than allowed, each as a list.
    fn large_cycles(&self) -> Vec<Vec<String>> {
        let paths: Vec<&ModulePath> = self.0.keys().collect();
        let number = |path: &ModulePath| paths.binary_search(&path).ok();
        let mut edges = Vec::new();
        for (from, (path, module)) in self.0.iter().enumerate() {
            let targets = module
                .paths
                .iter()
                .filter_map(|used| self.definer(path, used, 8));
            let targets: BTreeSet<usize> = targets.filter_map(|target| number(&target)).collect();
            let others = targets.into_iter().filter(|to| *to != from);
            edges.extend(others.map(|to| (from as u32, to as u32)));
        }
        let component = Adjacency::new(paths.len(), edges).strong_components();
        let mut cycles: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for (path, component) in paths.iter().zip(component) {
            let name = match path.is_empty() {
                true => "lib".to_string(),
                false => path.join("/"),
            };
            cycles.entry(component).or_default().push(name);
        }
        cycles
            .into_values()
            .filter(|files| files.len() > MAX_FILES)
            .collect()
    }
}

impl Module {
    fn defines(&self, name: &str) -> bool {
        let words: Vec<&str> = self
            .text
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .collect();
        let keywords = [
            "struct", "enum", "trait", "type", "fn", "const", "static", "union",
        ];
        words
            .windows(2)
            .any(|pair| keywords.contains(&pair[0]) && pair[1] == name)
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The source up to its tests, without comments and the contents of strings.
fn strip(text: &str) -> String {
    let text = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or(text);
    let mut stripped = String::with_capacity(text.len());
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or(line);
        let mut is_string = false;
        for character in code.replace("\\\"", "").chars() {
            is_string ^= character == '"';
            if !is_string {
                stripped.push(character);
            }
        }
        stripped.push('\n');
    }
    stripped
}

/// Reads all `use` declarations; gives the rest of the source.
fn uses(text: &str, module: &mut Module) -> String {
    let mut rest = String::new();
    for statement in text.split_inclusive(';') {
        let found = statement.rfind("use ").filter(|at| {
            let before = statement[..*at].trim_end();
            before.is_empty()
                || before.ends_with(['}', ']', ';', ')', '{'])
                || before.ends_with("pub")
        });
        let Some(at) = found.filter(|_| statement.ends_with(';')) else {
            rest.push_str(statement);
            continue;
        };
        let (before, tree) = statement.split_at(at);
        let mut paths = Vec::new();
        let tree: String = tree["use ".len()..].trim_end_matches(';').into();
        expand(&tree, &[], &mut paths);
        let before = before.trim_end();
        let is_export = before.ends_with("pub") || before.ends_with(')') && before.contains("pub(");
        for (name, path) in paths {
            if is_export {
                module.exports.push((name, path));
            } else {
                module.paths.push(path);
            }
        }
        rest.push_str(before);
    }
    rest
}

/// Expands a tree of imports into names and paths; of `a::*` the name is `*` and the path `a`.
fn expand(tree: &str, prefix: &[String], found: &mut Vec<(String, ModulePath)>) {
    let tree = tree.trim();
    if let Some(inner) = tree.strip_prefix('{') {
        let inner = inner.strip_suffix('}').unwrap_or(inner);
        let mut depth = 0;
        let is_end = |c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == ',' && depth == 0
        };
        let items: Vec<&str> = inner.split(is_end).collect();
        for item in items.into_iter().filter(|item| !item.trim().is_empty()) {
            expand(item, prefix, found);
        }
        return;
    }
    let mut path = prefix.to_vec();
    if let Some((first, rest)) = tree
        .split_once("::")
        .filter(|(first, _)| !first.contains('{'))
    {
        path.push(first.trim().to_string());
        return expand(rest, &path, found);
    }
    let (name, alias) = tree.split_once(" as ").unwrap_or((tree, tree));
    let (name, alias) = (name.trim(), alias.trim());
    if name == "self" {
        let own = path.last().cloned().unwrap_or_default();
        found.push((own, path));
    } else if name == "*" {
        found.push(("*".into(), path));
    } else {
        path.push(name.to_string());
        found.push((alias.to_string(), path));
    }
}

/// Finds `crate::a::b`, `super::a` and `self::a` in code.
fn inline_paths(text: &str, found: &mut Vec<ModulePath>) {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
    for word in words {
        let parts: Vec<String> = word.split("::").map(str::to_string).collect();
        let is_path = ["crate", "super", "self"].contains(&parts[0].as_str()) && parts.len() > 1;
        if is_path {
            found.push(parts.into_iter().filter(|part| !part.is_empty()).collect());
        }
    }
}

#[test]
fn no_more_than_three_files_import_each_other_in_a_cycle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let crates = root.expect("the crate is in crates/check").join("crates");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(crates).expect("a folder").flatten() {
        let name = entry
            .file_name()
            .into_string()
            .expect("names of crates are text");
        let modules = Modules::read(&entry.path().join("src"));
        count += modules.0.len();
        for cycle in modules.large_cycles() {
            let allowed = ALLOWED.iter().find(|(other, ..)| *other == name);
            if allowed.is_none_or(|(_, files, _)| cycle.len() > *files) {
                let files = cycle.join(", ");
                wrong.push(format!("{name}: {} files: {files}", cycle.len()));
            }
        }
    }
    assert!(count > 100, "the sources were not found");
    wrong.sort();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn a_cycle_of_four_is_found_through_a_re_export() {
    let files = [
        ("", "mod a; mod b; mod c; mod d;\npub use d::D;"),
        ("a", "use crate::b::{self, Other as B};"),
        ("b", "use super::c::C;"),
        ("c", "fn c() { crate::D::new() }"),
        ("d", "use crate::a;\npub struct D;"),
    ];
    let modules = files.map(|(name, text)| {
        let mut module = Module::default();
        let rest = uses(text, &mut module);
        inline_paths(&rest, &mut module.paths);
        module.text = text.into();
        let path = name
            .split('/')
            .filter(|part| !part.is_empty())
            .map(str::to_string);
        (path.collect(), module)
    });
    let modules = Modules(BTreeMap::from(modules));
    assert_eq!(modules.large_cycles(), [["a", "b", "c", "d"]]);
}
