//! SOFA files, in a build without them.

use super::{Ir, IrError, IrLimit, LoadedIr, SourceDirection};
use std::path::Path;
use units::SampleRate;

impl Ir {
    /// What both ears hear from `direction`, from a SOFA file. This build knows none: it was made without the feature
    /// `sofa`.
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
