//! SOFA files in a build without the feature `sofa`: they are refused.

use super::{Ir, IrError, IrLimit, LoadedIr, SourceDirection};
use std::path::Path;
use units::SampleRate;

impl Ir {
    /// Refuses a SOFA file: this build was made without the feature `sofa`.
    ///
    /// # Errors
    ///
    /// Always.
    ///
    /// Real-time: setup.
    pub fn load_sofa(
        path: impl AsRef<Path>,
        _direction: SourceDirection,
        _rate: SampleRate,
        _limit: &IrLimit,
    ) -> Result<LoadedIr, IrError> {
        Err(IrError::Sofa {
            name: path.as_ref().display().to_string(),
            why: "this build reads no SOFA files: build with `--features sofa`".into(),
        })
    }
}
