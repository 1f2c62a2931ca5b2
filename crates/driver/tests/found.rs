//! Which driver is chosen, seen from a program of its own: what it says, and that the libraries say nothing.
#![cfg(unix)]

mod common;

use std::path::Path;
use std::process::Command;

use common::{Server, is_here, name, skip, surround};
use divisi_driver::{DriverConfig, open_auto, probe};
use units::Frames;

/// Lines that this program prints when it plays the user's program.
#[test]
#[ignore = "the other tests run it, each with a server of its own"]
fn the_program_that_looks_around() {
    let chosen = open_auto(&DriverConfig::new("looks-around", Frames(64))).unwrap();
    assert!(!chosen.driver.info().name.is_empty());
    println!("\nSAID {}", chosen.message);
    drop(chosen);
    for found in probe() {
        println!(
            "FOUND {} {:?} {:?}",
            found.is_available, found.description, found.advice
        );
    }
}

/// Runs it in the environment that `surround` makes; what it printed, and on standard error.
fn looks_around(surround: impl FnOnce(&mut Command)) -> (String, String) {
    let mut program = Command::new(std::env::current_exe().unwrap());
    let only = ["--exact", "the_program_that_looks_around"];
    program.args(only).args(["--ignored", "--nocapture"]);
    surround(&mut program);
    let done = program.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(done.status.success(), "{}", text(&done.stderr));
    (text(&done.stdout), text(&done.stderr))
}

#[test]
fn a_jack_server_is_chosen_where_it_answers() {
    if !is_here("jackd") {
        let test = "a_jack_server_is_chosen_where_it_answers";
        return skip(test, "needs the Debian package jackd2");
    }
    let server = Server::jackd(44_100, 256);
    server.settle();
    let (output, chatter) = looks_around(|program| {
        server.surround(program);
    });
    assert!(output.contains("SAID playing through jackd "), "{output}");
    assert!(output.contains("FOUND true \"JACK: jackd "), "{output}");
    assert!(
        output.contains("44100 Hz, buffers of 256 frames"),
        "{output}"
    );
    assert_eq!(chatter, "");
}

#[test]
fn pipewire_is_chosen_where_it_answers_and_no_jack_server_does() {
    let library = jack_library_of_pipewire();
    if !is_here("pipewire") || !library {
        let test = "pipewire_is_chosen_where_it_answers_and_no_jack_server_does";
        return skip(test, "needs the Debian packages pipewire and pipewire-jack");
    }
    let server = Server::pipewire();
    server.settle();
    let (output, chatter) = looks_around(|program| {
        server.surround(program);
    });
    assert!(
        output.contains("SAID playing through PipeWire "),
        "{output}"
    );
    assert!(output.contains("FOUND true \"PipeWire "), "{output}");
    assert_eq!(chatter, "");
}

#[test]
fn the_clock_is_chosen_where_nobody_answers() {
    let (output, chatter) = looks_around(|program| {
        surround(program, &name(), Path::new("/nonexistent"));
    });
    assert!(output.contains("SAID playing by the clock"), "{output}");
    assert!(
        output.contains("no JACK or PipeWire server answers"),
        "{output}"
    );
    assert!(output.contains("FOUND false \"JACK: jackd "), "{output}");
    assert_eq!(chatter, "");
}

fn jack_library_of_pipewire() -> bool {
    probe().iter().any(|found| {
        found.description.contains("PipeWire ") && !found.description.contains("missing")
    })
}
