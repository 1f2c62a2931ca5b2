//! Control signals: slew, sample and hold, slow oscillators, arithmetic.

use crate::kit::*;

#[test]
fn a_slew_is_a_straight_line_up_and_another_down() {
    let mut input = vec![1.0; 2000];
    input[1000..].fill(0.0);
    let params = [("rise", number(0.01)), ("fall", number(0.005))];
    let slew = out("slew", &params, &[&input]);
    for (i, y) in slew.iter().enumerate() {
        let want = match i {
            0..1000 => ((i + 1) as f64 / 480.0).min(1.0),
            _ => (1.0 - (i - 999) as f64 / 240.0).max(0.0),
        };
        near(f64::from(*y), want, 1e-6);
    }
    assert_eq!((slew[999], slew[1999]), (1.0, 0.0), "it arrives exactly");
}

#[test]
fn a_value_is_held_from_trigger_to_trigger() {
    let (input, trigger) = (noise(1, 5000), noise(2, 5000));
    for (mode, tracks) in [("sample", false), ("track", true)] {
        let have = out("sample_hold", &[("mode", word(mode))], &[&input, &trigger]);
        let (mut held, mut was_high) = (0.0, false);
        for i in 0..5000 {
            let is_high = trigger[i] >= 0.5;
            if is_high && (tracks || !was_high) {
                held = input[i];
            }
            was_high = is_high;
            assert_eq!(have[i], held, "{mode} {i}");
        }
    }
}

#[test]
fn slow_oscillators_have_the_shapes_of_their_names() {
    let silence = vec![0.0; 4000];
    let cycle = |shape: &str| {
        let params = [
            ("freq", number(48.0)),
            ("shape", word(shape)),
            ("width", number(0.25)),
        ];
        out("lfo", &params, &[&silence])
    };
    let at = |i: usize| (i % 1000) as f64 / 1000.0;
    type Shape = (&'static str, fn(f64) -> f64);
    let shapes: [Shape; 5] = [
        ("sine", |t| (TAU * t).sin()),
        ("triangle", |t| match t {
            t if t < 0.25 => 8.0 * t - 1.0,
            t => 1.0 - 2.0 * (t - 0.25) / 0.75,
        }),
        ("square", |t| if t < 0.25 { 1.0 } else { -1.0 }),
        ("ramp", |t| 2.0 * t - 1.0),
        ("saw", |t| 1.0 - 2.0 * t),
    ];
    for (shape, want) in shapes {
        for (i, y) in cycle(shape).iter().enumerate() {
            // At an edge the phase is a part of 2^-64 before or behind it.
            if at(i) != 0.25 && at(i) != 0.0 {
                near(f64::from(*y), want(at(i)), 1e-6);
            }
        }
    }
}

#[test]
fn random_numbers_last_a_cycle_and_drift_joins_them() {
    let silence = vec![0.0; 4000];
    let params = |shape| {
        [
            ("freq", number(48.0)),
            ("shape", word(shape)),
            ("seed", number(9.0)),
        ]
    };
    let steps = out("lfo", &params("random"), &[&silence]);
    let drift = out("lfo", &params("drift"), &[&silence]);
    for cycle in 0..3 {
        let [from, to] = [500, 1500].map(|i| steps[cycle * 1000 + i]);
        assert_ne!(from, to);
        for i in 2..998 {
            let at = cycle * 1000 + i;
            assert_eq!(steps[at], from);
            let share = 0.5 - 0.5 * (TAU * i as f64 / 2000.0).cos();
            let want = f64::from(from) + f64::from(to - from) * share;
            near(f64::from(drift[at]), want, 1e-5);
        }
    }
}

#[test]
fn a_sync_begins_the_cycle_anew() {
    let mut sync = vec![0.0; 2000];
    sync[700..800].fill(1.0);
    let ramp = out(
        "lfo",
        &[("freq", number(48.0)), ("shape", word("ramp"))],
        &[&sync],
    );
    for i in 0..999 {
        near(
            f64::from(ramp[700 + i]),
            2.0 * i as f64 / 1000.0 - 1.0,
            1e-6,
        );
    }
}

#[test]
fn a_number_that_changes_is_added_to_each_frame() {
    let input = noise(4, 4000);
    let mut unit = bench("math", &[("op", word("add")), ("b", number(1.0))]);
    let have = play(&mut unit, &[&input], &[change(0, 2000, 3.0)]).swap_remove(0);
    for i in (0..2000).chain(2240..4000) {
        let b = if i < 2000 { 1.0 } else { 3.0 };
        near(f64::from(have[i]), f64::from(input[i]) + b, 1e-6);
    }
    assert!(have[2100] - input[2100] > 1.5 && have[2100] - input[2100] < 2.5);
}
