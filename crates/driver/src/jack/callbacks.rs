//! The functions that the JACK server calls, and their state.

use std::cell::UnsafeCell;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice::{from_raw_parts, from_raw_parts_mut};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use units::{Frames, Nanos, SampleRate};

use super::client::Client;
use super::library::{Functions, Library, RawClient, RawPort};
use super::midi::{JackBlocks, MidiSide};
use super::transport::{self, Follower};
use crate::slice_list::SliceList;
use crate::{AudioCallback, BlockAdapter, CallbackInfo, DriverState, HostTransport};

const PLAYING: u8 = 0;
const SERVER_GONE: u8 = 1;
const RATE_CHANGED: u8 = 2;
const PANICKED: u8 = 3;

/// State of a client, to which each callback gets a pointer.
pub(crate) struct ClientState {
    pub(crate) status: ClientStatus,
    entrance: Entrance,
    state: UnsafeCell<CallbackState>,
}

// SAFETY: `status` and `entrance` are atomics. `state` is reached by the process callback that holds the entrance, and
// after the client is closed by `into_callback`, which owns it. The handles in it may be used from any thread.
unsafe impl Sync for ClientState {}
// SAFETY: the callback may travel, and the handles may be used from any thread.
unsafe impl Send for ClientState {}

/// Lets one call of the process callback in at a time. A server calls it from one thread, but one that starts a second
/// thread before the first has returned must not make two of them play on the same state.
#[derive(Default)]
struct Entrance(AtomicBool);

/// The only call that is inside; it leaves when it is dropped.
struct Inside<'a>(&'a AtomicBool);

impl Entrance {
    /// `None` while another call is inside.
    ///
    /// Real-time: hot.
    fn enter(&self) -> Option<Inside<'_>> {
        // Acquire pairs with the Release of `drop`: what the call before did to the state is seen.
        let was_inside = self.0.swap(true, Ordering::Acquire);
        (!was_inside).then_some(Inside(&self.0))
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        // Release pairs with the Acquire of `enter`.
        self.0.store(false, Ordering::Release);
    }
}

/// Counts and flags. Relaxed throughout: each is one word by itself, nothing travels with it.
pub(crate) struct ClientStatus {
    rate: u32,
    ended: AtomicU8,
    new_rate: AtomicU32,
    xruns: AtomicU32,
    latency: AtomicU32,
    freewheel: AtomicBool,
    /// True if a port came or went, or a connection, since it was asked.
    ports_changed: AtomicBool,
}

/// State that only the process callback touches.
struct CallbackState {
    callback: Box<dyn AudioCallback>,
    adapter: BlockAdapter,
    library: &'static Library,
    client: *mut RawClient,
    inputs: Vec<*mut RawPort>,
    outputs: Vec<*mut RawPort>,
    midi: MidiSide,
    /// Set where the server's transport is followed.
    follower: Option<Follower>,
    input_list: SliceList,
    output_list: SliceList,
    rate: SampleRate,
    seen_xruns: u32,
}

impl ClientStatus {
    fn new(rate: u32, latency: Frames) -> Self {
        Self {
            rate,
            ended: AtomicU8::new(PLAYING),
            new_rate: AtomicU32::new(rate),
            xruns: AtomicU32::new(0),
            latency: AtomicU32::new(latency.0),
            freewheel: AtomicBool::new(false),
            ports_changed: AtomicBool::new(true),
        }
    }

    /// State of the driver, with the reason for its end.
    pub(crate) fn state(&self) -> DriverState {
        let reason = match self.ended.load(Ordering::Relaxed) {
            PLAYING => return DriverState::Playing,
            SERVER_GONE => "the JACK server went away: start it again, then play again".to_owned(),
            RATE_CHANGED => format!(
                "the JACK server went from {} Hz to {} Hz: play again at the new rate",
                self.rate,
                self.new_rate.load(Ordering::Relaxed)
            ),
            _ => "the audio callback panicked".to_owned(),
        };
        DriverState::Ended { reason }
    }

    /// Latency of the block adapter after the last callback.
    pub(crate) fn latency(&self) -> Frames {
        Frames(self.latency.load(Ordering::Relaxed))
    }

