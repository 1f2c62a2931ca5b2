//! The fuzzers of `fuzz/`, built by the stable compiler with its coverage passes switched on.

use crate::commands::{cargo, root};
use crate::summary::Summary;
use std::fs;
use std::process::Command;

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Flags for libFuzzer: counters at every edge, a table of their addresses, traced comparisons; and
/// all checks of a debug build.
const FLAGS: &str = "--cfg fuzzing -Cdebug-assertions -Coverflow-checks -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Names of all fuzzers.
pub(crate) fn names() -> Vec<String> {
    let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap_or_default();
    targets(&manifest)
}

/// Builds every fuzzer and lets each run for `seconds`. They are optimized little: for a few seconds, building is what takes time.
pub(crate) fn run(summary: &mut Summary, seconds: u64) {
    let names = names();
    if names.is_empty() {
        return summary.skip("fuzzers", "there are none");
    }
    let mut build = build();
    build.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
    let is_built = summary.run("fuzzers", build, 15);
    for name in names.iter().filter(|_| is_built) {
        summary.run(
            &format!("fuzzers: {name}"),
            fuzzer(name, seconds),
            seconds / 60 + 3,
        );
    }
}

/// Builds one fuzzer and lets it run for `seconds`.
pub(crate) fn run_one(summary: &mut Summary, name: &str, seconds: u64) {
    let mut build = build();
    build.args(["--bin", name]);
    if summary.run(&format!("fuzz-{name}: build"), build, 10) {
        summary.run(
            &format!("fuzz-{name}"),
            fuzzer(name, seconds),
            seconds / 60 + 2,
        );
    }
}

fn build() -> Command {
    let mut build = cargo(&[
        "build",
        "--release",
        "--target",
        TARGET,
        "--manifest-path",
        "fuzz/Cargo.toml",
    ]);
    build
        .env("RUSTFLAGS", FLAGS)
        .env("CARGO_TARGET_DIR", root().join("fuzz/target"));
    build
}

/// The programs that a manifest declares.
fn targets(manifest: &str) -> Vec<String> {
    let tables = manifest.split("[[bin]]").skip(1);
    let names = tables.filter_map(|table| {
        let line = table
            .lines()
            .find_map(|line| line.trim().strip_prefix("name"))?;
        Some(line.split('"').nth(1)?.to_string())
    });
    names.collect()
}

fn fuzzer(name: &str, seconds: u64) -> Command {
    let fuzz = root().join("fuzz");
    let corpus = fuzz.join("corpus").join(name);
    let artifacts = fuzz.join("artifacts").join(name);
    let _ = fs::create_dir_all(&corpus).and_then(|()| fs::create_dir_all(&artifacts));
    let mut command = Command::new(fuzz.join("target").join(TARGET).join("release").join(name));
    // libFuzzer writes new inputs to the first folder and only reads the others.
    command.arg(corpus);
    for seeds in [fuzz.join("seeds").join(name), fuzz.join("seeds")] {
        if seeds.is_dir() {
            command.arg(seeds);
            break;
        }
    }
    command
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .args([
            "-timeout=10",
            "-rss_limit_mb=2048",
            "-print_final_stats=1",
            "-verbosity=0",
        ])
        .current_dir(fuzz);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declared_program_is_a_target() {
        let text = "[package]\nname = \"fuzz\"\n[[bin]]\nname = \"read_ag\"\npath = \"a.rs\"\n[[bin]]\npath = \"b.rs\"\nname = \"b\"\n";
        assert_eq!(targets(text), ["read_ag", "b"]);
    }
}
