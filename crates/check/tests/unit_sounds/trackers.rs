//! Trackers of pitch, onsets and tempo against sounds whose pitch, beginnings and beats are known.

use crate::kit::*;
use divisi_check::processor_bench::{BlockSplit, TestInput};
use divisi_check::rng::Rng;
use processor::EventBody;

/// Frames and values of the events that a unit sends while it hears `input`.
fn sent(kind: &str, params: &[(&str, graph::ParamValue)], input: &[f32]) -> Vec<(usize, f64)> {
    let take = TestInput {
        inputs: vec![input.to_vec()],
        events: Vec::new(),
        frames: input.len(),
    };
    let output = bench(kind, params).process(&take, BlockSplit::Even(64));
    let value = |body| match body {
        EventBody::Value(value) => f64::from(value),
        other => panic!("no value: {other:?}"),
    };
    let sent = output.sent.iter();
    sent.map(|(_, event)| (event.frame as usize, value(event.body)))
        .collect()
}

/// Decaying tones of 440 Hz with some overtones, which begin at `frames`, above a little noise.
fn notes(frames: &[usize], length: usize) -> Vec<f32> {
    let mut sound: Vec<f32> = noise(5, length).iter().map(|x| 1e-3 * x).collect();
    for first in frames {
        for (n, y) in sound[*first..].iter_mut().enumerate() {
            let t = n as f64 / RATE as f64;
            let tone = |h: f64| (TAU * 440.0 * h * t).sin() / h;
            *y += (0.2 * (tone(1.0) + tone(2.0) + tone(5.0)) * (-t / 0.15).exp()) as f32;
        }
    }
    sound
}

/// Short strokes of noise, which begin at the frames.
fn strokes(frames: impl Iterator<Item = f64>, length: usize) -> Vec<f32> {
    let mut sound = vec![0.0; length];
    let noise = noise(7, RATE / 20);
    for first in frames {
        for (y, (n, x)) in sound[first as usize..]
            .iter_mut()
            .zip(noise.iter().enumerate())
        {
            *y += 0.5 * x * (-(n as f32) / 500.0).exp();
        }
    }
    sound
}

#[test]
fn each_note_has_one_onset_some_30_ms_later() {
    // At other places between two windows.
    let begins: Vec<usize> = (0..12).map(|k| 12_000 + 12_037 * k).collect();
    let input = notes(&begins, 160_000);
    let onsets = sent("onset_tracker", &[], &input);
    assert_eq!(onsets.len(), begins.len(), "{onsets:?}");
    for ((frame, strength), begin) in onsets.iter().zip(&begins) {
        let late_ms = (frame - begin) as f64 / 48.0;
        assert!((22.0..=35.0).contains(&late_ms), "{late_ms} ms");
        assert!(*strength > 0.15, "{onsets:?}");
    }
}

#[test]
fn a_tone_that_stays_or_swells_slowly_has_no_onset() {
    let swell = |x: (usize, f32)| x.1 * (x.0 as f32 / (2 * RATE) as f32);
    let tone = sine(330.0, 0.5, 2 * RATE);
    let input: Vec<f32> = tone.into_iter().enumerate().map(swell).collect();
    assert_eq!(sent("onset_tracker", &[], &input), []);
    assert_eq!(sent("onset_tracker", &[], &vec![0.0; RATE]), []);
    // Vibrato of half a semitone.
    let vibrato = |i: usize| {
        let t = i as f64 / RATE as f64;
        (0.4 * (TAU * 440.0 * t + 440.0 * 0.03 / 5.0 * (TAU * 5.0 * t).sin()).sin()) as f32
    };
    let mut input: Vec<f32> = (0..2 * RATE).map(vibrato).collect();
    for (i, y) in input[..RATE / 2].iter_mut().enumerate() {
        *y *= i as f32 / (RATE / 2) as f32;
    }
    assert_eq!(sent("onset_tracker", &[], &input), []);
}

#[test]
fn a_gap_hides_onsets_that_follow_too_soon() {
    let input = strokes((0..8).map(|k| 10_000.0 + 6000.0 * f64::from(k)), 70_000);
    assert_eq!(sent("onset_tracker", &[], &input).len(), 8);
    let gap = [("gap", number(0.2))];
    assert_eq!(sent("onset_tracker", &gap, &input).len(), 4);
}

