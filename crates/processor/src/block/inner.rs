//! [`InnerIo`]: the inputs, outputs and events of a processor that another one wraps, and the signals that drive its
//! parameters.
//!
//! ```text
//!   step        StepIo  inputs [ in  in2 | freq  q ]   outputs   events
//!                         │ the kind's own             │ the same │ copied, and more
//!   wrapped     StepIo  inputs [ in  in2 ]             outputs   events   signals [ freq: f f f f … ]
//! ```
//!
//! It lives in a [`ForkState`], since branches of the wrapped processor read it: if the step is left while one of them
//! still runs, its memory stays.

use super::{Block, ForkState, RawParamSignal, RawPorts, StepIo};
use crate::{Event, ProcessStatus, Processor};

/// The part of a step that a wrapped processor sees.
pub(crate) struct InnerIo(ForkState<InnerParts>);

struct InnerParts {
    io: StepIo,
    /// Memory of `io.cold.param_signals`, which hold the pointers to it.
    _signals: SignalMemory,
    /// Frames of one signal.
    block: usize,
    /// First frame of this part, counted from the start of the block.
    offset: usize,
}

/// The signals of all parameters that are driven at audio rate, one after the other. Reached by pointers only: a reference
/// to the whole would end the right of the others to read.
struct SignalMemory(*mut [f32]);

// SAFETY: it owns its memory like a `Box`, and nothing is read or written through it.
unsafe impl Send for SignalMemory {}
// SAFETY: as above.
unsafe impl Sync for SignalMemory {}

impl Drop for SignalMemory {
    fn drop(&mut self) {
        // SAFETY: it came from a box in `InnerIo::new`, and is dropped with the pointers to it.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

impl InnerIo {
    /// Memory for `outputs` ports, the signals of `params` and `events` events, in blocks of at most `block` frames.
    ///
    /// Real-time: setup.
    pub(crate) fn new(outputs: usize, params: &[u16], events: usize, block: usize) -> Self {
        let signals = vec![0.0; params.len() * block].into_boxed_slice();
        let signals = SignalMemory(Box::into_raw(signals));
        let data = signals.0.cast::<f32>();
        let mut io = StepIo {
            inputs: RawPorts::new(&[]),
            outputs: RawPorts::new(&[]),
            has_events: false,
            cold: Box::default(),
        };
        io.cold.event_outputs = vec![std::ptr::null_mut(); outputs].into();
        io.cold.events = Vec::with_capacity(events);
        io.cold.param_signals = (params.iter().enumerate())
            .map(|(at, param)| RawParamSignal {
                param: *param,
                is_zero: false,
                is_constant: false,
                data: data.wrapping_add(at * block),
            })
            .collect();
        Self(ForkState::new(InnerParts {
            io,
            _signals: signals,
            block,
            offset: 0,
        }))
    }

    /// Takes the ports of `block`, with its first `inputs` inputs, and no event.
    ///
    /// Real-time: hot.
    pub(crate) fn bind(&mut self, block: &Block<'_>, inputs: usize) {
        let from = block.io;
        self.0.offset = block.info.offset as usize;
        let io = &mut self.0.io;
        io.inputs = RawPorts {
            first: from.inputs.first,
            count: (inputs as u32).min(from.inputs.count),
        };
        io.outputs = from.outputs;
        io.has_events = false;
        io.cold.events.clear();
        io.cold.delay_line = from.cold.delay_line;
        let sent = from.cold.event_outputs.iter();
        let pairs = io.cold.event_outputs.iter_mut().zip(sent);
        pairs.for_each(|(to, from)| *to = *from);
    }

    /// Adds an event, whose frame counts from the first frame of this part and is not before that of the last one.
    ///
    /// Real-time: hot.
    pub(crate) fn push(&mut self, event: Event) {
        let offset = self.0.offset as u32;
        let io = &mut self.0.io;
        let events = &mut io.cold.events;
        debug_assert!(events.len() < events.capacity(), "there is room for all");
        if events.len() < events.capacity() {
            let frame = event.frame + offset;
            events.push(Event { frame, ..event });
            io.has_events = true;
        }
    }

    /// The frames of this part of signal `at`, to be written, and the signal with its flags.
    ///
    /// Real-time: hot.
    pub(crate) fn signal(&mut self, at: usize) -> (&mut [f32], &mut RawParamSignal) {
        let parts = &mut *self.0;
        let signal = &mut parts.io.cold.param_signals[at];
        assert!(parts.offset <= parts.block, "a part is within its block");
        // SAFETY: a signal has `block` frames, and this borrow of `self` keeps all others away from it.
        let frames = unsafe {
            let first = signal.data.cast_mut().add(parts.offset);
            std::slice::from_raw_parts_mut(first, parts.block - parts.offset)
        };
        (frames, signal)
    }

    /// Processes `block` with `processor`, on the ports and events taken from it.
    ///
    /// Real-time: hot.
    pub(crate) fn process(
        &mut self,
        block: &mut Block<'_>,
        processor: &mut dyn Processor,
    ) -> ProcessStatus {
        let info = block.info;
        self.0.lend_to_step(|parts| {
            // SAFETY: the ports and events outputs are those of `block`, which is borrowed until the processor returns; if
            // it is left instead, these parts stay in memory. The other pointers lead into the parts.
            let mut inner = unsafe { Block::new(&(*parts).io, info) };
            processor.process(&mut inner)
        })
    }
}

impl<'a> Block<'a> {
    /// The values of parameter `index` for the frames of this block, one a frame, if it is driven at audio rate. A
    /// processor asks only if its maker has seen that
    /// [`MakeContext::is_driven`](crate::MakeContext::is_driven).
    ///
    /// Real-time: hot.
    pub fn param_signal(&self, index: u16) -> Option<&'a [f32]> {
        let signal = self.raw_signal(index)?;
        // SAFETY: `Block::new`'s promise; a signal has as many frames as a slot.
        Some(unsafe {
            std::slice::from_raw_parts(
                signal.data.add(self.info.offset as usize),
                self.info.frames as usize,
            )
        })
    }

    /// Returns true if parameter `index` is driven at audio rate and 0 in all of this block, because what drives it is
    /// silent. A source whose level or frequency it is writes silence and may sleep.
    ///
    /// Real-time: hot.
    pub fn is_param_zero(&self, index: u16) -> bool {
        self.raw_signal(index).is_some_and(|signal| signal.is_zero)
    }

    /// The value of parameter `index` if it is driven at audio rate and has the same bits in every frame of this block, because
    /// nothing that drives it moves.
    ///
    /// Real-time: hot.
    pub fn param_constant(&self, index: u16) -> Option<f32> {
        let constant = self.raw_signal(index).filter(|signal| signal.is_constant);
        // SAFETY: as in `param_signal`: there is at least one frame.
        constant.map(|signal| unsafe { *signal.data.add(self.info.offset as usize) })
    }

    fn raw_signal(&self, index: u16) -> Option<&'a RawParamSignal> {
        let mut signals = self.io.cold.param_signals.iter();
        signals.find(|signal| signal.param == index)
    }
}
