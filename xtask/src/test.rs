//! `cargo xtask test`: all that must hold before a change goes in.

use crate::commands::{cargo, loom};
use crate::summary::Summary;
use crate::{fuzz, packages, step};
use std::path::PathBuf;
use std::process::Command;

/// Crates that must compile everywhere, and where.
const PURE: &[&str] = &["units", "graph", "plan", "text", "draw"];
const ELSEWHERE: &[&str] = &[
    "aarch64-unknown-linux-gnu",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
];

/// Runs every step, whatever came of the one before.
pub(crate) fn run() -> Summary {
    let mut summary = Summary::default();
    summary.add("packages", packages::install(packages::FOR_TEST));
    let mut run = |name: &str, command: Command, minutes: u64| {
        summary.add(name, step::run(name, command, minutes));
    };
    run("format", cargo(&["fmt", "--all", "--check"]), 2);
    let lints = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    run("lints", cargo(&lints), 15);
    let mut docs = cargo(&["doc", "--workspace", "--no-deps"]);
    docs.env("RUSTDOCFLAGS", "-D warnings");
    run("docs", docs, 10);
    run(
        "tests",
        cargo(&["test", "--workspace", "--no-fail-fast"]),
        20,
    );
    if let Some(mut models) = loom() {
        // Bugs that need more than three preemptions are rare; the long tier has no bound.
        models.env("LOOM_MAX_PREEMPTIONS", "3");
        run("loom models", models, 15);
    }
    fuzz::run(&mut summary, 10);
    elsewhere(&mut summary);
    summary
}

/// Pure crates, checked for other machines where their standard library is installed.
fn elsewhere(summary: &mut Summary) {
    for target in ELSEWHERE {
        let name = format!("check {target}");
        let outcome = if has(target) {
            let mut command = cargo(&["check", "--target", target]);
            for pure in PURE {
                command.args(["-p", &format!("divisi-{pure}")]);
            }
            step::run(&name, command, 10)
        } else {
            step::skipped(&name, &format!("needs `rustup target add {target}`"))
        };
        summary.add(&name, outcome);
    }
}

fn has(target: &str) -> bool {
    let asked = Command::new("rustc").args(["--print", "sysroot"]).output();
    asked.is_ok_and(|said| {
        let sysroot = String::from_utf8_lossy(&said.stdout);
        PathBuf::from(sysroot.trim())
            .join("lib/rustlib")
            .join(target)
            .is_dir()
    })
}
