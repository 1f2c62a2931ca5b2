//! The balance equations: along each queue as much is written as is read.

use super::CheckError;
use crate::shape::{QueueId, Topology};
use std::collections::VecDeque;
use units::{gcd, lcm};

/// A positive fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rate {
    over: u128,
    under: u128,
}

/// How often each node fires until all queues hold as much again, the least such numbers; each part of the network that
/// hangs together by itself.
///
/// # Errors
///
/// A port is open, the rates contradict each other, or the numbers are too large.
pub fn repetition_vector(shape: &Topology) -> Result<Vec<u64>, CheckError> {
    if let Some((node, open)) = shape.unconnected_ports().into_iter().next() {
        return Err(CheckError::Unconnected(node, open));
    }
    let touching = touching(shape);
    let mut rates: Vec<Option<Rate>> = vec![None; shape.nodes.len()];
    let mut counts = vec![0; shape.nodes.len()];
    for begin in 0..shape.nodes.len() {
        if rates[begin].is_none() {
            let part = spread(shape, &touching, begin, &mut rates)?;
            scale(&part, &rates, &mut counts)?;
        }
    }
    Ok(counts)
}

/// The queues of each node.
fn touching(shape: &Topology) -> Vec<Vec<QueueId>> {
    let mut touching = vec![Vec::new(); shape.nodes.len()];
    for (queue, ends) in shape.queue_ids().zip(&shape.queues) {
        touching[ends.from.0.0].push(queue);
        touching[ends.to.0.0].push(queue);
    }
    touching
}

/// Gives every node that hangs together with `begin` its rate, by that of `begin`; who they are.
fn spread(
    shape: &Topology,
    touching: &[Vec<QueueId>],
    begin: usize,
    rates: &mut [Option<Rate>],
) -> Result<Vec<usize>, CheckError> {
    rates[begin] = Some(Rate { over: 1, under: 1 });
    let (mut part, mut next) = (Vec::new(), VecDeque::from([begin]));
    while let Some(node) = next.pop_front() {
        part.push(node);
        let rate = rates[node].expect("it was given before");
        for &queue in &touching[node] {
            let ends = &shape.queues[queue.0];
            let (produce, consume) = (shape.output(queue).produce, shape.input(queue).consume);
            let (from, to) = (ends.from.0.0, ends.to.0.0);
            let (other, times) = match node == from {
                true => (to, (produce, consume)),
                false => (from, (consume, produce)),
            };
            let implied = rate
                .times(times.0 as u128, times.1 as u128)
                .ok_or_else(too_long)?;
            match rates[other] {
                None => {
                    rates[other] = Some(implied);
                    next.push_back(other);
                }
                Some(known) if known == implied => {}
                Some(_) => return Err(contradiction(shape, queue, (rates[from], rates[to]))),
            }
        }
    }
    Ok(part)
}

fn contradiction(
    shape: &Topology,
    queue: QueueId,
    rates: (Option<Rate>, Option<Rate>),
) -> CheckError {
    let one = Rate { over: 1, under: 1 };
    let (from, to) = (rates.0.unwrap_or(one), rates.1.unwrap_or(one));
    let written = from.times(shape.output(queue).produce as u128, 1);
    let read = to.times(shape.input(queue).consume as u128, 1);
    let ratio = written
        .zip(read)
        .and_then(|(w, r)| w.times(r.under, r.over));
    let Some(ratio) = ratio else {
        return too_long();
    };
    CheckError::InconsistentRates {
        queue,
        name: shape.queue_name(queue),
        written: ratio.over,
        read: ratio.under,
    }
}

/// Makes whole numbers of a part's rates, without a common divisor.
fn scale(part: &[usize], rates: &[Option<Rate>], counts: &mut [u64]) -> Result<(), CheckError> {
    let rates = part
        .iter()
        .map(|node| rates[*node].expect("the part has its rates"));
    let mut all: u128 = 1;
    for rate in rates.clone() {
        all = lcm(all, rate.under).ok_or_else(too_long)?;
    }
    let mut whole = Vec::with_capacity(part.len());
    for rate in rates {
        whole.push(
            (all / rate.under)
                .checked_mul(rate.over)
                .ok_or_else(too_long)?,
        );
    }
    let common = whole
        .iter()
        .fold(0, |common, count| gcd(*count, common))
        .max(1);
    for (node, count) in part.iter().zip(whole) {
        let count = count / common;
        counts[*node] =
            u64::try_from(count).map_err(|_| CheckError::TooManyFirings { firings: count })?;
    }
    Ok(())
}

impl Rate {
    fn times(self, over: u128, under: u128) -> Option<Self> {
        let (a, b) = (gcd(self.over, under), gcd(over, self.under));
        let (a, b) = (a.max(1), b.max(1));
        let over = (self.over / a).checked_mul(over / b)?;
        let under = (self.under / b).checked_mul(under / a)?;
        let common = gcd(over, under).max(1);
        Some(Self {
            over: over / common,
            under: under / common,
        })
    }
}

fn too_long() -> CheckError {
    CheckError::TooManyFirings { firings: u128::MAX }
}
