//! The names under which packages of the tree are imported: Go modules by their `go.mod`,
//! JavaScript packages by their `package.json`, Rust crates by their `Cargo.toml`. Files that cannot be read name nothing.

#![allow(clippy::disallowed_methods)] // The pipeline opens the files that discovery lists.

use crate::discover::Listing;
use crate::graph::link::{Files, join, parent};

/// Longest manifest that is read, in bytes.
pub(super) const LONGEST: u64 = 1 << 20;

/// Tells `files` every package that a manifest of the listing names.
pub fn name(files: &mut Files, manifests: &[(String, std::path::PathBuf)]) {
    for (path, real) in manifests {
        let Ok(text) = std::fs::read_to_string(real) else { continue };
        if path.ends_with("go.mod") {
            if let Some(module) = go_module(&text) {
                files.add_go_module(parent(path), module);
            }
        } else if path.ends_with("Cargo.toml") {
            if let Some((name, root)) = rust_library(&text) {
                files.add_crate(name, join(parent(path), &root));
            }
        } else if let Some((name, entries)) = javascript_package(&text) {
            for entry in entries {
                files.add_package(name.clone(), &join(parent(path), &entry));
            }
        }
    }
}

/// The manifests of a listing.
pub fn manifests(listing: &Listing) -> Vec<(String, std::path::PathBuf)> {
    listing
        .files
        .iter()
        .filter(|(path, entry)| {
            let name = path.rsplit('/').next().unwrap_or(path);
            matches!(name, "go.mod" | "package.json" | "Cargo.toml") && entry.stamp.size <= LONGEST
        })
        .map(|(path, entry)| (path.clone(), entry.real.clone()))
        .collect()
}

/// The module's name in a `go.mod`.
fn go_module(text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let name = line.trim().strip_prefix("module ")?.split("//").next()?.trim();
        Some(name.trim_matches('"').to_owned()).filter(|name| !name.is_empty())
    })
}

/// A crate's name in code, and its library's root.
fn rust_library(text: &str) -> Option<(String, String)> {
    let manifest: toml::Table = text.parse().ok()?;
    let member = |section: &str, key: &str| {
        manifest.get(section).and_then(|t| t.get(key)).and_then(|v| v.as_str()).map(str::to_owned)
    };
    let name = member("lib", "name").or_else(|| member("package", "name"))?;
    let root = member("lib", "path").unwrap_or_else(|| "src/lib.rs".to_owned());
    Some((name.replace('-', "_"), root.trim_start_matches("./").to_owned()))
}

/// A package's name, and the files that may be its entry, the least wanted first.
fn javascript_package(text: &str) -> Option<(String, Vec<String>)> {
    let manifest: serde_json::Value = serde_json::from_str(text).ok()?;
    let name = manifest.get("name")?.as_str()?.to_owned();
    let mut entries = vec!["index".to_owned(), "src/index".to_owned()];
    for key in ["module", "main", "source"] {
        let entry = manifest.get(key).and_then(|e| e.as_str());
        entries.extend(entry.map(|e| e.trim_start_matches("./").to_owned()));
    }
    Some((name, entries))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_name_their_packages() {
        assert_eq!(
            go_module("// c\nmodule example.com/m // x\n\ngo 1.22\n").as_deref(),
            Some("example.com/m")
        );
        assert_eq!(go_module("go 1.22\n"), None);
        let (name, entries) = javascript_package(r#"{"name": "@a/ops", "main": "./lib/ops.js"}"#).unwrap();
        assert_eq!(name, "@a/ops");
        assert_eq!(entries.last().map(String::as_str), Some("lib/ops.js"));
        assert_eq!(javascript_package("{"), None);
    }
}
