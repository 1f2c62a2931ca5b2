//! The programs that parts of the long tier run.

use crate::commands::{cargo, loom_of, packages_of, target};
use crate::packages;
use crate::summary::Summary;
use std::path::Path;
use std::process::{Command, Stdio};

/// The only target of the sanitizers here.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Tests of a crate.
pub(super) struct TestTarget {
    crate_name: String,
    /// One file of its folder `tests`; all tests without it.
    test: Option<String>,
}

impl TestTarget {
    pub(super) fn all(crate_name: &str) -> Self {
        Self {
            crate_name: crate_name.to_owned(),
            test: None,
        }
    }

    pub(super) fn one(crate_name: &str, test: &str) -> Self {
        Self {
            test: Some(test.to_owned()),
            ..Self::all(crate_name)
        }
    }

    /// The words that select it.
    fn words(&self) -> Vec<String> {
        let mut words = packages_of(std::slice::from_ref(&self.crate_name));
        match &self.test {
            Some(test) => words.extend(["--test".to_owned(), test.clone()]),
            None => words.push("--tests".to_owned()),
        }
        words
    }
}

#[derive(Clone, Copy)]
pub(super) enum Sanitizer {
    Thread,
    Address,
}

/// Runs tests under a sanitizer.
pub(super) fn sanitized(sanitizer: Sanitizer, tests: &TestTarget) -> Command {
    let mut command = match sanitizer {
        Sanitizer::Thread => thread_sanitizer(),
        Sanitizer::Address => address_sanitizer(),
    };
    command
        .args(["--no-fail-fast", "--target", TARGET])
        .args(tests.words())
        .env("RUSTC_BOOTSTRAP", "1");
    if matches!(sanitizer, Sanitizer::Address) {
        // To lock all memory would lock the sanitizer's own terabytes.
        command.args(["--", "--skip", "memory_stays_locked"]);
    }
    command
}

/// With the compiler's sources the standard library is instrumented too. Without them ThreadSanitizer does not see the
/// order that its locks and channels make, and a list of suppressions hides those false alarms. Another list is for the
/// libraries of sound servers.
fn thread_sanitizer() -> Command {
    let sources = packages::sysroot().join("lib/rustlib/src/rust/library/std");
    let has_sources = packages::toolchain(|| sources.is_dir(), &["component", "add", "rust-src"]);
    let (word, flag) = if has_sources {
        ("-Zbuild-std", "")
    } else {
        ("--quiet", " -Cunsafe-allow-abi-mismatch=sanitizer")
    };
    let mut command = cargo(&["test", word]);
    // Through the C library, so that it sees when an address is mapped again.
    let cfg = "--cfg tsan --cfg rustix_use_libc";
    command
        .env("RUSTFLAGS", format!("-Zsanitizer=thread {cfg}{flag}"))
        .env("CARGO_TARGET_DIR", target("tsan"));
    let list = if has_sources {
        "tsan-servers.txt"
    } else {
        "tsan-all.txt"
    };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(list);
    command.env("TSAN_OPTIONS", format!("suppressions={}", file.display()));
    command
}

/// The standard library is not instrumented. A list names what is left behind by intent.
fn address_sanitizer() -> Command {
    let mut command = cargo(&["test", "--quiet"]);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("asan-leaks.txt");
    command
        .env("LSAN_OPTIONS", format!("suppressions={}", file.display()))
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .env("CARGO_TARGET_DIR", target("asan"));
    command
}

/// Runs tests over random cases with so many of them.
pub(super) fn many_cases(tests: &TestTarget, cases: u32) -> Command {
    let mut command = cargo(&["test", "--no-fail-fast"]);
    command
        .args(tests.words())
        .env("PROPTEST_CASES", cases.to_string());
    command
}

/// Runs ignored tests, and shows what they measured and what they skipped.
pub(super) fn ignored(tests: &TestTarget) -> Command {
    let mut command = cargo(&["test", "--release", "--no-fail-fast"]);
    command
        .args(tests.words())
        .args(["--", "--ignored", "--show-output"]);
    command
}

/// Runs the loom models of a module: with one preemption more than the test command, and for four minutes each. Few bugs
/// need more than three preemptions, and without a bound some models take days.
pub(super) fn loom_models(crate_name: &str, module: &str) -> Command {
    let mut command = loom_of(&[crate_name.to_owned()]);
    command
        .arg(format!("{module}::"))
        .env("LOOM_MAX_PREEMPTIONS", "4")
        .env("LOOM_MAX_DURATION", "240");
    command
}

/// Runs the kernels for ARM in an emulator.
pub(super) fn neon(summary: &mut Summary, name: &str, minutes: u64) {
    const ARM: &str = "aarch64-unknown-linux-gnu";
    let libraries = packages::sysroot().join("lib/rustlib").join(ARM);
    let runs = |program: &str| {
        let mut command = Command::new(program);
        let command = command.arg("--version").stdout(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    if !runs("qemu-aarch64") || !runs("aarch64-linux-gnu-gcc") {
        return summary.skip(name, "qemu-aarch64 or aarch64-linux-gnu-gcc is not there");
    }
    if !packages::toolchain(|| libraries.is_dir(), &["target", "add", ARM]) {
        return summary.skip(name, &format!("rustup target add {ARM}"));
    }
    let mut command = cargo(&["test", "--no-fail-fast", "--target", ARM]);
    command
        .args(TestTarget::all("fft").words())
        .env(
            "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER",
            "aarch64-linux-gnu-gcc",
        )
        .env(
            "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
            "qemu-aarch64 -L /usr/aarch64-linux-gnu",
        )
        .env("CARGO_TARGET_DIR", target("arm"));
    summary.run(name, command, minutes);
}
