//! Pictures: graphs, schedules, traces, plots
