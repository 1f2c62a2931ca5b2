//! [`LevelLayout`]: the channels that share a delay line, with its sizes and transforms. It does not change once a convolver is
//! made, so that any thread can prepare other impulse responses by it.

use super::error::ConvolverError;
use super::group::{Group, groups};
use super::options::{ConvolverOptions, Path};
use crate::level::filters::{FilterSet, FilterTransformer, ScaledIr};
use crate::level::lookahead;
use crate::level::spec::{FdlSpec, LevelPath};
use crate::partition::Level;
use crate::response::ir::memory;
use fft::{LANES, Packing, RealFft};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Size up to which a convolver is allocated without checking the free memory, in bytes.
const UNCHECKED_BYTES: u64 = 1 << 26;

/// Smallest number of straight channels that are processed side by side; fewer are processed one by one.
const MIN_BATCH: usize = 6;

/// Level, channels and sizes of one delay line.
pub(crate) struct FdlPlan {
    pub(crate) level: usize,
    pub(crate) group: usize,
    pub(crate) spec: FdlSpec,
    /// Frames by which its periods end later than those of phase 0 do.
    pub(crate) phase: usize,
}

/// Channels, groups and delay lines of a convolver, with their sizes and transforms.
pub(crate) struct LevelLayout {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) options: ConvolverOptions,
    /// Input and output of each path.
    pub(crate) paths: Vec<(usize, usize)>,
    pub(crate) groups: Vec<Group>,
    /// The delay lines, level by level, and group by group within a level.
    pub(crate) fdls: Vec<FdlPlan>,
}

impl LevelLayout {
    pub(crate) fn new(
        inputs: usize,
        outputs: usize,
        paths: &[Path],
        options: &ConvolverOptions,
    ) -> Result<Self, ConvolverError> {
        if paths.is_empty() {
            return Err(ConvolverError::NoPaths);
        }
        for (number, path) in paths.iter().enumerate() {
            check_channel(number, path.input, inputs, true)?;
            check_channel(number, path.output, outputs, false)?;
        }
        let ends: Vec<_> = paths.iter().map(|p| (p.input, p.output)).collect();
        let mut layout = Self {
            inputs,
            outputs,
            options: options.clone(),
            groups: groups(&ends),
            paths: ends,
            fdls: Vec::new(),
        };
        layout.fdls = layout.plan_fdls()?;
        layout.check_memory(paths)?;
        Ok(layout)
    }

    /// Refuses a convolver for which there is not enough memory, before any is allocated.
    fn check_memory(&self, paths: &[Path]) -> Result<(), ConvolverError> {
        let bytes = self.bytes(paths);
        match memory::free().filter(|_| bytes > UNCHECKED_BYTES) {
            Some(free) if bytes > free => Err(ConvolverError::Memory { bytes, free }),
            _ => Ok(()),
        }
    }

    /// Bytes of all delay lines: sound, input spectra, and filter spectra, each once.
    fn bytes(&self, paths: &[Path]) -> u64 {
        let mut seen = HashSet::new();
        let mut floats = 0_u64;
        for plan in &self.fdls {
            let (spec, group) = (&plan.spec, &self.groups[plan.group]);
            let level = &self.options.partition.levels()[plan.level];
            let (_, inputs, outputs) = self.connections(plan);
            let sound = 3 * inputs * spec.input_stride() + 3 * outputs * spec.period_len();
            let ahead = outputs * (spec.lookahead_periods - 1) * spec.period_len();
            let history = inputs * spec.count * spec.spectrum_len();
            floats += (sound + ahead + history) as u64;
            let partitions = |path: &Path| {
                let rest = path.ir.len().saturating_sub(level.start());
                rest.div_ceil(spec.size).min(spec.count)
            };
            let all = group.paths.iter().map(|&(_, _, path)| &paths[path]);
            let spectra: usize = match spec.packing {
                Packing::Batch => all.map(partitions).max().unwrap_or(0),
                Packing::Mono => all
                    .filter(|path| seen.insert((spec.size, path.ir.as_ptr(), path.gain.to_bits())))
                    .map(partitions)
                    .sum(),
            };
            floats += (spectra * spec.spectrum_len()) as u64 >> u64::from(spec.is_half);
        }
        4 * floats
    }

    /// One delay line for each level and group.
    fn plan_fdls(&self) -> Result<Vec<FdlPlan>, ConvolverError> {
        let mut ffts: HashMap<(usize, bool), Arc<RealFft>> = HashMap::new();
        let mut fdls = Vec::new();
        for (index, level) in self.options.partition.levels().iter().enumerate() {
            for (number, group) in self.groups.iter().enumerate() {
                let is_batch = self.is_batch(level, group);
                let fft = match ffts.get(&(level.size(), is_batch)) {
                    Some(fft) => fft.clone(),
                    None => {
                        let packing = if is_batch {
                            Packing::Batch
                        } else {
                            Packing::Mono
                        };
                        let kernels = self.options.kernels;
                        let fft = RealFft::new(level.size(), packing, kernels)?;
                        let fft = Arc::new(fft);
                        ffts.insert((level.size(), is_batch), fft.clone());
                        fft
                    }
                };
                fdls.push(FdlPlan {
                    level: index,
                    group: number,
                    spec: self.spec(level, fft),
                    phase: self.phase(level, index, number),
                });
            }
        }
        Ok(fdls)
    }

