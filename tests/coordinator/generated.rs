//! Documents that are generated from the code and held in step with it.

use std::path::Path;

/// Fails where a document differs from what the code says now. With `RESTARTLINT_GENERATE`
/// set it is written instead.
pub fn hold(relative: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(relative);
    if std::env::var_os("RESTARTLINT_GENERATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        return;
    }
    let standing = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        standing == text,
        "{relative} is not what the code says; run `RESTARTLINT_GENERATE=1 cargo test --test coordinator`"
    );
}
