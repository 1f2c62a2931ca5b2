//! The offline driver, from a source to a sink.

use std::ops::ControlFlow;

use divisi_driver::offline::{BoxError, RenderError, Silence, render};
use divisi_driver::{AudioCallback, CallbackInfo, DriverConfig};
use units::Frames;

/// Adds one to its first input on its first output, and is nowhere in a hurry.
struct PlusOne;

impl AudioCallback for PlusOne {
    fn process(&mut self, info: CallbackInfo, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        assert_eq!((info.budget, info.xruns), (None, 0));
        assert_eq!(outputs[0].len(), 64);
        for (frame, out) in outputs[0].iter_mut().enumerate() {
            *out = inputs.first().map_or(0.0, |input| input[frame]) + 1.0;
        }
    }
}

fn request(inputs: u16) -> DriverConfig {
    DriverConfig {
        inputs,
        outputs: 1,
        ..DriverConfig::new("test", Frames(64))
    }
}

fn onward(_: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn a_file_is_played_through_and_the_last_block_cut() {
    let mut left: Vec<f32> = (0..100).map(|n| n as f32).rev().collect();
    // A source that gives a little at a time, and ends before the run does.
    let mut source = |into: &mut [&mut [f32]]| -> Result<usize, BoxError> {
        let frames = into[0].len().min(left.len()).min(7);
        into[0][..frames].fill_with(|| left.pop().unwrap());
        Ok(frames)
    };
    let mut received = Vec::new();
    let mut sink = |block: &[&[f32]]| -> Result<(), BoxError> {
        received.extend_from_slice(block[0]);
        Ok(())
    };
    let mut shares = Vec::new();
    let mut progress = |done| {
        shares.push(done);
        ControlFlow::Continue(())
    };
    let done = render(
        &request(1),
        (0, 150),
        &mut PlusOne,
        &mut source,
        &mut sink,
        &mut progress,
    );
    assert_eq!(done.unwrap(), 150);
    assert_eq!(shares, [64, 128, 150]);
    let expected: Vec<f32> = (0..150)
        .map(|n| if n < 100 { n as f32 + 1.0 } else { 1.0 })
        .collect();
    assert_eq!(received, expected);
}

#[test]
fn a_run_ends_where_progress_breaks_it() {
    let mut frames = 0;
    let mut sink = |block: &[&[f32]]| -> Result<(), BoxError> {
        frames += block[0].len();
        Ok(())
    };
    let mut stop = |done| {
        if done >= 128 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let done = render(
        &request(0),
        (0, u64::MAX),
        &mut PlusOne,
        &mut Silence,
        &mut sink,
        &mut stop,
    );
    assert_eq!((done.unwrap(), frames), (128, 128));
}

#[test]
fn a_full_disk_is_reported_with_its_cause() {
    let mut sink = |_: &[&[f32]]| -> Result<(), BoxError> { Err("no space left".into()) };
    let done = render(
        &request(0),
        (0, 64),
        &mut PlusOne,
        &mut Silence,
        &mut sink,
        &mut onward,
    );
    let Err(RenderError::Sink(cause)) = done else {
        panic!("the sink refused: {done:?}");
    };
    assert_eq!(cause.to_string(), "no space left");
}

#[test]
fn absurd_requests_are_refused() {
    let mut sink = |_: &[&[f32]]| -> Result<(), BoxError> { Ok(()) };
    for (block, inputs) in [(0, 0), (u32::MAX, 0), (64, u16::MAX)] {
        let absurd = DriverConfig {
            block: Frames(block),
            ..request(inputs)
        };
        let done = render(
            &absurd,
            (0, 64),
            &mut PlusOne,
            &mut Silence,
            &mut sink,
            &mut onward,
        );
        assert!(matches!(done, Err(RenderError::Config(_))));
    }
}

#[test]
fn what_comes_late_is_left_out_and_the_length_stays() {
    let written = |late| {
        let mut received = 0.0;
        let mut source = |into: &mut [&mut [f32]]| {
            for frame in into[0].iter_mut() {
                received += 1.0;
                *frame = received;
            }
            Ok(into[0].len())
        };
        let mut all = Vec::new();
        let mut sink = |block: &[&[f32]]| {
            all.extend_from_slice(block[0]);
            Ok(())
        };
        let mut onward = |_| ControlFlow::Continue(());
        let done = render(
            &request(1),
            (late, 100),
            &mut PlusOne,
            &mut source,
            &mut sink,
            &mut onward,
        );
        assert_eq!(done.unwrap(), 100);
        all
    };
    let whole = written(0);
    assert_eq!(whole.len(), 100);
    for late in [1, 63, 64, 65, 200] {
        let later: Vec<f32> = whole.iter().map(|x| x + late as f32).collect();
        assert_eq!(written(late), later, "{late} frames late");
    }
}
