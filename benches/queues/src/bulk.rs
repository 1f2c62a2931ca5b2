//! Chunks of one megabyte, beside memcpy.

use crate::compare::{Candidate, compare};
use std::hint::black_box;

const BYTES: usize = 1 << 20;

pub fn report(rounds: usize) {
    let mut candidates = [
        Candidate {
            name: "divisi, in and out",
            run: mirrored(),
        },
        Candidate {
            name: "memcpy twice",
            run: plain(),
        },
    ];
    compare("1 MB in and out, one thread", rounds, 50, &mut candidates);
}

fn mirrored() -> Box<dyn FnMut(usize)> {
    let (mut producer, mut consumer) =
        rt::mirror::channel::<[u8; 4096]>(PAGES).expect("some pages");
    let (from, mut to) = (pages(7), pages(0));
    Box::new(move |times| {
        for _ in 0..times {
            let mut chunk = producer.write_chunk(PAGES).expect("it was emptied");
            chunk.copy_from_slice(black_box(&from));
            chunk.commit(PAGES);
            let chunk = consumer.read_chunk(PAGES).expect("it was filled");
            black_box(&mut to).copy_from_slice(&chunk);
            chunk.release(PAGES);
        }
        assert_eq!(to[PAGES - 1][4095], 7);
    })
}

fn plain() -> Box<dyn FnMut(usize)> {
    let (from, mut between, mut to) = (pages(7), pages(0), pages(0));
    Box::new(move |times| {
        for _ in 0..times {
            black_box(&mut between).copy_from_slice(black_box(&from));
            black_box(&mut to).copy_from_slice(&between);
        }
        assert_eq!(to[PAGES - 1][4095], 7);
    })
}

/// Memory that begins with a page, as a ring does: copies between other addresses are several times slower here.
struct Pages(Vec<Page>);

#[derive(Clone)]
#[repr(C, align(4096))]
struct Page([u8; 4096]);

const PAGES: usize = BYTES / 4096;

fn pages(value: u8) -> Pages {
    Pages(vec![Page([value; 4096]); PAGES])
}

impl std::ops::Deref for Pages {
    type Target = [[u8; 4096]];

    fn deref(&self) -> &[[u8; 4096]] {
        // SAFETY: a page is 4096 bytes and nothing else.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len()) }
    }
}

impl std::ops::DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [[u8; 4096]] {
        // SAFETY: a page is 4096 bytes and nothing else.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len()) }
    }
}
