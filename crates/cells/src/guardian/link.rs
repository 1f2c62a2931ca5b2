//! [`GuardianLink`]: messages with descriptors between the guardian and its supervisor.
//!
//! A message is a kind, six numbers, bytes and descriptors, in one packet of a local socket: it arrives whole or not at all.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, IoSlice, IoSliceMut};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// Most bytes of a message.
const MAX_BYTES: usize = 120 << 10;
/// Most descriptors of a message.
const MAX_FILES: usize = 4;
/// Bytes before those of the message: its kind, and its numbers.
const HEADER: usize = 8 + 8 * NUMBERS;
const NUMBERS: usize = 6;

/// Kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum MessageKind {
    /// To the supervisor: a cell of its predecessor. Index, start, process (0 if it has ended), latency.
    Cell = 1,
    /// To the supervisor: that was all. Number of supervisors before, failures in a row; 1 if there is a checkpoint of the one
    /// before, and 1 if there is a log of changes. Descriptors: the pulse, then these two.
    Begin = 2,
    /// To the guardian: start a process for the cell of this index; this start of it. Bytes: arguments, a 0 behind each.
    Launch = 3,
    /// To the supervisor: the process runs.
    Launched = 4,
    /// To the supervisor: it does not; bytes: why.
    Refused = 5,
    /// To the supervisor: this process has ended, with this status.
    Ended = 6,
    /// To the guardian: the cell of this index has come up, with this latency.
    CameUp = 7,
    /// To the guardian: the memory for the supervisor's own checkpoints.
    OwnState = 8,
    /// To the guardian: the cell of this index is no more.
    Forget = 9,
    /// To the guardian: nobody asks for the process of the cell of this index any more; it may be waited for.
    Bury = 10,
    /// To the guardian: the log of what commands have changed.
    Kept = 11,
}

impl MessageKind {
    const ALL: [Self; 11] = [
        Self::Cell,
        Self::Begin,
        Self::Launch,
        Self::Launched,
        Self::Refused,
        Self::Ended,
        Self::CameUp,
        Self::OwnState,
        Self::Forget,
        Self::Bury,
        Self::Kept,
    ];
}

/// A message.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) kind: MessageKind,
    pub(crate) numbers: [u64; NUMBERS],
    pub(crate) bytes: Vec<u8>,
    pub(crate) files: Vec<OwnedFd>,
}

/// One end of the link.
#[derive(Debug)]
pub(crate) struct GuardianLink(OwnedFd);

impl GuardianLink {
    /// Both ends.
    pub(crate) fn pair() -> io::Result<(Self, Self)> {
        let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::CLOEXEC);
        let (one, other) = socketpair(AddressFamily::UNIX, kind, flags, None)?;
        Ok((Self(one), Self(other)))
    }

    pub(crate) fn new(end: OwnedFd) -> Self {
        Self(end)
    }

    pub(crate) fn into_file(self) -> OwnedFd {
        self.0
    }

    /// Sends a message. It does not wait for the other end.
    pub(crate) fn send(
        &self,
        kind: MessageKind,
        numbers: &[u64],
        bytes: &[u8],
        files: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        if bytes.len() > MAX_BYTES || files.len() > MAX_FILES || numbers.len() > NUMBERS {
            return Err(io::Error::other("a message to the guardian is too long"));
        }
        let mut header = [0u8; HEADER];
        let words = std::iter::once(kind as u64).chain(numbers.iter().copied());
        for (to, word) in header.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_ne_bytes());
        }
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !files.is_empty() && !control.push(SendAncillaryMessage::ScmRights(files)) {
            return Err(io::Error::other("no room for the descriptors of a message"));
        }
        let parts = [IoSlice::new(&header), IoSlice::new(bytes)];
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        sendmsg(&self.0, &parts, &mut control, flags)?;
        Ok(())
    }

    /// The next message, if it comes within `limit`.
    ///
    /// # Errors
    ///
    /// The other end is closed, or the message is none.
    pub(crate) fn receive(&self, limit: Duration) -> io::Result<Option<Message>> {
        if !is_readable(self.0.as_fd(), limit)? {
            return Ok(None);
        }
        let (mut header, mut bytes) = ([0u8; HEADER], vec![0; MAX_BYTES]);
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(&mut header), IoSliceMut::new(&mut bytes)];
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let got = match recvmsg(&self.0, &mut parts, &mut control, flags) {
            Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
            got => got?,
        };
        let rights = control.drain().filter_map(|it| match it {
            RecvAncillaryMessage::ScmRights(files) => Some(files),
            _ => None,
        });
        let files = rights.flatten().collect();
        let Some(len) = got.bytes.checked_sub(HEADER) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        bytes.truncate(len);
        let (words, _) = header.as_chunks::<8>();
        let word = |at: usize| u64::from_ne_bytes(words[at]);
        let kind = MessageKind::ALL
            .into_iter()
            .find(|it| *it as u64 == word(0));
        Ok(Some(Message {
            kind: kind.ok_or(io::ErrorKind::InvalidData)?,
            numbers: std::array::from_fn(|at| word(at + 1)),
            bytes,
            files,
        }))
    }
}

impl AsFd for GuardianLink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Waits until `file` can be read (of a process: until it has ended), for `limit` at most.
pub(crate) fn is_readable(file: BorrowedFd<'_>, limit: Duration) -> io::Result<bool> {
    let mut all = [PollFd::from_borrowed_fd(file, PollFlags::IN)];
    let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
    match poll(&mut all, Some(&limit)) {
        Ok(count) => Ok(count > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read, Write};

    #[test]
    fn a_message_arrives_whole_with_its_descriptors() {
        let (one, other) = GuardianLink::pair().unwrap();
        let (mut read, mut write) = std::io::pipe().unwrap();
        let bytes = vec![7; MAX_BYTES];
        let files = [read.as_fd(), write.as_fd()];
        one.send(MessageKind::Launch, &[1, u64::MAX], &bytes, &files)
            .unwrap();
        let got = other.receive(Duration::ZERO).unwrap().unwrap();
        assert_eq!(
            (got.kind, got.numbers[..3].to_vec()),
            (MessageKind::Launch, vec![1, u64::MAX, 0])
        );
        assert_eq!((got.bytes, got.files.len()), (bytes, 2));
        write.write_all(b"x").unwrap();
        let mut found = [0];
        File::from(got.files.into_iter().next().unwrap())
            .read_exact(&mut found)
            .unwrap();
        assert_eq!(&found, b"x");
        assert!(other.receive(Duration::ZERO).unwrap().is_none());
        let long = vec![0; MAX_BYTES + 1];
        assert!(one.send(MessageKind::Launch, &[], &long, &[]).is_err());
        read.read_exact(&mut []).unwrap();
    }

    #[test]
    fn what_is_no_message_is_refused_and_a_closed_end_is_told() {
        let (one, other) = GuardianLink::pair().unwrap();
        rustix::io::write(&one.0, &[1, 2, 3]).unwrap();
        assert!(other.receive(Duration::ZERO).is_err());
        rustix::io::write(&one.0, &[9; HEADER]).unwrap();
        assert!(other.receive(Duration::ZERO).is_err());
        drop(one);
        assert!(other.receive(Duration::ZERO).is_err());
    }
}
