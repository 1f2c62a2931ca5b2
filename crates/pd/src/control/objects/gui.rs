//! Boxes that show a value: number, symbol and list boxes (`g_text.c`), and those with send and receive names of the interface
//! (`g_toggle.c`, `g_slider.c`, `g_radio.c`, `g_numbox.c`, `g_bang.c`, `g_vumeter.c`).
//!
//! A range limits what a mouse can do; a message passes as it is.

use super::super::context::Context;
use super::super::object::{Handled, Object};
use super::super::symbol::{Symbol, words};
use super::super::value::{Message, Value};
use crate::file::{Gui, GuiKind};
use crate::state::held;
use processor::ShownBox;
use std::sync::Arc;

/// A box that shows a value.
pub(in super::super) struct GuiBox {
    kind: GuiKind,
    send: Option<Symbol>,
    receive: Option<Symbol>,
    sends_at_load: bool,
    /// Number that a switch sends when it is on.
    on_value: f32,
    value: Value,
    /// Value of a list box.
    list: Vec<Value>,
    /// Peak of a level meter.
    peak: f32,
    /// Values that a mouse can reach: lowest and highest value, equal where there are no limits.
    range: [f32; 2],
    is_logarithmic: bool,
    /// The cell that a radio box of the kind that sends lists has sent.
    lists: Option<SentCell>,
    /// Its looks and value, for a face.
    shown: Arc<ShownBox>,
}

/// The cell that a box `hdl` or `vdl` has sent.
struct SentCell {
    last: f32,
    /// True if it says too which cell is no longer chosen.
    sends_left: bool,
}

/// Messages that change how a box of the interface looks, and send nothing.
const LOOKS: [&str; 10] = [
    "size",
    "delta",
    "pos",
    "color",
    "label",
    "label_pos",
    "label_font",
    "dialog",
    "click",
    "motion",
];

/// What else boxes of a kind understand and ignore.
fn own_looks(kind: GuiKind) -> &'static [&'static str] {
    match kind {
        GuiKind::Bang => &["flashtime"],
        GuiKind::Number => &["range", "lin", "log", "log_height"],
        GuiKind::HorizontalSlider | GuiKind::VerticalSlider => &["range", "lin", "log", "steady"],
        GuiKind::HorizontalRadio | GuiKind::VerticalRadio => {
            &["number", "orientation", "single_change", "double_change"]
        }
        GuiKind::Meter => &["scale"],
        GuiKind::Canvas => &["vis_size", "get_pos"],
        _ => &[],
    }
}

impl GuiBox {
    pub(in super::super) fn new(gui: &Gui, send: Option<Symbol>, receive: Option<Symbol>) -> Self {
        let [low, high] = gui.range;
        let saved = if gui.sends_at_load { gui.value } else { 0.0 };
        let number = match gui.kind {
            GuiKind::HorizontalSlider | GuiKind::VerticalSlider if !gui.sends_at_load => low,
            GuiKind::Number if low <= high => saved.clamp(low, high),
            GuiKind::Toggle => saved,
            GuiKind::Meter => LOWEST_LEVEL,
            _ => gui.value,
        };
        let value = match gui.kind {
            GuiKind::Symbol => Value::Symbol(words::EMPTY),
            _ => Value::Float(number),
        };
        let mut made = Self {
            kind: gui.kind,
            send,
            receive,
            sends_at_load: gui.sends_at_load,
            on_value: gui.on_value,
            value,
            list: Vec::new(),
            peak: LOWEST_LEVEL,
            range: reach(gui),
            is_logarithmic: gui.is_logarithmic,
            lists: gui.sends_lists.then_some(SentCell {
                last: number,
                sends_left: gui.sends_left,
            }),
            shown: Arc::default(),
        };
        made.show(value);
        made.show_range();
        made
    }

    /// Its looks and value, for a face.
    pub(in super::super) fn shown(&self) -> &Arc<ShownBox> {
        &self.shown
    }

    /// Takes a value, for messages and for faces.
    fn show(&mut self, value: Value) {
        self.value = value;
        self.shown.set_value(value.number());
    }

    fn show_range(&self) {
        self.shown.set_range(self.range, self.is_logarithmic);
    }

    /// A number as far as a mouse can move the box to it.
    fn within_reach(&self, number: f32) -> f32 {
        let [low, high] = self.range;
        match self.kind {
            GuiKind::Toggle if number != 0.0 => self.on_value,
            GuiKind::HorizontalRadio | GuiKind::VerticalRadio => number.max(low).min(high).trunc(),
            _ if low == high => number,
            _ => number.max(low.min(high)).min(high.max(low)),
        }
    }

