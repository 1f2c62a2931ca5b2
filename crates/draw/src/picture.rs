//! A picture: a sheet and what is on it, in drawing order. Every format is written from the same items.

use crate::font::{self, Face};
use crate::ink::Ink;

/// Lengths are kept within this many pixels of the origin: no format has to bear more.
const FAR: f64 = 4.0e6;

/// Lines, shapes and words on a sheet, ready to be written as SVG, PDF or PNG. Lengths are in pixels of 1/96 inch.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) about: String,
    pub(crate) items: Vec<Item>,
    /// Whether SVG viewers may show it light on dark.
    pub(crate) is_for_night: bool,
}

/// One thing on a sheet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// A shape, filled, then outlined.
    Shape(Form, Look),
    /// Words on one line.
    Text(Text),
    /// What follows, up to the next `Close`, belongs together and has this story for whom it interests.
    Open(String),
    /// The end of what the last `Open` began.
    Close,
}

/// The form of a shape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    /// The upper left corner, width and height, and how round the corners are.
    Rect((f64, f64), (f64, f64), f64),
    /// Middle and radius.
    Circle((f64, f64), f64),
    Path(Vec<Verb>),
}

/// A stroke of the pen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verb {
    Move(f64, f64),
    Line(f64, f64),
    /// Two points that bend it, and its end.
    Curve([(f64, f64); 3]),
    Close,
}

/// How a shape looks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Look {
    pub(crate) fill: Option<Ink>,
    pub(crate) line: Option<Pen>,
}

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pen {
    pub(crate) ink: Ink,
    pub(crate) width: f64,
    /// Lengths of a dash and of a gap; both 0 for a solid line.
    pub(crate) dash: (f64, f64),
}

/// Where words stand: their beginning, middle or end at the point that is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Words on one line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text {
    pub(crate) at: (f64, f64),
    pub(crate) words: String,
    pub(crate) font: Font,
    pub(crate) ink: Ink,
    pub(crate) anchor: Anchor,
    /// Whether it is read from below.
    pub(crate) is_upright: bool,
}

/// A face in a size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Font {
    pub(crate) face: Face,
    pub(crate) size: f64,
}

/// Letters of normal weight.
pub(crate) const fn plain(size: f64) -> Font {
    let face = Face::Regular;
    Font { face, size }
}

/// Letters of heavy weight.
pub(crate) const fn bold(size: f64) -> Font {
    let face = Face::Bold;
    Font { face, size }
}

impl Font {
    /// How wide `words` are.
    pub(crate) fn width(self, words: &str) -> f64 {
        font::width(self.face, words) * self.size
    }

    /// `words`, cut with a sign where they take more than `room`.
    pub(crate) fn fit(self, words: &str, room: f64) -> String {
        font::fit(self.face, words, room / self.size)
    }
}

impl Text {
    /// How wide it is.
    pub(crate) fn width(&self) -> f64 {
        self.font.width(&self.words)
    }

    /// Where it begins, along its own direction.
    pub(crate) fn begin(&self) -> (f64, f64) {
        let back = match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => self.width() / 2.0,
            Anchor::End => self.width(),
        };
        let (x, y) = self.at;
        if self.is_upright {
            (x, y + back)
        } else {
            (x - back, y)
        }
    }
}

impl Pen {
    pub(crate) const fn solid(ink: Ink, width: f64) -> Self {
        let dash = (0.0, 0.0);
        Self { ink, width, dash }
    }

    pub(crate) const fn dashed(ink: Ink, width: f64, dash: (f64, f64)) -> Self {
        Self { ink, width, dash }
    }
}

impl Look {
    pub(crate) const fn filled(ink: Ink) -> Self {
        let (fill, line) = (Some(ink), None);
        Self { fill, line }
    }

    pub(crate) const fn drawn(pen: Pen) -> Self {
        let (fill, line) = (None, Some(pen));
        Self { fill, line }
    }

    pub(crate) const fn both(ink: Ink, pen: Pen) -> Self {
        let (fill, line) = (Some(ink), Some(pen));
        Self { fill, line }
    }
}

impl Picture {
    /// A sheet of this size, described in words for who cannot see it.
    pub(crate) fn new(width: f64, height: f64, about: &str) -> Self {
        let whole = |length: f64| tame(length).clamp(1.0, FAR).ceil();
        Self {
            width: whole(width),
            height: whole(height),
            about: font::shown(about),
            items: Vec::new(),
            is_for_night: false,
        }
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }

    /// What it shows, in words.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// What is drawn next belongs together, up to `close`.
    pub(crate) fn open(&mut self, story: impl Into<String>) {
        self.items.push(Item::Open(story.into()));
    }

