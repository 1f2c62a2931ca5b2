//! Responses between pairs of channels: sums, and copies of other pairs.

use crate::response::ir::{IrLimit, IrReason, Paths};
use graph::{Diagnostic, SourceSpan};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Responses of each pair of an input and an output.
#[derive(Default)]
pub(super) struct Pairs(BTreeMap<(usize, usize), Between>);

/// Responses between an input and an output.
enum Between {
    Sum(Vec<Part>),
    Copy {
        of: (usize, usize),
        place: SourceSpan,
    },
}

/// A response with gain and delay.
pub(super) struct Part {
    pub(super) ir: Arc<[f32]>,
    pub(super) gain: f32,
    pub(super) delay: usize,
}

impl Pairs {
    /// Returns true if no pair has a response.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a response. If the pair is a copy, the error is the place of the copy.
    pub(super) fn add(&mut self, pair: (usize, usize), part: Part) -> Result<(), SourceSpan> {
        let sum = || Between::Sum(Vec::new());
        match self.0.entry(pair).or_insert_with(sum) {
            Between::Sum(parts) => parts.push(part),
            Between::Copy { place, .. } => return Err(*place),
        }
        Ok(())
    }

    /// Makes `pair` a copy; the error says why it cannot be one.
    pub(super) fn copy(
        &mut self,
        pair: (usize, usize),
        of: (usize, usize),
        place: SourceSpan,
    ) -> Result<(), String> {
        let (input, output) = (of.0 + 1, of.1 + 1);
        if pair == of {
            return Err("a pair cannot be a copy of itself".into());
        }
        if self.0.contains_key(&pair) {
            return Err(
                "there is something between this pair already: a copy would replace it".into(),
            );
        }
        if !self.0.contains_key(&of) {
            return Err(format!(
                "there is nothing yet between input {input} and output {output} to copy"
            ));
        }
        self.0.insert(pair, Between::Copy { of, place });
        Ok(())
    }

    /// All responses as paths between the channels that were declared at `place`; memory of sums is subtracted from the limit.
    pub(super) fn paths(
        self,
        (inputs, outputs): (usize, usize),
        place: SourceSpan,
        limit: &mut IrLimit,
        found: &mut Vec<Diagnostic>,
    ) -> Option<Paths> {
        let mut paths = Paths::new(inputs, outputs);
        let mut sums: BTreeMap<(usize, usize), Part> = BTreeMap::new();
        let mut copies = Vec::new();
        for (pair, between) in self.0 {
            match between {
                Between::Sum(parts) => {
                    let sum = sum(parts, limit).map_err(|reason| {
                        let message = format!("the sum of what is read for one pair {reason}");
                        found.push(Diagnostic::error(place, message));
                    });
                    sums.insert(pair, sum.ok()?);
                }
                Between::Copy { of, .. } => copies.push((pair, of)),
            }
        }
        let links: BTreeMap<_, _> = copies.iter().copied().collect();
        // A copy is always of a pair that exists already, so this ends.
        let origin = |mut pair| {
            while let Some(of) = links.get(&pair) {
                pair = *of;
            }
            pair
        };
        let all = sums
            .keys()
            .copied()
            .chain(copies.iter().map(|(pair, _)| *pair));
        let mut all: Vec<(usize, usize)> = all.collect();
        all.sort_unstable_by_key(|(input, output)| (*output, *input));
        for pair in all {
            let Part { ir, gain, delay } = sums.get(&origin(pair))?;
            let path = crate::Path {
                gain: *gain,
                ..crate::Path::new(pair.0, pair.1, ir.clone())
            };
            if let Err(error) = paths.add(path, *delay) {
                found.push(Diagnostic::error(place, error.to_string()));
            }
        }
        Some(paths)
    }
}

/// Responses of one pair as one response; a single one keeps its memory.
fn sum(mut parts: Vec<Part>, limit: &mut IrLimit) -> Result<Part, IrReason> {
    if parts.len() == 1 {
        return Ok(parts.remove(0));
    }
    let end = |part: &Part| part.delay + part.ir.len();
    let begin = parts.iter().map(|part| part.delay).min().unwrap_or(0);
    let frames = parts.iter().map(end).max().unwrap_or(0) - begin;
    limit.check(frames as u64, 1)?;
    limit.charge(frames)?;
    let mut sum = vec![0.0; frames];
    for part in &parts {
        let to = sum[part.delay - begin..].iter_mut();
        for (to, sample) in to.zip(part.ir.iter()) {
            *to += sample * part.gain;
        }
    }
    Ok(Part {
        ir: sum.into(),
        gain: 1.0,
        delay: begin,
    })
}
