//! The calls of the kernel that need `unsafe`: to close descriptors by number, and to trace another process.
#![allow(unsafe_code)]

use std::io;

/// Closes every descriptor of this process but standard input, output and error.
///
/// It is for the beginning of `main`, before anything was opened: then the descriptors are what the parent left open.
///
/// Real-time: setup.
pub(crate) fn close_descriptors() -> io::Result<()> {
    // SAFETY: it takes numbers. The caller has opened nothing yet, so no value of this process owns one of them.
    match unsafe { libc::close_range(3, libc::c_uint::MAX, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Attaches to another process as a debugger does: an attempt to leave a cell.
///
/// Real-time: setup.
pub(crate) fn trace_process(process: i32) -> io::Result<()> {
    let nothing = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: this request reads and writes no memory.
    match unsafe { libc::ptrace(libc::PTRACE_SEIZE, process, nothing, nothing) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
