//! The Debian packages that integration tests need, and their installation.

use crate::summary::Summary;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A package and its purpose.
pub(crate) type Package = (&'static str, &'static str);

/// For `cargo xtask test`.
pub(crate) const FOR_TEST: &[Package] = &[
    (
        "jackd2",
        "a real JACK server with its dummy driver, for the driver's tests",
    ),
    (
        "pipewire",
        "a real PipeWire with a null sink, for the driver's tests",
    ),
    ("wireplumber", "connects PipeWire's ports"),
    (
        "puredata-core",
        "the real Pd, with which patches are compared",
    ),
    ("puredata-doc", "patches that Pd ships"),
    ("puredata-extra", "abstractions that they use"),
    ("pipewire-jack", "PipeWire's own libjack"),
    (
        "libasound2",
        "ALSA's library with its devices null and file, for the driver's tests",
    ),
    (
        "dbus-daemon",
        "the session bus that PipeWire's session manager asks for",
    ),
];

/// More packages, for `cargo xtask soak`.
pub(crate) const FOR_SOAK: &[Package] = &[
    ("valgrind", "counts instructions"),
    ("qemu-user", "runs the kernels for NEON"),
    ("gcc-aarch64-linux-gnu", "links them"),
    ("libc6-dev-arm64-cross", "what they are linked to"),
];

/// Installs missing packages where that is allowed; else prints them.
pub(crate) fn install(summary: &mut Summary, wanted: &[Package]) {
    if !summary.wants("packages") {
        return;
    }
    let is_missing = |package: &&Package| !is_installed(package.0);
    let missing: Vec<&Package> = wanted.iter().filter(is_missing).collect();
    let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
    let is_there =
        names.is_empty() || (may_install() && (apt(&names) || (update() && apt(&names))));
    if is_there {
        summary.run("packages", Command::new("true"), 1);
        return;
    }
    for (name, why) in &missing {
        println!("not installed: {name} ({why})");
    }
    let fix = format!("as root: apt-get install {}", names.join(" "));
    summary.skip("packages", &fix);
}

/// Installs a part of the toolchain through rustup if it is missing and that is allowed. Returns true if it
/// is present now.
pub(crate) fn toolchain(is_there: impl Fn() -> bool, words: &[&str]) -> bool {
    if !is_there() && std::env::var_os("DIVISI_NO_INSTALL").is_none() {
        quietly(Command::new("rustup").args(words));
    }
    is_there()
}

/// Sysroot of the compiler.
pub(crate) fn sysroot() -> PathBuf {
    let asked = Command::new("rustc").args(["--print", "sysroot"]).output();
    asked.map_or_else(
        |_| PathBuf::new(),
        |said| PathBuf::from(String::from_utf8_lossy(&said.stdout).trim()),
    )
}

fn may_install() -> bool {
    is_root() && std::env::var_os("DIVISI_NO_INSTALL").is_none()
}

fn apt(names: &[&str]) -> bool {
    println!("installing {}", names.join(" "));
    let words = [
        "-y",
        "-q",
        "--no-install-recommends",
        "-o",
        "DPkg::Lock::Timeout=120",
        "install",
    ];
    quietly(Command::new("apt-get").args(words).args(names))
}

fn update() -> bool {
    quietly(Command::new("apt-get").args(["-q", "update"]))
}

fn quietly(command: &mut Command) -> bool {
    let command = command
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdout(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn is_installed(name: &str) -> bool {
    let words = ["-W", "-f", "${db:Status-Status}", name];
    let asked = Command::new("dpkg-query").args(words).output();
    asked.is_ok_and(|said| said.stdout == b"installed")
}

fn is_root() -> bool {
    let asked = Command::new("id").arg("-u").output();
    asked.is_ok_and(|said| said.stdout.trim_ascii() == b"0")
}
