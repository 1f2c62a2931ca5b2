//! Whole configurations, with real files in a folder of their own.

use super::{ParsedConfig, PortName, read};
use crate::response::ir::{IrLimit, Paths};
use graph::Diagnostic;
use media::{SampleFormat, Writer};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use units::{Channels, SampleRate};

/// A folder that is removed when it is dropped.
struct Folder(PathBuf);

impl Folder {
    /// With `two.wav`: two channels of four frames at 48 kHz, 1 2 3 4 and 10 20 30 40; and `slow.wav`, one channel of 200
    /// frames at 24 kHz.
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("divisi-jconvolver-{}-{number}", std::process::id());
        let here = Self(std::env::temp_dir().join(name));
        std::fs::create_dir_all(here.0.join("sub folder")).unwrap();
        here.sound(
            "two.wav",
            48_000,
            &[&[1.0, 2.0, 3.0, 4.0], &[10.0, 20.0, 30.0, 40.0]],
        );
        here.sound("sub folder/one.wav", 48_000, &[&[7.0]]);
        let mut slow = [0.0; 200];
        slow[100] = 1.0;
        here.sound("slow.wav", 24_000, &[&slow]);
        here
    }

    fn sound(&self, name: &str, hz: u32, channels: &[&[f32]]) {
        let (rate, width) = (
            SampleRate::new(hz).unwrap(),
            Channels(channels.len() as u16),
        );
        let mut writer = Writer::create(self.0.join(name), rate, width, SampleFormat::F32).unwrap();
        writer.write(channels).unwrap();
        writer.finish().unwrap();
    }

    fn read(&self, text: &str) -> ParsedConfig {
        let rate = SampleRate::new(48_000).unwrap();
        read(text, &self.0, rate, &IrLimit::default())
    }

    /// Paths of a text without errors.
    fn paths(&self, text: &str) -> Paths {
        let reading = self.read(text);
        assert_eq!(reading.diagnostics, []);
        reading.config.unwrap().paths
    }

    /// Errors of the lines behind a `/convolver/new 2 2 64 1000`, each with its line and column.
    fn wrong(&self, lines: &str) -> Vec<(u32, u32, String)> {
        let reading = self.read(&format!("/convolver/new 2 2 64 1000\n{lines}"));
        let errors = reading.diagnostics.iter().filter(|d| d.is_error());
        let errors = errors.map(|d| (d.span.line, d.span.column, d.message.clone()));
        let errors: Vec<_> = errors.collect();
        assert_eq!(reading.config.is_none(), !errors.is_empty());
        errors
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Input, output and taps of each path.
fn inputs_outputs_taps(paths: &Paths) -> Vec<(usize, usize, Vec<f32>)> {
    let all = paths.paths().iter();
    all.map(|p| (p.path.input, p.path.output, p.taps().into_owned()))
        .collect()
}

const NEW: &str = "/convolver/new 2 2 64 1000\n";

#[test]
fn a_configuration_is_read_whole() {
    let here = Folder::new();
    let text = "# A reverb.\n\
        \n\
        /cd \"sub folder\"\n\
        #                in  out   partition    maxsize   density\n\
        /convolver/new    2    3        256       4096        1.0\r\n\
        /input/name 1 In.L system:capture_1\n\
        /output/name 3 'the rear'\n\
        /impulse/read  1 1  0.5  2  0  0  1  one.wav\n\
        /cd .\n\
        \t/impulse/read  2 3  1    0  1  2  2  two.wav   # a comment\n";
    let reading = here.read(text);
    assert_eq!(reading.diagnostics, []);
    let config = reading.config.unwrap();
    assert_eq!((config.min_partition_size, config.max_frames), (256, 4096));
    assert_eq!((config.paths.inputs(), config.paths.outputs()), (2, 3));
    let named = |name: &str, connect: Option<&str>| PortName {
        name: Some(name.into()),
        connect: connect.map(Into::into),
    };
    assert_eq!(
        config.inputs,
        [named("In.L", Some("system:capture_1")), PortName::default()]
    );
    assert_eq!(config.outputs[2], named("the rear", None));
    let expected = [(0, 0, vec![0.0, 0.0, 3.5]), (1, 2, vec![20.0, 30.0])];
    assert_eq!(inputs_outputs_taps(&config.paths), expected);
}

#[test]
fn responses_of_one_pair_are_added() {
    let here = Folder::new();
    let text = "/impulse/read 1 1 1 0 0 0 1 two.wav\n\
        /impulse/read 1 1 2 3 0 2 2 two.wav\n\
        /impulse/dirac 1 1 -1 1\n";
    let paths = here.paths(&format!("{NEW}{text}"));
    assert_eq!(
        inputs_outputs_taps(&paths),
        [(0, 0, vec![1.0, 1.0, 3.0, 24.0, 40.0])]
    );
}

#[test]
fn a_copy_has_what_is_added_later_and_the_same_memory() {
    let here = Folder::new();
    let text = "/impulse/dirac 1 1 1 0\n/impulse/copy 2 2 1 1\n/impulse/copy 1 2 2 2\n/impulse/dirac 1 1 1 2\n";
    let paths = here.paths(&format!("{NEW}{text}"));
    let taps = vec![1.0, 0.0, 1.0];
    let expected = [(0, 0, taps.clone()), (0, 1, taps.clone()), (1, 1, taps)];
    assert_eq!(inputs_outputs_taps(&paths), expected);
    let first = &paths.paths()[0].path.ir;
    assert!(
        paths
            .paths()
            .iter()
            .all(|path| Arc::ptr_eq(&path.path.ir, first))
    );
}

#[test]
fn one_channel_of_a_file_read_twice_is_one_piece_of_memory() {
    let here = Folder::new();
    let whole = "/impulse/read 1 1 1 0 0 0 2 two.wav\n/impulse/read 2 2 0.5 9 0 4 2 two.wav\n";
    let part = "/impulse/read 1 1 1 0 1 2 2 two.wav\n/impulse/read 2 2 1 0 1 2 2 two.wav\n";
    for text in [whole, part] {
        let paths = here.paths(&format!("{NEW}{text}"));
        assert!(Arc::ptr_eq(
            &paths.paths()[0].path.ir,
            &paths.paths()[1].path.ir
        ));
    }
}

#[test]
fn a_hilbert_response_is_centred_on_its_delay() {
    let here = Folder::new();
    let paths = here.paths(&format!("{NEW}/impulse/hilbert 1 1 0.5 100 64\n"));
    let [(0, 0, taps)] = &inputs_outputs_taps(&paths)[..] else {
        panic!()
    };
    assert_eq!((taps.len(), taps[100]), (68 + 64, 0.0));
    assert_eq!((taps[99] > 0.3, taps[101]), (true, -taps[99]));
}

#[test]
fn every_mistake_is_found_at_once_and_has_its_place() {
    let here = Folder::new();
    let wrong = here.wrong(
        "/impulse/raed 1 1 1 0 0 0 1 two.wav\n\
         hello\n\
         /impulse/read 1 1 1 0 0 0 1 none.wav\n\
         /impulse/read 3 1 1 0 0 0 3 two.wav\n\
         /impulse/read 1 1 loud 0 0 0 1 two.wav\n\
         /impulse/read 1 1 1 0 0\n\
         /impulse/read 1 1 1 0 4 0 1 two.wav\n\
         /impulse/dirac 1 1 1 1000\n\
         /impulse/hilbert 1 1 1 31 64\n\
         /impulse/copy 1 2 2 1\n\
         /impulse/copy 1 2 1 2\n\
         /convolver/new 2 2 64 1000\n\
         /input/name 0 a\n\
         /impulse/read 1 1 1 0 0 0 1 \"two.wav",
    );
    let expected = [
        (2, 1, "no command `/impulse/raed`"),
        (3, 1, "begins with a command"),
        (4, 29, "none.wav"),
        (5, 15, "no input 3: 2 are declared"),
        (5, 27, "no channel 3: it has 2"),
        (6, 19, "not `loud`"),
        (7, 24, "lacks its length"),
        (8, 23, "ends before frame 4"),
        (9, 22, "holds 1000 frames"),
        (10, 24, "do not fit before frame 31"),
        (11, 1, "nothing yet between input 2 and output 1"),
        (12, 1, "copy of itself"),
        (13, 1, "second `/convolver/new`"),
        (14, 13, "from 1 to 256, not `0`"),
        (15, 29, "never end"),
    ];
    assert_eq!(wrong.len(), expected.len(), "{wrong:#?}");
    for ((line, column, message), (at_line, at_column, word)) in wrong.iter().zip(expected) {
        assert_eq!((*line, *column), (at_line, at_column), "{message}");
        assert!(message.contains(word), "{message}, not {word}");
    }
}

#[test]
fn a_convolver_must_be_declared_first_and_be_valid() {
    let here = Folder::new();
    for (text, line, word) in [
        ("", 0, "no `/convolver/new`"),
        ("# nothing\n", 0, "no `/convolver/new`"),
        (
            "/impulse/dirac 1 1 1 0\n/impulse/dirac 1 1 1 0\n",
            1,
            "must come before",
        ),
        (
            "/convolver/new 2 2 64 1000\n",
            1,
            "the output would be silent",
        ),
        ("/convolver/new 0 2 64 1000\n", 1, "number of inputs"),
        (
            "/convolver/new 2 1000000000 64 1000\n",
            1,
            "number of outputs",
        ),
        ("/convolver/new 2 2 100 1000\n", 1, "power of two"),
        ("/convolver/new 2 2 64 0\n", 1, "maximum length"),
        ("/convolver/new 2 2 64 99999999999\n", 1, "maximum length"),
        ("/convolver/new 2 2 64 1000 7\n", 1, "density"),
    ] {
        let reading = here.read(text);
        assert!(reading.config.is_none(), "{text}");
        let first = &reading.diagnostics[0];
        assert_eq!(first.span.line, line, "{text}");
        assert!(first.message.contains(word), "{first:?}");
    }
}

#[test]
fn what_is_too_long_is_cut_with_a_warning() {
    let here = Folder::new();
    let text = "/convolver/new 1 1 64 3\n/impulse/read 1 1 1 1 0 0 1 two.wav\n";
    let reading = here.read(text);
    let [warning] = &reading.diagnostics[..] else {
        panic!("{:?}", reading.diagnostics)
    };
    assert!(!warning.is_error() && warning.message.contains("the last 2 are cut"));
    assert_eq!(
        inputs_outputs_taps(&reading.config.unwrap().paths),
        [(0, 0, vec![0.0, 1.0, 2.0])]
    );
    let short = format!("{NEW}/impulse/read 1 1 1 0 2 9 1 two.wav\n");
    let reading = here.read(&short);
    assert!(
        reading.diagnostics[0]
            .message
            .contains("the rest is silence")
    );
    assert_eq!(
        inputs_outputs_taps(&reading.config.unwrap().paths),
        [(0, 0, vec![3.0, 4.0])]
    );
}

#[test]
fn a_file_at_another_rate_is_resampled_with_a_warning() {
    let here = Folder::new();
    let reading = here.read(&format!("{NEW}/impulse/read 1 1 1 0 50 100 1 slow.wav\n"));
    let [warning] = &reading.diagnostics[..] else {
        panic!("{:?}", reading.diagnostics)
    };
    assert!(warning.message.contains("24000 Hz"), "{warning:?}");
    let paths = reading.config.unwrap().paths;
    let taps = paths.paths()[0].taps();
    assert_eq!(taps.len(), 200);
    let loudest = taps.iter().fold(0.0_f32, |max, tap| max.max(*tap));
    assert_eq!(taps[100], loudest);
    let sum: f32 = taps.iter().sum();
    assert!((sum - 1.0).abs() < 1e-3, "{sum}");
}

#[test]
fn samples_that_are_no_numbers_are_refused_where_the_file_is_named() {
    let here = Folder::new();
    here.sound("nan.wav", 48_000, &[&[0.0, f32::NAN], &[0.0, 0.0]]);
    here.sound("empty.wav", 48_000, &[&[]]);
    let wrong =
        here.wrong("/impulse/read 1 1 1 0 0 0 2 nan.wav\n/impulse/read 1 1 1 0 0 0 1 empty.wav\n");
    assert_eq!((wrong[0].0, wrong[0].1), (2, 29));
    assert!(
        wrong[0]
            .2
            .contains("nan.wav has no number (NaN) in channel 1 at frame 1")
    );
    assert!(wrong[1].2.contains("empty.wav is empty"), "{wrong:?}");
}

#[test]
fn the_limit_holds_for_all_responses_of_a_text_together() {
    let here = Folder::new();
    let many = "/impulse/hilbert 1 1 1 32768 65536\n".repeat(100);
    let limit = IrLimit {
        samples: 1_000_000,
        ..IrLimit::default()
    };
    let text = format!("/convolver/new 1 1 64 1000000\n{many}");
    let reading = read(text, &here.0, SampleRate::new(48_000).unwrap(), &limit);
    let errors = reading.diagnostics.iter().filter(|d| d.is_error()).count();
    assert_eq!(errors, 100 - 15);
    assert!(reading.config.is_none());
}

#[test]
fn unread_words_are_warned_of_and_copies_need_no_more_memory() {
    let here = Folder::new();
    let reading = here.read(&format!(
        "{NEW}/impulse/read 1 1 1 0 0 0 1 two.wav three.wav\n"
    ));
    assert_eq!(reading.diagnostics.len(), 1);
    assert!(!reading.diagnostics[0].is_error() && reading.config.is_some());
    let wrong = here.wrong(
        "/impulse/dirac 1 1 1 0\n/impulse/copy 2 2 1 1\n/impulse/dirac 2 2 1 0\n/impulse/copy 1 1 2 2\n",
    );
    assert_eq!((wrong[0].0, wrong[1].0), (4, 5), "{wrong:?}");
}

#[test]
fn comments_may_be_in_any_alphabet() {
    let here = Folder::new();
    let mut text = b"# Gr\xfc\xdfe\n/convolver/new 2 2 64 1000\n/impulse/dirac 1 1 1 0\n".to_vec();
    let rate = SampleRate::new(48_000).unwrap();
    assert!(
        read(&text, &here.0, rate, &IrLimit::default())
            .config
            .is_some()
    );
    text.extend(b"/impulse/read 1 1 1 0 0 0 1 Gr\xfc\xdfe.wav\n");
    let found = read(&text, &here.0, rate, &IrLimit::default()).diagnostics;
    assert_eq!(
        (found[0].span.line, found[0].message.as_str()),
        (4, "this is not UTF-8")
    );
}

#[test]
fn any_bytes_are_read_without_a_panic() {
    let here = Folder::new();
    let words = [
        "/convolver/new",
        "/impulse/read",
        "/impulse/dirac",
        "/impulse/hilbert",
        "/impulse/copy",
        "/cd",
        "/input/name",
        "1",
        "2",
        "64",
        "-1",
        "4294967295",
        "1e9",
        "nan",
        "two.wav",
        "\"",
        "'",
        "\\",
        "\n",
        "\n",
        " ",
        "\t",
        "#",
        "é",
        "\0",
    ];
    let mut seed = 1_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize
    };
    for _ in 0..300 {
        let text: Vec<&str> = (0..60)
            .flat_map(|_| [words[next() % words.len()], " "])
            .collect();
        let reading = here.read(&text.concat());
        let is_wrong = reading.diagnostics.iter().any(Diagnostic::is_error);
        assert_eq!(reading.config.is_none(), is_wrong);
    }
}

