//! Copies of boxes that messages to canvases make: `copy`, `paste` and `duplicate`.
//!
//! Words of boxes are copied, so that a copy has arguments, `$0` and files of its own. It needs the boxes as they stand,
//! which a patch has whose messages may change signals.

use super::canvases::CanvasId;
use super::copied::Clipboard;
use super::edit::MAX_DEPTH;
use super::layout::Layout;
use super::machine::Machine;
use super::selection::Selection;
use crate::load::{CopySize, MAX_PATCH_BOXES, MAX_PATCH_CANVASES, box_of};
use std::collections::HashSet;

/// Pixels from a box to its copy, right and down.
const OFFSET: f32 = 10.0;
/// Words, and points of arrays, of all copies that are made, at most: a copy keeps its own.
const MAX_WORDS: usize = 1 << 24;

impl Layout {
    /// Boxes of a canvas with these numbers, ascending.
    fn copied(&mut self, canvas: CanvasId, numbers: &[usize]) -> Option<Clipboard> {
        let (instance, _) = self.canvas(canvas)?;
        let objects = numbers.iter().filter_map(|at| instance.objects.get(*at));
        let place = |at: usize| numbers.binary_search(&at).ok();
        let connections = instance.connections.iter().filter_map(|wire| {
            let (from, to) = (place(wire.from)?, place(wire.to)?);
            Some([from, wire.outlet, to, wire.inlet])
        });
        Some(Clipboard {
            boxes: objects.map(box_of).collect(),
            connections: connections.collect(),
        })
    }
}

impl Machine {
    /// `copy`: keeps the boxes that are selected.
    pub(super) fn copy_boxes(&mut self, canvas: CanvasId) -> Result<(), String> {
        if let Some(copied) = self.copied(canvas)? {
            self.clipboard = copied;
        }
        Ok(())
    }

    /// The boxes that are selected, if there are any.
    fn copied(&mut self, canvas: CanvasId) -> Result<Option<Clipboard>, String> {
        let state = self.canvases.get(canvas);
        let numbers = state.selection.boxes.iter().copied();
        let numbers: Vec<usize> = numbers.filter(|at| *at < state.boxes.len()).collect();
        if numbers.is_empty() {
            return Ok(None);
        }
        let Some(layout) = &mut self.layout else {
            return Err(
                "boxes are copied only where `pd-` and `paste` or `duplicate` stand in message boxes".into(),
            );
        };
        Ok(layout.copied(canvas, &numbers))
    }

    /// `paste`: puts what was copied where no box stands yet.
    pub(super) fn paste_boxes(&mut self, canvas: CanvasId, depth: u32) -> Result<(), String> {
        let state = self.canvases.get(canvas);
        let Some(first) = self.clipboard.boxes.first() else {
            return Ok(());
        };
        // What is being written gets a text, as in Pd.
        if state.selection.is_written {
            return Ok(());
        }
        let place = |x: f32, y: f32| [x + 0.0, y + 0.0].map(f32::to_bits);
        let taken = state.boxes.iter();
        let taken: HashSet<_> = taken.map(|one| place(one.edges[0], one.edges[1])).collect();
        let (x, y) = (first.position.x, first.position.y);
        let mut offset = 0.0;
        // Each box can be met once; far out a step leads nowhere.
        for _ in 0..state.boxes.len() {
            if !taken.contains(&place(x + offset, y + offset)) {
                break;
            }
            offset += OFFSET;
        }
        let copied = std::mem::take(&mut self.clipboard);
        let done = self.insert_copies(canvas, &copied, offset, depth);
        self.clipboard = copied;
        done
    }

    /// `duplicate`: puts copies of what is selected beside it; what was copied stays.
    pub(super) fn duplicate_boxes(&mut self, canvas: CanvasId, depth: u32) -> Result<(), String> {
        // A click that has not ended may still move them.
        if self.canvases.get(canvas).selection.is_pressed {
            return Ok(());
        }
        match self.copied(canvas)? {
            Some(copied) => self.insert_copies(canvas, &copied, OFFSET, depth),
            None => Ok(()),
        }
    }

    /// Puts boxes into a canvas, connects them, selects them and lets them send what they send when they are loaded.
    fn insert_copies(
        &mut self,
        canvas: CanvasId,
        copied: &Clipboard,
        offset: f32,
        depth: u32,
    ) -> Result<(), String> {
        self.claim_room(canvas, CopySize::of(&copied.boxes))?;
        let mut copies = copied.boxes.clone();
        for copy in &mut copies {
            copy.position.x += offset;
            copy.position.y += offset;
        }
        let first = self.canvases.get(canvas).boxes.len();
        self.load_boxes(canvas, &copies);
        for [from, outlet, to, inlet] in &copied.connections {
            // What a copy has no port for is left out.
            let _ = self.wire(canvas, [first + from, *outlet, first + to, *inlet], true);
        }
        let state = self.canvases.get_mut(canvas);
        state.selection = Selection {
            boxes: (first..state.boxes.len()).collect(),
            is_pressed: state.selection.is_pressed,
            ..Selection::default()
        };
        let mut objects = Vec::new();
        self.canvases.loadbangs_from(canvas, first, &mut objects);
        self.load_objects(&objects, depth + 1);
        Ok(())
    }

