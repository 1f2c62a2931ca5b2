//! Trace to figures and histograms; the costs file
