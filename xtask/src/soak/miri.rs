//! Miri: the unit tests of crates that use `unsafe`, in an interpreter that sees wrong accesses, aliases and races.
//!
//! It comes with the nightly toolchain only, so what it says is about the sources and not about the pinned compiler.

use crate::commands::{root, target};
use crate::packages;
use crate::summary::Summary;
use std::process::{Command, Stdio};

/// A crate, and what Miri cannot run of it.
pub(super) struct MiriTarget {
    pub(super) crate_name: &'static str,
    skips: &'static [Skip],
}

/// Tests that are left out.
struct Skip {
    /// First words of their paths.
    path: &'static str,
    why: &'static str,
}

/// The crates whose unit tests Miri runs. Not `driver`, `cells`, `network` and `conv`: they call libraries or map memory.
pub(super) const CRATES: &[MiriTarget] = &[
    MiriTarget {
        crate_name: "rt",
        skips: &[
            Skip {
                path: "mirror::",
                why: "Miri maps no memory twice: it lacks memfd_create",
            },
            Skip {
                path: "cache_sweep::",
                why: "it touches megabytes, without `unsafe`",
            },
        ],
    },
    MiriTarget {
        crate_name: "processor",
        skips: &[
            Skip {
                path: "exp2::",
                why: "a quarter of a million values, without `unsafe`",
            },
            Skip {
                path: "transport::",
                why: "many positions, without `unsafe`",
            },
        ],
    },
    MiriTarget {
        crate_name: "exec",
        skips: &[],
    },
    MiriTarget {
        crate_name: "fft",
        skips: &[
            Skip {
                path: "aligned::",
                why: "it compares megabytes",
            },
            Skip {
                path: "half::",
                why: "all values, without `unsafe`",
            },
            Skip {
                path: "transform::twiddle::",
                why: "many factors, without `unsafe`",
            },
        ],
    },
];

/// Clocks and files of the system are what some tests are about. AddressSanitizer looks for leaks, and knows those by intent.
const FLAGS: &str = "-Zmiri-disable-isolation -Zmiri-ignore-leaks";

/// Random cases of each property test.
const CASES: &str = "4";

impl MiriTarget {
    /// Runs the unit tests of the crate.
    pub(super) fn run(&self, summary: &mut Summary, name: &str, minutes: u64) {
        if !packages::toolchain(is_there, &INSTALL) {
            return summary.skip(name, &format!("rustup {}", INSTALL.join(" ")));
        }
        for skip in self.skips {
            let tests = skip.path.trim_end_matches(':');
            summary.skip(&format!("{name} {tests}"), skip.why);
        }
        summary.run(name, self.command(), minutes);
    }

    fn command(&self) -> Command {
        let package = format!("divisi-{}", self.crate_name);
        let mut command = rustup_cargo(&["miri", "test", "--no-fail-fast", "--lib"]);
        command
            .args(["-p", &package])
            .arg("--")
            .args(self.skips.iter().flat_map(|it| ["--skip", it.path]))
            .env("MIRIFLAGS", FLAGS)
            .env("PROPTEST_CASES", CASES)
            .env("CARGO_TARGET_DIR", target("miri"))
            .current_dir(root());
        command
    }
}

const INSTALL: [&str; 8] = [
    "toolchain",
    "install",
    "nightly",
    "--profile=minimal",
    "--component",
    "miri",
    "--component",
    "rust-src",
];

/// `cargo WORDS` of the nightly toolchain.
fn rustup_cargo(words: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo"]).args(words);
    // Those of the toolchain that runs this program.
    for name in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command
}

fn is_there() -> bool {
    let mut command = rustup_cargo(&["miri", "--version"]);
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
