//! The crates of the tree, by the names that Rust code gives them: from their manifests.

use std::path::Path;

use crate::base::facts::{Language, Tree};
use crate::graph::link::{Files, join, parent};

/// A manifest longer than this is nobody's.
const LONGEST: u64 = 1 << 20;

/// Tells the linker which crate names are libraries of the tree. A manifest that cannot be read
/// names none: its crate's paths then lie outside.
pub fn name(files: &mut Files, tree: &Tree, root: &Path) {
    if !tree.files.iter().any(|f| f.language == Language::Rust) {
        return;
    }
    let manifests = tree.listed.iter().filter(|path| path.rsplit('/').next() == Some("Cargo.toml"));
    for manifest in manifests {
        let file = root.join(manifest);
        if std::fs::metadata(&file).map_or(true, |m| m.len() > LONGEST) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let Ok(table) = text.parse::<toml::Table>() else { continue };
        let member = |section: &str, key: &str| {
            table.get(section).and_then(|t| t.get(key)).and_then(|v| v.as_str()).map(str::to_owned)
        };
        let Some(name) = member("lib", "name").or_else(|| member("package", "name")) else { continue };
        let library = member("lib", "path").unwrap_or_else(|| "src/lib.rs".to_owned());
        let path = join(parent(manifest), library.trim_start_matches("./"));
        if files.contains(&path) {
            files.add_crate(name.replace('-', "_"), path);
        }
    }
}
