//! [`Fdl`]: the frequency-domain delay line of one level and one group of channels.
//!
//! Each period it transforms the last 2M frames of every input (the period before and the newest), multiplies the spectra
//! of the last periods by those of the filter's partitions, and transforms the sums back; the second half of each result is
//! output (overlap-save; `README.md` has the drawing). There is one forward transform an input and one inverse transform an
//! output, whatever the number of paths between them.
//!
//! The work of a period is a list of short [pieces](Fdl::piece_count) that are done in order.
//!
//! Input comes channel by channel, so that it is read in long runs. Output goes *block by block*: for each block of the
//! period all channels side by side, so that the callback reads one short run of memory. A block of sixteen channels that
//! are processed together is frames of sixteen samples.

use super::crossfade::{ActiveFilters, FilterPhase, blend};
use super::filters::FilterSet;
use super::history::SpectrumHistory;
use super::input::InputBuffers;
use super::lookahead::Lookahead;
use super::pieces::{Operation, PieceList};
use super::remote::{LineForm, RemoteLine};
use super::spec::{FdlSpec, LevelPath, LevelPaths};
use fft::AlignedBuffer;
use processor::WorkChannel;
use rt::deferred::PiecewiseJob;
use rt::ftz::FlushToZero;
use std::ops::Range;

/// Frequency-domain delay line: one level of one group of channels.
pub struct Fdl {
    spec: FdlSpec,
    connections: LevelPaths,
    filters: ActiveFilters,
    input: InputBuffers,
    history: SpectrumHistory,
    lookahead: Lookahead,
    buffers: TransformBuffers,
    /// Sound of the last period, block by block.
    output: AlignedBuffer,
    /// Pieces of a period without a cross-fade, and with one.
    lists: [PieceList; 2],
    next_piece: usize,
    /// True while the operations are those for the filters that fade in.
    is_fade_pass: bool,
    /// Number of the current period.
    period: u64,
    /// The way to the process that does the work, if it is another one.
    remote: Option<Box<RemoteLine>>,
}

/// Memory that transforms need; it holds nothing between two periods.
struct TransformBuffers {
    /// Two periods of sound.
    window: AlignedBuffer,
    /// Sum of products. Empty where the inverse transform works in place: then the window holds the sum.
    sum: AlignedBuffer,
    scratch: AlignedBuffer,
}

impl TransformBuffers {
    fn new(spec: &FdlSpec) -> Self {
        let sum = match spec.fft.has_in_place_inverse() {
            true => 0,
            false => spec.spectrum_len(),
        };
        Self {
            window: AlignedBuffer::new(spec.spectrum_len()),
            sum: AlignedBuffer::new(sum),
            scratch: AlignedBuffer::new(spec.fft.scratch_len()),
        }
    }

    fn len(&self) -> usize {
        self.window.len() + self.sum.len() + self.scratch.len()
    }

    /// Memory of the sum of products.
    fn sum_mut(&mut self) -> &mut [f32] {
        match self.sum.is_empty() {
            true => &mut self.window,
            false => &mut self.sum,
        }
    }
}

impl Fdl {
    /// Makes a line whose past input is silence. Each connection has a filter at the same place in `filters`.
    pub(crate) fn new(
        spec: FdlSpec,
        inputs: usize,
        outputs: usize,
        connections: &[LevelPath],
        filters: FilterSet,
    ) -> Self {
        let connections = LevelPaths::new(connections, outputs);
        Self {
            filters: ActiveFilters::new(filters),
            input: InputBuffers::new(&spec, inputs),
            history: SpectrumHistory::new(inputs, spec.count, spec.spectrum_len()),
            lookahead: Lookahead::new(spec.lookahead_periods, spec.spectrum_len(), outputs),
            buffers: TransformBuffers::new(&spec),
            output: AlignedBuffer::new(outputs * spec.period_len()),
            lists: PieceList::plain_and_fading(&spec, inputs, &connections),
            next_piece: 0,
            is_fade_pass: false,
            period: 0,
            remote: None,
            connections,
            spec,
        }
    }

    /// Places in requests and replies, where another process does the work. It hears as many periods as an output and the sums
    /// before it depend on.
    pub(crate) fn form(&self) -> LineForm {
        let spec = &self.spec;
        LineForm {
            periods: spec.count + spec.lookahead_periods + 2,
            input: self.input.len() / 2,
            output: self.output.len(),
        }
    }

