//! States of patches: a fresh patch goes on from the state of one that plays, with the same bits.
//!
//! The patches are those of `tests/sound`, those that Debian's `puredata-doc` has, and those in the folder that `DIVISI_PATCHES` names.

use divisi_pd::{LoadedPatch, PatchPlayer, SearchPath, load_patch};
use std::path::{Path, PathBuf};

/// Blocks after which the state is saved, and blocks that are compared then.
const SAVED_AFTER: [usize; 3] = [1, 150, 297];
const COMPARED: usize = 150;
/// Channels of `adc~` and `dac~`.
const CHANNELS: usize = 4;

/// Patches in a folder and in the folders in it, in the order of their names.
fn patches(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        match path.is_dir() {
            true => found.extend(patches(&path)),
            false if path.extension().is_some_and(|it| it == "pd") => found.push(path),
            false => {}
        }
    }
    found.sort();
    found
}

/// A patch that plays, with noise at its inputs.
struct Playing {
    player: PatchPlayer,
    noise: u32,
    console: Vec<String>,
}

impl Playing {
    fn new(patch: &LoadedPatch) -> Self {
        Self {
            player: PatchPlayer::new(patch, 44_100.0, CHANNELS, CHANNELS).0,
            noise: 1,
            console: Vec::new(),
        }
    }

    /// Plays blocks, and gives the bits of all channels.
    fn play(&mut self, blocks: usize) -> Vec<u32> {
        let mut sound = Vec::new();
        for _ in 0..blocks {
            let input: Vec<f32> = (0..PatchPlayer::BLOCK).map(|_| self.next_noise()).collect();
            self.player.play(&[&input[..]; CHANNELS]);
            for channel in 0..CHANNELS {
                sound.extend(self.player.output(channel).iter().map(|x| x.to_bits()));
            }
            self.console.extend(self.player.take_console());
        }
        sound
    }

    fn next_noise(&mut self) -> f32 {
        self.noise = self
            .noise
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        f32::from(u16::try_from(self.noise >> 17).expect("15 bits")) / 65_536.0 - 0.25
    }

    fn state(&self) -> Vec<u8> {
        let mut state = Vec::new();
        self.player.save(&mut state);
        state
    }
}

/// How a patch went on: `None` with the same bits.
fn difference(path: &Path) -> Option<String> {
    let patch = load_patch(path, &SearchPath::new([])).expect("it can be read");
    let (mut first, mut done) = (Playing::new(&patch), 0);
    for after in SAVED_AFTER {
        first.play(after - done);
        let state = first.state();
        let mut second = Playing::new(&patch);
        if let Err(why) = second.player.load(&state) {
            return Some(format!("after {after} blocks: {why}"));
        }
        if second.state() != state {
            return Some(format!("after {after} blocks: the state is another one"));
        }
        (second.noise, second.console) = (first.noise, Vec::new());
        second.player.take_console();
        first.console.clear();
        done = after + COMPARED;
        let (expected, found) = (first.play(COMPARED), second.play(COMPARED));
        if let Some(at) = expected.iter().zip(&found).position(|(a, b)| a != b) {
            let block = at / (PatchPlayer::BLOCK * CHANNELS);
            return Some(format!(
                "after {after} blocks: block {block} has other bits"
            ));
        }
        if first.console != second.console {
            let (a, b) = (&first.console, &second.console);
            return Some(format!(
                "after {after} blocks: it prints {b:?} and not {a:?}"
            ));
        }
    }
    None
}

/// Lets all patches of a folder go on; gives those that did not have the same bits, each with the reason.
fn differing(folder: &Path) -> (usize, Vec<(String, String)>) {
    let all = patches(folder);
    let name = |path: &Path| {
        path.strip_prefix(folder)
            .expect("it is in there")
            .display()
            .to_string()
    };
    let found = all
        .iter()
        .filter_map(|path| Some((name(path), difference(path)?)));
    (all.len(), found.collect())
}

#[test]
fn patches_with_one_object_go_on_with_the_same_bits() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sound");
    let (count, differing) = differing(&folder);
    for (name, why) in &differing {
        println!("{name}: {why}");
    }
    assert!(count > 100, "{count}");
    assert!(
        differing.is_empty(),
        "{} of {count} differ",
        differing.len()
    );
}

#[test]
#[ignore = "long tier"]
fn patches_of_a_folder_go_on_with_the_same_bits() {
    let folder = std::env::var_os("DIVISI_PATCHES").expect("DIVISI_PATCHES is a folder");
    let (count, differing) = differing(Path::new(&folder));
    for (name, why) in &differing {
        println!("{name}: {why}");
    }
    println!("{} of {count} differ", differing.len());
}
