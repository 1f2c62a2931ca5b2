//! Convolvers in graphs: the bits are the same under every scheduler, and they are those of a convolution.

// The sanitizer's shadow of the memory cannot be held in place.
#![cfg(not(tsan))]

mod changes;
mod hosts;
mod measured;
mod ways;

use divisi_check::alloc::Counting;
use divisi_check::impulse_files::ImpulseFiles;
use divisi_check::test_bench::registry;
use graph::Graph;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Threads that play are counted together, so one test at a time has some.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The graph of a TOML session, without a mistake.
fn graph(text: &str) -> Graph {
    let reading = text::toml::read(text, registry().catalogue());
    assert!(!reading.has_errors(), "{:?}", reading.diagnostics);
    reading.session.graph
}

/// Three convolvers beside each other: short and long, one that changes, one with a block of latency, one cut by hand.
fn patch(folder: &ImpulseFiles) -> Graph {
    let one = folder.write("one.wav", 1, 9000, 1);
    let other = folder.write("other.wav", 1, 9000, 77);
    let short = folder.write("short.wav", 1, 5000, 5);
    graph(&format!(
        r#"edges = ["n -> a", "a -> s", "o -> b", "b -> t", "w -> c", "c -> u"]
        [nodes]
        n = {{ kind = "noise", seed = 3 }}
        o = {{ kind = "osc", freq = 333 }}
        w = {{ kind = "noise", seed = 9 }}
        a = {{ kind = "convolver", file = "{one}", other = "{other}", block = 64, fade = 0.01 }}
        b = {{ kind = "convolver", file = "{one}", latency = "block", block = 64, predelay = 0.01 }}
        c = {{ kind = "convolver", file = "{short}", block = 64, partition = "7x64 6x256 5x1024" }}
        s = {{ kind = "sink" }}
        t = {{ kind = "sink" }}
        u = {{ kind = "sink" }}"#
    ))
}
