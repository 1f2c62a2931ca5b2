//! [`StepRow`]: equal processors whose steps follow each other, processed in one call.
//!
//! ```text
//!  step of A ─▶ A                  step of A ─▶ A B C
//!  step of B ─▶ B                  (the executor goes on behind C)
//!  step of C ─▶ C
//! ```
//!
//! For a processor that computes a block in some nanoseconds, the step costs as much as the samples do. In a row the call, the choice of
//! vectors and the numbers in registers are there once, and where the samples of each lie was found when the plan was bound. Each processor
//! does what it does alone, in the order of the steps.

use super::{
    Block, Content, DelayLineView, ProcessInfo, RawChannel, RawDelayLine, RawPort, StepIo,
};
use crate::{ProcessStatus, Processor};
use std::any::{Any, TypeId};
use std::cell::Cell;
use std::marker::PhantomData;

/// The most processors of a row.
pub const MAX_ROW: usize = 32;

/// Frames of most blocks.
const STEP: usize = 64;

/// The most outputs of a processor whose samples a row finds by itself.
const MAX_OUTPUTS: usize = 2;

/// A processor that is processed in rows.
pub trait InRow: Processor + Sized {
    /// Number of outputs with which [`StepRow::process_samples`] or [`StepRow::process_lines`] is called: 1 or 2, or 0 if it is not.
    const OUTPUTS: usize = 0;

    /// Does for each processor what [`Processor::process`] does. None of them forks.
    ///
    /// Real-time: hot.
    fn process_row(row: StepRow<'_, Self>) -> RowStatus;
}

/// The way in which processors of one type are processed in a row.
#[derive(Clone, Copy, Debug)]
pub struct RowKind {
    of: TypeId,
    outputs: usize,
    run: unsafe fn(RowSteps<'_>, &ProcessInfo<'_>, &Cell<usize>) -> RowStatus,
}

impl RowKind {
    /// The rows of processors of the type `P`.
    ///
    /// Real-time: setup.
    pub fn of<P: InRow>() -> Self {
        Self {
            of: TypeId::of::<P>(),
            outputs: P::OUTPUTS,
            run: run::<P>,
        }
    }

    /// Returns true if these are rows of the type of `processor`.
    ///
    /// Real-time: setup.
    pub fn is_of(&self, processor: &dyn Processor) -> bool {
        let processor: &dyn Any = processor;
        processor.type_id() == self.of
    }

    /// Returns true if both are rows of the same type.
    ///
    /// Real-time: setup.
    pub fn is(&self, other: &Self) -> bool {
        self.of == other.of
    }

    /// The member with this processor and these inputs and outputs.
    ///
    /// # Safety
    ///
    /// The pointers in `io` are valid, as long as the member is used.
    ///
    /// Real-time: setup.
    pub unsafe fn member(&self, processor: *mut (), io: &StepIo) -> RowMember {
        let mut member = RowMember {
            processor,
            line: std::ptr::null(),
            from: NO_CHANNEL,
            to: [NO_CHANNEL; MAX_OUTPUTS],
        };
        let (inputs, outputs) = (io.inputs(), io.outputs());
        let has_one = |port: &RawPort| port.channels == 1;
        if outputs.len() != self.outputs || !outputs.iter().all(has_one) {
            return member;
        }
        for (to, port) in member.to.iter_mut().zip(outputs) {
            *to = port.first;
        }
        match &io.cold.delay_line {
            Some(line) if line.channels == 1 => member.line = line,
            None if inputs.len() == 1 && has_one(&inputs[0]) => member.from = inputs[0].first,
            _ => {}
        }
        member
    }

    /// Processes the block of `info` of each step, in order. Returns those that sleep. If one panics, its number is in `panicked`, and
    /// those behind it have not run. What was known of their outputs is forgotten first.
    ///
    /// # Safety
    ///
    /// `info` and the inputs and outputs of each step are as [`Block::new`] demands, and its member was [made](Self::member) of them and of a
    /// processor of the kind's type ([`is_of`](Self::is_of)). Until the call returns nobody else touches the processors, and no two members
    /// have the same one. None has events.
    ///
    /// Real-time: hot.
    #[inline]
    pub unsafe fn run(
        &self,
        steps: RowSteps<'_>,
        info: &ProcessInfo<'_>,
        panicked: &Cell<usize>,
    ) -> RowStatus {
        // SAFETY: the contract is the same.
        unsafe { (self.run)(steps, info, panicked) }
    }
}

/// A processor without its type, and its samples if its ports have one channel each: found once, and not in every block.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct RowMember {
    processor: *mut (),
    /// The delay line that its step reads, if it does and the line has one channel; else null.
    line: *const RawDelayLine,
    from: RawChannel,
    to: [RawChannel; MAX_OUTPUTS],
}

