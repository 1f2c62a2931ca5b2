//! [`Convolver`]: many channels through many impulse responses, a block at a time.
//!
//! `../level/README.md` explains how a block goes through it.
//!
//! | file | holds |
//! |---|---|
//! | `options.rs` `error.rs` | what a convolver is made from, and why it may not be made |
//! | `layout.rs` `group.rs` | which channels share a delay line, and with which sizes and transforms |
//! | `frames.rs` | blocks of single channels to and from frames of sixteen |
//! | `info.rs` | sizes, latency, memory, counters |
//! | `adapter.rs` | host blocks of any length |

mod adapter;
mod error;
mod frames;
mod group;
mod info;
pub(crate) mod layout;
mod options;

pub use adapter::ConvolverAdapter;
pub use error::ConvolverError;
pub(crate) use options::{CACHED_FLOATS, MAX_BATCH_SIZE};
pub use options::{ConvolverOptions, Path};

use crate::direct::DirectConvolver;
use crate::level::filters::FilterSet;
use crate::level::stream::LevelStream;
use crate::level::{Fdl, FdlInfo};
use crate::response::exchange::{Exchange, ExchangeQueue, Preparer};
use crate::schedule::LevelScheduler;
use fft::{AlignedBuffer, Kernels, LANES};
use frames::{add, add_level, gather, scatter};
use layout::{FdlPlan, LevelLayout};
use rt::ftz::FlushToZero;
use std::sync::Arc;

/// Partitioned convolution of many channels, one block at a time: every input is [written](Self::write_input), then comes
/// [`process_block`](Self::process_block), then every [output](Self::output) can be read. [`process`](Self::process) does
/// all three.
///
/// The bits of the output depend on paths, responses, options and input; not on who does the work of the levels, nor when.
pub struct Convolver {
    layout: Arc<LevelLayout>,
    block: usize,
    kernels: Kernels,
    position: u64,
    late_count: u64,
    /// One block for each input, one behind the other; `output` has one for each output.
    input: AlignedBuffer,
    output: AlignedBuffer,
    /// A block of frames of sixteen channels.
    frames: AlignedBuffer,
    head: DirectConvolver,
    /// One for each delay line, level by level, group by group.
    streams: Box<[LevelStream]>,
    exchanges: ExchangeQueue,
}

impl Convolver {
    /// Makes a convolver for these paths between `inputs` and `outputs` channels.
    ///
    /// # Errors
    ///
    /// A path names a channel that is not there, an impulse response is empty, too long for the partition or not finite, or
    /// there is not enough memory.
    ///
    /// Real-time: setup.
    pub fn new(
        inputs: usize,
        outputs: usize,
        paths: &[Path],
        options: &ConvolverOptions,
    ) -> Result<Self, ConvolverError> {
        let layout = Arc::new(LevelLayout::new(inputs, outputs, paths, options)?);
        let mut first = Preparer(layout.clone()).prepare(paths)?;
        let partition = &options.partition;
        let block = partition.block();
        let timing = (block, partition.latency_frames(), partition.head());
        let filters = first.head.take().expect("a new exchange has a head");
        let head = DirectConvolver::new(
            options.kernels,
            timing,
            inputs,
            &layout.paths,
            options.fade_frames,
            filters.into_original(),
        );
        let sets = first.sets.iter_mut();
        let sets = sets.map(|set| set.take().expect("a new exchange has all sets"));
        let streams = layout.fdls.iter().zip(sets);
        let streams = streams.map(|(plan, set)| stream(&layout, plan, set.into_original()));
        Ok(Self {
            block,
            kernels: options.kernels,
            position: 0,
            late_count: 0,
            input: AlignedBuffer::new(inputs * block),
            output: AlignedBuffer::new(outputs * block),
            frames: AlignedBuffer::new(LANES * block),
            head,
            streams: streams.collect(),
            exchanges: ExchangeQueue::default(),
            layout,
        })
    }

    /// Processes one block. `inputs` and `outputs` hold one block for each channel; they may be fewer or more than the
    /// convolver has. Channels that are not given are silent.
    ///
    /// Real-time: hot.
    pub fn process(
        &mut self,
        inputs: &[&[f32]],
        outputs: &mut [&mut [f32]],
        scheduler: &mut dyn LevelScheduler,
    ) {
        let given = inputs.len().min(self.inputs());
        for (channel, input) in inputs[..given].iter().enumerate() {
            self.write_input(channel, input);
        }
        self.input[given * self.block..].fill(0.0);
        self.process_block(scheduler);
        let channels = self.outputs();
        for (channel, output) in outputs.iter_mut().enumerate() {
            if channel < channels {
                output.copy_from_slice(self.output(channel));
            } else {
                output.fill(0.0);
            }
        }
    }

