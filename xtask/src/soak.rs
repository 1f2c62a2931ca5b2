//! `cargo xtask soak`: what takes long, or depends on timing, privilege or the sanitizer.

use crate::commands::{cargo, crates_where, loom, packages_of, says, target};
use crate::summary::Summary;
use crate::{fuzz, packages, step};
use std::path::Path;
use std::process::Command;

/// Runs every step of the long tier; each fuzzer for `minutes`.
pub(crate) fn run(minutes: u64) -> Summary {
    let mut summary = Summary::default();
    summary.add("packages", packages::install(packages::FOR_TEST));
    summary.add("packages", packages::install(packages::FOR_SOAK));
    let mut run = |name: &str, command: Command, minutes: u64| {
        summary.add(name, step::run(name, command, minutes));
    };
    run("ThreadSanitizer", thread_sanitizer(), 60);
    let mut cases = cargo(&["test", "--workspace", "--no-fail-fast"]);
    cases.env("PROPTEST_CASES", "20000");
    run("many cases", cases, 120);
    run(
        "long tests",
        cargo(&[
            "test",
            "--release",
            "--workspace",
            "--no-fail-fast",
            "--",
            "--ignored",
        ]),
        240,
    );
    if let Some(models) = loom() {
        run("loom models, unbounded", models, 240);
    }
    fuzz::run(&mut summary, 60 * minutes);
    summary
}

/// Tests of every crate that uses `unsafe`, and the workspace's own, under ThreadSanitizer.
///
/// The standard library that comes with the compiler is not instrumented, so what it orders with fences or with its
/// own locks is not seen; the suppressions name those of its functions where that gives false alarms.
fn thread_sanitizer() -> Command {
    let mut crates = crates_where(|folder| has_unsafe(&folder.join("src")));
    crates.push("check".to_string());
    crates.dedup();
    let mut command = cargo(&[
        "test",
        "--target",
        "x86_64-unknown-linux-gnu",
        "--tests",
        "--no-fail-fast",
    ]);
    command
        .args(packages_of(&crates))
        .env("RUSTC_BOOTSTRAP", "1")
        .env(
            "RUSTFLAGS",
            "-Zsanitizer=thread --cfg tsan -Cunsafe-allow-abi-mismatch=sanitizer",
        )
        .env("TSAN_OPTIONS", format!("suppressions={}", suppressions()))
        .env("CARGO_TARGET_DIR", target("tsan"));
    command
}

fn suppressions() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tsan.txt")
        .display()
        .to_string()
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
