//! [`Cell::new`]: a cell is made for its job: its engine, its states, its thread of edits.

use super::editor::Editor;
use super::opened::{BorderMemory, open_head, open_memory};
use super::seat::EngineSeat;
use super::taps::CellTaps;
use super::{Cell, CellJob, GAUGE_INTERVAL};
use crate::border::BorderPort;
use crate::events;
use crate::gauges::{GAUGES, ShownGauges};
use crate::keeper::{CHECKPOINT_INTERVAL, Keeper, LeavingCell};
use crate::own_params::leave_own;
use crate::split::CellPart;
use crate::transport::TRANSPORT_WORDS;
use crate::work::WorkServer;
use engine::{Engine, EngineCallback, EngineOptions, TransportStart};
use graph::{Catalogue, Graph};
use processor::Registry;
use std::fs::File;
use std::sync::Arc;
use units::Nanos;

/// Lines about what is not kept, not shown or not reached of a cell's nodes; the gauges that are shown.
fn notes_of(
    (engine, graph): (&Engine, &Graph),
    (keeper, catalogue): (&Keeper, &Catalogue),
    memory: &File,
) -> Result<(Vec<String>, ShownGauges), String> {
    let mut notes = keeper.notes(graph, catalogue);
    let (gauges, left_out) = ShownGauges::new(engine.gauge_handles(), keeper.head());
    if left_out > 0 {
        notes.push(format!(
            "{left_out} meters are not shown: a cell shows {GAUGES} at most"
        ));
    }
    let nodes = graph.nodes();
    let nodes = nodes.map(|(id, node)| (id, node.name.as_str(), engine.own_params(id)));
    let left_out = leave_own(memory, nodes).map_err(|error| error.to_string())?;
    notes.extend(left_out.iter().map(|name| {
        format!(
            "what `{name}` receives by name is set by `message`: it is too much for the supervisor"
        )
    }));
    Ok((notes, gauges))
}

/// The engine of a part, into which so many channels enter.
fn make_engine(
    (part, registry): (&CellPart, &Arc<Registry>),
    options: EngineOptions,
    channels: usize,
) -> Result<(Engine, EngineCallback), String> {
    let options = EngineOptions {
        input_channels: channels as u16,
        transport: Some(TransportStart {
            position: 0,
            is_rolling: true,
        }),
        ..options
    };
    let made = Engine::new(part.graph.clone(), registry.clone(), options);
    made.map_err(|error| graph::error_chain(&error))
}

/// The states of the nodes of `part`, kept in `memory`; true if they continue from there.
fn keep(
    memory: &File,
    (callback, part): (&mut EngineCallback, &CellPart),
    blocks: u64,
) -> Result<(Keeper, bool), String> {
    let state = memory.try_clone().map_err(|error| error.to_string())?;
    let played = (callback, &part.graph);
    Keeper::new(&state.into(), played, (blocks, part.is_renumbered))
}

impl Cell {
    pub(super) fn new(mut job: CellJob) -> Result<Self, String> {
        let work = job.work.take().map(WorkServer::start).transpose()?;
        let frames = job.options.block.count();
        let border = BorderMemory::open(&job.part, frames, &mut job.registry, &job.rings)?;
        let is_live = job.options.mode == processor::Mode::Live;
        let period = job.options.block.duration(job.options.rate);
        let budget = is_live.then(|| Nanos(period.0.saturating_mul(job.blocks)));
        let blocks_in = |time: Nanos| (time.0 / period.0.max(1)).max(1);
        let (part, registry) = (job.part, Arc::new(job.registry));
        let (engine, mut callback) = make_engine((&part, &registry), job.options, border.channels)?;
        let memory = open_memory(&job.state)?;
        let kept = (&mut callback, &part);
        let (keeper, is_continued) = keep(&memory, kept, blocks_in(CHECKPOINT_INTERVAL))?;
        let before = job.before.filter(|_| !is_continued);
        let before = before.and_then(|path| open_memory(&path).ok());
        let nodes = (&engine, &part.graph);
        let (notes, gauges) = notes_of(nodes, (&keeper, registry.catalogue()), &memory)?;
        let ports = part.inputs.iter().map(BorderPort::channels).collect();
        let (slots, outputs) = (part.slots.clone(), part.outputs.clone());
        let (mut seat, ends) = EngineSeat::new(engine);
        let read_part = job.read_part;
        let editor = match read_part.is_some() || (is_live && job.isolation.is_switched) {
            true => {
                let editor = Editor {
                    taps: CellTaps::new(&memory)?,
                    head: open_head(&memory)?,
                    memory,
                    ends,
                    part,
                    read_part,
                    registry,
                    is_renewable: keeper.is_renewable(),
                    seen: 0,
                };
                Some(editor.start()?)
            }
            false => {
                seat.do_without(ends);
                None
            }
        };
        Ok(Self {
            _editor: editor,
            keeper,
            before: before.and_then(|file| LeavingCell::open(&file.into())),
            gauges,
            gauge_interval: blocks_in(GAUGE_INTERVAL),
            is_continued,
            notes,
            seat,
            callback,
            end: border.end,
            inputs: vec![vec![0.0; frames]; border.channels],
            ports,
            event_words: events::words(frames),
            frames,
            entered: border.entered,
            transport: [0; TRANSPORT_WORDS],
            inner: vec![0; border.inner],
            slots,
            outputs,
            collected: border.collected,
            isolation: job.isolation,
            budget,
            parent: job.parent,
            windows: job.windows,
            work,
        })
    }
}
