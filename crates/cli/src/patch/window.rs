//! A patch as the boxes and cords of its window.

use super::face::face;
use divisi::draw::{
    PatchBoxShape, PatchCord, PatchDrawing, PatchDrawingForm, PatchFont, PatchShape, PatchWindow,
};
use divisi::pd::{
    Atom, Drawn, DrawnForm, Gui, GuiKind, Instance, LoadedObject, LoadedPatch, ObjectBody,
    PortKind, drawn_data,
};

/// Letters of a line, where a box states no width.
const BOX_LETTERS: f32 = 60.0;
/// Most points of all arrays of a picture.
const MAX_POINTS: usize = 1 << 20;

/// The window of a canvas of a patch: the outermost one, or the first one of a name, with or without `pd-` before it. `None` if there is
/// none of that name.
pub(crate) fn window(patch: &LoadedPatch, canvas: Option<&str>) -> Option<PatchWindow> {
    let root = match canvas {
        Some(name) => find(&patch.root, name.strip_prefix("pd-").unwrap_or(name))?,
        None => &patch.root,
    };
    let font = font_of(root).or_else(|| font_of(&patch.root));
    let font = font.unwrap_or_default();
    let cord = |connection: &divisi::pd::Connection| {
        let outlets = root
            .objects
            .get(connection.from)
            .map(|from| &from.ports.outlets);
        let kind = outlets.and_then(|outlets| outlets.get(connection.outlet));
        PatchCord {
            from: (connection.from, connection.outlet),
            to: (connection.to, connection.inlet),
            is_signal: kind == Some(&PortKind::Signal),
        }
    };
    let mut points = MAX_POINTS;
    let boxes = root.objects.iter().map(|it| shape(it, font, &mut points));
    Some(PatchWindow {
        title: format!("the patch {}", root.name),
        boxes: boxes.collect(),
        cords: root.connections.iter().map(cord).collect(),
        drawings: drawn_data(patch, root).into_iter().map(drawing).collect(),
        font,
    })
}

/// The first canvas of a name, from the outermost inwards.
fn find<'p>(canvas: &'p Instance, name: &str) -> Option<&'p Instance> {
    let inner = || {
        canvas.objects.iter().flat_map(|object| match &object.body {
            ObjectBody::Subpatch(inner) | ObjectBody::Abstraction(inner) => {
                std::slice::from_ref(&**inner)
            }
            ObjectBody::Clones { instances, .. } => instances,
            _ => &[],
        })
    };
    let here = inner().find(|inner| inner.name == name);
    here.or_else(|| inner().find_map(|inner| find(inner, name)))
}

fn drawing(drawn: Drawn) -> PatchDrawing {
    let form = match drawn.form {
        DrawnForm::Line { width, is_curve } => PatchDrawingForm::Line { width, is_curve },
        DrawnForm::Area {
            fill,
            width,
            is_curve,
        } => PatchDrawingForm::Area {
            fill,
            width,
            is_curve,
        },
        DrawnForm::Words(text) => PatchDrawingForm::Words(text),
    };
    PatchDrawing {
        points: drawn.points,
        color: drawn.color,
        form,
    }
}

/// A box, with what it shows of its inside; `points` of arrays are left to be drawn.
pub(super) fn shape(object: &LoadedObject, font: PatchFont, points: &mut usize) -> PatchBoxShape {
    let words = || joined(&object.arguments);
    let written = || joined(&object.written);
    let (shape, text, mut size) = match &object.body {
        ObjectBody::Class(_) | ObjectBody::Clones { .. } => (PatchShape::Object, written(), None),
        ObjectBody::Message => (PatchShape::Message, words(), None),
        ObjectBody::Gui(gui) => gui_shape(gui, font),
        ObjectBody::Comment => (PatchShape::Comment, words(), None),
        ObjectBody::Subpatch(inner) | ObjectBody::Abstraction(inner) => {
            canvas_shape(inner, object, font, points)
        }
        ObjectBody::Array(array) => (PatchShape::Comment, format!("array {}", array.name), None),
        ObjectBody::Scalar => (PatchShape::Comment, String::new(), None),
        ObjectBody::StandIn(_) => (PatchShape::Missing, written(), None),
    };
    let letters = object.width.filter(|letters| *letters >= 1.0);
    if let (None, Some(letters)) = (size, letters) {
        size = Some((f64::from(letters) * font.width + 4.0, 0.0));
    }
    let is_label = matches!(&object.body, ObjectBody::Gui(gui) if !is_text_box(gui));
    let (text, label_at) = match &object.body {
        ObjectBody::Gui(gui) if is_label => {
            let [x, y] = gui.label_at.map(f64::from);
            (text, Some((x, y)))
        }
        _ => (wrapped(&text, letters.unwrap_or(BOX_LETTERS)), None),
    };
    PatchBoxShape {
        shape,
        at: (f64::from(object.position.x), f64::from(object.position.y)),
        size,
        text,
        label_at,
        ports: (object.ports.inlets.len(), object.ports.outlets.len()),
    }
}

/// The letters that a canvas states. A subpatch has those of the canvas around.
pub(super) fn font_of(canvas: &Instance) -> Option<PatchFont> {
    (canvas.font > 0.0).then(|| PatchFont::of_size(canvas.font))
}

