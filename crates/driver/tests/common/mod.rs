//! Servers of our own, and players that count.
#![allow(dead_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use divisi_driver::{AudioCallback, CallbackInfo, DriverConfig, DriverError, OpenDriver, jack};
use units::Frames;

/// Says why a test could not be made here, also in the file that the runner counts such tests by.
pub(crate) fn skip(test: &str, why: &str) {
    eprintln!("SKIPPED {test}: {why}");
    if let Some(path) = std::env::var_os("DIVISI_SKIPS") {
        let mut options = std::fs::OpenOptions::new();
        let file = options.create(true).append(true).open(path);
        writeln!(file.unwrap(), "SKIPPED {test}: {why}").unwrap();
    }
}

/// Returns true if a program can be started.
pub(crate) fn is_here(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

/// A name that no other server has.
pub(crate) fn name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("divisi-test-{}-{count}", std::process::id())
}

/// A server's process, ended when dropped.
pub(crate) struct Server {
    pub(crate) name: String,
    command: Command,
    process: Child,
    folder: Option<PathBuf>,
    log: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

impl Server {
    /// `jackd` with its dummy driver. Real-time where that is allowed.
    pub(crate) fn jackd(rate: u32, buffer: u32) -> Self {
        let name = name();
        let mut command = Command::new("jackd");
        command.args(["-n", &name, "-R", "-S", "-d", "dummy"]);
        command.args(["-r", &rate.to_string(), "-p", &buffer.to_string()]);
        Self::start(command, name, None)
    }

    /// PipeWire with a sink that leads nowhere, in a folder of its own; its name is its socket's path.
    pub(crate) fn pipewire() -> Self {
        let folder = std::env::temp_dir().join(name());
        std::fs::create_dir(&folder).unwrap();
        let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common/null-sink.conf");
        let mut command = Command::new("pipewire");
        command.arg("-c").arg(config);
        command.env("XDG_RUNTIME_DIR", &folder);
        command.env_remove("PIPEWIRE_RUNTIME_DIR");
        let name = folder.join("pipewire-0").to_str().unwrap().to_owned();
        Self::start(command, name, Some(folder))
    }

    /// One server at a time: a libjack can't talk to two.
    fn start(mut command: Command, name: String, folder: Option<PathBuf>) -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        command.stdin(Stdio::null());
        let log =
            std::env::temp_dir().join(format!("{}.log", name.rsplit('/').nth(1).unwrap_or(&name)));
        let file = std::fs::File::create(&log).unwrap();
        command.stdout(file.try_clone().unwrap()).stderr(file);
        end_with_us(&mut command);
        let process = command.spawn().expect("the server's program is here");
        Self {
            name,
            command,
            process,
            folder,
            log,
            _alone: alone,
        }
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Starts it again after a [`Self::kill`]. A JACK server that died keeps one of the machine's eight places until
    /// one of its name ends in order.
    pub(crate) fn again(&mut self) {
        self.process = self.command.spawn().expect("the server's program is here");
    }

    /// Waits until it answers.
    pub(crate) fn settle(&self) {
        drop(self.open(&DriverConfig::new("divisi-waits", Frames(64)), jack::open));
    }

    /// Has the server end also where these tests are killed.
    #[cfg(target_os = "linux")]
    fn end_with_us(command: &mut Command) {
        use std::os::unix::process::CommandExt;
        // SAFETY: between fork and exec only this one system call is made.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
                Ok(())
            });
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn end_with_us(_: &mut Command) {}

