//! [`Paths`]: the response from each input to each output.

use super::Ir;
use crate::Path;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// A path with a delay before its response.
#[derive(Clone, Debug)]
pub struct DelayedPath {
    /// The path.
    pub path: Path,
    /// Frames of silence before its response.
    pub delay: usize,
}

/// All paths between some inputs and outputs. Paths to one output are added.
#[derive(Clone, Debug)]
pub struct Paths {
    inputs: usize,
    outputs: usize,
    paths: Vec<DelayedPath>,
}

/// Reason why a path or a response is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PathsError {
    /// The path has an input that was not declared.
    #[error("there is no input {}: {inputs} are declared", .input + 1)]
    Input {
        /// Number, from 0.
        input: usize,
        /// Number of declared channels.
        inputs: usize,
    },
    /// The path has an output that was not declared.
    #[error("there is no output {}: {outputs} are declared", .output + 1)]
    Output {
        /// Number, from 0.
        output: usize,
        /// Number of declared channels.
        outputs: usize,
    },
    /// Its response is empty.
    #[error("its impulse response is empty")]
    Empty,
    /// Its gain or a sample of its response is not finite.
    #[error("its gain or its impulse response has no finite number")]
    NotFinite,
    /// No rule assigns the response's channels to those of the sound. A jconvolver configuration can.
    #[error(
        "a sound of {inputs} channels and a response of {channels} can be meant in several ways: a configuration says which"
    )]
    NoRule {
        /// Channels of the sound.
        inputs: usize,
        /// Channels of the response.
        channels: usize,
    },
}

impl DelayedPath {
    /// Frames from an impulse to the end of its response.
    pub fn frames(&self) -> usize {
        self.delay + self.path.ir.len()
    }

    /// The response with its gain and its delay.
    ///
    /// Real-time: setup.
    pub fn taps(&self) -> Cow<'_, [f32]> {
        let Path { ir, gain, .. } = &self.path;
        if self.delay == 0 && *gain == 1.0 {
            return Cow::Borrowed(ir);
        }
        let mut taps = vec![0.0; self.delay];
        taps.extend(ir.iter().map(|sample| sample * gain));
        Cow::Owned(taps)
    }
}

