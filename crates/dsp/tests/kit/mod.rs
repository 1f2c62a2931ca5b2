//! One processor and its background work, played block by block, live or offline.

use divisi_dsp as dsp;
use graph::{Catalogue, Node, ParamValue};
use processor::{
    BackgroundTask, Block, FileLog, ForkAbandoned, ForkTask, Gauge, MakeError, Mode, ProcessInfo,
    ProcessServices, ProcessStatus, Processor, RawChannel, RawPort, RawPorts, Registry, Setup,
    SetupServices, StepIo, TaskStatus,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use units::{Frames, Nanos, SampleRate};

/// A folder that is removed when it is dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Self {
        let name = format!("divisi-dsp-{}-{test}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A node of `kind`, with its ports.
pub(crate) fn node(kind: &str, params: &[(&str, ParamValue)]) -> Node {
    let mut node = Node::new("n", kind);
    for (key, value) in params {
        node.set(*key, value.clone());
    }
    let catalogue = dsp::catalogue();
    assert!(Catalogue::assign_ports(catalogue.get(kind).unwrap(), &mut node).is_empty());
    node
}

pub(crate) fn make(node: &Node) -> Result<Box<dyn Processor>, MakeError> {
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    registry.make(node, Path::new("/"))
}

pub(crate) struct Player {
    pub(crate) processor: Box<dyn Processor>,
    pub(crate) background: Vec<Box<dyn BackgroundTask>>,
    pub(crate) gauge: Gauge,
    pub(crate) log: FileLog,
    pub(crate) late: u32,
    pub(crate) last: ProcessStatus,
    channels: usize,
    position: u64,
    live: bool,
    /// True if the server freewheels: blocks have no deadline.
    pub(crate) freewheels: bool,
    /// True if the input is flagged as silent.
    pub(crate) silent: bool,
}

struct TestSetupServices<'a>(&'a mut Vec<Box<dyn BackgroundTask>>, &'a Gauge, &'a FileLog);

impl SetupServices for TestSetupServices<'_> {
    fn defer(&mut self, _: rt::deferred::JobRunner) {}
    fn spawn_background(&mut self, task: Box<dyn BackgroundTask>) {
        self.0.push(task);
    }
    fn gauge(&mut self, _: &str) -> Gauge {
        self.1.clone()
    }
    fn file_log(&mut self) -> FileLog {
        self.2.clone()
    }
}

/// Counts late results. The flag is true where there is no time to wait for them.
struct TestServices(AtomicU32, bool);

impl ProcessServices for TestServices {
    fn fork(&self, lanes: u32, task: &ForkTask) -> Result<(), ForkAbandoned> {
        (0..lanes).for_each(|lane| task.run(lane));
        Ok(())
    }
    fn count_late(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn time_for_late_results(&self) -> Option<Nanos> {
        self.1.then_some(Nanos(0))
    }
}

impl Player {
    pub(crate) fn new(node: &Node, hz: u32, mode: Mode) -> Self {
        Self::of(make(node).unwrap(), node, hz, mode)
    }

    /// A player of `processor`, the processor of `node`.
    pub(crate) fn of(processor: Box<dyn Processor>, node: &Node, hz: u32, mode: Mode) -> Self {
        let mut player = Self {
            processor,
            background: Vec::new(),
            gauge: Gauge::default(),
            log: FileLog::default(),
            late: 0,
            last: ProcessStatus::Continue,
            channels: node.channels.count(),
            position: 0,
            live: mode == Mode::Live,
            freewheels: false,
            silent: false,
        };
        player.processor.setup(&mut Setup {
            rate: SampleRate::new(hz).unwrap(),
            block: Frames(512),
            mode,
            services: &mut TestSetupServices(&mut player.background, &player.gauge, &player.log),
        });
        player
    }

    /// Does all background work that is due.
    pub(crate) fn run_background(&mut self) {
        let busy = |task: &mut Box<dyn BackgroundTask>| task.poll() == TaskStatus::More;
        self.background
            .iter_mut()
            .for_each(|task| while busy(task) {});
    }

    /// Plays `frames` frames of `inputs` in blocks of `block`, and returns the output of each channel. Offline the background
    /// work is done before each block.
    pub(crate) fn play(
        &mut self,
        frames: usize,
        block: usize,
        inputs: &[Vec<f32>],
    ) -> Vec<Vec<f32>> {
        let mut all = vec![Vec::with_capacity(frames); self.channels];
        let mut from = 0;
        while from < frames {
            let n = block.min(frames - from);
            if !self.live {
                self.run_background();
            }
            let now: Vec<&[f32]> = inputs.iter().map(|c| &c[from..from + n]).collect();
            for (all, played) in all.iter_mut().zip(self.block(n, &now)) {
                all.extend(played);
            }
            from += n;
        }
        all
    }

    fn block(&mut self, frames: usize, inputs: &[&[f32]]) -> Vec<Vec<f32>> {
        let mut inputs: Vec<Vec<f32>> = inputs.iter().map(|c| c.to_vec()).collect();
        let device_channels = inputs.len();
        let mut outputs = vec![vec![f32::NAN; frames]; self.channels];
        let mut flags = vec![0_u8; inputs.len() + outputs.len()];
        flags[..inputs.len()].fill(self.silent.into());
        let channels: Vec<RawChannel> = (inputs.iter_mut().chain(&mut outputs))
            .zip(&mut flags)
            .map(|(samples, content)| RawChannel {
                data: samples.as_mut_ptr(),
                content,
            })
            .collect();
        let (ins, outs) = channels.split_at(device_channels);
        let ports = [RawPort::new(ins), RawPort::new(outs)];
        let io = StepIo {
            inputs: RawPorts::new(&ports[..1]),
            outputs: RawPorts::new(&ports[1..]),
            has_events: false,
            cold: Box::default(),
        };
        let runtime = TestServices(AtomicU32::new(0), self.live && !self.freewheels);
        let info = ProcessInfo {
            frames: frames as u32,
            offset: 0,
            position: self.position,
            is_whole_block: true,
            cycle: 0,
            device_inputs: ins,
            services: &runtime,
        };
        // SAFETY: every pointer leads into the vectors above, which have `frames` frames and are nobody else's.
        let mut block = unsafe { Block::new(&io, &info) };
        self.last = self.processor.process(&mut block);
        self.position += frames as u64;
        self.late += runtime.0.load(Ordering::Relaxed);
        outputs
    }
}
