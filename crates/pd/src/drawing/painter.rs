//! [`Painter`]: scalars to lines, areas and words (`g_template.c`).

use super::axes::Axes;
use super::fields::{FieldNumber, color};
use super::store::{Drawer, Store};
use super::{Drawn, DrawnForm};
use crate::control::Place;
use crate::file::Atom;

/// Lines, areas and words, at most.
const MAX_DRAWN: usize = 20_000;
/// Scalars and elements that are looked at, at most.
const MAX_PLACES: usize = 2_000_000;
/// Points of a polygon that are drawn, as in Pd.
const MAX_POINTS: usize = 100;

/// Draws scalars.
pub(super) struct Painter {
    pub(super) store: Store,
    pub(super) axes: Axes,
    pub(super) drawn: Vec<Drawn>,
    /// Scalars and elements that may still be looked at.
    left: usize,
}

impl Painter {
    pub(super) fn new(store: Store) -> Self {
        Self {
            store,
            axes: Axes::of_window(None),
            drawn: Vec::new(),
            left: MAX_PLACES,
        }
    }

    /// Draws all scalars of the canvases that are shown.
    pub(super) fn draw_all(&mut self) {
        let [x, y] = ["x", "y"].map(|name| self.store.symbols.intern(name));
        for (list, axes) in std::mem::take(&mut self.store.shown) {
            self.axes = axes;
            let mut next = self.store.data.next(Place::Head(list));
            while let Some(place) = next {
                next = self.store.data.next(place);
                let base =
                    [x, y].map(|name| f64::from(self.store.number(place, name).unwrap_or(0.0)));
                self.draw_scalar(place, base, true);
            }
        }
    }

    /// Takes note that one more place is looked at; false if there were too many.
    pub(super) fn goes_on(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0 && self.drawn.len() < MAX_DRAWN
    }

    /// Draws a scalar or an element at its base. A scalar that nothing draws is a mark.
    pub(super) fn draw_scalar(&mut self, place: Place, base: [f64; 2], is_marked: bool) {
        if !self.goes_on() {
            return;
        }
        let template = self.store.data.template(place);
        let drawers = template.and_then(|template| self.store.drawers.get(&template).cloned());
        match drawers {
            Some(drawers) => {
                for drawer in &drawers {
                    self.draw(drawer, place, base);
                }
            }
            None if is_marked => self.mark(base),
            None => {}
        }
    }

    fn mark(&mut self, [x, y]: [f64; 2]) {
        let (x, y) = (self.axes.x(x), self.axes.y(y));
        let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        self.add(Drawn {
            points: corners.map(|(right, down)| (x + right, y + down)).to_vec(),
            color: [0; 3],
            form: DrawnForm::Area {
                fill: [255; 3],
                width: 1.0,
                is_curve: false,
            },
        });
    }

    pub(super) fn add(&mut self, drawn: Drawn) {
        if self.drawn.len() < MAX_DRAWN {
            self.drawn.push(drawn);
        }
    }

    fn draw(&mut self, drawer: &Drawer, place: Place, base: [f64; 2]) {
        let words = &drawer.arguments[..];
        match &*drawer.class {
            "plot" => self.draw_plot(words, place, base),
            "drawnumber" | "drawsymbol" | "drawtext" => self.draw_words(words, place, base),
            class => {
                let (is_filled, is_curve) = (class.starts_with("filled"), class.ends_with("curve"));
                self.draw_polygon(words, (is_filled, is_curve), place, base);
            }
        }
    }

    /// `drawpolygon` and the like: colour inside if it is filled, colour of the line, its width, then points.
    fn draw_polygon(
        &mut self,
        mut words: &[Atom],
        (is_filled, is_curve): (bool, bool),
        place: Place,
        base: [f64; 2],
    ) {
        if !self.take_flags(&mut words, place) {
            return;
        }
        let store = &mut self.store;
        let fill = is_filled.then(|| FieldNumber::take(&mut words, 0.0, store));
        let [outline, width] = [0.0, 1.0].map(|other| FieldNumber::take(&mut words, other, store));
        let mut points = Vec::new();
        for pair in words.chunks(2).take(MAX_POINTS) {
            let store = &mut self.store;
            let mut at = |word: Option<&Atom>| {
                let number = word.map(|word| FieldNumber::of(word, store));
                number.map_or(0.0, |number| number.coordinate(place, store))
            };
            let (x, y) = (base[0] + at(pair.first()), base[1] + at(pair.get(1)));
            points.push((self.axes.x(x), self.axes.y(y)));
        }
        if points.len() < 2 {
            return;
        }
        let store = &mut self.store;
        let width = f64::from(width.number(place, store).max(1.0));
        let color_of = |number: FieldNumber, store: &mut Store| color(number.number(place, store));
        let form = match fill {
            Some(fill) => DrawnForm::Area {
                fill: color_of(fill, store),
                width,
                is_curve,
            },
            None => DrawnForm::Line { width, is_curve },
        };
        let color = color_of(outline, store);
        self.add(Drawn {
            points,
            color,
            form,
        });
    }

    /// `drawnumber` and the like: a field, x, y, colour, and a text before it.
    fn draw_words(&mut self, mut words: &[Atom], place: Place, base: [f64; 2]) {
        if !self.take_flags(&mut words, place) {
            return;
        }
        let store = &mut self.store;
        let Some((field, mut words)) = words.split_first() else {
            return;
        };
        let name = FieldNumber::of(field, store).name();
        let Some(datum) = name.and_then(|name| store.datum(place, name)) else {
            return;
        };
        let [x, y, shade] = [0.0; 3].map(|other| FieldNumber::take(&mut words, other, store));
        let label = words.first().map_or_else(String::new, ToString::to_string);
        let [x, y] = [x, y].map(|number| number.coordinate(place, store));
        let color = color(shade.number(place, store));
        let text = label + &store.text(datum);
        let at = (self.axes.x(base[0] + x), self.axes.y(base[1] + y));
        self.add(Drawn {
            points: vec![at],
            color,
            form: DrawnForm::Words(text),
        });
    }

    /// Takes `-v NUMBER` and `-x` out of the begin of a box's words; false if it is not visible.
    fn take_flags(&mut self, words: &mut &[Atom], place: Place) -> bool {
        let mut is_visible = true;
        while let [first, rest @ ..] = *words {
            match (first.as_symbol(), rest) {
                (Some("-v"), [visible, rest @ ..]) => {
                    let visible = FieldNumber::of(visible, &mut self.store);
                    is_visible = visible.number(place, &mut self.store) != 0.0;
                    *words = rest;
                }
                (Some("-x"), rest) => *words = rest,
                _ => break,
            }
        }
        is_visible
    }
}