impl Paths {
    /// No paths yet, between `inputs` and `outputs` channels.
    pub fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            inputs,
            outputs,
            paths: Vec::new(),
        }
    }

    /// Adds a path with `delay` frames of silence before its response.
    ///
    /// # Errors
    ///
    /// A channel is not declared, the response is empty, or a number is not finite.
    ///
    /// Real-time: setup.
    pub fn add(&mut self, path: Path, delay: usize) -> Result<(), PathsError> {
        let (inputs, outputs) = (self.inputs, self.outputs);
        let Path { input, output, .. } = path;
        if input >= inputs {
            return Err(PathsError::Input { input, inputs });
        }
        if output >= outputs {
            return Err(PathsError::Output { output, outputs });
        }
        if path.ir.is_empty() {
            return Err(PathsError::Empty);
        }
        if !path.gain.is_finite() || path.ir.iter().any(|sample| !sample.is_finite()) {
            return Err(PathsError::NotFinite);
        }
        self.paths.push(DelayedPath { path, delay });
        Ok(())
    }

    /// Assigns a response's channels to a sound of `inputs` channels:
    ///
    /// | sound | response | input of each output |
    /// |---|---|---|
    /// | any | 1 channel | its own input through it |
    /// | 1 channel | any | the one input through a channel of its own |
    /// | n | n | its own input through its own channel |
    /// | 2 | 4: true stereo, in the order LL LR RL RR | both inputs, each through its own channel |
    ///
    /// # Errors
    ///
    /// There is no rule for these numbers.
    ///
    /// Real-time: setup.
    pub fn from_ir(ir: &Ir, inputs: usize) -> Result<Self, PathsError> {
        let all = ir.channels();
        let (ends, outputs): (Vec<(usize, usize)>, _) = match (inputs, all.len()) {
            (n, 1) if n > 0 => ((0..n).map(|k| (k, k)).collect(), n),
            (1, n) => ((0..n).map(|k| (0, k)).collect(), n),
            (n, channels) if n == channels => ((0..n).map(|k| (k, k)).collect(), n),
            (2, 4) => (vec![(0, 0), (0, 1), (1, 0), (1, 1)], 2),
            (inputs, channels) => return Err(PathsError::NoRule { inputs, channels }),
        };
        let mut paths = Self::new(inputs, outputs);
        for (k, (input, output)) in ends.into_iter().enumerate() {
            paths.add(Path::new(input, output, all[k % all.len()].clone()), 0)?;
        }
        Ok(paths)
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// All paths, in the order in which they were added.
    pub fn paths(&self) -> &[DelayedPath] {
        &self.paths
    }

    /// Paths for [`Convolver::new`](crate::Convolver::new): delays have become silence in the responses. Paths that share a response
    /// and a delay still share memory.
    ///
    /// Real-time: setup.
    pub fn resolve(&self) -> Vec<Path> {
        let mut later: HashMap<(*const f32, usize), Arc<[f32]>> = HashMap::new();
        let ready = self.paths.iter().map(|DelayedPath { path, delay }| {
            let mut path = path.clone();
            if *delay > 0 {
                let silent = || std::iter::repeat_n(0.0, *delay);
                let make = || silent().chain(path.ir.iter().copied()).collect();
                let ir = later.entry((path.ir.as_ptr(), *delay)).or_insert_with(make);
                path.ir = ir.clone();
            }
            path
        });
        ready.collect()
    }

    /// Frames from an impulse to the end of the longest response; 0 if there is no path.
    pub fn frames(&self) -> usize {
        self.paths
            .iter()
            .map(DelayedPath::frames)
            .max()
            .unwrap_or(0)
    }

    /// Multiplies all gains by `gain` and adds `frames` to all delays.
    ///
    /// # Errors
    ///
    /// A gain is not finite any more.
    #[must_use = "the paths are given back"]
    pub fn with_gain_and_delay(mut self, gain: f32, frames: usize) -> Result<Self, PathsError> {
        for DelayedPath { path, delay } in &mut self.paths {
            path.gain *= gain;
            *delay += frames;
            if !path.gain.is_finite() {
                return Err(PathsError::NotFinite);
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::SampleRate;

    fn ir(channels: usize) -> Ir {
        let channels = (0..channels).map(|n| vec![1.0 + n as f32]);
        Ir::new(channels, SampleRate::new(48_000).unwrap()).unwrap()
    }

    fn ends(inputs: usize, channels: usize) -> Vec<(usize, usize, f32)> {
        let paths = Paths::from_ir(&ir(channels), inputs).unwrap();
        let ends = paths
            .resolve()
            .into_iter()
            .map(|p| (p.input, p.output, p.ir[0]));
        ends.collect()
    }

    #[test]
    fn channels_are_assigned_as_the_table_says() {
        assert_eq!(ends(1, 1), [(0, 0, 1.0)]);
        assert_eq!(ends(3, 1), [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0)]);
        assert_eq!(
            ends(1, 4),
            [(0, 0, 1.0), (0, 1, 2.0), (0, 2, 3.0), (0, 3, 4.0)]
        );
        assert_eq!(ends(2, 2), [(0, 0, 1.0), (1, 1, 2.0)]);
        assert_eq!(
            ends(2, 4),
            [(0, 0, 1.0), (0, 1, 2.0), (1, 0, 3.0), (1, 1, 4.0)]
        );
        assert_eq!(ends(4, 4).len(), 4);
        for (inputs, channels) in [(2, 3), (3, 2), (4, 2), (0, 1), (0, 0)] {
            let refused = if channels == 0 {
                Err(PathsError::NoRule { inputs, channels })
            } else {
                Paths::from_ir(&ir(channels), inputs)
            };
            assert_eq!(
                refused.unwrap_err(),
                PathsError::NoRule { inputs, channels }
            );
        }
    }

    #[test]
    fn one_response_for_many_channels_is_one_piece_of_memory() {
        let paths = Paths::from_ir(&ir(1), 8).unwrap();
        for paths in [paths.clone(), paths.with_gain_and_delay(0.5, 3).unwrap()] {
            let all = paths.resolve();
            assert!(all.iter().all(|path| Arc::ptr_eq(&path.ir, &all[0].ir)));
        }
    }

    #[test]
    fn a_path_between_channels_that_are_not_declared_is_refused() {
        let path = |input, output, gain, ir: &[f32]| Path {
            gain,
            ..Path::new(input, output, ir)
        };
        let mut paths = Paths::new(2, 1);
        let refused = paths.add(path(2, 0, 1.0, &[1.0]), 3).unwrap_err();
        assert_eq!(refused.to_string(), "there is no input 3: 2 are declared");
        let refused = paths.add(path(0, 1, 1.0, &[1.0]), 3).unwrap_err();
        assert_eq!(refused.to_string(), "there is no output 2: 1 are declared");
        assert_eq!(paths.add(path(0, 0, 1.0, &[]), 3), Err(PathsError::Empty));
        for (gain, sample) in [(f32::NAN, 1.0), (1.0, f32::INFINITY)] {
            let refused = paths.add(path(0, 0, gain, &[sample]), 3);
            assert_eq!(refused, Err(PathsError::NotFinite));
        }
        assert_eq!((paths.paths().len(), paths.frames()), (0, 0));
        paths.add(path(1, 0, 0.5, &[1.0, -2.0]), 3).unwrap();
        assert_eq!(paths.frames(), 5);
        assert_eq!(*paths.paths()[0].taps(), [0.0, 0.0, 0.0, 0.5, -1.0]);
    }

    #[test]
    fn gain_and_delay_are_of_the_path_and_leave_the_response_alone() {
        let ir = ir(1);
        let paths = Paths::from_ir(&ir, 2)
            .unwrap()
            .with_gain_and_delay(0.25, 2)
            .unwrap();
        assert!(Arc::ptr_eq(&paths.paths()[1].path.ir, &ir.channels()[0]));
        assert_eq!(*paths.resolve()[1].ir, [0.0, 0.0, 1.0]);
        assert_eq!(*paths.paths()[1].taps(), [0.0, 0.0, 0.25]);
        assert!(
            paths
                .clone()
                .with_gain_and_delay(f32::MAX, 0)
                .unwrap()
                .with_gain_and_delay(f32::MAX, 0)
                .is_err()
        );
    }
}
