//! The balance equations: along each queue, as many frames are produced as consumed.
//!
//! ```text
//! for each queue:  q[writer] × produce = q[reader] × consume        (Lee and Messerschmitt, 1987: Γ q = 0)
//! ```
//!
//! Each connected part of the network is solved by itself: one node gets the rate 1, a breadth-first search gives each neighbour
//! the rate that its queue implies, and a second rate that differs is a contradiction. The rates are then scaled to the
//! smallest whole numbers.

use super::error::CheckError;
use crate::topology::{QueueId, Topology};
use std::collections::VecDeque;
use units::{gcd, lcm};

/// A positive fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ratio {
    numerator: u128,
    denominator: u128,
}

/// The repetition vector: firings of each node in one iteration, the smallest whole numbers that solve the balance equations.
///
/// # Errors
///
/// A port has no queue, the rates contradict each other, or the numbers are too large.
pub fn repetition_vector(topology: &Topology) -> Result<Vec<u64>, CheckError> {
    if let Some((node, error)) = topology.unconnected_ports().into_iter().next() {
        return Err(CheckError::Unconnected(node, error));
    }
    let queues_of = queues_of_nodes(topology);
    let mut rates: Vec<Option<Ratio>> = vec![None; topology.nodes.len()];
    let mut counts = vec![0; topology.nodes.len()];
    for first in 0..topology.nodes.len() {
        if rates[first].is_none() {
            let connected = propagate(topology, &queues_of, first, &mut rates)?;
            to_whole_numbers(&connected, &rates, &mut counts)?;
        }
    }
    Ok(counts)
}

/// The queues of each node, read or written.
fn queues_of_nodes(topology: &Topology) -> Vec<Vec<QueueId>> {
    let mut queues_of = vec![Vec::new(); topology.nodes.len()];
    for (id, queue) in topology.queue_ids().zip(&topology.queues) {
        queues_of[queue.writer()].push(id);
        queues_of[queue.reader()].push(id);
    }
    queues_of
}

/// Gives every node that is connected with `first` its rate relative to that of `first`; returns these nodes.
fn propagate(
    topology: &Topology,
    queues_of: &[Vec<QueueId>],
    first: usize,
    rates: &mut [Option<Ratio>],
) -> Result<Vec<usize>, CheckError> {
    rates[first] = Some(Ratio::ONE);
    let (mut connected, mut next) = (Vec::new(), VecDeque::from([first]));
    while let Some(node) = next.pop_front() {
        connected.push(node);
        let rate = rates[node].expect("a node has its rate before it is visited");
        for &id in &queues_of[node] {
            let queue = &topology.queues[id.0];
            let (produce, consume) = (topology.output(id).produce, topology.input(id).consume);
            let (writer, reader) = (queue.writer(), queue.reader());
            let (other, factor) = match node == writer {
                true => (reader, (produce, consume)),
                false => (writer, (consume, produce)),
            };
            let implied = rate
                .times(factor.0 as u128, factor.1 as u128)
                .ok_or_else(too_large)?;
            match rates[other] {
                None => {
                    rates[other] = Some(implied);
                    next.push_back(other);
                }
                Some(known) if known == implied => {}
                Some(_) => return Err(contradiction(topology, id, (rates[writer], rates[reader]))),
            }
        }
    }
    Ok(connected)
}

/// The error of a queue whose ends have rates that do not balance.
fn contradiction(
    topology: &Topology,
    queue: QueueId,
    rates: (Option<Ratio>, Option<Ratio>),
) -> CheckError {
    let (writer, reader) = (rates.0.unwrap_or(Ratio::ONE), rates.1.unwrap_or(Ratio::ONE));
    let written = writer.times(topology.output(queue).produce as u128, 1);
    let read = reader.times(topology.input(queue).consume as u128, 1);
    let ratio = written
        .zip(read)
        .and_then(|(written, read)| written.times(read.denominator, read.numerator));
    let Some(ratio) = ratio else {
        return too_large();
    };
    CheckError::InconsistentRates {
        queue,
        name: topology.queue_name(queue),
        written: ratio.numerator,
        read: ratio.denominator,
    }
}

/// Scales the rates of connected nodes to whole numbers without a common divisor.
fn to_whole_numbers(
    connected: &[usize],
    rates: &[Option<Ratio>],
    counts: &mut [u64],
) -> Result<(), CheckError> {
    let rates = connected
        .iter()
        .map(|node| rates[*node].expect("connected nodes have their rates"));
    let mut multiple: u128 = 1;
    for rate in rates.clone() {
        multiple = lcm(multiple, rate.denominator).ok_or_else(too_large)?;
    }
    let mut whole = Vec::with_capacity(connected.len());
    for rate in rates {
        let count = (multiple / rate.denominator).checked_mul(rate.numerator);
        whole.push(count.ok_or_else(too_large)?);
    }
    let common = whole.iter().fold(0, |common, count| gcd(*count, common));
    for (node, count) in connected.iter().zip(whole) {
        let count = count / common.max(1);
        let too_many = |_| CheckError::TooManyFirings { firings: count };
        counts[*node] = u64::try_from(count).map_err(too_many)?;
    }
    Ok(())
}

impl Ratio {
    const ONE: Self = Self {
        numerator: 1,
        denominator: 1,
    };

    /// Times `numerator / denominator`, in lowest terms; `None` if that is too large.
    fn times(self, numerator: u128, denominator: u128) -> Option<Self> {
        let (a, b) = (
            gcd(self.numerator, denominator),
            gcd(numerator, self.denominator),
        );
        let (a, b) = (a.max(1), b.max(1));
        let numerator = (self.numerator / a).checked_mul(numerator / b)?;
        let denominator = (self.denominator / b).checked_mul(denominator / a)?;
        let common = gcd(numerator, denominator).max(1);
        Some(Self {
            numerator: numerator / common,
            denominator: denominator / common,
        })
    }
}

fn too_large() -> CheckError {
    CheckError::TooManyFirings { firings: u128::MAX }
}
