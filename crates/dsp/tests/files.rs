//! Players and recorders with real files: the sound is that of the file, in time.

mod kit;

use graph::ParamValue;
use kit::{Folder, Player, make, node};
use media::{SampleFormat, Writer};
use processor::{Mode, ProcessStatus, Tail};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Channels, SampleRate};

fn text(path: &Path) -> ParamValue {
    ParamValue::Text(path.to_str().unwrap().into())
}

fn number(n: f64) -> ParamValue {
    ParamValue::Number(n)
}

/// Sample `frame` of channel `c` of every test file: no two alike for long.
fn sample(frame: usize, c: usize) -> f32 {
    ((frame * 7919 + c * 104_729) % 65_521) as f32 / 65_536.0 - 0.5
}

fn wav(path: PathBuf, channels: usize, frames: usize) -> PathBuf {
    let rate = SampleRate::new(48_000).unwrap();
    let samples: Vec<f32> = (0..frames)
        .flat_map(|frame| (0..channels).map(move |c| sample(frame, c)))
        .collect();
    let width = Channels(channels as u16);
    let mut writer = Writer::create(&path, rate, width, SampleFormat::F32).unwrap();
    writer.write_interleaved(&samples).unwrap();
    writer.finish().unwrap();
    path
}

/// A file too large to be held in memory: it is streamed.
fn long(folder: &Folder) -> PathBuf {
    wav(folder.file("long.wav"), 8, 300_000)
}

fn expected(range: std::ops::Range<usize>, c: usize) -> Vec<f32> {
    range.map(|frame| sample(frame, c) + 0.0).collect()
}

#[test]
fn a_file_plays_from_its_first_frame_to_its_last() {
    let folder = Folder::new("whole");
    let file = wav(folder.file("f.wav"), 2, 1000);
    let node = node(
        "player",
        &[("file", text(&file)), ("channels", number(2.0))],
    );
    let mut player = Player::new(&node, 48_000, Mode::Live);
    assert_eq!(player.processor.length(), Some(1000));
    assert_eq!(player.processor.tail(), Tail::Frames(1000));
    let output = player.play(1200, 100, &[]);
    for (c, output) in output.iter().enumerate() {
        assert_eq!(output[..1000], expected(0..1000, c));
        assert_eq!(output[1000..], [0.0; 200]);
    }
    assert_eq!((player.last, player.late), (ProcessStatus::Sleep, 0));
}

#[test]
fn mono_plays_on_all_channels_and_missing_channels_are_silent() {
    let folder = Folder::new("mapped");
    let mono = wav(folder.file("1.wav"), 1, 64);
    let stereo = wav(folder.file("2.wav"), 2, 64);
    let output = |file: &Path| {
        let node = node("player", &[("file", text(file)), ("channels", number(3.0))]);
        Player::new(&node, 48_000, Mode::Offline).play(64, 64, &[])
    };
    assert_eq!(output(&mono), vec![expected(0..64, 0); 3]);
    let silent = vec![0.0; 64];
    assert_eq!(
        output(&stereo),
        [expected(0..64, 0), expected(0..64, 1), silent]
    );
}

#[test]
fn a_looped_part_starts_at_its_time_and_repeats_after_its_period() {
    let folder = Folder::new("part");
    let file = wav(folder.file("f.wav"), 1, 5000);
    let node = node(
        "player",
        &[
            ("file", text(&file)),
            ("loop", ParamValue::Flag(true)),
            ("at", number(0.01)),
            ("start", number(0.02)),
            ("length", number(0.005)),
            ("period", number(0.0125)),
        ],
    );
    let mut player = Player::new(&node, 48_000, Mode::Offline);
    assert_eq!(player.processor.length(), None);
    let output = &player.play(480 + 1200, 33, &[])[0];
    let part = expected(960..1200, 0);
    let rest = vec![0.0; 360];
    let want = [vec![0.0; 480], part.clone(), rest.clone(), part, rest].concat();
    assert_eq!(*output, want);
}

