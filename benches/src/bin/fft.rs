//! Speed of transforms, multiply-adds and long delay lines. `fft [transforms] [multiply] [streams]`; all without arguments.
//!
//! | part | measures |
//! |---|---|
//! | `transforms` | real transforms by size and kernels, beside the crate `realfft` |
//! | `multiply` | complex multiply-adds as in figure 5 of Battenberg and Avižienis (2011) |
//! | `streams` | long delay lines, where the memory's bandwidth decides |
//!
//! Each figure is the shortest of many runs; of the streams it is the median, and each run reads memory that has left the
//! caches. Use `chrt -f 50` on a busy machine.

use fft::{AlignedBuffer, Kernels, Packing, RealFft, half};
use realfft::RealFftPlanner;
use std::hint::black_box;
use std::time::Instant;
use studies::multiply_variants::{ComplexLayout, MultiplyVariant, multiply_add};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |word: &str| words.is_empty() || words.iter().any(|w| w == word);
    if wanted("transforms") {
        transforms();
    }
    if wanted("multiply") {
        figure_5();
    }
    if wanted("streams") {
        streams();
    }
}

/// Shortest time of one `work`, in ns, over rounds of about 200 µs.
fn min_ns(mut work: impl FnMut()) -> f64 {
    let mut time = |times: usize| {
        let begin = Instant::now();
        (0..times).for_each(|_| work());
        begin.elapsed().as_nanos() as f64 / times as f64
    };
    time(2);
    let times = (200_000.0 / time(1).max(20.0)).max(1.0) as usize;
    (0..40).map(|_| time(times)).fold(f64::MAX, f64::min)
}

fn noise(len: usize) -> AlignedBuffer {
    let mut values = AlignedBuffer::new(len);
    for (i, value) in values.iter_mut().enumerate() {
        *value = (i * 7919 % 1009) as f32 / 1009.0 - 0.5;
    }
    values
}

fn transforms() {
    for packing in [Packing::Mono, Packing::Batch] {
        println!(
            "\nns per channel of a real transform of 2 M values, {packing:?}: forward, inverse"
        );
        print!("{:>8}", "M");
        let names = Kernels::available().map(Kernels::name);
        names
            .chain(["realfft"])
            .for_each(|name| print!("{name:>20}"));
        println!();
        for log in 4..=if packing == Packing::Mono { 16 } else { 13 } {
            print!("{:8}", 1 << log);
            let own = Kernels::available().map(|kernels| {
                let fft = RealFft::new(1 << log, packing, kernels).expect("a size");
                transform(&fft)
            });
            for (forward, inverse) in own.chain([library_transform(1 << log)]) {
                print!("{forward:11.0}{inverse:9.0}");
            }
            println!();
        }
    }
}

/// Forward and inverse transform of one channel by the crate `realfft`, in ns, without conversion to blocks.
fn library_transform(bins: usize) -> (f64, f64) {
    let mut planner = RealFftPlanner::<f32>::new();
    let (forward, inverse) = (
        planner.plan_fft_forward(2 * bins),
        planner.plan_fft_inverse(2 * bins),
    );
    // Both transforms destroy their input: each run restores it; the time of that is measured alone and subtracted.
    let (before, mut time) = (noise(2 * bins), noise(2 * bins));
    let (mut spectrum, mut scratch) = (forward.make_output_vec(), forward.make_scratch_vec());
    let copy = min_ns(|| time.copy_from_slice(black_box(&before)));
    let forward_ns = min_ns(|| {
        time.copy_from_slice(black_box(&before));
        let done = forward.process_with_scratch(&mut time, &mut spectrum, &mut scratch);
        done.expect("its lengths are right");
    });
    let kept = spectrum.clone();
    let mut scratch = inverse.make_scratch_vec();
    let inverse_ns = min_ns(|| {
        spectrum.copy_from_slice(black_box(&kept));
        let done = inverse.process_with_scratch(&mut spectrum, &mut time, &mut scratch);
        done.expect("its lengths are right");
    });
    (forward_ns - copy, inverse_ns - copy)
}

