//! Transforms by size, back-end and kernels; multiply-adds as in figure 5 of Battenberg and Avižienis (2011); long lines
//! of partitions, where memory decides. `fft [transforms] [multiply] [streams]`; all without a word.
//!
//! Each figure is the least of many runs, but for the streams: there the median, each run on memory that was last
//! touched a long time ago. With `chrt -f 50` where the machine is busy.

use fft::compare::{Layout, Style, multiply_add};
use fft::{Aligned, Backend, Kernels, Packing, RealFft, half};
use std::hint::black_box;
use std::time::Instant;

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

/// The least ns of one `work`, over rounds of about 200 µs.
fn least(mut work: impl FnMut()) -> f64 {
    let mut time = |times: usize| {
        let begin = Instant::now();
        (0..times).for_each(|_| work());
        begin.elapsed().as_nanos() as f64 / times as f64
    };
    time(2);
    let times = (200_000.0 / time(1).max(20.0)).max(1.0) as usize;
    (0..40).map(|_| time(times)).fold(f64::MAX, f64::min)
}

fn noise(len: usize) -> Aligned {
    let mut values = Aligned::new(len);
    for (i, value) in values.iter_mut().enumerate() {
        *value = (i * 7919 % 1009) as f32 / 1009.0 - 0.5;
    }
    values
}

/// Who transforms, by name.
fn contestants() -> Vec<(String, Kernels, Backend)> {
    let own = Kernels::here().map(|k| (k.name().to_string(), k, Backend::Own));
    let mut all: Vec<_> = own.collect();
    all.push(("realfft".into(), Kernels::best(), Backend::RealFft));
    all
}

fn transforms() {
    for packing in [Packing::Mono, Packing::Batch] {
        println!("\nns a channel of a real transform of 2 M values, {packing:?}: forward, inverse");
        print!("{:>8}", "M");
        contestants()
            .iter()
            .for_each(|(name, ..)| print!("{name:>20}"));
        println!();
        for log in 4..=if packing == Packing::Mono { 16 } else { 13 } {
            print!("{:8}", 1 << log);
            for (_, kernels, backend) in contestants() {
                let fft = RealFft::new(1 << log, packing, kernels, backend).expect("a size");
                let (forward, inverse) = transform(&fft);
                print!("{forward:11.0}{inverse:9.0}");
            }
            println!();
        }
    }
}

/// ns a channel, forward and back.
fn transform(fft: &RealFft) -> (f64, f64) {
    let (mut time, mut spectrum) = (noise(fft.floats()), Aligned::new(fft.floats()));
    let mut scratch = Aligned::new(fft.scratch());
    let before = time.clone();
    fft.forward(&time, &mut spectrum, &mut scratch);
    let kept = spectrum.clone();
    fft.inverse(&mut spectrum, &mut time, &mut scratch);
    let scale = 2.0 * fft.bins() as f32;
    let near = |(a, b): (&f32, &f32)| (a / scale - b).abs() < 1e-5;
    assert!(
        time.iter().zip(&*before).all(near),
        "there and back is not the same"
    );

    let channels = fft.packing().channels() as f64;
    let forward = least(|| fft.forward(&before, &mut spectrum, &mut scratch));
    // The inverse destroys its spectrum: what it costs to put it back is measured alone.
    let copy = least(|| spectrum.copy_from_slice(black_box(&kept)));
    let inverse = least(|| {
        spectrum.copy_from_slice(black_box(&kept));
        fft.inverse(&mut spectrum, &mut time, &mut scratch);
    });
    (forward / channels, (inverse - copy) / channels)
}

/// The ways to multiply, by name.
fn styles() -> Vec<(String, Style)> {
    let plain = [
        ("type", Style::Type),
        ("naive", Style::Naive),
        ("naive x4", Style::NaiveByFour),
    ];
    let mut all: Vec<_> = plain.map(|(name, style)| (name.to_string(), style)).into();
    for kernels in Kernels::here().skip(1) {
        all.push((kernels.name().into(), Style::Vectors(kernels)));
        all.push((
            format!("{} x4", kernels.name()),
            Style::VectorsByFour(kernels),
        ));
    }
    all
}

/// How long `bins` bins last at 44.1 kHz.
fn period_ns(bins: usize) -> f64 {
    bins as f64 / 44_100.0 * 1e9
}