#[test]
fn fades_are_linear_in_blocks_of_any_size() {
    let folder = Folder::new("fades");
    let file = wav(folder.file("f.wav"), 1, 1000);
    let params = [
        ("file", text(&file)),
        ("start", number(0.01)),
        ("length", number(0.005)),
        ("fade_in", number(4.0 / 48_000.0)),
        ("fade_out", number(10.0 / 48_000.0)),
    ];
    let node = node("player", &params);
    let output = |block| {
        Player::new(&node, 48_000, Mode::Offline)
            .play(300, block, &[])
            .remove(0)
    };
    let want: Vec<f32> = (0..240_u16)
        .map(|n| {
            let rise = ((f32::from(n) + 0.5) / 4.0).min(1.0);
            let fall = ((f32::from(239 - n) + 0.5) / 10.0).min(1.0);
            sample(480 + usize::from(n), 0) * (rise * fall)
        })
        .collect();
    assert_eq!(output(64)[..240], want);
    assert_eq!(output(1), output(64));
}

#[test]
fn a_long_file_streams_without_a_gap_and_around_its_end() {
    let folder = Folder::new("streams");
    let file = long(&folder);
    let params = [
        ("file", text(&file)),
        ("channels", number(2.0)),
        ("loop", ParamValue::Flag(true)),
        ("start", number(1.0)),
    ];
    let mut player = Player::new(&node("player", &params), 48_000, Mode::Offline);
    assert_eq!(player.background.len(), 1);
    let output = player.play(400_000, 511, &[]);
    for (c, output) in output.iter().enumerate() {
        let want = [expected(48_000..300_000, c), expected(48_000..196_000, c)].concat();
        assert!(*output == want, "channel {c}");
    }
    assert_eq!(player.late, 0);
}

#[test]
fn files_in_memory_and_streamed_files_give_the_same_bits_at_any_rate_and_block() {
    let folder = Folder::new("same");
    let (long, short) = (long(&folder), wav(folder.file("s.wav"), 2, 300_000));
    let output = |file: &Path, block| {
        let node = node("player", &[("file", text(file)), ("channels", number(2.0))]);
        let mut player = Player::new(&node, 44_100, Mode::Offline);
        let held = player.background.is_empty();
        let output = player.play(20_000, block, &[]);
        (held, output)
    };
    let (held, want) = output(&short, 512);
    assert!(held);
    for block in [512, 1, 77] {
        let (held, streamed) = output(&long, block);
        // The two files differ in channels that are not played.
        assert!(!held && streamed == want, "blocks of {block}");
    }
}

#[test]
fn a_stream_that_is_reset_or_loaded_is_exact_offline() {
    let folder = Folder::new("reset");
    let file = long(&folder);
    let node = node("player", &[("file", text(&file))]);
    let mut player = Player::new(&node, 48_000, Mode::Offline);
    player.play(70_000, 512, &[]);
    let mut state = Vec::new();
    player.processor.save(&mut state);
    player.processor.reset();
    assert!(player.play(100_000, 512, &[])[0] == expected(0..100_000, 0));
    player.processor.load(&state).unwrap();
    assert!(player.play(1000, 512, &[])[0] == expected(70_000..71_000, 0));
    assert_eq!(player.late, 0);
}

#[test]
fn live_late_frames_are_silent_and_later_ones_keep_their_time() {
    let folder = Folder::new("late");
    let file = long(&folder);
    let node = node("player", &[("file", text(&file))]);
    let mut player = Player::new(&node, 48_000, Mode::Live);
    let output = &player.play(60_000, 500, &[])[0];
    // The frames that were read ahead, then silence.
    let ahead = output.iter().rposition(|s| *s != 0.0).unwrap() + 1;
    assert!((48_000..60_000).contains(&ahead));
    assert_eq!(output[..ahead], expected(0..ahead, 0));
    assert_eq!(player.late, (60_000 - ahead as u32).div_ceil(500));
    player.run_background();
    let late = player.late;
    player.play(12_000, 500, &[]);
    player.run_background();
    let at = 72_000;
    player.late = late;
    assert_eq!(player.play(2000, 500, &[])[0], expected(at..at + 2000, 0));
    assert_eq!(player.late, late);
}

