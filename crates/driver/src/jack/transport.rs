//! JACK's transport: followed block by block, commanded from any thread, and given its bars and beats.
//!
//! A server says at each of its periods where its transport is. [`Follower`] turns that into the changes of each of our blocks,
//! which may be longer or shorter than a period.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::{Arc, Mutex, PoisonError};

use super::library::{Functions, Library, RawClient};
use crate::{HostTransport, HostTransportChange, ServerTransport, Timebase};

/// `jack_position_t`, packed in the header.
#[repr(C, packed)]
#[derive(Clone, Copy)]
pub(crate) struct RawPosition {
    unique_1: u64,
    usecs: u64,
    frame_rate: u32,
    frame: u32,
    valid: c_uint,
    bar: i32,
    beat: i32,
    tick: i32,
    bar_start_tick: f64,
    beats_per_bar: f32,
    beat_type: f32,
    ticks_per_beat: f64,
    beats_per_minute: f64,
    frame_time: f64,
    next_time: f64,
    bbt_offset: u32,
    frames_per_video_frame: f32,
    video_offset: u32,
    tick_double: f64,
    padding: [i32; 5],
    unique_2: u64,
}

/// `JackTransportRolling` and `JackTransportLooping`.
const ROLLING: [c_uint; 2] = [1, 2];
/// `JackPositionBBT`: bar, beat and tick are set.
const HAS_BAR: c_uint = 0x10;
/// Ticks in a beat, as most programs have them.
const TICKS: f64 = 1920.0;

/// Type of `JackTimebaseCallback`.
pub(crate) type OfTimebase =
    Option<unsafe extern "C" fn(c_uint, u32, *mut RawPosition, c_int, *mut c_void)>;

/// Position of the server's transport in this period, and true if it rolls.
///
/// # Safety
/// The client is open, and this is its process callback or a thread that may wait.
///
/// Real-time: hot.
pub(super) unsafe fn query(f: &Functions, client: *mut RawClient) -> (u64, bool) {
    // SAFETY: all zeros are a position, and the server writes no more than its size.
    unsafe {
        let mut position: RawPosition = std::mem::zeroed();
        let state = (f.jack_transport_query)(client, &mut position);
        (u64::from(position.frame), ROLLING.contains(&state))
    }
}

/// Changes of the server's transport, by our blocks.
#[derive(Debug)]
pub(super) struct Follower {
    block: u32,
    /// Frames of the coming block that were in earlier periods.
    filled: u32,
    /// Changes in the coming block.
    changes: HostTransport,
    /// Position of the server's transport at the next frame, and if it rolls.
    next: (u64, bool),
}

impl Follower {
    /// For blocks of `block` frames.
    pub(super) fn new(block: u32) -> Self {
        Self {
            block,
            filled: 0,
            changes: HostTransport::default(),
            next: (0, false),
        }
    }

    /// A period begins, in which the server's transport is at `now`.
    ///
    /// Real-time: hot.
    pub(super) fn begin_period(&mut self, now: (u64, bool)) {
        // The first of a block is always said: a block that was left out may have had a change.
        if self.changes.changes().is_empty() || now != self.next {
            self.push(self.filled, now);
        }
        self.next = now;
    }

    /// The changes of a block that is complete.
    ///
    /// Real-time: hot.
    pub(super) fn end_block(&mut self) -> HostTransport {
        self.advance(self.block - self.filled);
        self.filled = 0;
        std::mem::take(&mut self.changes)
    }

    /// The period of `frames` frames ends; at its begin `filled_before` frames of a block were there.
    ///
    /// Real-time: hot.
    pub(super) fn end_period(&mut self, frames: u32, filled_before: u32) {
        let rest = (filled_before + frames) % self.block;
        let new = match filled_before + frames >= self.block {
            true => rest,
            false => frames,
        };
        if new > 0 && self.changes.changes().is_empty() {
            self.push(0, self.next);
        }
        self.advance(new);
        self.filled = rest;
    }

    /// Frames of the coming block that were in earlier periods.
    ///
    /// Real-time: hot.
    pub(super) fn filled(&self) -> u32 {
        self.filled
    }

    /// A block that lies within one period begins.
    ///
    /// Real-time: hot.
    pub(super) fn begin_block(&mut self) {
        if self.changes.changes().is_empty() {
            self.push(0, self.next);
        }
    }

