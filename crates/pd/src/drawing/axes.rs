//! [`Axes`]: units of a canvas to pixels of the window that shows it.

use crate::file::{Coordinates, Position};

/// Places of the units of a canvas in a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axes {
    x: Axis,
    y: Axis,
}

/// One direction: a unit that lies at a pixel, and pixels for each unit.
#[derive(Clone, Copy, Debug)]
struct Axis {
    unit: f64,
    pixel: f64,
    step: f64,
}

impl Axis {
    /// From `from` to `to` in `pixels` pixels, from `pixel` on.
    fn new(from: f32, to: f32, pixel: f64, pixels: f64) -> Self {
        let step = pixels / (f64::from(to) - f64::from(from));
        Self {
            unit: f64::from(from),
            pixel,
            // Both ends at one place are no axis.
            step: if step.is_finite() { step } else { 0.0 },
        }
    }

    fn place(self, unit: f64) -> f64 {
        self.pixel + (unit - self.unit) * self.step
    }
}

impl Axes {
    /// Those of a window.
    pub(super) fn of_window(stated: Option<Coordinates>) -> Self {
        let [left, top, right, bottom] = stated.map_or([0.0, 0.0, 1.0, 1.0], |it| it.bounds);
        Self {
            x: Axis::new(left, right, 0.0, 1.0),
            y: Axis::new(top, bottom, 0.0, 1.0),
        }
    }

    /// Those of a graph that is shown on the canvas around, at `at`.
    pub(super) fn of_graph(stated: Coordinates, at: Position) -> Self {
        let [left, top, right, bottom] = stated.bounds;
        let [width, height] = stated.size.map(f64::from);
        Self {
            x: Axis::new(left, right, f64::from(at.x), width),
            y: Axis::new(top, bottom, f64::from(at.y), height),
        }
    }

    pub(super) fn x(&self, unit: f64) -> f64 {
        self.x.place(unit)
    }

    pub(super) fn y(&self, unit: f64) -> f64 {
        self.y.place(unit)
    }
}