/// Plays `frames` frames as a server that freewheels does, while another thread does the background work.
fn freewheel(player: &mut Player, frames: usize, output: &[Vec<f32>]) -> Vec<Vec<f32>> {
    player.freewheels = true;
    let mut tasks = std::mem::take(&mut player.background);
    let stop = AtomicBool::new(false);
    let played = std::thread::scope(|scope| {
        let disk = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for task in &mut tasks {
                    task.poll();
                }
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        let played = player.play(frames, 500, output);
        stop.store(true, Ordering::Relaxed);
        disk.join().unwrap();
        played
    });
    player.background = tasks;
    played
}

#[test]
fn freewheeling_a_player_waits_for_the_disk_and_a_recorder_for_room() {
    let folder = Folder::new("freewheels");
    let file = long(&folder);
    let stream = node("player", &[("file", text(&file))]);
    let mut player = Player::new(&stream, 48_000, Mode::Live);
    assert!(freewheel(&mut player, 150_000, &[])[0] == expected(0..150_000, 0));
    player.processor.reset();
    assert!(freewheel(&mut player, 60_000, &[])[0] == expected(0..60_000, 0));
    assert_eq!(player.late, 0);

    let take = folder.file("take.wav");
    let params = [("file", text(&take)), ("channels", number(2.0))];
    let mut recorder = Player::new(&node("recorder", &params), 48_000, Mode::Live);
    let sound = noise(250_000);
    freewheel(&mut recorder, 250_000, &sound);
    recorder.background.iter_mut().for_each(|task| task.end());
    assert_eq!(recorder.late, 0);
    assert!(recorded(&take) == sound);
}

#[test]
fn live_a_reset_stream_is_silent_until_the_disk_answers_and_then_in_time() {
    let folder = Folder::new("answers");
    let file = long(&folder);
    let node = node("player", &[("file", text(&file))]);
    let mut player = Player::new(&node, 48_000, Mode::Live);
    player.play(5000, 500, &[]);
    player.processor.reset();
    // Background work before the ring is empty changes nothing.
    player.run_background();
    let output = &player.play(10_000, 500, &[])[0];
    assert!(output.iter().all(|s| *s == 0.0));
    player.run_background();
    let output = &player.play(3000, 500, &[])[0];
    let back = output.iter().position(|s| *s != 0.0).unwrap();
    assert!(back < 1500, "{back}");
    assert!(output[back..] == expected(10_000 + back..13_000, 0));
}

#[test]
fn a_missing_or_unreadable_file_is_reported_with_its_name() {
    let error = make(&node("player", &[])).err().unwrap();
    assert_eq!(error.key, Some("file"));
    let error = make(&node(
        "player",
        &[("file", ParamValue::Text("no/such.wav".into()))],
    ));
    let error = error.err().unwrap();
    assert!(error.message.contains("no/such.wav"), "{error}");
    let missing = ParamValue::Text("no/such/folder/take.wav".into());
    let error = make(&node("recorder", &[("file", missing)])).err().unwrap();
    assert!(error.message.contains("make its folder first"), "{error}");
}

fn noise(frames: usize) -> Vec<Vec<f32>> {
    (5..7).map(|c| expected(0..frames, c)).collect()
}

fn recorded(file: &Path) -> Vec<Vec<f32>> {
    let mut reader = media::open(file).unwrap();
    let mut planes = vec![vec![0.0; reader.frames().unwrap() as usize]; 2];
    let mut slices: Vec<&mut [f32]> = planes.iter_mut().map(Vec::as_mut_slice).collect();
    reader.read(&mut slices).unwrap();
    planes
}