/// The content of [`NO_CHANNEL`], which nobody writes.
static KNOWN: u8 = Content::Constant as u8;

/// The input of a member without such samples. Its content is known, so that it is not asked for.
const NO_CHANNEL: RawChannel = RawChannel {
    data: std::ptr::null_mut(),
    content: (&raw const KNOWN).cast_mut(),
};

/// Steps that follow each other in memory.
#[derive(Clone, Copy)]
pub struct RowSteps<'a> {
    /// A member for each step.
    pub members: &'a [RowMember],
    /// The inputs and outputs of the first step.
    pub first: *const StepIo,
    /// Bytes from those of a step to those of the next one.
    pub stride: usize,
}

/// The members of a row that sleep behind a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowStatus(u32);

impl RowStatus {
    /// Returns true if none of them sleeps.
    #[inline]
    pub fn is_awake(self) -> bool {
        self.0 == 0
    }

    /// The status of the member `at`, counted from 0.
    #[inline]
    pub fn of(self, at: usize) -> ProcessStatus {
        match self.0 & (1 << at) {
            0 => ProcessStatus::Continue,
            _ => ProcessStatus::Sleep,
        }
    }
}

/// Processors of a row, in the order of their steps.
pub struct StepRow<'a, P> {
    steps: RowSteps<'a>,
    info: &'a ProcessInfo<'a>,
    panicked: &'a Cell<usize>,
    of: PhantomData<&'a mut P>,
}

/// # Safety
///
/// As [`RowKind::run`], for the type `P`.
unsafe fn run<P: InRow>(
    steps: RowSteps<'_>,
    info: &ProcessInfo<'_>,
    panicked: &Cell<usize>,
) -> RowStatus {
    P::process_row(StepRow {
        steps,
        info,
        panicked,
        of: PhantomData,
    })
}

/// The member that is processed. If it is dropped, that one has panicked.
struct Current<'a> {
    at: usize,
    panicked: &'a Cell<usize>,
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        self.panicked.set(self.at);
    }
}

