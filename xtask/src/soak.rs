//! `cargo xtask soak`: what takes long, or depends on timing, privilege or the sanitizer.

use crate::commands::{cargo, crates_where, loom, packages_of, says, target};
use crate::summary::Summary;
use crate::{fuzz, packages};
use std::path::Path;
use std::process::Command;

/// Runs every step of the long tier; each fuzzer for `minutes`.
pub(crate) fn run(minutes: u64) -> Summary {
    let mut summary = Summary::of(&[]);
    packages::install(&mut summary, packages::FOR_TEST);
    packages::install(&mut summary, packages::FOR_SOAK);
    summary.run("ThreadSanitizer", thread_sanitizer(), 60);
    let mut cases = cargo(&["test", "--workspace", "--no-fail-fast"]);
    cases.env("PROPTEST_CASES", "20000");
    summary.run("many cases", cases, 120);
    let long = [
        "test",
        "--release",
        "--workspace",
        "--no-fail-fast",
        "--",
        "--ignored",
    ];
    summary.run("long tests", cargo(&long), 240);
    if let Some(models) = loom() {
        summary.run("loom models, unbounded", models, 240);
    }
    fuzz::run(&mut summary, 60 * minutes);
    summary
}

/// Tests of every crate that uses `unsafe`, and the workspace's own, under ThreadSanitizer.
///
/// With the compiler's sources the standard library is built for it too. Without them it is not instrumented: what its
/// locks and channels order is not seen, and the suppressions keep those false alarms quiet.
fn thread_sanitizer() -> Command {
    let mut crates = crates_where(|folder| has_unsafe(&folder.join("src")));
    crates.push("check".to_string());
    crates.sort();
    crates.dedup();
    let sources = packages::sysroot().join("lib/rustlib/src/rust/library/std");
    let has_sources = packages::toolchain(|| sources.is_dir(), &["component", "add", "rust-src"]);
    let (word, flag) = if has_sources {
        ("-Zbuild-std", "")
    } else {
        ("--quiet", " -Cunsafe-allow-abi-mismatch=sanitizer")
    };
    let mut command = cargo(&["test", word, "--tests", "--no-fail-fast"]);
    command
        .args(["--target", "x86_64-unknown-linux-gnu"])
        .args(packages_of(&crates))
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", format!("-Zsanitizer=thread --cfg tsan{flag}"))
        .env("CARGO_TARGET_DIR", target("tsan"));
    if !has_sources {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tsan.txt");
        command.env("TSAN_OPTIONS", format!("suppressions={}", file.display()));
    }
    command
}

fn has_unsafe(folder: &Path) -> bool {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.map(|file| file.path()).any(|path| {
        if path.is_dir() {
            has_unsafe(&path)
        } else {
            says(&path, "unsafe {") || says(&path, "unsafe impl")
        }
    })
}
