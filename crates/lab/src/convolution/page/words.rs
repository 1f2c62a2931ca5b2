//! What was done, and what it does not show.

use super::{BLOCK, CHANNELS, RATE_HZ};
use crate::MachineInfo;
use crate::page::Page;

/// What was done.
pub(super) fn method(page: &mut Page, machine: &MachineInfo) {
    page.text(
        "Convolution with an impulse response of many seconds, and no latency: the response is cut into partitions, short ones \
         first, and each size (a level, in the paper an FDL) has a period of its own to compute. In 2011 Eric Battenberg and \
         Rimas Avižienis compared how an ordinary system can schedule that: each level on a thread, the shorter the more urgent \
         (preemptive), or the work of two levels cut by hand into equal shares, one for each callback (time-distributed). Here \
         their figures are made again, with Divisi's convolver.",
    );
    page.section("What was done");
    let us = BLOCK as f64 * 1e6 / RATE_HZ;
    page.list([
        format!(
            "Blocks of {BLOCK} frames at 44.1 kHz (a period of {us:.0} µs), responses of 16384 to 524288 frames of noise, each \
             channel its own; {CHANNELS} channels for the load."
        ),
        "Two levels: of the block's size, and of 32 times that, as the paper's time-distributed version and its preemptive one \
         with two levels. Otherwise the partition of the least load, by what a level of sixteen channels was measured to cost with swept \
         caches."
            .to_owned(),
        "Most channels: more and more of them, until a short run has a miss; then a longer run (6 s, at 524288 frames on one \
         core 20 s; 1.5 s if quick; the paper's were 60 s), with fewer channels until it has none. A miss is a callback that was not done when the next was due, or a level's result \
         that was not there when it was due."
            .to_owned(),
        format!(
            "The callback has real-time priority, the levels' threads less. This is a virtual machine of {} cores that others use \
             too: a probe, more urgent than anything here, sleeps on the callback's core and notes when it woke late; what it uses counts for nobody. A miss \
             that such a gap makes up for is the machine's, and not counted against anybody. Who uses more than 93 % of a core \
             holds nothing.",
            machine.cores
        ),
        "The control: everything that comes up is computed in the callback in which it comes up (inline). It costs least and \
         holds least."
            .to_owned(),
    ]);
}

/// What it does not show.
pub(super) fn limits(page: &mut Page) {
    page.section("What it does not show");
    page.list([
        "The paper's machine: a Westmere of 2.66 GHz with real-time patches, one socket, without hyper-threads or turbo. Its \
         numbers of channels stand here for comparison of the order, not of the height.",
        "A sound device. The beat is a clock's; a device's callbacks come with a jitter of their own, which is injected here.",
        "More cores than there are here.",
        "Short runs: what misses once in an hour.",
    ]);
}
