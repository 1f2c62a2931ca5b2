//! `cargo deny`: holds the licences, duplicates and origins of all dependencies to `deny.toml`.

use crate::commands::{cargo, root, target};
use crate::summary::Summary;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The version that is built where no cargo-deny is installed.
const VERSION: &str = "0.20.2";

/// Licences, bans and sources: needs no network but the registry's.
pub(crate) fn run(summary: &mut Summary) {
    check(summary, "dependencies", &["licenses", "bans", "sources"]);
}

/// Known weaknesses of dependencies: needs the advisory database, which is fetched.
pub(crate) fn advisories(summary: &mut Summary) {
    let step = "advisories";
    let fetches = |program: PathBuf| {
        let mut fetch = Command::new(program);
        fetch.current_dir(root()).args(["deny", "fetch", "db"]);
        fetch.status().is_ok_and(|status| status.success())
    };
    if summary.wants(step) && program().is_some_and(|program| !fetches(program)) {
        let why = "needs the advisory database, github.com/RustSec/advisory-db";
        return summary.skip(step, why);
    }
    check(summary, step, &["advisories"]);
}

fn check(summary: &mut Summary, step: &str, what: &[&str]) {
    if !summary.wants(step) {
        return;
    }
    match program() {
        Some(program) => {
            let mut command = Command::new(program);
            command
                .current_dir(root())
                .args(["deny", "check"])
                .args(what);
            summary.run(step, command, 10);
        }
        None => summary.skip(step, &format!("needs `cargo install cargo-deny@{VERSION}`")),
    }
}

/// Path of cargo-deny: installed, or built below the target folder, which this does now if necessary.
fn program() -> Option<PathBuf> {
    let own = target("tools");
    let candidates = [PathBuf::from("cargo-deny"), own.join("bin/cargo-deny")];
    let find = || candidates.iter().find(|program| answers(program)).cloned();
    find().or_else(|| {
        if std::env::var_os("DIVISI_NO_INSTALL").is_none() {
            println!("building cargo-deny {VERSION}; this takes a minute, once");
            let mut build = cargo(&[
                "install",
                "--quiet",
                // Without optimizations it is built in a third of the time, and checks in a second.
                "--debug",
                "--locked",
                "cargo-deny",
                "--version",
                VERSION,
                "--root",
            ]);
            let _ = build
                .arg(&own)
                .env("CARGO_TARGET_DIR", own.join("build"))
                .env("CARGO_PROFILE_DEV_DEBUG", "false")
                .status();
        }
        find()
    })
}

fn answers(program: &PathBuf) -> bool {
    let mut version = Command::new(program);
    version
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    version.status().is_ok_and(|status| status.success())
}
