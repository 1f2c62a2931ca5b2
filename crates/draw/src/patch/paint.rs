//! Boxes of a window as lines, fills and letters.

use super::outline::PORT;
use super::{PatchBoxShape, PatchFont, PatchShape};
use crate::picture::color::{self, BoxColors};
use crate::picture::{Picture, Point, Stroke, Style, regular};

/// A rectangle: its top left corner, and width and height.
type Area = (Point, (f64, f64));

impl PatchBoxShape {
    /// Draws the box, with `origin` at the picture's top left corner, while boxes are `left` to be drawn.
    pub(super) fn draw(
        &self,
        picture: &mut Picture,
        origin: Point,
        (font, left): (PatchFont, &mut usize),
    ) {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let at = (self.at.0 - origin.0, self.at.1 - origin.1);
        let area = (at, self.size(font));
        self.draw_frame(picture, area);
        if let PatchShape::Face { boxes, font } = &self.shape {
            let origin = (-at.0, -at.1);
            let panels = |one: &&PatchBoxShape| one.shape == PatchShape::Panel;
            for one in boxes.iter().filter(panels) {
                one.draw(picture, origin, (*font, &mut *left));
            }
            for one in boxes.iter().filter(|one| !panels(one)) {
                one.draw(picture, origin, (*font, &mut *left));
            }
        }
        self.draw_text(picture, area, font);
        self.draw_ports(picture, area, origin, font);
    }

    fn draw_frame(&self, picture: &mut Picture, area: Area) {
        let (at, size) = area;
        let framed = |colors: BoxColors| colors.style(1.0);
        let plain = Style::both(color::BACKGROUND, Stroke::solid(color::AXIS, 1.0));
        match &self.shape {
            PatchShape::Object => picture.rect(at, size, 0.0, framed(color::BLUE)),
            PatchShape::Missing => {
                let dashed = Stroke::dashed(color::ALERT, 1.2, (4.0, 3.0));
                picture.rect(at, size, 0.0, Style::both(color::BACKGROUND, dashed));
            }
            PatchShape::Message => picture.polyline(&flag(area), framed(color::AMBER)),
            PatchShape::Number => picture.polyline(&cut_corner(area), plain),
            PatchShape::Panel => picture.rect(at, size, 0.0, Style::fill(color::IDLE)),
            PatchShape::Comment => {}
            PatchShape::Array { .. } => self.draw_state(picture, area, plain),
            _ => {
                picture.rect(at, size, 0.0, plain);
                self.draw_state(picture, area, plain);
            }
        }
    }

    /// Draws what a control shows inside its frame.
    fn draw_state(&self, picture: &mut Picture, area: Area, plain: Style) {
        let ((left, top), (width, height)) = area;
        let center = (left + width / 2.0, top + height / 2.0);
        let radius = width.min(height) / 2.0;
        let dark = Style::fill(color::TEXT);
        match &self.shape {
            PatchShape::Bang => picture.circle(center, radius - 1.0, plain),
            PatchShape::Toggle(true) => {
                picture.cross(center, radius - 2.0, Stroke::solid(color::TEXT, 1.0));
            }
            PatchShape::Slider { is_vertical, place } => {
                let (at, size) = if *is_vertical {
                    let y = top + (height - 3.0) * (1.0 - place);
                    ((left, y), (width, 3.0))
                } else {
                    ((left + (width - 3.0) * place, top), (3.0, height))
                };
                picture.rect(at, size, 0.0, dark);
            }
            PatchShape::Radio {
                is_vertical,
                cells,
                chosen,
            } => draw_cells(picture, area, (*is_vertical, *cells, *chosen)),
            PatchShape::Array {
                points,
                columns,
                levels,
            } => draw_points(picture, area, (points, *columns, *levels)),
            _ => {}
        }
    }

