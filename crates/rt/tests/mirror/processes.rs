//! Two processes on one ring: this program starts itself again and hands it the descriptor.

use divisi_rt::mirror::{ChunkError, PageSize, Ring, RingError};
use rustix::io::{FdFlags, fcntl_setfd};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use units::Nanos;

const ROLE: &str = "DIVISI_RING_ROLE";
const FILE: &str = "DIVISI_RING_FILE";

/// Starts this program again, as `role`.
fn start(role: &str, file: BorrowedFd<'_>) -> Child {
    fcntl_setfd(file, FdFlags::empty()).unwrap();
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::another_process", "--nocapture"])
        .env(ROLE, role)
        .env(FILE, file.as_raw_fd().to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Runs the other process. Called without a role it does nothing: the tests below start it.
#[test]
fn another_process() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let file = std::env::var(FILE).unwrap().parse().unwrap();
    // SAFETY: the descriptor was left open for this process, and nobody else here uses it.
    let file = unsafe { OwnedFd::from_raw_fd(file) };
    let ring = Ring::<u32>::open(file).unwrap();
    match role.as_str() {
        "counts" => {
            let mut producer = ring.producer().unwrap();
            for n in 0..50_000u32 {
                let mut room = producer.wait_write_chunk(3, None).unwrap();
                room.fill(n);
                room.channel(1).fill(!n);
                room.commit(3);
            }
        }
        "writes and waits to be killed" => {
            let mut producer = ring.producer().unwrap();
            producer.write_chunk(5).unwrap().commit(5);
            std::thread::sleep(Duration::from_secs(60));
        }
        "finds its end taken" => {
            assert!(matches!(ring.consumer(), Err(RingError::Taken)));
        }
        other => panic!("no role {other}"),
    }
}

#[test]
fn frames_pass_from_one_process_to_another() {
    let ring = Ring::<u32>::shared(2, 1000, PageSize::Default).unwrap();
    let mut consumer = ring.consumer().unwrap();
    let mut child = start("counts", ring.file().unwrap());
    for n in 0..50_000 {
        let window = consumer.wait_read_chunk(3, None).unwrap();
        assert_eq!(
            (window.channel(0), window.channel(1)),
            (&[n; 3][..], &[!n; 3][..])
        );
        window.release(3);
    }
    assert_eq!(
        consumer.wait_read_chunk(1, None).err(),
        Some(ChunkError::Closed { left: 0 })
    );
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_process_that_is_killed_is_noticed_with_what_it_left() {
    let ring = Ring::<u32>::shared(1, 1, PageSize::Default).unwrap();
    let mut consumer = ring.consumer().unwrap();
    let mut child = start("writes and waits to be killed", ring.file().unwrap());
    assert!(consumer.wait_read_chunk(5, None).is_ok());
    assert_eq!(
        consumer.read_chunk(6).err(),
        Some(ChunkError::TooFewFrames { available: 5 })
    );
    let waiter = std::thread::spawn(move || {
        let refusal = consumer.wait_read_chunk(6, None).err();
        (consumer, refusal, Instant::now())
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let (mut consumer, refusal, _) = waiter.join().unwrap();
    assert_eq!(refusal, Some(ChunkError::PeerDead { left: 5 }));
    assert_eq!(
        consumer.read_chunk(6).err(),
        Some(ChunkError::PeerDead { left: 5 })
    );
    assert_eq!(consumer.read_chunk(5).unwrap().len(), 5);
    let limit = Some(Nanos(1_000_000));
    assert_eq!(
        consumer.wait_read_chunk(6, limit).err(),
        Some(ChunkError::PeerDead { left: 5 })
    );
}

#[test]
fn an_end_that_a_process_left_by_its_death_is_taken_again() {
    let ring = Ring::<u32>::shared(1, 1, PageSize::Default).unwrap();
    let mut consumer = ring.consumer().unwrap();
    // Nobody has had it, and while its process lives it is not free.
    assert!(matches!(ring.resume_producer(), Err(RingError::Taken)));
    let mut child = start("writes and waits to be killed", ring.file().unwrap());
    assert!(consumer.wait_read_chunk(5, None).is_ok());
    assert!(matches!(ring.resume_producer(), Err(RingError::Taken)));
    child.kill().unwrap();
    child.wait().unwrap();
    let mut producer = ring.resume_producer().unwrap();
    assert!(matches!(ring.resume_producer(), Err(RingError::Taken)));
    // What was committed stays, and both go on over the end of the memory.
    consumer.read_chunk(5).unwrap().release(4);
    let capacity = ring.capacity();
    assert_eq!(producer.available(), capacity - 1);
    let mut chunk = producer.write_chunk(capacity - 1).unwrap();
    chunk.copy_from_slice(&(1..capacity as u32).collect::<Vec<u32>>());
    chunk.commit(capacity - 1);
    let chunk = consumer.read_chunk(capacity).unwrap();
    assert!(chunk[1..].iter().copied().eq(1..capacity as u32));
    // An end that was closed is no death.
    drop(consumer);
    assert!(matches!(ring.resume_consumer(), Err(RingError::Taken)));
}

#[test]
fn counts_that_cannot_be_are_not_gone_on_from() {
    use std::os::unix::fs::FileExt;
    let ring = Ring::<u32>::shared(1, 1, PageSize::Default).unwrap();
    let mut consumer = ring.consumer().unwrap();
    let mut child = start("writes and waits to be killed", ring.file().unwrap());
    assert!(consumer.wait_read_chunk(5, None).is_ok());
    child.kill().unwrap();
    child.wait().unwrap();
    // The peer writes every word of the header behind its description.
    let memory = std::fs::File::from(copy(&ring));
    let word = |at: u64| {
        let mut bytes = [0; 8];
        memory.read_exact_at(&mut bytes, at).unwrap();
        u64::from_ne_bytes(bytes)
    };
    let written = (64..1024).step_by(8).find(|at| word(*at) == 5).unwrap();
    memory
        .write_all_at(&u64::MAX.to_ne_bytes(), written)
        .unwrap();
    assert!(matches!(
        ring.resume_producer(),
        Err(RingError::Incompatible(_))
    ));
    memory.write_all_at(&6u64.to_ne_bytes(), written).unwrap();
    assert_eq!(
        ring.resume_producer().unwrap().available(),
        ring.capacity() - 6
    );
}

#[test]
fn an_end_is_one_process_s_only() {
    let ring = Ring::<u32>::shared(1, 1, PageSize::Default).unwrap();
    let _consumer = ring.consumer().unwrap();
    let mut child = start("finds its end taken", ring.file().unwrap());
    assert!(child.wait().unwrap().success());
}

/// A descriptor, as another process would get it.
fn copy<T: divisi_rt::mirror::Pod>(ring: &Ring<T>) -> OwnedFd {
    ring.file().unwrap().try_clone_to_owned().unwrap()
}

#[test]
fn what_is_no_ring_is_refused() {
    let refused = |file: OwnedFd| Ring::<u32>::open(file).err().unwrap().to_string();
    let null = std::fs::File::open("/dev/null").unwrap();
    assert!(refused(null.into()).contains("it is not memory"));
    let ring = Ring::<f32>::shared(1, 1, PageSize::Default).unwrap();
    assert!(refused(copy(&ring)).contains("of another type"));
    let flags = rustix::fs::MemfdFlags::ALLOW_SEALING;
    let memory = |bytes: u64| {
        let file = rustix::fs::memfd_create("test", flags).unwrap();
        rustix::fs::ftruncate(&file, bytes).unwrap();
        file
    };
    assert!(refused(memory(8192)).contains("could shrink"));
    let sealed = |bytes| {
        let file = memory(bytes);
        rustix::fs::fcntl_add_seals(&file, rustix::fs::SealFlags::SHRINK).unwrap();
        file
    };
    assert!(refused(sealed(8192)).contains("does not begin like"));
    assert!(refused(sealed(0)).contains("less than a page"));
    let ring = Ring::<u32>::shared(1, 1, PageSize::Default).unwrap();
    let written = rustix::io::pwrite(copy(&ring), &u64::MAX.to_ne_bytes(), 16).unwrap();
    assert_eq!(written, 8);
    assert!(
        Ring::<u32>::open(copy(&ring)).is_err(),
        "frames beyond the file"
    );
}

/// Bits from everywhere, the same in every run.
fn noise(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    let mixed = *state ^ (*state >> 33);
    // Small numbers, large ones and those near the ends alike.
    mixed >> (mixed % 64)
}

#[test]
fn no_header_makes_an_end_read_or_write_outside() {
    const ROUNDS: usize = 10_000_000;
    let ring = Ring::<u32>::shared(1, 1000, PageSize::Default).unwrap();
    let (mut producer, mut consumer) = (ring.producer().unwrap(), ring.consumer().unwrap());
    let file = copy(&ring);
    // The hostile process's own mapping of the first page.
    // SAFETY: the system chooses free addresses, the file has a page, and every access below is to a word in it.
    let page = unsafe {
        use rustix::mm::{MapFlags, ProtFlags, mmap};
        let access = ProtFlags::READ | ProtFlags::WRITE;
        mmap(
            std::ptr::null_mut(),
            4096,
            access,
            MapFlags::SHARED,
            &file,
            0,
        )
        .unwrap()
    };
    let words = page.cast::<std::sync::atomic::AtomicU64>();
    let (mut state, mut corrupt, mut served) = (1, 0, 0);
    for _ in 0..ROUNDS {
        let (place, value) = (noise(&mut state) as usize % 128, noise(&mut state));
        // SAFETY: one of the 512 words of the page.
        let word = unsafe { &*words.add(place) };
        word.store(value, std::sync::atomic::Ordering::Relaxed);
        let frames = noise(&mut state) as usize % 1200;
        match consumer.read_chunk(frames) {
            Ok(window) => {
                assert_eq!(window.len(), frames);
                // Reads the whole of it: outside there is nothing mapped, and the program would end.
                std::hint::black_box(window.iter().fold(0, |a, b| a ^ b));
                served += 1;
                window.release(frames / 2);
            }
            Err(ChunkError::Corrupt) => corrupt += 1,
            Err(_) => (),
        }
        match producer.write_chunk(frames) {
            Ok(mut room) => {
                room.fill(frames as u32);
                served += 1;
                room.commit(frames / 2);
            }
            Err(ChunkError::Corrupt) => corrupt += 1,
            Err(_) => (),
        }
    }
    assert!(
        corrupt > 1000 && served > 1000,
        "both happen: {corrupt}, {served}"
    );
}
