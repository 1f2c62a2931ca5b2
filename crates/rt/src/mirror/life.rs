//! [`Life`]: the lock by which one process knows that the other one is still alive.
//!
//! Each end locks a byte of the memory's file, by a descriptor that it opened itself. When its process ends, however it
//! ends, the kernel takes the lock away; nothing that a process writes can fake it.

#[cfg(target_os = "linux")]
#[path = "life/locks.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "life/none.rs"]
mod system;

pub(super) use system::Life;

impl Life {
    /// The byte of the producer.
    pub(super) const PRODUCER: i64 = 0;
    /// The byte of the consumer.
    pub(super) const CONSUMER: i64 = 1;
}