    fn draw_text(&self, picture: &mut Picture, area: Area, font: PatchFont) {
        let ((left, top), (_, height)) = area;
        // The letters of the picture are narrower than those of Pd's font.
        let points = (font.width * 1.6).clamp(6.0, 36.0);
        let letters = regular(points).color(color::TEXT);
        let ascent = 0.5 * font.height + 0.35 * points;
        let (x, y) = match (&self.shape, self.label_at) {
            (_, Some((x, y))) => (left + x, top + y + 0.35 * points),
            (PatchShape::Comment, _) => (left, top + ascent),
            (PatchShape::Number, _) => (left + 3.0, top + height / 2.0 + 0.35 * points),
            (PatchShape::Object | PatchShape::Missing | PatchShape::Message, _) => {
                (left + 2.0, top + 3.0 + ascent)
            }
            (PatchShape::Face { .. }, _) => (left + 2.0, top + 3.0 + ascent),
            // The name of an array stands above.
            _ => (left + 2.0, top - 3.0),
        };
        for (line, text) in self.text.split('\n').enumerate() {
            picture.text((x, y + line as f64 * font.height), text, letters);
        }
    }

    fn draw_ports(&self, picture: &mut Picture, area: Area, origin: Point, font: PatchFont) {
        let ((_, top), (_, height)) = area;
        let (inlets, outlets) = self.ports;
        let mark = Style::fill(color::TEXT_MUTED);
        for inlet in 0..inlets {
            let x = self.port_x(inlet, inlets, font) - origin.0;
            picture.rect((x, top), (PORT, 2.0), 0.0, mark);
        }
        for outlet in 0..outlets {
            let x = self.port_x(outlet, outlets, font) - origin.0;
            picture.rect((x, top + height - 2.0), (PORT, 2.0), 0.0, mark);
        }
    }
}

/// The outline of a message box.
fn flag(((left, top), (width, height)): Area) -> [Point; 6] {
    let (right, bottom) = (left + width, top + height);
    [
        (left, top),
        (right + 4.0, top),
        (right, top + 4.0),
        (right, bottom - 4.0),
        (right + 4.0, bottom),
        (left, bottom),
    ]
}

/// The outline of a number box.
fn cut_corner(((left, top), (width, height)): Area) -> [Point; 5] {
    let (right, bottom) = (left + width, top + height);
    [
        (left, top),
        (right - 4.0, top),
        (right, top + 4.0),
        (right, bottom),
        (left, bottom),
    ]
}

/// Draws the cells of a row or column, and a mark in the chosen one.
fn draw_cells(
    picture: &mut Picture,
    ((left, top), (width, height)): Area,
    (is_vertical, cells, chosen): (bool, u32, u32),
) {
    let count = f64::from(cells.clamp(1, 128));
    let (cell_width, cell_height) = match is_vertical {
        true => (width, height / count),
        false => (width / count, height),
    };
    let corner = |cell: f64| match is_vertical {
        true => (left, top + cell * cell_height),
        false => (left + cell * cell_width, top),
    };
    let border = Stroke::solid(color::AXIS, 1.0);
    for cell in 1..cells.clamp(1, 128) {
        let (x, y) = corner(f64::from(cell));
        let end = match is_vertical {
            true => (x + width, y),
            false => (x, y + height),
        };
        picture.line((x, y), end, border);
    }
    if chosen < cells {
        let (x, y) = corner(f64::from(chosen));
        let inner = (cell_width * 0.5, cell_height * 0.5);
        let at = (x + cell_width * 0.25, y + cell_height * 0.25);
        picture.rect(at, inner, 0.0, Style::fill(color::TEXT));
    }
}

/// Draws the points of an array between the columns and the levels of its area, and no farther away than the area is large.
fn draw_points(
    picture: &mut Picture,
    ((left, top), (width, height)): Area,
    (points, columns, levels): (&[f32], [f64; 2], [f64; 2]),
) {
    let share = |x: f64, [from, to]: [f64; 2]| {
        let share = (x - from) / (to - from);
        if share.is_finite() {
            share.clamp(-1.0, 2.0)
        } else {
            0.0
        }
    };
    let place = |(at, y): (usize, &f32)| {
        let x = left + width * share(at as f64, columns);
        (x, top + height * share(f64::from(*y), levels))
    };
    let line: Vec<Point> = points.iter().enumerate().map(place).collect();
    if line.len() > 1 {
        picture.polyline(&line, Style::stroke(Stroke::solid(color::TEXT, 1.0)));
    }
}
