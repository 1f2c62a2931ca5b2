//! `plot`: an array of a scalar as points, as a line, or as an area that is as wide as its elements say.

use super::fields::{FieldNumber, color};
use super::painter::Painter;
use super::{Drawn, DrawnForm};
use crate::control::{Datum, Place};
use crate::file::Atom;

/// Points of a line that are drawn, as in Pd.
const MAX_POINTS: usize = 1000;
/// Points that are drawn one by one, as in Pd.
const MAX_MARKS: usize = 2000;

/// An array, and the lines that it is drawn with.
struct Plot {
    array: u32,
    color: [u8; 3],
    width: f64,
    /// Begin of the array, and the distance of its elements.
    x: f64,
    y: f64,
    step: f64,
    style: Style,
    /// The fields of elements that say where they are: x, y and w.
    fields: [Option<FieldNumber>; 3],
    /// True if the boxes of the elements' template draw them.
    draws_elements: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Points,
    Line,
    Curve,
}

/// Words of a `plot` box.
struct PlotWords {
    style: Style,
    is_visible: FieldNumber,
    draws_elements: FieldNumber,
    fields: [FieldNumber; 3],
}

/// An element: where it is, and half its width.
#[derive(Clone, Copy)]
struct Spot {
    x: f64,
    y: f64,
    half: f64,
}

impl Painter {
    /// `plot`: array, colour, width, x, y, distance of elements, style.
    pub(super) fn draw_plot(&mut self, words: &[Atom], place: Place, base: [f64; 2]) {
        let Some(plot) = self.plot(words, place) else {
            return;
        };
        let spots = self.spots(&plot, base);
        match plot.style {
            Style::Points => self.draw_marks(&plot, &spots),
            _ if plot.fields[2].is_some() => self.draw_area(&plot, &spots),
            _ if plot.width > 0.0 => self.draw_trace(&plot, &spots),
            _ => {}
        }
        if plot.draws_elements {
            for (at, spot) in (0..).zip(&spots) {
                let element = Place::Element(plot.array, at);
                self.draw_scalar(element, [spot.x, spot.y], false);
            }
        }
    }

    /// An array as a box says it is drawn; `None` if there is none, or if it is not visible.
    fn plot(&mut self, words: &[Atom], place: Place) -> Option<Plot> {
        let (flags, words) = self.plot_flags(words);
        let (name, mut words) = words.split_first()?;
        let store = &mut self.store;
        let name = FieldNumber::of(name, store).name()?;
        let Some(Datum::Array(array)) = store.datum(place, name) else {
            return None;
        };
        let mut take = |other: f32| {
            let number = FieldNumber::take(&mut words, other, store);
            number.number(place, store)
        };
        let [shade, width, x, y, step] = [0.0, 1.0, 1.0, 1.0, 1.0].map(&mut take);
        let style = match flags.style {
            Style::Curve => take(2.0),
            _ => take(1.0),
        };
        let [is_visible, draws_elements] =
            [flags.is_visible, flags.draws_elements].map(|it| it.number(place, store) != 0.0);
        let template = store.data.array_template(array);
        let known = |field: FieldNumber| {
            let name = field.name()?;
            store.has_number(template, name).then_some(field)
        };
        is_visible.then(|| Plot {
            array,
            color: color(shade),
            width: f64::from(width),
            x: f64::from(x),
            y: f64::from(y),
            step: f64::from(step),
            style: match style {
                style if style < 1.0 => Style::Points,
                style if style < 2.0 => Style::Line,
                _ => Style::Curve,
            },
            fields: flags.fields.map(known),
            draws_elements,
        })
    }

