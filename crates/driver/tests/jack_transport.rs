//! JACK's transport against a real `jackd`: followed to the frame, commanded by another client, given bars and beats.
#![cfg(unix)]

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use common::{Server, is_here, skip, wait_for};
use divisi_driver::{
    AudioCallback, BarPosition, CallbackInfo, DriverConfig, HostTransportChange, jack,
};
use units::Frames;

/// Changes of the transport, each with the absolute frame of the callback's.
type Changes = Arc<Mutex<Vec<(u64, HostTransportChange)>>>;

struct Watch {
    frame: u64,
    block: u64,
    changes: Changes,
}

impl AudioCallback for Watch {
    fn process(&mut self, info: CallbackInfo, _: &[&[f32]], outputs: &mut [&mut [f32]]) {
        outputs.iter_mut().for_each(|output| output.fill(0.0));
        let mut changes = self.changes.lock().unwrap();
        for change in info.transport.changes() {
            changes.push((self.frame + u64::from(change.offset), *change));
        }
        self.frame += self.block;
    }
}

fn config(name: &str, block: u32) -> DriverConfig {
    DriverConfig {
        follow_transport: true,
        auto_connect: false,
        ..DriverConfig::new(name, Frames(block))
    }
}

fn watch(block: u32) -> (Box<Watch>, Changes) {
    let changes = Changes::default();
    let watch = Watch {
        frame: 0,
        block: block.into(),
        changes: changes.clone(),
    };
    (Box::new(watch), changes)
}

#[test]
fn the_transport_of_jackd_is_followed_to_the_frame_and_commanded() {
    let test = "the_transport_of_jackd_is_followed_to_the_frame_and_commanded";
    if !is_here("jackd") {
        return skip(test, "needs the Debian package jackd2");
    }
    for block in [64, 96, 512] {
        let server = Server::jackd(48_000, 128);
        let (callback, changes) = watch(block);
        let follows = server.open(&config("follows", block), jack::open);
        let follows = follows.start(callback).unwrap();
        let (callback, _) = watch(64);
        let commands = server.open(&config("commands", 64), jack::open);
        let commands = commands.start(callback).unwrap();
        let transport = commands.server_transport().unwrap();
        let last = || changes.lock().unwrap().last().map(|(_, change)| *change);
        transport.locate(100_000);
        wait_for("the position", || {
            last().is_some_and(|at| (at.position, at.is_rolling) == (100_000, false))
        });
        transport.start();
        wait_for("it to roll", || {
            last().is_some_and(|at| at.position >= 110_000 && at.is_rolling)
        });
        transport.locate(5_000);
        wait_for("the jump", || {
            last().is_some_and(|at| (20_000..90_000).contains(&at.position))
        });
        transport.stop();
        wait_for("the stop", || last().is_some_and(|at| !at.is_rolling));
        let server_transport = follows.server_transport().unwrap();
        follows.stop();
        commands.stop();
        // The client is gone: nothing happens.
        server_transport.start();
        check_unbroken(&changes.lock().unwrap());
    }
}

/// While it rolls, position goes on by a frame in a frame, but for the jump, where the server may stop for a moment.
fn check_unbroken(changes: &[(u64, HostTransportChange)]) {
    let rolls = changes
        .windows(2)
        .filter(|pair| pair[0].1.is_rolling && pair[1].1.is_rolling);
    let mut count = 0;
    let jumps = rolls.filter(|pair| {
        count += 1;
        pair[1].1.position.wrapping_sub(pair[0].1.position) != pair[1].0 - pair[0].0
    });
    assert!(jumps.count() <= 1);
    assert!(count > 20);
}

#[test]
fn jackd_asks_the_master_for_bars_and_beats() {
    let test = "jackd_asks_the_master_for_bars_and_beats";
    if !is_here("jackd") {
        return skip(test, "needs the Debian package jackd2");
    }
    let server = Server::jackd(48_000, 128);
    let mut master = server.open(&config("master", 128), jack::open);
    let asked = Arc::new(AtomicU32::new(0));
    let last = asked.clone();
    let timebase = move |frame: u64| {
        last.fetch_max(frame as u32, Ordering::Relaxed);
        BarPosition {
            beats: 4,
            unit: 4,
            bpm: 120.0,
            ..BarPosition::default()
        }
    };
    master.give_timebase(Box::new(timebase)).unwrap();
    let (callback, _) = watch(128);
    let master = master.start(callback).unwrap();
    master.server_transport().unwrap().start();
    wait_for("a second of bars", || {
        asked.load(Ordering::Relaxed) > 48_000
    });
    master.stop();
}
