//! How a convolver is laid out: which channels together, which levels how many at a time, with which transforms. What a
//! convolver is made by, and what any thread prepares its impulse responses by.

mod error;
mod options;

pub use error::ConvolverError;
pub use options::{ConvolverOptions, Path};
pub(crate) use options::{NEAR, SIDE_BY_SIDE};

use crate::ahead;
use crate::exchange::Exchange;
use crate::group::{Group, groups};
use crate::head::HeadSet;
use crate::ir::memory;
use crate::ir_set::{IrSet, Press, Scaled};
use crate::nested;
use crate::partition::Level;
use crate::shape::{Shape, Wire};
use fft::{ComposedFft, LANES, Packing, RealFft, SizeError, SmallerFft};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// So many bytes are asked for without looking whether they are there.
const SURE: u64 = 1 << 26;

/// How many straight channels make a batch worth its while; fewer go one by one.
const FEW: usize = 6;

/// Where one line of work stands.
pub(crate) struct Place {
    pub(crate) level: usize,
    pub(crate) group: usize,
    pub(crate) shape: Shape,
    pub(crate) phase: usize,
    /// The place that spectra come from, among all.
    pub(crate) takes_from: Option<usize>,
}

/// See the module.
pub(crate) struct Recipe {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) options: ConvolverOptions,
    pub(crate) paths: Vec<(usize, usize)>,
    pub(crate) groups: Vec<Group>,
    /// Level by level, group by group.
    pub(crate) places: Vec<Place>,
    /// Whether a level that must run in the callback hands spectra on: then it comes before those that take them.
    pub(crate) is_urgent_first: bool,
}

impl Recipe {
    pub(crate) fn new(
        inputs: usize,
        outputs: usize,
        paths: &[Path],
        options: &ConvolverOptions,
    ) -> Result<Self, ConvolverError> {
        if paths.is_empty() {
            return Err(ConvolverError::NoPaths);
        }
        for (path, ends) in paths.iter().enumerate() {
            check_end(path, ends.input, inputs, true)?;
            check_end(path, ends.output, outputs, false)?;
        }
        let ends: Vec<_> = paths.iter().map(|p| (p.input, p.output)).collect();
        let mut recipe = Self {
            inputs,
            outputs,
            options: options.clone(),
            groups: groups(&ends),
            paths: ends,
            places: Vec::new(),
            is_urgent_first: false,
        };
        recipe.places = recipe.lay_out()?;
        if options.larger_from_smaller {
            hand_on(&mut recipe.places, options)?;
        }
        let levels = options.partition.levels();
        let is_first = |place: &Place| place.shape.gives && levels[place.level].is_in_callback();
        recipe.is_urgent_first = recipe.places.iter().any(is_first);
        recipe.check_memory(paths)?;
        Ok(recipe)
    }

    /// Refuses what no memory holds, before any of it is taken.
    fn check_memory(&self, paths: &[Path]) -> Result<(), ConvolverError> {
        let bytes = self.bytes(paths);
        match memory::free().filter(|_| bytes > SURE) {
            Some(free) if bytes > free => Err(ConvolverError::Memory { bytes, free }),
            _ => Ok(()),
        }
    }

    /// What the lines take: sound, spectra of inputs, and spectra of responses, each once.
    fn bytes(&self, paths: &[Path]) -> u64 {
        let mut seen = HashSet::new();
        let mut floats = 0_u64;
        for place in &self.places {
            let (shape, group) = (&place.shape, &self.groups[place.group]);
            let level = &self.options.partition.levels()[place.level];
            let (_, inputs, outputs) = self.wires(place);
            let sound = 3 * inputs * shape.stride() + 3 * outputs * shape.half();
            let waiting = match shape.is_nested {
                true => outputs * nested::ROUND * shape.floats(),
                false => outputs * (shape.ahead - 1) * shape.half(),
            };
            let rows = if shape.is_nested { 2 } else { 1 };
            let larger = shape.larger.as_ref();
            let handed = larger.map_or(0, |larger| {
                larger.scratch_len() + 5 * inputs * larger.sum_len()
            });
            floats +=
                (sound + waiting + handed + rows * inputs * shape.count * shape.floats()) as u64;
            let partitions = |path: &Path| {
                let rest = path.ir.len().saturating_sub(level.start());
                rest.div_ceil(shape.size).min(shape.count)
            };
            let all = group.wires.iter().map(|&(_, _, path)| &paths[path]);
            let spectra: usize = match shape.packing {
                Packing::Batch => all.map(partitions).max().unwrap_or(0),
                Packing::Mono => all
                    .filter(|path| seen.insert((shape.size, path.ir.as_ptr(), path.gain.to_bits())))
                    .map(partitions)
                    .sum(),
            };
            let halved = u64::from(shape.is_half);
            floats += (rows * spectra * shape.floats()) as u64 >> halved;
        }
        4 * floats
    }

