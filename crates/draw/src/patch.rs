//! A patch as its editor shows it: boxes at their places, with their text, and cords between them.
//!
//! Positions are those of the file, so that a picture looks like the window of the patch. Letters are 7 pixels wide, as in Pd's
//! usual font; a cord leaves an outlet at the place where Pd draws it.

use crate::picture::color::{self, BoxColors};
use crate::picture::{Picture, Point, Stroke, Style, regular};

/// Most boxes of a picture.
const MAX_BOXES: usize = 20_000;
/// Width of a letter, and what a box adds to its text, in pixels.
const LETTER: f64 = 7.0;
const MARGIN: f64 = 6.0;
/// Height of a box with text.
const HEIGHT: f64 = 18.0;
/// Width of an inlet or outlet.
const PORT: f64 = 7.0;
/// Space around the boxes.
const BORDER: f64 = 20.0;

/// The form of a box.
#[derive(Clone, Debug, PartialEq)]
pub enum PatchShape {
    /// An object.
    Object,
    /// An object that could not be made.
    Missing,
    /// A message box.
    Message,
    /// A box for a number or a word.
    Number,
    /// A button.
    Bang,
    /// A switch; true if it is on.
    Toggle(bool),
    /// A slider, a row of cells or a meter of this size.
    Control,
    /// A coloured rectangle.
    Panel,
    /// A comment.
    Comment,
    /// An array with its points.
    Array(Vec<f32>),
}

/// A box.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchBoxShape {
    /// Its form.
    pub shape: PatchShape,
    /// Its top left corner, in pixels.
    pub at: (f64, f64),
    /// Width and height in pixels, where they do not follow from the text.
    pub size: Option<(f64, f64)>,
    /// Its text.
    pub text: String,
    /// Number of inlets and of outlets.
    pub ports: (usize, usize),
}

/// A cord between two boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatchCord {
    /// Index of a box and number of its outlet, from 0.
    pub from: (usize, usize),
    /// Index of a box and number of its inlet, from 0.
    pub to: (usize, usize),
    /// True if it carries a signal: then it is thicker.
    pub is_signal: bool,
}

/// The window of a patch. More than 20,000 boxes are not drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PatchWindow {
    /// Description for screen readers.
    pub title: String,
    /// The boxes; later ones lie over earlier ones.
    pub boxes: Vec<PatchBoxShape>,
    /// The cords.
    pub cords: Vec<PatchCord>,
}

impl PatchBoxShape {
    fn size(&self) -> (f64, f64) {
        let letters = self.text.chars().count().max(3) as f64;
        let (width, height) = self.size.unwrap_or((0.0, HEIGHT));
        let finite = |length: f64| {
            if length.is_finite() {
                length.clamp(0.0, 1e5)
            } else {
                0.0
            }
        };
        match self.shape {
            PatchShape::Object | PatchShape::Missing | PatchShape::Message => {
                let ports = self.ports.0.max(self.ports.1) as f64 * (PORT + 3.0);
                let text = letters * LETTER + MARGIN;
                (
                    finite(width).max(text).max(ports),
                    finite(height).max(HEIGHT),
                )
            }
            PatchShape::Comment => (letters * LETTER, HEIGHT),
            _ => (finite(width).max(8.0), finite(height).max(8.0)),
        }
    }

    /// Left end of port `at` of `count`.
    fn port_x(&self, at: usize, count: usize) -> f64 {
        let room = self.size().0 - PORT;
        let steps = count.saturating_sub(1).max(1) as f64;
        self.at.0 + room * at as f64 / steps
    }

    fn inlet(&self, at: usize) -> Point {
        (self.port_x(at, self.ports.0) + PORT / 2.0, self.at.1)
    }

    fn outlet(&self, at: usize) -> Point {
        let x = self.port_x(at, self.ports.1) + PORT / 2.0;
        (x, self.at.1 + self.size().1)
    }

    fn draw(&self, picture: &mut Picture, origin: Point) {
        let (left, top) = (self.at.0 - origin.0, self.at.1 - origin.1);
        let (width, height) = self.size();
        let at = (left, top);
        let font = regular(11.0);
        let framed = |colors: BoxColors| colors.style(1.0);
        let plain = Style::both(color::BACKGROUND, Stroke::solid(color::AXIS, 1.0));
        match &self.shape {
            PatchShape::Object => picture.rect(at, (width, height), 0.0, framed(color::BLUE)),
            PatchShape::Missing => {
                let dashed = Stroke::dashed(color::ALERT, 1.2, (4.0, 3.0));
                picture.rect(
                    at,
                    (width, height),
                    0.0,
                    Style::both(color::BACKGROUND, dashed),
                );
            }
            PatchShape::Message => {
                let right = left + width;
                let points = [
                    at,
                    (right + 4.0, top),
                    (right, top + 4.0),
                    (right, top + height - 4.0),
                    (right + 4.0, top + height),
                    (left, top + height),
                ];
                picture.polyline(&points, framed(color::AMBER));
            }
            PatchShape::Number => {
                let right = left + width;
                let points = [
                    at,
                    (right - 4.0, top),
                    (right, top + 4.0),
                    (right, top + height),
                    (left, top + height),
                ];
                picture.polyline(&points, plain);
            }
            PatchShape::Bang => {
                picture.rect(at, (width, height), 0.0, plain);
                let center = (left + width / 2.0, top + height / 2.0);
                picture.circle(center, width.min(height) / 2.0 - 1.0, plain);
            }
            PatchShape::Toggle(is_on) => {
                picture.rect(at, (width, height), 0.0, plain);
                if *is_on {
                    let center = (left + width / 2.0, top + height / 2.0);
                    let stroke = Stroke::solid(color::TEXT, 1.0);
                    picture.cross(center, width.min(height) / 2.0 - 2.0, stroke);
                }
            }
            PatchShape::Control => picture.rect(at, (width, height), 0.0, plain),
            PatchShape::Panel => {
                picture.rect(at, (width, height), 0.0, Style::fill(color::IDLE));
            }
            PatchShape::Comment => {}
            PatchShape::Array(points) => {
                picture.rect(at, (width, height), 0.0, plain);
                draw_points(picture, (at, (width, height)), points);
            }
        }
        let baseline = match self.shape {
            PatchShape::Object
            | PatchShape::Missing
            | PatchShape::Message
            | PatchShape::Comment => top + 13.0,
            PatchShape::Number => top + height - 4.0,
            // A label stands above.
            _ => top - 3.0,
        };
        picture.text((left + 3.0, baseline), &self.text, font.color(color::TEXT));
        let (inlets, outlets) = self.ports;
        let mark = Style::fill(color::TEXT_MUTED);
        for inlet in 0..inlets {
            let x = self.port_x(inlet, inlets) - origin.0;
            picture.rect((x, top), (PORT, 2.0), 0.0, mark);
        }
        for outlet in 0..outlets {
            let x = self.port_x(outlet, outlets) - origin.0;
            picture.rect((x, top + height - 2.0), (PORT, 2.0), 0.0, mark);
        }
    }
}