    /// Takes the range of a message `range`, `lin`, `log` or `number`, which moves nothing.
    fn change_range(&mut self, text: &str, values: &[Value]) {
        let number = |at: usize| values.get(at).map_or(0.0, |value| value.number());
        let is_radio = matches!(self.kind, GuiKind::HorizontalRadio | GuiKind::VerticalRadio);
        match text {
            "range" => self.range = [number(0), number(1)],
            "number" if is_radio => self.range[1] = number(0).clamp(1.0, 128.0).trunc() - 1.0,
            "single_change" | "double_change" => {
                if let Some(sent) = &mut self.lists {
                    sent.sends_left = text == "double_change";
                }
            }
            "lin" => self.is_logarithmic = false,
            "log" => self.is_logarithmic = true,
            _ => return,
        }
        self.show_range();
    }

    fn is_atom(&self) -> bool {
        matches!(self.kind, GuiKind::Float | GuiKind::Symbol | GuiKind::List)
    }

    /// Sends the value: by the outlet, and under its name.
    fn output(&mut self, context: &mut Context<'_>) -> Handled {
        match self.kind {
            GuiKind::Canvas => return Handled::No,
            _ if self.lists.is_some() => self.send_cells(context),
            GuiKind::Meter => {
                context.send_float(1, self.peak);
                context.send_value(0, self.value);
            }
            GuiKind::Bang => self.send_both(Message::of_list(&[]), context),
            GuiKind::List => self.send_both(Message::of_list(&self.list), context),
            _ => self.send_both(Message::of_list(&[self.value]), context),
        }
        Handled::Yes
    }

    /// Sends the cell that is no longer chosen, and the one that is.
    fn send_cells(&mut self, context: &mut Context<'_>) {
        let cell = self.within_reach(self.value.number());
        let Some(sent) = &mut self.lists else { return };
        let left = (sent.sends_left && sent.last != cell).then_some(sent.last);
        sent.last = cell;
        self.show(Value::Float(cell));
        if let Some(left) = left {
            self.send_both(Message::of_list(&[left, 0.0].map(Value::Float)), context);
        }
        self.send_both(Message::of_list(&[cell, 1.0].map(Value::Float)), context);
    }

    fn send_both(&self, message: Message<'_>, context: &mut Context<'_>) {
        context.send(0, message);
        if let Some(name) = self.send {
            if self.is_atom() && self.send == self.receive {
                return context.print_with(|symbols, line| {
                    let name = symbols.text(name);
                    write!(
                        line,
                        "error: {name}: atom with same send/receive name (infinite loop)"
                    )
                });
            }
            context.send_to(name, message);
        }
    }

    /// Returns true if what comes in goes on: not where a box of the interface would send to itself.
    fn passes(&self) -> bool {
        self.is_atom() || self.send.is_none() || self.send != self.receive
    }

    /// Takes the value of a number, symbol or list box.
    fn set_atom(&mut self, values: &[Value]) {
        match (self.kind, values) {
            (GuiKind::List, values) => {
                self.list.clear();
                self.list.extend_from_slice(values);
            }
            (GuiKind::Symbol, [Value::Float(_), ..]) => self.show(Value::Symbol(words::FLOAT)),
            (GuiKind::Symbol, [value, ..]) => self.show(*value),
            (_, [value, ..]) => self.show(Value::Float(value.number())),
            (_, []) => {}
        }
    }

    /// A name of a message `send` or `receive`; `empty` is none.
    fn name(values: &[Value], context: &mut Context<'_>) -> Option<Symbol> {
        match values {
            [Value::Symbol(name), ..] if context.symbols().text(*name) != "empty" => Some(*name),
            _ => None,
        }
    }

    /// A message that only boxes of the interface understand.
    fn settings(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        let is_set = message.number() != 0.0;
        match message.selector {
            words::SEND if self.kind != GuiKind::Meter => {
                self.send = Self::name(message.values, context);
            }
            words::RECEIVE => {
                let to = Self::name(message.values, context);
                context.rename_receiver(self.receive, to);
                self.receive = to;
            }
            words::INIT if !matches!(self.kind, GuiKind::Meter | GuiKind::Canvas) => {
                self.sends_at_load = is_set;
            }
            words::NONZERO if self.kind == GuiKind::Toggle => {
                if is_set {
                    self.on_value = message.number();
                }
            }
            words::LOADBANG if !matches!(self.kind, GuiKind::Meter | GuiKind::Canvas) => {
                self.loadbang(context);
            }
            selector => {
                let text = context.symbols().text(selector);
                if own_looks(self.kind).contains(&text) {
                    self.change_range(text, message.values);
                }
                if !LOOKS.contains(&text) && !own_looks(self.kind).contains(&text) {
                    return match self.kind {
                        GuiKind::Bang => self.bang(context),
                        _ => Handled::No,
                    };
                }
            }
        }
        Handled::Yes
    }
}

