//! The patches that Debian ships with Pd: they load without a crash, and what they lack is known; the examples of sound play.

use divisi_pd::{PatchPlayer, SearchPath, load_patch};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Folders of the packages `puredata-doc` and `puredata-extra`.
const FOLDERS: [&str; 2] = ["/usr/share/puredata/doc", "/usr/lib/puredata/extra"];

fn patches(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            patches(&path, found);
        } else if path.extension().is_some_and(|e| e == "pd") {
            found.push(path);
        }
    }
}

#[test]
fn every_patch_of_debian_loads() {
    let mut found = Vec::new();
    for folder in FOLDERS {
        patches(Path::new(folder), &mut found);
    }
    if found.is_empty() {
        println!("SKIPPED: needs puredata-doc and puredata-extra");
        return;
    }
    found.sort();
    let search = SearchPath::new([]);
    let mut messages = BTreeSet::new();
    for path in &found {
        let loaded = load_patch(path, &search).expect("it can be read");
        messages.extend(loaded.diagnostics.into_iter().map(|d| d.message));
    }
    // Externals that the patches speak of, and a `clone` in a text about it.
    let expected = [
        "`clone` needs the name of an abstraction and a number",
        "there is no object `dspobj~`",
        "there is no object `obj1`",
        "there is no object `obj2`",
        "there is no object `obj3`",
        "there is no object `obj4`",
        "there is no object `obj5`",
    ];
    assert_eq!(messages.iter().map(|m| &**m).collect::<Vec<_>>(), expected);
    assert!(found.len() >= 374, "{} patches", found.len());
}

#[test]
fn every_example_of_sound_plays() {
    let mut found = Vec::new();
    patches(&Path::new(FOLDERS[0]).join("3.audio.examples"), &mut found);
    if found.is_empty() {
        println!("SKIPPED: needs puredata-doc");
        return;
    }
    for path in &found {
        let loaded = load_patch(path, &SearchPath::new([])).expect("it can be read");
        let (mut player, not_yet) = PatchPlayer::new(&loaded, 44_100.0, 2, 4);
        assert_eq!(not_yet, [], "{}", path.display());
        for _ in 0..100 {
            player.play(&[]);
            let heard = (0..4).flat_map(|channel| player.output(channel));
            assert!(heard.copied().all(f32::is_finite), "{}", path.display());
        }
    }
    assert!(found.len() >= 119, "{} examples", found.len());
}
