//! Faces: controls, arrays and comments that a subpatch or an abstraction shows on the canvas around it.
//!
//! As Pd does, boxes that do not lie wholly inside are left out, and so are objects and messages.

use super::window::{font_of, shape};
use divisi::draw::{PatchBoxShape, PatchFont, PatchShape};
use divisi::pd::{ArrayData, Coordinates, Instance, LoadedObject, ObjectBody};

/// Most points of an array that are drawn: one for each pixel of a wide face.
const MAX_POINTS: usize = 4096;

/// The face of a canvas, and its width and height; `None` if it shows nothing. `font` is that of the canvas around; `points` of arrays are
/// left to be drawn.
pub(super) fn face(
    inner: &Instance,
    font: PatchFont,
    points: &mut usize,
) -> Option<(PatchShape, (f64, f64))> {
    let shown = inner.coordinates.filter(|it| it.shown > 0)?;
    let size = (f64::from(shown.size[0]), f64::from(shown.size[1]));
    let font = font_of(inner).unwrap_or(font);
    let mut boxes = Vec::new();
    let mut arrays = 0;
    for object in &inner.objects {
        if let ObjectBody::Array(array) = &object.body {
            let label_at = (2.0, -0.5 * font.height * f64::from(2 * arrays + 1));
            boxes.push(array_shape(array, &shown, (size, label_at), points));
            arrays += 1;
        } else if is_shown(object, &shown) {
            let at = place(object, &shown, inner.window);
            let one = PatchBoxShape {
                at,
                ports: (0, 0),
                ..shape(object, font, points)
            };
            boxes.extend(is_inside(&one, &shown, font).then_some(one));
        }
    }
    Some((PatchShape::Face { boxes, font }, size))
}

fn is_shown(object: &LoadedObject, shown: &Coordinates) -> bool {
    match &object.body {
        ObjectBody::Gui(_) => true,
        ObjectBody::Subpatch(inner) | ObjectBody::Abstraction(inner) => {
            inner.coordinates.is_some_and(|it| it.shown > 0)
        }
        ObjectBody::Comment => shown.corner.is_some(),
        _ => false,
    }
}

/// Place of a box from the corner of the face.
fn place(object: &LoadedObject, shown: &Coordinates, window: [f32; 2]) -> (f64, f64) {
    let at = [object.position.x, object.position.y].map(f64::from);
    let place = |i: usize| match shown.corner {
        Some(corner) => at[i] - f64::from(corner[i]),
        None => at[i] * f64::from(shown.size[i]) / f64::from(window[i].max(1.0)),
    };
    (place(0), place(1))
}

/// Returns true if Pd shows the box: it looks only where a corner is stated.
fn is_inside(one: &PatchBoxShape, shown: &Coordinates, font: PatchFont) -> bool {
    let (width, height) = one.size(font);
    let within = |at: f64, length: f64, limit: f32| at >= 0.0 && at + length <= f64::from(limit);
    shown.corner.is_none()
        || within(one.at.0, width, shown.size[0]) && within(one.at.1, height, shown.size[1])
}

fn array_shape(
    array: &ArrayData,
    shown: &Coordinates,
    (size, label_at): ((f64, f64), (f64, f64)),
    left: &mut usize,
) -> PatchBoxShape {
    let [first, top, last, bottom] = shown.bounds.map(f64::from);
    let columns = (size.0.max(1.0) as usize).min(MAX_POINTS);
    let step = array.size.div_ceil(columns).max(1);
    let point = |at: usize| array.points.get(at).copied().unwrap_or(0.0);
    let points: Vec<f32> = (0..array.size)
        .step_by(step)
        .take(*left)
        .map(point)
        .collect();
    *left -= points.len();
    PatchBoxShape {
        shape: PatchShape::Array {
            points,
            columns: [first, last].map(|column| column / step as f64),
            levels: [top, bottom],
        },
        at: (0.0, 0.0),
        size: Some(size),
        text: array.name.to_string(),
        label_at: Some(label_at),
        ports: (0, 0),
    }
}
