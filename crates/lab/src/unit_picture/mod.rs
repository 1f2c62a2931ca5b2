//! [`unit_picture`]: what a unit does, as a plot: its response, its waveform, its curve, its step, or what its gauges show.
//!
//! The unit plays in an engine of its own, offline at 48 kHz, with the device's inputs as its audio inputs. So a picture shows
//! what a session would give.

//!
//! `bench` plays the unit, `error` says why it cannot, `stimuli` has what it plays and what is drawn of that, `spectrum` the levels and phases.

mod bench;
mod error;
mod spectrum;
mod stimuli;

pub use error::UnitPictureError;

use bench::UnitBench;
use divisi::draw::Picture;
use divisi::draw::plot::{self, LinePlot};
use divisi::graph::KindPicture;
use divisi::prelude::*;
use std::sync::Arc;

/// Draws what a unit of `kind` does with these parameters, given as key and text. A number that the kind demands and nobody
/// states has an example's value, which the title names.
///
/// # Errors
///
/// The kind or a parameter is unknown, a value does not fit, or there is no sound to draw.
///
/// Real-time: setup.
pub fn unit_picture(
    registry: Arc<Registry>,
    kind: &str,
    params: &[(String, String)],
) -> Result<Picture, UnitPictureError> {
    let bench = UnitBench::new(registry, kind, params)?;
    Ok(plot::lines(&plot_of(&bench)?))
}