impl<P: InRow> StepRow<'_, P> {
    /// Calls `process` for each processor with its block.
    ///
    /// Real-time: hot if the call is.
    #[inline(always)]
    pub fn process(
        self,
        process: impl FnMut(&mut P, &mut Block<'_>) -> ProcessStatus,
    ) -> RowStatus {
        self.process_each(|_, _| false, process)
    }

    /// Calls `scale` for each processor whose ports have one channel each and of whose input's content nothing is known, with the frames of
    /// its input and its outputs; and `process` with its block for each other one, and where `scale` returns false and has done nothing.
    ///
    /// Real-time: hot if the calls are.
    #[inline(always)]
    pub fn process_samples<const OUTPUTS: usize>(
        self,
        scale: impl FnMut(&mut P, &[f32], [&mut [f32]; OUTPUTS]) -> bool,
        process: impl FnMut(&mut P, &mut Block<'_>) -> ProcessStatus,
    ) -> RowStatus {
        const { assert!(OUTPUTS == P::OUTPUTS && OUTPUTS <= MAX_OUTPUTS) }
        match self.info.frames as usize {
            // Most blocks. The compiler knows their frames then.
            STEP => self.process_frames::<OUTPUTS>(STEP, scale, process),
            frames => self.process_frames::<OUTPUTS>(frames, scale, process),
        }
    }

    #[inline(always)]
    fn process_frames<const OUTPUTS: usize>(
        self,
        frames: usize,
        mut scale: impl FnMut(&mut P, &[f32], [&mut [f32]; OUTPUTS]) -> bool,
        process: impl FnMut(&mut P, &mut Block<'_>) -> ProcessStatus,
    ) -> RowStatus {
        let offset = self.info.offset as usize;
        self.process_each(
            #[inline(always)]
            |processor, member| {
                let to = &member.to[..OUTPUTS];
                // SAFETY: `RowKind::run`'s promise: `Block::new`'s for its inputs and outputs, of which these are if the input's content is
                // unknown. A flag is written together with its slot. Each output has a channel of its own, and none is that of the input
                // (rule 1).
                unsafe {
                    let known = |channel: &RawChannel| *channel.content;
                    let known_of_outputs = to.iter().fold(0, |all, channel| all | known(channel));
                    // One question for all.
                    if known(&member.from) | known_of_outputs != Content::Unknown as u8 {
                        if !member.from.is(Content::Unknown) {
                            return false;
                        }
                        to.iter().for_each(|channel| channel.set(Content::Unknown));
                    }
                    let from = std::slice::from_raw_parts(member.from.data.add(offset), frames);
                    let to: [&mut [f32]; OUTPUTS] = std::array::from_fn(
                        #[inline(always)]
                        |side| std::slice::from_raw_parts_mut(to[side].data.add(offset), frames),
                    );
                    scale(processor, from, to)
                }
            },
            process,
        )
    }

    /// Calls `copy` for each processor whose step reads a delay line and has one output, both of one channel, with the line and the frames of
    /// the output; and `process` with its block for each other one, and where `copy` returns false and has done nothing that counts.
    ///
    /// Real-time: hot if the calls are.
    #[inline(always)]
    pub fn process_lines(
        self,
        copy: impl FnMut(&mut P, DelayLineView<'_>, &mut [f32]) -> bool,
        process: impl FnMut(&mut P, &mut Block<'_>) -> ProcessStatus,
    ) -> RowStatus {
        const { assert!(P::OUTPUTS == 1) }
        match self.info.frames as usize {
            STEP => self.process_line_frames(STEP, copy, process),
            frames => self.process_line_frames(frames, copy, process),
        }
    }

    #[inline(always)]
    fn process_line_frames(
        self,
        frames: usize,
        mut copy: impl FnMut(&mut P, DelayLineView<'_>, &mut [f32]) -> bool,
        process: impl FnMut(&mut P, &mut Block<'_>) -> ProcessStatus,
    ) -> RowStatus {
        let (offset, position) = (self.info.offset as usize, self.info.position);
        self.process_each(
            #[inline(always)]
            |processor, member| {
                // SAFETY: as in `process_samples`: the line and the output are its own, which are there if a line is.
                unsafe {
                    let Some(line) = member.line.as_ref() else {
                        return false;
                    };
                    let [to, _] = &member.to;
                    to.set(Content::Unknown);
                    let to = std::slice::from_raw_parts_mut(to.data.add(offset), frames);
                    copy(processor, DelayLineView::new(line, position), to)
                }
            },
            process,
        )
    }

    /// Calls `samples` for each processor, and `process` where that returns false and has done nothing.
    #[inline(always)]
    fn process_each(
        self,
        mut samples: impl FnMut(&mut P, &RowMember) -> bool,
        mut process: impl FnMut(&mut P, &mut Block<'_>) -> ProcessStatus,
    ) -> RowStatus {
        let RowSteps {
            members,
            first,
            stride,
        } = self.steps;
        let mut asleep = 0;
        let mut current = Current {
            at: 0,
            panicked: self.panicked,
        };
        for member in members {
            // SAFETY: a row is made by `RowKind::run` alone, whose contract gives it the processors, which are of the type `P`.
            let processor = unsafe { &mut *member.processor.cast::<P>() };
            if !samples(processor, member) {
                // SAFETY: as above: each member has a step, with inputs and outputs of its own.
                let io = unsafe { &*first.byte_add(stride * current.at) };
                let mut block = Block {
                    io,
                    info: self.info,
                };
                block.forget_outputs();
                if process(processor, &mut block) == ProcessStatus::Sleep {
                    asleep |= 1 << current.at;
                }
            }
            current.at += 1;
        }
        std::mem::forget(current);
        RowStatus(asleep)
    }
}

impl Block<'_> {
    /// Forgets what was known of the outputs.
    #[inline(always)]
    fn forget_outputs(&mut self) {
        match self.io.outputs() {
            // SAFETY: `Block::new`'s promise: the flag belongs to the step that may write the slot, which is this one.
            [port] if port.channels == 1 => unsafe { port.first.set(Content::Unknown) },
            ports => forget_all(ports),
        }
    }
}

#[inline(never)]
fn forget_all(ports: &[RawPort]) {
    for port in ports {
        for channel in 0..port.channels as usize {
            // SAFETY: as above.
            unsafe { port.channel(channel).set(Content::Unknown) };
        }
    }
}
