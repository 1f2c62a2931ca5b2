//! The node `network` with a session of several rates, whatever file it names.

use processor::Registry;

/// Sound of `channels` channels through two branches, of which the one delays by what it must see at once; with nodes of several
/// rates.
pub fn arms(channels: usize) -> String {
    format!(
        "\
[network]
edges = [\"in -> split -> there -> back -> both -> out\", \"split.out2 -> long -> down -> up -> both.in2\"]
channels = {channels}
piece = 12
[network.nodes]
in = {{ kind = \"input\" }}
split = {{ kind = \"split\" }}
there = {{ kind = \"stft\", size = 128, hop = 32 }}
back = {{ kind = \"istft\", size = 128, hop = 32 }}
long = {{ kind = \"overlap_save\", taps = 193, cutoff = 0.2, size = 512 }}
down = {{ kind = \"decimate\", factor = 3 }}
up = {{ kind = \"interpolate\", factor = 3, piece = 5 }}
both = {{ kind = \"add\", piece = 7 }}
out = {{ kind = \"output\" }}
"
    )
}

/// Adds it.
pub fn add(registry: &mut Registry) {
    divisi::network::register_with(registry, |_| Ok(arms(1)));
}
