//! Threads that play: pinned, prioritised, woken, put to sleep
