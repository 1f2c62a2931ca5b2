//! Convolvers and networks in checkpoints: the next process goes on with the bits of one that was never interrupted.

use super::tests::{Player, Random, kept, left, registry};
use super::{KeptPlaces, MAX_WORDS};
use crate::checkpoint::{Checkpoint, CheckpointMemory};
use check::impulse_files::ImpulseFiles;

/// Frames of the longer response: several levels.
const FRAMES: usize = 20_000;
/// Blocks after which the process ends: within the tail, beyond it, at no multiple of the long levels.
const ENDS: [usize; 4] = [4, 92, 340, 604];

fn session(files: &ImpulseFiles, more: &str) -> String {
    let first = files.write("first.wav", 1, FRAMES, 0);
    let other = files.write("other.wav", 1, 9000, 77);
    format!(
        r#"
edges = ["tone -> room -> out"]
[nodes]
tone = {{ kind = "osc", freq = 437, wave = "saw" }}
room = {{ kind = "convolver", file = "{first}", other = "{other}"{more} }}
out = {{ kind = "sink" }}
"#
    )
}

/// The checkpoint of a process that has played `blocks`.
fn checkpoint_after(text: &str, blocks: usize) -> Checkpoint {
    let (mut player, memory) = (Player::new(text), CheckpointMemory::new().unwrap());
    let (mut keeper, _) = kept(&mut player, &memory);
    for _ in 0..blocks {
        player.play();
        keeper.end_block(&mut player.callback, 0, || true);
    }
    let notes = keeper.notes(&player.graph, registry().catalogue());
    assert!(notes.is_empty(), "{notes:?}");
    memory.newest().unwrap()
}

#[test]
fn a_convolver_goes_on_with_the_same_bits() {
    let files = ImpulseFiles::new("kept-convolver");
    for more in [
        "",
        r#", work = "spread""#,
        r#", work = "threads""#,
        r#", partition = "15x64 38x512", latency = "block""#,
        ", block = 128",
        r#", which = 1, method = "uniform""#,
    ] {
        let text = session(&files, more);
        let mut whole = Player::new(&text);
        let whole: Vec<_> = (0..ENDS[3] + 80).map(|_| whole.play()).collect();
        for end in ENDS {
            let left = left(&checkpoint_after(&text, end));
            let mut next = Player::new(&text);
            assert!(kept(&mut next, &left).1);
            for (at, block) in whole[end..end + 80].iter().enumerate() {
                assert!(next.play() == *block, "{more}: {end} + {at}");
            }
        }
    }
}

#[test]
fn what_is_heard_is_kept_from_the_setup_on_and_never_begins_between_two_blocks() {
    let files = ImpulseFiles::new("kept-setup");
    let mut player = Player::new(&session(&files, ""));
    let pasts = |player: &mut Player, is_setup| {
        let mut layout = KeptPlaces {
            limit: MAX_WORDS,
            is_setup,
            ..KeptPlaces::default()
        };
        player.callback.visit_states(&mut layout);
        layout.lines.len()
    };
    player.play();
    // As after an edit that brings a convolver: its ring would take memory.
    assert_eq!(pasts(&mut player, false), 0);
    assert_eq!(pasts(&mut player, true), 1);
    assert_eq!(pasts(&mut player, false), 1);
}

/// A network of several rates and transforms, and a meter with long windows.
const NETWORK: &str = r#"
edges = ["tone -> rates -> shown -> out"]
[nodes]
tone = { kind = "osc", freq = 437, wave = "saw" }
rates = { kind = "network", file = "arms.toml" }
shown = { kind = "loudness" }
out = { kind = "sink" }
"#;

#[test]
fn a_network_goes_on_with_the_same_bits() {
    let mut whole = Player::new(NETWORK);
    let whole: Vec<_> = (0..300).map(|_| whole.play()).collect();
    for end in [4, 8, 20, 92, 200] {
        let mut next = Player::new(NETWORK);
        assert!(kept(&mut next, &left(&checkpoint_after(NETWORK, end))).1);
        for (at, block) in whole[end..end + 80].iter().enumerate() {
            assert!(next.play() == *block, "{end} + {at}");
        }
    }
}

#[test]
fn a_network_whose_state_is_nonsense_begins_anew() {
    let honest = checkpoint_after(NETWORK, 92);
    let mut random = Random(11);
    let mut sounds = 0;
    for _ in 0..200 {
        let mut checkpoint = honest.clone();
        for _ in 0..=random.next() % 6 {
            let at = 4 + random.next() as usize % (honest.words.len() - 4);
            checkpoint.words[at] = match random.next() % 2 {
                0 => random.word(),
                _ => random.next() % 600,
            };
        }
        let mut next = Player::new(NETWORK);
        kept(&mut next, &left(&checkpoint));
        let last = (0..40).map(|_| next.play()).last().unwrap();
        assert!(last.iter().all(|it| f32::from_bits(*it).is_finite()));
        sounds += usize::from(last.iter().any(|it| *it != 0));
    }
    assert_eq!(sounds, 200);
}

#[test]
fn a_process_after_the_next_one_goes_on_too() {
    let files = ImpulseFiles::new("kept-twice");
    let text = session(&files, "");
    let mut whole = Player::new(&text);
    let whole: Vec<_> = (0..500).map(|_| whole.play()).collect();
    let memory = left(&checkpoint_after(&text, 340));
    let mut next = Player::new(&text);
    let (mut keeper, _) = kept(&mut next, &memory);
    for _ in 0..40 {
        next.play();
        keeper.end_block(&mut next.callback, 0, || true);
    }
    let mut third = Player::new(&text);
    assert!(kept(&mut third, &left(&memory.newest().unwrap())).1);
    (380..500).for_each(|at| assert!(third.play() == whole[at], "{at}"));
}

#[test]
fn what_a_process_has_heard_is_not_believed() {
    let files = ImpulseFiles::new("kept-nonsense");
    let text = session(&files, "");
    let honest = checkpoint_after(&text, 92);
    let mut random = Random(5);
    for _ in 0..60 {
        let mut checkpoint = honest.clone();
        for _ in 0..6 {
            // The bounds come before the samples.
            let at = 4 + random.next() as usize % 40;
            checkpoint.words[at] = match random.next() % 2 {
                0 => random.word(),
                _ => random.next() % (92 * 64 + 2),
            };
        }
        let mut next = Player::new(&text);
        kept(&mut next, &left(&checkpoint));
        for _ in 0..8 {
            let block = next.play();
            assert!(block.iter().all(|it| f32::from_bits(*it).is_finite()));
        }
    }
}