    fn lay_out(&self) -> Result<Vec<Place>, ConvolverError> {
        let mut plans: HashMap<(usize, bool), Arc<RealFft>> = HashMap::new();
        let mut places = Vec::new();
        for (index, level) in self.options.partition.levels().iter().enumerate() {
            for (number, group) in self.groups.iter().enumerate() {
                let is_batch = self.is_batch(level, group);
                let fft = match plans.get(&(level.size(), is_batch)) {
                    Some(fft) => fft.clone(),
                    None => {
                        let packing = if is_batch {
                            Packing::Batch
                        } else {
                            Packing::Mono
                        };
                        let ConvolverOptions {
                            kernels, backends, ..
                        } = self.options;
                        let backend = backends.of(packing, level.size());
                        let fft = Arc::new(RealFft::new(level.size(), packing, kernels, backend)?);
                        plans.insert((level.size(), is_batch), fft.clone());
                        fft
                    }
                };
                places.push(Place {
                    level: index,
                    group: number,
                    shape: self.shape(level, fft),
                    phase: self.phase(level, index, number),
                    takes_from: None,
                });
            }
        }
        Ok(places)
    }

    fn is_batch(&self, level: &Level, group: &Group) -> bool {
        level.size() <= self.options.max_batch_size
            && group.is_straight
            && group.outputs.len() >= FEW
    }

    fn shape(&self, level: &Level, fft: Arc<RealFft>) -> Shape {
        let packing = fft.packing();
        let ahead = self.ahead(level, fft.buffer_len());
        let is_half = self
            .options
            .half_precision_from
            .is_some_and(|from| level.size() >= from);
        let may_nest = ahead == 1 && !is_half && level.count() >= nested::ROUND;
        Shape {
            size: level.size(),
            count: level.count(),
            block: self.options.partition.block(),
            width: packing.channels(),
            fade: self.options.fade_frames.max(1),
            piece: self.options.max_piece_cost.max(1),
            ahead,
            is_nested: self.options.nested && may_nest,
            is_half,
            larger: None,
            gives: false,
            fft,
            kernels: self.options.kernels,
            packing,
        }
    }

    /// For how many periods a level sums up at once; a spectrum has `floats` floats.
    fn ahead(&self, level: &Level, floats: usize) -> usize {
        let spectra = |group: &Group| group.wires.len() + group.inputs.len();
        let spectra: usize = self.groups.iter().map(spectra).sum();
        let level = (level.size(), level.count());
        ahead::chosen(spectra, level, floats, self.options.cached_floats)
    }

    /// Urgent levels must not share a callback more than they have to; others end their periods one group, and one
    /// level, after the other.
    fn phase(&self, level: &Level, index: usize, group: usize) -> usize {
        let block = self.options.partition.block();
        let blocks = level.size() / block;
        if !self.options.stagger || level.is_in_callback() || blocks < 2 {
            return 0;
        }
        let lines = self.groups.len();
        (group * blocks / lines + index) % blocks * block
    }

