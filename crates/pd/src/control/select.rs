//! Messages to a canvas that select boxes, as a mouse would, and cut them: `selectall`, `mouse`, `mouseup`, `cut`.
//!
//! A click is one in edit mode: it selects, and moves or plays nothing.

use super::canvases::{CanvasBox, CanvasId, CanvasMessage};
use super::machine::Machine;
use super::selection::Selection;

/// Bit of a click that adds to what is selected.
const SHIFT: i32 = 1;

impl CanvasBox {
    fn meets(&self, [left, upper, right, lower]: [f32; 4]) -> bool {
        let [x1, y1, x2, y2] = self.edges;
        left <= x2 && right >= x1 && upper <= y2 && lower >= y1
    }
}

impl Machine {
    /// `selectall`, `deselectall`, `mouse` and `mouseup`.
    pub(super) fn select_boxes(&mut self, message: &CanvasMessage) {
        let number = |at: usize| message.values.get(at).map_or(0.0, |value| value.number());
        let [x, y] = [number(0), number(1)];
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        let adds = number(3) as i32 & SHIFT != 0;
        let globals = self.globals();
        let what = globals.symbols.text(message.selector).to_owned();
        let canvas = self.canvases.get_mut(message.canvas);
        let (boxes, selection) = (&canvas.boxes, &mut canvas.selection);
        match &*what {
            "selectall" => {
                selection.boxes = (0..boxes.len()).collect();
                selection.has_scalars = true;
                selection.is_written = false;
            }
            "mouse" => {
                let hit = boxes.iter().rposition(|one| one.meets([x, y, x, y]));
                let is_known = hit.is_some_and(|hit| selection.boxes.contains(&hit));
                if !adds && !is_known {
                    selection.boxes.clear();
                    selection.has_scalars = false;
                }
                selection.is_written = false;
                selection.is_pressed = true;
                selection.from = hit.is_none().then_some([x, y]);
                match hit {
                    Some(hit) if is_known && adds => selection.boxes.retain(|one| *one != hit),
                    Some(hit) if !is_known => selection.add([hit]),
                    _ => {}
                }
            }
            "mouseup" => {
                selection.is_pressed = false;
                if let Some([from_x, from_y]) = selection.from.take() {
                    let area = [from_x.min(x), from_y.min(y), from_x.max(x), from_y.max(y)];
                    let all = boxes.iter().enumerate();
                    let inside = all.filter(|(_, one)| one.meets(area));
                    selection.add(inside.map(|(at, _)| at));
                } else {
                    selection.is_written = selection.boxes.len() == 1;
                }
            }
            _ => {
                *selection = Selection {
                    is_pressed: selection.is_pressed,
                    ..Selection::default()
                };
            }
        }
    }

    /// Removes the boxes that are selected.
    pub(super) fn cut_boxes(&mut self, canvas: CanvasId) -> Result<(), String> {
        let state = self.canvases.get_mut(canvas);
        if state.selection.is_written {
            return Ok(());
        }
        if self.layout.is_some() {
            self.copy_boxes(canvas)?;
        }
        let state = self.canvases.get_mut(canvas);
        let Selection {
            boxes: mut cut,
            has_scalars,
            is_pressed,
            ..
        } = std::mem::take(&mut state.selection);
        state.selection.is_pressed = is_pressed;
        cut.retain(|at| *at < state.boxes.len());
        let (mut objects, mut lists) = (Vec::new(), Vec::new());
        lists.extend(has_scalars.then_some(state.list));
        for at in &cut {
            self.canvases
                .contents(canvas, *at, (&mut objects, &mut lists));
        }
        if self.layout.is_none() && self.has_signals(&objects) {
            return Err("signals change only where `pd-` and `obj` stand in message boxes".into());
        }
        if let (Some(layout), false) = (&mut self.layout, cut.is_empty()) {
            layout.remove(canvas, &cut);
        }
        let (data, mut beside, _) = self.globals().data();
        for list in lists {
            data.clear_list(list, &mut beside);
        }
        if cut.is_empty() {
            return Ok(());
        }
        self.remove(&objects);
        let (mut at, mut cut) = (0, cut.into_iter().peekable());
        let boxes = &mut self.canvases.get_mut(canvas).boxes;
        boxes.retain(|_| {
            at += 1;
            cut.next_if_eq(&(at - 1)).is_none()
        });
        Ok(())
    }
}