    /// Writes the next block of input `channel`.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn write_input(&mut self, channel: usize, frames: &[f32]) {
        self.input_mut(channel).copy_from_slice(frames);
    }

    /// Memory for the next block of input `channel`.
    ///
    /// Real-time: hot.
    #[inline]
    pub(crate) fn input_mut(&mut self, channel: usize) -> &mut [f32] {
        &mut self.input[channel * self.block..][..self.block]
    }

    /// Blocks of all outputs, one behind the other.
    ///
    /// Real-time: hot.
    pub(crate) fn all_outputs(&self) -> &[f32] {
        &self.output
    }

    /// Writes silence to the outputs, and to the input that has been written and not processed.
    ///
    /// Real-time: hot.
    pub(crate) fn clear_blocks(&mut self) {
        self.input.fill(0.0);
        self.output.fill(0.0);
    }

    /// The newest block of output `channel`.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn output(&self, channel: usize) -> &[f32] {
        &self.output[channel * self.block..][..self.block]
    }

    /// Convolves the block that has been written.
    ///
    /// Real-time: hot, wakes.
    pub fn process_block(&mut self, scheduler: &mut dyn LevelScheduler) {
        let _floats = FlushToZero::enable();
        self.distribute_input();
        if let Some(filters) = self.exchanges.advance(&mut self.streams) {
            self.head.exchange(filters);
        }
        self.start_available_jobs(scheduler);
        scheduler.wake();
        self.run_callback_levels();
        self.finish_due_jobs(scheduler);
        let streams = self.streams.iter_mut();
        scheduler.after_block(&mut streams.map(|stream| &mut stream.job).enumerate());
        self.add_outputs();
        if let Some(old) = self.head.advance_fade() {
            self.exchanges.head_faded(old);
        }
    }

    /// Writes every input to the head and to every stream that needs it.
    fn distribute_input(&mut self) {
        let block = self.block;
        for (channel, input) in self.input.chunks_exact(block).enumerate() {
            self.head.write_input(channel, input);
        }
        for (number, group) in self.layout.groups.iter().enumerate() {
            let mut is_gathered = false;
            for stream in streams_of(&mut self.streams, number) {
                if stream.width == 1 {
                    for (place, input) in group.inputs.iter().enumerate() {
                        let input = &self.input[input * block..][..block];
                        stream.input_mut(place).copy_from_slice(input);
                    }
                } else {
                    if !is_gathered {
                        gather(self.kernels, group, &self.input, block, &mut self.frames);
                        is_gathered = true;
                    }
                    stream.input_mut(0).copy_from_slice(&self.frames);
                }
                stream.advance();
            }
        }
        self.position += block as u64;
    }

    /// Starts the next job of every level that runs beside the callback, if its period is complete and its last job is done.
    fn start_available_jobs(&mut self, scheduler: &mut dyn LevelScheduler) {
        for (index, stream) in self.streams.iter_mut().enumerate() {
            let is_startable = stream.is_period_end() && !stream.info.is_in_callback;
            if is_startable && stream.job.is_available() {
                stream.collect();
                self.exchanges.offer(index, stream);
                stream.start_job(self.position);
                scheduler.job_started(index, &mut stream.job);
                stream.is_started = true;
            }
        }
    }

    /// Does the work of all levels without slack.
    fn run_callback_levels(&mut self) {
        for (index, stream) in self.streams.iter_mut().enumerate() {
            if stream.is_period_end() && stream.info.is_in_callback {
                self.exchanges.offer(index, stream);
                stream.run_in_callback(self.position);
            }
        }
    }

    /// Finishes the jobs that are due, and starts the next ones where that has not been done yet.
    fn finish_due_jobs(&mut self, scheduler: &mut dyn LevelScheduler) {
        let mut is_any_started = false;
        for (index, stream) in self.streams.iter_mut().enumerate() {
            let is_started = std::mem::take(&mut stream.is_started);
            if !stream.is_period_end() || stream.info.is_in_callback || is_started {
                continue;
            }
            scheduler.finish(index, &mut stream.job);
            let is_missing = stream.job.get().is_some_and(|fdl| fdl.is_missing());
            self.late_count += u64::from(is_missing);
            if !stream.collect() {
                self.late_count += 1;
                continue;
            }
            self.exchanges.offer(index, stream);
            stream.start_job(self.position);
            scheduler.job_started(index, &mut stream.job);
            is_any_started = true;
        }
        if is_any_started {
            scheduler.wake();
        }
    }

    /// Adds to every output the head, then the levels of sixteen channels, then the others, from short to long.
    fn add_outputs(&mut self) {
        let Self {
            layout,
            block,
            kernels,
            frames,
            output,
            ..
        } = self;
        output.fill(0.0);
        self.head.add_outputs(output);
        for (number, group) in layout.groups.iter().enumerate() {
            let mut is_any = false;
            let streams = streams_of(&mut self.streams, number);
            for stream in streams.filter(|stream| stream.width > 1) {
                let Some(level) = stream.all_outputs() else {
                    continue;
                };
                if is_any {
                    add(frames, level);
                } else {
                    frames.copy_from_slice(level);
                    is_any = true;
                }
            }
            if is_any {
                scatter(*kernels, group, frames, *block, output);
            }
            let streams = streams_of(&mut self.streams, number);
            for stream in streams.filter(|stream| stream.width == 1) {
                add_level(stream, group, *block, output);
            }
        }
    }

    /// Forgets all sound, and goes on as if the next frame were frame `position`: if the input has been silent for longer than
    /// the [tail](Self::tail), nothing but the time changes. Long levels forget in their next jobs. A position within a
    /// block counts as the beginning of the block.
    ///
    /// Real-time: hot.
    pub fn seek(&mut self, position: u64) {
        let position = position - position % self.block as u64;
        self.position = position;
        self.head.clear();
        self.streams
            .iter_mut()
            .for_each(|stream| stream.seek(position));
    }

    /// Moves the position back by `frames` frames and keeps all sound. Only the deadlines of jobs depend on the position.
    ///
    /// Real-time: hot.
    pub(crate) fn rewind(&mut self, frames: u64) {
        self.position = self.position.saturating_sub(frames);
    }

    /// Returns to the state after [`new`](Self::new), at once: forgets all sound, counts from frame 0 and has the original
    /// filters, even if others were exchanged for them. `spare` is the other exchange if the caller holds it; it is kept.
    ///
    /// Real-time: hot.
    pub(crate) fn restart(&mut self, spare: Option<Box<Exchange>>) {
        self.seek(0);
        self.exchanges
            .restart(spare, &mut self.head, &mut self.streams);
    }

    /// Begins an exchange to the filters that [`restart`](Self::restart) has kept. Returns false if there are none.
    ///
    /// Real-time: hot.
    pub(crate) fn exchange_kept(&mut self) -> bool {
        self.exchanges.resume_kept()
    }

    /// Fades to other impulse responses. Returns the pending exchange that this one replaces, or `next` itself if it was
    /// prepared for another convolver.
    ///
    /// Real-time: hot.
    pub fn exchange(&mut self, next: Box<Exchange>) -> Option<Box<Exchange>> {
        if !next.is_for(&self.layout) {
            return Some(next);
        }
        self.exchanges.push(next)
    }

    /// Takes the impulse responses that an exchange has replaced, to be dropped where that may take time. Until they are
    /// taken no other exchange ends.
    ///
    /// Real-time: hot.
    pub fn take_retired(&mut self) -> Option<Box<Exchange>> {
        self.exchanges.take_retired()
    }
}

/// Streams of a group of channels, from short to long levels.
fn streams_of(streams: &mut [LevelStream], group: usize) -> impl Iterator<Item = &mut LevelStream> {
    streams
        .iter_mut()
        .filter(move |stream| stream.info.group == group)
}

/// Makes a delay line and its stream.
fn stream(layout: &LevelLayout, plan: &FdlPlan, filters: FilterSet) -> LevelStream {
    let level = &layout.options.partition.levels()[plan.level];
    let (connections, inputs, outputs) = layout.connections(plan);
    let fdl = Fdl::new(plan.spec.clone(), inputs, outputs, &connections, filters);
    let info = FdlInfo {
        level: plan.level,
        size: level.size(),
        count: level.count(),
        group: plan.group,
        outputs,
        piece_count: fdl.piece_count(),
        is_in_callback: level.is_in_callback(),
        phase: plan.phase,
    };
    LevelStream::new(info, &plan.spec, level.slack(), inputs, fdl)
}
