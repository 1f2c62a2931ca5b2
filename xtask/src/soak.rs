//! `cargo xtask soak`: tests that take long, or need quiet, privilege or a sanitizer.

use crate::commands::{cargo, crates_where, loom, packages_of, says, target};
use crate::huge_pages::HugePages;
use crate::summary::Summary;
use crate::{deny, fuzz, packages};
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs every step of the long tier; each fuzzer for `minutes`.
pub(crate) fn run(minutes: u64) -> Summary {
    let mut summary = Summary::of(&[]);
    packages::install(&mut summary, packages::FOR_TEST);
    packages::install(&mut summary, packages::FOR_SOAK);
    let _huge_pages = HugePages::set_aside();
    summary.run("ThreadSanitizer", thread_sanitizer(), 90);
    summary.run("AddressSanitizer", address_sanitizer(), 60);
    neon(&mut summary);
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
    deny::advisories(&mut summary);
    fuzz::run(&mut summary, 60 * minutes);
    summary
}

/// The only target of the sanitizers here.
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// Crates that use `unsafe`.
fn unsafe_crates() -> Vec<String> {
    crates_where(|folder| has_unsafe(&folder.join("src")))
}

/// Runs the tests of every crate that uses `unsafe`, and those of `check`, under ThreadSanitizer.
///
/// With the compiler's sources the standard library is instrumented too. Without them ThreadSanitizer does not see the
/// order that its locks and channels make, and a list of suppressions hides those false alarms.
fn thread_sanitizer() -> Command {
    let mut crates = unsafe_crates();
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
    // Through the C library, so that it sees when an address is mapped again.
    let cfg = "--cfg tsan --cfg rustix_use_libc";
    command
        .args(["--target", TARGET])
        .args(packages_of(&crates))
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", format!("-Zsanitizer=thread {cfg}{flag}"))
        .env("CARGO_TARGET_DIR", target("tsan"));
    if !has_sources {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tsan.txt");
        command.env("TSAN_OPTIONS", format!("suppressions={}", file.display()));
    }
    command
}

/// Runs the tests of the same crates, without `check`, under AddressSanitizer; the standard library is not instrumented.
fn address_sanitizer() -> Command {
    let mut command = cargo(&["test", "--quiet", "--tests", "--no-fail-fast"]);
    command
        .args(["--target", TARGET])
        .args(packages_of(&unsafe_crates()))
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .env("CARGO_TARGET_DIR", target("asan"));
    command
}

/// Runs the kernels for ARM in an emulator.
fn neon(summary: &mut Summary) {
    const NAME: &str = "NEON under qemu";
    const ARM: &str = "aarch64-unknown-linux-gnu";
    let libraries = packages::sysroot().join("lib/rustlib").join(ARM);
    let runs = |program: &str| {
        let mut command = Command::new(program);
        let command = command.arg("--version").stdout(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    if !runs("qemu-aarch64") || !runs("aarch64-linux-gnu-gcc") {
        return summary.skip(NAME, "qemu-aarch64 or aarch64-linux-gnu-gcc is not there");
    }
    if !packages::toolchain(|| libraries.is_dir(), &["target", "add", ARM]) {
        return summary.skip(NAME, &format!("rustup target add {ARM}"));
    }
    let mut command = cargo(&["test", "--tests", "--no-fail-fast", "--target", ARM]);
    command
        .args(packages_of(&["fft".to_string()]))
        .env(
            "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER",
            "aarch64-linux-gnu-gcc",
        )
        .env(
            "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
            "qemu-aarch64 -L /usr/aarch64-linux-gnu",
        )
        .env("CARGO_TARGET_DIR", target("arm"));
    summary.run(NAME, command, 60);
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
