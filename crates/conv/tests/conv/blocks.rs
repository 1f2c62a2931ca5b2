//! Host blocks of any length, and seeks.

use crate::kit::{Rng, mono, play, same};
use divisi_conv::{
    AddedLatency, Convolver, ConvolverAdapter, ConvolverOptions, Inline, Partition, Path,
};

const TEXT: &str = "7x64 6x256 5x1024";

fn convolver(response: &[f32]) -> Convolver {
    let partition = Partition::parse(64, AddedLatency::None, TEXT).unwrap();
    Convolver::new(
        1,
        1,
        &[Path::new(0, 0, response)],
        &ConvolverOptions::new(partition),
    )
    .unwrap()
}

fn adapted(
    adapter: &mut ConvolverAdapter,
    input: &[f32],
    mut next: impl FnMut() -> usize,
) -> Vec<f32> {
    let mut output = Vec::new();
    while output.len() < input.len() {
        let end = (output.len() + next()).min(input.len());
        while output.len() < end {
            let room = adapter.begin_chunk(end - output.len());
            adapter.write_input(0, &input[output.len()..output.len() + room]);
            adapter.process(&mut Inline);
            output.extend_from_slice(adapter.output(0));
        }
    }
    output
}

#[test]
fn odd_and_changing_blocks_add_one_internal_block_of_latency_and_change_no_bit() {
    let mut rng = Rng::new(15);
    let (response, input) = (rng.response(6000), rng.noise(9600));
    let partition = Partition::parse(64, AddedLatency::None, TEXT).unwrap();
    let truth = mono(partition, &response, &input, 9600);
    for block in [1, 7, 48, 100, 441, 4096] {
        let mut adapter = ConvolverAdapter::new(convolver(&response), Some(block));
        let late = adapter.latency();
        assert_eq!(late, if block % 64 == 0 { 0 } else { 64 });
        let output = adapted(&mut adapter, &input[..9600 / block * block], || block);
        same(
            &[output[late..].to_vec()],
            &[truth[..output.len() - late].to_vec()],
            "late",
        );
        assert!(output[..late].iter().all(|x| *x == 0.0));
    }
    let mut adapter = ConvolverAdapter::new(convolver(&response), None);
    let output = adapted(&mut adapter, &input, || 1 + rng.below(300));
    same(
        &[output[64..].to_vec()],
        &[truth[..9600 - 64].to_vec()],
        "changing",
    );
}

#[test]
fn a_broken_promise_of_block_lengths_gives_one_gap_and_is_counted() {
    let mut rng = Rng::new(16);
    let (response, input) = (rng.response(3000), rng.noise(6400));
    let mut adapter = ConvolverAdapter::new(convolver(&response), Some(128));
    let mut blocks = [128, 128, 100].into_iter().chain(std::iter::repeat(128));
    let output = adapted(&mut adapter, &input, || blocks.next().unwrap());
    assert_eq!((adapter.misfit_count(), adapter.latency()), (1, 64));
    let partition = Partition::parse(64, AddedLatency::None, TEXT).unwrap();
    let truth = mono(partition, &response, &input, 6400);
    let whole = 256 + 64;
    same(
        &[output[..whole].to_vec()],
        &[truth[..whole].to_vec()],
        "before",
    );
    assert!(output[whole..whole + 64].iter().all(|x| *x == 0.0), "gap");
    same(
        &[output[whole + 64..].to_vec()],
        &[truth[whole..6400 - 64].to_vec()],
        "after",
    );
}

#[test]
fn nan_in_the_input_becomes_silence() {
    let mut rng = Rng::new(17);
    let mut input = rng.noise(3200);
    input[100] = f32::NAN;
    input[200] = f32::INFINITY;
    input[300] = -f32::MAX;
    let mut adapter = ConvolverAdapter::new(convolver(&rng.response(500)), Some(64));
    assert!(
        adapted(&mut adapter, &input, || 64)
            .iter()
            .all(|x| x.is_finite())
    );
}

#[test]
fn after_a_seek_it_equals_a_new_convolver_at_that_position() {
    let mut rng = Rng::new(18);
    let (response, input) = (rng.response(6000), rng.noise(6400));
    for position in [0, 64, 640, 4096, 1 << 40] {
        let mut new = convolver(&response);
        new.seek(position);
        let truth = play(&mut new, std::slice::from_ref(&input), 9600, &mut Inline);
        let mut used = convolver(&response);
        play(&mut used, &[rng.noise(5000)], 5056, &mut Inline);
        used.seek(position);
        same(
            &play(&mut used, std::slice::from_ref(&input), 9600, &mut Inline),
            &truth,
            &format!("{position}"),
        );
        let at_start = play(
            &mut convolver(&response),
            std::slice::from_ref(&input),
            9600,
            &mut Inline,
        );
        let difference = truth[0]
            .iter()
            .zip(&at_start[0])
            .map(|(a, b)| (a - b).abs());
        assert!(difference.fold(0.0, f32::max) < 2e-5);
    }
}

#[test]
fn after_its_tail_the_output_and_all_memory_are_silent() {
    let mut rng = Rng::new(19);
    let (response, input) = (rng.response(7000), rng.noise(1000));
    let mut used = convolver(&response);
    play(&mut used, std::slice::from_ref(&input), 1024, &mut Inline);
    let tail = used.tail().next_multiple_of(64) as usize;
    play(&mut used, &[], tail, &mut Inline);
    let rest = play(&mut used, &[], 20_000, &mut Inline);
    assert!(rest[0].iter().all(|x| x.to_bits() == 0));
    // A new one at the same time gives the same bits from here.
    let mut new = convolver(&response);
    new.seek(used.position());
    let truth = play(&mut new, std::slice::from_ref(&input), 9600, &mut Inline);
    same(
        &play(&mut used, &[input], 9600, &mut Inline),
        &truth,
        "later",
    );
}

#[test]
fn a_position_within_a_block_counts_as_the_beginning_of_the_block() {
    let mut rng = Rng::new(22);
    let (response, input) = (rng.response(6000), rng.noise(6400));
    let play_from = |position| {
        let mut convolver = convolver(&response);
        convolver.seek(position);
        assert_eq!(convolver.position(), position / 64 * 64);
        play(
            &mut convolver,
            std::slice::from_ref(&input),
            9600,
            &mut Inline,
        )
    };
    same(
        &play_from(12_345),
        &play_from(12_345 / 64 * 64),
        "within a block",
    );
}
