//! [`Gui`]: a box that shows a value, with its range, names and saved state.
//!
//! Pd writes them in two ways: number, symbol and list boxes as statements of their own (`#X floatatom`), the others as objects with
//! many arguments (`#X obj 0 0 hsl 128 15 0 127 …`). The order of the arguments is that of Pd's `g_*.c`.

use super::Atom;

/// Class of a box that shows a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GuiKind {
    /// Number box of the plain kind.
    Float,
    /// Symbol box.
    Symbol,
    /// List box.
    List,
    /// Button.
    Bang,
    /// Switch.
    Toggle,
    /// Number box with a frame.
    Number,
    /// Slider from left to right.
    HorizontalSlider,
    /// Slider from bottom to top.
    VerticalSlider,
    /// Row of cells, one of which is chosen.
    HorizontalRadio,
    /// Column of such cells.
    VerticalRadio,
    /// Level meter.
    Meter,
    /// Coloured rectangle.
    Canvas,
}

/// A box that shows a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Gui {
    /// Its class.
    pub kind: GuiKind,
    /// Width and height in pixels; of a number box the width is in letters.
    pub size: [f32; 2],
    /// Lowest and highest value; equal where there are no limits.
    pub range: [f32; 2],
    /// True if equal ways of a slider are equal ratios.
    pub is_logarithmic: bool,
    /// True if the saved value is sent when the patch is loaded.
    pub sends_at_load: bool,
    /// The saved value, in units of the range; that of a switch is 0 or not.
    pub value: f32,
    /// Number that a switch sends when it is on.
    pub on_value: f32,
    /// Number of cells.
    pub cells: u32,
    /// True if a radio box sends lists, a cell and whether it is chosen: Pd's `hdl` and `vdl`.
    pub sends_lists: bool,
    /// True if such a box says too which cell is no longer chosen.
    pub sends_left: bool,
    /// Name to which it sends, if it has one.
    pub send: Option<Atom>,
    /// Name under which it receives, if it has one.
    pub receive: Option<Atom>,
    /// The label, if it has one.
    pub label: Option<Atom>,
    /// Left end and middle of the label, in pixels from the box's top left corner.
    pub label_at: [f32; 2],
}

impl GuiKind {
    /// Its name in Pd.
    pub fn class(self) -> &'static str {
        match self {
            Self::Float => "floatatom",
            Self::Symbol => "symbolatom",
            Self::List => "listbox",
            Self::Bang => "bng",
            Self::Toggle => "tgl",
            Self::Number => "nbx",
            Self::HorizontalSlider => "hsl",
            Self::VerticalSlider => "vsl",
            Self::HorizontalRadio => "hradio",
            Self::VerticalRadio => "vradio",
            Self::Meter => "vu",
            Self::Canvas => "cnv",
        }
    }

    /// The class that an object's first word names.
    pub(crate) fn of_object(class: &str) -> Option<Self> {
        Some(match class {
            "bng" => Self::Bang,
            "tgl" => Self::Toggle,
            "nbx" => Self::Number,
            "hsl" | "hslider" => Self::HorizontalSlider,
            "vsl" | "vslider" => Self::VerticalSlider,
            "hradio" | "hdl" | "rdb" | "radiobut" | "radiobutton" => Self::HorizontalRadio,
            "vradio" | "vdl" => Self::VerticalRadio,
            "vu" => Self::Meter,
            "cnv" | "my_canvas" => Self::Canvas,
            _ => return None,
        })
    }
}

impl Gui {
    fn new(kind: GuiKind) -> Self {
        Self {
            kind,
            size: [0.0; 2],
            range: [0.0; 2],
            is_logarithmic: false,
            sends_at_load: false,
            value: 0.0,
            on_value: 1.0,
            cells: 0,
            sends_lists: false,
            sends_left: false,
            send: None,
            receive: None,
            label: None,
            label_at: [0.0; 2],
        }
    }

    /// A number, symbol or list box: the words behind its position.
    pub(crate) fn of_statement(kind: GuiKind, words: &[Atom]) -> Self {
        let words = Words(words);
        Self {
            size: [words.number(0, 5.0), 0.0],
            range: [words.number(1, 0.0), words.number(2, 0.0)],
            label: words.name(4),
            receive: words.name(5),
            send: words.name(6),
            ..Self::new(kind)
        }
    }

    /// Any other: the arguments of the object.
    pub(crate) fn of_object(kind: GuiKind, arguments: &[Atom]) -> Self {
        let words = Words(arguments);
        match kind {
            GuiKind::Bang => Self {
                size: [words.number(0, 15.0); 2],
                sends_at_load: words.is_set(3),
                ..Self::new(kind).named(&words, 4)
            },
            GuiKind::Toggle => Self {
                size: [words.number(0, 15.0); 2],
                sends_at_load: words.is_set(1),
                value: words.number(12, 0.0),
                on_value: words.number(13, 1.0),
                ..Self::new(kind).named(&words, 2)
            },
            GuiKind::Number => Self {
                size: [words.number(0, 5.0), words.number(1, 14.0)],
                range: [words.number(2, -1e37), words.number(3, 1e37)],
                is_logarithmic: words.is_set(4),
                sends_at_load: words.is_set(5),
                value: words.number(16, 0.0),
                ..Self::new(kind).named(&words, 6)
            },
            GuiKind::HorizontalSlider | GuiKind::VerticalSlider => Self::slider(kind, &words),
            GuiKind::HorizontalRadio | GuiKind::VerticalRadio => Self {
                size: [words.number(0, 15.0); 2],
                sends_at_load: words.is_set(2),
                cells: cells(words.number(3, 8.0)),
                sends_left: words.is_set(1),
                value: words.number(14, 0.0),
                ..Self::new(kind).named(&words, 4)
            },
            GuiKind::Meter => Self {
                size: [words.number(0, 15.0), words.number(1, 120.0)],
                receive: words.name(2),
                label: words.name(3),
                label_at: [words.number(4, -1.0), words.number(5, -8.0)],
                ..Self::new(kind)
            },
            GuiKind::Canvas => Self {
                size: [words.number(1, 100.0), words.number(2, 60.0)],
                ..Self::new(kind).named(&words, 3)
            },
            GuiKind::Float | GuiKind::Symbol | GuiKind::List => Self::new(kind),
        }
    }

