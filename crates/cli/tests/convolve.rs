//! `convolve` on real files: the right sound with its whole tail, by every method, or a refusal that says why.

mod common;

use common::{CallResult, Folder, sound, wav};

/// Decaying noise, different for each seed.
fn noise(seed: u64, frames: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let value = (state >> 40) as f32 / (1 << 23) as f32 - 1.0;
        value * (-(n as f32) / frames as f32 * 4.0).exp() * 0.2
    };
    (0..frames).map(next).collect()
}

/// The samples of every channel of a file.
fn read_channels(here: &Folder, name: &str) -> Vec<Vec<f32>> {
    let (channels, bits) = wav(&here.read(name));
    let width = usize::from(channels);
    let channel = |c: usize| bits.iter().skip(c).step_by(width);
    (0..width)
        .map(|c| channel(c).map(|bits| f32::from_bits(*bits)).collect())
        .collect()
}

/// Convolution by its definition.
fn direct_convolution(sound: &[f32], response: &[f32]) -> Vec<f64> {
    let mut all = vec![0.0; sound.len() + response.len() - 1];
    for (n, x) in sound.iter().enumerate() {
        for (k, h) in response.iter().enumerate() {
            all[n + k] += f64::from(*x) * f64::from(*h);
        }
    }
    all
}

/// Asserts that the error of `output` is 120 dB below `expected`, or less.
fn assert_close(output: &[f32], expected: &[f64]) {
    let below = error_db(output, expected);
    assert!(below <= -120.0, "{below} dB");
}

/// RMS of the error relative to `expected`, in dB.
fn error_db(output: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(output.len(), expected.len());
    let pairs = output.iter().zip(expected);
    let apart: f64 = pairs.map(|(a, b)| (f64::from(*a) - b).powi(2)).sum();
    let whole: f64 = expected.iter().map(|b| b * b).sum();
    10.0 * (apart / whole).log10()
}

/// A sound of two channels and one of one, responses of 1, 2, 3 and 4 channels.
fn folder() -> Folder {
    let here = Folder::new();
    let voice: Vec<Vec<f32>> = (1..=2).map(|seed| noise(seed, 3001)).collect();
    let irs: Vec<Vec<f32>> = (11..=14).map(|seed| noise(seed, 1500)).collect();
    let views: Vec<&[f32]> = irs.iter().map(Vec::as_slice).collect();
    here.write("mono.wav", sound(48_000, &[&voice[0]]));
    here.write("stereo.wav", sound(48_000, &[&voice[0], &voice[1]]));
    for channels in 1..=4 {
        here.write(
            &format!("ir{channels}.wav"),
            sound(48_000, &views[..channels]),
        );
    }
    here
}

#[test]
fn every_method_gives_the_direct_convolution_with_the_whole_tail() {
    let here = folder();
    let (voice, ir) = (
        read_channels(&here, "mono.wav"),
        read_channels(&here, "ir1.wav"),
    );
    let right = direct_convolution(&voice[0], &ir[0]);
    let partition: &[&str] = &["--partition", "7x64 5x256", "--realtime"];
    let cases: [&[&str]; 8] = [
        &[],
        &["--block", "1", "--method", "direct"],
        &["--block", "256", "--method", "uniform"],
        &["--block", "16", "--latency", "block"],
        &["--block", "4096"],
        &["--method", "direct", "--latency", "block", "--realtime"],
        &["--kernels", "scalar"],
        partition,
    ];
    for how in cases {
        let mut command = here.command("convolve mono.wav ir1.wav -o out.wav");
        let gave: CallResult = command.args(how).output().unwrap().into();
        assert_eq!(gave.code, Some(0), "{how:?}: {}", gave.err);
        let out = read_channels(&here, "out.wav");
        assert_eq!(out.len(), 1);
        assert_close(&out[0], &right);
    }
}

