//! `render --midi-in`: MIDI files that come in at the live ports of a session.

use crate::failure::Failure;
use divisi::driver::{AudioCallback, CallbackInfo, MidiEvent};
use divisi::midi::{MidiFile, timed_messages};
use divisi::prelude::{EngineCallback, SampleRate};
use std::path::PathBuf;

/// A file for a port: `FILE.mid`, or `FILE.mid=PORT`.
#[derive(Clone, Debug)]
pub(crate) struct MidiFeedOption {
    pub(crate) file: PathBuf,
    port: Option<String>,
}

impl MidiFeedOption {
    /// Parses the option.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (file, port) = match text.rsplit_once('=') {
            Some((_, "")) => return Err("a port has a name: FILE.mid=PORT".to_owned()),
            Some((file, port)) => (file, Some(port.to_owned())),
            None => (text, None),
        };
        match file {
            "" => Err("there is no file: FILE.mid=PORT".to_owned()),
            file => Ok(Self {
                file: file.into(),
                port,
            }),
        }
    }

    /// Index of its port among `ports`.
    fn port_index(&self, ports: &[String]) -> Result<usize, Failure> {
        let names = || match ports {
            [] => "the session has no `midi_input`".to_owned(),
            all => format!("the session has the ports {}", all.join(", ")),
        };
        let file = self.file.display();
        match (&self.port, ports) {
            (None, [_]) => Ok(0),
            (None, _) => Err(Failure::bad_input(format!(
                "--midi-in {file}: it needs a port, as in {file}=keys; {}",
                names()
            ))),
            (Some(port), _) => ports.iter().position(|it| it == port).ok_or_else(|| {
                let message = format!("--midi-in: there is no port `{port}`; {}", names());
                Failure::bad_input(message)
            }),
        }
    }
}

/// An engine's callback that gets MIDI from files, each message at its frame.
pub(crate) struct MidiFeed {
    player: EngineCallback,
    /// Frame, port and message, by frame.
    messages: Vec<(u64, u16, [u8; 3])>,
    next: usize,
    position: u64,
}

impl MidiFeed {
    /// The messages of `files` for `ports`. The file's begin is frame 0.
    pub(crate) fn new(
        player: EngineCallback,
        files: &[MidiFeedOption],
        ports: &[String],
        rate: SampleRate,
    ) -> Result<Self, Failure> {
        let mut messages = Vec::new();
        for option in files {
            let port = option.port_index(ports)? as u16;
            let file = MidiFile::open(&option.file).map_err(Failure::from_input_error)?;
            let timed = timed_messages(&file, rate).into_iter();
            messages.extend(timed.map(|(frame, message)| (frame, port, message)));
        }
        // Stable: what is at one frame stays in the order of its file.
        messages.sort_by_key(|(frame, ..)| *frame);
        Ok(Self {
            player,
            messages,
            next: 0,
            position: 0,
        })
    }
}

impl AudioCallback for MidiFeed {
    fn process(&mut self, info: CallbackInfo, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        let frames = outputs.first().map_or(0, |output| output.len());
        let end = self.position + frames as u64;
        while let Some((at, port, message)) = self.messages.get(self.next)
            && *at < end
        {
            let is_short = matches!(message[0] & 0xf0, 0xc0 | 0xd0);
            self.player.push_midi(MidiEvent {
                port: *port,
                frame: (at - self.position) as u32,
                message: &message[..3 - usize::from(is_short)],
            });
            self.next += 1;
        }
        self.position = end;
        self.player.process(info, inputs, outputs);
    }
}
