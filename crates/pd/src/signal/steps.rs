//! [`PatchSteps`]: a patch as its messages and the row of its steps, each with all that it touches.

use super::RowFormat;
use super::bind::Declared;
use super::bound_step::BoundStep;
use super::message_step::MessageStep;
use super::order::order;
use super::shared::{SharedCell, SharedName, SharedSamples, SharedThings};
use super::state::StateFormat;
use super::touched::bind_steps;
use super::world::BlockTime;
use crate::control::{CHANNELS_OF_PATCH, MAX_JOBS, Machine, NotYet};
use crate::load::LoadedPatch;
use std::collections::VecDeque;
use std::sync::Arc;

/// A patch, ready to be played.
pub(crate) struct PatchSteps {
    pub(crate) messages: MessageStep,
    pub(crate) steps: Vec<BoundStep>,
    /// Channels of `dac~`: sums of a block, which are silent again once it was taken out.
    pub(crate) outputs: Box<[SharedCell]>,
}

/// Several patches that share their names, ready to be played.
pub(crate) struct JoinedSteps {
    /// Those of all patches, without channels of `adc~`, which others fill.
    pub(crate) messages: MessageStep,
    /// All steps in Pd's order.
    pub(crate) steps: Vec<BoundStep>,
    /// By patch: channels of `adc~` and `dac~`.
    pub(crate) channels: Vec<PatchChannels>,
    /// By patch: what others would go on hearing of it when it is removed.
    pub(crate) heard: Vec<Vec<SharedCell>>,
}

/// A patch with its numbers of channels of `adc~` and `dac~`.
pub(crate) type PatchWithChannels<'p> = (&'p LoadedPatch, (usize, usize));

/// Channels of `adc~` and of `dac~`.
pub(crate) type PatchChannels = (Box<[SharedCell]>, Box<[SharedCell]>);

impl JoinedSteps {
    /// The steps of patches that are opened one after the other, at `rate` hertz. Their signals come in the order `sequence`.
    ///
    /// Real-time: setup.
    pub(crate) fn new(patches: &[PatchWithChannels<'_>], sequence: &[usize], rate: f32) -> Self {
        let (steps, mut channels, _) = PatchSteps::of_all((patches, sequence), rate);
        let PatchSteps {
            mut messages,
            steps,
            outputs,
        } = steps;
        channels[0] = (std::mem::take(&mut messages.inputs), outputs);
        let mut heard = Vec::from_iter(patches.iter().map(|_| Vec::new()));
        for step in &steps {
            let patch = step.step.object().map(|id| messages.machine.patch_of(id));
            let is_heard =
                |name: &SharedName| matches!(name, SharedName::Delay(_) | SharedName::Send(_));
            let written = step.accesses.iter().filter(|access| access.1);
            let cells = written.map(|access| access.0).filter(is_heard);
            let cells = cells.filter_map(|name| messages.things.get(name).cloned());
            if let Some(patch) = patch {
                heard[usize::from(patch)].extend(cells);
            }
        }
        Self {
            messages,
            steps,
            channels,
            heard,
        }
    }
}

impl PatchSteps {
    /// The steps of `patch` at `rate` hertz with `inputs` and `outputs` channels, and the boxes whose classes are not built yet: they
    /// pass nothing. Its loadbangs are not sent yet ([`MessageStep::load`]).
    ///
    /// Real-time: setup.
    pub(crate) fn new(
        patch: &LoadedPatch,
        rate: f32,
        (inputs, outputs): (usize, usize),
    ) -> (Self, Vec<NotYet>) {
        let all = (&[(patch, (inputs, outputs))][..], &[0][..]);
        let (steps, _, not_yet) = Self::of_all(all, rate);
        (steps, not_yet)
    }

    /// The steps of several patches, with the channels of the first, and those of the others apart.
    fn of_all(
        (patches, sequence): (&[PatchWithChannels<'_>], &[usize]),
        rate: f32,
    ) -> (Self, Vec<PatchChannels>, Vec<NotYet>) {
        let loaded = Vec::from_iter(patches.iter().map(|(patch, _)| *patch));
        let (mut machine, not_yet, built) = Machine::build_all(&loaded, rate);
        let roots = sequence.iter().map(|at| (&loaded[*at].root, &built[*at]));
        let order = order(&Vec::from_iter(roots));
        let format = RowFormat::outermost(rate);
        let mut things = SharedThings::default();
        let mut channels = Vec::from_iter(
            (0..)
                .zip(patches)
                .map(|(at, (_, counts))| patch_channels(&mut things, at, *counts)),
        );
        let (inputs, outputs) = std::mem::take(&mut channels[0]);
        let time = Arc::new(BlockTime::default());
        let parts = (format, &time);
        let declared = (Declared::of(&machine, &order, &format), None);
        let (bound, touched) = bind_steps(&mut machine, order, parts, &mut things, declared);
        let mut messages = MessageStep {
            machine,
            format,
            time,
            things,
            touched,
            state_format: StateFormat::of(loaded.iter().copied(), rate),
            after_load: Some(Vec::new()),
            results: VecDeque::with_capacity(MAX_JOBS + 1),
            used: Vec::with_capacity(MAX_JOBS + 1),
            waits_for_symbols: false,
            inputs,
        };
        messages.swap_arrays();
        if !messages.may_change_signals() {
            messages.touched.declared = Declared::default();
        }
        let steps = Self {
            messages,
            steps: bound,
            outputs,
        };
        (steps, channels, not_yet)
    }
}

/// Cells for the channels of a patch.
fn patch_channels(
    things: &mut SharedThings,
    patch: usize,
    (inputs, outputs): (usize, usize),
) -> PatchChannels {
    let first = patch * CHANNELS_OF_PATCH;
    let mut add = |name| things.add(name, SharedSamples::block());
    let inputs = (first..first + inputs).map(|at| add(SharedName::Input(at)));
    let inputs = inputs.collect();
    let outputs = (first..first + outputs).map(|at| add(SharedName::Output(at)));
    (inputs, outputs.collect())
}
