//! [`LivenessLock`]: the lock by which one process knows that the other one is still alive.
//!
//! Each end locks a byte of the memory's file, by a descriptor that it opened itself. When its process ends, also by a
//! crash, the kernel releases the lock. No process can fake it by writing to the memory.

#[cfg(target_os = "linux")]
#[path = "liveness/locks.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "liveness/none.rs"]
mod system;

pub(super) use system::LivenessLock;

impl LivenessLock {
    /// The byte of the producer.
    pub(super) const PRODUCER: i64 = 0;
    /// The byte of the consumer.
    pub(super) const CONSUMER: i64 = 1;
}
