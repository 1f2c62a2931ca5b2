//! A patch as its editor shows it: boxes at their places, with their text, and cords between them.
//!
//! Positions are those of the file, and the grid of letters is that of the window's font, so that a picture looks like the window
//! of the patch; a cord leaves an outlet at the place where Pd draws it. `outline` has the sizes of boxes, `paint` draws them, `data` what scalars are
//! drawn with.

mod data;
mod outline;
mod paint;

use crate::picture::color;
use crate::picture::{Picture, Stroke};

/// Most boxes of a picture.
const MAX_BOXES: usize = 20_000;
/// Pixels from the corner of a window to data, at most, that make its picture larger.
const MAX_FAR: f64 = 10_000.0;
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
    /// A slider.
    Slider {
        /// True if it moves from bottom to top, false from left to right.
        is_vertical: bool,
        /// Its place, from 0 to 1.
        place: f64,
    },
    /// A row of cells, one of which is chosen.
    Radio {
        /// True if it is a column.
        is_vertical: bool,
        /// Number of cells.
        cells: u32,
        /// The chosen one, from 0.
        chosen: u32,
    },
    /// A meter.
    Control,
    /// The face of a subpatch: its boxes that are shown outside.
    Face {
        /// Its boxes, whose places are from its top left corner.
        boxes: Vec<PatchBoxShape>,
        /// Its letters.
        font: PatchFont,
    },
    /// A coloured rectangle.
    Panel,
    /// A comment.
    Comment,
    /// An array.
    Array {
        /// Its points.
        points: Vec<f32>,
        /// Numbers of the points at the left and at the right edge.
        columns: [f64; 2],
        /// Values at the top and at the bottom.
        levels: [f64; 2],
    },
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
    /// Its text, in lines.
    pub text: String,
    /// Left end and middle of the text from the top left corner, in pixels, if it is a label beside a control.
    pub label_at: Option<(f64, f64)>,
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

/// A line, an area or words that a scalar is drawn with.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchDrawing {
    /// Its points, in pixels; of words the top left corner.
    pub points: Vec<(f64, f64)>,
    /// Red, green and blue of the line or of the words.
    pub color: [u8; 3],
    /// Its form.
    pub form: PatchDrawingForm,
}

/// Form of a [`PatchDrawing`].
#[derive(Clone, Debug, PartialEq)]
pub enum PatchDrawingForm {
    /// A line along the points.
    Line {
        /// In pixels.
        width: f64,
        /// True for a curve, which the points attract.
        is_curve: bool,
    },
    /// The area between the points.
    Area {
        /// Red, green and blue inside.
        fill: [u8; 3],
        /// Width of the line around it, in pixels; 0 for none.
        width: f64,
        /// True for a curve, which the points attract.
        is_curve: bool,
    },
    /// Words.
    Words(String),
}

/// The window of a patch. More than 20,000 boxes, with those of faces, are not drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PatchWindow {
    /// Description for screen readers.
    pub title: String,
    /// The boxes; later ones lie over earlier ones.
    pub boxes: Vec<PatchBoxShape>,
    /// The cords.
    pub cords: Vec<PatchCord>,
    /// Data over the boxes.
    pub drawings: Vec<PatchDrawing>,
    /// Its letters.
    pub font: PatchFont,
}

/// The letters of a window: in Pd all have one width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchFont {
    /// Width of a letter, in pixels.
    pub width: f64,
    /// Height of a line, in pixels.
    pub height: f64,
}

impl PatchFont {
    /// The letters of a font of this size, after Pd's table.
    pub fn of_size(size: f32) -> Self {
        const TABLE: [(f32, f64, f64); 6] = [
            (8.0, 5.0, 11.0),
            (10.0, 6.0, 13.0),
            (12.0, 7.0, 16.0),
            (16.0, 10.0, 19.0),
            (24.0, 14.0, 29.0),
            (36.0, 22.0, 44.0),
        ];
        let fits = TABLE.iter().rev().find(|(points, ..)| size >= *points);
        let (_, width, height) = *fits.unwrap_or(&TABLE[0]);
        Self { width, height }
    }
}

