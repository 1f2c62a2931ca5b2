//! The other process: the program starts itself again, hands it two rings, and it sends back whatever comes.

use super::Patience;
use super::pass::{Mirrored, Post, capacity, is_gone, ways};
use divisi::rt::mirror::{Pages, Ring};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::process::{Child, Command, Stdio};

/// The name by which the program is asked to be the other process.
pub(super) const COMMAND: &str = "ring-echo";

/// The other process and this end of its rings. Dropped, it ends.
pub(super) struct Echo {
    end: Option<Mirrored>,
    child: Child,
}

impl Echo {
    /// Starts this program again; `None` where this is not the program (a test, a host).
    pub(super) fn start(size: usize) -> Option<io::Result<Self>> {
        let program = std::env::current_exe().ok()?;
        let is_it = program.file_stem().is_some_and(|name| name == "divisi");
        is_it.then(|| Self::start_as(Command::new(program), size))
    }

    fn start_as(mut program: Command, size: usize) -> io::Result<Self> {
        let ring = || Ring::<u8>::shared(1, capacity(size), Pages::Usual).map_err(io::Error::other);
        let (there, back) = (ring()?, ring()?);
        let out = there.producer().map_err(io::Error::other)?;
        let home = back.consumer().map_err(io::Error::other)?;
        let path = |ring: &Ring<u8>| {
            let file = ring.file().map_or(-1, |file| file.as_raw_fd());
            format!("/proc/{}/fd/{file}", std::process::id())
        };
        let child = program
            .args([COMMAND, &path(&there), &path(&back), &size.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        let mut echo = Self {
            end: Some(ways(out, home)),
            child,
        };
        // Until it has opened both, they must stay open here.
        echo.wait(size)?;
        Ok(echo)
    }

    /// Waits for the first answer.
    fn wait(&mut self, size: usize) -> io::Result<()> {
        let mut bytes = vec![0; size];
        self.end().put(&bytes);
        while !self.end().take(&mut bytes) {
            if let Some(status) = self.child.try_wait()? {
                return Err(io::Error::other(format!(
                    "the other process has ended: {status}"
                )));
            }
            std::thread::yield_now();
        }
        Ok(())
    }

    pub(super) fn end(&mut self) -> &mut Mirrored {
        self.end.as_mut().expect("it is there until it is dropped")
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        drop(self.end.take());
        let _ = self.child.wait();
    }
}

/// What the other process does: sends back portions of `size` bytes that come by the ring behind one path, through the ring
/// behind the other, until the first process is gone.
///
/// # Errors
///
/// A path leads to no ring.
///
/// Real-time: waits, for the first process.
pub fn echo(there: &str, back: &str, size: usize) -> io::Result<()> {
    let open = |path: &str| -> io::Result<Ring<u8>> {
        let file: File = OpenOptions::new().read(true).write(true).open(path)?;
        Ring::open(file.into()).map_err(io::Error::other)
    };
    let (there, back) = (open(there)?, open(back)?);
    let size = size.clamp(1, there.capacity());
    let home = there.consumer().map_err(io::Error::other)?;
    let out = back.producer().map_err(io::Error::other)?;
    let (mut end, mut bytes) = (ways(out, home), vec![0; size]);
    loop {
        let (mut tries, mut patience) = (0_u32, Patience::default());
        while !end.take(&mut bytes) {
            tries = tries.wrapping_add(1);
            if tries.is_multiple_of(1_000) && is_gone(&mut end) {
                return Ok(());
            }
            patience.wait();
        }
        end.put(&bytes);
    }
}
