//! [`Block`]: inputs, outputs, events and delay line of one step for one block.
//!
//! | file | holds |
//! |---|---|
//! | `raw` | pointers to a step's slots, set by an executor: [`StepIo`] |
//! | `ports` | the channels of one port: [`InputBuffer`], [`OutputBuffer`] |
//! | `mono` | the frames of blocks with one channel a port |
//! | `delay_line` | a delay line, read only: [`DelayLineView`] |
//! | `inner` | what a wrapped processor sees of its step, and signals that drive parameters |
//! | `fork` | branches for several workers, and the state that they read: [`ForkState`] |
//! | `row` | equal processors whose steps follow each other: [`StepRow`] |
//! | `split` | parts of a block for several workers: [`BlockPart`] |
//!
//! # Who may touch what
//!
//! 1. An executor binds a [`StepIo`] to memory once, when it is made. The plan has proved that no two steps which may run
//!    at the same time share a slot, and that no step reads a slot that it writes.
//! 2. While a step runs, it alone reads its `StepIo` and writes its outputs. Its inputs were written by steps that have
//!    finished, and the count that released the step made those writes visible.
//! 3. Between cycles no step runs, and the executor may change what a `StepIo` points to.

mod delay_line;
mod fork;
mod inner;
mod mono;
mod ports;
mod raw;
mod row;
mod split;

pub use delay_line::DelayLineView;
pub use fork::ForkState;
pub(crate) use inner::InnerIo;
pub use ports::{InputBuffer, OutputBuffer};
pub use raw::{
    Content, IoCold, RawChannel, RawDelayLine, RawEvents, RawParamSignal, RawPort, RawPorts, StepIo,
};
pub use row::{InRow, MAX_ROW, RowKind, RowMember, RowStatus, RowSteps, StepRow};
pub use split::BlockPart;

use crate::{Event, EventBody, EventTarget, Events, ProcessServices};
use rt::deferred::{DeferredJob, PiecewiseJob};
use std::ops::Range;
use units::Nanos;

/// Description of the block that is processed: the same for every step of a cycle, or of one round of a loop.
#[derive(Clone, Copy)]
pub struct ProcessInfo<'a> {
    /// Frames in this block, or in this part of it.
    pub frames: u32,
    /// First frame of this part, counted from the start of the block; 0 for a whole one.
    pub offset: u32,
    /// Absolute frame of the first frame of this part, counted from the start of playback.
    pub position: u64,
    /// True if this is the whole block: only then may a slot be marked silent.
    pub is_whole_block: bool,
    /// Number of the cycle.
    pub cycle: u64,
    /// The device's input channels for the whole block. Nobody writes them during the cycle.
    pub device_inputs: &'a [RawChannel],
    /// The executor's services.
    pub services: &'a dyn ProcessServices,
}

/// The inputs, outputs, events and delay line of one step for one block.
pub struct Block<'a> {
    io: &'a StepIo,
    info: &'a ProcessInfo<'a>,
}

impl<'a> Block<'a> {
    /// The block of `io` in the cycle of `info`.
    ///
    /// # Safety
    ///
    /// Every pointer in `io` and `info` is valid for the plan's block (`info.offset + info.frames` is within it). For
    /// as long as `'a` nobody else writes what the inputs point to, or touches what the outputs, event buffers and
    /// flags point to. If a fork of `info.services` gives an error, all this holds until its last branch has ended;
    /// otherwise all branches have ended when it returns, and each was run once.
    ///
    /// Real-time: hot.
    #[inline]
    pub unsafe fn new(io: &'a StepIo, info: &'a ProcessInfo<'a>) -> Self {
        Self { io, info }
    }

