//! How a convolver is laid out: which channels together, which levels how many at a time, with which transforms. What a
//! convolver is made by, and what any thread prepares its impulse responses by.

use crate::ahead;
use crate::exchange::Exchange;
use crate::group::{Group, groups};
use crate::head::HeadSet;
use crate::ir::memory;
use crate::ir_set::{IrSet, Press, Scaled};
use crate::nested;
use crate::partition::{Level, Partition};
use crate::shape::{Shape, Wire};
use fft::{Backend, Kernels, LANES, Larger, Packing, RealFft, SizeError, Smaller};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// So many bytes are asked for without looking whether they are there.
const SURE: u64 = 1 << 26;

/// How many straight channels make a batch worth its while; fewer go one by one.
const FEW: usize = 6;

/// Levels up to this size usually do sixteen straight channels at a time.
pub(crate) const SIDE_BY_SIDE: usize = 16384;
/// Up to so many floats usually stay near the processor: what no other level is likely to push out of a second-level cache.
pub(crate) const NEAR: usize = 1 << 16;

/// One way from an input to an output.
#[derive(Clone, Debug)]
pub struct Path {
    /// The input, counted from 0.
    pub input: usize,
    /// The output, counted from 0.
    pub output: usize,
    /// The impulse response. Paths that share one share its memory.
    pub ir: Arc<[f32]>,
    /// What it is multiplied by.
    pub gain: f32,
}

impl Path {
    /// A way through `ir` as it is.
    pub fn new(input: usize, output: usize, ir: impl Into<Arc<[f32]>>) -> Self {
        Self {
            input,
            output,
            ir: ir.into(),
            gain: 1.0,
        }
    }
}

/// How a convolver is to be.
#[derive(Clone, Debug)]
pub struct Options {
    /// How impulse responses are cut.
    pub partition: Partition,
    /// Which instructions.
    pub kernels: Kernels,
    /// Who transforms.
    pub backend: Backend,
    /// Levels up to this size do sixteen straight channels at a time.
    pub batch: usize,
    /// How many frames an exchange of impulse responses takes.
    pub fade: usize,
    /// Whether periods of groups and levels end at different times, as far as they can.
    pub stagger: bool,
    /// How many instructions (with vectors of eight) a piece of a level's work has at most, roughly and where it can be.
    /// Less where the callback does some pieces each time, and loads shall be even.
    pub piece: u32,
    /// Up to so many floats, the spectra of a level (of all its impulse responses and inputs) stay near the processor. Of
    /// larger levels products are summed up for several periods at once, so that less is read; the sums round otherwise.
    pub near: usize,
    /// Levels from this size on keep the spectra of impulse responses, not of inputs, in half precision: a quarter less to
    /// keep and to read. What such a level gives is then within -70 dB of what it should be.
    pub half: Option<usize>,
    /// Whether levels of three partitions and more make their products three periods at a time, by Hurchalla's nested
    /// convolution: a third fewer, from twice the spectra. Not those in half precision, nor those that sum up for periods to
    /// come.
    pub nested: bool,
    /// Whether levels of two or four times the size of the one before make their transforms from that one's, as Gardner
    /// says. Not where periods end at different times ([`Self::stagger`]), nor levels of sixteen channels at a time from
    /// such as are not.
    pub larger_from_smaller: bool,
}

impl Options {
    /// The usual ones, for this partition.
    ///
    /// Real-time: setup.
    pub fn new(partition: Partition) -> Self {
        Self {
            partition,
            kernels: Kernels::best(),
            backend: Backend::Own,
            batch: SIDE_BY_SIDE,
            fade: 1024,
            stagger: false,
            piece: 16384,
            near: NEAR,
            half: None,
            nested: false,
            larger_from_smaller: false,
        }
    }
}

/// Why there is no such convolver.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConvolverError {
    /// There are no paths.
    NoPaths,
    /// A path comes from an input, or goes to an output, that is not there.
    NoChannel {
        /// The path, counted from 0.
        path: usize,
        /// The channel it names.
        channel: usize,
        /// How many there are.
        channels: usize,
        /// Whether it is an input.
        is_input: bool,
    },
    /// A path's impulse response is empty.
    Empty {
        /// The path, counted from 0.
        path: usize,
    },
    /// A path's impulse response is not finite everywhere, or its gain is not, or with its gain it is louder than any
    /// number.
    NotFinite {
        /// The path, counted from 0.
        path: usize,
        /// The frame; nothing where it is the gain.
        frame: Option<usize>,
    },
    /// A path's impulse response is longer than the partition: take one that reaches further.
    TooLong {
        /// The path, counted from 0.
        path: usize,
        /// Its frames.
        frames: usize,
        /// What the partition covers.
        reach: usize,
    },
    /// It takes more memory than the machine has left: shorter responses, fewer channels or a partition that reaches no
    /// further than it must.
    Memory {
        /// Bytes that it takes.
        bytes: u64,
        /// Bytes that are left.
        free: u64,
    },
    /// An exchange has other paths than the convolver.
    OtherPaths {
        /// How many were given.
        given: usize,
        /// How many there are.
        paths: usize,
    },
    /// There is no transform of a level's size.
    Size(SizeError),
}

