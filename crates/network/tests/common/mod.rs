//! Nodes for tests, and the ways to run a network.
#![allow(dead_code, reason = "each test uses some")]

use divisi_network::{
    Actor, FireStatus, FiringOrder, InputPort, InputWindows, Network, OutputPort, OutputWindows,
    Ports, RunError, RunOptions, RunSummary, run_on_caller, run_on_workers, run_threads,
};
use std::sync::{Arc, Mutex};
use workers::{WorkerPool, WorkerPoolOptions};

/// What a sink has heard, a channel after the other.
pub(crate) type Heard = Arc<Mutex<Vec<Vec<f32>>>>;

/// Gives so many frames, in pieces.
pub(crate) struct From {
    pub(crate) output: OutputPort,
    pub(crate) frames: usize,
    pub(crate) at: usize,
    pub(crate) seed: u32,
}

/// Keeps what it hears.
pub(crate) struct Keep {
    pub(crate) input: InputPort,
    pub(crate) heard: Heard,
}

/// Makes something of all it sees, all it saw, and what it wrote before.
pub(crate) struct Mix {
    pub(crate) ports: Ports,
    pub(crate) state: f32,
}

pub(crate) fn from(produce: usize, frames: usize) -> From {
    From {
        output: OutputPort::new("out", produce, produce),
        frames,
        at: 0,
        seed: 1,
    }
}

pub(crate) fn keep(window: usize) -> (Keep, Heard) {
    let heard = Heard::default();
    let input = InputPort::new("in", window, window);
    let keep = Keep {
        input,
        heard: heard.clone(),
    };
    (keep, heard)
}

/// The sample of a source.
pub(crate) fn sample(seed: u32, channel: usize, frame: usize) -> f32 {
    let x = (frame as u32).wrapping_add(seed.wrapping_mul(7919));
    let x = x
        .wrapping_mul(2_654_435_761)
        .wrapping_add(channel as u32 * 97);
    ((x ^ (x >> 15)) % 2001) as f32 / 1000.0 - 1.0
}

impl Actor for From {
    fn ports(&self) -> Ports {
        Ports::source(self.output.clone())
    }

    fn fire(&mut self, _: &mut InputWindows<'_>, outputs: &mut OutputWindows<'_>) -> FireStatus {
        let count = self.output.produce.min(self.frames - self.at);
        let mut room = outputs.window(0);
        for channel in 0..self.output.channels {
            for (i, x) in room.channel(channel)[..count].iter_mut().enumerate() {
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

impl Actor for Keep {
    fn ports(&self) -> Ports {
        Ports::sink(self.input.clone())
    }

    fn fire(&mut self, inputs: &mut InputWindows<'_>, _: &mut OutputWindows<'_>) -> FireStatus {
        let view = inputs.window(0);
        let mut heard = self.heard.lock().unwrap();
        heard.resize(self.input.channels, Vec::new());
        for (channel, heard) in heard.iter_mut().enumerate() {
            heard.extend_from_slice(&view.channel(channel)[..self.input.consume]);
        }
        FireStatus::Continue
    }
}

impl Actor for Mix {
    fn ports(&self) -> Ports {
        self.ports.clone()
    }

    fn fire(
        &mut self,
        inputs: &mut InputWindows<'_>,
        outputs: &mut OutputWindows<'_>,
    ) -> FireStatus {
        let mut sum = self.state * 0.5;
        for (view, input) in inputs.windows().zip(&self.ports.inputs) {
            for channel in 0..input.channels {
                for (i, x) in view.channel(channel).iter().enumerate() {
                    sum = 0.9 * sum + x * (1.0 + (i % 5) as f32);
                }
            }
        }
        self.state = sum % 3.0;
        for (i, (mut room, output)) in outputs.windows().zip(&self.ports.outputs).enumerate() {
            for channel in 0..output.channels {
                let kept = output.window - output.produce;
                for (f, x) in room.channel(channel).iter_mut().enumerate() {
                    let new = (self.state + (f * (i + 1)) as f32 * 0.01).sin();
                    *x = if f < kept { *x * 0.5 + new } else { new };
                }
            }
        }
        FireStatus::Continue
    }
}

/// All ways to run a network, each with its name.
pub(crate) fn all_ways() -> Vec<(&'static str, Way)> {
    vec![
        ("alone, runs", Way::Alone(FiringOrder::UntilBlocked)),
        ("alone, at random", Way::Alone(FiringOrder::Random(3))),
        (
            "alone, at random otherwise",
            Way::Alone(FiringOrder::Random(99)),
        ),
        ("threads", Way::Threads),
        ("one worker", Way::Crew(1)),
        ("two workers", Way::Crew(2)),
        ("four workers", Way::Crew(4)),
    ]
}

#[derive(Clone, Copy)]
pub(crate) enum Way {
    Alone(FiringOrder),
    Threads,
    Crew(usize),
}

impl Way {
    pub(crate) fn run(
        self,
        network: Network,
        options: &RunOptions,
    ) -> Result<RunSummary, RunError> {
        match self {
            Self::Alone(order) => run_on_caller(network, options, order),
            Self::Threads => run_threads(network, options),
            Self::Crew(workers) => {
                let options_of_crew = WorkerPoolOptions {
                    workers,
                    ..WorkerPoolOptions::default()
                };
                let crew = WorkerPool::new(options_of_crew).unwrap();
                run_on_workers(&crew, network, options)
            }
        }
    }
}