/// Forward and inverse transform, in ns per channel.
fn transform(fft: &RealFft) -> (f64, f64) {
    let (mut time, mut spectrum) = (
        noise(fft.buffer_len()),
        AlignedBuffer::new(fft.buffer_len()),
    );
    let mut scratch = AlignedBuffer::new(fft.scratch_len());
    let before = time.clone();
    fft.forward(&time, &mut spectrum, &mut scratch);
    let kept = spectrum.clone();
    fft.inverse(&mut spectrum, &mut time, &mut scratch);
    let scale = 2.0 * fft.bins() as f32;
    let near = |(a, b): (&f32, &f32)| (a / scale - b).abs() < 1e-5;
    assert!(
        time.iter().zip(&*before).all(near),
        "forward and inverse together change the values"
    );

    let channels = fft.packing().channels() as f64;
    let forward = min_ns(|| fft.forward(&before, &mut spectrum, &mut scratch));
    // The inverse destroys its spectrum, so each run restores it; the time of that is measured alone and subtracted.
    let copy = min_ns(|| spectrum.copy_from_slice(black_box(&kept)));
    let inverse = min_ns(|| {
        spectrum.copy_from_slice(black_box(&kept));
        fft.inverse(&mut spectrum, &mut time, &mut scratch);
    });
    (forward / channels, (inverse - copy) / channels)
}

/// All variants of the multiply-add, by name.
fn variants() -> Vec<(String, MultiplyVariant)> {
    let plain = [
        ("type", MultiplyVariant::ComplexType),
        ("naive", MultiplyVariant::Naive),
        ("naive x4", MultiplyVariant::NaiveUnrolled),
    ];
    let mut all: Vec<_> = plain
        .map(|(name, variant)| (name.to_string(), variant))
        .into();
    for kernels in Kernels::available().skip(1) {
        all.push((kernels.name().into(), MultiplyVariant::Simd(kernels)));
        all.push((
            format!("{} x4", kernels.name()),
            MultiplyVariant::SimdUnrolled(kernels),
        ));
    }
    all
}

/// Duration of `bins` samples at 44.1 kHz, in ns.
fn period_ns(bins: usize) -> f64 {
    bins as f64 / 44_100.0 * 1e9
}

fn figure_5() {
    for layout in ComplexLayout::ALL {
        println!(
            "\none multiply-add of M bins, % of the duration of M samples at 44.1 kHz, {layout:?}"
        );
        print!("{:>8}", "M");
        variants().iter().for_each(|(name, _)| print!("{name:>10}"));
        println!();
        for log in 5..=16 {
            let bins = 1 << log;
            print!("{bins:8}");
            for (_, variant) in variants() {
                print!(
                    "{:10.4}",
                    100.0 * multiply(variant, layout, bins) / period_ns(bins)
                );
            }
            println!();
        }
    }
    println!("\nns per partition of 32 samples (in 2011: naive 180, optimised 75)");
    for layout in ComplexLayout::ALL {
        print!("{:>12}", format!("{layout:?}"));
        for (name, variant) in variants() {
            print!("  {name} {:.1}", multiply(variant, layout, 32));
        }
        println!();
    }
    println!(
        "ns of a transform of 64 samples, forward and inverse (in 2011, FFTW: 1100 and 320, tuned 270 and 250)"
    );
    for packing in [Packing::Mono, Packing::Batch] {
        let fft = RealFft::new(32, packing, Kernels::best()).expect("a size");
        let (forward, inverse) = transform(&fft);
        println!(
            "{:>12}  {forward:.1} and {inverse:.1} per channel",
            format!("{packing:?}")
        );
    }
}

/// One multiply-add of `bins` bins in the caches, in ns.
fn multiply(variant: MultiplyVariant, layout: ComplexLayout, bins: usize) -> f64 {
    let (a, b) = (noise(2 * bins), noise(2 * bins));
    let (mut sum, mut want) = (AlignedBuffer::new(2 * bins), AlignedBuffer::new(2 * bins));
    multiply_add(variant, layout, &mut sum, &a, &b);
    multiply_add(MultiplyVariant::Naive, layout, &mut want, &a, &b);
    let near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-5;
    assert!(
        sum.iter().zip(&*want).all(near),
        "{variant:?} {layout:?} is wrong"
    );
    min_ns(|| multiply_add(variant, layout, &mut sum, black_box(&a), &b))
}