/// Values of a box that a mouse can reach: lowest and highest value, equal where there are no limits.
fn reach(gui: &Gui) -> [f32; 2] {
    match gui.kind {
        GuiKind::Float | GuiKind::HorizontalSlider | GuiKind::VerticalSlider => gui.range,
        GuiKind::Number if gui.range[0] > -1e37 || gui.range[1] < 1e37 => gui.range,
        GuiKind::Toggle => [0.0, gui.on_value],
        GuiKind::Bang => [0.0, 1.0],
        #[expect(clippy::cast_precision_loss, reason = "at most 128")]
        GuiKind::HorizontalRadio | GuiKind::VerticalRadio => [0.0, gui.cells as f32 - 1.0],
        GuiKind::Meter => [LOWEST_LEVEL, 12.0],
        GuiKind::Number | GuiKind::Symbol | GuiKind::List | GuiKind::Canvas => [0.0; 2],
    }
}

/// Level of a meter that nothing has come to.
const LOWEST_LEVEL: f32 = -101.0;

/// A level in hundredths of a decibel, as a meter passes it on.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "as in Pd"
)]
fn level(number: f32) -> f32 {
    let hundredths = (100.0 * f64::from(number) + 10_000.5) as i32;
    (0.01 * f64::from(hundredths.saturating_sub(10_000) as f32)) as f32
}

impl Object for GuiBox {
    held!(send, receive, sends_at_load, on_value, value, list, peak, range, is_logarithmic; not kind, lists, shown; check |it| {
        // For faces.
        it.show(it.value);
        it.show_range();
        true
    });

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        match self.kind {
            GuiKind::Toggle => {
                let is_off = self.value.number() == 0.0;
                self.show(Value::Float(if is_off { self.on_value } else { 0.0 }));
            }
            GuiKind::Bang if !self.passes() => return Handled::Yes,
            _ => {}
        }
        self.output(context)
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        match self.kind {
            GuiKind::Canvas => return Handled::No,
            GuiKind::Meter => {
                let number = level(number);
                self.show(Value::Float(number));
                context.send_float(0, number);
                return Handled::Yes;
            }
            GuiKind::Bang => return self.bang(context),
            GuiKind::Float | GuiKind::Symbol | GuiKind::List => {
                self.set_atom(&[Value::Float(number)]);
            }
            _ => self.show(Value::Float(number)),
        }
        match self.passes() {
            true => self.output(context),
            false => Handled::Yes,
        }
    }

    fn symbol(&mut self, symbol: Symbol, context: &mut Context<'_>) -> Handled {
        match self.kind {
            GuiKind::Bang => self.bang(context),
            // It takes lists, and this is one that does not begin with a number.
            GuiKind::Number => Handled::Yes,
            _ if self.is_atom() => {
                self.set_atom(&[Value::Symbol(symbol)]);
                self.output(context)
            }
            _ => Handled::No,
        }
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        match (self.kind, values) {
            (GuiKind::Bang, _) => self.bang(context),
            (GuiKind::Number, [Value::Float(number), ..]) => self.float(*number, context),
            (GuiKind::Number, [Value::Symbol(_), ..]) => Handled::Yes,
            (GuiKind::Float | GuiKind::Symbol, [Value::Float(number), ..]) => {
                self.float(*number, context)
            }
            (GuiKind::Float | GuiKind::Symbol, [Value::Symbol(symbol), ..]) => {
                self.symbol(*symbol, context)
            }
            (GuiKind::List, [_, ..]) => {
                self.set_atom(values);
                self.output(context)
            }
            _ => Handled::No,
        }
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match (self.kind, message.selector, message.values) {
            (GuiKind::Bang, words::SET, _) => self.bang(context),
            (GuiKind::Meter | GuiKind::Canvas, words::SET, _) => Handled::No,
            (_, words::SET, values) if self.is_atom() => {
                self.set_atom(values);
                Handled::Yes
            }
            (_, words::SET, [Value::Float(number), ..]) => {
                self.show(Value::Float(*number));
                Handled::Yes
            }
            (_, words::SET | words::FLOAT | words::SYMBOL | words::LIST | words::BANG, _) => {
                Handled::No
            }
            _ if self.is_atom() => Handled::No,
            _ => self.settings(message, context),
        }
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match (self.kind, inlet, message.values) {
            (GuiKind::Meter, 1, [Value::Float(number), ..]) => {
                self.peak = level(*number);
                context.send_float(1, self.peak);
                Handled::Yes
            }
            _ => Handled::No,
        }
    }

    fn moved(&mut self, number: f32, context: &mut Context<'_>) {
        match self.kind {
            GuiKind::Meter | GuiKind::Canvas | GuiKind::Symbol | GuiKind::List => return,
            GuiKind::Bang if number == 0.0 => return,
            GuiKind::Bang => {}
            _ => self.show(Value::Float(self.within_reach(number))),
        }
        // The kinds that are left all have an outlet.
        let _ = self.output(context);
    }

    fn loadbang(&mut self, context: &mut Context<'_>) {
        if self.sends_at_load {
            // The kinds that can be saved so all understand it.
            let _ = self.output(context);
        }
    }
}
