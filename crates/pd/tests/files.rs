//! Files that patches write and read, compared with those of the real Pd: what is printed, and every byte.

use divisi_pd::{PatchPlayer, SearchPath, load_patch};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Lines without those that differ between programs.
fn lines(text: &str) -> Vec<String> {
    let is_ours = |line: &&str| {
        let others = ["error", "verbose", "... ", "flags:", "-raw"];
        !line.is_empty() && !others.iter().any(|other| line.starts_with(other))
    };
    text.lines().filter(is_ours).map(str::to_owned).collect()
}

fn files_in(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("readable").path());
    let files = paths.filter(|path| path.is_file());
    files
        .map(|path| {
            let name = path.file_name().expect("a name").display().to_string();
            (name, std::fs::read(&path).expect("readable"))
        })
        .collect()
}

/// A folder of its own with the patch in it.
fn folder_with(patch: &Path, of: &str) -> (PathBuf, PathBuf) {
    let name = format!("divisi-pd-files-{}-{of}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let copy = folder.join(patch.file_name().expect("a name"));
    std::fs::copy(patch, &copy).expect("it can be copied");
    (folder, copy)
}

fn printed_by_pd(patch: &Path, ends_itself: bool) -> Option<Vec<String>> {
    let end = if ends_itself {
        &[][..]
    } else {
        &["-send", "pd quit"]
    };
    let output = Command::new("pd")
        .args(["-nogui", "-noprefs", "-batch", "-noaudio", "-stderr"])
        .args(end)
        .arg(patch)
        .current_dir(patch.parent().expect("a folder"))
        .stdin(Stdio::null())
        .output()
        .ok()?;
    Some(lines(&String::from_utf8_lossy(&output.stderr)))
}

fn printed_here(patch: &Path, writable: Option<&Path>, blocks: usize) -> (Vec<String>, u64) {
    let mut loaded = load_patch(patch, &SearchPath::only([])).expect("it is there");
    if let Some(folder) = writable {
        loaded.allow_write(folder);
    }
    let (mut player, not_yet) = PatchPlayer::new(&loaded, 44_100.0, 0, 2);
    assert!(not_yet.is_empty(), "{not_yet:?}");
    (0..blocks).for_each(|_| player.play(&[]));
    (
        lines(&player.take_console().join("\n")),
        loaded.lost_writes(),
    )
}

#[test]
fn patches_write_and_read_the_files_of_pd() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    for (name, blocks) in [
        ("soundfiler.pd", 1),
        ("texts.pd", 1),
        ("paths.pd", 1),
        ("handles.pd", 1),
        ("streams.pd", 15_000),
    ] {
        let (folder, copy) = folder_with(&source.join(name), "pd");
        let Some(expected) = printed_by_pd(&copy, blocks > 1) else {
            println!("SKIPPED: needs puredata-core");
            return;
        };
        let expected_files = files_in(&folder);
        std::fs::remove_dir_all(&folder).expect("the folder is ours");
        let (folder, copy) = folder_with(&source.join(name), "here");
        // `file` counts from the folder in which the program was started. Nothing else here does.
        std::env::set_current_dir(&folder).expect("the folder is there");
        let (found, _) = printed_here(&copy, Some(&folder), blocks);
        std::env::set_current_dir(std::env::temp_dir()).expect("the folder is there");
        let found_files = files_in(&folder);
        std::fs::remove_dir_all(&folder).expect("the folder is ours");
        assert_eq!(found, expected, "{name}");
        let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&found_files), names(&expected_files), "{name}");
        for (file, bytes) in &expected_files {
            let found = &found_files[file];
            let at = found.iter().zip(bytes).position(|(a, b)| a != b);
            assert!(
                found == bytes,
                "{file} differs: {} bytes and {}, first at {at:?}",
                found.len(),
                bytes.len()
            );
        }
        assert!(expected_files.len() >= 3, "{name}");
    }
}

#[test]
fn a_patch_that_may_not_write_loses_that_and_says_so() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/texts.pd");
    let (folder, copy) = folder_with(&source, "refused");
    let before = files_in(&folder);
    let (_, lost) = printed_here(&copy, None, 1);
    assert_eq!(files_in(&folder), before);
    assert_eq!(lost, 9);
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}

#[test]
fn a_long_file_is_read_in_pieces_and_sounds_whole() {
    let folder = std::env::temp_dir().join(format!("divisi-pd-long-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    // Five pieces and a bit, as a NeXT file of two channels of floats.
    let frames = 5 * 32_768 + 100;
    let sample = |at: usize| (at % 9973) as f32 / 9973.0 - 0.5;
    let mut bytes = b".snd".to_vec();
    for word in [28, frames as u32 * 8, 6, 44_100, 2, 0] {
        bytes.extend(word.to_be_bytes());
    }
    (0..frames * 2).for_each(|at| bytes.extend(sample(at).to_be_bytes()));
    std::fs::write(folder.join("long.snd"), bytes).expect("writable");
    let lines = "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X msg 0 0 open long.snd 77 \\, 1;\n#X obj 0 0 readsf~ 2;\n#X obj 0 0 dac~;\n\
                 #X obj 0 0 print end;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 2 0 3 0;\n#X connect 2 1 3 1;\n#X connect 2 2 4 0;\n";
    let patch = folder.join("p.pd");
    std::fs::write(&patch, lines).expect("writable");
    let loaded = load_patch(&patch, &SearchPath::only([])).expect("it is there");
    let (mut player, _) = PatchPlayer::new(&loaded, 44_100.0, 0, 2);
    let mut found = Vec::new();
    for _ in 0..(frames / 64 + 10) {
        player.play(&[]);
        let both = player.output(0).iter().zip(player.output(1));
        both.for_each(|(left, right)| found.extend([*left, *right]));
    }
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
    let expected = Vec::from_iter((77 * 2..frames * 2).map(sample));
    assert!(found[..expected.len()] == expected[..]);
    assert!(found[expected.len()..].iter().all(|sample| *sample == 0.0));
    assert_eq!(player.take_console(), ["end: bang"]);
}

#[test]
fn the_files_of_boxes_that_clear_removes_are_closed_and_whole() {
    let folder = std::env::temp_dir().join(format!("divisi-pd-cleared-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let file = folder.join("h.bin");
    let boxes = |class: &str| {
        format!(
            "\\; pd-st obj 0 0 r q \\; pd-st obj 0 0 file handle \\; pd-st obj 0 0 {class} \\; pd-st connect 0 0 1 0 \
             \\; q open {} a \\; q 65 \\; pd-st clear",
            file.display()
        )
    };
    let text = format!(
        "#N canvas 0 0 9 9 12;\n#N canvas 0 0 9 9 st 0;\n#X restore 0 0 pd st;\n#X obj 0 0 loadbang;\n#X msg 0 0 200;\n\
         #X obj 0 0 until;\n#X msg 0 0 {};\n#X connect 1 0 2 0;\n#X connect 2 0 3 0;\n#X connect 3 0 4 0;\n",
        boxes("file define d")
    );
    let patch = folder.join("cleared.pd");
    std::fs::write(&patch, text).expect("writable");
    let (lines, lost) = printed_here(&patch, Some(&folder), 4);
    assert_eq!((lines, lost), (Vec::new(), 0));
    assert_eq!(std::fs::read(&file).expect("it is there"), [65; 200]);
    std::fs::remove_dir_all(&folder).expect("ours");
}
