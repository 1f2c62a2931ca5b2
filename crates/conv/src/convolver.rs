//! [`Convolver`]: many channels through many impulse responses, a block at a time.

mod facts;
mod frames;

use crate::exchange::{Exchange, Exchanges, scaled};
use crate::fdl::Fdl;
use crate::handed::handing_on;
use crate::hands::{FdlInfo, LevelScheduler};
use crate::head::Head;
use crate::ir_set::IrSet;
use crate::line::Line;
use crate::recipe::{ConvolverError, ConvolverOptions, Path, Place, Recipe};
use fft::{AlignedBuffer, Kernels, LANES};
use frames::{add, gather, play, scatter};
use rt::ftz::FlushToZero;
use std::sync::Arc;

/// See the module. One block at a time: every input is [heard](Self::hear), then comes the [turn](Self::turn), then
/// every output can be [played](Self::played); [`process`](Self::process) does all three.
///
/// The bits hang on the paths, their responses, the options and what is heard; on nothing else, neither on who does the
/// work nor when.
pub struct Convolver {
    recipe: Arc<Recipe>,
    block: usize,
    kernels: Kernels,
    position: u64,
    late: u64,
    staged: AlignedBuffer,
    output: AlignedBuffer,
    /// A block of sixteen channels, side by side.
    frames: AlignedBuffer,
    head: Head,
    lines: Box<[Line]>,
    exchanges: Exchanges,
}

impl Convolver {
    /// A convolver for these paths between `inputs` and `outputs` channels.
    ///
    /// # Errors
    ///
    /// A path that leads nowhere, an impulse response that cannot be played.
    ///
    /// Real-time: setup.
    pub fn new(
        inputs: usize,
        outputs: usize,
        paths: &[Path],
        options: &ConvolverOptions,
    ) -> Result<Self, ConvolverError> {
        let recipe = Arc::new(Recipe::new(inputs, outputs, paths, options)?);
        let mut first = recipe.press(&scaled(paths))?;
        let partition = &options.partition;
        let block = partition.block();
        let timing = (block, partition.latency_frames(), partition.head());
        let head = first
            .head
            .take()
            .expect("a new exchange has a head")
            .first();
        let sets = first
            .sets
            .iter_mut()
            .map(|set| set.take().expect("it is new").first());
        let lines = recipe.places.iter().zip(sets);
        let mut lines: Box<[Line]> = lines
            .map(|(place, set)| line(&recipe, place, set))
            .collect();
        connect(&recipe, &mut lines);
        Ok(Self {
            block,
            kernels: options.kernels,
            position: 0,
            late: 0,
            staged: AlignedBuffer::new(inputs * block),
            output: AlignedBuffer::new(outputs * block),
            frames: AlignedBuffer::new(LANES * block),
            head: Head::new(
                options.kernels,
                timing,
                inputs,
                &recipe.paths,
                options.fade_frames,
                head,
            ),
            lines,
            exchanges: Exchanges::default(),
            recipe,
        })
    }

    /// Plays one block: so many frames in each of `inputs` and `outputs`, which may be fewer or more than there are
    /// channels. Channels that are not given hear silence.
    ///
    /// Real-time: hot.
    pub fn process(
        &mut self,
        inputs: &[&[f32]],
        outputs: &mut [&mut [f32]],
        hands: &mut dyn LevelScheduler,
    ) {
        let given = inputs.len().min(self.inputs());
        for (channel, input) in inputs[..given].iter().enumerate() {
            self.write_input(channel, input);
        }
        self.staged[given * self.block..].fill(0.0);
        self.process_block(hands);
        let channels = self.outputs();
        for (channel, output) in outputs.iter_mut().enumerate() {
            if channel < channels {
                output.copy_from_slice(self.output(channel));
            } else {
                output.fill(0.0);
            }
        }
    }

