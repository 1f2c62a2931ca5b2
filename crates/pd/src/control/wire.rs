//! [`ObjectId`] and [`Wire`]: where a message goes.

/// Number of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ObjectId(pub u32);

/// The receiving end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wire {
    pub object: ObjectId,
    pub inlet: u32,
}
