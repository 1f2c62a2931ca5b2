//! Every session in `docs/sessions.md` is checked without a warning, and sounds. The pages of kinds are up to date.

mod common;

use common::{Folder, repository, sound};

/// The blocks of `text` that are sessions.
fn sessions(text: &str) -> Vec<&str> {
    let blocks = text.split("```toml\n").skip(1);
    blocks
        .map(|rest| rest.split("```").next().unwrap())
        .collect()
}

#[test]
fn every_session_that_teaches_the_format_sounds() {
    let here = Folder::new();
    let ramp: Vec<f32> = (0..4800).map(|i| i as f32 / 4800.0).collect();
    here.write("drums.wav", sound(48_000, &[&ramp, &ramp]));
    let text = std::fs::read_to_string(repository("docs/sessions.md")).unwrap();
    let sessions = sessions(&text);
    assert!(sessions.len() >= 8);
    for session in sessions {
        here.write("s.toml", session);
        let checked = here.well("check s.toml");
        assert_eq!(checked.err, "", "{session}");
        here.well("render s.toml -o s.wav --seconds 1 --workers 1 --json r.json");
        let (_, samples) = common::wav(&here.read("s.wav"));
        let is_loud = |bits: &u32| f32::from_bits(*bits).abs() > 0.01;
        assert!(samples.iter().any(is_loud), "it is silent:\n{session}");
        let is_full = |bits: &u32| f32::from_bits(*bits).abs() > 1.0;
        assert!(!samples.iter().any(is_full), "it clips:\n{session}");
    }
}

#[test]
fn the_pages_of_kinds_are_up_to_date() {
    let here = Folder::new();
    here.well("kinds --pages pages");
    let folder = repository("docs/kinds");
    let names = |folder: &std::path::Path| -> std::collections::BTreeSet<_> {
        let all = std::fs::read_dir(folder).unwrap();
        all.map(|entry| entry.unwrap().file_name()).collect()
    };
    let written = here.path("pages");
    assert_eq!(
        names(&folder),
        names(&written),
        "run `divisi kinds --pages docs/kinds`"
    );
    for name in names(&folder) {
        let [published, now] =
            [&folder, &written].map(|folder| std::fs::read_to_string(folder.join(&name)).unwrap());
        assert!(
            published == now,
            "{name:?}: run `divisi kinds --pages docs/kinds`"
        );
    }
}

#[test]
fn the_page_of_a_kind_states_latency_and_tail() {
    let here = Folder::new();
    let both = "Both at 48 kHz in blocks of 64 frames.";
    let stated = [
        ("gain", "Latency of the example: none. Tail: none."),
        ("osc", "Latency of the example: none. Tail: endless."),
        (
            "saturate",
            "Latency of the example: 64 frames (1.3 ms). Tail: 128 frames (2.7 ms).",
        ),
    ];
    for (kind, text) in stated {
        let page = here.well(&format!("kinds {kind}")).out;
        assert!(page.contains(&format!("{text} {both}\n")), "{page}");
    }
    // There is none without its file.
    let page = here.well("kinds sampler").out;
    assert!(!page.contains(both), "{page}");
}
