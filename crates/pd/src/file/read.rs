//! Statements to canvases.
//!
//! `#N canvas` opens a canvas and `#X restore` closes it: the canvas then becomes a box of the one around it. Canvases that are
//! open stand on a stack, so that a file of any depth is read without recursion.

use super::words::{Statement, Statements, Word};
use super::{
    ArrayData, Atom, BoxBody, Canvas, Connection, Coordinates, Gui, GuiKind, PatchBox, PatchFile,
    Position,
};
use graph::{Diagnostic, SourceSpan};

/// Canvases inside one another, at most.
pub const MAX_DEPTH: usize = 256;
/// Boxes of a file, at most.
pub const MAX_BOXES: usize = 1 << 20;
/// Points of an array, at most.
pub const MAX_ARRAY: usize = 1 << 28;
/// Mistakes of a file that are reported, at most.
const MAX_REPORTED: usize = 1000;

/// Reads the text of a patch file.
///
/// Never fails: what is wrong is a diagnostic with its place, and the rest is read.
pub fn read_patch(text: &str) -> PatchFile {
    let mut reader = Reader::default();
    for statement in Statements::new(text) {
        reader.statement(&statement);
    }
    reader.end()
}

/// A connection as it is written. Its boxes may come later.
struct Wire {
    ends: [f32; 4],
    span: SourceSpan,
}

/// A canvas that is not closed yet.
#[derive(Default)]
struct OpenCanvas {
    canvas: Canvas,
    wires: Vec<Wire>,
}

#[derive(Default)]
struct Reader {
    open: Vec<OpenCanvas>,
    /// Canvases that were opened beyond the depth that is allowed.
    too_deep: usize,
    boxes: usize,
    file: PatchFile,
}

impl Reader {
    fn statement(&mut self, statement: &Statement<'_>) {
        let (Some(words), rest) = (
            statement.messages.first(),
            statement.messages.get(1..).unwrap_or_default(),
        ) else {
            return;
        };
        if !statement.is_closed {
            let warning = Diagnostic::warning(words[0].span, "the file ends inside a statement");
            self.report(warning.help("a statement ends with `;`"));
        }
        let kind = words.get(1).map_or("", |word| word.text);
        match (words[0].text, kind) {
            ("#N", "canvas") => self.open_canvas(words),
            ("#N", "struct") => self.file.structs.push(atoms(&words[2..])),
            ("#X", _) if self.too_deep > 0 => self.skip(kind),
            ("#X", _) => self.x(kind, words),
            ("#A", _) if self.too_deep > 0 => {}
            ("#A", _) => self.contents(words),
            ("#N" | "#C", _) => self.warn(words, "a statement of another kind of file"),
            _ => self.warn(words, "a statement that is not one of a patch"),
        }
        for message in rest {
            self.more(message);
        }
    }

