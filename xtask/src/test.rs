//! `cargo xtask test`: everything that must pass before a change goes in.

use crate::commands::{cargo, loom};
use crate::huge_pages::HugePages;
use crate::summary::Summary;
use crate::{deny, fuzz, packages};

/// Crates that must compile for every target of `ELSEWHERE`.
const PURE: &[&str] = &["units", "graph", "plan", "text", "draw"];
const ELSEWHERE: &[&str] = &[
    "aarch64-unknown-linux-gnu",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
];

/// Runs all steps, or the named ones; a failed step does not stop the others.
pub(crate) fn run(only: &[&str]) -> Summary {
    let mut summary = Summary::of(only);
    packages::install(&mut summary, packages::FOR_TEST);
    let _huge_pages = HugePages::set_aside();
    summary.run("format", cargo(&["fmt", "--all", "--check"]), 2);
    let lints = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    summary.run("lints", cargo(&lints), 15);
    let mut docs = cargo(&["doc", "--workspace", "--no-deps"]);
    docs.env("RUSTDOCFLAGS", "-D warnings");
    summary.run("docs", docs, 10);
    summary.run(
        "tests",
        cargo(&["test", "--workspace", "--no-fail-fast"]),
        25,
    );
    deny::run(&mut summary);
    if let Some(mut models) = loom() {
        // Few bugs need more than three preemptions; the long tier has no bound.
        models.env("LOOM_MAX_PREEMPTIONS", "3");
        summary.run("loom models", models, 15);
    }
    fuzz::run(&mut summary, 10);
    for target in ELSEWHERE {
        elsewhere(&mut summary, target);
    }
    summary
}

/// Pure crates, checked for another machine.
fn elsewhere(summary: &mut Summary, target: &str) {
    let name = format!("check {target}");
    if !summary.wants(&name) {
        return;
    }
    let library = packages::sysroot().join("lib/rustlib").join(target);
    if !packages::toolchain(|| library.is_dir(), &["target", "add", target]) {
        return summary.skip(&name, &format!("needs `rustup target add {target}`"));
    }
    let mut command = cargo(&["check", "--target", target]);
    for pure in PURE {
        command.args(["-p", &format!("divisi-{pure}")]);
    }
    summary.run(&name, command, 10);
}
