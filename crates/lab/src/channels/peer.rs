//! The other process: it sends messages back as they are, or through a graph.

use super::{GRAPH_BYTES, GRAPH_CHANNELS, GRAPH_FRAMES};
use divisi::driver::{AudioCallback, CallbackInfo};
use divisi::prelude::{Engine, EngineCallback, EngineOptions, Frames, Mode, SampleRate, Scheduler};
use divisi::rt::mirror::{ChunkError, Consumer, PageSize, Producer, Ring};
use divisi::rt::stamp;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

/// Messages in each ring. A larger ring takes more lines and pages in turn than the nearest caches hold.
const MESSAGES: usize = 2;
/// Looks at an empty ring before the core is offered to others, and the other process is asked for.
const PATIENCE: u32 = 20_000;

/// This process's ends of the channel, and the other process, which ends when this is dropped.
pub(crate) struct ChannelPeer {
    ends: Option<(Producer<u8>, Consumer<u8>)>,
    child: Child,
}

impl ChannelPeer {
    /// Starts `program` once more; with a graph, if `has_graph`.
    pub(crate) fn start(program: &PathBuf, size: usize, has_graph: bool) -> io::Result<Self> {
        let room = MESSAGES * size;
        let ring = || Ring::<u8>::shared(1, room, PageSize::Default).map_err(io::Error::other);
        let (there, back) = (ring()?, ring()?);
        let outgoing = there.producer().map_err(io::Error::other)?;
        let incoming = back.consumer().map_err(io::Error::other)?;
        let path = |ring: &Ring<u8>| {
            let file = ring.file().map_or(-1, |file| file.as_raw_fd());
            format!("/proc/{}/fd/{file}", std::process::id())
        };
        let mut command = Command::new(program);
        command.arg("queue-peer").arg(size.to_string());
        command.args([path(&there), path(&back)]).arg("--awake");
        if has_graph {
            command.arg("--graph");
        }
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
        let ends = Some((outgoing, incoming));
        let mut peer = Self { ends, child };
        // Both rings stay open here until the other process has opened them, which its first answer shows.
        peer.round_trips(size, 1)?;
        Ok(peer)
    }

    /// Ticks of each of `trips` round trips.
    pub(crate) fn round_trips(&mut self, size: usize, trips: usize) -> io::Result<Vec<u64>> {
        let ended = || io::Error::other("the other process has ended");
        let (outgoing, incoming) = self.ends.as_mut().expect("they are there until the drop");
        let mut message = vec![0; size];
        let mut times = Vec::with_capacity(trips);
        for _ in 0..trips {
            let begin = stamp::now();
            if !send(outgoing, &message) {
                return Err(ended());
            }
            let mut looks = 0;
            while incoming.available() < size {
                std::hint::spin_loop();
                looks += 1;
                if looks % PATIENCE == 0 {
                    if self.child.try_wait()?.is_some() {
                        return Err(ended());
                    }
                    std::thread::yield_now();
                }
            }
            if !receive(incoming, &mut message) {
                return Err(ended());
            }
            times.push(stamp::now().wrapping_sub(begin));
        }
        Ok(times)
    }
}

impl Drop for ChannelPeer {
    fn drop(&mut self) {
        drop(self.ends.take());
        let _ = self.child.wait();
    }
}

fn send(to: &mut Producer<u8>, message: &[u8]) -> bool {
    let Ok(mut chunk) = to.write_chunk(message.len()) else {
        return false;
    };
    chunk.copy_from_slice(message);
    chunk.commit(message.len());
    true
}

fn receive(from: &mut Consumer<u8>, message: &mut [u8]) -> bool {
    let Ok(chunk) = from.read_chunk(message.len()) else {
        return false;
    };
    message.copy_from_slice(&chunk);
    chunk.release(message.len());
    true
}

