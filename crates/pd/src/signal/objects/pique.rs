//! `pique`: peaks of a spectrum that lies in two arrays.

use crate::constants::NEAR_PI;
use crate::control::{Context, Handled, Making, Message, Object, Symbol, Value};
use crate::state::held;
use std::f64::consts::PI;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    (making.class == "pique").then(|| {
        let max_peaks = whole(making.number(0, 0.0));
        Box::new(Pique {
            max_peaks: if max_peaks == 0 {
                100
            } else {
                max_peaks.min(100_000)
            },
            max_error: 0.0,
            rate: making.globals.rate,
            spectrum: Default::default(),
        }) as Box<dyn Object>
    })
}

struct Pique {
    max_peaks: usize,
    /// Peaks are left out that differ more than this from a sinusoid; 0 for none.
    max_error: f32,
    rate: f32,
    /// Memory for the real and the imaginary part.
    spectrum: [Vec<f32>; 2],
}

/// Frequency, amplitude, real and imaginary part.
type Peak = [f32; 4];

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and below 0 is 0"
)]
fn whole(number: f32) -> usize {
    number as usize
}

#[expect(clippy::cast_possible_truncation, reason = "Pd's numbers are floats")]
fn narrow(x: f64) -> f32 {
    x as f32
}

/// Height of the Hann window's spectrum beside its middle.
fn hann(angle: f32, sine: f32) -> f32 {
    if (-0.01..0.01).contains(&angle) {
        return 1.0;
    }
    if (NEAR_PI..3.143).contains(&angle.abs()) {
        return 0.5;
    }
    let pi = narrow(PI);
    let sides = f64::from(sine / (angle + pi) + sine / (angle - pi));
    narrow(f64::from(sine / angle) - 0.5 * sides)
}

/// A bin under a Hann window.
fn windowed(x: &[f32], bin: usize) -> f32 {
    narrow(f64::from(x[bin]) - 0.5 * f64::from(x[bin - 1] + x[bin + 1]))
}

impl Pique {
    /// The peak at a bin, if it is one.
    #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
    fn peak(&self, re: &[f32], im: &[f32], bin: usize, power: f32) -> Option<Peak> {
        let inverse = narrow(1.0 / re.len() as f64);
        let rise = |x: &[f32]| {
            let (before, after) = (x[bin - 1], x[bin + 1]);
            let middle = 2.0 * f64::from(x[bin]) - f64::from(before) - f64::from(after);
            f64::from(before - after) * middle
        };
        let detune = narrow((rise(re) + rise(im)) / (4.0 * f64::from(power)));
        if detune.abs() > 0.7 {
            return None;
        }
        let frequency = self.rate * inverse * (bin as f32 + detune);
        let angle = narrow(PI) * detune;
        let sine = narrow(libm::sin(f64::from(angle)));
        let cosine = narrow(libm::cos(f64::from(angle)));
        let correct = narrow(1.0 / f64::from(hann(angle, sine)));
        let correct = narrow(f64::from(correct) * (2.0 * f64::from(inverse)));
        let (x, y) = (windowed(re, bin), windowed(im, bin));
        let amplitude = narrow(f64::from(correct) * f64::from(power).sqrt());
        let peak = [
            frequency,
            amplitude,
            correct * (x * cosine - y * sine),
            correct * (x * sine + y * cosine),
        ];
        if self.max_error > 0.0 {
            let side = |bin: usize, by: f32| {
                error(
                    windowed(re, bin),
                    windowed(im, bin),
                    angle + by,
                    2.0 * inverse,
                    peak,
                )
            };
            let pi = narrow(PI);
            let sides = side(bin - 1, pi) + side(bin + 1, -pi);
            if sides / (amplitude * amplitude) > self.max_error {
                return None;
            }
        }
        Some(peak)
    }

    /// Sends the peaks of a spectrum.
    fn send_peaks(&self, re: &[f32], im: &[f32], max_peaks: usize, context: &mut Context<'_>) {
        let half = re.len() / 2;
        let square = |x: f32| x * x;
        let total: f32 = re[..half]
            .iter()
            .zip(im)
            .map(|(x, y)| square(*x) + square(*y))
            .sum();
        let threshold = narrow(f64::from(total) * 0.00001);
        let power = |bin: usize| match bin {
            0 => 0.0,
            bin => square(windowed(re, bin)) + square(windowed(im, bin)),
        };
        let mut count: u16 = 0;
        for bin in 2..half.saturating_sub(3) {
            let middle = power(bin);
            let neighbours = [bin - 2, bin - 1, bin + 1, bin + 2].map(power);
            if neighbours.iter().any(|beside| middle <= *beside) || middle < threshold {
                continue;
            }
            let Some(peak) = self.peak(re, im, bin, middle) else {
                continue;
            };
            let [frequency, amplitude, x, y] = peak;
            let values = [f32::from(count), frequency, amplitude, x, y].map(Value::Float);
            context.send_list(0, &values);
            count = count.saturating_add(1);
            if usize::from(count) >= max_peaks {
                return;
            }
        }
    }
}

/// How far a bin is from what a peak says that it is.
fn error(x: f32, y: f32, angle: f32, scale: f32, [_, _, re, im]: Peak) -> f32 {
    let sine = narrow(libm::sin(f64::from(angle)));
    let cosine = narrow(libm::cos(f64::from(angle)));
    let height = hann(angle, sine);
    let (a, b) = (
        height * (re * cosine + im * sine),
        height * (im * cosine - re * sine),
    );
    let (a, b) = (a - scale * x, b - scale * y);
    a * a + b * b
}

/// Copies the first points of an array; false if it has fewer.
fn copy_points(name: Symbol, count: usize, to: &mut Vec<f32>, context: &mut Context<'_>) -> bool {
    let points = context.arrays().named(name);
    let Some(points) = points.and_then(|points| points.get(..count)) else {
        return false;
    };
    to.clear();
    to.extend_from_slice(points);
    true
}

impl Object for Pique {
    held!(max_error; not max_peaks, rate, spectrum);

    /// `POINTS REAL IMAGINARY PEAKS`.
    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let [points, Value::Symbol(re), Value::Symbol(im), rest @ ..] = values else {
            return Handled::No;
        };
        let points = whole(points.number());
        let max_peaks = rest.first().map_or(0, |value| whole(value.number()));
        if points < 8 || max_peaks < 1 {
            context.print_with(|_, line| line.write_str("error: pique: bad npoints or npeak"));
            return Handled::Yes;
        }
        let [real, imaginary] = &mut self.spectrum;
        if !copy_points(*re, points, real, context) || !copy_points(*im, points, imaginary, context)
        {
            context.print_with(|_, line| line.write_str("error: pique: missing or bad array"));
            return Handled::Yes;
        }
        let [real, imaginary] = &self.spectrum;
        self.send_peaks(real, imaginary, max_peaks.min(self.max_peaks), context);
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        if context.symbols().text(message.selector) != "errthresh" {
            return Handled::No;
        }
        self.max_error = message.number();
        Handled::Yes
    }
}
