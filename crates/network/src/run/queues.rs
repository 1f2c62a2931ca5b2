//! [`Queues`]: the sizes and the memory of a running network's queues.

use crate::error::{QueueGrowth, RunError};
use crate::topology::{QueueId, Topology};
use rt::mirror::{Consumer, PageSize, Producer, Ring};

/// The two ends of a queue's ring.
pub(crate) type RingEnds = (Producer<f32>, Consumer<f32>);

/// Topology, sizes and memory of a running network's queues.
pub(crate) struct Queues {
    pub(crate) topology: Topology,
    /// Largest memory of all rings, in bytes.
    max_bytes: usize,
    /// Memory of all rings, in bytes.
    bytes: usize,
    /// Size of each queue, in frames.
    pub(crate) sizes: Vec<usize>,
    pub(crate) growths: Vec<QueueGrowth>,
}

impl Queues {
    /// No queue yet, and at most `max_bytes` for all.
    pub(crate) fn new(topology: Topology, max_bytes: usize) -> Self {
        Self {
            topology,
            max_bytes,
            bytes: 0,
            sizes: Vec::new(),
            growths: Vec::new(),
        }
    }

    /// Creates a ring of at least `frames` frames for `queue`, in place of one with room for `old` frames.
    ///
    /// # Errors
    ///
    /// All rings would need too much memory, or the system refuses.
    pub(crate) fn create_ring(
        &mut self,
        queue: QueueId,
        frames: usize,
        old: usize,
    ) -> Result<RingEnds, RunError> {
        let channels = self.topology.input(queue).channels;
        let bytes_of = |frames: usize| {
            frames
                .saturating_mul(channels)
                .saturating_mul(size_of::<f32>())
        };
        let others = self.bytes.saturating_sub(bytes_of(old));
        // A ring has whole pages: at least this much.
        self.check_memory(queue, others.saturating_add(bytes_of(frames)))?;
        let refused = |source| RunError::Ring {
            queue: self.topology.queue_name(queue),
            source,
        };
        let ring = Ring::<f32>::new(channels, frames, PageSize::Default).map_err(refused)?;
        let bytes = others + bytes_of(ring.capacity());
        self.check_memory(queue, bytes)?;
        let ends = (
            ring.producer().map_err(refused)?,
            ring.consumer().map_err(refused)?,
        );
        self.bytes = bytes;
        Ok(ends)
    }

    fn check_memory(&self, queue: QueueId, bytes: usize) -> Result<(), RunError> {
        if bytes <= self.max_bytes {
            return Ok(());
        }
        Err(RunError::Memory {
            queue: self.topology.queue_name(queue),
            bytes,
            limit: self.max_bytes,
        })
    }
}
