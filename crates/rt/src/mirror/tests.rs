//! Tests of rings with every kind of memory: a memfd, POSIX shared memory, huge pages.

use super::memory;
use super::{Consumer, PageSize, Producer, Ring, RingError};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;

/// A way to get memory.
type Create = fn(usize, PageSize) -> Result<OwnedFd, RingError>;

/// All that this system has.
const FORMS: &[(&str, Create)] = &[
    ("the system's", memory::create),
    #[cfg(target_os = "linux")]
    ("POSIX shared memory", memory::shm::create),
];

fn ends<T: super::Pod>(
    create: Create,
    channels: usize,
    frames: usize,
) -> (Producer<T>, Consumer<T>) {
    let ring = Ring::new_in(create, channels, frames, PageSize::Default).unwrap();
    (ring.producer().unwrap(), ring.consumer().unwrap())
}

/// Writes and reads windows over the end of every channel, several times round.
fn goes_round(producer: &mut Producer<u32>, consumer: &mut Consumer<u32>) {
    let (capacity, channels) = (producer.capacity(), producer.channels());
    let (frames, mut next) = (capacity / 3 * 2 + 1, 0);
    for _ in 0..8 {
        let mut room = producer.write_chunk(frames).unwrap();
        for channel in 0..channels {
            let items = room.channel(channel).iter_mut().zip(next..);
            items.for_each(|(item, n)| *item = n * 8 + channel as u32);
        }
        room.commit(frames);
        let window = consumer.read_chunk(frames).unwrap();
        for channel in 0..channels {
            let mut items = window.channel(channel).iter().zip(next..);
            assert!(items.all(|(item, n)| *item == n * 8 + channel as u32));
        }
        window.release(frames);
        next += frames as u32;
    }
}

#[test]
fn windows_go_over_the_end_in_every_form() {
    for (form, create) in FORMS {
        for channels in [1, 3] {
            let (mut producer, mut consumer) = ends(*create, channels, 3000);
            assert_eq!(producer.capacity() * 4 % 4096, 0, "{form}");
            goes_round(&mut producer, &mut consumer);
        }
    }
}

#[test]
fn memory_without_a_name_leaves_none() {
    let count = || {
        std::fs::read_dir("/dev/shm").map_or(0, |all| {
            let own = format!("divisi-{}-", std::process::id());
            let names = all.flatten().map(|file| file.file_name());
            names
                .filter(|name| name.to_string_lossy().starts_with(&own))
                .count()
        })
    };
    for (form, create) in FORMS {
        let ring = Ring::<u8>::new_in(*create, 1, 1, PageSize::Default).unwrap();
        assert_eq!(ring.capacity(), 4096);
        // Other tests of this process make memory too: a name that is left over stays, theirs go.
        let is_none = |_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            count() == 0
        };
        assert!((0..2000).any(is_none), "{form}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn posix_memory_has_no_huge_pages_and_cannot_be_handed_on_unsealed() {
    let refused = Ring::<u8>::new_in(memory::shm::create, 1, 1, PageSize::Huge).err();
    assert!(matches!(refused, Some(RingError::Unsupported)));
    let file = memory::shm::create(8192, PageSize::Default).unwrap();
    assert!(matches!(
        memory::shm::seal(&file),
        Err(RingError::Unsupported)
    ));
    assert!(matches!(
        memory::shm::measure(&file),
        Err(RingError::Unsupported)
    ));
    // A process that receives such memory refuses it: it could shrink.
    assert!(matches!(
        Ring::<u8>::open(file),
        Err(RingError::Incompatible(_))
    ));
}

/// A ring on huge pages; `None`, with a message, where the machine has set none aside.
fn huge(test: &str, channels: usize, frames: usize) -> Option<Ring<u32>> {
    match Ring::shared(channels, frames, PageSize::Huge) {
        Ok(ring) => Some(ring),
        Err(why @ (RingError::HugePages { .. } | RingError::Unsupported)) => {
            println!("SKIPPED {test}: {why}");
            None
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn huge_pages_are_whole_and_wrap_at_the_end_and_can_be_opened() {
    let name = "huge_pages_are_whole_and_wrap_at_the_end_and_can_be_opened";
    let Some(ring) = huge(name, 2, 1000) else {
        return;
    };
    assert_eq!(ring.capacity(), (2 << 20) / 4, "a whole page a channel");
    let file = ring.file().unwrap().try_clone_to_owned().unwrap();
    // As another process would.
    let other = Ring::<u32>::open(file).unwrap();
    assert_eq!((other.capacity(), other.channels()), (ring.capacity(), 2));
    let (mut producer, mut consumer) = (ring.producer().unwrap(), other.consumer().unwrap());
    goes_round(&mut producer, &mut consumer);
    // More than anybody sets aside.
    let refused = Ring::<u32>::new(1, 1 << 38, PageSize::Huge).err().unwrap();
    let RingError::HugePages { bytes, .. } = refused else {
        panic!("{refused}");
    };
    assert!(
        refused.to_string().contains(&bytes.to_string()),
        "{refused}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn every_form_agrees_with_a_queue(
        acts in proptest::collection::vec((any::<bool>(), 0..2500usize, 0..2500usize), 1..60)
    ) {
        for (form, create) in FORMS {
            let (mut producer, mut consumer) = ends::<u16>(*create, 1, 2000);
            let (mut oracle, mut next) = (VecDeque::new(), 0_u16);
            for &(writes, lent, given) in &acts {
                let given = given.min(lent);
                if writes {
                    let Ok(mut room) = producer.write_chunk(lent) else {
                        continue;
                    };
                    room.iter_mut().zip(0..).for_each(|(item, i)| *item = next.wrapping_add(i));
                    oracle.extend(room[..given].iter().copied());
                    room.commit(given);
                    next = next.wrapping_add(given as u16);
                } else if let Ok(window) = consumer.read_chunk(lent) {
                    prop_assert!(window.iter().eq(oracle.iter().take(lent)), "{form}");
                    oracle.drain(..given);
                    window.release(given);
                }
            }
        }
    }
}
