//! The packets of the experiment *isolation*, and the priority of those who exchange them.

use divisi::workers::Priority;

/// Channels and frames of a packet: 1280 bytes.
pub(super) const CHANNELS: usize = 10;
pub(super) const FRAMES: usize = 32;
/// Samples of a packet.
pub(super) const SAMPLES: usize = CHANNELS * FRAMES;
/// Channels of a packet that the application answers with, one for each block.
pub(super) const BLOCKS: usize = 8;
/// Time between two packets: 32 frames at 44.1 kHz.
pub(super) const PERIOD_NS: u64 = 725_000;
/// Priority of the device and the application.
pub(super) const PRIORITY: Priority = Priority::RealTime(60);
