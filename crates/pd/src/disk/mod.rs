//! Files that a patch reads and writes while it plays.
//!
//! ```text
//!  object ── FileRequest ──▶ served at once (render), or by another thread (play) ── FileReply ──▶ object
//! ```
//!
//! A request owns everything that it needs, and serving it touches no object: the thread that serves it may be any. A patch reads
//! what its user may read. It writes only into folders that the user has named, and never over a file that is in use.
//!
//! | file | holds |
//! |---|---|
//! | `name` | the name of a file |
//! | `request` | what an object asks for, and what it gets |
//! | `query` | questions about files and folders |
//! | `access` | where files are found, and which may be written |
//! | `handles` | files that are read and written byte by byte |
//! | `header`, `new_header` | sound files of WAVE, AIFF, NeXT and CAF: where their samples lie, and what is written before samples |
//! | `stream` | sound files that are written piece by piece |
//! | `samples` | bytes to samples, and back |

mod access;
mod handles;
mod header;
mod name;
mod new_header;
mod query;
mod request;
mod samples;
mod stream;

pub(crate) use access::FileAccess;
pub use access::{allow_writing, lost_writes, protect_from_writing};
pub(crate) use handles::{HandleMode, HandleReply, HandleRequest, SeekFrom};
pub(crate) use header::{FileType, SoundFormat};
pub(crate) use name::{FileName, ShortText};
pub(crate) use query::{FileAnswer, FileFacts, FileQuery, FileQuestion};
pub(crate) use request::{FileReply, FileRequest, SoundRead, SoundWrite};
pub(crate) use stream::StreamOpen;