    /// Returns true if a port came or went, or a connection, since the last call.
    pub(crate) fn take_ports_changed(&self) -> bool {
        self.ports_changed.swap(false, Ordering::Relaxed)
    }

    /// Ends the driver. The first reason stands.
    fn end(&self, reason: u8) {
        let (won, lost) = (Ordering::Relaxed, Ordering::Relaxed);
        let _ = self.ended.compare_exchange(PLAYING, reason, won, lost);
    }

    fn is_playing(&self) -> bool {
        self.ended.load(Ordering::Relaxed) == PLAYING
    }
}

impl ClientState {
    pub(crate) fn new(
        client: &Client,
        rate: SampleRate,
        adapter: BlockAdapter,
        (inputs, outputs): (Vec<*mut RawPort>, Vec<*mut RawPort>),
        (midi, follower): (MidiSide, Option<Follower>),
        callback: Box<dyn AudioCallback>,
    ) -> Self {
        let status = ClientStatus::new(rate.hz(), adapter.latency());
        let state = CallbackState {
            callback,
            adapter,
            library: client.library,
            client: client.raw,
            input_list: SliceList::new(inputs.len()),
            output_list: SliceList::new(outputs.len()),
            inputs,
            outputs,
            midi,
            follower,
            rate,
            seen_xruns: 0,
        };
        Self {
            status,
            entrance: Entrance::default(),
            state: UnsafeCell::new(state),
        }
    }

    /// The callback, after the client was closed.
    pub(crate) fn into_callback(self) -> Box<dyn AudioCallback> {
        self.state.into_inner().callback
    }
}

impl CallbackState {
    /// Plays the frames of one callback.
    ///
    /// Real-time: hot.
    fn process(&mut self, frames: u32, status: &ClientStatus) {
        if !status.is_playing() {
            return self.silence(frames);
        }
        let blocks = self.adapter.blocks(frames as usize);
        let mut time = TimeShare::new(self.time_left(frames, status), blocks);
        let mut xruns = self.new_xruns(blocks, status);
        let f = &self.library.functions;
        // SAFETY: we are in the process callback, and the ports are ours.
        unsafe { self.midi.begin(f, frames) };
        // SAFETY: we are in the process callback, and the ports are ours, each of the kind that is asked for.
        let port_inputs = self
            .inputs
            .iter()
            .map(|&port| unsafe { input(f, port, frames) });
        // SAFETY: we are in the process callback; each port is asked once, so no two slices are of one buffer.
        let port_outputs = self
            .outputs
            .iter()
            .map(|&port| unsafe { output(f, port, frames) });
        let mut follower = self.follower.as_mut();
        let filled = follower.as_ref().map_or(0, |follower| follower.filled());
        if let Some(follower) = &mut follower {
            // SAFETY: we are in the process callback.
            follower.begin_period(unsafe { transport::query(f, self.client) });
        }
        let adapter = &mut self.adapter;
        let mut client = JackBlocks {
            functions: f,
            callback: &mut *self.callback,
            midi: &mut self.midi,
            info: || CallbackInfo {
                budget: time.share(),
                xruns: std::mem::take(&mut xruns),
                transport: match &mut follower {
                    Some(follower) => {
                        follower.begin_block();
                        follower.end_block()
                    }
                    None => HostTransport::default(),
                },
            },
        };
        self.input_list.with(port_inputs, |inputs| {
            self.output_list.with(port_outputs, |outputs| {
                adapter.exchange_with(frames as usize, inputs, outputs, &mut client);
            });
        });
        if let Some(follower) = &mut self.follower {
            follower.end_period(frames, filled);
        }
        status
            .latency
            .store(self.adapter.latency().0, Ordering::Relaxed);
    }

    /// Real-time: hot.
    fn silence(&mut self, frames: u32) {
        // SAFETY: we are in the process callback, and the ports are ours.
        unsafe { self.midi.begin(&self.library.functions, frames) };
        for &port in &self.outputs {
            // SAFETY: we are in the process callback, and the port is an output of ours.
            unsafe { output(&self.library.functions, port, frames) }.fill(0.0);
        }
    }