/// Sends messages of `size` bytes back until the other process ends, through a graph if `has_graph`. It never sleeps.
///
/// # Errors
///
/// A path leads to no ring, or the graph cannot be made.
///
/// Real-time: waits, for the other process.
pub fn serve_channel(size: usize, (there, back): (&str, &str), has_graph: bool) -> io::Result<()> {
    let open = |path: &str| -> io::Result<Ring<u8>> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        Ring::open(file.into()).map_err(io::Error::other)
    };
    let (there, back) = (open(there)?, open(back)?);
    let size = size.clamp(1, there.capacity().min(back.capacity()));
    let mut incoming = there.consumer().map_err(io::Error::other)?;
    let mut outgoing = back.producer().map_err(io::Error::other)?;
    let mut graph = has_graph.then(LoopBack::new).transpose()?;
    let (mut message, mut looks) = (vec![0; size], 0u32);
    loop {
        if incoming.available() < size {
            std::hint::spin_loop();
            looks += 1;
            if looks % PATIENCE == 0 && has_ended(&mut incoming, size) {
                return Ok(());
            }
            continue;
        }
        if !receive(&mut incoming, &mut message) {
            return Ok(());
        }
        if let Some(graph) = &mut graph {
            graph.process(&mut message);
        }
        if !send(&mut outgoing, &message) {
            return Ok(());
        }
    }
}

/// Returns true if the other process has closed its end or ended. It asks the system.
fn has_ended(incoming: &mut Consumer<u8>, size: usize) -> bool {
    let chunk = incoming.read_chunk(size).map(drop);
    !matches!(chunk, Ok(()) | Err(ChunkError::TooFewFrames { .. }))
}

/// A graph whose outputs are its inputs.
struct LoopBack {
    _engine: Engine,
    callback: EngineCallback,
    inputs: Vec<Vec<f32>>,
    outputs: Vec<Vec<f32>>,
}

impl LoopBack {
    fn new() -> io::Result<Self> {
        let registry = Arc::new(divisi::registry());
        let text = format!(
            "edges = [\"in -> out\"]\n[nodes]\nin = {{ kind = \"input\", channels = {GRAPH_CHANNELS} }}\nout = {{ kind = \"sink\" }}\n"
        );
        let graph = divisi::text::toml::read(&text, registry.catalogue())
            .session
            .graph;
        let rate = SampleRate::new(44_100).expect("it is not zero");
        let mut options = EngineOptions::new(Frames(GRAPH_FRAMES as u32), rate);
        options.scheduler = Scheduler::Sequential;
        options.workers = 1;
        options.mode = Mode::Live;
        options.input_channels = GRAPH_CHANNELS as u16;
        options.prevent_cpu_sleep = false;
        let made = Engine::new(graph, registry, options);
        let (engine, callback) = made.map_err(io::Error::other)?;
        let channels = || vec![vec![0.0; GRAPH_FRAMES]; GRAPH_CHANNELS];
        Ok(Self {
            _engine: engine,
            callback,
            inputs: channels(),
            outputs: channels(),
        })
    }

    /// Plays a block: the message is channels x frames.
    fn process(&mut self, message: &mut [u8]) {
        let samples = message[..GRAPH_BYTES.min(message.len())].chunks_exact(4);
        for (sample, bytes) in self.inputs.iter_mut().flatten().zip(samples) {
            *sample = f32::from_le_bytes(bytes.try_into().expect("four bytes"));
        }
        let inputs: [&[f32]; GRAPH_CHANNELS] = std::array::from_fn(|at| &*self.inputs[at]);
        let mut outputs = self.outputs.iter_mut();
        let mut outputs: [&mut [f32]; GRAPH_CHANNELS] =
            std::array::from_fn(|_| &mut **outputs.next().expect("as many"));
        self.callback
            .process(CallbackInfo::default(), &inputs, &mut outputs);
        let samples = self.outputs.iter().flatten();
        for (bytes, sample) in message.chunks_exact_mut(4).zip(samples) {
            bytes.copy_from_slice(&sample.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_gives_back_what_it_gets() {
        let mut graph = LoopBack::new().unwrap();
        let samples = (0..GRAPH_CHANNELS * GRAPH_FRAMES).map(|at| at as f32 / 1000.0);
        let message: Vec<u8> = samples.flat_map(f32::to_le_bytes).collect();
        for _ in 0..3 {
            let mut through = message.clone();
            graph.process(&mut through);
            assert_eq!(through, message);
        }
    }
}
