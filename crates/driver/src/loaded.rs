//! [`functions!`]: a table of the functions of a C library that is loaded when the program runs.
//!
//! No package is needed to build. All symbols are bound at once (`RTLD_NOW`), not at the first call on an audio thread.
//! A library stays to the end of the program: its threads may.

use std::ffi::{CStr, c_char};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// Declares a struct with a pointer to each function, and `find`, which looks them up by their names.
macro_rules! functions {
    ($(#[$doc:meta])* $table:ident { $($name:ident: $type:ty,)* }) => {
        $(#[$doc])*
        pub(crate) struct $table { $(pub(crate) $name: $type,)* }

        impl $table {
            /// # Safety
            /// `handle` is a library whose functions have these types, as in its headers, and it is never closed.
            pub(crate) unsafe fn find(
                handle: &libloading::os::unix::Library,
            ) -> Result<Self, libloading::Error> {
                Ok(Self { $(
                    // SAFETY: the caller says so, and the types above are the header's.
                    $name: unsafe { *handle.get::<$type>(concat!(stringify!($name), "\0").as_bytes())? },
                )* })
            }
        }
    };
}
pub(crate) use functions;

/// Opens a library, without lending its symbols to others.
///
/// # Safety
/// The library's initialisers, and those of what it needs, expect nothing of us.
pub(crate) unsafe fn open(path: &Path) -> Option<Library> {
    // SAFETY: the caller says so.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.ok()
}

/// A copy of a C string; empty for none.
///
/// # Safety
/// `string` is null or a C string that stays for the call.
pub(crate) unsafe fn text(string: *const c_char) -> String {
    if string.is_null() {
        return String::new();
    }
    // SAFETY: the caller says so.
    let string = unsafe { CStr::from_ptr(string) };
    string.to_string_lossy().into_owned()
}
