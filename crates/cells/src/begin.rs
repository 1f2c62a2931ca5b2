//! [`begin_process`]: the first steps of a cell's process, before it opens anything of its own.

use crate::descriptors::left_open;
use crate::isolation::end_with_parent;
use crate::raw::close_with_exec;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Says in the environment that the program has begun again.
const BEGUN_AGAIN: &str = "DIVISI_CELL_BEGUN_AGAIN";

/// Begins the process of a cell: ends it with the guardian, the process `parent`, and gives up what was left open when it was started.
/// The program begins once more if something was, as the same process with the same arguments: the kernel closes the rest then, and
/// nothing that this process owns is closed behind its back.
///
/// # Errors
///
/// The guardian has ended, the kernel refuses, or something stays open.
///
/// Real-time: setup.
pub fn begin_process(parent: i32) -> io::Result<()> {
    end_with_parent(parent)?;
    let left = left_open()?;
    if left.is_empty() {
        return Ok(());
    }
    if std::env::var_os(BEGUN_AGAIN).is_some() {
        return Err(io::Error::other(format!("descriptors stay open: {left:?}")));
    }
    close_with_exec()?;
    let mut again = Command::new("/proc/self/exe");
    again.args(std::env::args_os().skip(1));
    Err(again.env(BEGUN_AGAIN, "1").exec())
}
