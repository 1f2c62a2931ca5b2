//! The Debian packages that integration tests need, and how they come here.

use crate::step::{self, Outcome};
use std::process::{Command, Stdio};

/// A package and what it is needed for.
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
    ("pipewire-jack", "PipeWire's own libjack"),
    (
        "dbus-daemon",
        "the session bus that PipeWire's session manager asks for",
    ),
];

/// Further ones, for `cargo xtask soak`.
pub(crate) const FOR_SOAK: &[Package] = &[("valgrind", "counts instructions")];

/// Installs what is missing, where that is allowed; else says what is missing.
pub(crate) fn install(wanted: &[Package]) -> Outcome {
    let missing: Vec<Package> = wanted
        .iter()
        .copied()
        .filter(|(name, _)| !is_installed(name))
        .collect();
    let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
    if names.is_empty() {
        return step::run("packages", Command::new("true"), 1);
    }
    let may = is_root() && std::env::var_os("DIVISI_NO_INSTALL").is_none();
    if may && (apt(&names) || (update() && apt(&names))) {
        return step::run("packages", Command::new("true"), 1);
    }
    for (name, why) in &missing {
        println!("not installed: {name} ({why})");
    }
    let fix = format!(
        "could not be installed; as root: apt-get install {}",
        names.join(" ")
    );
    step::skipped("packages", &fix)
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
