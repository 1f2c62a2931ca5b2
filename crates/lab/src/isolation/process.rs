//! The processes of this experiment: the application in its cell, and the load.

use super::load::{END_OF_REFUSED, Load};
use super::music::{Music, MusicApp};
use super::packet::{PRIORITY, SAMPLES};
use divisi::cells::{Isolation, begin_process};
use divisi::rt::mirror::{ChunkError, Ring};
use divisi::units::Nanos;
use divisi::workers::{AudioThread, Priority};
use std::fs::OpenOptions;
use std::hint::black_box;
use std::io::{self, Write};
use std::path::Path;

/// Longest wait for a packet before the process looks again.
const IDLE: Nanos = Nanos(50_000_000);
/// Words that the load sorts at once: 1 MiB.
const WORDS: usize = 1 << 18;
/// Memory in MiB that a cell may take after its start.
const MEMORY_MIB: u64 = 64;

/// Answers packets with what `app` makes of them, on the cores `cores`, until the process `parent` ends. A patch is in `folder`.
///
/// # Errors
///
/// A path leads to no ring, or the application cannot be made.
///
/// Real-time: waits, for packets.
pub fn serve_music(
    app: MusicApp,
    folder: &Path,
    (requests, replies): (&str, &str),
    cores: Vec<usize>,
    parent: i32,
) -> io::Result<()> {
    begin_process(parent)?;
    let isolation = isolation(cores, PRIORITY);
    let mut refused = isolation.place();
    let open = |path: &str| -> io::Result<Ring<u32>> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        Ring::open(file.into()).map_err(io::Error::other)
    };
    let (requests, replies) = (open(requests)?, open(replies)?);
    let mut incoming = requests.consumer().map_err(io::Error::other)?;
    let mut outgoing = replies.producer().map_err(io::Error::other)?;
    let mut music = Music::new(app, folder)?;
    let _audio_thread = AudioThread::enter();
    refused.extend(isolation.restrict());
    print_refused(&refused);
    let mut packet = [0; SAMPLES];
    loop {
        match incoming.wait_read_chunk(SAMPLES, Some(IDLE)) {
            Ok(chunk) => {
                packet.copy_from_slice(&chunk);
                chunk.release(SAMPLES);
            }
            Err(ChunkError::TooFewFrames { .. }) => continue,
            Err(_) => return Ok(()),
        }
        music.process(&mut packet);
        let Ok(mut chunk) = outgoing.write_chunk(SAMPLES) else {
            return Ok(());
        };
        chunk.copy_from_slice(&packet);
        chunk.commit(SAMPLES);
    }
}

/// Sorts until the process `parent` ends: in a cell with the cores `cores`, or as an ordinary process on all.
///
/// # Errors
///
/// The parent has ended.
///
/// Real-time: waits, for the end of `parent`.
pub fn serve_load(load: Load, cores: Vec<usize>, parent: i32) -> io::Result<()> {
    begin_process(parent)?;
    let threads = match load {
        Load::Cell => cores.len(),
        _ => divisi::workers::cores().len(),
    };
    let isolation = isolation(cores, Priority::Ordinary);
    let mut refused = Vec::new();
    if load == Load::Cell {
        refused = isolation.place();
    }
    let words = vec![0; WORDS];
    for at in 1..threads {
        let words = words.clone();
        std::thread::spawn(move || sort_forever(words, at as u64));
    }
    if load == Load::Cell {
        refused.extend(isolation.restrict());
    }
    print_refused(&refused);
    sort_forever(words, 0)
}

/// Tells the experiment what the system refused.
fn print_refused(refused: &[String]) {
    let mut out = io::stdout().lock();
    let lines = refused.iter().map(String::as_str);
    for line in lines.chain([END_OF_REFUSED]) {
        // An experiment that has ended needs no lines.
        let _ = writeln!(out, "{line}");
    }
    let _ = out.flush();
}

fn isolation(cores: Vec<usize>, priority: Priority) -> Isolation {
    Isolation {
        cores,
        memory_mib: MEMORY_MIB,
        priority,
        is_switched: false,
    }
}

fn sort_forever(mut words: Vec<u64>, seed: u64) -> ! {
    let mut seed = seed;
    loop {
        seed = sort_once(&mut words, seed);
    }
}

/// Sorts random words, and returns the next seed.
fn sort_once(words: &mut [u64], mut seed: u64) -> u64 {
    for word in words.iter_mut() {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        *word = seed;
    }
    words.sort_unstable();
    black_box(words);
    seed
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_load_sorts_other_words_each_time() {
        let mut words = vec![0; 1000];
        let seed = super::sort_once(&mut words, 0);
        assert!(words.is_sorted());
        let first = words.clone();
        super::sort_once(&mut words, seed);
        assert!(words.is_sorted() && words != first);
    }
}
