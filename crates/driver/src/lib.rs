//! What gives the beat: a clock, a file, a JACK server
