//! A real-time audio engine that plays any graph on every core: the library's face
