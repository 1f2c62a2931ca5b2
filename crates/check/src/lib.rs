//! The workspace's own tests: rooms, conformance, promises, soak