/// Plays the unit as its kind's picture asks.
fn plot_of(bench: &UnitBench) -> Result<LinePlot, UnitPictureError> {
    match bench.picture {
        KindPicture::Response => bench.response(),
        KindPicture::Transfer(from, to) => bench.transfer((from, to)),
        KindPicture::Levels => bench.levels(1000),
        KindPicture::LevelsAt(hz) => bench.levels(hz),
        KindPicture::Step => bench.step(),
        KindPicture::Strokes => bench.strokes(),
        KindPicture::Phase => bench.phase(),
        KindPicture::Tone => bench.tone(),
        KindPicture::Glide => bench.glide(),
        KindPicture::Note => bench.note(),
        KindPicture::Sweep(params) => bench.sweep(params),
        KindPicture::Gauges(names) => bench.gauges(names),
        KindPicture::Waveform | KindPicture::ByPorts => bench.waveform(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi::graph::{Param, ParamRange};

    fn bench(kind: &str, params: &[(&str, &str)]) -> UnitBench {
        let params: Vec<_> = params
            .iter()
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect();
        UnitBench::new(Arc::new(divisi::registry()), kind, &params).unwrap()
    }

    #[test]
    fn the_pictures_show_what_the_units_do() {
        let values = |plot: LinePlot, output: usize| -> Vec<(f64, f64)> {
            let points = plot.series[output].points.iter();
            points.map(|(x, y)| (*x, y.value)).collect()
        };
        let near = |points: &[(f64, f64)], x: f64| {
            let by_distance =
                |a: &&(f64, f64), b: &&(f64, f64)| (a.0 - x).abs().total_cmp(&(b.0 - x).abs());
            points.iter().min_by(by_distance).unwrap().1
        };
        let low = values(bench("svf", &[("freq", "1000")]).response().unwrap(), 0);
        assert!(near(&low, 50.0).abs() < 0.1 && (near(&low, 1000.0) + 3.0).abs() < 0.2);
        let clip = bench("shape", &[("mode", "clip")]);
        let clip = values(clip.transfer((-2, 2)).unwrap(), 0);
        assert!((near(&clip, 0.5) - 0.5).abs() < 0.01 && near(&clip, 1.9) == 1.0);
        let notes = values(plot_of(&bench("mtof~", &[])).unwrap(), 0);
        // Points are a sixteenth of a note apart.
        assert!((near(&notes, 69.0) - 440.0).abs() < 2.0);
        let gain = values(bench("gain", &[("gain_db", "-6")]).levels(1000).unwrap(), 0);
        assert!((near(&gain, -12.0) + 18.0).abs() < 0.05);
        let slew = values(bench("slew", &[("rise", "0.1")]).step().unwrap(), 0);
        assert!((near(&slew, 100.0) - 0.5).abs() < 0.01);
        let tempo = values(bench("tempo_tracker", &[]).strokes().unwrap(), 0);
        assert_eq!(near(&tempo, 2.0), 0.0);
        assert!((near(&tempo, 11.0) - 120.0).abs() < 0.3);
        let strip = bench("strip", &[("mid_db", "6")]).response().unwrap();
        let names: Vec<&str> = strip.series.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["out 1", "out 2"]);
        let osc = values(bench("osc", &[("freq", "100")]).waveform().unwrap(), 0);
        assert!((near(&osc, 2.5) - 1.0).abs() < 0.01);
        let turned = values(
            bench("allpass", &[("freq", "1000"), ("order", "first")])
                .phase()
                .unwrap(),
            0,
        );
        assert!((near(&turned, 1000.0).abs() - 90.0).abs() < 1.0);
        let quarter = bench("hilbert", &[]).phase().unwrap();
        assert_eq!(
            quarter.series.len(),
            1,
            "the second output beside the first"
        );
        assert!((near(&values(quarter, 0), 1000.0).abs() - 90.0).abs() < 1.0);
        let pitch = values(bench("pitch_tracker", &[]).glide().unwrap(), 0);
        assert!((near(&pitch, 2.5) - 475.0).abs() < 20.0);
    }

    fn points(plot: &LinePlot, name: &str) -> Vec<(f64, f64)> {
        let series = plot.series.iter().find(|series| series.name == name);
        let points = series.expect("it has this line").points.iter();
        points.map(|(x, y)| (*x, y.value)).collect()
    }

    #[test]
    fn a_crossfade_is_drawn_over_its_position_and_a_deesser_over_the_level_of_high_sounds() {
        let plot = plot_of(&bench("crossfade", &[])).unwrap();
        let [a, b] = ["a to out", "b to out"].map(|name| points(&plot, name));
        assert_eq!((a[0], b[0]), ((0.0, 1.0), (0.0, 0.0)));
        let half = 0.5f64.sqrt();
        assert!((a[20].1 - half).abs() < 1e-6 && (b[20].1 - half).abs() < 1e-6);
        let pan = plot_of(&bench("pan", &[])).unwrap();
        let left = points(&pan, "left");
        assert!(left[0] == (-1.0, 1.0) && left[40].1.abs() < 1e-6);
        let around = plot_of(&bench("pan", &[("layout", "quad")])).unwrap();
        assert!(points(&around, "out 1").iter().any(|point| point.1 > 0.9));
        let high = plot_of(&bench("deesser", &[("threshold_db", "-30")])).unwrap();
        let high = points(&high, "out");
        let at = |db: f64| high.iter().find(|point| point.0 == db).unwrap().1;
        assert!((at(-60.0) + 60.0).abs() < 0.5 && at(-6.0) < -9.0);
    }

    #[test]
    fn meters_are_drawn_with_what_they_show() {
        let plot = plot_of(&bench("loudness", &[])).unwrap();
        let short = points(&plot, "short");
        let at = |seconds: f64| short.iter().find(|point| point.0 >= seconds).unwrap().1;
        // A sine in one channel: 3 dB below its level.
        assert!((at(5.5) + 23.0).abs() < 0.1 && (at(9.8) + 35.0).abs() < 0.1);
        let meter = plot_of(&bench("meter", &[])).unwrap();
        let rms = points(&meter, "rms").last().unwrap().1;
        assert!((rms - 10f64.powf(-35.0 / 20.0)).abs() < 1e-3, "{rms}");
    }

    #[test]
    fn players_of_a_file_are_drawn_with_a_note_of_a_second() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/media/loop.wav");
        for kind in ["sampler", "grains", "player"] {
            let plot = plot_of(&bench(kind, &[("file", file)])).unwrap();
            let heard = points(&plot, &plot.series[0].name);
            let peak = |from: f64, to: f64| {
                let there = heard.iter().filter(|point| (from..to).contains(&point.0));
                there.map(|point| point.1.abs()).fold(0.0, f64::max)
            };
            assert!(peak(0.0, 0.9) > 0.01, "{kind}");
            let goes_on = kind != "sampler";
            assert_eq!(peak(1.5, 2.0) > 0.01, goes_on, "{kind}");
        }
    }

    #[test]
    fn a_number_that_is_missing_has_an_examples_value_in_the_title() {
        let osc = bench("osc", &[]);
        assert_eq!(osc.title, "osc, freq = 440");
        assert_eq!(bench("osc", &[("freq", "100")]).title, "osc, freq = 100");
    }

    #[test]
    fn every_kind_that_sounds_without_a_file_has_a_picture() {
        let registry = Arc::new(divisi::registry());
        let (mut drawn, mut errors) = (0, Vec::new());
        for kind in registry.catalogue().kinds() {
            let needs_file = |param: &Param| param.range == ParamRange::File(true);
            if kind.params.iter().any(needs_file) {
                continue;
            }
            let bench = match UnitBench::new(registry.clone(), kind.name, &[]) {
                Ok(bench) => bench,
                Err(UnitPictureError::NoSound(_)) => continue,
                Err(error) => {
                    errors.push(format!("{}: {error}", kind.name));
                    continue;
                }
            };
            let plot = plot_of(&bench).unwrap();
            let series = plot.series.iter();
            let points: Vec<_> = series.flat_map(|series| &series.points).collect();
            assert!(points.len() > 1, "{}", kind.name);
            let is_finite = |(x, y): &&(f64, plot::DataPoint)| x.is_finite() && y.value.is_finite();
            assert!(points.iter().all(is_finite), "{}", kind.name);
            let svg = plot::lines(&plot).svg();
            assert!(
                svg.contains(kind.name) && !svg.contains("NaN"),
                "{}",
                kind.name
            );
            drawn += 1;
        }
        assert_eq!(errors, Vec::<String>::new());
        assert!(drawn > 60, "{drawn}");
    }
}
