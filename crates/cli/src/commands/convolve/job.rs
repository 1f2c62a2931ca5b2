//! Convolution from file to file, one block at a time.

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::messages;
use crate::output::progress::ProgressLine;
use divisi::conv::{Convolver, LevelScheduler};
use divisi::media::{Reader, Writer};
use divisi::workers::AudioThread;
use std::path::Path;

/// One convolution job.
pub(super) struct ConvolveJob {
    /// The input sound.
    pub(super) input: Reader,
    /// Frames of the tail after the end of the input.
    pub(super) tail: u64,
    /// The convolver and its partition.
    pub(super) convolver: Convolver,
    /// Scheduler of the long levels.
    pub(super) scheduler: Box<dyn LevelScheduler>,
    /// The output file.
    pub(super) writer: Writer,
    /// The progress line.
    pub(super) progress: ProgressLine,
    /// Set when the user interrupts.
    pub(super) interrupt: Interrupt,
}

/// Result of the job.
pub(super) struct ConvolveResult {
    /// Frames written.
    pub(super) frames: u64,
    /// Level outputs that were late, and silent instead.
    pub(super) late: u64,
    /// Largest magnitude of any sample.
    pub(super) peak: f32,
    /// Damage of the input; what it lacks is silent.
    pub(super) damage: Option<String>,
}

impl ConvolveResult {
    /// Prints the result.
    pub(super) fn print(&self, output: &Path) {
        let name = output.display();
        let advice = "; players without float samples clip it: use a smaller --gain";
        messages::print_peak(&name.to_string(), self.peak, advice);
        if let Some(damage) = &self.damage {
            messages::print_note(&format!("the sound is damaged: {damage}"));
        }
        messages::print_message(&format!("{name}: {} frames", self.frames));
    }
}

impl ConvolveJob {
    /// Convolves until the end, an interrupt, a read error or a write error. After a write error there is no new file.
    pub(super) fn run(mut self) -> Result<ConvolveResult, Failure> {
        let done = self.convolve();
        self.progress.clear();
        let path = self.writer.path().display().to_string();
        let written = self.writer.frames();
        // A failure before the first frame leaves an earlier file as it was.
        let is_kept = done.is_ok() || written > 0;
        let finished = is_kept.then(|| self.writer.finish()).transpose();
        match done {
            Err(failure) => Err(failure.with_note(&match finished {
                Ok(Some(_)) => format!("{path} holds the first {written} frames"),
                _ => format!("{path} is not written"),
            })),
            Ok(done) => {
                let kept = finished.map_err(Failure::from_error)?.flatten();
                messages::print_kept(Path::new(&path), kept.as_deref());
                Ok(done)
            }
        }
    }

    fn convolve(&mut self) -> Result<ConvolveResult, Failure> {
        let _audio_thread = AudioThread::enter();
        let block = self.convolver.block();
        let (inputs, outputs) = (self.convolver.inputs(), self.convolver.outputs());
        let mut input = vec![vec![0.0; block]; inputs];
        let mut output = vec![vec![0.0; block]; outputs];
        let mut skipped = self.convolver.latency() as u64;
        let mut left = None;
        let mut peak = 0.0_f32;
        while left != Some(0) {
            if self.interrupt.is_requested() {
                return Err(Failure::failed("interrupted"));
            }
            if left.is_some() {
                input.iter_mut().for_each(|channel| channel.fill(0.0));
            } else if self.read_input(&mut input)? < block {
                left = Some(self.input.position() + self.tail - self.writer.frames());
            }
            let from: Vec<&[f32]> = input.iter().map(Vec::as_slice).collect();
            let mut to: Vec<&mut [f32]> = output.iter_mut().map(Vec::as_mut_slice).collect();
            self.convolver
                .process(&from, &mut to, self.scheduler.as_mut());
            let skip = skipped.min(block as u64);
            skipped -= skip;
            let end = left.map_or(block as u64, |left| (skip + left).min(block as u64));
            let kept: Vec<&[f32]> = output
                .iter()
                .map(|c| &c[skip as usize..end as usize])
                .collect();
            peak = self.write_output(&kept, peak)?;
            left = left.map(|left| left - (end - skip));
            self.progress.show(self.writer.frames());
        }
        let late = self.convolver.late_count();
        if late > 0 {
            let message = format!("{late} results came too late and are silent in the file");
            return Err(Failure::failed(message));
        }
        let frames = self.writer.frames();
        let damage = self.input.damage().map(str::to_owned);
        Ok(ConvolveResult {
            frames,
            late,
            peak,
            damage,
        })
    }

    /// Reads the next block of the input, silence after its end. Returns the number of frames read.
    fn read_input(&mut self, input: &mut [Vec<f32>]) -> Result<usize, Failure> {
        let begin = self.input.position();
        let mut planes: Vec<&mut [f32]> = input.iter_mut().map(Vec::as_mut_slice).collect();
        let got = self.input.read(&mut planes);
        let got = got.map_err(Failure::from_error)?;
        for (channel, samples) in input.iter_mut().enumerate() {
            samples[got..].fill(0.0);
            if let Some(at) = samples.iter().position(|sample| !sample.is_finite()) {
                let (name, value) = (self.input.path().display(), samples[at]);
                let (channel, frame) = (channel + 1, begin + at as u64);
                let message = format!(
                    "{name} has an invalid sample ({value}) in channel {channel} at frame {frame}"
                );
                return Err(Failure::bad_input(message));
            }
        }
        Ok(got)
    }

    /// Writes one output block. Returns the peak so far.
    fn write_output(&mut self, output: &[&[f32]], peak: f32) -> Result<f32, Failure> {
        let samples = output.iter().flat_map(|channel| channel.iter());
        let loudest = samples.fold(0.0, |max: f32, sample| match sample.is_finite() {
            true => max.max(sample.abs()),
            false => f32::INFINITY,
        });
        if loudest == f32::INFINITY {
            let message = "the result exceeds the range of 32-bit float: use a smaller --gain";
            return Err(Failure::bad_input(message));
        }
        let written = self.writer.write(output);
        written.map_err(Failure::from_error)?;
        Ok(peak.max(loudest))
    }
}