    /// A slider keeps its place in hundredths of a pixel.
    fn slider(kind: GuiKind, words: &Words<'_>) -> Self {
        let is_horizontal = kind == GuiKind::HorizontalSlider;
        let default = if is_horizontal {
            [128.0, 15.0]
        } else {
            [15.0, 128.0]
        };
        let size = [words.number(0, default[0]), words.number(1, default[1])];
        let length = if is_horizontal { size[0] } else { size[1] };
        let range = [words.number(2, 0.0), words.number(3, 127.0)];
        let is_logarithmic = words.is_set(4);
        let place = words.number(16, 0.0);
        Self {
            size,
            range,
            is_logarithmic,
            sends_at_load: words.is_set(5),
            value: slider_value(range, is_logarithmic, length, place),
            ..Self::new(kind).named(words, 6)
        }
    }

    /// Takes send, receive, label and its place, which stand side by side, first at `from`.
    fn named(mut self, words: &Words<'_>, from: usize) -> Self {
        self.send = words.name(from);
        self.receive = words.name(from + 1);
        self.label = words.name(from + 2);
        self.label_at = [words.number(from + 3, 0.0), words.number(from + 4, -8.0)];
        self
    }
}

/// Value of a slider of `length` pixels at `place` hundredths of a pixel, computed in doubles as in Pd's `g_slider.c`.
#[expect(clippy::cast_possible_truncation, reason = "Pd's numbers are floats")]
fn slider_value(range: [f32; 2], is_logarithmic: bool, length: f32, place: f32) -> f32 {
    let [low, high] = range.map(f64::from);
    let steps = f64::from((length - 1.0).max(1.0));
    let place = f64::from(place) * 0.01;
    let value = match is_logarithmic && low > 0.0 && high > 0.0 {
        true => low * (place * (high / low).ln() / steps).exp(),
        false => place * ((high - low) / steps) + low,
    };
    let value = if value.abs() < 1e-10 { 0.0 } else { value };
    value as f32
}

fn cells(number: f32) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and 128"
    )]
    let cells = number.clamp(1.0, 128.0) as u32;
    cells
}

/// Arguments by index; what is missing or of another type has a default.
struct Words<'a>(&'a [Atom]);

impl Words<'_> {
    fn number(&self, at: usize, default: f32) -> f32 {
        let number = self.0.get(at).and_then(Atom::as_float);
        number.filter(|n| n.is_finite()).unwrap_or(default)
    }

    fn is_set(&self, at: usize) -> bool {
        self.number(at, 0.0) != 0.0
    }

    /// A name; `-` and `empty` are none.
    fn name(&self, at: usize) -> Option<Atom> {
        let word = self.0.get(at)?;
        let is_none = matches!(word.as_symbol(), Some("-" | "empty" | ""));
        (!is_none && !matches!(word, Atom::Comma | Atom::Semicolon)).then(|| word.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Atom> {
        text.split(' ').map(Atom::of_box).collect()
    }

    #[test]
    fn a_slider_has_its_value_in_units_of_its_range() {
        let text = "128 15 0 127 0 1 out in vol -2 -8 0 10 -262144 -1 -1 12700 1";
        let gui = Gui::of_object(GuiKind::HorizontalSlider, &words(text));
        assert!(gui.sends_at_load && !gui.is_logarithmic);
        assert_eq!(gui.value, 127.0);
        assert_eq!(gui.send, Some(Atom::symbol("out")));
        assert_eq!(gui.receive, Some(Atom::symbol("in")));
        assert_eq!(gui.label, Some(Atom::symbol("vol")));
        assert_eq!(gui.label_at, [-2.0, -8.0]);
    }

    #[test]
    fn a_switch_keeps_what_it_sends_when_on() {
        let text = "15 1 empty empty empty 17 7 0 10 -262144 -1 -1 0 64";
        let gui = Gui::of_object(GuiKind::Toggle, &words(text));
        assert_eq!((gui.value, gui.on_value), (0.0, 64.0));
        assert_eq!((&gui.send, &gui.receive), (&None, &None));
    }

    #[test]
    fn a_number_box_has_limits_and_names() {
        let gui = Gui::of_statement(GuiKind::Float, &words("5 0 100 0 - - \\$0-out"));
        assert_eq!(gui.range, [0.0, 100.0]);
        assert_eq!(gui.send, Some(Atom::DollarSymbol("$0-out".into())));
        assert_eq!(gui.receive, None);
    }
}
