//! Readers and writers of graphs as text: .ag, .toml, DOT
