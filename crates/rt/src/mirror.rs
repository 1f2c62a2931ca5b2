//! A ring of frames whose memory is mapped twice, side by side: every part of it is one plain slice, also over its end.
//!
//! ```text
//!   addresses   │ frame 0 … frame n-1 │ frame 0 … frame n-1 │     one channel
//!                ─────────┬─────────── ─────────┬───────────
//!                         └────────┬────────────┘
//!   memory                │ n frames, whole pages │               mapped at both places
//!
//!   a chunk                     │████████│                        starts in the first mapping,
//!                                                                 ends perhaps in the second
//! ```
//!
//! The producer borrows a [`WriteChunk`], writes in place and commits. The consumer borrows a [`ReadChunk`], reads in
//! place and releases as many frames as it no longer needs. Nothing is copied, and frames that a consumer keeps (the
//! overlap of a filter, the rest of a hop) are there again in its next chunk. After Allen, Zucknick and Evans,
//! "Zero-copy Queues for Native Signal Processing using the Virtual Memory System" (Asilomar 2006).
//!
//! The two ends may belong to two threads, or to two processes that map one file descriptor ([`Ring::shared`],
//! [`Ring::open`]).
//!
//! ```
//! let (mut producer, mut consumer) = divisi_rt::mirror::channel::<f32>(1024)?;
//! let mut chunk = producer.write_chunk(3)?;
//! chunk.fill(1.0);
//! chunk.commit(3);
//! let chunk = consumer.read_chunk(2)?;
//! assert_eq!(chunk[..], [1.0, 1.0]);
//! chunk.release(1); // the other frame stays
//! assert_eq!(consumer.available(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Who owns a frame
//!
//! A *frame* is one item on every channel. `written` and `released` count the frames that were ever committed and
//! released.
//!
//! | frame of count `n` | belongs to | passed on by |
//! |---|---|---|
//! | `released <= n < written` | [`Consumer`] | the consumer: stores `released` past `n` |
//! | all others, up to `released + capacity` | [`Producer`] | the producer: stores `written` past `n` |
//!
//! Each end keeps its own count to itself and only stores it. The other end's count is the one word that it reads, and
//! it accepts that count only between nothing and the capacity. So a process that writes wrong counts into the shared
//! memory changes the values that the other one reads, but never the addresses.
//!
//! # When the other process ends
//!
//! | the other process | an end that waits | a call that cannot be served | a call that can |
//! |---|---|---|---|
//! | closed its end | is woken | returns [`ChunkError::Closed`] | a consumer is served, a producer gets the error |
//! | died | notices within 100 ms | returns [`ChunkError::PeerDead`] | is served |
//!
//! To ask the kernel in a call that can be served would cost fifty times the call, and would change little: what was
//! committed is good, and nothing more comes. So such calls are served for one ring's length at most.
//!
//! An end that a process left by its death can be taken again ([`Ring::resume_producer`], [`Ring::resume_consumer`]): its lock
//! is free, its bell says that it was taken and not closed, and its count is where the last commit or release left it. The
//! other end sees nobody meanwhile, and goes on afterwards. The new owner believes the counts only if they are within a
//! capacity of each other.
//!
//! # Sleeping and waking
//!
//! | the end that waits | the end that commits or releases |
//! |---|---|
//! | reads its bell's word | stores its count |
//! | stores `asleep` | light fence |
//! | heavy fence ([`crate::fence`]) | looks at the other's `asleep`; if set, changes the word and wakes |
//! | checks the other's count once more | |
//! | sleeps while the word is unchanged | |
//!
//! With the fences at least one of the two sees the other's store. Between processes the heavy fence is a barrier of the kernel for all
//! processes that registered for it. Where it refuses one of them, a wake can be lost; then the sleep ends after
//! [`Ring::LIVENESS_INTERVAL`].
//!
//! # Files
//!
//! | file | holds |
//! |---|---|
//! | `ring` | [`Ring`]: makes or opens the memory, gives out the ends |
//! | `ends` | [`Producer`], [`Consumer`] and their chunks: the typed face |
//! | `untyped_end` | an end without its type: position, waiting, the death of the other process |
//! | `side` | an end's two counts: the protocol itself, with its loom models |
//! | `bell` | an end's word to sleep on |
//! | `header`, `layout` | offsets of all parts of the memory |
//! | `shared`, `mapping`, `memory`, `liveness` | the memory: mapped twice, from the system, and the lock that shows which process is alive |
//! | `words`, `wake_words` | [`SharedWords`], [`WakeWords`]: memory of several processes as atomic words, without a protocol |
//! | `pod`, `error` | types of items that it can hold; reasons why there is no ring or no chunk |

mod bell;
mod count;
mod ends;
mod error;
mod header;
mod layout;
mod liveness;
mod mapping;
mod memory;
mod pod;
mod ring;
mod shared;
#[cfg(all(test, unix, not(loom)))]
mod tests;
mod untyped_end;
mod wake_words;
mod words;

pub use ends::{Consumer, Producer, ReadChunk, RingEnd, WriteChunk};
pub use error::{ChunkError, RingError};
pub use memory::PageSize;
pub use pod::Pod;
pub use ring::{Ring, channel};
pub use wake_words::WakeWords;
pub use words::SharedWords;