    /// A message behind a comma: `f 12` states the width of the last box.
    fn more(&mut self, words: &[Word<'_>]) {
        let width = match words {
            [name, width] if name.text == "f" => super::parse_float(width.text),
            _ => None,
        };
        match (
            width,
            self.open.last_mut().and_then(|o| o.canvas.boxes.last_mut()),
        ) {
            (Some(width), Some(last)) => last.width = Some(width),
            (Some(_), None) => {}
            (None, _) => self.warn(words, "a comma that is not escaped ends the statement"),
        }
    }

    /// A statement that begins with `#X`.
    fn x(&mut self, kind: &str, words: &[Word<'_>]) {
        let arguments = words.get(2..).unwrap_or_default();
        if self.open.is_empty() {
            return self.warn(words, "a statement before the first `#N canvas`");
        }
        match kind {
            "restore" => self.close_canvas(words),
            "connect" => self.connect(words),
            "coords" => self.coordinates(arguments),
            "declare" => {
                let words = atoms(arguments);
                self.canvas().declares.push(words);
            }
            "array" => self.array(words),
            "scalar" => self.add(
                words,
                Position::default(),
                BoxBody::Scalar(atoms(arguments)),
            ),
            "obj" | "msg" | "text" | "floatatom" | "symbolatom" | "listbox" => self.placed(words),
            // Written by versions before 0.35, and by some that never were released.
            "f" | "pop" | "vis" => {}
            _ => self.warn(
                words,
                &format!("there is no statement `#X {}`", shown(kind)),
            ),
        }
    }

    /// A box with a position.
    fn placed(&mut self, words: &[Word<'_>]) {
        let number = |at: usize| words.get(at).and_then(|w| super::parse_float(w.text));
        let (Some(x), Some(y)) = (number(2), number(3)) else {
            return self.warn(words, "the box has no position, so it is left out");
        };
        let text = atoms(&words[4..]);
        let body = match words[1].text {
            "obj" => object(text),
            "msg" => BoxBody::Message(text),
            "text" => BoxBody::Comment(text),
            "floatatom" => BoxBody::Gui(Gui::of_statement(GuiKind::Float, &text)),
            "symbolatom" => BoxBody::Gui(Gui::of_statement(GuiKind::Symbol, &text)),
            _ => BoxBody::Gui(Gui::of_statement(GuiKind::List, &text)),
        };
        self.add(words, Position { x, y }, body);
    }

    fn add(&mut self, words: &[Word<'_>], position: Position, body: BoxBody) {
        self.boxes += 1;
        if self.boxes > MAX_BOXES {
            if self.boxes == MAX_BOXES + 1 {
                let message = format!("a patch has at most {MAX_BOXES} boxes");
                self.report(Diagnostic::error(words[0].span, message));
            }
            return;
        }
        let span = span_of(words);
        self.canvas().boxes.push(PatchBox {
            body,
            position,
            width: None,
            saved: Vec::new(),
            span,
        });
    }

    fn open_canvas(&mut self, words: &[Word<'_>]) {
        if self.open.len() >= MAX_DEPTH || self.too_deep > 0 {
            if self.too_deep == 0 {
                let message = format!("canvases are nested deeper than {MAX_DEPTH}");
                self.report(Diagnostic::error(words[0].span, message));
            }
            self.too_deep += 1;
            return;
        }
        let number = |at: usize| words.get(at).and_then(|w| super::parse_float(w.text));
        let window = [2, 3, 4, 5].map(|at| number(at).unwrap_or(0.0));
        // The outermost canvas states its letters' size where a subpatch has its name.
        let sixth = words.get(6).map(|word| Atom::of_box(word.text));
        let (name, font) = match (self.open.is_empty(), sixth) {
            (true, Some(Atom::Float(font))) => (String::new(), font),
            (false, Some(name)) => (name.to_string(), 0.0),
            _ => (String::new(), 0.0),
        };
        let canvas = Canvas {
            name: name.into(),
            window,
            font,
            span: span_of(words),
            ..Canvas::default()
        };
        self.open.push(OpenCanvas {
            canvas,
            wires: Vec::new(),
        });
    }

    /// Counts canvases that were too deep.
    fn skip(&mut self, kind: &str) {
        if kind == "restore" {
            self.too_deep -= 1;
        }
    }

    /// Makes the innermost canvas a box of the one around it.
    fn close_canvas(&mut self, words: &[Word<'_>]) {
        if self.open.len() < 2 {
            return self.warn(words, "`#X restore` without a subpatch");
        }
        let number = |at: usize| words.get(at).and_then(|w| super::parse_float(w.text));
        let position = Position {
            x: number(2).unwrap_or(0.0),
            y: number(3).unwrap_or(0.0),
        };
        let open = self.open.pop().expect("there are two");
        let canvas = Box::new(self.wired(open));
        let words_of_box = atoms(words.get(4..).unwrap_or_default());
        let body = BoxBody::Canvas {
            canvas,
            words: words_of_box,
        };
        self.add(words, position, body);
    }

    fn connect(&mut self, words: &[Word<'_>]) {
        let mut ends = [0.0; 4];
        for (at, end) in ends.iter_mut().enumerate() {
            let number = words.get(at + 2).and_then(|w| super::parse_float(w.text));
            let Some(number) = number.filter(|n| *n >= 0.0 && n.fract() == 0.0) else {
                return self.warn(
                    words,
                    "a connection has four numbers: box, outlet, box, inlet",
                );
            };
            *end = number;
        }
        let span = span_of(words);
        let open = self.open.last_mut().expect("a canvas is open");
        open.wires.push(Wire { ends, span });
    }

    /// The canvas with those of its connections whose boxes exist.
    fn wired(&mut self, open: OpenCanvas) -> Canvas {
        let OpenCanvas { mut canvas, wires } = open;
        for wire in wires {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "not negative; a float as large as this saturates"
            )]
            let [from, outlet, to, inlet] = wire.ends.map(|end| end as usize);
            let count = canvas.boxes.len();
            if let Some(missing) = [from, to].into_iter().find(|at| *at >= count) {
                let message = format!("there is no box {missing}: this canvas has {count}");
                let help = "the connection is left out";
                self.report(Diagnostic::warning(wire.span, message).help(help));
                continue;
            }
            canvas.connections.push(Connection {
                from,
                outlet,
                to,
                inlet,
                span: wire.span,
            });
        }
        canvas
    }

    fn coordinates(&mut self, arguments: &[Word<'_>]) {
        let number = |at: usize| {
            let word = arguments.get(at);
            word.and_then(|w| super::parse_float(w.text)).unwrap_or(0.0)
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and 2"
        )]
        let shown = number(6).clamp(0.0, 2.0) as u8;
        self.canvas().coordinates = Some(Coordinates {
            bounds: [0, 1, 2, 3].map(number),
            size: [number(4), number(5)],
            shown,
            corner: (arguments.len() > 7).then(|| [number(7), number(8)]),
        });
    }

    /// `#X array NAME SIZE float FLAGS`.
    fn array(&mut self, words: &[Word<'_>]) {
        let Some(name) = words.get(2).map(|word| Atom::of_box(word.text)) else {
            return self.warn(words, "an array without a name is left out");
        };
        let number = |at: usize| words.get(at).and_then(|w| super::parse_float(w.text));
        let size = number(3).unwrap_or(0.0).max(1.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at least 1; a float as large as this saturates"
        )]
        let size = size as usize;
        if size > MAX_ARRAY {
            let message = format!("an array has at most {MAX_ARRAY} points, this one {size}");
            self.report(Diagnostic::error(words[0].span, message));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "flags are small; others are none"
        )]
        let flags = number(5).unwrap_or(0.0) as u32;
        let array = ArrayData {
            name,
            size: size.min(MAX_ARRAY),
            is_saved: flags & 1 == 1,
            points: Vec::new(),
        };
        self.add(words, Position::default(), BoxBody::Array(array));
    }

    /// `#A …`: contents of the box that came last. Those of an array are an index and points.
    fn contents(&mut self, words: &[Word<'_>]) {
        let last = self.open.last_mut().and_then(|o| o.canvas.boxes.last_mut());
        let Some(PatchBox { body, saved, .. }) = last else {
            return self.warn(words, "contents without a box are left out");
        };
        match body {
            BoxBody::Array(array) => set_points(array, &words[1..]),
            _ => saved.push(atoms(&words[1..])),
        }
    }

    fn canvas(&mut self) -> &mut Canvas {
        &mut self.open.last_mut().expect("a canvas is open").canvas
    }

    fn warn(&mut self, words: &[Word<'_>], message: &str) {
        self.report(Diagnostic::warning(span_of(words), message));
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.file.diagnostics.len() < MAX_REPORTED {
            self.file.diagnostics.push(diagnostic);
        }
    }

    /// Closes what is still open.
    fn end(mut self) -> PatchFile {
        if self.open.is_empty() {
            let message = "this is not a patch: no `#N canvas`";
            self.report(Diagnostic::error(SourceSpan::new(1, 1, 1), message));
            return self.file;
        }
        while self.open.len() > 1 {
            let open = self.open.pop().expect("there are two");
            let span = open.canvas.span;
            let warning = Diagnostic::warning(span, "the subpatch is never closed");
            self.report(warning.help("`#X restore` closes a subpatch"));
            let words = vec![Atom::symbol("pd"), Atom::symbol(&open.canvas.name)];
            let canvas = Box::new(self.wired(open));
            self.canvas().boxes.push(PatchBox {
                body: BoxBody::Canvas { canvas, words },
                position: Position::default(),
                width: None,
                saved: Vec::new(),
                span,
            });
        }
        let open = self.open.pop().expect("there is one");
        self.file.canvas = self.wired(open);
        self.file
    }
}

/// Sets points of an array: the first word is the index of the first.
fn set_points(array: &mut ArrayData, words: &[Word<'_>]) {
    let mut numbers = words
        .iter()
        .map(|w| super::parse_float(w.text).unwrap_or(0.0));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a negative index is 0, a large one is beyond the end"
    )]
    let first = numbers.next().unwrap_or(0.0) as usize;
    let points: Vec<f32> = numbers.collect();
    let end = first.saturating_add(points.len()).min(array.size);
    if first < end {
        array.points.resize(array.points.len().max(end), 0.0);
        array.points[first..end].copy_from_slice(&points[..end - first]);
    }
}

/// The body of an object box.
fn object(words: Vec<Atom>) -> BoxBody {
    let class = words.first().and_then(Atom::as_symbol);
    match class.and_then(GuiKind::of_object) {
        Some(kind) => {
            let mut gui = Gui::of_object(kind, &words[1..]);
            gui.sends_lists = matches!(class, Some("hdl" | "vdl"));
            BoxBody::Gui(gui)
        }
        None => BoxBody::Object(words),
    }
}

fn atoms(words: &[Word<'_>]) -> Vec<Atom> {
    words.iter().map(|word| Atom::of_box(word.text)).collect()
}

/// From the first word to the last one, as far as they stand on one line.
fn span_of(words: &[Word<'_>]) -> SourceSpan {
    let first = words[0].span;
    let on_line = words.iter().rev().find(|w| w.span.line == first.line);
    let end = on_line.map_or(first.column + first.len, |w| w.span.column + w.span.len);
    SourceSpan::new(first.line, first.column, end - first.column)
}

/// A word for a message: at most 40 characters of it.
fn shown(word: &str) -> String {
    word.chars().take(40).collect()
}
