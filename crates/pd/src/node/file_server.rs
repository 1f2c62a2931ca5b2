//! Files that a patch reads and writes while it plays live, on a thread that may wait.

use crate::control::ObjectId;
use crate::disk::{FileAccess, FileReply, FileRequest};
use processor::{BackgroundTask, TaskStatus};
use rtrb::{Consumer, Producer, RingBuffer};

/// Requests and replies that wait, at most.
const MAX_WAITING: usize = 64;

/// Serves requests.
pub(super) struct FileServer {
    access: FileAccess,
    requests: Consumer<(ObjectId, FileRequest)>,
    replies: Producer<(ObjectId, FileReply)>,
}

/// The messages' ends of the queues.
pub(super) struct FileClient {
    pub(super) requests: Producer<(ObjectId, FileRequest)>,
    pub(super) replies: Consumer<(ObjectId, FileReply)>,
}

impl FileServer {
    /// A server with the other ends of its queues.
    ///
    /// Real-time: setup.
    pub(super) fn new(access: FileAccess) -> (Self, FileClient) {
        let (request_in, requests) = RingBuffer::new(MAX_WAITING);
        let (replies, reply_out) = RingBuffer::new(MAX_WAITING);
        let server = Self {
            access,
            requests,
            replies,
        };
        let client = FileClient {
            requests: request_in,
            replies: reply_out,
        };
        (server, client)
    }
}

impl BackgroundTask for FileServer {
    fn poll(&mut self) -> TaskStatus {
        if self.replies.is_full() {
            return TaskStatus::Idle;
        }
        let Ok((object, request)) = self.requests.pop() else {
            return TaskStatus::Idle;
        };
        let reply = request.serve(&self.access);
        // There is room, and nobody else writes.
        let _ = self.replies.push((object, reply));
        TaskStatus::More
    }

    fn end(&mut self) {
        // What was asked for before the end is written.
        while let Ok((_, request)) = self.requests.pop() {
            request.serve(&self.access);
        }
    }
}