impl fmt::Display for ConvolverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPaths => write!(f, "there are no paths"),
            Self::NoChannel {
                path,
                channel,
                channels,
                is_input,
            } => {
                let end = if *is_input { "input" } else { "output" };
                write!(
                    f,
                    "path {path} names {end} {channel}; there are {channels}, counted from 0"
                )
            }
            Self::Empty { path } => write!(f, "the impulse response of path {path} is empty"),
            Self::NotFinite {
                path,
                frame: Some(frame),
            } => write!(
                f,
                "the impulse response of path {path} is not finite at frame {frame}"
            ),
            Self::NotFinite { path, frame: None } => {
                write!(f, "the gain of path {path} is not finite")
            }
            Self::TooLong {
                path,
                frames,
                reach,
            } => write!(
                f,
                "the impulse response of path {path} has {frames} frames; the partition covers {reach}"
            ),
            Self::Memory { bytes, free } => {
                let (bytes, free) = (bytes >> 20, free >> 20);
                write!(
                    f,
                    "the convolver takes {bytes} MiB, and {free} MiB are free"
                )
            }
            Self::OtherPaths { given, paths } => {
                write!(f, "{given} impulse responses for {paths} paths")
            }
            Self::Size(_) => write!(f, "there is no transform of a level's size"),
        }
    }
}

impl std::error::Error for ConvolverError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Size(error) => Some(error),
            _ => None,
        }
    }
}

impl From<SizeError> for ConvolverError {
    fn from(error: SizeError) -> Self {
        Self::Size(error)
    }
}

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
    pub(crate) options: Options,
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
        options: &Options,
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
        let is_first = |place: &Place| place.shape.gives && levels[place.level].is_urgent();
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
            let handed = larger.map_or(0, |larger| larger.scratch() + 5 * inputs * larger.given());
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
                        let Options {
                            kernels, backend, ..
                        } = self.options;
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
        level.size() <= self.options.batch && group.is_straight && group.outputs.len() >= FEW
    }

    fn shape(&self, level: &Level, fft: Arc<RealFft>) -> Shape {
        let packing = fft.packing();
        let ahead = self.ahead(level, fft.floats());
        let is_half = self.options.half.is_some_and(|from| level.size() >= from);
        let may_nest = ahead == 1 && !is_half && level.count() >= nested::ROUND;
        Shape {
            size: level.size(),
            count: level.count(),
            block: self.options.partition.block(),
            width: packing.channels(),
            fade: self.options.fade.max(1),
            piece: self.options.piece.max(1),
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
        ahead::chosen(spectra, level, floats, self.options.near)
    }

    /// Urgent levels must not share a callback more than they have to; others end their periods one group, and one
    /// level, after the other.
    fn phase(&self, level: &Level, index: usize, group: usize) -> usize {
        let block = self.options.partition.block();
        let blocks = level.size() / block;
        if !self.options.stagger || level.is_urgent() || blocks < 2 {
            return 0;
        }
        let lines = self.groups.len();
        (group * blocks / lines + index) % blocks * block
    }

    /// Transforms an impulse response for each path.
    pub(crate) fn press(self: &Arc<Self>, irs: &[Scaled]) -> Result<Box<Exchange>, ConvolverError> {
        if irs.len() != self.paths.len() {
            return Err(ConvolverError::OtherPaths {
                given: irs.len(),
                paths: self.paths.len(),
            });
        }
        let reach = self.options.partition.reach();
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
fn hand_on(places: &mut [Place], options: &Options) -> Result<(), SizeError> {
    let mut made: HashMap<(usize, bool), Arc<Larger>> = HashMap::new();
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
        let is_large = before.shape.size >= Larger::smallest(shape.packing);
        if !is_alike || !is_large || !RATIOS.contains(&ratio) {
            continue;
        }
        let name = (shape.size, shape.packing == Packing::Batch);
        let larger = match made.get(&name) {
            Some(larger) => larger.clone(),
            None => {
                let whole = || Smaller::Whole(before.shape.fft.clone());
                let smaller = before
                    .shape
                    .larger
                    .clone()
                    .map_or_else(whole, Smaller::Larger);
                let larger = Arc::new(Larger::new(smaller, ratio, options.kernels)?);
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
