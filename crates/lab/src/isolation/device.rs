//! The device: sends a packet every 725 µs and waits for its answer.

use super::gaps::GapProbe;
use super::load::{command, read_refused};
use super::music::{MusicApp, PATCH, PATCH_FILE};
use super::packet::{PERIOD_NS, SAMPLES};
use divisi::rt::mirror::{Consumer, PageSize, Producer, Ring};
use divisi::units::Nanos;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

/// Samples in each ring.
const RING: usize = 16_384;
/// Longest wait for an answer.
const LIMIT: Nanos = Nanos(10_000_000_000);
/// Time before a packet at which the probe ends.
const PROBE_MARGIN: Duration = Duration::from_micros(200);
/// Executions that are dropped.
const WARM_UP: usize = 3;

/// Response times of the application.
#[derive(Default)]
pub(super) struct Responses {
    /// In nanoseconds, without the first three.
    pub(super) times_ns: Vec<u64>,
    /// Packets that were sent after their time.
    pub(super) late: u64,
    /// Gaps that the probe has seen between packets.
    pub(super) gaps: GapProbe,
    /// Refusals of the system to the application, the load and the device, with the fixes.
    pub(super) refused: Vec<String>,
}

/// The application's process and its rings; it ends when this is dropped.
pub(super) struct MusicCell {
    ends: (Producer<u32>, Consumer<u32>),
    child: Child,
    folder: PathBuf,
    /// Refusals of the system.
    pub(super) refused: Vec<String>,
}

impl MusicCell {
    /// Starts `app` as a process of `program`, on the core `core`.
    pub(super) fn start(program: &Path, app: MusicApp, core: usize) -> io::Result<Self> {
        let name = format!("divisi-isolation-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(PATCH_FILE), PATCH)?;
        let ring = || Ring::<u32>::shared(1, RING, PageSize::Default).map_err(io::Error::other);
        let (requests, replies) = (ring()?, ring()?);
        let ends = (
            requests.producer().map_err(io::Error::other)?,
            replies.consumer().map_err(io::Error::other)?,
        );
        let path = |ring: &Ring<u32>| {
            let file = ring.file().map_or(-1, |file| file.as_raw_fd());
            format!("/proc/{}/fd/{file}", std::process::id())
        };
        let mut command = command(program, app.name());
        command.args(["--rings", &path(&requests), &path(&replies)]);
        command.args(["--cores", &core.to_string()]);
        let child = command.arg("--folder").arg(&folder).spawn()?;
        let mut cell = Self {
            ends,
            child,
            folder,
            refused: Vec::new(),
        };
        cell.refused = read_refused(&mut cell.child);
        // Both rings stay open here until the process has opened them, which its first answer shows.
        cell.respond()?;
        Ok(cell)
    }

    /// Sends a packet and waits for its answer. Returns the time between, in nanoseconds.
    fn respond(&mut self) -> io::Result<u64> {
        let (outgoing, incoming) = &mut self.ends;
        let begin = Instant::now();
        let mut chunk = outgoing.write_chunk(SAMPLES).map_err(io::Error::other)?;
        chunk.fill(0.25f32.to_bits());
        chunk.commit(SAMPLES);
        let chunk = incoming.wait_read_chunk(SAMPLES, Some(LIMIT));
        let chunk = chunk.map_err(io::Error::other)?;
        let time = begin.elapsed();
        chunk.release(SAMPLES);
        Ok(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Response times over `duration`.
    pub(super) fn measure(&mut self, duration: Duration) -> io::Result<Responses> {
        let period = Duration::from_nanos(PERIOD_NS);
        let count = (duration.as_nanos() / period.as_nanos()) as usize;
        let mut found = Responses {
            times_ns: Vec::with_capacity(count),
            ..Responses::default()
        };
        let mut next = Instant::now();
        for at in 0..count + WARM_UP {
            let time = self.respond()?;
            if at >= WARM_UP {
                found.times_ns.push(time);
            }
            next += period;
            // The application waits now, so the probe takes nothing from it.
            found.gaps.watch_until(next.checked_sub(PROBE_MARGIN));
            match next.checked_duration_since(Instant::now()) {
                Some(rest) => std::thread::sleep(rest),
                None => {
                    found.late += 1;
                    next = Instant::now();
                }
            }
        }
        Ok(found)
    }
}

impl Drop for MusicCell {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
