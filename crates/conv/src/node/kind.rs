//! The kind `convolver` and its parameters.

use super::scheduler::{PINS, WORK};
use crate::MAX_PARTITION_SIZE;
use graph::{Kind, Param, ParamRange, PortSpec};

pub(super) const METHODS: &[&str] = &["nonuniform", "uniform", "direct"];
pub(super) const LATENCIES: &[&str] = &["none", "block"];
pub(super) const NORMALS: &[&str] = &["off", "peak", "energy"];

/// The kind `convolver`.
pub(super) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::audio("in")],
        outputs: vec![PortSpec::audio("out")],
        params: [response(), partition(), work()].concat(),
        duplicable: false,
        typical_ns: 3000,
        ..Kind::new(
            "convolver",
            "Plays its input through an impulse response of any length.",
        )
    }
}

fn param(name: &'static str, unit: &'static str, range: ParamRange, doc: &'static str) -> Param {
    Param {
        name,
        unit,
        range,
        live: false,
        doc,
    }
}

/// A number in a range, with its default.
fn number(least: f64, most: f64, default: f64) -> ParamRange {
    ParamRange::Number {
        min: least,
        max: most,
        default,
    }
}

/// Parameters of the response.
fn response() -> Vec<Param> {
    vec![
        param(
            "file",
            "",
            ParamRange::File(true),
            "The sound file with the impulse response.",
        ),
        param(
            "other",
            "",
            ParamRange::File(false),
            "Another one, of as many channels, to change to.",
        ),
        Param {
            live: true,
            ..param(
                "which",
                "",
                number(0.0, 1.0, 0.0),
                "Which of the two is heard: below 0.5 `file`, else `other`.",
            )
        },
        param(
            "fade",
            "s",
            number(0.0, 10.0, 0.05),
            "How long the change from one to the other takes.",
        ),
        param(
            "gain_db",
            "dB",
            number(-120.0, 60.0, 0.0),
            "What the response is multiplied by.",
        ),
        param(
            "predelay",
            "s",
            number(0.0, 10.0, 0.0),
            "Silence before the response.",
        ),
        param(
            "reverse",
            "",
            ParamRange::Flag,
            "Whether the response is played backwards.",
        ),
        param(
            "normalise",
            "",
            ParamRange::Choice(NORMALS),
            "How loud the response is made first: as it is, its loudest sample 1, or as loud as its input for noise.",
        ),
        param(
            "channels",
            "",
            number(1.0, 256.0, 1.0),
            "Channels of every port.",
        ),
    ]
}

/// Parameters of the partition. With the vector instructions, they are all that the bits depend on.
fn partition() -> Vec<Param> {
    vec![
        param(
            "method",
            "",
            ParamRange::Choice(METHODS),
            "Partitions of growing sizes, all as long as a block, or none at all: every product by itself.",
        ),
        param(
            "partition",
            "",
            ParamRange::Text,
            "`tuned`: as `divisi tune` found best on this machine, else by a built-in table; `built-in`: by that table, the same on every machine; or itself by count and size, as `7x64 6x256`.",
        ),
        param(
            "block",
            "frames",
            number(0.0, 4096.0, 0.0),
            "The internal block, a power of two; 0: the largest that the graph's block is made of.",
        ),
        param(
            "latency",
            "",
            ParamRange::Choice(LATENCIES),
            "None, or one internal block for less work at the peak.",
        ),
        param(
            "half",
            "frames",
            number(0.0, MAX_PARTITION_SIZE as f64, 0.0),
            "From partitions of so many frames on, the response's spectra in half precision: a quarter less to keep and to read, and what these partitions give is within -70 dB of what it should be. 0: none.",
        ),
    ]
}

/// Parameters of the scheduler. The bits do not depend on them.
fn work() -> Vec<Param> {
    vec![
        param(
            "work",
            "",
            ParamRange::Choice(WORK),
            "Who does the long partitions: the graph's workers beside it, threads of the node's own, each step a little without any thread, or the step in which they come.",
        ),
        param(
            "pin",
            "",
            ParamRange::Choice(PINS),
            "Of its own threads: one for each size of partition where the system wants, each of these on a core, or on every core one for each size for its share of the channels.",
        ),
        param(
            "priority",
            "",
            number(0.0, 98.0, 0.0),
            "Of its own threads, in real time: that of the shortest partitions, one less for each longer size. 0: 1 for the longest and one more for each shorter. Keep it below the sound card's.",
        ),
    ]
}
