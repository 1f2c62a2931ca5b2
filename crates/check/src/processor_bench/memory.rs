//! The memory of one processor under test: channels, event buffers and the line of a delay.

use super::{MAX_BLOCK, TestInput};
use graph::{Kind, Node, Port, Signal};
use processor::{
    Content, Event, IoCold, RawChannel, RawDelayLine, RawEvents, RawPort, RawPorts, StepIo,
};
use units::{Frames, SampleRate};

/// The line of a delay. The operation that writes it is part of the bench.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) data: Vec<f32>,
    channels: usize,
    capacity: usize,
    max: u32,
}

impl Line {
    pub(super) fn of(node: &Node, kind: &Kind, rate: SampleRate) -> Option<Self> {
        let params = kind.delay?;
        let seconds = |key| node.number(key).unwrap_or(0.0);
        let max = Frames::from_seconds_ceil(seconds(params.max).max(seconds(params.time)), rate).0;
        let channels = widths(node.kind_inputs()).sum();
        let capacity = (max as usize + MAX_BLOCK.count()).next_power_of_two();
        Some(Self {
            data: vec![0.0; capacity * channels],
            channels,
            capacity,
            max,
        })
    }

    pub(super) fn write(
        &mut self,
        inputs: &[Vec<f32>],
        range: std::ops::Range<usize>,
        position: u64,
    ) {
        for (c, input) in inputs.iter().take(self.channels).enumerate() {
            for (x, at) in input[range.clone()].iter().zip(position as usize..) {
                self.data[c * self.capacity + at % self.capacity] = *x;
            }
        }
    }
}

/// Number of channels of each port.
pub(super) fn widths(ports: &[Port]) -> impl Iterator<Item = usize> {
    ports.iter().map(|port| match port.signal {
        Signal::Audio(channels) => channels.count(),
        Signal::Control | Signal::Event => 0,
    })
}

/// The memory for one input.
pub(super) struct Memory {
    channels: Vec<RawChannel>,
    ports: [Box<[RawPort]>; 2],
    pub(super) inputs: Vec<Vec<f32>>,
    pub(super) outputs: Vec<Vec<f32>>,
    pub(super) flags: Vec<u8>,
    pub(super) sends: Vec<Option<RawEvents>>,
}

impl Memory {
    pub(super) fn new(node: &Node, input: &TestInput, has_line: bool) -> Self {
        let outputs = widths(&node.outputs).sum();
        // The line has what enters a delay; its processor reads what drives its parameters.
        let first = match has_line {
            true => widths(node.kind_inputs()).sum(),
            false => 0,
        };
        let inputs = input.inputs[first..].to_vec();
        let room = |port: &Port| {
            (port.signal == Signal::Event).then(|| RawEvents {
                events: Vec::with_capacity(MAX_BLOCK.count()),
                dropped: 0,
            })
        };
        Self {
            channels: Vec::new(),
            ports: Default::default(),
            flags: vec![0; inputs.len() + outputs],
            inputs,
            // Frames that are not written are found by their bits.
            outputs: vec![vec![f32::from_bits(UNWRITTEN); input.frames]; outputs],
            sends: node.outputs.iter().map(room).collect(),
        }
    }

    /// Points every channel at frame `from`, with nothing known of the outputs and of each input what `mark` says.
    pub(super) fn bind(&mut self, from: usize, mark: impl Fn(&[f32]) -> Content) {
        let flags = self.flags.as_mut_ptr();
        self.channels.clear();
        let inputs = self.inputs.iter_mut().map(|i| (mark(i), i));
        let outputs = self.outputs.iter_mut().map(|o| (Content::Unknown, o));
        for (index, (content, samples)) in inputs.chain(outputs).enumerate() {
            let flag = flags.wrapping_add(index);
            // SAFETY: there is a flag for every channel, and nothing else refers to it now.
            unsafe { *flag = content as u8 };
            self.channels.push(RawChannel {
                data: samples.as_mut_ptr().wrapping_add(from),
                content: flag,
            });
        }
    }

    /// The ports of `node` on these channels, valid until the next `bind`.
    pub(super) fn io(&mut self, node: &Node, line: Option<&mut Line>, events: &[Event]) -> StepIo {
        let mut at = 0;
        let mut ports = |ports: &[Port]| -> Box<[RawPort]> {
            let port = |width: usize| {
                at += width;
                RawPort::new(&self.channels[at - width..at])
            };
            widths(ports).map(port).collect()
        };
        let inputs = match line.is_some() {
            true => &node.inputs[node.kind_inputs().len()..],
            false => &node.inputs,
        };
        self.ports = [ports(inputs), ports(&node.outputs)];
        StepIo {
            inputs: RawPorts::new(&self.ports[0]),
            outputs: RawPorts::new(&self.ports[1]),
            has_events: !events.is_empty(),
            cold: Box::new(IoCold {
                event_outputs: (self.sends.iter_mut())
                    .map(|s| s.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut))
                    .collect(),
                events: events.to_vec(),
                delay_line: line.map(|line| RawDelayLine {
                    data: line.data.as_mut_ptr(),
                    capacity: line.capacity as u32,
                    channels: line.channels as u32,
                    min_delay: 0,
                    max_delay: line.max,
                }),
                param_signals: Box::default(),
            }),
        }
    }
}

/// Bits of samples that were never written.
pub(super) const UNWRITTEN: u32 = 0x7fc0_dead;