/// Sets of partitions that are used in turn, so that none is in a cache when it is needed.
const SETS: usize = 24;

fn streams() {
    let kernels = Kernels::best();
    println!(
        "\n7 partitions of M bins onto a sum, {kernels:?}, from main memory: ns per bin and partition (GB/s)"
    );
    println!(
        "{:>8}{:>22}{:>22}{:>22}{:>22}{:>22}{:>22}{:>22}",
        "M",
        "1 per pass",
        "2 per pass",
        "4 per pass",
        "7 per pass",
        "7, half precision",
        "two outputs",
        "four outputs"
    );
    for bins in [1024, 4096, 16384, 65536] {
        for (stagger, note) in [(0, ""), (96, "  staggered by three blocks")] {
            let step = 2 * bins + stagger;
            let sets = (SETS * 65536 / bins).min(1024);
            let memory: Vec<AlignedBuffer> = (0..2 * sets).map(|_| noise(7 * step)).collect();
            let halves: Vec<Vec<u16>> = memory
                .chunks_exact(2)
                .map(|two| two[1].iter().map(|&x| half::from_f32(x)).collect())
                .collect();
            let mut sum = AlignedBuffer::new(2 * bins);
            print!("{bins:8}");
            for many in [1, 2, 4, 7] {
                let ns = median(sets, |set| {
                    let of =
                        |i: usize, part: usize| &memory[2 * set + i][part * step..][..2 * bins];
                    let pairs: [_; 7] = std::array::from_fn(|part| (of(0, part), of(1, part)));
                    for pairs in pairs.chunks(many) {
                        kernels.multiply_add_many(&mut sum, pairs, Packing::Mono);
                    }
                });
                show(ns, bins, 16.0);
            }
            let ns = median(sets, |set| {
                let pairs: [_; 7] = std::array::from_fn(|part| {
                    let at = part * step..part * step + 2 * bins;
                    (&memory[2 * set][at.clone()], &halves[set][at])
                });
                kernels.multiply_add_f16(&mut sum, &pairs, Some(Packing::Mono));
            });
            show(ns, bins, 12.0);
            for outputs in [2, 4] {
                // All products of that many outputs: those of the last inputs are added one by one.
                let mut sums: Vec<AlignedBuffer> =
                    (0..outputs).map(|_| AlignedBuffer::new(2 * bins)).collect();
                let ns = median(sets, |set| {
                    let of =
                        |i: usize, part: usize| &memory[2 * set + i][part * step..][..2 * bins];
                    let inputs: [_; 7] = std::array::from_fn(|part| of(0, part));
                    let filters: [_; 7] = std::array::from_fn(|part| of(1, part));
                    let mut sums: Vec<&mut [f32]> = sums.iter_mut().map(|s| &mut **s).collect();
                    kernels.multiply_add_outputs(&mut sums, &inputs, &filters, Some(Packing::Mono));
                    for last in 1..outputs {
                        for i in 0..last {
                            let pair = (inputs[6 - i], filters[last - 1 - i]);
                            kernels.multiply_add_many(sums[last], &[pair], Packing::Mono);
                        }
                    }
                });
                show(ns / outputs as f64, bins, 16.0);
            }
            println!("{note}");
        }
    }
}

fn show(ns: f64, bins: usize, bytes: f64) {
    let each = ns / (7 * bins) as f64;
    print!("{:>22}", format!("{each:.3} ({:.1})", bytes / each));
}

/// Median time of `work` in ns, over each set three times.
fn median(sets: usize, mut work: impl FnMut(usize)) -> f64 {
    let mut all: Vec<f64> = (0..3 * sets)
        .map(|i| {
            let begin = Instant::now();
            work(i % sets);
            begin.elapsed().as_nanos() as f64
        })
        .collect();
    divisi_benches::stats::median(&mut all)
}
