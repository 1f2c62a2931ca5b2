//! Units of fundsp, held to what a unit of Divisi must do: the same bits in blocks of any size, no allocation while it plays, and
//! output that stays finite while noise drives its frequency.
//!
//! `libraries` prints a row for each: frames that differ between blocks of 64 and blocks of 1 to 64 frames, of 48,000; allocations meanwhile; the largest
//! sample of 2,000,000 frames where noise drives the frequency between 20 Hz and 20 kHz in each frame, for units that have such an input.

use ::fundsp::prelude32::*;
use rt::ftz::FlushToZero;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

const FRAMES: usize = 48_000;
const DRIVEN: usize = 2_000_000;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: the system's allocator does the work; the counter is an atomic number.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The sound of a unit that hears noise, in blocks of the sizes in turn, and the allocations meanwhile.
fn play<X: AudioNode>(unit: An<X>, sizes: &[usize]) -> (Vec<u32>, u64) {
    let mut unit = unit.0;
    unit.set_sample_rate(48_000.0);
    unit.set_hash(1);
    unit.allocate();
    let mut noise = units::SplitMix64(1);
    let mut input = BufferVec::new(unit.inputs());
    let mut output = BufferVec::new(unit.outputs());
    let mut sound = Vec::with_capacity(FRAMES + 64);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for size in sizes.iter().cycle() {
        let size = Ord::min(*size, FRAMES - sound.len());
        for at in 0..size {
            (0..unit.inputs()).for_each(|channel| input.set_f32(channel, at, noise.sample()));
        }
        unit.process(size, &input.buffer_ref(), &mut output.buffer_mut());
        sound.extend((0..size).map(|at| output.at_f32(0, at).to_bits()));
        if sound.len() == FRAMES {
            break;
        }
    }
    (sound, ALLOCATIONS.load(Ordering::Relaxed) - before)
}

/// The largest sample while noise drives the frequency, the second input. `rest` is what the other inputs hear.
fn driven<X: AudioNode>(unit: An<X>, rest: f32) -> f32 {
    let mut unit = unit.0;
    unit.set_sample_rate(48_000.0);
    let mut noise = units::SplitMix64(1);
    let mut input = BufferVec::new(unit.inputs());
    let mut output = BufferVec::new(unit.outputs());
    let mut largest = 0.0_f32;
    for _ in 0..DRIVEN / 64 {
        for at in 0..64 {
            input.set_f32(0, at, noise.sample());
            input.set_f32(1, at, 20.0 * 1000.0_f32.powf(0.5 + 0.5 * noise.sample()));
            (2..unit.inputs()).for_each(|channel| input.set_f32(channel, at, rest));
        }
        unit.process(64, &input.buffer_ref(), &mut output.buffer_mut());
        for at in 0..64 {
            let sample = output.at_f32(0, at).abs();
            largest = if sample.is_finite() {
                largest.max(sample)
            } else {
                f32::INFINITY
            };
        }
    }
    largest
}

fn row<X: AudioNode>(name: &str, make: impl Fn() -> An<X>, driven: Option<f32>) {
    let sizes: Vec<usize> = (1..=64).collect();
    let ((even, _), (uneven, allocations)) = (play(make(), &[64]), play(make(), &sizes));
    let differ = even.iter().zip(&uneven).filter(|(a, b)| a != b).count();
    let driven = driven.map_or_else(String::new, |it| format!("{it:.3e}"));
    println!("{name:24} {differ:>10} {allocations:>12} {driven:>12}");
}

fn main() {
    let _flushes = FlushToZero::enable();
    println!(
        "{:24} {:>10} {:>12} {:>12}",
        "unit", "differ", "allocations", "driven"
    );
    row("sine_hz", || sine_hz(440.0), None);
    row("poly_saw_hz", || poly_saw_hz(440.0), None);
    row("saw_hz (wavetable)", || saw_hz(440.0), None);
    row("pink", pink, None);
    row("adsr_live", || adsr_live(0.01, 0.05, 0.5, 0.05), None);
    row(
        "lowpole_hz",
        || lowpole_hz(1000.0),
        Some(driven(lowpole(), 0.0)),
    );
    row(
        "butterpass_hz",
        || butterpass_hz(1000.0),
        Some(driven(butterpass(), 0.0)),
    );
    row(
        "lowpass_hz (svf)",
        || lowpass_hz(1000.0, 2.0),
        Some(driven(lowpass(), 30.0)),
    );
    row(
        "resonator_hz (biquad)",
        || resonator_hz(1000.0, 50.0),
        Some(driven(resonator(), 20.0)),
    );
    row(
        "moog_hz",
        || moog_hz(1000.0, 0.5),
        Some(driven(moog(), 0.9)),
    );
    row("feedback delay", || feedback(delay(0.05) * dc(0.5)), None);
    row("chorus", || chorus(1, 0.012, 0.004, 0.6), None);
    row("limiter", || limiter(0.005, 0.05), None);
    row("reverb_stereo", || reverb_stereo(10.0, 2.0, 0.5), None);
}