#[test]
fn delays_count_towards_the_limit() {
    let folder = Folder::new();
    let read = |text: &str, limit| {
        let rate = SampleRate::new(48_000).unwrap();
        let reading = read(text, &folder.0, rate, &limit);
        let errors: Vec<_> = reading
            .diagnostics
            .into_iter()
            .filter(Diagnostic::is_error)
            .collect();
        (reading.config.is_some(), errors)
    };
    let far = "/convolver/new 1 1 64 4294967295\n/impulse/dirac 1 1 1 4294967294";
    let (is_read, errors) = read(far, IrLimit::default());
    assert!(!is_read && errors.len() == 1, "{errors:?}");
    assert_eq!((errors[0].span.line, errors[0].span.column), (2, 22));
    assert!(
        errors[0].message.contains("67108864 are the most"),
        "{errors:?}"
    );
    let two = "/convolver/new 1 2 64 1000\n/impulse/dirac 1 1 1 500\n/impulse/dirac 1 2 1 501";
    let samples = 1001;
    assert!(
        read(
            two,
            IrLimit {
                samples,
                ..IrLimit::default()
            }
        )
        .0
    );
    let samples = 1000;
    let (is_read, errors) = read(
        two,
        IrLimit {
            samples,
            ..IrLimit::default()
        },
    );
    assert!(!is_read && errors[0].span.line == 3, "{errors:?}");
}
