//! Where boxes and wires go: layers from left to right, few crossings, wires as straight as can be.
//!
//! The passes, a file each: [`rank`] gives every box a layer and says which wires lead back; [`pack`] spreads what would
//! be too high over more layers; [`chain`] threads long wires through the layers between; [`order`] sorts each layer;
//! [`place`] finds coordinates; [`fold`] breaks what would be too long into rows.

mod chain;
mod fold;
mod order;
mod pack;
mod place;
mod rank;

/// So many wires that meet in one box are what a picture must be made for.
const MANY: usize = 24;

/// A box as large as it must be, with its ports.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Where inputs are, from the middle of the box downwards.
    pub(crate) ins: Vec<f64>,
    /// The same of outputs.
    pub(crate) outs: Vec<f64>,
}

/// A wire from an output to an input, both as (box, port).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    pub(crate) from: (usize, usize),
    pub(crate) to: (usize, usize),
}

/// Something that takes room in a layer: a box, or the place where a long wire passes through.
#[derive(Clone, Copy, Debug)]
struct Item {
    rank: usize,
    width: f64,
    height: f64,
}

/// A piece of wire between two neighbouring layers: (item, how far below its middle).
#[derive(Clone, Copy, Debug)]
struct Link {
    left: (usize, f64),
    right: (usize, f64),
    /// How much it minds not being straight.
    weight: f64,
}

/// A wire's way: the passing places between its two ends.
#[derive(Clone, Debug, Default)]
struct Way {
    via: Vec<usize>,
    is_back: bool,
}

/// Boxes and passing places, and how they hang together.
#[derive(Debug, Default)]
struct Web {
    items: Vec<Item>,
    links: Vec<Link>,
    /// By layer, passing places that stand below a box of that layer: the ends of a wire that leads back.
    tied: Vec<Vec<(usize, usize)>>,
    ways: Vec<Way>,
    /// The boxes at both ends of each way.
    ends: Vec<(usize, usize)>,
    /// Items below this number are boxes.
    boxes: usize,
    /// Whether chains that meet in one box were packed: then everything wants to be at the top, wires above all.
    hangs: bool,
}

/// Where everything is.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// The upper left corner of each box.
    pub(crate) corners: Vec<(f64, f64)>,
    /// Each wire's course, in the order of the wires.
    pub(crate) courses: Vec<Course>,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// One wire's course.
#[derive(Debug, Default)]
pub(crate) struct Course {
    /// Level stretches to pass, each from (x0, y) to (x1, y); between them it may bend.
    pub(crate) stretches: Vec<(f64, f64, f64)>,
    /// Whether it leads back.
    pub(crate) is_back: bool,
}

/// Finds a place for every box and a course for every wire.
pub(crate) fn lay_out(shapes: &[Shape], wires: &[Wire]) -> Layout {
    let mut ranks = rank::ranks(shapes.len(), wires);
    let packed = pack::pack(shapes, wires, &ranks.is_back, &ranks.of_box);
    let hangs = packed.is_some() && shapes.iter().any(|shape| shape.ins.len() >= MANY);
    ranks.of_box = packed.unwrap_or(ranks.of_box);
    let web = Web {
        hangs,
        ..chain::thread(shapes, wires, &ranks)
    };
    let layers = order::sort(&web);
    place::place(shapes, wires, &web, &layers)
}
