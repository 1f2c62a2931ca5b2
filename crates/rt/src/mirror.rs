//! A ring whose memory is mapped twice, side by side: any part of it is one plain slice, over its end too.
//!
//! The producer borrows room, writes in place and commits; the consumer borrows a window, reads in place and releases
//! as much of it as it no longer needs. Nothing is copied, and what a consumer does not release (the overlap of a
//! filter, the rest of a hop) is there again in its next window. After Allen, Zucknick and Evans, "Zero-copy Queues for
//! Native Signal Processing using the Virtual Memory System".
//!
//! The two ends may belong to two threads, or to two processes that map one file descriptor ([`Ring::shared`],
//! [`Ring::open`]).
//!
//! ```
//! let (mut producer, mut consumer) = divisi_rt::mirror::channel::<f32>(1024)?;
//! let mut room = producer.room(3)?;
//! room.fill(1.0);
//! room.commit(3);
//! let window = consumer.window(2)?;
//! assert_eq!(window[..], [1.0, 1.0]);
//! window.release(1); // the other one is seen again
//! assert_eq!(consumer.available(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Who owns a frame
//!
//! A *frame* is one item on every channel. `written` and `released` count the frames ever committed and released.
//!
//! | frame of count `n` | belongs to | who gives it away, by |
//! |---|---|---|
//! | `released <= n < written` | [`Consumer`] | consumer: stores `released` past `n` |
//! | all others, up to `released + capacity` | [`Producer`] | producer: stores `written` past `n` |
//!
//! Each end keeps its own count to itself and only stores it; the other end's count is the one word it believes, and
//! only if it leaves this end between nothing and the capacity. So a process that writes nonsense into the shared
//! memory changes what the other one reads there, and never where.
//!
//! # Who is noticed when
//!
//! | the other process | who waits | a call that cannot be served | a call that can |
//! |---|---|---|---|
//! | closed its end | is woken | says so | a consumer is served, a producer is told |
//! | is gone | finds out within 100 ms | says so | is served |
//!
//! To ask the kernel at a call that can be served would cost fifty times the call. It could change little: what was given
//! is good, and nothing more comes, so calls that take or give are served for a ring's length at most, until one is told.
//! Who wants to know before asks by [`Producer::is_peer_dead`] and [`Consumer::is_peer_dead`].
//!
//! # Who sleeps, who wakes
//!
//! | who waits | who gives |
//! |---|---|
//! | reads its bell's word | stores its count |
//! | stores `asleep` | light fence |
//! | heavy fence ([`crate::fence`]) | looks at the other's `asleep`; if set, changes the word and wakes |
//! | looks at the other's count once more | |
//! | sleeps while the word is what it was | |
//!
//! By the fences one of the two sees the other. Between processes the heavy fence is a barrier of the kernel for all
//! that have registered; where it refuses one of them, a wake can be lost, and the sleep is over after
//! [`Ring::LIVENESS_INTERVAL`] all the same.

mod bell;
mod ends;
mod error;
mod header;
mod layout;
mod life;
mod mapping;
mod memory;
mod pod;
mod reach;
mod ring;
mod side;
#[cfg(all(test, unix, not(loom)))]
mod tests;

pub use ends::{Consumer, Producer, ReadChunk, WriteChunk};
pub use error::{ChunkError, RingError};
pub use memory::PageSize;
pub use pod::Pod;
pub use ring::{Ring, channel};
