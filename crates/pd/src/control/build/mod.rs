//! A loaded patch to objects and wires.
//!
//! Each box becomes an object, in the order of the file; an inlet of a subpatch is an object that passes on what it gets. Loadbangs
//! come in Pd's order: abstractions first, then subpatches, then the canvas's own boxes.
//!
//! | file | holds |
//! |---|---|
//! | `class` | boxes of a class |
//! | `data` | templates and scalars |

mod class;
mod data;

use super::built::{Built, BuiltBox};
use super::canvases::{CanvasBox, CanvasId, CanvasState};
use super::layout::{Layout, ToCanvases};
use super::machine::Machine;
use super::objects::{CanvasReceiver, Collector, Distributor, GuiBox, MessageBox, Numbered};
use super::placed_box::BoxNames;
use super::selection::Selection;
use super::symbol::Symbol;
use super::value::Value;
use super::wire::{ObjectId, Wire};
use crate::file::Atom;
use crate::load::{BoxLoader, Instance, LoadedObject, LoadedPatch, ObjectBody, connected_starts};
use graph::SourceSpan;
use std::path::{Path, PathBuf};

/// Channels of `adc~` and of `dac~` of one patch, at most: those of the next one come behind them.
pub(crate) const CHANNELS_OF_PATCH: usize = 1 << 16;

/// A box whose class is not built yet: it passes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotYet {
    /// The class.
    pub class: String,
    /// Its place in the files of the patch.
    pub span: SourceSpan,
}

impl Machine {
    /// The control objects of a patch at `rate` hertz, and the boxes whose classes are not built yet.
    ///
    /// Real-time: setup.
    pub fn build(patch: &LoadedPatch, rate: f32) -> (Self, Vec<NotYet>) {
        let (machine, not_yet, _) = Self::build_with_boxes(patch, rate);
        (machine, not_yet)
    }

    /// As [`Machine::build`], with what became of each box.
    pub(crate) fn build_with_boxes(patch: &LoadedPatch, rate: f32) -> (Self, Vec<NotYet>, Built) {
        let (machine, not_yet, mut roots) = Self::build_all(&[patch], rate);
        (machine, not_yet, roots.remove(0))
    }

    /// As [`Machine::build_with_boxes`], of several patches that are opened one after the other and share their names.
    pub(crate) fn build_all(
        patches: &[&LoadedPatch],
        rate: f32,
    ) -> (Self, Vec<NotYet>, Vec<Built>) {
        let mut machine = Self::new(rate);
        machine
            .midi_parsers
            .resize_with(patches.len(), Default::default);
        let (mut not_yet, mut roots) = (Vec::new(), Vec::new());
        for patch in patches {
            let root = machine.open(patch, patches.len() == 1, &mut not_yet);
            roots.push(root);
        }
        machine.reserve();
        (machine, not_yet, roots)
    }

    /// Opens one more patch. Messages can change the signals of one that is alone.
    fn open(&mut self, patch: &LoadedPatch, is_alone: bool, not_yet: &mut Vec<NotYet>) -> Built {
        let number = self.canvases.loaders.len();
        let (first, first_loadbang) = (ObjectId(self.object_count()), self.loadbang_count());
        self.globals().jobs.access.add(&patch.access);
        self.globals().first_channel = number * CHANNELS_OF_PATCH;
        let loader = BoxLoader::new(patch);
        let mut builder = Builder::new(self, loader.folders());
        builder.names = Some(BoxNames::default());
        let (id, root) = builder.named_canvas(&patch.root, true, "");
        builder.loadbangs(&patch.root, &root);
        not_yet.append(&mut builder.not_yet);
        let names = builder.names.take().unwrap_or_default();
        self.canvases.loaders.push(Some(loader));
        let to_canvases = ToCanvases::of(&patch.root);
        self.connects |= to_canvases.may_connect();
        let changes = is_alone && to_canvases.may_change();
        self.layout = changes.then(|| Box::new(Layout::new(&patch.root, &root, id)));
        let received = self.received_from(first);
        let boxes = names.finish(&received);
        self.patches.add(first, received, boxes);
        if number > 0 {
            let waiting = self.globals().receivers.split_off(first);
            self.patches.wait(first_loadbang, waiting);
        }
        root
    }
}

/// Makes the objects of boxes.
pub(super) struct Builder<'m> {
    machine: &'m mut Machine,
    /// True while the patch is loaded, and where signals can be put in order later.
    pub(super) has_signals: bool,
    pub(super) not_yet: Vec<NotYet>,
    /// Folder of each file.
    folders: Vec<PathBuf>,
    /// Words that the patch around has saved for the abstraction that is being built.
    saved_around: Vec<Vec<Atom>>,
    /// Arguments of the canvas that is being built.
    arguments: Vec<Value>,
    /// Canvases around.
    depth: usize,
    /// The canvas in which a box is made.
    canvas: CanvasId,
    /// Names of boxes, while the patch is loaded.
    names: Option<BoxNames>,
}

