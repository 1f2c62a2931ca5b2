//! Direct filters whose coefficients come from files, lists and designs.

mod kit;

use graph::ParamValue;
use kit::{Folder, Player, make, node};
use media::{SampleFormat, Writer};
use processor::{Mode, ProcessStatus, Tail};
use std::path::{Path, PathBuf};
use units::{Channels, Frames, SampleRate};

fn text(words: &str) -> ParamValue {
    ParamValue::Text(words.into())
}

fn path(path: &Path) -> ParamValue {
    text(path.to_str().unwrap())
}

fn number(n: f64) -> ParamValue {
    ParamValue::Number(n)
}

fn wav(path: PathBuf, hz: u32, channels: u16, frames: usize) -> PathBuf {
    let rate = SampleRate::new(hz).unwrap();
    let mut writer = Writer::create(&path, rate, Channels(channels), SampleFormat::F32).unwrap();
    let samples: Vec<f32> = (0..frames * usize::from(channels)).map(coef).collect();
    writer.write_interleaved(&samples).unwrap();
    writer.finish().unwrap();
    path
}

/// Sample `index` of a test file.
fn coef(index: usize) -> f32 {
    (index * 7919 % 1021) as f32 / 1024.0 - 0.25
}

/// Impulse response of the node on every channel.
fn response(params: &[(&str, ParamValue)], channels: usize, frames: usize) -> Vec<Vec<f32>> {
    let mut params = params.to_vec();
    params.push(("channels", number(channels as f64)));
    let mut player = Player::new(&node("fir", &params), 48_000, Mode::Offline);
    let mut output = vec![vec![0.0; frames]; channels];
    output.iter_mut().for_each(|channel| channel[5] = 1.0);
    let played = player.play(frames, 100, &output);
    played.into_iter().map(|c| c[5..].to_vec()).collect()
}

#[test]
fn the_response_is_the_file_on_every_channel_that_it_has() {
    let folder = Folder::new("fir-file");
    let mono = wav(folder.file("1.wav"), 48_000, 1, 300);
    let stereo = wav(folder.file("2.wav"), 48_000, 2, 300);
    let expected = |c: usize, width: usize| -> Vec<f32> {
        let output = (0..300).map(|i| coef(i * width + c));
        output.chain([0.0; 195]).collect()
    };
    let answer = response(&[("file", path(&mono))], 2, 500);
    assert_eq!(answer, [expected(0, 1), expected(0, 1)]);
    let answer = response(&[("file", path(&stereo))], 3, 500);
    let silent = vec![0.0; 495];
    assert_eq!(answer, [expected(0, 2), expected(1, 2), silent]);
}

#[test]
fn a_file_of_another_rate_keeps_its_gain() {
    let folder = Folder::new("fir-rate");
    let file = wav(folder.file("f.wav"), 24_000, 1, 400);
    let sum: f32 = (0..400).map(coef).sum();
    let answer = response(&[("file", path(&file))], 1, 1000);
    assert!(answer[0][850..].iter().all(|y| *y == 0.0));
    let output: f32 = answer[0].iter().sum();
    assert!((output - sum).abs() < 0.02 * sum, "{output} {sum}");
}

#[test]
fn files_that_are_no_filter_are_refused() {
    let folder = Folder::new("fir-refused");
    let long = wav(folder.file("long.wav"), 48_000, 1, 65_537);
    let empty = wav(folder.file("empty.wav"), 48_000, 1, 0);
    let none = folder.file("none.wav");
    for (file, why) in [
        (&long, "has 65537 frames"),
        (&empty, "is empty"),
        (&none, "cannot open"),
    ] {
        let node = node("fir", &[("file", path(file))]);
        let error = make(&node).err().expect("it is refused");
        assert_eq!(error.key, Some("file"));
        assert!(error.message.contains(why), "{}", error.message);
    }
    let most = wav(folder.file("most.wav"), 48_000, 1, 65_536);
    let node = node("fir", &[("file", path(&most))]);
    let player = Player::new(&node, 48_000, Mode::Offline);
    assert_eq!(player.processor.tail(), Tail::Frames(65_535));
}

#[test]
fn an_empty_list_of_coefficients_is_refused() {
    for empty in ["", " ", ", ,"] {
        let node = node("fir", &[("coefs", text(empty))]);
        let error = make(&node).err().expect("it is refused");
        assert_eq!(error.key, Some("coefs"));
        assert_eq!(error.message, "`coefs` has no number");
    }
}

#[test]
fn a_file_that_no_longer_exists_is_silence() {
    let folder = Folder::new("fir-gone");
    let file = wav(folder.file("f.wav"), 48_000, 1, 10);
    let node = node("fir", &[("file", path(&file))]);
    let processor = make(&node).unwrap();
    std::fs::remove_file(&file).unwrap();
    let mut player = Player::of(processor, &node, 48_000, Mode::Offline);
    assert_eq!(player.play(100, 50, &[vec![1.0; 100]]), [[0.0; 100]]);
}

#[test]
fn a_list_has_no_latency_and_a_design_half_its_length() {
    let answer = response(&[("coefs", text("0.5, -0.25 1"))], 1, 10);
    assert_eq!(answer, [[0.5, -0.25, 1.0, 0.0, 0.0]]);
    let late = |params: &[(&str, ParamValue)]| {
        let node = node("fir", params);
        let player = Player::new(&node, 48_000, Mode::Offline);
        player.processor.latency()
    };
    assert_eq!(late(&[("coefs", text("0.5, -0.25 1"))]), Frames(0));
    assert_eq!(late(&[("taps", number(101.0))]), Frames(50));
}

#[test]
fn after_its_tail_it_sleeps() {
    let node = node("fir", &[("coefs", text("1 1 1"))]);
    let mut player = Player::new(&node, 48_000, Mode::Offline);
    player.play(64, 64, &[vec![1.0; 64]]);
    assert_eq!(player.last, ProcessStatus::Continue);
    player.silent = true;
    let rest = player.play(192, 64, &[vec![0.0; 192]]);
    assert_eq!(rest[0][..3], [2.0, 1.0, 0.0]);
    assert_eq!(player.last, ProcessStatus::Sleep);
}

#[test]
fn a_highpass_with_an_even_number_of_taps_is_refused() {
    let params = [("taps", number(100.0)), ("mode", text("highpass"))];
    let error = make(&node("fir", &params)).err().expect("it is refused");
    assert_eq!(error.key, Some("taps"));
}
