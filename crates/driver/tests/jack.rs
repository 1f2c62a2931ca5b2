//! The JACK driver against a real `jackd` with its dummy driver.
#![cfg(unix)]

mod common;

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use common::{Counter, Server, is_here, name, skip, wait_for, wait_for_blocks};
use divisi_driver::{
    AudioCallback, CallbackInfo, DriverConfig, DriverError, DriverState, jack, open_auto,
};
use units::Frames;

fn request(block: u32) -> DriverConfig {
    DriverConfig {
        inputs: 2,
        ..DriverConfig::new("divisi-test", Frames(block))
    }
}

/// A server, unless there is none here.
fn jackd(test: &str, rate: u32, buffer: u32) -> Option<Server> {
    if is_here("jackd") {
        return Some(Server::jackd(rate, buffer));
    }
    skip(test, "needs the Debian package jackd2");
    None
}

#[test]
fn jackd_asks_for_blocks() {
    let Some(server) = jackd("jackd_asks_for_blocks", 48_000, 128) else {
        return;
    };
    let opened = server.open(&request(64), jack::open);
    let facts = opened.info();
    assert!(facts.server.starts_with("jackd "), "{facts:?}");
    assert_eq!((facts.name, facts.rate.hz()), ("jack", 48_000));
    assert_eq!((facts.buffer_size.0, facts.adapter_latency.0), (128, 0));
    let (callback, counts) = Counter::new(Frames(64));
    let running = opened.start(callback).unwrap();
    wait_for_blocks(&counts, 200);
    assert_eq!(running.state(), DriverState::Playing);
    let callback: Box<dyn Any> = running.stop();
    assert!(callback.is::<Counter>());
    assert_eq!(counts.wrong.load(Ordering::Relaxed), 0);
}

#[test]
fn a_block_that_does_not_divide_the_buffer_plays_later_by_the_stated_latency() {
    let test = "a_block_that_does_not_divide_the_buffer_plays_later_by_the_stated_latency";
    let Some(server) = jackd(test, 44_100, 96) else {
        return;
    };
    let opened = server.open(&request(64), jack::open);
    assert_eq!(opened.info().rate.hz(), 44_100);
    assert_eq!(opened.info().adapter_latency, Frames(32));
    let (callback, counts) = Counter::new(Frames(64));
    let running = opened.start(callback).unwrap();
    wait_for_blocks(&counts, 200);
    assert_eq!(running.adapter_latency(), Frames(32));
    running.stop();
    assert_eq!(counts.wrong.load(Ordering::Relaxed), 0);
}

#[test]
fn the_output_of_one_client_reaches_another_without_a_gap() {
    let test = "the_output_of_one_client_reaches_another_without_a_gap";
    let Some(server) = jackd(test, 48_000, 160) else {
        return;
    };
    let apart = |name: &str| DriverConfig {
        name: name.to_owned(),
        auto_connect: false,
        ..request(64)
    };
    let (callback, _) = Counter::new(Frames(64));
    let plays = server.open(&apart("plays"), jack::open);
    let plays = plays.start(callback).unwrap();
    let (listener, counts) = Counter::new(Frames(64));
    let hears = server.open(&apart("hears"), jack::open);
    let hears = hears.start(listener).unwrap();
    if !server.tool("jack_connect", &["plays:out_1", "hears:in_1"]) {
        return skip(
            test,
            "needs jack_connect (Debian: jackd2, later jack-example-tools)",
        );
    }
    wait_for("an unbroken second", || {
        counts.ramp.load(Ordering::Relaxed) >= 48_000
    });
    hears.stop();
    plays.stop();
}

#[test]
fn a_server_that_is_absent_is_a_clear_message() {
    let test = "a_server_that_is_absent_is_a_clear_message";
    // One that is there, so that no other test's client is.
    let Some(_there) = jackd(test, 48_000, 128) else {
        return;
    };
    let absent = DriverConfig {
        server: Some(name()),
        ..request(64)
    };
    let Err(refused) = jack::open(&absent) else {
        panic!("nobody is there");
    };
    assert!(matches!(refused, DriverError::NoServer), "{refused:?}");
    let chosen = open_auto(&absent).unwrap();
    assert_eq!(chosen.driver.info().name, "clock");
    assert!(chosen.message.contains("no JACK"), "{}", chosen.message);
}