    /// Ends what the last `open` began.
    pub(crate) fn close(&mut self) {
        self.items.push(Item::Close);
    }

    /// Words.
    pub(crate) fn text(
        &mut self,
        at: (f64, f64),
        words: &str,
        font: Font,
        ink: Ink,
        anchor: Anchor,
    ) {
        self.items.push(Item::Text(Text {
            at: tame_point(at),
            words: font::shown(words),
            font,
            ink,
            anchor,
            is_upright: false,
        }));
    }

    /// Words that are read from below, with their middle at `at`.
    pub(crate) fn upright(&mut self, at: (f64, f64), words: &str, font: Font, ink: Ink) {
        self.text(at, words, font, ink, Anchor::Middle);
        if let Some(Item::Text(text)) = self.items.last_mut() {
            text.is_upright = true;
        }
    }

    /// A rectangle.
    pub(crate) fn rect(&mut self, at: (f64, f64), size: (f64, f64), radius: f64, look: Look) {
        let size = tame_point((size.0.max(0.0), size.1.max(0.0)));
        let form = Form::Rect(tame_point(at), size, radius);
        self.items.push(Item::Shape(form, look));
    }

    /// A circle.
    pub(crate) fn circle(&mut self, at: (f64, f64), radius: f64, look: Look) {
        let form = Form::Circle(tame_point(at), radius);
        self.items.push(Item::Shape(form, look));
    }

    /// A line between two points.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), pen: Pen) {
        let verbs = vec![Verb::Move(from.0, from.1), Verb::Line(to.0, to.1)];
        self.path(verbs, Look::drawn(pen));
    }

    /// Lines from point to point.
    pub(crate) fn polyline(&mut self, points: &[(f64, f64)], look: Look) {
        let verb = |(i, at): (usize, &(f64, f64))| match i {
            0 => Verb::Move(at.0, at.1),
            _ => Verb::Line(at.0, at.1),
        };
        let mut verbs: Vec<Verb> = points.iter().enumerate().map(verb).collect();
        if look.fill.is_some() {
            verbs.push(Verb::Close);
        }
        self.path(verbs, look);
    }

    /// Any path.
    pub(crate) fn path(&mut self, mut verbs: Vec<Verb>, look: Look) {
        for verb in &mut verbs {
            match verb {
                Verb::Move(x, y) | Verb::Line(x, y) => (*x, *y) = tame_point((*x, *y)),
                Verb::Curve(points) => *points = points.map(tame_point),
                Verb::Close => {}
            }
        }
        if !verbs.is_empty() {
            self.items.push(Item::Shape(Form::Path(verbs), look));
        }
    }
}

impl Form {
    /// The same as a path.
    pub(crate) fn verbs(&self) -> Vec<Verb> {
        match self {
            Self::Path(verbs) => verbs.clone(),
            Self::Circle((x, y), r) => rounded((x - r, y - r), (2.0 * r, 2.0 * r), *r),
            Self::Rect(at, size, radius) => rounded(*at, *size, *radius),
        }
    }
}

/// A rectangle with round corners as a path.
fn rounded((x, y): (f64, f64), (w, h): (f64, f64), radius: f64) -> Vec<Verb> {
    let r = radius.min(w / 2.0).min(h / 2.0);
    let (right, bottom) = (x + w, y + h);
    if r <= 0.0 {
        return vec![
            Verb::Move(x, y),
            Verb::Line(right, y),
            Verb::Line(right, bottom),
            Verb::Line(x, bottom),
            Verb::Close,
        ];
    }
    // The bending points of a quarter of a circle are this much short of the corner.
    let k = r * (1.0 - 0.552_284_75);
    vec![
        Verb::Move(x + r, y),
        Verb::Line(right - r, y),
        Verb::Curve([(right - k, y), (right, y + k), (right, y + r)]),
        Verb::Line(right, bottom - r),
        Verb::Curve([
            (right, bottom - k),
            (right - k, bottom),
            (right - r, bottom),
        ]),
        Verb::Line(x + r, bottom),
        Verb::Curve([(x + k, bottom), (x, bottom - k), (x, bottom - r)]),
        Verb::Line(x, y + r),
        Verb::Curve([(x, y + k), (x + k, y), (x + r, y)]),
        Verb::Close,
    ]
}

fn tame_point((x, y): (f64, f64)) -> (f64, f64) {
    (tame(x), tame(y))
}

fn tame(length: f64) -> f64 {
    if length.is_nan() {
        0.0
    } else {
        length.clamp(-FAR, FAR)
    }
}
