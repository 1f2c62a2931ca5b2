//! Speed of mirrored rings beside other queues and bare memory, and cost of a firing of a process network.
//!
//! | part | measures | beside |
//! |---|---|---|
//! | `one-thread` | 64 floats in and out | `rtrb`, `slice-ring-buffer` |
//! | `filter` | an overlap-save filter whose windows overlap | `rtrb` and a copy, `slice-ring-buffer` |
//! | `round-trip` | 1280 bytes to another core and back | `rtrb`, a flag and the payload |
//! | `bulk` | 1 MB in and out | memcpy |
//! | `firing` | chains of nodes that pass one number on | one and two workers |
//!
//! All in one run, medians and quartiles of interleaved rounds. `--rounds N`, `--only PART`. `slice-ring-buffer` is not
//! maintained (RUSTSEC-2025-0044), so it is measured here and is no dependency of Divisi.

mod bulk;
mod compare;
mod filter;
mod firing;
mod one_thread;
mod round_trip;

fn main() {
    let rounds = after("--rounds").and_then(|n| n.parse().ok()).unwrap_or(61);
    let only = after("--only");
    let parts: [(&str, fn(usize)); 5] = [
        ("one-thread", one_thread::report),
        ("filter", filter::report),
        ("round-trip", round_trip::report),
        ("bulk", bulk::report),
        ("firing", firing::report),
    ];
    for (name, report) in parts {
        if only.as_deref().is_none_or(|only| only == name) {
            report(rounds);
        }
    }
}

fn after(option: &str) -> Option<String> {
    std::env::args().skip_while(|a| a != option).nth(1)
}