    /// Number of frames to process now: at least 1, at most the block size of the setup.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn frames(&self) -> usize {
        self.info.frames as usize
    }

    /// Lets `work` see the frames of `range` as a block of their own, with the events that fall into it.
    ///
    /// # Panics
    ///
    /// The range is empty, or not within the block.
    ///
    /// Real-time: hot if the work is.
    #[inline]
    pub fn within<R>(&mut self, range: Range<usize>, work: impl FnOnce(&mut Block<'_>) -> R) -> R {
        assert!(
            !range.is_empty() && range.end <= self.frames(),
            "frames of the block"
        );
        let (from, frames) = (range.start as u32, range.len() as u32);
        let info = ProcessInfo {
            frames,
            offset: self.info.offset + from,
            position: self.info.position + u64::from(from),
            is_whole_block: self.info.is_whole_block && frames == self.info.frames,
            ..*self.info
        };
        work(&mut Block {
            io: self.io,
            info: &info,
        })
    }

    /// Absolute frame of the first frame of this block, counted from the start of playback.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn position(&self) -> u64 {
        self.info.position
    }

    /// Number of inputs.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn input_count(&self) -> usize {
        self.io.inputs.count as usize
    }

    /// The input `port`, counted from 0.
    ///
    /// # Panics
    ///
    /// There is no such input.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn input(&self, port: usize) -> InputBuffer<'a> {
        InputBuffer::new(&self.io.inputs()[port], self.info)
    }

    /// Number of outputs.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn output_count(&self) -> usize {
        self.io.outputs.count as usize
    }

    /// The output `port`, counted from 0.
    ///
    /// # Panics
    ///
    /// There is no such output.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn output(&mut self, port: usize) -> OutputBuffer<'_> {
        OutputBuffer::new(&self.io.outputs()[port], self.info)
    }

    /// All outputs, for use at the same time.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn outputs(&mut self) -> impl ExactSizeIterator<Item = OutputBuffer<'_>> {
        let info = self.info;
        // Each port has channels of its own (rule 1), so the outputs do not overlap.
        let ports = self.io.outputs().iter();
        ports.map(move |port| OutputBuffer::new(port, info))
    }

    /// Fills every output with silence and marks it silent.
    ///
    /// Real-time: hot.
    pub fn silence_outputs(&mut self) {
        self.outputs().for_each(|mut output| output.silence());
    }

    /// Returns true if every channel of every input is known to be silent.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_silent(&self) -> bool {
        (0..self.input_count()).all(|port| self.input(port).is_silent())
    }

    /// Content of all channels of all inputs together: constant where some are silent and some constant, silent where there
    /// is none.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn input_content(&self) -> Content {
        match self.io.inputs() {
            // Most units. SAFETY: `Block::new`'s promise; a flag is written together with its slot.
            [port] if port.channels == 1 => unsafe { port.first.known() },
            ports => Self::content_of(ports),
        }
    }

    fn content_of(ports: &[RawPort]) -> Content {
        let mut all = Content::Silent;
        for port in ports {
            // SAFETY: `Block::new`'s promise; a flag is written together with its slot.
            let is = |raw: &RawChannel, content| unsafe { raw.is(content) };
            if !port.all_channels(|raw| !is(raw, Content::Unknown)) {
                return Content::Unknown;
            }
            if !port.all_channels(|raw| is(raw, Content::Silent)) {
                all = Content::Constant;
            }
        }
        all
    }

    /// Returns true if every channel of every input is known to be constant or silent, no event has come, and every parameter
    /// that is driven at audio rate stays as it is. A unit whose frames do not depend on each other may compute one frame then
    /// and [`hold_first_frame`](Self::hold_first_frame).
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_constant(&self) -> bool {
        (0..self.input_count()).all(|port| self.input(port).is_constant()) && self.has_no_change()
    }

    #[inline(never)]
    fn has_no_change(&self) -> bool {
        let mut signals = self.io.cold.param_signals.iter();
        self.events().is_empty() && signals.all(|signal| signal.is_constant)
    }

    /// Copies the first frame of every output to all others, and marks the outputs constant.
    ///
    /// Real-time: hot.
    pub fn hold_first_frame(&mut self) {
        for mut output in self.outputs() {
            for c in 0..output.channels().count() {
                let value = output.channel(c)[0];
                output.fill_constant(c, value);
            }
        }
    }

    /// The events of this block.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn events(&self) -> Events<'a> {
        match self.io.has_events {
            true => Events::in_range(&self.io.cold.events, self.info.offset, self.info.frames),
            false => Events::default(),
        }
    }

    /// Returns false if this block has no event: nearly always.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn may_have_events(&self) -> bool {
        self.io.has_events
    }

    /// Sends an event from the event output `port` at `frame` of this block. Frames must not decrease within a block.
    /// A port has room for 128 events and one more for every two frames of the block; those beyond are dropped and counted.
    ///
    /// Real-time: hot.
    pub fn send_event(&mut self, port: usize, frame: u32, body: EventBody) {
        let buffer = self.io.cold.event_outputs.get(port);
        let Some(buffer) = buffer.filter(|buffer| !buffer.is_null()) else {
            return;
        };
        // SAFETY: rule 2: while the step runs, the events that it sends are its own; `&mut self` keeps a second borrow
        // out.
        let buffer = unsafe { &mut **buffer };
        if buffer.events.len() == buffer.events.capacity() {
            buffer.dropped += 1;
            return;
        }
        buffer.events.push(Event {
            frame: self.info.offset + frame,
            target: EventTarget::Input(0),
            body,
        });
    }

    /// The device's input `channel` for this block, counted from 0; `None` where the device has fewer.
    ///
    /// Real-time: hot.
    pub fn device_input(&self, channel: usize) -> Option<&'a [f32]> {
        let raw = self.info.device_inputs.get(channel)?;
        // SAFETY: `Block::new`'s promise: the channel holds the whole block, and nobody writes it now.
        Some(unsafe {
            std::slice::from_raw_parts(raw.data.add(self.info.offset as usize), self.frames())
        })
    }

    /// The delay line that this step reads; `None` if it is not the reading half of a delay.
    ///
    /// Real-time: hot.
    pub fn delay_line(&self) -> Option<DelayLineView<'a>> {
        let line = self.io.cold.delay_line.as_ref()?;
        Some(DelayLineView::new(line, self.info.position))
    }

    /// Number of workers that run this cycle, this one included. With one worker a fork gains nothing.
    ///
    /// Real-time: hot.
    pub fn workers(&self) -> u32 {
        self.info.services.workers()
    }

    /// Returns the result of deferred work that is due now. If the work is not done yet, this worker runs its pieces:
    /// offline until it is done, live until 20 % of the period is left (a late cycle has a fifth of a period all the
    /// same). After that the result counts as late, and the
    /// function returns `None`; at once if a piece of the work has panicked, because that work never comes back.
    ///
    /// Real-time: hot.
    pub fn take_deferred<'o, T: PiecewiseJob>(
        &self,
        job: &'o mut DeferredJob<T>,
    ) -> Option<&'o mut T> {
        while !job.is_available() && !job.has_panicked() && self.info.services.may_help() {
            job.run_piece();
        }
        if !job.is_available() {
            self.count_late();
        }
        job.get()
    }

    /// Time that the steps of this cycle, all together, may still spend on late results; `None` without a limit: then a
    /// step waits until its result has come. See [`ProcessServices::time_for_late_results`].
    ///
    /// Real-time: hot.
    pub fn time_for_late_results(&self) -> Option<Nanos> {
        self.info.services.time_for_late_results()
    }

    /// Counts a deferred result that missed its deadline and was replaced by silence.
    ///
    /// Real-time: hot.
    pub fn count_late(&self) {
        self.info.services.count_late();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rt::fork::{ForkAbandoned, ForkTask};
    use std::cell::Cell;

    /// Services of an executor that lets steps help for `patience` looks at its clock.
    #[derive(Default)]
    struct Patient {
        patience: Cell<u32>,
        late: Cell<u32>,
    }

    // SAFETY: each test uses it on one thread.
    unsafe impl Sync for Patient {}

    impl ProcessServices for Patient {
        fn fork(&self, count: u32, task: &ForkTask) -> Result<(), ForkAbandoned> {
            (0..count).for_each(|branch| task.run(branch));
            Ok(())
        }

        fn count_late(&self) {
            self.late.set(self.late.get() + 1);
        }

        fn time_for_late_results(&self) -> Option<Nanos> {
            let left = self.patience.get().checked_sub(1);
            self.patience
                .set(left.expect("the step waits for work that never comes back"));
            None
        }
    }

    struct Panics;

    impl PiecewiseJob for Panics {
        fn run_piece(&mut self) -> bool {
            panic!("it is to panic");
        }
    }

    #[test]
    fn a_deferred_job_that_panics_on_another_worker_ends_its_cycle() {
        let mut job = DeferredJob::new(Panics);
        let runner = job.job_runner();
        job.start(0);
        assert!(
            std::thread::spawn(move || runner.run_piece())
                .join()
                .is_err()
        );
        let services = Patient::default();
        services.patience.set(1000);
        let io = StepIo {
            inputs: RawPorts::new(&[]),
            outputs: RawPorts::new(&[]),
            has_events: false,
            cold: Box::default(),
        };
        let info = ProcessInfo {
            frames: 64,
            offset: 0,
            position: 0,
            is_whole_block: true,
            cycle: 0,
            device_inputs: &[],
            services: &services,
        };
        // SAFETY: it has no ports, events or device inputs.
        let block = unsafe { Block::new(&io, &info) };
        assert!(block.take_deferred(&mut job).is_none());
        assert_eq!(services.late.get(), 1);
    }
}
