//! Kinds that look at one frame at a time: gain, sum, and the node that gives one stream to several.

use super::{KindError, some};
use crate::fire::{Actor, FireStatus, InputWindows, OutputWindows};
use crate::shape::{EndOfStream, InputPort, OutputPort, Ports};

/// A stream times a number.
pub struct Gain {
    factor: f32,
    channels: usize,
    piece: usize,
}

/// The sum of several streams. It goes on until the last of them ends.
pub struct Add {
    inputs: usize,
    channels: usize,
    piece: usize,
}

/// One stream for several readers.
pub struct Split {
    outputs: usize,
    channels: usize,
    piece: usize,
}

impl Gain {
    /// `piece` frames a firing.
    ///
    /// # Errors
    ///
    /// No channels, or no frames.
    pub fn new(factor: f32, channels: usize, piece: usize) -> Result<Self, KindError> {
        Ok(Self {
            factor,
            channels: some(channels, "channels")?,
            piece: some(piece, "piece")?,
        })
    }
}

impl Add {
    /// `piece` frames a firing.
    ///
    /// # Errors
    ///
    /// No inputs, channels or frames.
    pub fn new(inputs: usize, channels: usize, piece: usize) -> Result<Self, KindError> {
        Ok(Self {
            inputs: some(inputs, "in")?,
            channels: some(channels, "channels")?,
            piece: some(piece, "piece")?,
        })
    }
}

impl Split {
    /// `piece` frames a firing.
    ///
    /// # Errors
    ///
    /// No outputs, channels or frames.
    pub fn new(outputs: usize, channels: usize, piece: usize) -> Result<Self, KindError> {
        Ok(Self {
            outputs: some(outputs, "out")?,
            channels: some(channels, "channels")?,
            piece: some(piece, "piece")?,
        })
    }
}

fn inputs(count: usize, channels: usize, piece: usize) -> Vec<InputPort> {
    let input = |i: usize| {
        let name = if count == 1 {
            "in".into()
        } else {
            format!("in{}", i + 1)
        };
        InputPort::new(name, piece, piece).channels(channels)
    };
    (0..count).map(input).collect()
}

fn outputs(count: usize, channels: usize, piece: usize) -> Vec<OutputPort> {
    let output = |i: usize| {
        let name = if count == 1 {
            "out".into()
        } else {
            format!("out{}", i + 1)
        };
        OutputPort::new(name, piece, piece).channels(channels)
    };
    (0..count).map(output).collect()
}

impl Actor for Gain {
    fn ports(&self) -> Ports {
        Ports {
            inputs: inputs(1, self.channels, self.piece),
            outputs: outputs(1, self.channels, self.piece),
        }
    }

    fn fire(
        &mut self,
        inputs: &mut InputWindows<'_>,
        outputs: &mut OutputWindows<'_>,
    ) -> FireStatus {
        let (view, mut room) = (inputs.window(0), outputs.window(0));
        for channel in 0..self.channels {
            let pairs = room.channel(channel).iter_mut().zip(view.channel(channel));
            pairs.for_each(|(to, x)| *to = x * self.factor);
        }
        FireStatus::Continue
    }
}

impl Actor for Add {
    fn ports(&self) -> Ports {
        let inputs = inputs(self.inputs, self.channels, self.piece);
        Ports {
            inputs: inputs
                .into_iter()
                .map(|input| input.at_end(EndOfStream::Extend))
                .collect(),
            outputs: outputs(1, self.channels, self.piece),
        }
    }

    fn fire(
        &mut self,
        inputs: &mut InputWindows<'_>,
        outputs: &mut OutputWindows<'_>,
    ) -> FireStatus {
        let mut room = outputs.window(0);
        for (i, view) in inputs.windows().enumerate() {
            for channel in 0..self.channels {
                let to = room.channel(channel);
                match i {
                    0 => to.copy_from_slice(view.channel(channel)),
                    _ => to
                        .iter_mut()
                        .zip(view.channel(channel))
                        .for_each(|(to, x)| *to += x),
                }
            }
        }
        FireStatus::Continue
    }
}

impl Actor for Split {
    fn ports(&self) -> Ports {
        Ports {
            inputs: inputs(1, self.channels, self.piece),
            outputs: outputs(self.outputs, self.channels, self.piece),
        }
    }

    fn fire(
        &mut self,
        inputs: &mut InputWindows<'_>,
        outputs: &mut OutputWindows<'_>,
    ) -> FireStatus {
        let view = inputs.window(0);
        for mut room in outputs.windows() {
            for channel in 0..self.channels {
                room.channel(channel).copy_from_slice(view.channel(channel));
            }
        }
        FireStatus::Continue
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Add, Gain, KindError, Split};
    use crate::kinds::testing::{noise, through};
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
    fn what_is_split_and_added_is_twice_as_much() {
        let sound = noise(100, 3);
        let mut network = Network::new();
        let source = kinds::MemorySource::new(vec![sound.clone()], 7).unwrap();
        let source = network.add("source", source).unwrap();
        let split = network.add("split", Split::new(2, 1, 16).unwrap()).unwrap();
        let gain = network.add("gain", Gain::new(1.0, 1, 5).unwrap()).unwrap();
        let add = network.add("add", Add::new(2, 1, 8).unwrap()).unwrap();
        let (sink, heard) = kinds::MemorySink::new(1, 3).unwrap();
        let sink = network.add("sink", sink).unwrap();
        network.chain(&[source, split, gain, add, sink]).unwrap();
        network.connect((split, 1), (add, 1)).unwrap();
        run_on_caller(network, &RunOptions::default(), FiringOrder::RoundRobin).unwrap();
        let expected: Vec<f32> = sound.iter().map(|x| x + x).collect();
        assert_eq!(heard.lock().unwrap()[0][..100], expected);
    }
}
