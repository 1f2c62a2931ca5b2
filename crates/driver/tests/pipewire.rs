//! The JACK driver against a real PipeWire with a null sink, through PipeWire's own libjack.
#![cfg(unix)]

mod common;

use std::any::Any;
use std::sync::atomic::Ordering;

use common::{Counter, Server, is_here, name, skip, wait_for, wait_for_blocks};
use divisi_driver::{DriverConfig, DriverError, DriverState, jack};
use units::Frames;

fn request() -> DriverConfig {
    DriverConfig::new("divisi-test", Frames(64))
}

fn pipewire(test: &str) -> Option<Server> {
    // The library too: the server's program comes without it.
    let absent = DriverConfig {
        server: Some("/nowhere".to_owned()),
        ..request()
    };
    let library = !matches!(jack::open_pipewire(&absent), Err(DriverError::NoLibrary));
    if is_here("pipewire") && library {
        return Some(Server::pipewire());
    }
    skip(test, "needs the Debian packages pipewire and pipewire-jack");
    None
}

#[test]
fn pipewire_is_found_by_itself_and_asks_for_blocks() {
    let Some(server) = pipewire("pipewire_is_found_by_itself_and_asks_for_blocks") else {
        return;
    };
    let opened = server.open(&request(), jack::open);
    let facts = opened.info();
    assert!(facts.server.starts_with("PipeWire"), "{facts:?}");
    assert_eq!((facts.rate.hz(), facts.buffer_size.0), (48_000, 256));
    let (callback, counts) = Counter::new(Frames(64));
    let running = opened.start(callback).unwrap();
    wait_for_blocks(&counts, 400);
    assert_eq!(running.state(), DriverState::Playing);
    let callback: Box<dyn Any> = running.stop();
    assert!(callback.is::<Counter>());
    assert_eq!(counts.wrong.load(Ordering::Relaxed), 0);
}

#[test]
fn what_is_played_into_the_sink_comes_out_of_its_monitor() {
    let test = "what_is_played_into_the_sink_comes_out_of_its_monitor";
    let Some(server) = pipewire(test) else {
        return;
    };
    let (callback, _) = Counter::new(Frames(64));
    let plays = server.open(&request(), jack::open).start(callback).unwrap();
    let listens = DriverConfig {
        name: "hears".to_owned(),
        inputs: 1,
        outputs: 0,
        ..request()
    };
    let (listener, counts) = Counter::new(Frames(64));
    let hears = server.open(&listens, jack::open).start(listener).unwrap();
    if !server.tool("pw-link", &["null-sink:monitor_FL", "hears:in_1"]) {
        return skip(test, "needs pw-link (Debian: pipewire-bin)");
    }
    wait_for("a tenth of a second unbroken", || {
        counts.ramp.load(Ordering::Relaxed) >= 4_800
    });
    hears.stop();
    plays.stop();
}

#[test]
fn a_socket_that_nobody_answers_is_a_clear_message() {
    let test = "a_socket_that_nobody_answers_is_a_clear_message";
    let Some(server) = pipewire(test) else {
        return;
    };
    drop(server);
    let absent = DriverConfig {
        server: Some(format!("/tmp/{}", name())),
        ..request()
    };
    let Err(refused) = jack::open_pipewire(&absent) else {
        panic!("nobody is there");
    };
    assert!(matches!(refused, DriverError::NoServer), "{refused:?}");
}

#[test]
fn pipewire_that_goes_away_ends_the_sound_and_gives_the_callback_back() {
    let test = "pipewire_that_goes_away_ends_the_sound_and_gives_the_callback_back";
    let Some(mut server) = pipewire(test) else {
        return;
    };
    let (callback, counts) = Counter::new(Frames(64));
    let running = server.open(&request(), jack::open).start(callback).unwrap();
    wait_for_blocks(&counts, 40);
    server.kill();
    wait_for("the end", || running.state() != DriverState::Playing);
    let callback: Box<dyn Any> = running.stop();
    assert!(callback.is::<Counter>());
}

#[test]
fn pipewire_that_changes_its_buffer_plays_on() {
    let test = "pipewire_that_changes_its_buffer_plays_on";
    let Some(server) = pipewire(test) else {
        return;
    };
    let (callback, counts) = Counter::new(Frames(64));
    let running = server.open(&request(), jack::open).start(callback).unwrap();
    wait_for_blocks(&counts, 40);
    for (buffer, latency) in [("128", 0), ("32", 32), ("1024", 32)] {
        let to = ["-n", "settings", "0", "clock.force-quantum", buffer];
        if !server.tool("pw-metadata", &to) {
            return skip(test, "needs pw-metadata (Debian: pipewire-bin)");
        }
        wait_for("the new latency", || {
            running.adapter_latency() == Frames(latency)
        });
        wait_for_blocks(&counts, 100);
        assert_eq!(running.state(), DriverState::Playing);
    }
    running.stop();
    assert_eq!(counts.wrong.load(Ordering::Relaxed), 0);
}

#[test]
fn another_sample_rate_ends_the_sound_and_says_so() {
    let test = "another_sample_rate_ends_the_sound_and_says_so";
    let Some(server) = pipewire(test) else {
        return;
    };
    let (callback, counts) = Counter::new(Frames(64));
    let running = server.open(&request(), jack::open).start(callback).unwrap();
    wait_for_blocks(&counts, 40);
    let to = ["-n", "settings", "0", "clock.force-rate", "44100"];
    if !server.tool("pw-metadata", &to) {
        return skip(test, "needs pw-metadata (Debian: pipewire-bin)");
    }
    wait_for("the end", || running.state() != DriverState::Playing);
    let DriverState::Ended { reason } = running.state() else {
        unreachable!();
    };
    assert!(
        reason.contains("48000") && reason.contains("44100"),
        "{reason}"
    );
    running.stop();
}