    /// Has another process do the work from now on. With `waits` its results are waited for. `first` is the number of the response
    /// that the line was made with.
    ///
    /// Real-time: setup.
    pub(crate) fn send_away(&mut self, channel: Box<dyn WorkChannel>, waits: bool, first: usize) {
        let remote = RemoteLine::new(self.form(), channel, (waits, first));
        self.remote = Some(Box::new(remote));
    }

    /// Returns true if another process does the work.
    pub(crate) fn is_away(&self) -> bool {
        self.remote.is_some()
    }

    /// Returns true if the last result of another process has not come.
    ///
    /// Real-time: hot.
    pub(crate) fn is_missing(&self) -> bool {
        self.remote.as_ref().is_some_and(|it| it.is_missing)
    }

    /// Number of pieces of a period's work.
    ///
    /// Real-time: hot.
    pub fn piece_count(&self) -> usize {
        self.list().len()
    }

    /// Estimated cost of each piece without a cross-fade, in vector instructions.
    ///
    /// Real-time: setup.
    pub fn piece_costs(&self) -> Vec<u64> {
        self.lists[0].costs()
    }

    /// Runs piece `index`. All pieces of a period must be done, once and in order.
    ///
    /// Real-time: hot.
    pub fn run_piece(&mut self, index: usize) {
        if index == 0 {
            self.is_fade_pass = false;
        }
        for at in self.list().operations_of(index) {
            match self.list().operation(at) {
                Operation::CopyInput { input, blocks } => {
                    let window = &mut self.buffers.window;
                    self.input.copy_blocks(&self.spec, input, blocks, window);
                }
                Operation::Forward { input, piece } => self.forward(input, piece),
                Operation::Multiply {
                    output,
                    phase,
                    floats,
                } => self.multiply(output, phase, floats),
                Operation::Inverse { piece } => self.inverse(piece),
                Operation::CopyOutput { output, blocks } => self.copy_output(output, blocks),
                Operation::SwitchFilters => self.is_fade_pass = !self.is_fade_pass,
            }
        }
        if index + 1 == self.piece_count() {
            self.lookahead.end_period();
        }
    }

    /// Frames in a partition.
    pub fn size(&self) -> usize {
        self.spec.size
    }

    /// Filters in use.
    pub(crate) fn filters(&self) -> &FilterSet {
        self.filters.current()
    }

    /// Bytes of the input spectra, and of all other memory but the filters'.
    pub(crate) fn bytes(&self) -> (usize, usize) {
        let sound = self.input.len() + self.output.len();
        let others = sound + self.buffers.len() + self.lookahead.len();
        (4 * self.history.len(), 4 * others)
    }

    fn list(&self) -> &PieceList {
        &self.lists[usize::from(self.filters.is_fading())]
    }

    /// Takes the input of period `period` and leaves memory for the next one. The first `silent` frames of it count as
    /// silence, and so do the `gap` periods before.
    ///
    /// Real-time: hot.
    pub(crate) fn begin(
        &mut self,
        sound: &mut AlignedBuffer,
        silent: usize,
        gap: usize,
        period: u64,
    ) {
        if let Some(remote) = &mut self.remote {
            let phase = self.filters.phase();
            return remote.ask(sound, (silent, gap), phase, period);
        }
        self.input.push(sound, silent, gap > 0, self.spec.size);
        let is_all_forgotten = self.history.advance(gap);
        self.next_piece = 0;
        self.period = period;
        if self.filters.is_fading() {
            self.lookahead.discard_before(period + 1);
        } else if is_all_forgotten {
            self.lookahead.silence();
        } else if gap > 0 {
            self.lookahead.discard_before(period);
        }
    }

    /// Has these filters in use from the next period on; those that are not are left in `spare`.
    ///
    /// Real-time: hot.
    pub(super) fn set_phase(&mut self, mut phase: FilterPhase, spare: &mut Option<FilterSet>) {
        let last = self.spec.fade_frames;
        phase.fade = phase.fade.map(|frame| frame.min(last));
        self.filters.set_phase(phase, spare);
    }

    /// Exchanges the output of the last period for memory for the next.
    ///
    /// Real-time: hot.
    pub(crate) fn take_output(&mut self, memory: &mut AlignedBuffer) {
        std::mem::swap(&mut self.output, memory);
        self.drop_output();
    }

