//! Actors that treat each frame by itself: gain, sum, and split.

use super::{KindError, nonzero};
use crate::actor::{Actor, FireStatus, Windows};
use crate::topology::{EndOfStream, InputPort, NodePorts, OutputPort};

/// Multiplies a stream by a factor: y = x × factor.
pub struct Gain {
    factor: f32,
    channels: usize,
    piece: usize,
}

/// Sum of several streams, in the order of the inputs. Goes on until the last of them has ended.
pub struct Add {
    inputs: usize,
    channels: usize,
    piece: usize,
}

/// Copies one stream to several readers: a queue has only one.
pub struct Split {
    outputs: usize,
    channels: usize,
    piece: usize,
}

impl Gain {
    /// An actor that moves `piece` frames a firing.
    ///
    /// # Errors
    ///
    /// A number is 0.
    pub fn new(factor: f32, channels: usize, piece: usize) -> Result<Self, KindError> {
        Ok(Self {
            factor,
            channels: nonzero(channels, "channels")?,
            piece: nonzero(piece, "piece")?,
        })
    }
}

impl Add {
    /// An actor that moves `piece` frames a firing.
    ///
    /// # Errors
    ///
    /// A number is 0.
    pub fn new(inputs: usize, channels: usize, piece: usize) -> Result<Self, KindError> {
        Ok(Self {
            inputs: nonzero(inputs, "in")?,
            channels: nonzero(channels, "channels")?,
            piece: nonzero(piece, "piece")?,
        })
    }
}

impl Split {
    /// An actor that moves `piece` frames a firing.
    ///
    /// # Errors
    ///
    /// A number is 0.
    pub fn new(outputs: usize, channels: usize, piece: usize) -> Result<Self, KindError> {
        Ok(Self {
            outputs: nonzero(outputs, "out")?,
            channels: nonzero(channels, "channels")?,
            piece: nonzero(piece, "piece")?,
        })
    }
}

fn inputs(count: usize, channels: usize, piece: usize) -> Vec<InputPort> {
    let input = |name| InputPort::new(name, piece, piece).channels(channels);
    names("in", count).map(input).collect()
}

fn outputs(count: usize, channels: usize, piece: usize) -> Vec<OutputPort> {
    let output = |name| OutputPort::new(name, piece, piece).channels(channels);
    names("out", count).map(output).collect()
}

/// Names of `count` ports: `stem` for a single one, else `stem1`, `stem2` and so on.
fn names(stem: &str, count: usize) -> impl Iterator<Item = String> {
    (1..=count).map(move |number| match count {
        1 => stem.to_owned(),
        _ => format!("{stem}{number}"),
    })
}

impl Actor for Gain {
    fn ports(&self) -> NodePorts {
        NodePorts {
            inputs: inputs(1, self.channels, self.piece),
            outputs: outputs(1, self.channels, self.piece),
        }
    }

    fn fire(&mut self, windows: &mut Windows<'_>) -> FireStatus {
        windows.each_channel(self.channels, |input, output| {
            let pairs = output.iter_mut().zip(input);
            pairs.for_each(|(to, x)| *to = x * self.factor);
        });
        FireStatus::Continue
    }
}

impl Actor for Add {
    fn ports(&self) -> NodePorts {
        let inputs = inputs(self.inputs, self.channels, self.piece);
        NodePorts {
            inputs: inputs
                .into_iter()
                .map(|input| input.at_end(EndOfStream::Extend))
                .collect(),
            outputs: outputs(1, self.channels, self.piece),
        }
    }

    fn fire(&mut self, windows: &mut Windows<'_>) -> FireStatus {
        let mut output = windows.outputs.window(0);
        for (i, input) in windows.inputs.windows().enumerate() {
            for channel in 0..self.channels {
                let to = output.channel(channel);
                match i {
                    0 => to.copy_from_slice(input.channel(channel)),
                    _ => to
                        .iter_mut()
                        .zip(input.channel(channel))
                        .for_each(|(to, x)| *to += x),
                }
            }
        }
        FireStatus::Continue
    }
}

impl Actor for Split {
    fn ports(&self) -> NodePorts {
        NodePorts {
            inputs: inputs(1, self.channels, self.piece),
            outputs: outputs(self.outputs, self.channels, self.piece),
        }
    }

    fn fire(&mut self, windows: &mut Windows<'_>) -> FireStatus {
        let input = windows.inputs.window(0);
        for mut output in windows.outputs.windows() {
            for channel in 0..self.channels {
                output
                    .channel(channel)
                    .copy_from_slice(input.channel(channel));
            }
        }
        FireStatus::Continue
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Add, Gain, KindError, Split};
    use crate::kinds::fixtures::{noise, through};
    use crate::{FiringOrder, Network, RunOptions, kinds, run_on_caller};

    #[test]
    fn gain_multiplies_every_channel() {
        let sound = vec![noise(50, 1), noise(50, 2)];
        let got = through(Gain::new(-0.5, 2, 16).unwrap(), sound.clone());
        for (got, sound) in got.iter().zip(&sound) {
            let expected: Vec<f32> = sound.iter().map(|x| x * -0.5).collect();
            assert_eq!(got[..50], expected);
        }
        assert!(matches!(
            Gain::new(1.0, 0, 16),
            Err(KindError::Zero("channels"))
        ));
        assert!(matches!(
            Gain::new(1.0, 1, 0),
            Err(KindError::Zero("piece"))
        ));
    }

    #[test]
    fn a_stream_that_is_split_and_added_is_doubled() {
        let sound = noise(100, 3);
        let mut network = Network::new();
        let source = kinds::MemorySource::new(vec![sound.clone()], 7).unwrap();
        let source = network.add("source", source).unwrap();
        let split = network.add("split", Split::new(2, 1, 16).unwrap()).unwrap();
        let gain = network.add("gain", Gain::new(1.0, 1, 5).unwrap()).unwrap();
        let add = network.add("add", Add::new(2, 1, 8).unwrap()).unwrap();
        let (sink, input) = kinds::MemorySink::new(1, 3).unwrap();
        let sink = network.add("sink", sink).unwrap();
        network.chain(&[source, split, gain, add, sink]).unwrap();
        network.connect((split, 1), (add, 1)).unwrap();
        run_on_caller(network, &RunOptions::default(), FiringOrder::RoundRobin).unwrap();
        let expected: Vec<f32> = sound.iter().map(|x| x + x).collect();
        assert_eq!(input.lock().unwrap()[0][..100], expected);
    }
}
