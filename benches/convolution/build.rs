//! Compiles the shim over Debian's zita-convolver, or says how to install it.

use std::path::Path;

const FOLDERS: [&str; 3] = [
    "/usr/include",
    "/usr/local/include",
    "/opt/homebrew/include",
];

fn main() {
    println!("cargo:rerun-if-changed=shim/zita.cc");
    println!("cargo:rerun-if-env-changed=ZITA_INCLUDE");
    let said = std::env::var("ZITA_INCLUDE").ok();
    let mut folders = said.iter().map(String::as_str).chain(FOLDERS);
    let Some(folder) = folders.find(|f| Path::new(f).join("zita-convolver.h").exists()) else {
        eprintln!(
            "\nzita-convolver.h is not there. This bench measures Divisi beside zita-convolver 4, so it needs it:\n\n    \
             apt-get install libzita-convolver-dev\n\nor set ZITA_INCLUDE to the folder that has the header.\n"
        );
        std::process::exit(1);
    };
    cc::Build::new()
        .cpp(true)
        .include(folder)
        .file("shim/zita.cc")
        .opt_level(2)
        .compile("zita_shim");
    println!("cargo:rustc-link-lib=zita-convolver");
    println!("cargo:rustc-link-lib=fftw3f");
}
