//! [`CheckpointMemory`]: shared memory in which a cell leaves what its nodes hold, and the supervisor's reading of it.
//!
//! ```text
//!   word 0        1          8 …            16 …           2048 …     2048 + capacity …
//!   │ constant │ capacity │ of buffer 0 │ of buffer 1 │ … │ buffer 0 │ buffer 1 │
//!                           number, length, sum
//! ```
//!
//! Words 24 to 64 are those of edits (`live_edit`). Words 64 to 512 hold the newest values of the cell's meters (`gauges`), words 512 to
//! 1024 what is tapped of its nodes (`taps`), words 1024 to 2048 the fates of messages in words (`word_fates`). Word 2 is the supervisor's:
//! as long as it is not 0, the cell writes a checkpoint after each block, for a process that takes its place. Behind both buffers is the
//! session (`handed`), and at the end the samples of taps and a page of what its patches receive (`own_params`).
//!
//! | state of a buffer | number | owned by |
//! |---|---|---|
//! | is written | 0 | the cell |
//! | whole | counts up from buffer to buffer | the cell; after its end the supervisor |
//!
//! The cell writes into the older buffer: it stores the number 0, then the words, then length, sum and number. So one buffer
//! is whole at any time. Each process has memory of its own. The supervisor looks at it when that process has ended, and
//! copies the newest whole buffer into the memory of the next process.
//!
//! # What the supervisor believes
//!
//! Nothing but sizes, once they are checked: the capacity against the file, the length against the capacity, the sum against
//! the words. The words themselves are for the next process, which checks them again, node by node.

use crate::handed::{self, HANDED_AT};
use crate::own_params::OWN_BYTES;
use crate::status::ProcessMemory;
use crate::taps::TAP_BYTES;
use rt::mirror::SharedWords;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

/// First word.
pub(crate) const MAGIC: u64 = 0x4443_4350_0001_5354;
/// Index of the first buffer.
pub(crate) const FIRST_BUFFER: usize = 2048;
/// Most words of a buffer.
pub(crate) const MAX_WORDS: usize = 4 << 20;
/// Index of the word by which the supervisor asks for a checkpoint after each block.
pub(crate) const EACH_BLOCK: usize = 2;
/// Index in a buffer of the frame of the supervisor's next request.
pub(crate) const OUTSIDE: usize = 3;
/// Bytes by which the session may grow while its process plays; as much as it has comes on top.
const EDIT_ROOM: usize = 1 << 20;
/// Size of a page, or of several.
const PAGE: u64 = 65_536;
/// Indices of a buffer's number, length and sum.
pub(crate) const fn head(buffer: usize) -> [usize; 3] {
    let at = 8 + 8 * buffer;
    [at, at + 1, at + 2]
}

/// The share of one word in the sum of its buffer. The factors are odd, so each bit of each word counts.
pub(crate) fn term(index: usize, word: u64) -> u64 {
    let factor = (2 * index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    word.wrapping_mul(factor)
}

/// The sum that is written beside a buffer with the sum `words` of its terms.
pub(crate) fn seal(number: u64, len: usize, words: u64) -> u64 {
    let mixed = words ^ number.rotate_left(32) ^ (len as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    mixed.wrapping_add(MAGIC)
}

/// The states of a cell's nodes, as words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    pub(crate) number: u64,
    pub(crate) words: Vec<u64>,
}

impl Checkpoint {
    /// Frame of the supervisor's next request after it, if that can be true.
    pub(crate) fn outside(&self) -> Option<u64> {
        self.words.get(OUTSIDE).copied().filter(|it| *it > 0)
    }
}

/// The memory of one process.
#[derive(Debug)]
pub(crate) struct CheckpointMemory(File);

impl CheckpointMemory {
    /// Empty memory. Pages are taken as they are written.
    pub(crate) fn new() -> io::Result<Self> {
        Self::with(&[], 0)
    }

    /// The same with a session behind its buffers, for the part of this number.
    pub(crate) fn with(session: &[u8], part: u64) -> io::Result<Self> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create("divisi-checkpoint", flags)?;
        // Pages that nobody writes take no memory.
        let bytes = HANDED_AT + (2 * session.len() + EDIT_ROOM) as u64;
        ftruncate(&file, bytes.next_multiple_of(PAGE) + TAP_BYTES + OWN_BYTES)?;
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        fcntl_add_seals(&file, seals)?;
        let file = file.into();
        if !session.is_empty() {
            handed::leave(&file, session, part)?;
        }
        Ok(Self(file))
    }

    /// The words before the first buffer, as the cell writes them.
    pub(crate) fn map_head(&self) -> Option<SharedWords> {
        let file = self.0.try_clone().ok()?;
        SharedWords::open(&file.into(), FIRST_BUFFER).ok()
    }

    /// The memory of a process that plays, for whoever reads its meters.
    pub(crate) fn share(&self) -> Option<ProcessMemory> {
        let file = self.0.try_clone().ok()?;
        let head = self.map_head()?;
        Some(ProcessMemory { head, file })
    }

    /// The memory that another process made. What it holds is checked when it is read.
    pub(crate) fn of(file: OwnedFd) -> Self {
        Self(file.into())
    }

    /// Its file, for the cell.
    pub(crate) fn file(&self) -> &File {
        &self.0
    }

    /// The newest buffer that is whole.
    pub(crate) fn newest(&self) -> Option<Checkpoint> {
        let head_words = self.read(0, FIRST_BUFFER)?;
        let capacity = usize::try_from(head_words[1]).ok()?;
        if head_words[0] != MAGIC || capacity > MAX_WORDS {
            return None;
        }
        let mut buffers = [0, 1].map(|buffer| (head_words[head(buffer)[0]], buffer));
        buffers.sort_unstable();
        (buffers.iter().rev()).find_map(|(number, buffer)| {
            let [_, len, sum] = head(*buffer).map(|at| head_words[at]);
            let len = usize::try_from(len).ok().filter(|len| *len <= capacity)?;
            let words = self.read(FIRST_BUFFER + buffer * capacity, len)?;
            let terms = (words.iter().enumerate()).map(|(at, word)| term(at, *word));
            let found = terms.fold(0, u64::wrapping_add);
            let is_whole = *number > 0 && seal(*number, len, found) == sum;
            is_whole.then_some(Checkpoint {
                number: *number,
                words,
            })
        })
    }

    /// Leaves `checkpoint` for the process that gets this memory.
    pub(crate) fn put(&self, checkpoint: &Checkpoint) -> io::Result<()> {
        let (number, words) = (checkpoint.number, &checkpoint.words);
        let terms = (words.iter().enumerate()).map(|(at, word)| term(at, *word));
        let sum = seal(number, words.len(), terms.fold(0, u64::wrapping_add));
        let mut head_words = vec![0; FIRST_BUFFER];
        (head_words[0], head_words[1]) = (MAGIC, words.len() as u64);
        let values = [number, words.len() as u64, sum];
        head(0)
            .into_iter()
            .zip(values)
            .for_each(|(at, value)| head_words[at] = value);
        head_words.extend(words);
        let bytes: Vec<u8> = (head_words.iter())
            .flat_map(|it| it.to_ne_bytes())
            .collect();
        self.0.write_all_at(&bytes, 0)
    }

    /// `count` words from `first` on.
    fn read(&self, first: usize, count: usize) -> Option<Vec<u64>> {
        let mut bytes = vec![0; 8 * count];
        self.0.read_exact_at(&mut bytes, 8 * first as u64).ok()?;
        let (words, _) = bytes.as_chunks::<8>();
        Some(words.iter().map(|it| u64::from_ne_bytes(*it)).collect())
    }
}