#[test]
fn the_tempo_of_strokes_is_found_and_their_beats_are_on_time() {
    for bpm in [72.0, 96.5, 120.0, 140.0] {
        let period = 60.0 / bpm * RATE as f64;
        let length = 16 * RATE;
        let count = ((length - 5000) as f64 / period) as usize;
        let strokes = strokes((0..count).map(|k| 3000.0 + k as f64 * period), length);
        let beats = sent("tempo_tracker", &[], &strokes);
        assert!(beats[0].0 < 6 * RATE, "{bpm}: {:?}", beats[0]);
        // One for each stroke of the last ten seconds.
        let last: Vec<_> = beats.iter().filter(|beat| beat.0 > 6 * RATE).collect();
        let expected = 10.0 * RATE as f64 / period;
        assert!(
            (last.len() as f64 - expected).abs() <= 1.0,
            "{bpm}: {last:?}"
        );
        for (frame, value) in last {
            near(*value, bpm, 0.3);
            let off = (*frame as f64 - 3000.0) / period;
            let off_ms = (off - off.round()) * period / 48.0;
            assert!(off_ms.abs() < 12.0, "{bpm}: {off_ms} ms");
        }
    }
}

#[test]
fn noise_and_silence_have_no_beats() {
    for input in [vec![0.0; 8 * RATE], noise(9, 8 * RATE)] {
        assert_eq!(sent("tempo_tracker", &[], &input), []);
    }
}

#[test]
fn a_tracker_follows_the_pitch_31_ms_later() {
    let tone = |hz: f64| sine(hz, 0.3, RATE / 2);
    let input = [tone(220.0), tone(330.0)].concat();
    let mut unit = bench("pitch_tracker", &[]);
    let heard = play(&mut unit, &[&input], &[]);
    let freq = |frame: usize| f64::from(heard[0][frame]);
    assert_eq!(freq(0), 0.0);
    near(freq(RATE / 2 - 1), 220.0, 0.3);
    near(freq(RATE - 1), 330.0, 0.4);
    assert!(heard[1][RATE - 1] > 0.95);
    // The window is full of the new tone after 43 ms, and the result comes 10 ms later.
    let changed = (RATE / 2..RATE).find(|frame| freq(*frame) > 325.0);
    let late = changed.expect("it follows") - RATE / 2;
    assert!((960..=3000).contains(&late), "{late}");
    // Where there is no pitch the last one stays.
    let mut unit = bench("pitch_tracker", &[]);
    let input = [tone(220.0), noise(3, RATE / 2)].concat();
    let heard = play(&mut unit, &[&input], &[]);
    near(f64::from(heard[0][RATE - 1]), 220.0, 0.5);
}

/// Sixteen seconds of a band that keeps time as people do: drums with swing, a bass between the beats, and chords that swell.
struct Band {
    bpm: f64,
    /// Place of the second of two eighths between two beats.
    swing: f64,
    /// Largest distance of a stroke from its time, in seconds.
    off_s: f64,
    rng: Rng,
    heard: Vec<f32>,
}

impl Band {
    /// Adds a sound that begins at a beat, by its time in seconds.
    fn add(&mut self, beat: f64, length_s: f64, mut sound: impl FnMut(f64, f64) -> f64) {
        let off = f64::from(self.rng.sample()) * self.off_s;
        let at = ((beat * 60.0 / self.bpm + off).max(0.0) * RATE as f64) as usize;
        let end = (at + (length_s * RATE as f64) as usize).min(self.heard.len());
        for i in at..end {
            let noise = f64::from(self.rng.sample());
            self.heard[i] += sound((i - at) as f64 / RATE as f64, noise) as f32;
        }
    }

    fn kick(&mut self, beat: f64) {
        self.add(beat, 0.2, |t, _| {
            0.5 * (TAU * (50.0 * t + 4.0 * (1.0 - (-t * 30.0).exp()))).sin() * (-t * 18.0).exp()
        });
    }

    fn snare(&mut self, beat: f64, level: f64) {
        self.add(beat, 0.2, |t, noise| {
            level * (0.6 * noise + 0.5 * (TAU * 190.0 * t).sin()) * (-t * 25.0).exp()
        });
    }

    fn hat(&mut self, beat: f64, level: f64) {
        let mut last = 0.0;
        self.add(beat, 0.1, |t, noise| {
            let high = noise - last;
            last = noise;
            level * high * (-t * 60.0).exp()
        });
    }

