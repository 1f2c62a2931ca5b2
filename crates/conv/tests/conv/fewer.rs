//! Fewer operations by other ways of computing: the convolution, and the same bits whoever does it.

use crate::kit::{Rng, play, same};
use crate::memory::calls;
use crate::mixed::{Sometimes, Whenever, apart, exchanged, paths, sound, worst_db};
use divisi_conv::distributed::TimeDistributed;
use divisi_conv::{
    AddedLatency, Convolver, ConvolverOptions, Inline, LevelThreads, LevelThreadsOptions, Partition,
};
use fft::Kernels;

const CUTS: [&str; 5] = [
    "17x64 5x512",
    "3x64 4x128 4x256 5x512",
    "7x64 6x256 3x1024",
    "3x64 16x128 3x1024",
    "960 + 4x256 7x512 4x2048",
];

/// Products nested, transforms from smaller ones, and both.
fn kinds(text: &str) -> [ConvolverOptions; 3] {
    [(true, false), (false, true), (true, true)].map(|(nested, larger)| {
        let mut options =
            ConvolverOptions::new(Partition::parse(64, AddedLatency::None, text).unwrap());
        (options.nested, options.larger_from_smaller) = (nested, larger);
        if nested {
            options.cached_floats = usize::MAX;
        }
        options
    })
}

/// All cuts in all kinds, with words.
fn all() -> impl Iterator<Item = (String, ConvolverOptions)> {
    CUTS.into_iter().flat_map(|text| {
        let named = |options: ConvolverOptions| {
            let (nested, larger) = (options.nested, options.larger_from_smaller);
            (format!("{text}, nested {nested}, larger {larger}"), options)
        };
        kinds(text).map(named)
    })
}

#[test]
fn it_is_the_convolution_with_any_kernels() {
    let mut rng = Rng(63);
    for kernels in Kernels::available() {
        for (text, mut options) in all() {
            options.kernels = kernels;
            let straight = match kernels == Kernels::best() {
                true => &[0, 1, 17][..],
                false if text.contains("4x256") => &[16],
                false => &[],
            };
            for &straight in straight {
                let length = options.partition.max_ir_frames() - rng.below(900);
                let paths = paths(straight, length, &mut rng);
                let db = worst_db(&paths, &options);
                assert!(db <= -120.0, "{text} {straight} {kernels:?}: {db:.1} dB");
            }
        }
    }
}

#[test]
fn responses_of_any_length_are_convolved() {
    let mut rng = Rng(64);
    for (text, options) in all() {
        for most in [1, 200, 1000, options.partition.max_ir_frames()] {
            let paths = paths(1, 1 + rng.below(most), &mut rng);
            let db = worst_db(&paths, &options);
            assert!(db <= -120.0, "{text} {most}: {db:.1} dB");
        }
    }
}

#[test]
fn they_take_no_memory_in_a_callback() {
    let mut rng = Rng(74);
    for (text, options) in all() {
        let paths = paths(17, options.partition.max_ir_frames(), &mut rng);
        let options = TimeDistributed::adapt_options(&options, 19);
        let mut convolver = Convolver::new(19, 19, &paths, &options).unwrap();
        let mut hands = TimeDistributed::new(&mut convolver);
        let before = calls();
        for turn in 0..200 {
            if turn == 90 {
                convolver.seek(64 * 1001);
            }
            convolver.process_block(&mut hands);
        }
        assert_eq!(calls(), before, "{text}");
    }
}

#[test]
fn the_bits_are_the_same_from_all_hands_and_pieces() {
    let mut rng = Rng(65);
    let input = sound(19, 6000, 66);
    let mut alone = 0;
    for (text, options) in all() {
        let paths = paths(17, options.partition.max_ir_frames(), &mut rng);
        let make = |options: &ConvolverOptions| Convolver::new(19, 19, &paths, options).unwrap();
        let mut inline = make(&options);
        let truth = play(&mut inline, &input, 10_000, &mut Inline);
        assert_eq!(inline.made_alone(), 0, "{text}");
        let takes = make(&options).fdls().any(|line| line.takes_from.is_some());
        assert_eq!(
            takes,
            options.larger_from_smaller && !text.starts_with("17x64")
        );
        let mut again = make(&options);
        let played = play(&mut again, &input, 10_000, &mut Whenever(Rng(67)));
        alone += again.made_alone();
        same(&played, &truth, &text);
        let mut again = make(&TimeDistributed::adapt_options(&options, 19));
        let mut hands = TimeDistributed::new(&mut again);
        let even = play(&mut again, &input, 10_000, &mut hands);
        assert_eq!(again.made_alone(), 0, "{text}");
        same(&even, &truth, &text);
        let mut again = make(&options);
        let patient = LevelThreadsOptions {
            max_wait: None,
            ..LevelThreadsOptions::default()
        };
        let mut hands = LevelThreads::new(&again, &patient).unwrap();
        same(&play(&mut again, &input, 10_000, &mut hands), &truth, &text);
    }
    // Where nobody keeps the order something comes too late, and is made.
    assert!(alone > 0);
}

/// In so many frames all levels come round, and all ways to sum up.
const ROUND: u64 = 2048 * 8 * 3;

#[test]
fn after_late_results_and_after_a_jump_it_is_as_new() {
    let mut rng = Rng(68);
    for (text, options) in all() {
        let paths = paths(1, options.partition.max_ir_frames(), &mut rng);
        let input = sound(3, 64 * 128, 69);
        let mut convolver = Convolver::new(3, 3, &paths, &options).unwrap();
        play(&mut convolver, &input, 64 * 128, &mut Sometimes(0));
        assert!(convolver.late_count() > 0);
        let late = convolver.late_count();
        let end = (convolver.position() + convolver.tail()).next_multiple_of(ROUND);
        let silence = (end - convolver.position()) as usize;
        play(&mut convolver, &[], silence, &mut Inline);
        let mut new = Convolver::new(3, 3, &paths, &options).unwrap();
        let truth = play(&mut new, &input, 64 * 256, &mut Inline);
        let played = play(&mut convolver, &input, 64 * 256, &mut Inline);
        same(&played, &truth, &text);
        convolver.seek(6 * 2048 * 77);
        let played = play(&mut convolver, &input, 64 * 256, &mut Inline);
        same(&played, &truth, &text);
        assert_eq!(convolver.late_count(), late);
    }
}

#[test]
fn a_result_that_is_late_spoils_no_later_one() {
    let mut rng = Rng(70);
    for (text, options) in all() {
        let paths = paths(1, options.partition.max_ir_frames(), &mut rng);
        let input = sound(3, 64 * 400, 71);
        let mut convolver = Convolver::new(3, 3, &paths, &options).unwrap();
        let mut plain = Convolver::new(
            3,
            3,
            &paths,
            &ConvolverOptions {
                nested: false,
                larger_from_smaller: false,
                ..options
            },
        )
        .unwrap();
        // The same is late in both.
        let played = play(&mut convolver, &input, 64 * 400, &mut Sometimes(3));
        let truth = play(&mut plain, &input, 64 * 400, &mut Sometimes(3));
        assert!(convolver.late_count() > 3 && convolver.late_count() == plain.late_count());
        assert!(apart(&played, &truth) < 1e-4, "{text}");
    }
}

#[test]
fn an_exchange_of_like_responses_leaves_no_trace() {
    let mut rng = Rng(72);
    for (text, options) in all() {
        let paths = paths(1, options.partition.max_ir_frames(), &mut rng);
        let apart = exchanged(&paths, &options, 64 * 600);
        assert!(apart < 1e-4, "{text}: {apart}");
    }
}