    /// Ends a period whose output has been taken or is discarded, and advances a cross-fade.
    ///
    /// Real-time: hot.
    pub(crate) fn drop_output(&mut self) {
        self.filters.advance(self.spec.size, self.spec.fade_frames);
    }

    /// Returns true if a cross-fade can begin.
    ///
    /// Real-time: hot.
    pub(crate) fn can_exchange(&self) -> bool {
        self.filters.can_exchange()
    }

    /// Begins a cross-fade to `filters` with the next period.
    ///
    /// Real-time: hot.
    pub(crate) fn exchange(&mut self, filters: FilterSet) {
        self.filters.exchange(filters);
    }

    /// Takes the filters that a cross-fade has replaced, once it has ended.
    ///
    /// Real-time: hot.
    pub(crate) fn take_retired(&mut self) -> Option<FilterSet> {
        self.filters.take_retired()
    }

    /// Returns to the filters that the line was made with, at once; the other set is left in `spare`.
    ///
    /// Real-time: hot.
    pub(crate) fn restart(&mut self, spare: &mut Option<FilterSet>) {
        self.filters.restart(spare);
    }

    fn forward(&mut self, input: usize, piece: usize) {
        let fft = &self.spec.fft;
        let spectrum = self.history.newest_mut(input);
        let scratch = &mut self.buffers.scratch[..fft.scratch_len()];
        fft.forward_piece(piece, &self.buffers.window, spectrum, scratch);
    }

    /// Multiplies floats `floats` of the range of bins that is in `phase`.
    fn multiply(&mut self, output: usize, phase: usize, floats: Range<usize>) {
        let filters = match self.filters.fade() {
            Some(fade) if self.is_fade_pass => &fade.filters,
            _ => self.filters.current(),
        };
        let start = self.lookahead.range_start(self.period, phase);
        let part = start + floats.start..start + floats.end;
        let packing = (part.start == 0).then_some(self.spec.packing);
        let sum = &mut self.buffers.sum_mut()[part.clone()];
        let now = (self.period, phase);
        let is_fading = self.filters.is_fading();
        let mut sums = self.lookahead.sums(output, now, floats, sum, is_fading);
        let range = self.connections.range(output);
        let connections = self.connections.get(range.clone()).iter();
        for (connection, filter) in connections.zip(filters.of(range)) {
            let Some(filter) = filter else { continue };
            let input = self.history.input(connection.input, part.clone());
            input.multiply(&mut sums, filter, self.spec.kernels, packing);
        }
    }

    fn inverse(&mut self, piece: usize) {
        let (fft, buffers) = (&self.spec.fft, &mut self.buffers);
        let scratch = &mut buffers.scratch[..fft.scratch_len()];
        match fft.has_in_place_inverse() {
            true => fft.inverse_piece_in_place(piece, &mut buffers.window, scratch),
            false => fft.inverse_piece(piece, &mut buffers.sum, &mut buffers.window, scratch),
        }
    }

    /// Copies blocks of the window's second half to an output.
    fn copy_output(&mut self, output: usize, blocks: Range<usize>) {
        let (len, width) = (self.spec.block_len(), self.spec.width);
        let outputs = self.connections.outputs();
        let fade = self.filters.fade().filter(|_| self.is_fade_pass);
        let scale = fade
            .map_or(self.filters.current(), |fade| &fade.filters)
            .scale();
        let sound = &mut self.buffers.window[self.spec.period_len()..];
        let sound = &mut sound[blocks.start * len..blocks.end * len];
        if scale != 1.0 {
            sound.iter_mut().for_each(|x| *x *= scale);
        }
        for (block, sound) in blocks.zip(sound.chunks_exact(len)) {
            let at = (block * outputs + output) * len;
            let to = &mut self.output[at..at + len];
            match fade {
                None => to.copy_from_slice(sound),
                Some(fade) => {
                    let frame = fade.frame + block * self.spec.block;
                    blend(to, sound, frame, self.spec.fade_frames, width);
                }
            }
        }
    }
}

impl PiecewiseJob for Fdl {
    fn run_piece(&mut self) -> bool {
        if let Some(remote) = &mut self.remote {
            remote.take(&mut self.output);
            return true;
        }
        let _floats = FlushToZero::enable();
        Fdl::run_piece(self, self.next_piece);
        self.next_piece += 1;
        self.next_piece == self.piece_count()
    }
}
