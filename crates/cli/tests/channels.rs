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
        assert!(
            said.err.contains("plays 1 of the 2 channels of "),
            "{}",
            said.err
        );
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

#[test]
fn split_and_join_name_their_ports_by_number_or_by_loudspeaker() {
    let here = folder();
    // `split` takes the width of what enters, `join` has as many inputs as edges name.
    here.write(
        "s.toml",
        format!(
            "edges = [\"p -> apart -> both.in2\", \"apart.out2 -> both.1 \", \"both -> out\"]\n{PLAYER}{SINK}\
             [nodes.apart]\nkind = \"split\"\n[nodes.both]\nkind = \"join\"\n"
        ),
    );
    here.well("render s.toml -o out.wav --seconds 0.001");
    let heard = channels(&here.read("out.wav"));
    assert_eq!((heard[0][9], heard[1][9]), (0.5, 0.25));
    here.write(
        "l.toml",
        format!(
            "edges = [\"p -> apart\", \"apart.left -> both.surround_left\", \"both -> out\"]\n{PLAYER}{SINK}\
             [nodes.apart]\nkind = \"split\"\nlayout = \"stereo\"\n[nodes.both]\nkind = \"join\"\nlayout = \"5.1\"\n"
        ),
    );
    here.well("render l.toml -o out.wav --seconds 0.001");
    let heard = channels(&here.read("out.wav"));
    let frame: Vec<f32> = heard.iter().map(|channel| channel[9]).collect();
    assert_eq!(frame, [0.0, 0.0, 0.0, 0.0, 0.25, 0.0]);
}

#[test]
fn a_port_that_no_channel_has_is_reported_at_its_edge() {
    let here = folder();
    let apart =
        "[nodes.apart]\nkind = \"split\"\n[nodes.six]\nkind = \"split\"\nlayout = \"5.1 \"\n";
    here.write(
        "s.toml",
        format!("edges = [\"p -> apart -> out\", \"apart.3 -> out\", \"apart.out4 -> out\"]\n{PLAYER}{SINK}{apart}"),
    );
    let said = here.call("check s.toml");
    assert_eq!(said.code, Some(2));
    for part in [
        "`apart` has 2 outputs; there is no output 3",
        "`apart` has 2 outputs; none of them is called `out4`",
        "there is no layout \"5.1 \"",
        "did you mean `5.1`?",
    ] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
}

#[test]
fn a_matrix_mixes_as_many_channels_as_its_rows_say() {
    let here = folder();
    let matrix = "[nodes.down]\nkind = \"matrix\"\ngains = \"1 0; 0 1; 0.5 -0.5\"\ng2_2 = 2\n";
    here.write(
        "s.toml",
        format!("edges = [\"p -> down -> out\"]\n{PLAYER}{SINK}{matrix}"),
    );
    here.well("render s.toml -o out.wav --seconds 0.001");
    let heard = channels(&here.read("out.wav"));
    let frame: Vec<f32> = heard.iter().map(|channel| channel[9]).collect();
    assert_eq!(frame, [0.25, 1.0, -0.125]);
    here.write(
        "b.toml",
        format!(
            "edges = []\n{PLAYER}{SINK}{}",
            matrix.replace("0.5 -0.5", "0.5")
        ),
    );
    let said = here.call("check b.toml");
    assert!(
        said.err.contains("row 3 has 1 gain, and row 1 has 2"),
        "{}",
        said.err
    );
    assert!(said.err.contains("b.toml:9:9"), "{}", said.err);
}

#[test]
fn a_pan_with_a_layout_has_one_output_of_its_width() {
    let here = folder();
    let pan = "[nodes.tone]\nkind = \"osc\"\nfreq = 440\n[nodes.pan]\nkind = \"pan\"\nlayout = \"7.1.4\"\nazimuth = -90\n";
    here.write(
        "s.toml",
        format!("edges = [\"tone -> pan -> out\"]\n{pan}{SINK}"),
    );
    here.well("render s.toml -o out.wav --seconds 0.001");
    let heard = channels(&here.read("out.wav"));
    let playing: Vec<bool> = heard
        .iter()
        .map(|c| c.iter().any(|x| x.abs() > 1e-4))
        .collect();
    // `side_right` is the sixth channel.
    assert_eq!(playing.iter().position(|it| *it), Some(5));
    assert_eq!(
        (playing.len(), playing.iter().filter(|it| **it).count()),
        (12, 1)
    );
}

#[test]
fn a_configuration_of_jconvolver_is_a_node_with_the_channels_that_it_declares() {
    let here = folder();
    here.write("hall.conf", "/convolver/new 2 3 64 64\n/impulse/dirac 1 1 1 0\n/impulse/dirac 2 2 1 0\n/impulse/dirac 1 3 0.5 0\n");
    let hall = "[nodes.hall]\nkind = \"jconvolver\"\nfile = \"hall.conf\"\n";
    here.write(
        "s.toml",
        format!("edges = [\"p -> hall -> out\"]\n{PLAYER}{SINK}{hall}"),
    );
    let said = here.well("check s.toml");
    assert!(said.out.contains("3 output channels"), "{}", said.out);
    here.well("render s.toml -o out.wav --seconds 0.001");
    let heard = channels(&here.read("out.wav"));
    for (channel, wanted) in heard.iter().zip([0.25, 0.5, 0.125]) {
        assert!((channel[9] - wanted).abs() < 1e-6, "{}", channel[9]);
    }
}