#[test]
fn a_recorder_keeps_every_frame_and_passes_it_on() {
    let folder = Folder::new("recorder");
    let file = folder.file("take.wav");
    let node = node(
        "recorder",
        &[("file", text(&file)), ("channels", number(2.0))],
    );
    assert!(
        make(&node).is_ok() && !file.exists(),
        "making creates nothing"
    );
    let mut player = Player::new(&node, 48_000, Mode::Offline);
    let sound = noise(300_000);
    assert!(player.play(300_000, 333, &sound) == sound);
    player.background.iter_mut().for_each(|task| task.end());
    assert!(recorded(&file) == sound);
    assert_eq!(player.late, 0);
}

#[test]
fn live_frames_that_the_disk_does_not_take_become_silence_of_the_same_length() {
    let folder = Folder::new("gap");
    let file = folder.file("take.wav");
    let node = node(
        "recorder",
        &[("file", text(&file)), ("channels", number(2.0))],
    );
    let mut player = Player::new(&node, 48_000, Mode::Live);
    let sound = noise(100_000);
    let part = |range: std::ops::Range<usize>| -> Vec<Vec<f32>> {
        sound.iter().map(|c| c[range.clone()].to_vec()).collect()
    };
    // Room for 96000 frames: the last 4000 of the first call are lost, and half of the last one.
    player.play(100_000, 500, &sound);
    assert_eq!(player.late, 8);
    assert_eq!(player.gauge.get(), 4000.0);
    player.run_background();
    player.play(20_000, 500, &part(0..20_000));
    player.processor.reset();
    player.background.iter_mut().for_each(|task| task.end());
    let kept = recorded(&file);
    for c in 0..2 {
        assert_eq!(kept[c].len(), 120_000);
        assert!(kept[c][..96_000] == sound[c][..96_000]);
        // Silence in place of the lost frames; then the rest is in its place.
        let back = kept[c][96_000..].iter().position(|s| *s != 0.0).unwrap() + 96_000;
        assert!((100_000..105_000).contains(&back), "{back}");
        assert!(kept[c][back..] == sound[c][back - 100_000..20_000]);
    }
}

#[test]
fn an_earlier_take_is_untouched_until_the_first_block() {
    let folder = Folder::new("untouched");
    let file = folder.file("take.wav");
    std::fs::write(&file, "precious").unwrap();
    let node = node("recorder", &[("file", text(&file))]);
    let mut player = Player::new(&node, 48_000, Mode::Live);
    player.run_background();
    player.background.iter_mut().for_each(|task| task.end());
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");
    assert!(player.log.problems().is_empty());
}

#[test]
fn a_disk_that_refuses_a_recording_and_frames_that_are_lost_are_in_the_log() {
    let folder = Folder::new("refuses");
    let full = folder.file("full.wav");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let params = [("file", text(&full)), ("channels", number(2.0))];
    let mut player = Player::new(&node("recorder", &params), 48_000, Mode::Offline);
    player.play(5000, 500, &noise(5000));
    player.background.iter_mut().for_each(|task| task.end());
    let problems = player.log.problems();
    assert!(problems.len() == 1 && problems[0].is_loss(), "{problems:?}");
    assert!(problems[0].message().contains("full.wav"), "{problems:?}");
    assert!(player.late > 0);

    let slow = folder.file("slow.wav");
    let params = [("file", text(&slow)), ("channels", number(2.0))];
    let mut player = Player::new(&node("recorder", &params), 48_000, Mode::Live);
    player.play(100_000, 500, &noise(100_000));
    player.background.iter_mut().for_each(|task| task.end());
    let problems = player.log.problems();
    assert!(problems.len() == 1 && problems[0].is_loss(), "{problems:?}");
    assert!(
        problems[0].message().contains("4000 frames"),
        "{problems:?}"
    );

    let nowhere = folder.file("folder.wav");
    let recorder = node("recorder", &[("file", text(&nowhere))]);
    let processor = make(&recorder).unwrap();
    std::fs::create_dir(&nowhere).unwrap();
    let player = Player::of(processor, &recorder, 48_000, Mode::Live);
    assert!(player.log.problems()[0].message().contains("folder"));
}