    fn push(&mut self, offset: u32, (position, is_rolling): (u64, bool)) {
        self.changes.push(HostTransportChange {
            offset,
            position,
            is_rolling,
        });
    }

    fn advance(&mut self, frames: u32) {
        if self.next.1 {
            self.next.0 += u64::from(frames);
        }
    }
}

/// A client's handle for commands of the transport, as long as the client is open.
pub(super) struct Commander {
    pub(super) library: &'static Library,
    pub(super) raw: *mut RawClient,
    /// False once the client is closed.
    pub(super) is_open: Arc<Mutex<bool>>,
}

// SAFETY: `jack.h` allows the transport functions on any thread, and the lock keeps the client open meanwhile.
unsafe impl Send for Commander {}

impl Commander {
    fn call(&self, call: impl FnOnce(&Functions, *mut RawClient)) {
        let is_open = self.is_open.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_open {
            call(&self.library.functions, self.raw);
        }
    }
}

impl ServerTransport for Commander {
    fn start(&self) {
        // SAFETY: the client is open for the call.
        self.call(|f, raw| unsafe { (f.jack_transport_start)(raw) });
    }

    fn stop(&self) {
        // SAFETY: as above.
        self.call(|f, raw| unsafe { (f.jack_transport_stop)(raw) });
    }

    fn locate(&self, frame: u64) {
        let frame = u32::try_from(frame).unwrap_or(u32::MAX);
        // SAFETY: as above.
        self.call(|f, raw| unsafe {
            (f.jack_transport_locate)(raw, frame);
        });
    }
}

/// Fills in bar and beat of a position, as the server asks for at each period.
///
/// # Safety
/// `arg` is a [`Timebase`] that lives, and `position` the server's.
///
/// Real-time: hot.
pub(super) unsafe extern "C" fn timebase(
    _: c_uint,
    _: u32,
    position: *mut RawPosition,
    _: c_int,
    arg: *mut c_void,
) {
    // SAFETY: the server hands back what it was given, and its own position.
    let (timebase, position) = unsafe { (&*arg.cast_const().cast::<Timebase>(), &mut *position) };
    let at = timebase(u64::from(position.frame));
    let beat = at.beat.max(0.0);
    position.valid = HAS_BAR;
    position.bar = i32::try_from(at.bar + 1).unwrap_or(i32::MAX);
    position.beat = beat as i32 + 1;
    position.tick = ((beat - f64::from(beat as i32)) * TICKS) as i32;
    position.bar_start_tick = at.bar_begin * TICKS;
    position.beats_per_bar = at.beats as f32;
    position.beat_type = at.unit as f32;
    position.ticks_per_beat = TICKS;
    position.beats_per_minute = at.bpm;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions at each of our frames, as they follow from the changes of the blocks.
    fn followed(server: &[(u64, bool)], period: u32, block: u32) -> Vec<u64> {
        let mut follower = Follower::new(block);
        let mut all = Vec::new();
        let mut now = (0, false);
        let mut play = |changes: HostTransport| {
            for offset in 0..block {
                if let Some(change) = changes.changes().iter().find(|it| it.offset == offset) {
                    now = (change.position, change.is_rolling);
                }
                all.push(now.0);
                now.0 += u64::from(now.1);
            }
        };
        for at in server {
            follower.begin_period(*at);
            let before = follower.filled();
            for _ in 0..(before + period) / block {
                follower.begin_block();
                play(follower.end_block());
            }
            follower.end_period(period, before);
        }
        all
    }

    #[test]
    fn a_servers_transport_is_followed_to_the_frame_in_blocks_of_any_length() {
        let period = 48;
        let mut server = Vec::new();
        let mut position = 1000;
        for number in 0..200 {
            let is_rolling = !(20..30).contains(&number) && !(77..80).contains(&number);
            if number == 50 {
                position = 9;
            }
            server.push((position, is_rolling));
            position += if is_rolling { u64::from(period) } else { 0 };
        }
        let at = |(position, is_rolling): &(u64, bool)| {
            let (position, is_rolling) = (*position, *is_rolling);
            (0..u64::from(period)).map(move |n| position + if is_rolling { n } else { 0 })
        };
        let expected: Vec<u64> = server.iter().flat_map(at).collect();
        for block in [1, 16, 48, 64, 96, 100, 480] {
            let found = followed(&server, period, block);
            assert!(found.len() > 8000);
            assert!(found == expected[..found.len()], "blocks of {block}");
        }
    }
}
