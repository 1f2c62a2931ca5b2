//! Files of users: opened without waiting, read within limits, written as a whole, kept, and told apart.
//!
//! Takes paths, gives a [`std::fs::File`] that is a regular file ([`open`]), its bytes up to a limit ([`read`]), a file that
//! takes its name only when it is complete ([`NewFile`], [`write()`]) and leaves an earlier one under another name ([`keep`]),
//! one that is changed in place ([`open_to_change`]), and the identity of a file ([`FileId`]).
//! May: open files, allocate, take its time. May not: know what is in a file, follow a name twice where the file could
//! change in between, use `unsafe`.
//!
//! A named pipe blocks the program that opens it, and `/dev/zero` has no end. So every file that a session or a call names
//! is opened here.
#![forbid(unsafe_code)]

mod identity;
mod kept;
mod new_file;
mod regular;

#[cfg(not(unix))]
#[path = "system/other.rs"]
mod system;
#[cfg(unix)]
#[path = "system/unix.rs"]
mod system;

pub use identity::FileId;
pub use kept::keep;
pub use new_file::{NewFile, check_writable, remove_abandoned, replace, write};
pub use regular::{open, open_to_change, read};
pub use system::free_bytes;