fn figure_5() {
    for layout in Layout::ALL {
        println!("\none multiply-add of M bins, % of M samples' period at 44.1 kHz, {layout:?}");
        print!("{:>8}", "M");
        styles().iter().for_each(|(name, _)| print!("{name:>10}"));
        println!();
        for log in 5..=16 {
            let bins = 1 << log;
            print!("{bins:8}");
            for (_, style) in styles() {
                print!(
                    "{:10.4}",
                    100.0 * multiply(style, layout, bins) / period_ns(bins)
                );
            }
            println!();
        }
    }
    println!("\nns a partition of 32 samples (in 2011: naive 180, optimised 75)");
    for layout in Layout::ALL {
        print!("{:>12}", format!("{layout:?}"));
        for (name, style) in styles() {
            print!("  {name} {:.1}", multiply(style, layout, 32));
        }
        println!();
    }
    println!(
        "ns of a transform of 64 samples, there and back (in 2011, FFTW: 1100 and 320, tuned 270 and 250)"
    );
    for packing in [Packing::Mono, Packing::Batch] {
        let fft = RealFft::new(32, packing, Kernels::best(), Backend::Own).expect("a size");
        let (forward, inverse) = transform(&fft);
        println!(
            "{:>12}  {forward:.1} and {inverse:.1} a channel",
            format!("{packing:?}")
        );
    }
}

/// ns of one multiply-add of `bins` bins that lie in the caches.
fn multiply(style: Style, layout: Layout, bins: usize) -> f64 {
    let (a, b) = (noise(2 * bins), noise(2 * bins));
    let (mut sum, mut want) = (Aligned::new(2 * bins), Aligned::new(2 * bins));
    multiply_add(style, layout, &mut sum, &a, &b);
    multiply_add(Style::Naive, layout, &mut want, &a, &b);
    let near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-5;
    assert!(
        sum.iter().zip(&*want).all(near),
        "{style:?} {layout:?} is wrong"
    );
    least(|| multiply_add(style, layout, &mut sum, black_box(&a), &b))
}

/// How many sets of partitions are gone through in turn, so that none is near when it is needed.
const SETS: usize = 24;

fn streams() {
    let kernels = Kernels::best();
    println!(
        "\n7 partitions of M bins onto a sum, {kernels:?}, from far memory: ns a bin and partition (GB/s)"
    );
    println!(
        "{:>8}{:>22}{:>22}{:>22}{:>22}{:>22}{:>22}{:>22}",
        "M",
        "1 a pass",
        "2 a pass",
        "4 a pass",
        "7 a pass",
        "7, half precision",
        "two outputs",
        "four outputs"
    );
    for bins in [1024, 4096, 16384, 65536] {
        for (stagger, note) in [(0, ""), (96, "  staggered by three blocks")] {
            let step = 2 * bins + stagger;
            let sets = (SETS * 65536 / bins).min(1024);
            let memory: Vec<Aligned> = (0..2 * sets).map(|_| noise(7 * step)).collect();
            let halves: Vec<Vec<u16>> = memory
                .chunks_exact(2)
                .map(|two| two[1].iter().map(|&x| half::from_f32(x)).collect())
                .collect();
            let mut sum = Aligned::new(2 * bins);
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
                kernels.multiply_add_half(&mut sum, &pairs, Some(Packing::Mono));
            });
            show(ns, bins, 12.0);
            for outputs in [2, 4] {
                // What a delay line needs for that many outputs: the rest comes one by one.
                let mut sums: Vec<Aligned> = (0..outputs).map(|_| Aligned::new(2 * bins)).collect();
                let ns = median(sets, |set| {
                    let of =
                        |i: usize, part: usize| &memory[2 * set + i][part * step..][..2 * bins];
                    let inputs: [_; 7] = std::array::from_fn(|part| of(0, part));
                    let filters: [_; 7] = std::array::from_fn(|part| of(1, part));
                    let mut sums: Vec<&mut [f32]> = sums.iter_mut().map(|s| &mut **s).collect();
                    kernels.multiply_add_ahead(&mut sums, &inputs, &filters, Some(Packing::Mono));
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

/// The median ns of `work` on each set, three times over.
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
