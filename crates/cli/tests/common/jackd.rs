//! `jackd` with its dummy driver.

use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One `jackd`, ended when dropped.
pub(crate) struct Jackd {
    pub(crate) name: String,
    process: Child,
    _alone: MutexGuard<'static, ()>,
}

pub(crate) fn skip(test: &str, why: &str) {
    eprintln!("SKIPPED {test}: {why}");
    if let Some(path) = std::env::var_os("DIVISI_SKIPS") {
        use std::io::Write;
        let mut options = std::fs::OpenOptions::new();
        let file = options.create(true).append(true).open(path);
        writeln!(file.unwrap(), "SKIPPED {test}: {why}").unwrap();
    }
}

pub(crate) fn is_here(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

impl Jackd {
    /// `None` if what the test needs is not installed.
    pub(crate) fn start(test: &str, tools: &[&str]) -> Option<Self> {
        Self::start_with(test, tools, (&["-S"], 256))
    }

    /// As [`start`](Self::start), as jackd runs by default: it waits for no client within a cycle. One that waits (`-S`) waits
    /// ten seconds for a client that is killed.
    pub(crate) fn start_free(test: &str, tools: &[&str]) -> Option<Self> {
        Self::start_with(test, tools, (&[], 256))
    }

    /// As [`start`](Self::start), with buffers of `frames` frames.
    pub(crate) fn start_wide(test: &str, frames: u32) -> Option<Self> {
        Self::start_with(test, &[], (&["-S"], frames))
    }

    fn start_with(test: &str, tools: &[&str], (options, frames): (&[&str], u32)) -> Option<Self> {
        static ALONE: Mutex<()> = Mutex::new(());
        if let Some(missing) = ["jackd"].iter().chain(tools).find(|tool| !is_here(tool)) {
            skip(test, &format!("needs {missing} (Debian: jackd2)"));
            return None;
        }
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let name = format!("divisi-midi-{}-{test}", std::process::id());
        let name = name.chars().take(40).collect::<String>();
        let mut command = Command::new("jackd");
        command.args(["-n", &name, "-r"]).args(options);
        command.args(["-d", "dummy", "-r", "48000", "-p", &frames.to_string()]);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let process = command.spawn().unwrap();
        let jackd = Self {
            name,
            process,
            _alone: alone,
        };
        jackd.wait_for_port("system:playback_1");
        Some(jackd)
    }

    pub(crate) fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("JACK_DEFAULT_SERVER", &self.name);
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command
    }

    pub(crate) fn lines(&self, program: &str, arguments: &[&str]) -> Vec<String> {
        let output = self.command(program, arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits until these clients are open. Before that no tool of JACK's may ask anything: where a client leaves while another
    /// one opens, the new one may keep the semaphore of the one that left. Then it wakes nobody where the next client
    /// gets that place, which plays nothing for ever (jackd 1.9.21).
    pub(crate) fn wait_for_clients(&self, clients: &[&str]) {
        let user = rustix::process::getuid().as_raw();
        let start = Instant::now();
        for client in clients {
            let path = format!("/dev/shm/jack_sem.{user}_{}_{client}", self.name);
            while !std::path::Path::new(&path).exists() {
                assert!(start.elapsed() < Duration::from_secs(60), "no {client}");
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        // The server has made the semaphore and is about to tell the others.
        std::thread::sleep(Duration::from_millis(300));
    }

    pub(crate) fn wait_for_port(&self, port: &str) {
        let start = Instant::now();
        while !self.lines("jack_lsp", &[]).iter().any(|line| line == port) {
            assert!(start.elapsed() < Duration::from_secs(60), "no port {port}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn connect(&self, from: &str, to: &str) {
        self.wait_for_port(from);
        self.wait_for_port(to);
        assert!(
            self.command("jack_connect", &[from, to])
                .status()
                .unwrap()
                .success()
        );
    }
}

impl Drop for Jackd {
    fn drop(&mut self) {
        let id = self.process.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &id]).status();
        let start = Instant::now();
        // One that is killed keeps one of the eight places of the machine.
        while start.elapsed() < Duration::from_secs(60)
            && matches!(self.process.try_wait(), Ok(None))
        {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