    /// Transforms an impulse response for each path.
    pub(crate) fn press(self: &Arc<Self>, irs: &[Scaled]) -> Result<Box<Exchange>, ConvolverError> {
        if irs.len() != self.paths.len() {
            return Err(ConvolverError::PathCount {
                given: irs.len(),
                paths: self.paths.len(),
            });
        }
        let reach = self.options.partition.max_ir_frames();
        for (path, ir) in irs.iter().enumerate() {
            check_ir(path, ir, reach)?;
        }
        let mut press = Press::new(irs);
        let set = |place: &Place| Some(self.set(place, &mut press));
        let sets = self.places.iter().map(set).collect();
        let head = HeadSet::new(self.options.partition.head(), irs);
        Ok(Box::new(Exchange::new(self.clone(), Some(head), sets)))
    }

    fn set(&self, place: &Place, press: &mut Press<'_>) -> IrSet {
        let level = &self.options.partition.levels()[place.level];
        let group = &self.groups[place.group];
        let scale = 1.0 / press.scale(&place.shape, level);
        if place.shape.packing == Packing::Batch {
            let mut lanes = [None; LANES];
            for &(input, _, path) in &group.wires {
                lanes[input] = Some(path);
            }
            let spectra = press.batch(&place.shape, level, &lanes);
            return IrSet::new([spectra].into(), scale);
        }
        let wires = group.wires.iter();
        let spectra = wires.map(|&(_, _, path)| press.mono(&place.shape, level, path));
        IrSet::new(spectra.collect(), scale)
    }

    /// The wires of a line, and how many inputs and outputs it has: a batch is one of each.
    pub(crate) fn wires(&self, place: &Place) -> (Vec<Wire>, usize, usize) {
        if place.shape.packing == Packing::Batch {
            return (
                vec![Wire {
                    input: 0,
                    output: 0,
                }],
                1,
                1,
            );
        }
        let group = &self.groups[place.group];
        let wire = |&(input, output, _): &(usize, usize, usize)| Wire { input, output };
        let wires = group.wires.iter().map(wire).collect();
        (wires, group.inputs.len(), group.outputs.len())
    }
}

/// Ratios at which a level takes from the one before.
const RATIOS: [usize; 2] = [2, 4];

/// Lets levels take from those before, group by group, where they can.
fn hand_on(places: &mut [Place], options: &ConvolverOptions) -> Result<(), SizeError> {
    // What it is made of belongs to its name: other transforms of the same sound have other bits.
    let mut made: HashMap<(usize, bool, Option<*const ComposedFft>), Arc<ComposedFft>> =
        HashMap::new();
    for index in 0..places.len() {
        let place = &places[index];
        let is_before =
            |before: &Place| before.group == place.group && before.level + 1 == place.level;
        let Some(from) = places[..index].iter().position(is_before) else {
            continue;
        };
        let (before, shape) = (&places[from], &place.shape);
        let ratio = shape.size / before.shape.size;
        let is_alike = before.shape.packing == shape.packing && before.phase == place.phase;
        let is_large = before.shape.size >= ComposedFft::min_bins(shape.packing);
        if !is_alike || !is_large || !RATIOS.contains(&ratio) {
            continue;
        }
        let of = before.shape.larger.as_ref().map(Arc::as_ptr);
        let name = (shape.size, shape.packing == Packing::Batch, of);
        let larger = match made.get(&name) {
            Some(larger) => larger.clone(),
            None => {
                let whole = || SmallerFft::Direct(before.shape.fft.clone());
                let smaller = before
                    .shape
                    .larger
                    .clone()
                    .map_or_else(whole, SmallerFft::Composed);
                let larger = Arc::new(ComposedFft::new(smaller, ratio, options.kernels)?);
                made.insert(name, larger.clone());
                larger
            }
        };
        places[from].shape.gives = true;
        places[index].shape.larger = Some(larger);
        places[index].takes_from = Some(from);
    }
    Ok(())
}

fn check_end(
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

fn check_ir(path: usize, ir: &Scaled, reach: usize) -> Result<(), ConvolverError> {
    let frames = ir.frames.len();
    if frames == 0 {
        return Err(ConvolverError::Empty { path });
    }
    if frames > reach {
        return Err(ConvolverError::TooLong {
            path,
            frames,
            reach,
        });
    }
    if !ir.gain.is_finite() {
        return Err(ConvolverError::NotFinite { path, frame: None });
    }
    // A transform adds all of it: the sum must be a number too.
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
