//! [`Clipboard`]: boxes that messages to canvases have copied, and `copy`, `paste` and `duplicate`.
//!
//! What is copied are the words of the boxes, so that a copy has arguments, `$0` and files of its own. It needs the boxes as they stand,
//! which a patch has whose messages may change signals.

use super::canvases::CanvasId;
use super::edit::MAX_DEPTH;
use super::layout::Layout;
use super::machine::Machine;
use super::selection::Selection;
use crate::file::PatchBox;
use crate::load::{MAX_PATCH_BOXES, MAX_PATCH_CANVASES, box_of, counts, sets_blocks};

/// How far right and down of a box its copy stands, in pixels.
const OFFSET: f32 = 10.0;

/// Boxes that were copied, and connections between them.
#[derive(Default)]
pub(super) struct Clipboard {
    boxes: Vec<PatchBox>,
    connections: Vec<[usize; 4]>,
}

impl Clipboard {
    /// Returns true if a copy would give the signals of its canvas other blocks.
    pub(super) fn sets_blocks(&self) -> bool {
        self.boxes.iter().any(sets_blocks)
    }
}

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
        let state = self.canvases.get(canvas);
        let numbers = state.selection.boxes.iter().copied();
        let numbers: Vec<usize> = numbers.filter(|at| *at < state.boxes.len()).collect();
        if numbers.is_empty() {
            return Ok(());
        }
        let Some(layout) = &mut self.layout else {
            return Err(
                "boxes are copied only where `pd-` and `paste` or `duplicate` stand in message boxes".into(),
            );
        };
        if let Some(copied) = layout.copied(canvas, &numbers) {
            self.clipboard = copied;
        }
        Ok(())
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
        let (x, y) = (first.position.x, first.position.y);
        let mut offset = 0.0;
        let stands = |offset: f32| {
            let mut all = state.boxes.iter();
            all.any(|one| one.edges[..2] == [x + offset, y + offset])
        };
        // Each box can be met once.
        for _ in 0..=state.boxes.len() {
            if !stands(offset) {
                break;
            }
            offset += OFFSET;
        }
        self.insert_copies(canvas, offset, depth)
    }

    /// `duplicate`: copies what is selected, beside it.
    pub(super) fn duplicate_boxes(&mut self, canvas: CanvasId, depth: u32) -> Result<(), String> {
        let selection = &self.canvases.get(canvas).selection;
        // A click that has not ended may still move them.
        if selection.is_pressed || selection.boxes.is_empty() {
            return Ok(());
        }
        self.copy_boxes(canvas)?;
        self.insert_copies(canvas, OFFSET, depth)
    }

    fn insert_copies(&mut self, canvas: CanvasId, offset: f32, depth: u32) -> Result<(), String> {
        let (count, canvases, inner) = counts(&self.clipboard.boxes);
        let (boxes, all) = self.canvases.counts();
        if boxes + count > MAX_PATCH_BOXES || all + canvases > MAX_PATCH_CANVASES {
            return Err(format!(
                "at most {MAX_PATCH_BOXES} boxes and {MAX_PATCH_CANVASES} canvases are made"
            ));
        }
        if self.canvases.get(canvas).depth + inner >= MAX_DEPTH {
            return Err(format!("canvases are nested at most {MAX_DEPTH} deep"));
        }
        let mut copies = self.clipboard.boxes.clone();
        for copy in &mut copies {
            copy.position.x += offset;
            copy.position.y += offset;
        }
        let first = self.canvases.get(canvas).boxes.len();
        self.load_boxes(canvas, &copies);
        let wires = self.clipboard.connections.clone();
        for [from, outlet, to, inlet] in wires {
            // What a copy has no port for is left out.
            let _ = self.wire(canvas, [first + from, outlet, first + to, inlet], true);
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
}
