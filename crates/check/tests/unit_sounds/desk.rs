//! A strip against the units that it is made of, and a bus against its formula.

use crate::kit::*;
use graph::ParamValue;

/// Largest difference between two sounds.
fn difference(a: &[f32], b: &[f32]) -> f64 {
    let pairs = a.iter().zip(b);
    pairs.fold(0.0, |most, (a, b)| most.max(f64::from((a - b).abs())))
}

fn strip(params: &[(&str, f64)], inputs: &[&[f32]]) -> Vec<Vec<f32>> {
    let mut params: Vec<(&str, ParamValue)> = params
        .iter()
        .map(|(name, value)| (*name, number(*value)))
        .collect();
    params.push(("channels", number(inputs.len() as f64)));
    play(&mut bench("strip", &params), inputs, &[])
}

#[test]
fn a_strip_sounds_as_the_units_in_it() {
    let input = noise(4, RATE / 4);
    let heard = strip(
        &[
            ("trim_db", -6.0),
            ("low_db", 5.0),
            ("mid_freq", 700.0),
            ("mid_db", -9.0),
            ("high_db", 4.0),
            ("threshold_db", -24.0),
            ("ratio", 3.0),
            ("attack", 0.002),
            ("release", 0.05),
            ("level_db", -3.0),
            ("pan", 0.4),
            ("send1_db", -12.0),
        ],
        &[&input],
    );
    let gain = |db| [("gain_db", number(db))];
    let trimmed = out("gain", &gain(-6.0), &[&input]);
    let equalized = out(
        "eq",
        &[
            ("low_freq", number(100.0)),
            ("low_db", number(5.0)),
            ("mid1_freq", number(700.0)),
            ("mid1_q", number(0.8)),
            ("mid1_db", number(-9.0)),
            ("high_freq", number(8000.0)),
            ("high_db", number(4.0)),
        ],
        &[&trimmed],
    );
    let squeezed = out(
        "compressor",
        &[
            ("threshold_db", number(-24.0)),
            ("ratio", number(3.0)),
            ("attack", number(0.002)),
            ("release", number(0.05)),
        ],
        &[&equalized, &vec![0.0; input.len()]],
    );
    let faded = out("gain", &gain(-3.0), &[&squeezed]);
    let panned = play(&mut bench("pan", &[("pan", number(0.4))]), &[&faded], &[]);
    assert!(peak(&panned[0]) > 0.05);
    for side in 0..2 {
        assert!(difference(&heard[side], &panned[side]) < 1e-5);
        let sent = out("gain", &gain(-12.0), &[&panned[side]]);
        assert!(difference(&heard[2 + side], &sent) < 1e-5);
        assert_eq!(peak(&heard[4 + side]), 0.0, "the second send is shut");
    }
}

#[test]
fn a_strip_as_it_comes_passes_two_channels_on() {
    let (a, b) = (noise(1, 4096), noise(2, 4096));
    let heard = strip(&[], &[&a, &b]);
    assert!(difference(&heard[0], &a) < 1e-6 && difference(&heard[1], &b) < 1e-6);
    let right = strip(&[("pan", 1.0)], &[&a, &b]);
    assert_eq!(peak(&right[0]), 0.0);
    assert!(difference(&right[1], &b) < 1e-6);
}

#[test]
fn a_strip_that_is_muted_or_cut_is_silent_with_its_sends() {
    let input = noise(3, 4096);
    for key in ["mute", "cut"] {
        let heard = strip(&[(key, 1.0), ("send1_db", 0.0)], &[&input]);
        assert!(heard.iter().all(|channel| peak(channel) == 0.0), "{key}");
    }
}

#[test]
fn a_bus_has_level_balance_and_width() {
    let (a, b) = (vec![0.5; 64], vec![-0.25; 64]);
    let bus = |params: &[(&str, f64)]| {
        let params: Vec<_> = params.iter().map(|(k, v)| (*k, number(*v))).collect();
        let heard = play(&mut bench("bus", &params), &[&a, &b], &[]);
        [heard[0][63], heard[1][63]]
    };
    assert_eq!(bus(&[]), [0.5, -0.25]);
    assert_eq!(bus(&[("width", 0.0)]), [0.125, 0.125]);
    assert_eq!(bus(&[("width", 2.0)]), [0.875, -0.625]);
    assert_eq!(bus(&[("balance", 1.0)]), [0.0, -0.25]);
    assert_eq!(bus(&[("balance", -0.5)]), [0.5, -0.125]);
    assert_eq!(bus(&[("mute", 1.0)]), [0.0, 0.0]);
    near(f64::from(bus(&[("level_db", -6.0)])[0]), 0.250_594, 1e-5);
}