    /// Refuses copies that would be too many, too large or too deep.
    fn claim_room(&mut self, canvas: CanvasId, copies: CopySize) -> Result<(), String> {
        let (boxes, canvases) = self.canvases.counts();
        if boxes + copies.boxes > MAX_PATCH_BOXES || canvases + copies.canvases > MAX_PATCH_CANVASES
        {
            return Err(format!(
                "at most {MAX_PATCH_BOXES} boxes and {MAX_PATCH_CANVASES} canvases are made"
            ));
        }
        if self.canvases.get(canvas).depth + copies.depth >= MAX_DEPTH {
            return Err(format!("canvases are nested at most {MAX_DEPTH} deep"));
        }
        let words = self.copied_words + copies.words;
        if words > MAX_WORDS {
            return Err(format!("copies have at most {MAX_WORDS} words"));
        }
        self.copied_words = words;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::MAX_WORDS;
    use crate::control::edit::tests::{live, printed_both};

    /// A patch whose message box `message` is sent by `go`, and whose subpatch `s` holds `inside`.
    fn patch(message: &str, inside: &str) -> String {
        format!(
            "#X obj 0 0 r go;\n#X msg 0 0 {message};\n#X connect 0 0 1 0;\n\
             #N canvas 0 0 9 9 s 0;\n{inside}#X restore 0 0 pd s;\n"
        )
    }

    fn go(machine: &mut crate::control::Machine) -> Vec<String> {
        machine.send_text(0, "go");
        while machine.waits_for_edits() {
            machine.make_edits();
            machine.go_on_after_edits(1);
        }
        let mut said = machine.take_console();
        said.retain(|line| !line.starts_with("canvas: "));
        said
    }

    #[test]
    fn copies_have_no_more_words_than_there_is_room_for() {
        let inside = "#X text 0 0 one two three;\n";
        let message = "\\; pd-s selectall \\, duplicate";
        let head = "#N canvas 0 0 9 9 12;\n";
        let mut machine = live("copied-words", &format!("{head}{}", patch(message, inside)));
        assert!(go(&mut machine).is_empty());
        let own = machine.copied_words;
        assert!(own >= 3, "{own}");
        machine.copied_words = MAX_WORDS - 2 * own;
        assert!(go(&mut machine).is_empty());
        let before = machine.canvases.counts();
        let said = go(&mut machine);
        assert_eq!(
            said,
            ["error: pd-s: duplicate: copies have at most 16777216 words"]
        );
        assert_eq!(machine.canvases.counts(), before);
    }

    #[test]
    fn copies_without_end_are_refused_and_not_too_slow() {
        let inside = "#N canvas 0 0 9 9 t 0;\n#X obj 0 0 osc~ 1;\n#X restore 0 0 pd t;\n#X obj 0 0 *~ 2;\n#X connect 0 0 1 0;\n";
        // Doubled each time.
        let message = "\\; pd-s selectall \\, duplicate";
        let head = "#N canvas 0 0 9 9 12;\n";
        let mut machine = live("copied-twice", &format!("{head}{}", patch(message, inside)));
        for _ in 0..9 {
            assert!(go(&mut machine).is_empty());
        }
        machine.canvases.boxes = crate::load::MAX_PATCH_BOXES - 1;
        let said = go(&mut machine);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains("at most 2097152 boxes"), "{said:?}");
    }

    #[test]
    fn each_paste_finds_a_free_place_also_far_out() {
        let inside =
            "#X obj 1e30 1e30 r x;\n#X obj 0 0 r x;\n#X obj 9 9 print x;\n#X connect 1 0 2 0;\n";
        let many = "#X obj 0 0 loadbang;\n#X obj 0 0 t b b b;\n#X msg 0 0 \\; pd-s selectall \\, copy;\n#X msg 0 0 50;\n#X obj 0 0 until;\n\
                    #X msg 0 0 \\; pd-s paste;\n#X msg 0 0 \\; x 1;\n\
                    #X connect 0 0 1 0;\n#X connect 1 2 2 0;\n#X connect 1 1 3 0;\n#X connect 3 0 4 0;\n#X connect 4 0 5 0;\n#X connect 1 0 6 0;\n";
        let patch = format!("{many}#N canvas 0 0 9 9 s 0;\n{inside}#X restore 0 0 pd s;\n");
        let found = printed_both("pasted-far", &patch);
        let heard = found.iter().filter(|line| *line == "x: 1").count();
        assert_eq!((heard, found.len()), (51, 51), "{found:?}");
    }

    #[test]
    fn boxes_that_were_cut_or_cleared_are_not_copied() {
        let inside = "#X obj 0 0 r x;\n#X obj 9 9 print x;\n#X connect 0 0 1 0;\n";
        // The clipboard is empty, then a selection is of boxes that are gone.
        let message = "\\; pd-s paste \\, selectall \\, clear \\, copy \\, duplicate \\, paste \\, cut \\, paste \\; x 1";
        let head = "#X obj 0 0 loadbang;\n";
        let text = patch(message, inside).replace("#X obj 0 0 r go;\n", head);
        assert_eq!(
            printed_both("copied-none", &text),
            ["error: x: no such object"]
        );
    }
}