impl<'m> Builder<'m> {
    pub(super) fn new(machine: &'m mut Machine, folders: Vec<PathBuf>) -> Self {
        Self {
            machine,
            has_signals: true,
            not_yet: Vec::new(),
            folders,
            saved_around: Vec::new(),
            arguments: Vec::new(),
            depth: 0,
            canvas: CanvasId::default(),
            names: None,
        }
    }

    /// Adds a box to a canvas that is there.
    pub(super) fn add(&mut self, canvas: CanvasId, object: &LoadedObject) -> BuiltBox {
        let state = self.machine.canvases.get_mut(canvas);
        self.arguments = std::mem::take(&mut state.arguments);
        self.saved_around = std::mem::take(&mut state.saved_around);
        self.depth = state.depth + 1;
        let built = self.box_of(canvas, object);
        let state = self.machine.canvases.get_mut(canvas);
        state.arguments = std::mem::take(&mut self.arguments);
        state.saved_around = std::mem::take(&mut self.saved_around);
        built
    }

    fn box_of(&mut self, canvas: CanvasId, object: &LoadedObject) -> BuiltBox {
        let first = self.machine.object_count();
        self.canvas = canvas;
        let built = self.object(object);
        let objects = first..self.machine.object_count();
        let made = CanvasBox::new(object, built.place(&object.body), objects);
        self.machine.canvases.add(canvas, made);
        built
    }

    /// The folder of a file.
    fn folder(&self, file: usize) -> &Path {
        let folder = self.folders.get(file);
        folder.map_or(Path::new(""), PathBuf::as_path)
    }

    /// Opens a canvas, which receives under `pd-` and its name.
    fn open(&mut self, instance: &Instance, is_file: bool) -> CanvasId {
        let ending = if is_file { ".pd" } else { "" };
        let symbols = &mut self.machine.globals().symbols;
        let name = (!instance.name.is_empty())
            .then(|| symbols.intern(&format!("pd-{}{ending}", instance.name)));
        let id = self.machine.canvases.open(CanvasState {
            name,
            scope: instance.scope.clone(),
            arguments: self.arguments.clone(),
            saved_around: self.saved_around.clone(),
            selection: Selection::default(),
            boxes: Vec::with_capacity(instance.objects.len()),
            depth: self.depth,
            list: 0,
        });
        let folder = self.folder(usize::from(instance.scope.file));
        let receiver = Box::new(CanvasReceiver::new(id, folder));
        let receiver = self.machine.add("canvas", receiver);
        if let Some(name) = name {
            self.machine.receive(name, receiver);
        }
        let list = self.machine.globals().data.add_list(Some(receiver));
        self.machine.canvases.get_mut(id).list = list;
        id
    }

    /// As [`Builder::canvas`], whose boxes are called by `name`.
    fn named_canvas(
        &mut self,
        instance: &Instance,
        is_file: bool,
        name: &str,
    ) -> (CanvasId, Built) {
        self.names.iter_mut().for_each(|names| names.enter(name));
        let built = self.canvas(instance, is_file);
        self.names.iter_mut().for_each(BoxNames::leave);
        built
    }

    fn canvas(&mut self, instance: &Instance, is_file: bool) -> (CanvasId, Built) {
        let symbols = &mut self.machine.globals().symbols;
        let arguments = instance.arguments.iter();
        let arguments = arguments.map(|atom| Value::of(atom, symbols)).collect();
        let around = std::mem::replace(&mut self.arguments, arguments);
        self.templates(&instance.structs);
        let id = self.open(instance, is_file);
        self.depth += 1;
        let boxes: Vec<BuiltBox> = instance
            .objects
            .iter()
            .map(|object| self.box_of(id, object))
            .collect();
        self.depth -= 1;
        self.arguments = around;
        for connection in &instance.connections {
            let from = boxes[connection.from].outlet(connection.outlet);
            let to = boxes[connection.to].inlet(connection.inlet);
            if let (Some((from, outlet)), Some(wire)) = (from, to) {
                self.machine.connect(from, outlet, wire);
            }
        }
        self.starts(instance, &boxes);
        (id, Built { boxes })
    }

    /// Keeps what message boxes let `pd~` start.
    fn starts(&mut self, instance: &Instance, boxes: &[BuiltBox]) {
        for (to, words) in connected_starts(instance) {
            let to = to.and_then(|to| boxes[to].id());
            let globals = self.machine.globals();
            let words = words.iter();
            let words = words.map(|atom| Value::of(atom, &mut globals.symbols));
            let words = words.collect();
            globals.children.starts.push((to, words));
        }
    }