    /// Returns true if a level processes a group's channels side by side.
    fn is_batch(&self, level: &Level, group: &Group) -> bool {
        level.size() <= self.options.max_batch_size
            && group.is_straight
            && group.outputs.len() >= MIN_BATCH
    }

    fn spec(&self, level: &Level, fft: Arc<RealFft>) -> FdlSpec {
        let options = &self.options;
        let packing = fft.packing();
        FdlSpec {
            size: level.size(),
            count: level.count(),
            block: options.partition.block(),
            width: packing.channels(),
            fade_frames: options.fade_frames.max(1),
            max_piece_cost: options.max_piece_cost.max(1),
            lookahead_periods: self.lookahead_periods(level, fft.buffer_len()),
            is_half: options
                .half_precision_from
                .is_some_and(|from| level.size() >= from),
            fft,
            kernels: options.kernels,
            packing,
        }
    }

    /// Number of periods for which a level sums at once; a spectrum has `len` floats.
    fn lookahead_periods(&self, level: &Level, len: usize) -> usize {
        let rows = |group: &Group| group.paths.len() + group.inputs.len();
        let rows: usize = self.groups.iter().map(rows).sum();
        let level = (level.size(), level.count());
        lookahead::choose_periods(rows, level, len, self.options.cached_floats)
    }

    /// Phase of a delay line, if phases are staggered: one group, and one level, ends its period after the other. Levels
    /// without slack have phase 0.
    fn phase(&self, level: &Level, index: usize, group: usize) -> usize {
        let block = self.options.partition.block();
        let blocks = level.size() / block;
        if !self.options.stagger || level.is_in_callback() || blocks < 2 {
            return 0;
        }
        (group * blocks / self.groups.len() + index) % blocks * block
    }

    /// Refuses responses that the convolver cannot have.
    pub(crate) fn check_irs(&self, irs: &[ScaledIr]) -> Result<(), ConvolverError> {
        if irs.len() != self.paths.len() {
            return Err(ConvolverError::PathCount {
                given: irs.len(),
                paths: self.paths.len(),
            });
        }
        let max_frames = self.options.partition.max_ir_frames();
        let mut irs = irs.iter().enumerate();
        irs.try_for_each(|(path, ir)| check_ir(path, ir, max_frames))
    }

    /// Transforms the filters of a delay line.
    pub(crate) fn filters(
        &self,
        plan: &FdlPlan,
        transformer: &mut FilterTransformer<'_>,
    ) -> FilterSet {
        let level = &self.options.partition.levels()[plan.level];
        let group = &self.groups[plan.group];
        let scale = 1.0 / transformer.scale(&plan.spec, level);
        if plan.spec.packing == Packing::Batch {
            let mut lanes = [None; LANES];
            for &(input, _, path) in &group.paths {
                lanes[input] = Some(path);
            }
            let spectra = transformer.sixteen(&plan.spec, level, &lanes);
            return FilterSet::new([spectra].into(), scale);
        }
        let paths = group.paths.iter();
        let spectra = paths.map(|&(_, _, path)| transformer.one(&plan.spec, level, path));
        FilterSet::new(spectra.collect(), scale)
    }

    /// Connections of a delay line, and its number of inputs and of outputs. Sixteen channels side by side are one input and
    /// one output.
    pub(crate) fn connections(&self, plan: &FdlPlan) -> (Vec<LevelPath>, usize, usize) {
        if plan.spec.packing == Packing::Batch {
            let straight = LevelPath {
                input: 0,
                output: 0,
            };
            return (vec![straight], 1, 1);
        }
        let group = &self.groups[plan.group];
        let paths = group.paths.iter();
        let connections = paths.map(|&(input, output, _)| LevelPath { input, output });
        (
            connections.collect(),
            group.inputs.len(),
            group.outputs.len(),
        )
    }
}

fn check_channel(
    path: usize,
    channel: usize,
    channels: usize,
    is_input: bool,
) -> Result<(), ConvolverError> {
    if channel < channels {
        return Ok(());
    }
    Err(ConvolverError::NoChannel {
        path,
        channel,
        channels,
        is_input,
    })
}

fn check_ir(path: usize, ir: &ScaledIr, max_frames: usize) -> Result<(), ConvolverError> {
    let frames = ir.frames.len();
    if frames == 0 {
        return Err(ConvolverError::Empty { path });
    }
    if frames > max_frames {
        return Err(ConvolverError::TooLong {
            path,
            frames,
            max_frames,
        });
    }
    if !ir.gain.is_finite() {
        return Err(ConvolverError::NotFinite { path, frame: None });
    }
    // A transform adds up the whole response: the sum must be finite too.
    let mut sum = 0.0;
    let is_too_much = |x: &f32| {
        sum += f64::from(x * ir.gain).abs();
        sum.is_nan() || sum > f64::from(f32::MAX)
    };
    match ir.frames.iter().position(is_too_much) {
        None => Ok(()),
        frame => Err(ConvolverError::NotFinite { path, frame }),
    }
}
