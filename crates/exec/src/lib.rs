//! A plan and its processors to blocks of sound: one file a way of executing