    fn object(&mut self, object: &LoadedObject) -> BuiltBox {
        match &object.body {
            ObjectBody::Message => {
                let symbols = &mut self.machine.globals().symbols;
                let message_box = MessageBox::new(&object.arguments, symbols);
                BuiltBox::Object(self.machine.add("messagebox", Box::new(message_box)))
            }
            ObjectBody::Gui(gui) => {
                let send = gui.send.as_ref().map(|name| self.name(name));
                let receive = gui.receive.as_ref().map(|name| self.name(name));
                let gui_box = Box::new(GuiBox::new(gui, send, receive));
                let shown = gui_box.shown().clone();
                let id = self.machine.add(gui.kind.class(), gui_box);
                self.machine.set_inlets(id, object.ports.inlets.len());
                if let Some(names) = &mut self.names {
                    let received = gui.receive.as_ref().map(ToString::to_string);
                    names.add(gui, received.as_deref(), id, &shown);
                }
                if let Some(name) = receive {
                    self.machine.receive(name, id);
                }
                BuiltBox::Object(id)
            }
            ObjectBody::Subpatch(inner) => self.inner(inner, false, &inner.name),
            ObjectBody::Abstraction(inner) => {
                let around = std::mem::replace(&mut self.saved_around, object.saved.clone());
                let built = self.inner(inner, true, &inner.name);
                self.saved_around = around;
                built
            }
            ObjectBody::Clones { first, instances } => self.clones(*first, instances, object),
            ObjectBody::Array(array) => {
                let name = self.name(&array.name);
                let mut points = array.points.clone();
                points.resize(array.size, 0.0);
                self.array(name, points, false);
                BuiltBox::None
            }
            ObjectBody::Class(class) => self.class(class, object),
            ObjectBody::Scalar => {
                self.scalar(&object.arguments);
                BuiltBox::None
            }
            ObjectBody::Comment | ObjectBody::StandIn(_) => BuiltBox::None,
        }
    }

    fn inner(&mut self, inner: &Instance, is_file: bool, name: &str) -> BuiltBox {
        let (id, inside) = self.named_canvas(inner, is_file, name);
        let side = |names: [&str; 2]| {
            let ports = inner.ports(names);
            ports.into_iter().map(|at| inside.boxes[at].id()).collect()
        };
        let inlets = side(["inlet~", "inlet"]);
        let outlets = side(["outlet~", "outlet"]);
        BuiltBox::Canvas {
            id,
            inside,
            inlets,
            outlets,
        }
    }

    /// An object that distributes what comes in, and for each outlet of each instance one that adds its number.
    fn clones(&mut self, first: i32, instances: &[Instance], object: &LoadedObject) -> BuiltBox {
        let numbered = (i64::from(first)..).zip(instances);
        let all: Vec<BuiltBox> = numbered
            .map(|(number, inner)| self.inner(inner, true, &format!("{}-{number}", inner.name)))
            .collect();
        let inlets = object.ports.inlets.len();
        let distributor = Distributor::new(first, all.len(), inlets);
        let distributor = self.machine.add("clone", Box::new(distributor));
        let collector = self.machine.add("clone", Box::new(Collector));
        for (at, built) in all.iter().enumerate() {
            for inlet in 0..inlets {
                if let Some(wire) = built.inlet(inlet) {
                    self.machine.connect(distributor, at * inlets + inlet, wire);
                }
            }
            let number = first.saturating_add(i32::try_from(at).unwrap_or(i32::MAX));
            for outlet in 0..object.ports.outlets.len() {
                if let Some((from, from_outlet)) = built.outlet(outlet) {
                    let numbered = self.machine.add("clone", Box::new(Numbered { number }));
                    self.machine.connect(
                        from,
                        from_outlet,
                        Wire {
                            object: numbered,
                            inlet: 0,
                        },
                    );
                    let inlet = u32::try_from(outlet).unwrap_or(u32::MAX);
                    self.machine.connect(
                        numbered,
                        0,
                        Wire {
                            object: collector,
                            inlet,
                        },
                    );
                }
            }
        }
        BuiltBox::Clones {
            distributor,
            collector,
            instances: all,
        }
    }

    fn name(&mut self, atom: &Atom) -> Symbol {
        self.machine.globals().symbols.intern(&atom.to_string())
    }

    /// Abstractions, then subpatches, then the canvas's own boxes.
    fn loadbangs(&mut self, instance: &Instance, built: &Built) {
        for is_abstraction in [true, false] {
            for (object, built) in instance.objects.iter().zip(&built.boxes) {
                match (&object.body, built) {
                    (ObjectBody::Abstraction(inner), BuiltBox::Canvas { inside, .. })
                        if is_abstraction =>
                    {
                        self.loadbangs(inner, inside);
                    }
                    (
                        ObjectBody::Clones { instances, .. },
                        BuiltBox::Clones { instances: all, .. },
                    ) if is_abstraction => {
                        for (inner, built) in instances.iter().zip(all) {
                            if let BuiltBox::Canvas { inside, .. } = built {
                                self.loadbangs(inner, inside);
                            }
                        }
                    }
                    (ObjectBody::Subpatch(inner), BuiltBox::Canvas { inside, .. })
                        if !is_abstraction =>
                    {
                        self.loadbangs(inner, inside);
                    }
                    _ => {}
                }
            }
        }
        for (object, built) in instance.objects.iter().zip(&built.boxes) {
            let is_asked = match &object.body {
                ObjectBody::Class(class) => &**class == "loadbang",
                ObjectBody::Gui(_) => true,
                _ => false,
            };
            if let (true, BuiltBox::Object(id)) = (is_asked, built) {
                self.machine.at_load(*id);
            }
        }
    }
}
