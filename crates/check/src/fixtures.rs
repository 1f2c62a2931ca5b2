//! Fixtures: nodes whose behaviour a line of a test states, graphs with them, and the message where a test cannot run.

use graph::{Graph, Kind, Node, PortCount, PortSignal, PortSpec};
use processor::{Block, ProcessStatus, Processor, Registry, Setup, Tail};
use std::io::Write;
use units::Channels;

/// A node that does what a function says.
struct Actor<F>(F);

impl<F: FnMut(&mut Block<'_>) -> ProcessStatus + Send + 'static> Processor for Actor<F> {
    fn setup(&mut self, _setup: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        (self.0)(block)
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        Tail::Infinite
    }
}

/// A kind with these numbers of inputs and outputs of one channel, called `in1`, … and `out1`, …
pub fn kind(name: &'static str, (inputs, outputs): (u16, u16)) -> Kind {
    let ports = |name, count| PortSpec {
        name,
        signal: PortSignal::Fixed(Channels(1)),
        count: PortCount::Many {
            default: count,
            min: count,
            max: count,
        },
    };
    Kind {
        inputs: vec![ports("in", inputs)],
        outputs: vec![ports("out", outputs)],
        ..Kind::new(name, "Does what a test says.")
    }
}

/// Adds a kind whose nodes do what `make` gives for them.
pub fn add<F>(
    registry: &mut Registry,
    kind: Kind,
    make: impl Fn(&Node) -> F + Send + Sync + 'static,
) where
    F: FnMut(&mut Block<'_>) -> ProcessStatus + Send + 'static,
{
    registry.add(kind, move |creation| {
        Ok(Box::new(Actor(make(creation.node))))
    });
}

/// Copies the first input to the first output.
pub fn pass(block: &mut Block<'_>) {
    let input = block.input(0);
    block.output(0).channel(0).copy_from_slice(input.channel(0));
}

/// The graph that `text` says, in the `.ag` format, without a mistake.
pub fn graph(text: &str, registry: &Registry) -> Graph {
    let reading = text::ag::read(text, registry.catalogue());
    let wrong: Vec<_> = (reading.diagnostics.iter()).map(|d| &d.message).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    reading.session.graph
}

/// Says why a test could not be made here, also in the file by which the runner counts such tests.
pub fn skip(test: &str, why: &str) {
    eprintln!("SKIPPED {test}: {why}");
    if let Some(path) = std::env::var_os("DIVISI_SKIPS") {
        let mut options = std::fs::OpenOptions::new();
        let file = options.create(true).append(true).open(path);
        let mut file = file.expect("the runner's file can be written");
        writeln!(file, "SKIPPED {test}: {why}").expect("the runner's file can be written");
    }
}