    /// Time until this callback must be over, at most as long as its frames last; `None` while the server freewheels.
    ///
    /// Real-time: hot.
    fn time_left(&self, frames: u32, status: &ClientStatus) -> Option<Nanos> {
        if status.freewheel.load(Ordering::Relaxed) {
            return None;
        }
        let whole = Frames(frames).duration(self.rate);
        let f = &self.library.functions;
        // SAFETY: the client is open and calls us.
        let gone = unsafe { (f.jack_frames_since_cycle_start)(self.client) };
        let gone = Frames(gone.min(frames)).duration(self.rate);
        Some(Nanos(whole.0.saturating_sub(gone.0)))
    }

    /// Xruns that the callback has not heard of and will in this callback, if it runs at all.
    ///
    /// Real-time: hot.
    fn new_xruns(&mut self, blocks: usize, status: &ClientStatus) -> u32 {
        if blocks == 0 {
            return 0;
        }
        let seen = std::mem::replace(&mut self.seen_xruns, status.xruns.load(Ordering::Relaxed));
        self.seen_xruns.wrapping_sub(seen)
    }
}

/// Shares the time of a JACK callback among the blocks that it must play.
struct TimeShare {
    begun: Instant,
    left: Option<Duration>,
    blocks: u32,
}

impl TimeShare {
    fn new(left: Option<Nanos>, blocks: usize) -> Self {
        Self {
            begun: Instant::now(),
            left: left.map(|left| Duration::from_nanos(left.0)),
            blocks: u32::try_from(blocks).unwrap_or(u32::MAX),
        }
    }

    /// Budget of the next block: an equal share of the time that is left.
    fn share(&mut self) -> Option<Nanos> {
        let left = self.left?.saturating_sub(self.begun.elapsed());
        let share = left / self.blocks.max(1);
        self.blocks = self.blocks.saturating_sub(1);
        Some(Nanos(share.as_nanos() as u64))
    }
}

/// Samples of an input port; empty if the server has no buffer for it.
///
/// # Safety
/// Called in the process callback of the client that owns `port`, which is an input.
unsafe fn input<'a>(f: &Functions, port: *mut RawPort, frames: u32) -> &'a [f32] {
    // SAFETY: the port exists; what comes back is null or as many samples as there are frames, for this callback.
    unsafe {
        let buffer = (f.jack_port_get_buffer)(port, frames).cast::<f32>();
        if buffer.is_null() {
            return &[];
        }
        from_raw_parts(buffer, frames as usize)
    }
}

/// Buffer of an output port; empty if the server has none.
///
/// # Safety
/// As [`input`], of an output; and not twice for one port at a time.
unsafe fn output<'a>(f: &Functions, port: *mut RawPort, frames: u32) -> &'a mut [f32] {
    // SAFETY: as in `input`; an output's buffer is its own, also where it is connected to an input of ours: the
    // servers copy then. They leave no sample unset.
    unsafe {
        let buffer = (f.jack_port_get_buffer)(port, frames).cast::<f32>();
        if buffer.is_null() {
            return &mut [];
        }
        from_raw_parts_mut(buffer, frames as usize)
    }
}

/// The state behind a callback's argument.
///
/// # Safety
/// `arg` is what `Client::activate` gave, and the client is not closed.
unsafe fn client_state<'a>(arg: *mut c_void) -> &'a ClientState {
    // SAFETY: the caller says so, and the state outlives the client.
    unsafe { &*arg.cast_const().cast::<ClientState>() }
}

/// On the thread that will call `process`, before it does.
///
/// Real-time: setup.
pub(crate) unsafe extern "C" fn thread_begins(_: *mut c_void) {
    // The thread is the server's library's, and plays until it ends: nothing is to be put back.
    std::mem::forget(workers::AudioThread::enter());
}

