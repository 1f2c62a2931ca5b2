//! Owns a graph that plays: edits, swap, measuring
