//! The kinds `convolver` and `jconvolver`, and their parameters.

use super::scheduler::{PINS, WORK};
use crate::MAX_PARTITION_SIZE;
use graph::{Kind, Param, PortSignal, PortSpec};

pub(super) const METHODS: &[&str] = &["nonuniform", "uniform", "direct"];
pub(super) const LATENCIES: &[&str] = &["none", "block"];
pub(super) const NORMALS: &[&str] = &["off", "peak", "energy"];

/// The kind `convolver`.
pub(super) fn kind() -> Kind {
    Kind {
        params: [response(), partition(), work()].concat(),
        duplicable: false,
        typical_ns: 3000,
        ..Kind::effect(
            "convolver",
            "Plays its input through an impulse response of any length.",
        )
    }
}

/// The kind `jconvolver`.
pub(super) fn jconvolver() -> Kind {
    let file = Param::file("file", true)
        .doc("The configuration of jconvolver; its sound files are found from its folder.");
    Kind {
        outputs: vec![PortSpec {
            signal: PortSignal::AsOutput,
            ..PortSpec::audio("out")
        }],
        params: [vec![file, gain_db(), predelay()], partition(), work()].concat(),
        duplicable: false,
        typical_ns: 3000,
        ..Kind::effect(
            "jconvolver",
            "Plays its inputs through the responses of a configuration of jconvolver.",
        )
    }
}

fn gain_db() -> Param {
    Param::number("gain_db", (-120.0, 60.0), 0.0)
        .unit("dB")
        .doc("Gain of the response.")
}

fn predelay() -> Param {
    Param::number("predelay", (0.0, 10.0), 0.0)
        .unit("s")
        .doc("Silence before the response.")
}

/// Parameters of the response.
fn response() -> Vec<Param> {
    vec![
        Param::file("file", true).doc("The sound file with the impulse response."),
        Param::file("other", false)
            .doc("A second response with the same number of channels, to switch to."),
        Param::number("which", (0.0, 1.0), 0.0)
            .doc("Response in use: below 0.5 `file`, else `other`.")
            .live(),
        Param::number("fade", (0.0, 10.0), 0.05)
            .unit("s")
            .doc("Duration of the crossfade between the two responses."),
        gain_db(),
        predelay(),
        Param::flag("reverse").doc("Reverses the response in time."),
        Param::choice("normalise", NORMALS).doc(
            "Level of the response before the gain: unchanged, its largest sample at 1, or unit \
             energy, which keeps the level of noise.",
        ),
        Param::number("channels", (1.0, 256.0), 1.0)
            .doc("Channels of every port; without it the widest of the file and of what enters."),
    ]
}

/// Parameters of the partition. With the vector instructions, they are all that the bits depend on.
fn partition() -> Vec<Param> {
    vec![
        Param::choice("method", METHODS).doc(
            "Partitions of growing sizes, all as long as a block, or none: direct convolution.",
        ),
        Param::text("partition").doc(
            "`tuned`: the best that `divisi tune` measured on this machine, else that of the \
             built-in table; `built-in`: that of the table, the same on every machine; or \
             counts and sizes, as `7x64 6x256`.",
        ),
        Param::number("block", (0.0, 4096.0), 0.0)
            .unit("frames")
            .doc("Internal block, a power of two; 0: the largest that divides the graph's block."),
        Param::choice("latency", LATENCIES)
            .doc("No latency, or one internal block, with less work at the peak."),
        Param::number("half", (0.0, MAX_PARTITION_SIZE as f64), 0.0)
            .unit("frames")
            .doc(
                "Smallest partition whose response spectra are stored in half precision: a quarter \
             less memory, and an error of -70 dB relative to the output of these partitions. 0: \
             none.",
            ),
    ]
}

/// Parameters of the scheduler. The bits do not depend on them.
fn work() -> Vec<Param> {
    vec![
        Param::choice("work", WORK).doc(
            "Scheduler of the long partitions: the graph's workers, threads of the node, a \
             share in each step without a thread, or all in the step in which they are due.",
        ),
        Param::choice("pin", PINS).doc(
            "Placement of the node's threads: one for each size of partition, placed by the \
             system; the same, each on a core; or on every core one for each size, for its \
             share of the channels.",
        ),
        Param::number("priority", (0.0, 98.0), 0.0).doc(
            "Real-time priority of the node's threads: that of the shortest partitions; each \
             longer size has one less. 0: 1 for the longest size and one more for each shorter \
             one. Keep it below the sound card's.",
        ),
    ]
}