    /// The environment of a program that has this as its user's only server.
    pub(crate) fn surround<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let nowhere = Path::new("/nonexistent");
        command.env_remove("PIPEWIRE_RUNTIME_DIR");
        command.env("XDG_RUNTIME_DIR", self.folder.as_deref().unwrap_or(nowhere));
        command.env("JACK_DEFAULT_SERVER", self.name.rsplit('/').next().unwrap())
    }

    /// Runs a tool that belongs to the server; whether it is here.
    pub(crate) fn tool(&self, program: &str, arguments: &[&str]) -> bool {
        if !is_here(program) {
            return false;
        }
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("JACK_DEFAULT_SERVER", &self.name);
        if let Some(folder) = &self.folder {
            command.env("XDG_RUNTIME_DIR", folder);
        }
        let done = command.output().unwrap();
        assert!(done.status.success(), "{program}: {done:?}");
        true
    }

    /// Opens `request` on this server as soon as it answers.
    pub(crate) fn open(
        &self,
        request: &DriverConfig,
        open: fn(&DriverConfig) -> Result<Box<dyn OpenDriver>, DriverError>,
    ) -> Box<dyn OpenDriver> {
        let request = DriverConfig {
            server: Some(self.name.clone()),
            ..request.clone()
        };
        let patience = Instant::now() + Duration::from_secs(20);
        loop {
            match open(&request) {
                Ok(opened) => return opened,
                Err(refused) if Instant::now() > patience => {
                    let log = std::fs::read_to_string(&self.log).unwrap_or_default();
                    panic!("{refused}; the server's log: {log}");
                }
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Politely first, so that it takes its shared memory along.
        if matches!(self.process.try_wait(), Ok(None)) {
            // SAFETY: it is a child of ours that nobody has waited for, so the number is still its own.
            unsafe { libc::kill(self.process.id() as i32, libc::SIGTERM) };
        }
        let patience = Instant::now() + Duration::from_secs(5);
        while Instant::now() < patience && matches!(self.process.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        self.kill();
        sweep(&self.name);
        let _ = std::fs::remove_file(&self.log);
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// Has the server end also where these tests are killed.
#[cfg(target_os = "linux")]
fn end_with_us(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    // SAFETY: between fork and exec only this one system call is made.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            Ok(())
        });
    }
}

#[cfg(not(target_os = "linux"))]
fn end_with_us(_: &mut Command) {}

/// The environment of a program whose user has this JACK server's name, and PipeWire's socket in this folder.
pub(crate) fn surround<'a>(command: &'a mut Command, jack: &str, folder: &Path) -> &'a mut Command {
    command.env_remove("PIPEWIRE_RUNTIME_DIR");
    command.env_remove("PIPEWIRE_REMOTE");
    command.env("XDG_RUNTIME_DIR", folder);
    command.env("JACK_DEFAULT_SERVER", jack)
}

/// Takes away the shared memory of a JACK server that died.
fn sweep(server: &str) {
    for entry in std::fs::read_dir("/dev/shm")
        .into_iter()
        .flatten()
        .flatten()
    {
        if entry.file_name().to_string_lossy().contains(server) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Counts of a [`Counter`].
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) blocks: AtomicU64,
    pub(crate) wrong: AtomicU64,
    /// Frames of an unbroken ramp on the first input.
    pub(crate) ramp: AtomicU64,
}

/// Plays a ramp that counts frames on each output, and counts blocks and what it hears of such a ramp.
pub(crate) struct Counter {
    counts: Arc<Counts>,
    block: Frames,
    next: u32,
    received: f32,
}

impl Counter {
    pub(crate) fn new(block: Frames) -> (Box<Self>, Arc<Counts>) {
        let counts = Arc::new(Counts::default());
        let counter = Self {
            counts: counts.clone(),
            block,
            next: 1,
            received: 0.0,
        };
        (Box::new(counter), counts)
    }

    fn receive(&mut self, input: &[f32]) {
        for &x in input {
            if x != 0.0 && x == self.received + 1.0 {
                self.counts.ramp.fetch_add(1, Ordering::Relaxed);
            } else {
                self.counts.ramp.store(0, Ordering::Relaxed);
            }
            self.received = x;
        }
    }
}

impl AudioCallback for Counter {
    fn process(&mut self, info: CallbackInfo, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        let frames = self.block.count();
        let inputs_fit = inputs.iter().all(|input| input.len() == frames);
        let outputs_fit = outputs.iter().all(|output| output.len() == frames);
        if info.budget.is_none() || !inputs_fit || !outputs_fit {
            self.counts.wrong.fetch_add(1, Ordering::Relaxed);
        }
        self.receive(inputs.first().unwrap_or(&&[][..]));
        for output in outputs {
            for (frame, out) in output.iter_mut().enumerate() {
                *out = (self.next + frame as u32) as f32;
            }
        }
        // Whole numbers below 2^24 are exact in a float.
        self.next = (self.next + self.block.0) % (1 << 23);
        self.counts.blocks.fetch_add(1, Ordering::Relaxed);
    }
}

/// Waits until `happens`; a minute at most, to fail instead of hanging.
pub(crate) fn wait_for(what: &str, mut happens: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !happens() {
        assert!(Instant::now() < patience, "still waiting for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until `count` more blocks have been played.
pub(crate) fn wait_for_blocks(counts: &Counts, count: u64) {
    let until = counts.blocks.load(Ordering::Relaxed) + count;
    wait_for("more blocks", || {
        counts.blocks.load(Ordering::Relaxed) >= until
    });
}