    fn bass(&mut self, beat: f64, hz: f64) {
        self.add(beat, 0.3, |t, _| {
            let attack = (t / 0.01).min(1.0);
            let partials = (1..6).map(|n| (TAU * hz * f64::from(n) * t).sin() / f64::from(n));
            0.15 * attack * partials.sum::<f64>() * (-t * 8.0).exp()
        });
    }

    fn chord(&mut self, beat: f64, root: f64) {
        let length = 4.0 * 60.0 / self.bpm;
        self.add(beat, length, |t, _| {
            let swell = (TAU / 2.0 * t / length).sin();
            let tones = [1.0, 1.25, 1.5].map(|ratio| (TAU * root * ratio * t).sin());
            0.05 * swell * tones.iter().sum::<f64>()
        });
    }

    fn bar(&mut self, first: f64, root: f64) {
        let swung = |beat: f64| first + beat + self.swing;
        let [a, b, c, d] = [0.0, 1.0, 2.0, 3.0].map(swung);
        for beat in [first, first + 2.0, c] {
            self.kick(beat);
        }
        for beat in [first + 1.0, first + 3.0] {
            self.snare(beat, 0.4);
        }
        self.snare(d, 0.08);
        for (beat, other) in [(0.0, a), (1.0, b), (2.0, c), (3.0, d)] {
            self.hat(first + beat, 0.15);
            self.hat(other, 0.1);
        }
        for (beat, ratio) in [(first, 1.0), (b, 1.5), (first + 2.0, 2.0), (d, 1.5)] {
            self.bass(beat, root / 4.0 * ratio);
        }
        self.chord(first, root);
    }

    fn play(bpm: f64, swing: f64, off_s: f64) -> Vec<f32> {
        let mut band = Self {
            bpm,
            swing,
            off_s,
            rng: Rng(bpm as u64),
            heard: vec![0.0; 16 * RATE],
        };
        let bars = (16.0 * bpm / 60.0 / 4.0) as usize + 1;
        for bar in 0..bars {
            let root = [220.0, 174.6, 261.6, 196.0][bar % 4];
            band.bar(bar as f64 * 4.0, root);
        }
        band.heard
    }
}

#[test]
fn the_tempo_of_a_band_with_swing_is_found_and_its_beats_are_on_time() {
    let cases = [
        (76.0, 0.66, 0.01),
        (88.0, 0.58, 0.005),
        (104.0, 0.5, 0.0),
        (117.5, 0.66, 0.01),
        (132.0, 0.58, 0.005),
        (150.0, 0.66, 0.01),
    ];
    for (bpm, swing, off_s) in cases {
        let beats = sent("tempo_tracker", &[], &Band::play(bpm, swing, off_s));
        let period = 60.0 / bpm * RATE as f64;
        let last: Vec<_> = beats.iter().filter(|beat| beat.0 > 8 * RATE).collect();
        let expected = 8.0 * RATE as f64 / period;
        assert!((last.len() as f64 - expected).abs() <= 1.0, "{bpm}");
        for (frame, value) in last {
            near(*value, bpm, 0.3);
            let off = *frame as f64 / period;
            let off_ms = (off - off.round()) * period / 48.0;
            assert!(off_ms.abs() < 15.0, "{bpm}: {off_ms} ms");
        }
    }
    // Eighths that are alike count as beats where the beat is slow.
    let beats = sent("tempo_tracker", &[], &Band::play(76.0, 0.5, 0.0));
    near(beats.last().expect("beats").1, 152.0, 0.3);
}

/// Drums, bass, chords, plucked strings, a pad, one after the other: not every beat has a stroke.
#[test]
fn the_tempo_of_the_loop_of_the_examples_is_found() {
    let rate = units::SampleRate::new(RATE as u32).expect("a rate above 0");
    let file = media::Sound::load("../../examples/media/loop.wav", rate, 1 << 24);
    let file = file.expect("it can be read").expect("it is short");
    let beats = sent("tempo_tracker", &[], &file.channel(0).repeat(2));
    let last: Vec<_> = beats.iter().filter(|beat| beat.0 > 8 * RATE).collect();
    assert!(last.len() > 25, "{}", last.len());
    for (_, bpm) in last {
        near(*bpm, 128.0, 0.5);
    }
}
