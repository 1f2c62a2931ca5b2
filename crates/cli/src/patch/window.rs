//! A patch as the boxes and cords of its window.

use divisi::draw::{PatchBoxShape, PatchCord, PatchShape, PatchWindow};
use divisi::pd::{Atom, Gui, GuiKind, Instance, LoadedObject, ObjectBody, PortKind};

/// The window of a patch's outermost canvas.
pub(crate) fn window(root: &Instance) -> PatchWindow {
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
    PatchWindow {
        title: format!("the patch {}", root.name),
        boxes: root.objects.iter().map(shape).collect(),
        cords: root.connections.iter().map(cord).collect(),
    }
}

fn shape(object: &LoadedObject) -> PatchBoxShape {
    let words = || joined(&object.arguments);
    let written = || joined(&object.written);
    let (shape, text, mut size) = match &object.body {
        ObjectBody::Class(_) | ObjectBody::Abstraction(_) | ObjectBody::Clones { .. } => {
            (PatchShape::Object, written(), None)
        }
        ObjectBody::Message => (PatchShape::Message, words(), None),
        ObjectBody::Gui(gui) => gui_shape(gui),
        ObjectBody::Comment => (PatchShape::Comment, words(), None),
        ObjectBody::Subpatch(inner) => {
            let size = inner.coordinates.filter(|it| it.shown > 0);
            let size = size.map(|it| (f64::from(it.size[0]), f64::from(it.size[1])));
            let array = inner.objects.iter().find_map(|inside| match &inside.body {
                ObjectBody::Array(array) => Some(array),
                _ => None,
            });
            match (size, array) {
                (Some(size), Some(array)) => {
                    let mut points = array.points.clone();
                    points.resize(array.size.min(1 << 20), 0.0);
                    (
                        PatchShape::Array(points),
                        array.name.to_string(),
                        Some(size),
                    )
                }
                (Some(size), None) => (PatchShape::Control, inner.name.clone(), Some(size)),
                (None, _) => (PatchShape::Object, format!("pd {}", inner.name), None),
            }
        }
        ObjectBody::Array(array) => (PatchShape::Comment, format!("array {}", array.name), None),
        ObjectBody::Scalar => (PatchShape::Comment, "scalar".to_owned(), None),
        ObjectBody::StandIn(_) => (PatchShape::Missing, written(), None),
    };
    if let (None, Some(letters)) = (size, object.width) {
        size = Some((f64::from(letters) * 7.0 + 6.0, 0.0));
    }
    PatchBoxShape {
        shape,
        at: (f64::from(object.position.x), f64::from(object.position.y)),
        size,
        text,
        ports: (object.ports.inlets.len(), object.ports.outlets.len()),
    }
}

fn gui_shape(gui: &Gui) -> (PatchShape, String, Option<(f64, f64)>) {
    let (width, height) = (f64::from(gui.size[0]), f64::from(gui.size[1]));
    let cells = f64::from(gui.cells.max(1));
    let label = gui
        .label
        .as_ref()
        .map_or_else(String::new, ToString::to_string);
    let number = |letters: f64| Some((letters.max(3.0) * 7.0 + 6.0, 18.0));
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
        GuiKind::HorizontalRadio => (PatchShape::Control, label, Some((width * cells, width))),
        GuiKind::VerticalRadio => (PatchShape::Control, label, Some((width, width * cells))),
        GuiKind::HorizontalSlider | GuiKind::VerticalSlider | GuiKind::Meter => {
            (PatchShape::Control, label, Some((width, height)))
        }
        GuiKind::Canvas => (PatchShape::Panel, label, Some((width, height))),
    }
}

/// Words with spaces between them.
fn joined(words: &[Atom]) -> String {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    words.join(" ")
}
