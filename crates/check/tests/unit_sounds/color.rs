//! Saturation, folding and crushing.

use crate::kit::*;

/// What `shape` makes of `input`, with the unit's latency.
fn shaped(input: &[f32], latency: usize, shape: impl Fn(f64) -> f64) -> Vec<f64> {
    let at = |i: usize| {
        i.checked_sub(latency)
            .map_or(0.0, |at| f64::from(input[at]))
    };
    (0..input.len()).map(|i| shape(at(i))).collect()
}

#[test]
fn shapes_at_the_rate_are_their_formulas() {
    let input = noise(3, 3000);
    type Shape = (&'static str, &'static str, fn(f64) -> f64);
    let shapes: [Shape; 6] = [
        ("saturate", "soft", |u| {
            let u = u.clamp(-3.0, 3.0);
            u * (27.0 + u * u) / (27.0 + 9.0 * u * u)
        }),
        ("saturate", "tape", |u| u / (1.0 + u * u).sqrt()),
        ("saturate", "hard", |u| u.clamp(-1.0, 1.0)),
        ("saturate", "tube", |u| match u < 0.0 {
            true => u.max(-3.0) * (27.0 + u.max(-3.0).powi(2)) / (27.0 + 9.0 * u.max(-3.0).powi(2)),
            false => u / (1.0 + u),
        }),
        ("fold", "sine", |u| (TAU / 4.0 * u).sin()),
        // The triangle is the arc sine of a sine.
        ("fold", "triangle", |u| {
            (TAU / 4.0 * u).sin().asin() / (TAU / 4.0)
        }),
    ];
    for (kind, mode, shape) in shapes {
        let params = [
            ("mode", word(mode)),
            ("oversample", word("1")),
            ("drive_db", number(20.0)),
            ("bias", number(0.25)),
        ];
        let heard = out(kind, &params, &[&input]);
        let want = shaped(&input, 0, |x| shape(10.0 * x + 0.25) - shape(0.25));
        for (have, want) in heard.iter().zip(want) {
            near(f64::from(*have), want, 1e-5);
        }
    }
}

#[test]
fn oversampling_keeps_aliases_away() {
    // Harmonics of 9 kHz that fold lie at multiples of 3 kHz.
    let input = sine(9000.0, 0.5, RATE);
    let alias = |times: &str| {
        let params = [
            ("mode", word("tape")),
            ("oversample", word(times)),
            ("drive_db", number(6.0)),
        ];
        let heard = out("saturate", &params, &[&input]);
        let levels = [3000.0, 6000.0, 12_000.0, 15_000.0, 18_000.0]
            .map(|hz| sine_db(&heard[RATE / 2..], hz));
        levels.into_iter().fold(f64::MIN, f64::max)
    };
    let [plain, two, four, eight] = ["1", "2", "4", "8"].map(alias);
    // At twice the rate harmonics from the ninth on fold before any filter: their own level is what is heard.
    assert!(plain > -45.0 && two < -75.0, "{plain} {two}");
    assert!(four < -100.0 && eight < -100.0, "{four} {eight}");
}

#[test]
fn a_slow_sound_is_shaped_as_its_formula_and_64_frames_later() {
    let input = sine(200.0, 0.8, 6000);
    let mut unit = bench(
        "saturate",
        &[("mode", word("tape")), ("drive_db", number(12.0))],
    );
    assert_eq!(unit.processor.latency().0, 64);
    let heard = play(&mut unit, &[&input], &[]).swap_remove(0);
    let gain = 10f64.powf(12.0 / 20.0);
    let want = shaped(&input, 64, |x| x * gain / (1.0 + (x * gain).powi(2)).sqrt());
    for i in 300..6000 {
        near(f64::from(heard[i]), want[i], 1e-3);
    }
}

#[test]
fn a_crusher_rounds_and_holds() {
    let input = noise(9, 4800);
    let heard = out(
        "crush",
        &[("bits", number(4.0)), ("hold_freq", number(4800.0))],
        &[&input],
    );
    let (mut held, mut count) = (0.0f64, 0);
    for i in 0..4800 {
        // The phase wraps at every tenth frame, give or take the last bit of it.
        if (i + 1) % 10 == 0 {
            let taken =
                (f64::from(heard[i]) - (f64::from(input[i]) * 8.0 + 0.5).floor() / 8.0).abs();
            count += usize::from(taken < 1e-6);
        }
        near(
            f64::from(heard[i]) * 8.0,
            (f64::from(heard[i]) * 8.0).round(),
            1e-6,
        );
        if i % 10 > 1 && i % 10 < 9 {
            near(f64::from(heard[i]), held, 0.0);
        }
        held = f64::from(heard[i]);
    }
    assert!(count > 400, "{count} samples were taken at their frames");
}

#[test]
fn an_oversampled_crusher_folds_less_at_the_rate_itself() {
    let input = sine(1000.0, 0.5, 2 * RATE);
    let heard = |times: &str, bits: f64| {
        let params = [
            ("bits", number(bits)),
            ("hold_freq", number(7000.0)),
            ("oversample", word(times)),
        ];
        out("crush", &params, &[&input]).split_off(RATE)
    };
    // Images of the held sine around multiples of 7 kHz; those from 27 kHz on fold where they are not filtered.
    let images = [6000.0, 8000.0, 13_000.0, 15_000.0, 20_000.0];
    let folded = [21_000.0, 19_000.0, 14_000.0, 12_000.0];
    let highest = |heard: &[f32], at: &[f64]| {
        let levels = at.iter().map(|hz| sine_db(heard, *hz));
        levels.fold(f64::MIN, f64::max)
    };
    let [plain, eight] = ["1", "8"].map(|times| heard(times, 24.0));
    for heard in [&plain, &eight] {
        assert!(highest(heard, &images) > -30.0);
    }
    let [plain, eight] = [plain, eight].map(|heard| highest(&heard, &folded));
    assert!(eight < plain - 15.0, "{plain} {eight}");
    // Steps of the quantizer are where they were, 64 frames later.
    let slow = sine(20.0, 0.9, 9600);
    let params = [("bits", number(3.0)), ("oversample", word("4"))];
    let mut unit = bench("crush", &params);
    assert_eq!(unit.processor.latency().0, 64);
    let heard = play(&mut unit, &[&slow], &[]).swap_remove(0);
    // In the middle of a step, far from both edges.
    let middle = slow[1200 - 64..]
        .iter()
        .zip(&heard[1200..])
        .filter(|(x, _)| {
            let steps = f64::from(**x) * 4.0;
            (steps - steps.round()).abs() < 0.05
        });
    let middle: Vec<_> = middle.collect();
    assert!(middle.len() > 100);
    for (x, y) in middle {
        near(f64::from(*y), (f64::from(*x) * 4.0).round() / 4.0, 0.02);
    }
}