#[test]
fn half_precision_is_exact_to_seventy_decibels() {
    let here = folder();
    let (voice, ir) = (
        read_channels(&here, "mono.wav"),
        read_channels(&here, "ir1.wav"),
    );
    let right = direct_convolution(&voice[0], &ir[0]);
    let play = |half: &str| {
        here.well(&format!("convolve mono.wav ir1.wav -o out.wav {half}"));
        read_channels(&here, "out.wav").remove(0)
    };
    let error = |out: &[f32]| error_db(out, &right);
    assert!((-100.0..=-70.0).contains(&error(&play("--half 64"))));
    assert!(error(&play("--half 65536")) <= -120.0);
}

#[test]
fn a_node_reports_changes_to_its_response() {
    let here = folder();
    here.write("slow.wav", sound(44_100, &[&noise(5, 1000)]));
    let graph = |file: &str, more: &str| {
        format!(
            r#"p = {{ kind: "player", file: "mono.wav", }}; s = {{ kind: "sink", }};
            c = {{ kind: "convolver", file: "{file}", {more} }}; p.1 -> c.1 -> s.1;"#
        )
    };
    for (file, more, told) in [
        (
            "slow.wav",
            "",
            "`c`: slow.wav is at 44100 Hz and was resampled to 48000 Hz",
        ),
        ("ir1.wav", r#"partition: "6x256","#, "in its place"),
        ("ir1.wav", "", ""),
    ] {
        here.write("c.ag", graph(file, more));
        let gave = here.well("render c.ag -o out.wav --block 64 --json report.json");
        let notes = here.json("report.json")["notes"].clone();
        let notes = notes.as_array().unwrap();
        let notes: Vec<&str> = notes.iter().map(|note| note.as_str().unwrap()).collect();
        assert_eq!(notes.is_empty(), told.is_empty(), "{notes:?}");
        let is_told = notes.iter().any(|note| note.contains(told));
        assert!(is_told || told.is_empty(), "{notes:?}");
        for note in notes {
            assert!(gave.err.contains(&format!("note: {note}")), "{}", gave.err);
        }
    }
}

#[test]
fn the_real_time_path_gives_the_same_bits() {
    let here = folder();
    for how in [
        "--block 64",
        "--block 16",
        "--block 64 --latency block",
        "--block 32 --method uniform",
        "--block 128 --method direct",
    ] {
        for (voice, ir) in [("mono", "ir4"), ("stereo", "ir4"), ("stereo", "ir1")] {
            let call = format!("convolve {voice}.wav {ir}.wav {how}");
            here.well(&format!("{call} -o offline.wav --json offline.json"));
            for run in 0..3 {
                here.well(&format!("{call} -o live.wav --realtime --json live.json"));
                let (live, offline) = (here.json("live.json"), here.json("offline.json"));
                assert_eq!(
                    (&live["realtime"], &live["late"]),
                    (&true.into(), &0.into())
                );
                assert_eq!(live["partition"], offline["partition"]);
                assert!(
                    here.read("live.wav") == here.read("offline.wav"),
                    "{call}, run {run}"
                );
            }
        }
    }
}

#[test]
fn channels_go_where_the_help_says() {
    let here = folder();
    let (mono, stereo) = (
        read_channels(&here, "mono.wav"),
        read_channels(&here, "stereo.wav"),
    );
    let ir = read_channels(&here, "ir4.wav");
    let both = |left: Vec<f64>, right: Vec<f64>| -> Vec<f64> {
        left.iter().zip(right).map(|(a, b)| a + b).collect()
    };
    let cases: [(&str, &str, Vec<Vec<f64>>); 5] = [
        ("mono", "ir1", vec![direct_convolution(&mono[0], &ir[0])]),
        (
            "mono",
            "ir4",
            ir.iter()
                .map(|ir| direct_convolution(&mono[0], ir))
                .collect(),
        ),
        (
            "stereo",
            "ir1",
            stereo
                .iter()
                .map(|x| direct_convolution(x, &ir[0]))
                .collect(),
        ),
        (
            "stereo",
            "ir2",
            vec![
                direct_convolution(&stereo[0], &ir[0]),
                direct_convolution(&stereo[1], &ir[1]),
            ],
        ),
        (
            "stereo",
            "ir4",
            vec![
                both(
                    direct_convolution(&stereo[0], &ir[0]),
                    direct_convolution(&stereo[1], &ir[2]),
                ),
                both(
                    direct_convolution(&stereo[0], &ir[1]),
                    direct_convolution(&stereo[1], &ir[3]),
                ),
            ],
        ),
    ];
    for (voice, response, right) in cases {
        here.well(&format!("convolve {voice}.wav {response}.wav -o out.wav"));
        let out = read_channels(&here, "out.wav");
        assert_eq!(out.len(), right.len(), "{voice} {response}");
        for (out, right) in out.iter().zip(right) {
            assert_close(out, &right);
        }
    }
    let gave = here.call("convolve stereo.wav ir3.wav -o no.wav");
    assert_eq!(gave.code, Some(2));
    assert!(
        gave.err.contains("a configuration says which"),
        "{}",
        gave.err
    );
    assert!(!here.has("no.wav"));
}

#[test]
fn a_response_is_shaped_before_it_is_used() {
    let here = Folder::new();
    here.write("click.wav", sound(1000, &[&[1.0]]));
    here.write(
        "ir.wav",
        sound(1000, &[&[0.0, 0.0, 0.5, 0.0, -0.25, 0.0001, 0.0]]),
    );
    for (how, right) in [
        ("", vec![0.0, 0.0, 0.5, 0.0, -0.25, 0.0001, 0.0]),
        ("--trim -60", vec![0.5, 0.0, -0.25]),
        ("--trim -60 --reverse", vec![-0.25, 0.0, 0.5]),
        ("--range 2..5 --normalise peak", vec![1.0, 0.0, -0.5]),
        ("--range 2..3 --predelay 2", vec![0.0, 0.0, 0.5]),
        ("--range 2..3 --gain -20", vec![0.05]),
        ("--range 2..3 --normalise energy --gain 20", vec![10.0]),
        ("--range 2..5 --fade-out 1", vec![0.5, 0.0, -0.125]),
    ] {
        here.well(&format!(
            "convolve click.wav ir.wav -o out.wav --method direct {how}"
        ));
        let out = read_channels(&here, "out.wav");
        assert_eq!(out[0].len(), right.len(), "{how}: {:?}", out[0]);
        for (a, b) in out[0].iter().zip(&right) {
            let apart: f32 = a - b;
            assert!(apart.abs() < 1e-6, "{how}: {:?}", out[0]);
        }
    }
}

#[test]
fn a_configuration_is_convolved_as_it_is() {
    let here = folder();
    let config = "# Crossed.\n/convolver/new 2 2 256 2000\n\
        /impulse/read 1 2 0.5 10 0 0 1 ir4.wav\n\
        /impulse/read 2 1 1 0 100 200 4 ir4.wav\n\
        /impulse/dirac 2 1 1 0\n";
    here.write("crossed.conf", config);
    here.well("convolve stereo.wav crossed.conf -o out.wav --json out.json");
    let (stereo, ir) = (
        read_channels(&here, "stereo.wav"),
        read_channels(&here, "ir4.wav"),
    );
    let mut first = ir[3][100..300].to_vec();
    first[0] += 1.0;
    first.resize(1510, 0.0);
    let second: Vec<f32> = [0.0; 10]
        .into_iter()
        .chain(ir[0].iter().map(|x| x * 0.5))
        .collect();
    let out = read_channels(&here, "out.wav");
    assert_close(&out[0], &direct_convolution(&stereo[1], &first));
    assert_close(&out[1], &direct_convolution(&stereo[0], &second));
    let told = here.json("out.json");
    assert_eq!((&told["block"], &told["paths"]), (&256.into(), &2.into()));
}

#[test]
fn all_mistakes_of_a_configuration_are_shown_at_once() {
    let here = folder();
    let config = "/convolver/new 2 2 256 2000\n\
        /impulse/read 1 1 1 0 0 0 1 missing.wav\n\
        /impulse/raed 1 1 1 0 0 0 1 ir1.wav\n\
        /impulse/read 1 3 1 0 0 0 1 ir1.wav\n";
    here.write("wrong.conf", config);
    let gave = here.call("convolve stereo.wav wrong.conf -o out.wav");
    assert_eq!(gave.code, Some(2));
    for told in [
        "error: cannot open missing.wav: No such file",
        "\n --> wrong.conf:2:29",
        "error: there is no command `/impulse/raed`\n --> wrong.conf:3:1",
        "did you mean `/impulse/read`?",
        "error: there is no output 3: 2 are declared\n --> wrong.conf:4:17",
    ] {
        assert!(gave.err.contains(told), "{told} is not in\n{}", gave.err);
    }
    assert!(!here.has("out.wav"));
}

#[test]
fn a_response_at_another_rate_is_resampled_with_a_note() {
    let here = folder();
    let mut slow_ir = vec![0.0; 200];
    slow_ir[100] = 0.5;
    here.write("slow.wav", sound(24_000, &[&slow_ir]));
    let gave = here.well("convolve mono.wav slow.wav -o out.wav");
    assert!(
        gave.err.contains("24000 Hz and was resampled to 48000 Hz"),
        "{}",
        gave.err
    );
    // Resampling keeps the gain, which is one half here.
    let (voice, out) = (
        read_channels(&here, "mono.wav"),
        read_channels(&here, "out.wav"),
    );
    let sum = |samples: &[f32]| -> f64 { samples.iter().map(|x| f64::from(*x)).sum() };
    let ratio = sum(&out[0]) / sum(&voice[0]);
    assert!((ratio - 0.5).abs() < 1e-3, "{ratio}");
}

#[test]
fn invalid_input_is_refused_and_nothing_is_written() {
    let here = folder();
    here.write("empty.wav", sound(48_000, &[&[]]));
    here.write("nan.wav", sound(48_000, &[&[0.0, 1.0], &[0.0, f32::NAN]]));
    here.write("silent.wav", sound(48_000, &[&[0.0, 0.0]]));
    here.write("far.wav", sound(500, &[&[1.0]]));
    here.write("noise.wav", "this is no sound");
    here.write(
        "quad.conf",
        "/convolver/new 4 4 64 100\n/impulse/dirac 1 1 1 0\n",
    );
    here.write("empty.conf", "");
    for (call, word) in [
        ("mono.wav missing.wav -o out.wav", "missing.wav"),
        ("missing.wav ir1.wav -o out.wav", "missing.wav"),
        ("mono.wav noise.wav -o out.wav", "noise.wav"),
        ("mono.wav empty.wav -o out.wav", "empty.wav is empty"),
        ("empty.wav ir1.wav -o out.wav", "empty.wav is empty"),
        (
            "mono.wav nan.wav -o out.wav",
            "(NaN) in channel 2 at frame 1",
        ),
        ("mono.wav far.wav -o out.wav", "too far"),
        (
            "mono.wav silent.wav -o out.wav --normalise peak",
            "is silent",
        ),
        ("mono.wav silent.wav -o out.wav --trim -60", "is silent"),
        (
            "mono.wav ir1.wav -o out.wav --range 1000..9000",
            "no part from 1000 to 9000",
        ),
        (
            "mono.wav ir1.wav -o out.wav --range 9..1",
            "the first below the second",
        ),
        ("mono.wav ir1.wav -o out.wav --gain nan", "dB from"),
        ("mono.wav ir1.wav -o out.wav --predelay -1", "milliseconds"),
        ("mono.wav ir1.wav -o out.wav --block 48", "power of two"),
        ("mono.wav ir1.wav -o out.wav --block 8192", "power of two"),
        (
            "mono.wav ir1.wav -o out.wav --partition 7x64",
            "has 448 frames, and the response 1500",
        ),
        ("mono.wav ir1.wav -o out.wav --partition 64*7", "7x64 6x256"),
        (
            "mono.wav ir1.wav -o out.wav --method direct --partition 7x64",
            "cannot be used with",
        ),
        (
            "mono.wav ir1.wav -o out.wav --latency some",
            "none or block",
        ),
        ("mono.wav ir1.wav -o out.wav --kernels fast", "fast"),
        (
            "mono.wav ir1.wav -o out.wav --direction 30,0",
            "only a .sofa file",
        ),
        ("mono.wav ir1.wav -o mono.wav", "another file"),
        ("mono.wav ir1.wav -o ir1.wav", "another file"),
        ("mono.wav ir1.wav -o out.mp3", "ends in .wav"),
        ("mono.wav ir1.wav", "--output"),
        ("mono.wav quad.conf -o out.wav", "declares 4 inputs"),
        ("mono.wav empty.conf -o out.wav", "/convolver/new"),
        ("mono.wav quad.conf -o out.wav --reverse", "as it is"),
        (
            "mono.wav missing.conf -o out.wav",
            "cannot read missing.conf",
        ),
    ] {
        let before = (here.read("mono.wav"), here.read("ir1.wav"));
        let CallResult { code, err, .. } = here.call(&format!("convolve {call}"));
        assert_eq!(code, Some(2), "{call}\n{err}");
        assert!(
            err.contains(word) && !err.contains("panicked"),
            "{call}\n{err}"
        );
        assert!(!here.has("out.wav") && !here.has("out.mp3"), "{call}");
        assert!(
            (here.read("mono.wav"), here.read("ir1.wav")) == before,
            "{call}"
        );
    }
}

#[test]
fn an_invalid_sample_ends_the_output_before_it() {
    let here = folder();
    let mut broken = noise(1, 3000);
    broken[2000] = f32::INFINITY;
    here.write("broken.wav", sound(48_000, &[&broken]));
    let gave = here.call("convolve broken.wav ir1.wav -o out.wav --block 64");
    assert_eq!(gave.code, Some(2));
    let told = "broken.wav has an invalid sample (inf) in channel 1 at frame 2000; out.wav holds the first 1984 frames";
    assert!(gave.err.contains(told), "{}", gave.err);
    let loud = here.call("convolve mono.wav ir1.wav -o out.wav --gain 200");
    assert_eq!(loud.code, Some(0), "{}", loud.err);
    assert!(loud.err.contains("above full scale"), "{}", loud.err);
}

#[test]
fn a_write_error_ends_with_1() {
    let here = folder();
    for call in ["-o none/out.wav", "-o out.wav --json none/out.json"] {
        let gave = here.call(&format!("convolve mono.wav ir1.wav {call}"));
        assert_eq!(gave.code, Some(1), "{}", gave.err);
        assert!(gave.err.contains("cannot"), "{}", gave.err);
    }
}

#[test]
fn the_examples_give_no_warning_and_no_note() {
    let here = Folder::new();
    let examples = common::repository("examples");
    let (voice, folder) = (
        examples.join("media/loop.wav"),
        examples.join("convolution"),
    );
    for name in ["hall.conf", "wide.conf"] {
        let mut command = here.command("convolve -o out.wav");
        let gave: CallResult = command
            .args([&voice, &folder.join(name)])
            .output()
            .unwrap()
            .into();
        assert_eq!(gave.code, Some(0), "{name}: {}", gave.err);
        assert!(
            !gave.err.contains("warning") && !gave.err.contains("note"),
            "{}",
            gave.err
        );
        let out = read_channels(&here, "out.wav");
        std::fs::remove_file(here.path("out.wav")).unwrap();
        assert_eq!(out.len(), 2, "{name}");
        assert!(
            out.iter()
                .all(|channel| channel.iter().any(|x| x.abs() > 0.1))
        );
    }
}