    /// Words with `-` that stand before those of a box.
    fn plot_flags<'w>(&mut self, mut words: &'w [Atom]) -> (PlotWords, &'w [Atom]) {
        let names = ["x", "y", "w"].map(Atom::symbol);
        let store = &mut self.store;
        let mut found = PlotWords {
            style: Style::Line,
            is_visible: FieldNumber::Constant(1.0),
            draws_elements: FieldNumber::Constant(1.0),
            fields: names.map(|name| FieldNumber::of(&name, store)),
        };
        while let [first, rest @ ..] = words {
            let flag = first.as_symbol().unwrap_or_default();
            let to = match flag {
                "-c" | "curve" => {
                    found.style = Style::Curve;
                    words = rest;
                    continue;
                }
                "-v" => &mut found.is_visible,
                "-vs" => &mut found.draws_elements,
                "-x" => &mut found.fields[0],
                "-y" => &mut found.fields[1],
                "-w" => &mut found.fields[2],
                // Which elements the mouse may move.
                "-e" => &mut FieldNumber::Constant(0.0),
                _ => break,
            };
            let [value, behind @ ..] = rest else { break };
            *to = FieldNumber::of(value, store);
            words = behind;
        }
        (found, words)
    }

    /// Places of the elements, in units of the canvas.
    fn spots(&mut self, plot: &Plot, base: [f64; 2]) -> Vec<Spot> {
        let mut spots = Vec::new();
        for at in 0..self.store.length(plot.array) {
            if !self.goes_on() {
                break;
            }
            let element = Place::Element(plot.array, at);
            let [x, y, half] = plot
                .fields
                .map(|field| field.map(|field| field.coordinate(element, &mut self.store)));
            let x = x.unwrap_or(plot.step * f64::from(at));
            spots.push(Spot {
                x: base[0] + plot.x + x,
                y: base[1] + plot.y + y.unwrap_or(0.0),
                half: half.unwrap_or(0.0),
            });
        }
        spots
    }

    /// The points of a line: where elements have no x of their own, one for each pixel.
    fn points(&self, plot: &Plot, spots: impl Iterator<Item = Spot>, side: f64) -> Vec<(f64, f64)> {
        let mut points = Vec::new();
        let mut last = None;
        for spot in spots {
            let pixel = (self.axes.x(spot.x) + 0.5).floor();
            if plot.fields[0].is_some() || last != Some(pixel) {
                points.push((pixel, self.axes.y(spot.y + side * spot.half)));
            }
            last = Some(pixel);
            if points.len() >= MAX_POINTS {
                break;
            }
        }
        points
    }

    fn draw_trace(&mut self, plot: &Plot, spots: &[Spot]) {
        let mut points = self.points(plot, spots.iter().copied(), 0.0);
        if let [(x, y)] = points[..] {
            points.push((x + 10.0, y));
        }
        if !points.is_empty() {
            let is_curve = plot.style == Style::Curve;
            let (color, width) = (plot.color, plot.width);
            let form = DrawnForm::Line { width, is_curve };
            self.add(Drawn {
                points,
                color,
                form,
            });
        }
    }

    /// Draws the area between both sides of the elements.
    fn draw_area(&mut self, plot: &Plot, spots: &[Spot]) {
        let mut points = self.points(plot, spots.iter().copied(), -1.0);
        points.extend(self.points(plot, spots.iter().rev().copied(), 1.0));
        if let [.., (x, y)] = points[..]
            && points.len() < 4
        {
            points.extend([(x + 10.0, y), (x + 10.0, y)]);
        }
        if !points.is_empty() {
            let color = plot.color;
            let form = DrawnForm::Area {
                fill: color,
                width: 1.0,
                is_curve: plot.style == Style::Curve,
            };
            self.add(Drawn {
                points,
                color,
                form,
            });
        }
    }

    /// Draws a rectangle for each element. Those at one pixel share it.
    fn draw_marks(&mut self, plot: &Plot, spots: &[Spot]) {
        let (mut marks, mut at) = (0, 0);
        while at < spots.len() && marks < MAX_MARKS {
            let left = (self.axes.x(spots[at].x) + 0.5).floor();
            let pixel = |spot: &Spot| (self.axes.x(spot.x) + 0.5).floor();
            let has_x = plot.fields[0].is_some();
            let most = if has_x { 1 } else { spots.len() };
            let same = spots[at..].iter().take(most);
            let same = same.take_while(|spot| pixel(spot) == left);
            let heights: Vec<f64> = same.map(|spot| spot.y).collect();
            let count = heights.len().max(1);
            let low = heights.iter().copied().fold(f64::MAX, f64::min);
            let high = heights.iter().copied().fold(f64::MIN, f64::max);
            let right = match has_x {
                true => left + 2.0,
                false => (self.axes.x(spots[at].x + plot.step * count as f64) + 0.5).floor(),
            };
            at += count;
            marks += 1;
            if heights.is_empty() {
                continue;
            }
            let (top, bottom) = (self.axes.y(low), self.axes.y(high) + plot.width);
            let (color, corners) = (
                plot.color,
                [(left, top), (right, top), (right, bottom), (left, bottom)],
            );
            self.add(Drawn {
                points: corners.to_vec(),
                color,
                form: DrawnForm::Area {
                    fill: color,
                    width: 0.0,
                    is_curve: false,
                },
            });
        }
    }
}