impl Default for PatchFont {
    fn default() -> Self {
        Self::of_size(12.0)
    }
}

/// Draws the window of a patch.
pub fn patch(window: &PatchWindow) -> Picture {
    let boxes = &window.boxes[..window.boxes.len().min(MAX_BOXES)];
    let mut left = MAX_BOXES;
    let (mut low, mut high) = ((f64::MAX, f64::MAX), (0.0_f64, 0.0_f64));
    for one in boxes {
        let (width, height) = one.size(window.font);
        low = (low.0.min(one.at.0), low.1.min(one.at.1));
        high = (high.0.max(one.at.0 + width), high.1.max(one.at.1 + height));
    }
    for (x, y) in window.drawings.iter().flat_map(|it| &it.points) {
        let (x, y) = (x.clamp(-MAX_FAR, MAX_FAR), y.clamp(-MAX_FAR, MAX_FAR));
        low = (low.0.min(x), low.1.min(y));
        high = (high.0.max(x), high.1.max(y));
    }
    if boxes.is_empty() && window.drawings.is_empty() {
        low = (0.0, 0.0);
    }
    let origin = (low.0 - BORDER, low.1 - BORDER);
    let size = (high.0 - origin.0 + BORDER, high.1 - origin.1 + BORDER);
    let mut picture = Picture::new(size.0.max(100.0), size.1.max(60.0), &window.title);
    picture.has_dark_theme = true;
    let (below, above): (Vec<_>, Vec<_>) =
        boxes.iter().partition(|one| one.shape == PatchShape::Panel);
    below
        .iter()
        .for_each(|one| one.draw(&mut picture, origin, (window.font, &mut left)));
    for cord in &window.cords {
        let ends = (boxes.get(cord.from.0), boxes.get(cord.to.0));
        let (Some(from), Some(to)) = ends else {
            continue;
        };
        let (from, to) = (
            from.outlet(cord.from.1, window.font),
            to.inlet(cord.to.1, window.font),
        );
        let width = if cord.is_signal { 2.2 } else { 1.0 };
        let place = |at: (f64, f64)| (at.0 - origin.0, at.1 - origin.1);
        picture.line(place(from), place(to), Stroke::solid(color::EDGE, width));
    }
    above
        .iter()
        .for_each(|one| one.draw(&mut picture, origin, (window.font, &mut left)));
    for drawing in &window.drawings {
        drawing.draw(&mut picture, origin, window.font);
    }
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
            label_at: None,
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
            drawings: Vec::new(),
            font: PatchFont::default(),
        };
        let dac = &window.boxes[1];
        assert_eq!(dac.inlet(0, window.font), (43.5, 60.0));
        assert_eq!(
            dac.inlet(1, window.font).0,
            40.0 + dac.size(window.font).0 - 3.5
        );
        let svg = patch(&window).svg();
        assert!(svg.contains("osc~ 440") && svg.contains("dac~"), "{svg}");
    }

    #[test]
    fn lines_make_a_box_higher_and_not_wider() {
        let font = PatchFont::of_size(10.0);
        let two = object("osc~ 440\n220", (0.0, 0.0), (2, 1));
        assert_eq!(two.size(font), (8.0 * 6.0 + 4.0, 2.0 * 13.0 + 6.0));
        let window = PatchWindow {
            boxes: vec![two],
            ..PatchWindow::default()
        };
        let svg = patch(&window).svg();
        assert!(svg.contains(">osc~ 440<") && svg.contains(">220<"), "{svg}");
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
            drawings: vec![PatchDrawing {
                points: vec![(f64::NAN, 1e30), (-1e300, 5.0)],
                color: [1, 2, 3],
                form: PatchDrawingForm::Words("x".into()),
            }],
            font: PatchFont::of_size(f32::NAN),
        };
        assert!(patch(&window).svg().starts_with("<svg"));
        assert!(patch(&PatchWindow::default()).svg().starts_with("<svg"));
    }
}
