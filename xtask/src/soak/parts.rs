//! The parts of the long tier, found in the workspace's own files.
//!
//! | part | runs |
//! |---|---|
//! | `tsan-CRATE`, `asan-CRATE` | the tests of a crate that uses `unsafe`, under a sanitizer; `tsan-check-TEST` those of `check` |
//! | `miri-CRATE` | the unit tests of a crate that uses `unsafe`, in Miri, but for what it cannot run |
//! | `neon` | the kernels for ARM, in an emulator |
//! | `cases-CRATE` | tests over random cases, with many more of them |
//! | `long-CRATE` | tests that are ignored otherwise |
//! | `failures-cells-N`, `failures-supervisor` | kills and hangs of cells, and of their supervisor, while the clock plays |
//! | `loom-CRATE-FILE` | the loom models of a file, with more preemptions |
//! | `fuzz-NAME` | a fuzzer, for minutes |
//! | `advisories` | known weaknesses of dependencies |

use super::PART_MINUTES;
use super::commands::{self, Sanitizer, TestTarget};
use super::miri::{self, MiriTarget};
use crate::commands::{crates_where, root, says};
use crate::summary::Summary;
use crate::{deny, fuzz};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A part of the long tier.
pub(super) struct Part {
    pub(super) name: String,
    work: Work,
}

enum Work {
    /// Made when it runs: it may have to install a part of the toolchain.
    Command(Box<dyn FnOnce() -> Command>),
    Miri(&'static MiriTarget),
    Neon,
    Advisories,
    /// The fuzzer of this name.
    Fuzz(String),
}

impl Part {
    fn new(name: String, work: Work) -> Self {
        Self { name, work }
    }

    fn command(name: String, command: impl FnOnce() -> Command + 'static) -> Self {
        Self::new(name, Work::Command(Box::new(command)))
    }

    /// Runs the part; a fuzzer for `minutes`.
    pub(super) fn run(self, summary: &mut Summary, minutes: u64) {
        match self.work {
            Work::Command(command) => {
                summary.run(&self.name, command(), PART_MINUTES);
            }
            Work::Miri(target) => target.run(summary, &self.name, PART_MINUTES),
            Work::Neon => commands::neon(summary, &self.name, PART_MINUTES),
            Work::Advisories => deny::advisories(summary),
            Work::Fuzz(target) => fuzz::run_one(summary, &target, 60 * minutes),
        }
    }
}

/// All parts.
pub(super) fn parts() -> Vec<Part> {
    let mut all = Vec::new();
    let of_unsafe = crates_where(|folder| has(&folder.join("src"), &["unsafe {", "unsafe impl"]));
    for (word, sanitizer) in [("tsan", Sanitizer::Thread), ("asan", Sanitizer::Address)] {
        let own = of_unsafe.iter().filter(|name| *name != "check");
        all.extend(own.map(|name| {
            let tests = TestTarget::all(name);
            Part::command(format!("{word}-{name}"), move || {
                commands::sanitized(sanitizer, &tests)
            })
        }));
    }
    let check = root().join("crates/check/tests");
    for (name, _) in test_files(&check) {
        let tests = TestTarget::one("check", &name);
        all.push(Part::command(format!("tsan-check-{name}"), move || {
            commands::sanitized(Sanitizer::Thread, &tests)
        }));
    }
    let interpreted = miri::CRATES.iter();
    all.extend(interpreted.map(|it| Part::new(format!("miri-{}", it.crate_name), Work::Miri(it))));
    all.push(Part::new("neon".into(), Work::Neon));
    all.extend(with_cases());
    all.extend(by_file("#[ignore").into_iter().map(|(name, target)| {
        Part::command(format!("long-{name}"), move || commands::ignored(&target))
    }));
    all.extend(failures());
    all.extend(models());
    let fuzzers = fuzz::names().into_iter();
    all.extend(fuzzers.map(|name| Part::new(format!("fuzz-{name}"), Work::Fuzz(name))));
    all.push(Part::new("advisories".into(), Work::Advisories));
    all
}

/// Kills in a part, besides hangs, and parts with different phases: ten thousand kills of cells together.
const KILLS: u32 = 2000;
const KILL_PARTS: u32 = 5;

/// Failures of cells, and of their supervisor.
fn failures() -> Vec<Part> {
    let part = |name: String, test: &'static str, count: u32, seed: u32| {
        Part::command(name, move || {
            let mut command = commands::ignored(&TestTarget::one("cli", test));
            command.arg("--nocapture");
            command.env("DIVISI_FAILURES", count.to_string());
            command.env("DIVISI_SEED", seed.to_string());
            command
        })
    };
    let cells = (1..=KILL_PARTS)
        .map(|seed| part(format!("failures-cells-{seed}"), "cell_states", KILLS, seed));
    let supervisor = part("failures-supervisor".into(), "cells_guardian", KILLS / 2, 1);
    cells.chain([supervisor]).collect()
}

