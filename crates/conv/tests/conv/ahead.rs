//! Long levels, which sum products for later periods at once, and half precision.

use crate::kit::{Rng, play, same};
use crate::mixed::{AnyTime, Sometimes, exchanged, paths, sound, worst_db};
use divisi_conv::{
    AddedLatency, Convolver, ConvolverOptions, Inline, LevelThreads, LevelThreadsOptions,
    Partition, TimeDistributed,
};
use fft::Kernels;

const PARTITIONS: [&str; 3] = ["17x64 5x512", "7x64 6x256 3x1024", "3x64 16x128 3x1024"];

/// Options that make every level a long one.
fn options(text: &str) -> ConvolverOptions {
    let mut options =
        ConvolverOptions::new(Partition::parse(64, AddedLatency::None, text).unwrap());
    options.cached_floats = 0;
    options
}

#[test]
fn sums_made_ahead_give_the_convolution() {
    let mut rng = Rng::new(43);
    for text in PARTITIONS {
        let options = options(text);
        for straight in [0, 1, 17] {
            let paths = paths(straight, options.partition.max_ir_frames() - 100, &mut rng);
            let db = worst_db(&paths, &options);
            assert!(db <= -120.0, "{text} {straight}: {db:.1} dB");
        }
    }
}

#[test]
fn half_precision_is_within_its_bound_from_its_size_on_with_any_kernels() {
    let mut rng = Rng::new(44);
    for kernels in Kernels::available() {
        for (near, gain) in [(0, 1.0), (usize::MAX, 1e-4)] {
            let mut options = options(PARTITIONS[1]);
            (
                options.cached_floats,
                options.half_precision_from,
                options.kernels,
            ) = (near, Some(256), kernels);
            let mut paths = paths(16, options.partition.max_ir_frames(), &mut rng);
            // Only the part in half precision contributes.
            for path in &mut paths {
                let mut ir = path.ir.to_vec();
                ir[..448].fill(0.0);
                (path.ir, path.gain) = (ir.into(), gain);
            }
            let db = worst_db(&paths, &options);
            assert!(
                (-90.0..=-70.0).contains(&db),
                "{kernels:?} {near}: {db:.1} dB"
            );
            options.half_precision_from = Some(2048);
            let db = worst_db(&paths, &options);
            assert!(db <= -120.0, "{kernels:?} {near}: {db:.1} dB");
        }
    }
}

#[test]
fn every_scheduler_and_piece_size_gives_the_same_bits() {
    let mut rng = Rng::new(45);
    let input = sound(19, 6000, 46);
    for (text, half) in [
        (PARTITIONS[0], None),
        (PARTITIONS[1], Some(256)),
        (PARTITIONS[2], None),
    ] {
        let mut options = options(text);
        options.half_precision_from = half;
        let paths = paths(17, options.partition.max_ir_frames(), &mut rng);
        let make = |options: &ConvolverOptions| Convolver::new(19, 19, &paths, options).unwrap();
        let truth = play(&mut make(&options), &input, 10_000, &mut Inline);
        let mut again = make(&options);
        let output = play(&mut again, &input, 10_000, &mut AnyTime(Rng::new(47)));
        same(&output, &truth, text);
        let mut again = make(&TimeDistributed::adapt_options(&options, 19));
        let mut scheduler = TimeDistributed::new(&mut again);
        same(
            &play(&mut again, &input, 10_000, &mut scheduler),
            &truth,
            text,
        );
        let mut again = make(&options);
        let options = LevelThreadsOptions {
            max_wait: None,
            ..LevelThreadsOptions::default()
        };
        let mut scheduler = LevelThreads::new(&again, &options).unwrap();
        same(
            &play(&mut again, &input, 10_000, &mut scheduler),
            &truth,
            text,
        );
    }
}

#[test]
fn after_a_seek_or_a_long_silence_no_old_sums_are_left() {
    let mut rng = Rng::new(48);
    for text in PARTITIONS {
        let options = options(text);
        let paths = paths(1, options.partition.max_ir_frames(), &mut rng);
        let make = || Convolver::new(3, 3, &paths, &options).unwrap();
        let input = sound(3, 6400, 49);
        for position in [0, 64, 64 * 75, 1 << 40] {
            let mut used = make();
            play(&mut used, &sound(3, 7000, 50), 7040, &mut Inline);
            used.seek(position);
            let mut new = make();
            new.seek(position);
            let truth = play(&mut new, &input, 12_800, &mut Inline);
            let output = play(&mut used, &input, 12_800, &mut Inline);
            same(&output, &truth, &format!("{text} at {position}"));
            let tail = used.tail().next_multiple_of(64) as usize;
            let rest = play(&mut used, &[], tail, &mut Inline);
            assert!(rest.iter().all(|rest| rest[tail - 64..] == [0.0; 64]));
            let mut new = make();
            new.seek(used.position());
            let truth = play(&mut new, &input, 12_800, &mut Inline);
            let output = play(&mut used, &input, 12_800, &mut Inline);
            same(&output, &truth, &format!("{text} after silence"));
        }
    }
}

#[test]
fn a_late_result_leaves_earlier_input_intact() {
    let mut rng = Rng::new(51);
    let options = options("7x64 6x256 5x1024");
    let paths = paths(1, options.partition.max_ir_frames(), &mut rng);
    let input = sound(3, 64 * 128, 52);
    let mut convolver = Convolver::new(3, 3, &paths, &options).unwrap();
    play(&mut convolver, &input, 64 * 128, &mut Sometimes(0));
    assert!(convolver.late_count() > 3);
    let tail = convolver.tail().next_multiple_of(4096) as usize;
    let late = convolver.late_count();
    play(&mut convolver, &[], tail, &mut Inline);
    let output = play(&mut convolver, &input, 64 * 256, &mut Inline);
    let mut new = Convolver::new(3, 3, &paths, &options).unwrap();
    let truth = play(&mut new, &input, 64 * 256, &mut Inline);
    same(&output, &truth, "afterwards");
    assert_eq!(convolver.late_count(), late);
}

#[test]
fn an_exchange_of_equal_responses_changes_nothing_in_full_and_in_half_precision() {
    let mut rng = Rng::new(53);
    for (half, most) in [(None, 2e-5), (Some(64), 2e-3)] {
        let mut options = options("7x64 6x256 5x1024");
        options.half_precision_from = half;
        let paths = paths(1, 6000, &mut rng);
        let apart = exchanged(&paths, &options, 20_032);
        assert!(apart < most, "{half:?}: {apart}");
    }
}