#[test]
fn a_server_that_goes_away_ends_the_sound_and_gives_the_callback_back() {
    let test = "a_server_that_goes_away_ends_the_sound_and_gives_the_callback_back";
    let Some(mut server) = jackd(test, 48_000, 128) else {
        return;
    };
    let (callback, counts) = Counter::new(Frames(64));
    let running = server.open(&request(64), jack::open);
    let running = running.start(callback).unwrap();
    wait_for_blocks(&counts, 20);
    server.kill();
    wait_for("the end", || running.state() != DriverState::Playing);
    let DriverState::Ended { reason } = running.state() else {
        unreachable!();
    };
    assert!(reason.contains("went away"), "{reason}");
    let callback = running.stop();
    // As the message says: it plays again when the server does.
    server.again();
    let running = server.open(&request(64), jack::open);
    let running = running.start(callback).unwrap();
    wait_for_blocks(&counts, 20);
    let callback: Box<dyn Any> = running.stop();
    assert!(callback.is::<Counter>());
}

#[test]
fn a_server_that_changes_its_buffer_plays_on() {
    let test = "a_server_that_changes_its_buffer_plays_on";
    let Some(server) = jackd(test, 48_000, 128) else {
        return;
    };
    let (callback, counts) = Counter::new(Frames(64));
    let running = server.open(&request(64), jack::open);
    let running = running.start(callback).unwrap();
    wait_for_blocks(&counts, 20);
    // From whole blocks to odd ones the latency rises; it does not fall again, that would cut the sound.
    for (buffer, latency) in [("96", 32), ("1024", 32), ("32", 32)] {
        if !server.tool("jack_bufsize", &[buffer]) {
            return skip(
                test,
                "needs jack_bufsize (Debian: jackd2, later jack-example-tools)",
            );
        }
        wait_for_blocks(&counts, 40);
        assert_eq!(running.state(), DriverState::Playing);
        assert_eq!(running.adapter_latency(), Frames(latency));
    }
    running.stop();
    assert_eq!(counts.wrong.load(Ordering::Relaxed), 0);
}

#[test]
fn a_driver_that_never_starts_leaves_the_server() {
    let test = "a_driver_that_never_starts_leaves_the_server";
    let Some(server) = jackd(test, 48_000, 128) else {
        return;
    };
    drop(server.open(&request(64), jack::open));
    let again = server.open(&request(64), jack::open);
    assert_eq!(again.info().buffer_size, Frames(128));
}

#[test]
fn a_second_server_at_the_same_time_is_refused() {
    let test = "a_second_server_at_the_same_time_is_refused";
    let Some(server) = jackd(test, 48_000, 128) else {
        return;
    };
    let opened = server.open(&request(64), jack::open);
    let second = DriverConfig {
        server: Some(name()),
        ..request(64)
    };
    let Err(refused) = jack::open(&second) else {
        panic!("one library, one server");
    };
    assert!(matches!(refused, DriverError::Refused(_)), "{refused:?}");
    drop(opened);
}

#[test]
fn xruns_that_the_server_reports_reach_the_callback() {
    /// Takes too long until it hears of an xrun.
    struct Late(Arc<AtomicU32>);
    impl AudioCallback for Late {
        fn process(&mut self, info: CallbackInfo, _: &[&[f32]], outputs: &mut [&mut [f32]]) {
            outputs.iter_mut().for_each(|output| output.fill(0.0));
            if self.0.fetch_add(info.xruns, Ordering::Relaxed) == 0 {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
    let test = "xruns_that_the_server_reports_reach_the_callback";
    let Some(server) = jackd(test, 48_000, 128) else {
        return;
    };
    let received = Arc::new(AtomicU32::new(0));
    let running = server.open(&request(64), jack::open);
    let running = running.start(Box::new(Late(received.clone()))).unwrap();
    wait_for("an xrun", || received.load(Ordering::Relaxed) > 0);
    assert_eq!(running.state(), DriverState::Playing);
    running.stop();
}

#[test]
fn a_callback_that_panics_ends_the_sound_and_leaves_the_server_alone() {
    struct PanickingCallback;
    impl AudioCallback for PanickingCallback {
        fn process(&mut self, _: CallbackInfo, _: &[&[f32]], _: &mut [&mut [f32]]) {
            // Without the hook's message.
            std::panic::resume_unwind(Box::new("boom"));
        }
    }
    let test = "a_callback_that_panics_ends_the_sound_and_leaves_the_server_alone";
    let Some(server) = jackd(test, 48_000, 128) else {
        return;
    };
    let running = server.open(&request(64), jack::open);
    let running = running.start(Box::new(PanickingCallback)).unwrap();
    wait_for("the end", || running.state() != DriverState::Playing);
    let callback: Box<dyn Any> = running.stop();
    assert!(callback.is::<PanickingCallback>());
    drop(server.open(&request(64), jack::open));
}
