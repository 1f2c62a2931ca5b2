//! [`Drill`]: a failure of a cell's process, caused by its node.

/// A failure that is caused on purpose, to see that the rest of the session plays on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drill {
    /// The failure.
    pub kind: DrillKind,
    /// First frame of the block in which it happens, rounded down to a block.
    pub frame: u64,
}

/// Kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum DrillKind {
    /// The process is killed by SIGKILL.
    Kill = 1,
    /// The process gets SIGSEGV.
    Segv = 2,
    /// The process is stopped by SIGSTOP.
    Stop = 3,
    /// The process computes for ever.
    Loop = 4,
    /// The process takes memory until it gets no more, and dies of it.
    Hog = 5,
    /// The process writes garbage in place of its reply.
    Garbage = 6,
}

impl DrillKind {
    /// All kinds, with their names on the command line.
    pub const NAMES: [(&'static str, Self); 6] = [
        ("kill", Self::Kill),
        ("segv", Self::Segv),
        ("stop", Self::Stop),
        ("loop", Self::Loop),
        ("hog", Self::Hog),
        ("garbage", Self::Garbage),
    ];
}
