//! A session of two cells, with nodes beside them.

/// Tones in both cells and outside, which are summed.
pub(crate) const SESSION: &str = r#"
edges = ["tone -> low -> mix.in1 -> out", "hum -> wide -> mix.in2", "bell -> mix.in3"]
[nodes]
tone = { kind = "osc", freq = 440 }
hum = { kind = "osc", freq = 110 }
bell = { kind = "osc", freq = 880 }
low = { kind = "svf", freq = 900 }
wide = { kind = "gain", gain_db = -3 }
mix = { kind = "mixer", in = 3 }
out = { kind = "sink" }
[cell.filter]
nodes = ["low"]
[cell.hum]
nodes = ["hum", "wide"]
latency = 1
"#;
