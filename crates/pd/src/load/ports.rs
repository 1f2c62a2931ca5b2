//! Inlets and outlets of boxes that show values, and of canvases.

use super::instance::{Instance, ObjectBody};
use crate::class::{PortKind, Ports};
use crate::file::{Atom, Gui, GuiKind};

/// Ports of a box that shows a value. A number, symbol or list box that receives by name has no inlet, one that sends by name no
/// outlet.
pub(super) fn gui_ports(gui: &Gui) -> Ports {
    let port = |name: &Option<Atom>| if name.is_some() { "" } else { "m" };
    match gui.kind {
        GuiKind::Meter => Ports::of("mm", "mm"),
        GuiKind::Canvas => Ports::default(),
        GuiKind::Float | GuiKind::Symbol | GuiKind::List => {
            Ports::of(port(&gui.receive), port(&gui.send))
        }
        _ => Ports::of("m", "m"),
    }
}

/// Ports of a canvas.
pub(crate) fn ports_of_canvas(inner: &Instance) -> Ports {
    let side = |signal: &str, message: &str| {
        let kind = |at: usize| match &inner.objects[at].body {
            ObjectBody::Class(name) if **name == *signal => PortKind::Signal,
            _ => PortKind::Message,
        };
        inner
            .ports([signal, message])
            .into_iter()
            .map(kind)
            .collect()
    };
    Ports {
        inlets: side("inlet~", "inlet"),
        outlets: side("outlet~", "outlet"),
    }
}