/// Draws the points of an array from its left edge to its right one, from 1 at the top to -1, or as far as the points go.
fn draw_points(
    picture: &mut Picture,
    ((left, top), (width, height)): (Point, Point),
    points: &[f32],
) {
    let finite = points
        .iter()
        .map(|x| if x.is_finite() { f64::from(*x) } else { 0.0 });
    let limit = finite.clone().map(f64::abs).fold(1.0, f64::max);
    let columns = (width as usize).clamp(1, 4096);
    let step = points.len().div_ceil(columns).max(1);
    let count = points.len().saturating_sub(1).max(1) as f64;
    let place = |(at, y): (usize, f64)| {
        let x = left + width * at as f64 / count;
        (x, top + height * (0.5 - 0.5 * y / limit))
    };
    let line: Vec<Point> = finite.enumerate().step_by(step).map(place).collect();
    if line.len() > 1 {
        picture.polyline(&line, Style::stroke(Stroke::solid(color::TEXT, 1.0)));
    }
}

/// Draws the window of a patch.
pub fn patch(window: &PatchWindow) -> Picture {
    let boxes = &window.boxes[..window.boxes.len().min(MAX_BOXES)];
    let (mut low, mut high) = ((f64::MAX, f64::MAX), (0.0_f64, 0.0_f64));
    for one in boxes {
        let (width, height) = one.size();
        low = (low.0.min(one.at.0), low.1.min(one.at.1));
        high = (high.0.max(one.at.0 + width), high.1.max(one.at.1 + height));
    }
    if boxes.is_empty() {
        low = (0.0, 0.0);
    }
    let origin = (low.0 - BORDER, low.1 - BORDER);
    let size = (high.0 - origin.0 + BORDER, high.1 - origin.1 + BORDER);
    let mut picture = Picture::new(size.0.max(100.0), size.1.max(60.0), &window.title);
    picture.has_dark_theme = true;
    let (below, above): (Vec<_>, Vec<_>) =
        boxes.iter().partition(|one| one.shape == PatchShape::Panel);
    below.iter().for_each(|one| one.draw(&mut picture, origin));
    for cord in &window.cords {
        let ends = (boxes.get(cord.from.0), boxes.get(cord.to.0));
        let (Some(from), Some(to)) = ends else {
            continue;
        };
        let (from, to) = (from.outlet(cord.from.1), to.inlet(cord.to.1));
        let width = if cord.is_signal { 2.2 } else { 1.0 };
        let place = |at: Point| (at.0 - origin.0, at.1 - origin.1);
        picture.line(place(from), place(to), Stroke::solid(color::EDGE, width));
    }
    above.iter().for_each(|one| one.draw(&mut picture, origin));
    picture
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str, at: (f64, f64), ports: (usize, usize)) -> PatchBoxShape {
        PatchBoxShape {
            shape: PatchShape::Object,
            at,
            size: None,
            text: text.into(),
            ports,
        }
    }

    #[test]
    fn boxes_stand_at_their_places_and_cords_join_their_ports() {
        let window = PatchWindow {
            title: "a patch".into(),
            boxes: vec![
                object("osc~ 440", (40.0, 20.0), (2, 1)),
                object("dac~", (40.0, 60.0), (2, 0)),
            ],
            cords: vec![PatchCord {
                from: (0, 0),
                to: (1, 1),
                is_signal: true,
            }],
        };
        let dac = &window.boxes[1];
        assert_eq!(dac.inlet(0), (43.5, 60.0));
        assert_eq!(dac.inlet(1).0, 40.0 + dac.size().0 - 3.5);
        let svg = patch(&window).svg();
        assert!(svg.contains("osc~ 440") && svg.contains("dac~"), "{svg}");
    }

    #[test]
    fn hostile_places_and_cords_give_a_picture() {
        let mut far = object("x", (f64::NAN, -1e30), (0, 0));
        far.size = Some((f64::INFINITY, -5.0));
        let cord = PatchCord {
            from: (7, 9),
            to: (0, 3),
            is_signal: false,
        };
        let window = PatchWindow {
            title: String::new(),
            boxes: vec![far],
            cords: vec![cord],
        };
        assert!(patch(&window).svg().starts_with("<svg"));
        assert!(patch(&PatchWindow::default()).svg().starts_with("<svg"));
    }
}