/// Real-time: hot.
pub(crate) unsafe extern "C" fn process(frames: u32, arg: *mut c_void) -> c_int {
    // SAFETY: the server hands back what it was given.
    let client = unsafe { client_state(arg) };
    let Some(_inside) = client.entrance.enter() else {
        // The buffers stay as the server gave them: the ports belong to the call that is inside.
        client.status.xruns.fetch_add(1, Ordering::Relaxed);
        return 0;
    };
    // SAFETY: this call alone is inside, and nobody else touches the state while `process` may be called.
    let state = unsafe { &mut *client.state.get() };
    // A panic must not reach C. The callback is not called again after one.
    let played = catch_unwind(AssertUnwindSafe(|| state.process(frames, &client.status)));
    if let Err(panic) = played {
        // To free it here might do anything.
        std::mem::forget(panic);
        client.status.end(PANICKED);
        state.silence(frames);
    }
    0
}

pub(crate) unsafe extern "C" fn rate(rate: u32, arg: *mut c_void) -> c_int {
    // SAFETY: as in `process`.
    let status = &unsafe { client_state(arg) }.status;
    if rate != status.rate {
        status.new_rate.store(rate, Ordering::Relaxed);
        status.end(RATE_CHANGED);
    }
    0
}

/// Real-time: hot.
pub(crate) unsafe extern "C" fn xrun(arg: *mut c_void) -> c_int {
    // SAFETY: as in `process`.
    let status = &unsafe { client_state(arg) }.status;
    status.xruns.fetch_add(1, Ordering::Relaxed);
    0
}

pub(crate) unsafe extern "C" fn freewheel(on: c_int, arg: *mut c_void) {
    // SAFETY: as in `process`.
    let status = &unsafe { client_state(arg) }.status;
    status.freewheel.store(on != 0, Ordering::Relaxed);
}

pub(crate) unsafe extern "C" fn port_registered(_: u32, _: c_int, arg: *mut c_void) {
    // SAFETY: as in `process`.
    let status = &unsafe { client_state(arg) }.status;
    status.ports_changed.store(true, Ordering::Relaxed);
}

pub(crate) unsafe extern "C" fn ports_connected(_: u32, _: u32, on: c_int, arg: *mut c_void) {
    // SAFETY: as in `process`.
    unsafe { port_registered(0, on, arg) };
}

/// May come as a signal would: one atomic store.
pub(crate) unsafe extern "C" fn shutdown(arg: *mut c_void) {
    // SAFETY: as in `process`.
    unsafe { client_state(arg) }.status.end(SERVER_GONE);
}

/// As [`shutdown`]. The server's own words are not kept: nothing may be allocated here.
pub(crate) unsafe extern "C" fn info_shutdown(_: c_uint, _: *const c_char, arg: *mut c_void) {
    // SAFETY: as in `process`.
    unsafe { shutdown(arg) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callback_without_a_deadline_gives_its_blocks_none() {
        let mut time = TimeShare::new(None, 2);
        assert_eq!((time.share(), time.share()), (None, None));
    }

    #[test]
    fn blocks_of_one_callback_share_its_time() {
        let mut time = TimeShare::new(Some(Nanos(1_000_000_000)), 4);
        let share = time.share().unwrap();
        assert!(share <= Nanos(250_000_000));
        assert_eq!(time.blocks, 3);
        // More blocks than were announced, or none, still have a share.
        time.blocks = 0;
        assert!(time.share().is_some());
    }

    #[test]
    fn a_second_call_of_the_process_callback_stays_outside_until_the_first_has_left() {
        let entrance = Entrance::default();
        let first = entrance.enter();
        assert!(first.is_some() && entrance.enter().is_none());
        drop(first);
        assert!(entrance.enter().is_some());
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _inside = entrance.enter();
            std::panic::resume_unwind(Box::new(()));
        }));
        assert!(panicked.is_err() && entrance.enter().is_some());
    }

    #[test]
    fn the_first_reason_to_end_stands() {
        let status = ClientStatus::new(48_000, Frames(0));
        assert_eq!(status.state(), DriverState::Playing);
        status.new_rate.store(44_100, Ordering::Relaxed);
        status.end(RATE_CHANGED);
        status.end(SERVER_GONE);
        let DriverState::Ended { reason } = status.state() else {
            panic!("it ended");
        };
        assert!(
            reason.contains("48000") && reason.contains("44100"),
            "{reason}"
        );
    }
}
