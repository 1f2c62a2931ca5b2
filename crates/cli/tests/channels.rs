//! Sounds of several channels from a file to the output, and what the program says where channels meet.

mod common;

use common::{Folder, sound, wav};

/// Samples of each channel of a WAV file.
fn channels(bytes: &[u8]) -> Vec<Vec<f32>> {
    let (count, samples) = wav(bytes);
    let channel = |c| samples.iter().skip(c).step_by(usize::from(count));
    let channel = |c| channel(c).map(|bits| f32::from_bits(*bits)).collect();
    (0..usize::from(count)).map(channel).collect()
}

/// A folder with `two.wav`: 64 frames of 0.25 and of 0.5.
fn folder() -> Folder {
    let here = Folder::new();
    here.write("two.wav", sound(48_000, &[&[0.25; 64], &[0.5; 64]]));
    here
}

const PLAYER: &str = "[nodes.p]\nkind = \"player\"\nfile = \"two.wav\"\n";
const SINK: &str = "[nodes.out]\nkind = \"sink\"\n";

#[test]
fn a_stereo_file_is_heard_on_both_channels_through_nodes_that_state_none() {
    let here = folder();
    here.write("hall.wav", sound(48_000, &[&[1.0], &[0.5]]));
    let hall = "[nodes.hall]\nkind = \"convolver\"\nfile = \"hall.wav\"\n";
    let tape = "[nodes.tape]\nkind = \"recorder\"\nfile = \"tape.wav\"\n";
    here.write(
        "s.toml",
        format!("edges = [\"p -> hall -> tape -> out\"]\n{PLAYER}{hall}{tape}{SINK}"),
    );
    let said = here.well("check s.toml");
    assert!(said.out.contains("2 output channels"), "{}", said.out);
    assert_eq!(said.err, "");
    here.well("render s.toml -o out.wav --seconds 0.001");
    let heard = channels(&here.read("out.wav"));
    let near = |sample: f32, wanted: f32| assert!((sample - wanted).abs() < 1e-6, "{sample}");
    assert_eq!(heard.len(), 2);
    near(heard[0][20], 0.25);
    near(heard[1][20], 0.25);
    assert_eq!(channels(&here.read("tape.wav")).len(), 2);
}

#[test]
fn many_channels_are_added_into_one_and_check_notes_it() {
    let here = folder();
    let sink = format!("{SINK}channels = 1\n");
    here.write("s.toml", format!("edges = [\"p -> out\"]\n{PLAYER}{sink}"));
    let said = here.well("check s.toml");
    assert!(
        said.err.contains("`out` adds 2 channels of `p` into one")
            && said.err.contains("s.toml:1:11"),
        "{}",
        said.err
    );
    here.well("render s.toml -o out.wav --seconds 0.001");
    assert_eq!(channels(&here.read("out.wav"))[0][20], 0.75);
}

#[test]
fn a_player_with_fewer_channels_than_its_file_says_so() {
    let here = folder();
    let player = format!("{PLAYER}channels = 1\n");
    here.write("s.toml", format!("edges = [\"p -> out\"]\n{player}{SINK}"));
    for command in ["check s.toml", "render s.toml -o out.wav --seconds 0.001"] {
        let said = here.well(command);
        let wanted = "`p` plays 1 of the 2 channels of its file";
        assert!(said.err.contains(wanted), "{}", said.err);
    }
}

#[test]
fn other_pairs_of_widths_are_refused_at_the_edge() {
    let here = folder();
    let sink = format!("{SINK}channels = 3\n");
    here.write("s.toml", format!("edges = [\"p -> out\"]\n{PLAYER}{sink}"));
    let said = here.call("check s.toml");
    assert_eq!(said.code, Some(2));
    assert!(
        said.err
            .contains("`p` sends 2 channels of sound, `out` takes 3")
            && said.err.contains("`matrix`"),
        "{}",
        said.err
    );
}

#[test]
fn sinks_take_the_output_channels_behind_each_other() {
    let here = folder();
    let more = "[nodes.mono]\nkind = \"sink\"\n[nodes.tone]\nkind = \"osc\"\nfreq = 440\n";
    here.write(
        "s.toml",
        format!("edges = [\"p -> out\", \"tone -> mono\"]\n{PLAYER}{SINK}{more}"),
    );
    here.well("render s.toml -o out.wav --seconds 0.001");
    let heard = channels(&here.read("out.wav"));
    assert_eq!(heard.len(), 3);
    // The nodes of a table are in the order of the text: `out` has channels 1 and 2.
    assert_eq!((heard[0][9], heard[1][9]), (0.25, 0.5));
    assert!(heard[2].iter().any(|sample| sample.abs() > 0.0));
}
