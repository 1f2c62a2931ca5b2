//! [`PatchFile`], [`Canvas`] and [`PatchBox`]: what a patch consists of.

use super::{Atom, Gui};
use graph::{Diagnostic, SourceSpan};

/// A patch file that was read.
#[derive(Clone, Debug, Default)]
pub struct PatchFile {
    /// The outermost canvas.
    pub canvas: Canvas,
    /// Templates of data structures: the words behind `#N struct`.
    pub structs: Vec<Vec<Atom>>,
    /// Every mistake of the text, in its order.
    pub diagnostics: Vec<Diagnostic>,
}

/// A canvas: boxes and the connections between them. A subpatch, and the graph around an array, are canvases too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Canvas {
    /// Name of a subpatch; empty for the outermost canvas.
    pub name: Box<str>,
    /// Boxes, in the order of the file: connections count them from 0.
    pub boxes: Vec<PatchBox>,
    /// Connections, in the order of the file, between boxes that exist.
    pub connections: Vec<Connection>,
    /// Words of `#X declare`, a list for each.
    pub declares: Vec<Vec<Atom>>,
    /// The part of the canvas that its box shows, if it shows any.
    pub coordinates: Option<Coordinates>,
    /// Place of its window on the screen, width and height in pixels.
    pub window: [f32; 4],
    /// Size of its letters, in points.
    pub font: f32,
    /// Place of `#N canvas`.
    pub span: SourceSpan,
}

/// A line of `#X coords`: units of the graph inside, and what of it is shown outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coordinates {
    /// Left, top, right and bottom in units of the graph.
    pub bounds: [f32; 4],
    /// Width and height of the box outside, in pixels.
    pub size: [f32; 2],
    /// 1 if the inside is shown outside, 2 if the text is hidden as well.
    pub shown: u8,
    /// The pixel of the window inside that is at the top left corner of the box outside. `None` if the whole window is shown, made smaller,
    /// as old files have it.
    pub corner: Option<[f32; 2]>,
}

/// A place in a window, in pixels from the top left corner.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Position {
    /// To the right.
    pub x: f32,
    /// Down.
    pub y: f32,
}

/// A box of a canvas.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchBox {
    /// Its body.
    pub body: BoxBody,
    /// Its top left corner.
    pub position: Position,
    /// Width in letters, where the text states one.
    pub width: Option<f32>,
    /// Contents of an object that keeps them (`text define -k`, `array define -k`, `savestate`): the words of
    /// each `#A` behind it.
    pub saved: Vec<Vec<Atom>>,
    /// Place of the statement in the file.
    pub span: SourceSpan,
}

/// The body of a box.
#[derive(Clone, Debug, PartialEq)]
pub enum BoxBody {
    /// An object: its class and the arguments. An empty box has no words.
    Object(Vec<Atom>),
    /// A message box.
    Message(Vec<Atom>),
    /// A box that shows a value.
    Gui(Gui),
    /// A comment.
    Comment(Vec<Atom>),
    /// A subpatch, or a graph.
    Canvas {
        /// Its contents.
        canvas: Box<Canvas>,
        /// Words of the box: `pd`, the name and arguments; or `graph`.
        words: Vec<Atom>,
    },
    /// An array, with the contents that were saved.
    Array(ArrayData),
    /// A datum of a data structure: template and fields.
    Scalar(Vec<Atom>),
}

/// An array in a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayData {
    /// Its name, a symbol or one with dollars.
    pub name: Atom,
    /// Number of its points.
    pub size: usize,
    /// True if the contents are saved with the patch.
    pub is_saved: bool,
    /// The points; at most `size` of them, the rest are 0.
    pub points: Vec<f32>,
}

/// A connection of two boxes of one canvas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Index of the box that sends.
    pub from: usize,
    /// Its outlet, from 0.
    pub outlet: usize,
    /// Index of the box that receives.
    pub to: usize,
    /// Its inlet, from 0.
    pub inlet: usize,
    /// Place in the file.
    pub span: SourceSpan,
}

impl PatchBox {
    /// Words that say what the box is, for messages and pictures.
    pub fn text(&self) -> String {
        match &self.body {
            BoxBody::Object(words) | BoxBody::Message(words) | BoxBody::Comment(words) => {
                join(words)
            }
            BoxBody::Canvas { words, .. } => join(words),
            BoxBody::Gui(gui) => gui.kind.class().to_owned(),
            BoxBody::Array(array) => format!("array {}", array.name),
            BoxBody::Scalar(words) => format!("scalar {}", join(words)),
        }
    }
}

/// Words with spaces between them.
fn join(words: &[Atom]) -> String {
    let mut text = String::new();
    for (i, word) in words.iter().enumerate() {
        let gap = if i == 0 { "" } else { " " };
        text += gap;
        text += &word.to_string();
    }
    text
}
