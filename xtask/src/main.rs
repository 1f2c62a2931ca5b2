//! The workspace's own commands.
//!
//! Takes the name of a command, gives a table of what was done and an exit code: 0, 1 (something failed), 2 (the call
//! is wrong). May: start programs, install Debian packages and set huge pages aside
//! where it is root. May not: stop at the first failure.
#![forbid(unsafe_code)]

mod bits;
mod commands;
mod deny;
mod fuzz;
mod huge_pages;
mod packages;
mod soak;
mod step;
mod summary;
mod test;

use soak::SoakOptions;
use std::process::ExitCode;

const HELP: &str = "\
The workspace's own commands.

    cargo xtask test [STEP...]       all that must hold before a change goes in: format, lints, docs, tests,
                                     loom models, a short run of each fuzzer (under 30 minutes on two cores);
                                     or only the steps that are named so
    cargo xtask soak [PART...] [--minutes N]
                                     the long tier: ThreadSanitizer, AddressSanitizer, NEON under an emulator,
                                     long stress and privileged tests, many more property cases, loom with more
                                     preemptions, N minutes of each fuzzer (default 10, at most 13); or only the
                                     parts that begin with these words: `soak tsan-exec`, `soak fuzz`
    cargo xtask soak --list          its parts, of at most 25 minutes each
    cargo xtask bits OLD NEW         compares the sound of two builds of the program `divisi`, bit for bit, in some
                                     700 files by every executor: for changes that must not be heard
    cargo xtask help                 this

Integration tests need Debian packages (jackd2 and others). They are installed where that is allowed (root and
apt-get); set DIVISI_NO_INSTALL=1 to forbid it. A test that cannot run here says so and is counted as skipped.
The last line is `N passed, N failed, N skipped`; the exit code is 1 if anything failed.
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["test", steps @ ..] => test::run(steps).finish(),
        ["soak", words @ ..] => match SoakOptions::parse(words) {
            Ok(options) if options.is_list() => match soak::list(&options) {
                Ok(()) => ExitCode::SUCCESS,
                Err(why) => wrong(&why),
            },
            Ok(options) => match soak::run(&options) {
                Ok(summary) => summary.finish(),
                Err(why) => wrong(&why),
            },
            Err(why) => wrong(&why),
        },
        ["bits", old, new] => bits::run(old, new).finish(),
        ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        [] => wrong("which command?"),
        [other, ..] => wrong(&format!("there is no command `{other}` like that")),
    }
}

fn wrong(why: &str) -> ExitCode {
    eprintln!("xtask: {why}\n\n{HELP}");
    ExitCode::from(2)
}
