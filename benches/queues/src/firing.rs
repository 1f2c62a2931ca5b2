//! What a firing of a process network costs: chains of nodes that move one number and do nothing with it, on one thread,
//! and on a crew's workers.

use crate::rounds::{Contestant, compare};
use network::{
    Fire, Flow, Input, Inputs, Network, Order, Output, Outputs, Ports, QueueShape, RunOptions,
    Summary, run_alone, run_on,
};
use std::cell::RefCell;
use workers::{Crew, CrewOptions};

/// Frames that each queue has: so often a node can fire before another one must.
const SIZE: usize = 64;
/// The most firings of all nodes together in a turn.
const FIRINGS: usize = 1 << 20;

/// Passes on what comes; the first node counts, the last one listens.
struct Pass {
    ports: Ports,
    left: usize,
}

impl Fire for Pass {
    fn ports(&self) -> Ports {
        self.ports.clone()
    }

    fn fire(&mut self, inputs: &mut Inputs<'_>, outputs: &mut Outputs<'_>) -> Flow {
        let value = inputs.views().map(|view| view.channel(0)[0]).next();
        if let Some(mut room) = outputs.rooms().next() {
            room.channel(0)[0] = value.unwrap_or(1.0);
        }
        self.left -= 1;
        match self.left {
            0 => Flow::End(1),
            _ => Flow::Go,
        }
    }
}

fn chain(nodes: usize, firings: usize) -> Network {
    let mut network = Network::new();
    let mut before = None;
    for i in 0..nodes {
        let (input, output) = (Input::new("in", 1, 1), Output::new("out", 1, 1));
        let ports = match i {
            0 => Ports::source(output),
            i if i + 1 == nodes => Ports::sink(input),
            _ => Ports::through(input, output),
        };
        let left = firings.max(1);
        let node = network.add(i.to_string(), Pass { ports, left });
        let node = node.expect("its name is new");
        if let Some(before) = before.replace(node) {
            let queue = QueueShape {
                from: (before, 0),
                to: (node, 0),
                initial: 0,
                size: Some(SIZE),
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

fn crew(workers: usize) -> Crew {
    let options = CrewOptions {
        workers,
        ..CrewOptions::default()
    };
    Crew::new(options).expect("some threads")
}

/// What the last turn of a contestant came to.
type Last = RefCell<Summary>;

fn chains(nodes: usize, rounds: usize) {
    let (one, two) = (crew(1), crew(2));
    let options = RunOptions::default();
    let lasts: [Last; 3] = Default::default();
    let turn = |last: usize, run: Box<dyn Fn(Network) -> Summary>| -> Box<dyn FnMut(usize) + '_> {
        let last = &lasts[last];
        Box::new(move |times| {
            let summary = run(chain(nodes, times / nodes));
            assert_eq!(summary.firings, vec![(times / nodes) as u64; nodes]);
            *last.borrow_mut() = summary;
        })
    };
    let by = |crew: Crew| {
        let options = options.clone();
        Box::new(move |network| run_on(&crew, network, &options).expect("it ends"))
    };
    let alone = options.clone();
    let alone = move |network| run_alone(network, &alone, Order::Runs).expect("it ends");
    let mut contestants = vec![
        Contestant {
            name: "two workers",
            turn: turn(1, by(two)),
        },
        Contestant {
            name: "one worker",
            turn: turn(2, by(one)),
        },
        Contestant {
            name: "one thread, no crew",
            turn: turn(0, Box::new(alone)),
        },
    ];
    let title = format!("a firing of {nodes} nodes in a chain, queues of {SIZE} frames");
    compare(&title, rounds, FIRINGS, &mut contestants);
    drop(contestants);
    let wakes = lasts[1].borrow().wakes;
    println!("  two workers were woken {wakes} times in the last turn of {FIRINGS} firings");
}
