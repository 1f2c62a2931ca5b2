//! Cost of a firing of a process network: chains of nodes that pass one number on, on the calling thread and on one or two
//! workers.

use crate::compare::{Candidate, compare};
use network::{
    Actor, FireStatus, FiringOrder, InputPort, Network, OutputPort, Windows,
    NodePorts, QueueSpec, RunOptions, RunSummary, run_on_caller, run_on_workers,
};
use std::cell::RefCell;
use workers::{WorkerPool, WorkerPoolOptions};

/// Frames of each queue: the number of firings of a node before another node has to fire.
const SIZE: usize = 64;
/// Firings of all nodes together in one run.
const FIRINGS: usize = 1 << 20;

/// A node that passes one number on. A node without input makes numbers, a node without output drops them.
struct Pass {
    ports: NodePorts,
    left: usize,
}

impl Actor for Pass {
    fn ports(&self) -> NodePorts {
        self.ports.clone()
    }

    fn fire(&mut self, windows: &mut Windows<'_>) -> FireStatus {
        let value = windows.inputs.windows().map(|window| window.channel(0)[0]).next();
        if let Some(mut window) = windows.outputs.windows().next() {
            window.channel(0)[0] = value.unwrap_or(1.0);
        }
        self.left -= 1;
        match self.left {
            0 => FireStatus::Finished(1),
            _ => FireStatus::Continue,
        }
    }
}

fn chain(nodes: usize, firings: usize) -> Network {
    let mut network = Network::new();
    let mut before = None;
    for i in 0..nodes {
        let (input, output) = (InputPort::new("in", 1, 1), OutputPort::new("out", 1, 1));
        let ports = match i {
            0 => NodePorts::source(output),
            i if i + 1 == nodes => NodePorts::sink(input),
            _ => NodePorts::through(input, output),
        };
        let left = firings.max(1);
        let node = network.add(i.to_string(), Pass { ports, left });
        let node = node.expect("its name is new");
        if let Some(before) = before.replace(node) {
            let queue = QueueSpec {
                size: Some(SIZE),
                ..QueueSpec::new((before, 0), (node, 0))
            };
            network.connect_with(queue).expect("both ends are free");
        }
    }
    network
}

pub fn report(rounds: usize) {
    let rounds = rounds.min(21);
    for nodes in [2, 16, 128, 1024] {
        chains(nodes, rounds);
    }
}

fn pool(workers: usize) -> WorkerPool {
    let options = WorkerPoolOptions {
        workers,
        ..WorkerPoolOptions::default()
    };
    WorkerPool::new(options).expect("some threads")
}

/// Summary of the last run of a candidate.
type Last = RefCell<RunSummary>;

fn chains(nodes: usize, rounds: usize) {
    let options = RunOptions::default();
    let lasts: [Last; 3] = Default::default();
    let run =
        |last: usize, run: Box<dyn Fn(Network) -> RunSummary>| -> Box<dyn FnMut(usize) + '_> {
            let last = &lasts[last];
            Box::new(move |times| {
                let summary = run(chain(nodes, times / nodes));
                assert_eq!(summary.firings, vec![(times / nodes) as u64; nodes]);
                *last.borrow_mut() = summary;
            })
        };
    let on_workers = |workers: usize| {
        let (pool, options) = (pool(workers), options.clone());
        Box::new(move |network| run_on_workers(&pool, network, &options).expect("it ends"))
    };
    let caller_options = options.clone();
    let on_caller = move |network| {
        run_on_caller(network, &caller_options, FiringOrder::UntilBlocked).expect("it ends")
    };
    let mut candidates = vec![
        Candidate {
            name: "two workers",
            run: run(1, on_workers(2)),
        },
        Candidate {
            name: "one worker",
            run: run(2, on_workers(1)),
        },
        Candidate {
            name: "the calling thread",
            run: run(0, Box::new(on_caller)),
        },
    ];
    let title = format!("a firing of {nodes} nodes in a chain, queues of {SIZE} frames");
    compare(&title, rounds, FIRINGS, &mut candidates);
    drop(candidates);
    let wakes = lasts[1].borrow().wakes;
    println!("  two workers were woken {wakes} times in the last run of {FIRINGS} firings");
}
