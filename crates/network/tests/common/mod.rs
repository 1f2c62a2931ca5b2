//! Actors for tests, and the schedulers that run a network.
#![allow(dead_code, reason = "each test uses some")]

use divisi_network::{
    Actor, FireStatus, FiringOrder, InputPort, Network, NodePorts, OutputPort, RunError,
    RunOptions, RunSummary, Windows, run_on_caller, run_on_workers,
};
use std::sync::{Arc, Mutex};
use workers::{WorkerPool, WorkerPoolOptions};

/// Samples that a sink has recorded, channel by channel.
pub(crate) type Recording = Arc<Mutex<Vec<Vec<f32>>>>;

/// Source of a fixed number of frames, in pieces.
pub(crate) struct TestSource {
    pub(crate) output: OutputPort,
    pub(crate) frames: usize,
    pub(crate) at: usize,
    pub(crate) seed: u32,
}

/// Sink that records.
pub(crate) struct TestSink {
    pub(crate) input: InputPort,
    pub(crate) recording: Recording,
}

/// Computes its outputs from its inputs, its state, and what it wrote before.
pub(crate) struct Mix {
    pub(crate) ports: NodePorts,
    pub(crate) state: f32,
}

pub(crate) fn frames_source(produce: usize, frames: usize) -> TestSource {
    TestSource {
        output: OutputPort::new("out", produce, produce),
        frames,
        at: 0,
        seed: 1,
    }
}

pub(crate) fn recording_sink(window: usize) -> (TestSink, Recording) {
    let recording = Recording::default();
    let input = InputPort::new("in", window, window);
    let sink = TestSink {
        input,
        recording: recording.clone(),
    };
    (sink, recording)
}

/// Sample of a source.
pub(crate) fn sample(seed: u32, channel: usize, frame: usize) -> f32 {
    let x = (frame as u32).wrapping_add(seed.wrapping_mul(7919));
    let x = x
        .wrapping_mul(2_654_435_761)
        .wrapping_add(channel as u32 * 97);
    ((x ^ (x >> 15)) % 2001) as f32 / 1000.0 - 1.0
}

impl Actor for TestSource {
    fn ports(&self) -> NodePorts {
        NodePorts::source(self.output.clone())
    }

    fn fire(&mut self, windows: &mut Windows<'_>) -> FireStatus {
        let count = self.output.produce.min(self.frames - self.at);
        let mut output = windows.outputs.window(0);
        for channel in 0..self.output.channels {
            for (i, x) in output.channel(channel)[..count].iter_mut().enumerate() {
                *x = sample(self.seed, channel, self.at + i);
            }
        }
        self.at += count;
        match self.at < self.frames {
            true => FireStatus::Continue,
            false => FireStatus::Finished(count),
        }
    }
}

impl Actor for TestSink {
    fn ports(&self) -> NodePorts {
        NodePorts::sink(self.input.clone())
    }

    fn fire(&mut self, windows: &mut Windows<'_>) -> FireStatus {
        let input = windows.inputs.window(0);
        let mut recording = self.recording.lock().unwrap();
        recording.resize(self.input.channels, Vec::new());
        for (channel, recording) in recording.iter_mut().enumerate() {
            recording.extend_from_slice(&input.channel(channel)[..self.input.consume]);
        }
        FireStatus::Continue
    }
}

impl Actor for Mix {
    fn ports(&self) -> NodePorts {
        self.ports.clone()
    }

    fn fire(&mut self, windows: &mut Windows<'_>) -> FireStatus {
        let mut sum = self.state * 0.5;
        for (window, port) in windows.inputs.windows().zip(&self.ports.inputs) {
            for channel in 0..port.channels {
                for (i, x) in window.channel(channel).iter().enumerate() {
                    sum = 0.9 * sum + x * (1.0 + (i % 5) as f32);
                }
            }
        }
        self.state = sum % 3.0;
        for (i, (mut window, port)) in windows
            .outputs
            .windows()
            .zip(&self.ports.outputs)
            .enumerate()
        {
            for channel in 0..port.channels {
                let kept = port.window - port.produce;
                for (f, x) in window.channel(channel).iter_mut().enumerate() {
                    let new = (self.state + (f * (i + 1)) as f32 * 0.01).sin();
                    *x = if f < kept { *x * 0.5 + new } else { new };
                }
            }
        }
        FireStatus::Continue
    }
}

/// All schedulers, each with its name.
pub(crate) fn all_schedulers() -> Vec<(&'static str, Scheduler)> {
    vec![
        (
            "caller, until blocked",
            Scheduler::Caller(FiringOrder::UntilBlocked),
        ),
        (
            "caller, at random",
            Scheduler::Caller(FiringOrder::Random(3)),
        ),
        (
            "caller, at random with another seed",
            Scheduler::Caller(FiringOrder::Random(99)),
        ),
        ("one worker", Scheduler::Workers(1)),
        ("two workers", Scheduler::Workers(2)),
        ("four workers", Scheduler::Workers(4)),
    ]
}

#[derive(Clone, Copy)]
pub(crate) enum Scheduler {
    Caller(FiringOrder),
    Workers(usize),
}

impl Scheduler {
    pub(crate) fn run(
        self,
        network: Network,
        options: &RunOptions,
    ) -> Result<RunSummary, RunError> {
        match self {
            Self::Caller(order) => run_on_caller(network, options, order),
            Self::Workers(workers) => {
                let pool_options = WorkerPoolOptions {
                    workers,
                    ..WorkerPoolOptions::default()
                };
                let pool = WorkerPool::new(pool_options).unwrap();
                run_on_workers(&pool, network, options)
            }
        }
    }
}
