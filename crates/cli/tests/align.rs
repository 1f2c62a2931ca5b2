//! Paths of different latencies: aligned, or not with `--compensate off`.

mod common;

use common::{Folder, wav};

const SAME: &str = "[network]\nedges = [\"in -> low -> out\"]\n[network.nodes]\nin = { kind = \"input\" }\n\
    low = { kind = \"gain\", piece = 100 }\nout = { kind = \"output\" }\n";

/// Noise through a network with a latency of 99 frames, and the same noise inverted.
const BOTH: &str = "edges = [\"hiss -> late -> out\", \"hiss -> over -> out\"]\n[nodes.hiss]\nkind = \"noise\"\n\
    [nodes.late]\nkind = \"network\"\nfile = \"same.toml\"\n[nodes.over]\nkind = \"gain\"\ngain = -1.0\n\
    [nodes.out]\nkind = \"sink\"\n";

fn folder() -> Folder {
    let here = Folder::new();
    here.write("same.toml", SAME);
    here.write("both.toml", BOTH);
    here
}

#[test]
fn a_path_through_a_network_cancels_its_inverse_unless_compensation_is_off() {
    let here = folder();
    for (scheduler, option, is_silent) in [
        ("sequential", "", true),
        ("cpfd --workers 2", "", true),
        ("stealing --workers 2", "--compensate on", true),
        ("stealing --workers 2", "--compensate off", false),
    ] {
        here.well(&format!(
            "render both.toml -o out.wav --seconds 0.1 --scheduler {scheduler} {option}"
        ));
        let (_, samples) = wav(&here.read("out.wav"));
        assert_eq!(samples.len(), 4800);
        let silent = samples.iter().all(|bits| f32::from_bits(*bits) == 0.0);
        assert_eq!(silent, is_silent, "{scheduler} {option}");
    }
}

#[test]
fn check_lists_delayed_edges() {
    let here = folder();
    let said = here.well("check both.toml --json found.json").out;
    assert!(said.contains("latency 99 frames\n"), "{said}");
    let line = "  over.1 -> out.1 is delayed by 99 frames\n";
    assert!(said.ends_with(line), "{said}");
    let found = here.json("found.json");
    assert_eq!(found["latency_frames"], 99);
    let expected = serde_json::json!([{ "from": "over.1", "to": "out.1", "frames": 99 }]);
    assert_eq!(found["delayed"], expected);
    // The latency of a designed filter is half of its length.
    here.write("fir.ag", "n = { kind: \"noise\", };\nf = { kind: \"fir\", taps: 33, };\ns = { kind: \"sink\", };\nn.1 -> f.1 -> s.1;\nn.1 -> s.1;\n");
    let said = here.well("check fir.ag").out;
    assert!(
        said.contains("  n.1 -> s.1 is delayed by 16 frames"),
        "{said}"
    );
}

#[test]
fn a_plan_has_an_aligner_unless_compensation_is_off() {
    let here = folder();
    let said = here.well("plan both.toml --cores 2 --costs kind").out;
    assert!(said.contains("over (aligner)"), "{said}");
    let said = here
        .well("plan both.toml --cores 2 --costs kind --compensate off")
        .out;
    assert!(!said.contains("(aligner)"), "{said}");
}

#[test]
fn draw_shows_by_how_much_an_edge_is_delayed() {
    let here = folder();
    here.well("draw both.toml -o both.dot");
    let drawn = String::from_utf8(here.read("both.dot")).unwrap();
    assert_eq!(drawn.matches("+99").count(), 1, "{drawn}");
    here.well("draw both.toml -o both.svg");
    let drawn = String::from_utf8(here.read("both.svg")).unwrap();
    assert!(drawn.contains("+99") && drawn.contains("frames by which an edge is delayed"));
    here.write(
        "plain.ag",
        "n = { kind: \"noise\", };\ns = { kind: \"sink\", };\nn.1 -> s.1;\n",
    );
    here.well("draw plain.ag -o plain.svg");
    let drawn = String::from_utf8(here.read("plain.svg")).unwrap();
    assert!(!drawn.contains("delayed"));
}
