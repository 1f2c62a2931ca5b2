//! [`Selection`]: boxes of a canvas that are selected, and where a box lies: it is as large as Pd draws it with its font of 12 points.

use crate::file::GuiKind;
use crate::load::{LoadedObject, ObjectBody};

/// Width and height of a letter.
const LETTER: [f32; 2] = [7.0, 16.0];
/// Letters of a line, where the box states no width.
const LINE: usize = 60;
/// Space beside the letters, and above and below them.
const MARGIN: [f32; 2] = [5.0, 6.0];

/// Boxes of a canvas that are selected.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// Their numbers, ascending.
    pub(super) boxes: Vec<usize>,
    /// True if all scalars are selected too.
    pub(super) has_scalars: bool,
    /// Begin of a click on no box.
    pub(super) from: Option<[f32; 2]>,
    /// True from a click until it ends.
    pub(super) is_pressed: bool,
    /// True if the text of the one that is selected is being written: a click has ended on it.
    pub(super) is_written: bool,
}

/// Left, upper, right and lower edge of a box.
pub(super) fn edges_of(object: &LoadedObject) -> [f32; 4] {
    let [width, height] = match &object.body {
        ObjectBody::Gui(gui) => match gui.kind {
            GuiKind::Float | GuiKind::Symbol | GuiKind::List => text_size(gui.size[0], 1.0),
            GuiKind::Number => [gui.size[0] * LETTER[0] + gui.size[1], gui.size[1]],
            _ => gui.size,
        },
        _ => {
            let words = if object.written.is_empty() {
                &object.arguments
            } else {
                &object.written
            };
            let letters = words
                .iter()
                .map(|word| word.to_string().len() + 1)
                .sum::<usize>();
            let letters = letters.saturating_sub(1).max(3);
            let columns = object.width.map_or(letters.min(LINE), columns);
            text_size(number(columns), number(letters.div_ceil(columns.max(1))))
        }
    };
    let (x, y) = (object.position.x, object.position.y);
    [x, y, x + width, y + height]
}

fn text_size(columns: f32, lines: f32) -> [f32; 2] {
    [
        columns.max(1.0) * LETTER[0] + MARGIN[0],
        lines * LETTER[1] + MARGIN[1],
    ]
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 1 and 1000"
)]
fn columns(width: f32) -> usize {
    width.clamp(1.0, 1000.0) as usize
}

#[expect(clippy::cast_precision_loss, reason = "a small number")]
fn number(count: usize) -> f32 {
    count as f32
}

impl Selection {
    pub(super) fn add(&mut self, boxes: impl IntoIterator<Item = usize>) {
        self.boxes.extend(boxes);
        self.boxes.sort_unstable();
        self.boxes.dedup();
    }
}