/// Random cases of a property, and of one that renders sound for each: 5000 of them take five minutes on one core.
const CASES: u32 = 20_000;
const RENDERED_CASES: u32 = 5000;

/// Crates with property tests; of `check` each file.
fn with_cases() -> impl Iterator<Item = Part> {
    let crates = crates_where(|folder| says(&folder.join("Cargo.toml"), "proptest"));
    let others = crates.into_iter().filter(|name| name != "check");
    let others = others.map(|name| (name.clone(), TestTarget::all(&name), CASES));
    let check = files_of_check("proptest!").into_iter();
    let check = check.map(|(name, target)| (name, target, RENDERED_CASES));
    others.chain(check).map(|(name, target, cases)| {
        Part::command(format!("cases-{name}"), move || {
            commands::many_cases(&target, cases)
        })
    })
}

/// Crates in whose files a word stands; of `check` each file.
fn by_file(word: &'static str) -> Vec<(String, TestTarget)> {
    let crates = crates_where(|folder| has(folder, &[word]));
    let others = crates.into_iter().filter(|name| name != "check");
    let mut all: Vec<_> = others
        .map(|name| (name.clone(), TestTarget::all(&name)))
        .collect();
    all.extend(files_of_check(word));
    all
}

/// The tests of `check` in which a word stands, a file each: together they take too long, to build too.
fn files_of_check(word: &str) -> Vec<(String, TestTarget)> {
    let tests = test_files(&root().join("crates/check/tests"));
    let tests = tests.into_iter().filter(|(_, path)| has(path, &[word]));
    tests
        .map(|(test, _)| (format!("check-{test}"), TestTarget::one("check", &test)))
        .collect()
}

/// The files with loom models, a part each.
fn models() -> Vec<Part> {
    let mut all = Vec::new();
    for name in crates_where(|folder| says(&folder.join("Cargo.toml"), "cfg(loom)")) {
        let source = root().join("crates").join(&name).join("src");
        for file in files(&source) {
            if !says(&file, "loom::model") {
                continue;
            }
            let module = file.strip_prefix(&source).unwrap_or(&file);
            let words: Vec<String> = module
                .with_extension("")
                .iter()
                .map(|word| word.to_string_lossy().into_owned())
                .filter(|word| word != "mod")
                .collect();
            let part = format!("loom-{name}-{}", words.join("-"));
            let (name, module) = (name.clone(), words.join("::"));
            all.push(Part::command(part, move || {
                commands::loom_models(&name, &module)
            }));
        }
    }
    all
}

/// Test programs in a folder `tests`, each with its file or folder.
fn test_files(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let programs = paths.filter(|path| {
        path.extension().is_some_and(|e| e == "rs") || path.join("main.rs").is_file()
    });
    let mut all: Vec<(String, PathBuf)> = programs
        .filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), path)))
        .collect();
    all.sort();
    all
}

/// All Rust files below `path`, or `path` itself, in order.
fn files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_path_buf()];
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries.flat_map(|entry| files(&entry.path())).collect();
    all.retain(|file| file.extension().is_some_and(|e| e == "rs"));
    all.sort();
    all
}

/// Returns true if a Rust file below `path` contains one of `words`.
fn has(path: &Path, words: &[&str]) -> bool {
    let files = files(path);
    files
        .iter()
        .any(|file| words.iter().any(|words| says(file, words)))
}