    /// Hears the next block of input `channel`.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn write_input(&mut self, channel: usize, frames: &[f32]) {
        self.staged[channel * self.block..][..self.block].copy_from_slice(frames);
    }

    /// Where the next block of input `channel` goes.
    ///
    /// Real-time: hot.
    #[inline]
    pub(crate) fn place(&mut self, channel: usize) -> &mut [f32] {
        &mut self.staged[channel * self.block..][..self.block]
    }

    /// What all outputs play.
    ///
    /// Real-time: hot.
    pub(crate) fn all_played(&self) -> &[f32] {
        &self.output
    }

    /// Takes back what has been heard and not convolved, and what was played.
    ///
    /// Real-time: hot.
    pub(crate) fn silence(&mut self) {
        self.staged.fill(0.0);
        self.output.fill(0.0);
    }

    /// What output `channel` plays.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn output(&self, channel: usize) -> &[f32] {
        &self.output[channel * self.block..][..self.block]
    }

    /// Convolves what has been heard.
    ///
    /// Real-time: hot, wakes.
    pub fn process_block(&mut self, hands: &mut dyn LevelScheduler) {
        let _floats = FlushToZero::enable();
        self.hand_in();
        if let Some(head) = self.exchanges.turn(&mut self.lines) {
            self.head.exchange(head);
        }
        let is_urgent_first = self.recipe.is_urgent_first;
        if is_urgent_first {
            self.play_urgent();
        }
        self.start_what_is_here(hands);
        hands.wake();
        if !is_urgent_first {
            self.play_urgent();
        }
        self.finish_what_is_due(hands);
        hands.after_block(&mut self.lines.iter_mut().map(|line| &mut line.work).enumerate());
        self.read_out();
        if let Some(old) = self.head.fade_on() {
            self.exchanges.head_is_over(old);
        }
    }

    /// Every input to every line that hears it.
    fn hand_in(&mut self) {
        let Self {
            recipe,
            block,
            kernels,
            staged,
            frames,
            ..
        } = self;
        for (channel, heard) in staged.chunks_exact(*block).enumerate() {
            self.head.hear(channel, heard);
        }
        for (number, group) in recipe.groups.iter().enumerate() {
            let mut is_gathered = false;
            for line in lines_of(&mut self.lines, number) {
                if line.width == 1 {
                    for (place, input) in group.inputs.iter().enumerate() {
                        line.place(place)
                            .copy_from_slice(&staged[input * *block..][..*block]);
                    }
                } else {
                    if !is_gathered {
                        gather(*kernels, group, staged, *block, frames);
                        is_gathered = true;
                    }
                    line.place(0).copy_from_slice(frames);
                }
                line.advance();
            }
        }
        self.position += self.block as u64;
    }

    fn start_what_is_here(&mut self, hands: &mut dyn LevelScheduler) {
        for (index, line) in self.lines.iter_mut().enumerate() {
            if line.is_full() && !line.facts.is_in_callback && line.is_here() {
                line.settle();
                self.exchanges.meet(index, line);
                line.start(self.position);
                hands.job_started(index, &mut line.work);
                line.is_done = true;
            }
        }
    }

    fn play_urgent(&mut self) {
        for (index, line) in self.lines.iter_mut().enumerate() {
            if line.is_full() && line.facts.is_in_callback {
                self.exchanges.meet(index, line);
                line.play_now(self.position);
            }
        }
    }

    fn finish_what_is_due(&mut self, hands: &mut dyn LevelScheduler) {
        let mut is_any = false;
        for (index, line) in self.lines.iter_mut().enumerate() {
            let is_done = std::mem::take(&mut line.is_done);
            if !line.is_full() || line.facts.is_in_callback || is_done {
                continue;
            }
            hands.finish(index, &mut line.work);
            if !line.settle() {
                self.late += 1;
                continue;
            }
            self.exchanges.meet(index, line);
            line.start(self.position);
            hands.job_started(index, &mut line.work);
            is_any = true;
        }
        if is_any {
            hands.wake();
        }
    }

    /// Every output: the head, then the levels that go by sixteen, then the others, from short to long.
    fn read_out(&mut self) {
        let Self {
            recipe,
            block,
            kernels,
            frames,
            output: played,
            ..
        } = self;
        played.fill(0.0);
        self.head.play(played);
        for (number, group) in recipe.groups.iter().enumerate() {
            let mut is_any = false;
            for line in lines_of(&mut self.lines, number).filter(|line| line.width > 1) {
                let Some(heard) = line.all_heard() else {
                    continue;
                };
                if is_any {
                    add(frames, heard);
                } else {
                    frames.copy_from_slice(heard);
                    is_any = true;
                }
            }
            if is_any {
                scatter(*kernels, group, frames, *block, played);
            }
            for line in lines_of(&mut self.lines, number).filter(|line| line.width == 1) {
                play(line, group, *block, played);
            }
        }
    }

    /// Forgets all sound, and goes on as if the next frame were frame `position`: where it has been silent for longer
    /// than its [tail](Self::tail), nothing but the time has changed. Long levels forget in their next jobs. A position
    /// within a block counts as the block's begin.
    ///
    /// Real-time: hot.
    pub fn seek(&mut self, position: u64) {
        let position = position - position % self.block as u64;
        self.position = position;
        self.head.forget();
        self.lines.iter_mut().for_each(|line| line.seek(position));
    }

    /// Becomes as new, at once: forgets all sound, counts from frame 0, and hears what it was made with, even if something
    /// else was exchanged for that. `back` is what came back of the only exchange that there is, if it did; it is kept.
    ///
    /// Real-time: hot.
    pub(crate) fn restart(&mut self, back: Option<Box<Exchange>>) {
        self.seek(0);
        self.exchanges
            .restart(back, &mut self.head, &mut self.lines);
    }

    /// Fades to what was kept when it became as new; whether there is any.
    ///
    /// Real-time: hot.
    pub(crate) fn exchange_again(&mut self) -> bool {
        self.exchanges.again()
    }

    /// Fades to other impulse responses. Gives back one that was still waiting and will never be heard, or `next` itself
    /// if it is for another convolver.
    ///
    /// Real-time: hot.
    pub fn exchange(&mut self, next: Box<Exchange>) -> Option<Box<Exchange>> {
        if !next.is_for(&self.recipe) {
            return Some(next);
        }
        self.exchanges.put(next)
    }

    /// The impulse responses that an exchange left over, to be dropped where that may take time. Until they are taken no
    /// other exchange ends.
    ///
    /// Real-time: hot.
    pub fn take_retired(&mut self) -> Option<Box<Exchange>> {
        self.exchanges.take_over()
    }
}

