//! [`Children`]: the sub-patches of a machine, and what the machine is to a patch around it.

use super::border::{Border, ChildPatch, ChildRunner};
use super::frames::FrameBuffer;
use super::opening::{ChildFormat, ChildRequest, OpenChild};
use crate::control::{ObjectId, Symbols, Value};
use crate::load::{StartWord, StartWords};
use std::sync::Arc;

/// A box `pd~`.
struct ChildBox {
    object: Option<ObjectId>,
    format: Arc<ChildFormat>,
    border: Arc<Border>,
}

/// The sub-patches of a machine.
#[derive(Default)]
pub(crate) struct Children {
    /// By patch of the machine.
    pub(super) openers: Vec<Arc<dyn OpenChild>>,
    boxes: Vec<ChildBox>,
    /// Those that no node of the plan computes.
    runners: Vec<ChildRunner>,
    /// Words behind `pd~ start` in message boxes, and the box to which they lead where that is known.
    pub(crate) starts: Vec<(Option<ObjectId>, Vec<Value>)>,
    /// Messages of the machine to the patch around it, if there is one.
    pub(crate) replies: Option<FrameBuffer>,
    /// True if sub-patches will play live.
    pub(crate) is_live: bool,
    /// Number of the block, where the frames that have passed give one.
    pub(crate) block: Option<u64>,
}

impl Children {
    /// Adds a box.
    ///
    /// Real-time: setup.
    pub(super) fn add(&mut self, format: Arc<ChildFormat>) -> Arc<Border> {
        let border = Arc::new(Border::new(format.size.fifo == 1));
        self.runners.push(ChildRunner::new(border.clone()));
        self.boxes.push(ChildBox {
            object: None,
            format,
            border: border.clone(),
        });
        border
    }

    /// Names the object of the box that was added last.
    pub(crate) fn name_last(&mut self, object: ObjectId) {
        if let Some(last) = self.boxes.last_mut() {
            last.object = Some(object);
        }
    }

    /// Forgets boxes that are removed: nothing is told to their sub-patches any more.
    ///
    /// Real-time: setup.
    pub(crate) fn remove(&mut self, is_removed: impl Fn(ObjectId) -> bool) {
        let is_removed = |id: Option<ObjectId>| id.is_some_and(&is_removed);
        let runners = &mut self.runners;
        self.boxes.retain(|one| {
            let keeps = !is_removed(one.object);
            if !keeps {
                runners.retain(|runner| !runner.is_at(&one.border));
            }
            keeps
        });
        self.starts.retain(|start| !is_removed(start.0));
    }

    /// Returns true if there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }

    /// Takes what computes the sub-patches, for nodes of a plan, with names for the nodes.
    ///
    /// Real-time: setup.
    pub(crate) fn take_runners(&mut self, symbols: &Symbols) -> Vec<(ChildRunner, String)> {
        let runners = std::mem::take(&mut self.runners);
        let named = self.boxes.iter().zip(1..).map(|(one, number)| {
            let words = self.starts.iter().find(|start| start.0 == one.object);
            let words = words.iter().flat_map(|start| &start.1);
            let file = StartWords::read(words.map(|value| word(value, symbols))).file;
            match file {
                Some(file) => format!("pd~ {number} {file}"),
                None => format!("pd~ {number}"),
            }
        });
        runners.into_iter().zip(named).collect()
    }

    /// Begins a block. Gives sub-patches that have ended to `free`.
    ///
    /// Real-time: hot.
    pub(crate) fn begin_block(&self, mut free: impl FnMut(Box<dyn ChildPatch>)) {
        for one in &self.boxes {
            if let Some(ended) = one.border.begin_block(self.block) {
                free(ended);
            }
        }
    }

    /// Adds the borders of all boxes to `to`, for blocks in which the machine is away.
    ///
    /// Real-time: hot, as long as there is room.
    pub(crate) fn borders(&self, to: &mut Vec<Arc<Border>>) {
        to.extend(self.boxes.iter().map(|one| one.border.clone()));
    }

    /// Computes the sub-patches that have no nodes, behind the signals of a block.
    ///
    /// Real-time: as the messages of a patch.
    pub(crate) fn run(&mut self) {
        self.runners.iter_mut().for_each(ChildRunner::run_behind);
    }

    /// Requests for the sub-patches that message boxes name, each with its box.
    ///
    /// Real-time: setup.
    pub(crate) fn named(
        &self,
        start_words: impl Fn(&[Value], &Arc<ChildFormat>) -> Option<ChildRequest>,
    ) -> Vec<(ObjectId, ChildRequest)> {
        let mut all = Vec::new();
        for one in &self.boxes {
            let leads_here = |(to, _): &&(Option<ObjectId>, Vec<Value>)| *to == one.object;
            let mut starts = Vec::from_iter(self.starts.iter().filter(leads_here));
            if starts.is_empty() {
                // A message that is sent by a name may reach any box.
                starts.extend(self.starts.iter().filter(|start| start.0.is_none()));
            }
            for (_, words) in starts.into_iter().take(MAX_PREPARED) {
                let request = start_words(words, &one.format);
                all.extend(one.object.zip(request));
            }
        }
        all
    }
}

/// A word of a start.
pub(super) fn word<'w>(value: &Value, symbols: &'w Symbols) -> StartWord<'w> {
    match value {
        Value::Float(number) => StartWord::Number(*number),
        Value::Symbol(symbol) => StartWord::Text(symbols.text(*symbol)),
        Value::Pointer(_) => StartWord::Number(0.0),
    }
}

/// Sub-patches that are ready for one box, at most.
pub(super) const MAX_PREPARED: usize = 8;
