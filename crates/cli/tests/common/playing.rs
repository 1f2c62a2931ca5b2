//! A program that plays a session and takes commands.

use super::Folder;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) const TONE: &str = "
edges = [\"tone -> out\"]
[nodes.tone]
kind = \"osc\"
freq = 440
volume = 0.1
[nodes.out]
kind = \"sink\"
";

/// A program that plays `tone.toml` and listens at `s`.
pub(crate) struct Playing<'f> {
    pub(crate) here: &'f Folder,
    pub(crate) child: Child,
}

impl<'f> Playing<'f> {
    pub(crate) fn start(here: &'f Folder, options: &str) -> Self {
        let line = format!("play tone.toml --driver clock --workers 1 --socket s {options}");
        Self::begin(here, &line, |_| {})
    }

    /// As `start`, with a command line of its own that names the socket `s`.
    pub(crate) fn begin(here: &'f Folder, line: &str, prepare: impl FnOnce(&mut Command)) -> Self {
        if !here.has("tone.toml") {
            here.write("tone.toml", TONE);
        }
        let mut command = here.command(line);
        prepare(&mut command);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let playing = Self { here, child };
        let start = Instant::now();
        while !here.has("s") || here.call("send --socket s undo").code == Some(1) {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "it does not listen"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        playing
    }

    /// As `start`, with OSC at a free port. Returns its address. Later messages of the program are not read.
    pub(crate) fn start_osc(here: &'f Folder) -> (Self, String) {
        let mut playing = Self::start(here, "--osc 0");
        let errors = BufReader::new(playing.child.stderr.as_mut().unwrap());
        let mut lines = errors.lines().map_while(Result::ok);
        let address = lines.find_map(|line| Some(line.strip_prefix("OSC at ")?.to_owned()));
        (playing, address.unwrap())
    }

    pub(crate) fn send(&self, commands: &[&str]) -> Result<Value, String> {
        let mut command = self.here.command("send --socket s");
        let output = command.args(commands).output().unwrap();
        match output.status.code() {
            Some(0) => Ok(serde_json::from_slice(&output.stdout).unwrap()),
            Some(2) => Err(String::from_utf8(output.stderr).unwrap()),
            _ => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        }
    }

    pub(crate) fn graph(&self) -> Value {
        self.send(&["query graph"]).unwrap()["data"][0].clone()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let nodes = self.graph()["nodes"].as_array().unwrap().clone();
        nodes
            .iter()
            .map(|node| node["name"].as_str().unwrap().to_owned())
            .collect()
    }
}

impl Drop for Playing<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until `is_so`, as long as a machine under load may take.
pub(crate) fn wait_until(mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "it does not come"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}