fn lines_of(lines: &mut [Line], group: usize) -> impl Iterator<Item = &mut Line> {
    lines
        .iter_mut()
        .filter(move |line| line.facts.group == group)
}

fn line(recipe: &Recipe, place: &Place, set: IrSet) -> Line {
    let level = &recipe.options.partition.levels()[place.level];
    let (wires, inputs, outputs) = recipe.wires(place);
    let work = Fdl::new(place.shape.clone(), inputs, outputs, &wires, set);
    let facts = FdlInfo {
        level: place.level,
        size: level.size(),
        count: level.count(),
        group: place.group,
        outputs,
        piece_count: work.piece_count(),
        is_in_callback: level.is_in_callback(),
        phase: place.phase,
        takes_from: place.takes_from,
    };
    Line::new(facts, &place.shape, level.slack(), inputs, work)
}

/// Lets lines hand spectra on.
fn connect(recipe: &Recipe, lines: &mut [Line]) {
    for (index, place) in recipe.places.iter().enumerate() {
        let (Some(larger), Some(from)) = (&place.shape.larger, place.takes_from) else {
            continue;
        };
        let (_, inputs, _) = recipe.wires(place);
        let (giver, taker) = handing_on(larger, inputs, recipe.options.kernels);
        if let Some(work) = lines[from].work.get() {
            work.give_to(giver);
        }
        if let Some(work) = lines[index].work.get() {
            work.take_from(taker);
        }
    }
}
