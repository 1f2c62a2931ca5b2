//! Moving delays and phases against slow versions of their recursions.

use crate::kit::*;

/// The cubic through four samples of `past`, which gives the sample so far back.
fn cubic(past: impl Fn(usize) -> f64, delay: f64) -> f64 {
    let whole = delay as usize;
    let d = delay - whole as f64;
    let nodes = [-1.0, 0.0, 1.0, 2.0];
    let term = |k: usize| {
        let others = (0..4).filter(|j| *j != k);
        let weight: f64 = others
            .map(|j| (d - nodes[j]) / (nodes[k] - nodes[j]))
            .product();
        weight * past(whole + k - 1)
    };
    (0..4).map(term).sum()
}

#[test]
fn a_chorus_is_the_mean_of_moving_copies() {
    let (speed, depth, delay) = (3.0, 0.002, 0.004);
    let params = [
        ("speed", number(speed)),
        ("depth", number(depth)),
        ("delay", number(delay)),
        ("voices", number(3.0)),
        ("mix", number(0.75)),
    ];
    let input = noise(5, 9000);
    let heard = out("chorus", &params, &[&input]);
    for (n, found) in heard.iter().enumerate() {
        let past = |back: usize| n.checked_sub(back).map_or(0.0, |at| f64::from(input[at]));
        let copy = |voice: f64| {
            let phase = n as f64 * speed / RATE as f64 + voice / 3.0;
            let moved = 0.5 + 0.5 * (TAU * phase).sin();
            cubic(past, RATE as f64 * (delay + depth * moved))
        };
        let wet = (copy(0.0) + copy(1.0) + copy(2.0)) / 3.0;
        near(f64::from(*found), 0.25 * past(0) + 0.75 * wet, 1e-3);
    }
}

#[test]
fn a_flanger_that_stands_still_is_a_comb() {
    let params = [
        ("speed", number(0.0)),
        ("depth", number(0.0)),
        ("delay", number(0.002)),
        ("feedback", number(0.5)),
        ("mix", number(1.0)),
    ];
    let heard = out("flanger", &params, &[&impulse(1000)]);
    for (n, y) in heard.iter().enumerate() {
        let want = match n {
            0 => 0.0,
            n if n % 96 == 0 => 0.5f64.powi(n as i32 / 96 - 1),
            _ => 0.0,
        };
        near(f64::from(*y), want, 1e-5);
    }
}

#[test]
fn a_phaser_that_stands_still_has_a_notch_for_two_stages() {
    let params = [
        ("freq", number(1000.0)),
        ("speed", number(0.0)),
        ("depth", number(0.0)),
        ("feedback", number(0.0)),
        ("stages", number(4.0)),
    ];
    let heard = out("phaser", &params, &[&impulse(1 << 15)]);
    // Each of four stages turns by 2 atan(w): together by 180 and by 540 degrees.
    let notch = |degrees: f64| {
        let w = (degrees / 8.0).to_radians().tan();
        (w * (TAU / 2.0 * 1000.0 / RATE as f64).tan()).atan() * RATE as f64 / (TAU / 2.0)
    };
    for degrees in [180.0, 540.0] {
        assert!(
            response_db(&heard, notch(degrees)) < -80.0,
            "{}",
            notch(degrees)
        );
    }
    near(response_db(&heard, notch(360.0)), 0.0, 0.01);
}

#[test]
fn moving_delays_are_stable_while_they_jump() {
    for (kind, params) in [("flanger", vec![2, 1]), ("phaser", vec![0, 2])] {
        let mut unit = bench(kind, &[("feedback", number(0.95)), ("speed", number(20.0))]);
        let mut numbers = units::SplitMix64(8);
        let highest = |param| match (kind, param) {
            ("flanger", 2) => 0.05,
            ("flanger", _) => 0.02,
            (_, 0) => 20_000.0,
            _ => 4.0,
        };
        let mut changes = Vec::new();
        for i in 0..RATE as u32 / 16 {
            changes.extend(
                params
                    .iter()
                    .map(|param| change(*param, i * 16, (highest(*param) * numbers.unit()) as f32)),
            );
        }
        let loudest = peak(&play(&mut unit, &[&noise(2, RATE)], &changes)[0]);
        assert!(loudest < 100.0, "{kind} reaches {loudest}");
    }
}