/// A subpatch or an abstraction: a box with its words, or what it shows of itself.
fn canvas_shape(
    inner: &Instance,
    object: &LoadedObject,
    font: PatchFont,
    points: &mut usize,
) -> (PatchShape, String, Option<(f64, f64)>) {
    let words = match &object.body {
        ObjectBody::Subpatch(_) => format!("pd {}", inner.name),
        _ => joined(&object.written),
    };
    let is_subpatch = matches!(object.body, ObjectBody::Subpatch(_));
    let is_graph = is_subpatch && object.arguments.first() == Some(&Atom::symbol("graph"));
    let hides = is_graph || inner.coordinates.is_some_and(|it| it.shown == 2);
    match face(inner, font, points) {
        None => (PatchShape::Object, words, None),
        Some((face, size)) if hides => (face, String::new(), Some(size)),
        Some((face, size)) => (face, words, Some(size)),
    }
}

fn gui_shape(gui: &Gui, font: PatchFont) -> (PatchShape, String, Option<(f64, f64)>) {
    let (width, height) = (f64::from(gui.size[0]), f64::from(gui.size[1]));
    let cells = f64::from(gui.cells.max(1));
    let label = gui
        .label
        .as_ref()
        .map_or_else(String::new, ToString::to_string);
    let number = |letters: f64| Some((letters.max(3.0) * font.width + 2.0, font.height + 3.0));
    let place = gui_place(gui);
    match gui.kind {
        GuiKind::Float | GuiKind::Number => {
            let value = Atom::Float(gui.value).to_string();
            (PatchShape::Number, value, number(width))
        }
        GuiKind::Symbol | GuiKind::List => {
            let name = gui.kind.class().trim_end_matches("atom").to_owned();
            (PatchShape::Number, name, number(width))
        }
        GuiKind::Bang => (PatchShape::Bang, label, Some((width, width))),
        GuiKind::Toggle => (
            PatchShape::Toggle(gui.value != 0.0),
            label,
            Some((width, width)),
        ),
        GuiKind::HorizontalRadio => (radio(gui, false), label, Some((width * cells, width))),
        GuiKind::VerticalRadio => (radio(gui, true), label, Some((width, width * cells))),
        GuiKind::HorizontalSlider | GuiKind::VerticalSlider => {
            let is_vertical = gui.kind == GuiKind::VerticalSlider;
            let slider = PatchShape::Slider { is_vertical, place };
            (slider, label, Some((width, height)))
        }
        GuiKind::Meter => (PatchShape::Control, label, Some((width, height))),
        GuiKind::Canvas => (PatchShape::Panel, label, Some((width, height))),
    }
}

/// Returns true for boxes that show a number or words, false for those with a label beside them.
fn is_text_box(gui: &Gui) -> bool {
    matches!(
        gui.kind,
        GuiKind::Float | GuiKind::Number | GuiKind::Symbol | GuiKind::List
    )
}

/// Place of a slider's value in its range, from 0 to 1.
fn gui_place(gui: &Gui) -> f64 {
    let [low, high] = gui.range.map(f64::from);
    let value = f64::from(gui.value);
    let place = match gui.is_logarithmic && low > 0.0 && high > 0.0 && value > 0.0 {
        true => (value / low).ln() / (high / low).ln(),
        false => (value - low) / (high - low),
    };
    if place.is_finite() {
        place.clamp(0.0, 1.0)
    } else {
        0.0
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number of a cell"
)]
fn radio(gui: &Gui, is_vertical: bool) -> PatchShape {
    PatchShape::Radio {
        is_vertical,
        cells: gui.cells,
        chosen: gui.value.max(0.0) as u32,
    }
}

/// Words with spaces between them. As Pd writes them, no space stands before `,` and `;`, and a line ends behind `;`.
fn joined(words: &[Atom]) -> String {
    let mut text = String::new();
    for word in words {
        let is_mark = matches!(word, Atom::Comma | Atom::Semicolon);
        if !is_mark && !text.is_empty() && !text.ends_with('\n') {
            text.push(' ');
        }
        text.push_str(&word.to_string());
        if matches!(word, Atom::Semicolon) {
            text.push('\n');
        }
    }
    text.trim_end().to_owned()
}

/// The text in lines of at most `letters`, broken at spaces where there are some.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 1 and 1000"
)]
fn wrapped(text: &str, letters: f32) -> String {
    let limit = letters.clamp(1.0, 1000.0) as usize;
    let mut lines: Vec<String> = Vec::new();
    for written in text.split('\n') {
        let mut line = String::new();
        for word in written.split(' ') {
            let length = line.chars().count();
            if length > 0 && length + 1 + word.chars().count() > limit {
                lines.push(std::mem::take(&mut line));
            } else if length > 0 {
                line.push(' ');
            }
            line.push_str(word);
            while line.chars().count() > limit {
                let rest: String = line.chars().skip(limit).collect();
                lines.push(line.chars().take(limit).collect());
                line = rest;
            }
        }
        lines.push(line);
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrapped("one two three", 7.0), "one two\nthree");
        assert_eq!(wrapped("abcdefgh ij", 3.0), "abc\ndef\ngh\nij");
        assert_eq!(wrapped("a;\nb", 60.0), "a;\nb");
    }

    #[test]
    fn marks_follow_their_word_at_once() {
        let words = [
            Atom::symbol("a"),
            Atom::Comma,
            Atom::symbol("b"),
            Atom::Semicolon,
        ];
        assert_eq!(joined(&words), "a, b;");
    }
}