#[test]
fn a_damaged_file_plays_to_the_damage_and_is_in_the_log() {
    let folder = Folder::new("damaged");
    let whole = wav(folder.file("whole.wav"), 2, 300_000);
    let bytes = std::fs::read(whole).unwrap();
    let cut = folder.file("cut.wav");
    for frames in [1000, 250_000] {
        std::fs::write(&cut, &bytes[..104 + 8 * frames]).unwrap();
        let node = node("player", &[("file", text(&cut))]);
        let mut player = Player::new(&node, 48_000, Mode::Offline);
        let played = player.play(2000, 500, &[]).remove(0);
        let there = frames.min(2000);
        assert_eq!(played[..there], expected(0..there, 0));
        assert!(played[there..].iter().all(|sample| *sample == 0.0));
        let problems = player.log.problems();
        assert!(
            problems.len() == 1 && !problems[0].is_loss(),
            "{problems:?}"
        );
    }
}

#[test]
fn a_recorder_that_is_set_up_again_begins_a_new_file() {
    let folder = Folder::new("again");
    let file = folder.file("take.wav");
    let node = node(
        "recorder",
        &[("file", text(&file)), ("channels", number(2.0))],
    );
    let mut first = Player::new(&node, 48_000, Mode::Offline);
    first.play(5000, 500, &noise(5000));
    let mut second = Player::new(&node, 48_000, Mode::Offline);
    let sound = noise(700);
    second.play(700, 500, &sound);
    second.background.iter_mut().for_each(|task| task.end());
    first.background.iter_mut().for_each(|task| task.end());
    assert_eq!(recorded(&file), sound);
}

#[test]
fn a_live_input_is_the_device_and_silent_where_it_ends() {
    let params = [("channel", number(2.0)), ("channels", number(2.0))];
    let mut player = Player::new(&node("input", &params), 48_000, Mode::Live);
    let device = noise(100);
    let output = player.play(100, 10, &device);
    assert_eq!(output, [device[1].clone(), vec![0.0; 100]]);
    assert_eq!(player.play(10, 10, &[]), vec![vec![0.0; 10]; 2]);
}

#[test]
fn a_stream_that_is_reset_again_and_again_never_plays_old_frames() {
    let folder = Folder::new("stress");
    let file = long(&folder);
    let params = [("file", text(&file)), ("loop", ParamValue::Flag(true))];
    let mut player = Player::new(&node("player", &params), 48_000, Mode::Live);
    let mut disk = player.background.remove(0);
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                disk.poll();
            }
        });
        // Also after a panic: otherwise the disk's thread would never end.
        let _end = SetOnDrop(&done);
        for round in 0..200 {
            // Until the sound begins, and some blocks more; sometimes a reset comes before that.
            let mut left = if round % 5 == 0 { 3 } else { usize::MAX };
            let mut frame = 0;
            while left > 0 {
                let sound = &player.play(64, 64, &[])[0];
                for got in sound {
                    let want = sample(frame % 300_000, 0);
                    assert!(
                        *got == want || *got == 0.0,
                        "round {round}, frame {frame}: {got}"
                    );
                    frame += 1;
                }
                if sound[63] == 0.0 {
                    // The player waits for its disk, which could not catch up otherwise.
                    std::thread::sleep(std::time::Duration::from_micros(200));
                } else {
                    left = left.min(1 + round % 40);
                }
                left -= 1;
            }
            player.processor.reset();
        }
    });
}

struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
