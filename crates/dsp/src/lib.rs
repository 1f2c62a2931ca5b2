//! The unit library
