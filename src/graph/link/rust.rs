//! Rust's modules: from a path as written to the file that holds it. A module is `name.rs` or
//! `name/mod.rs` beside its parent; a crate's root is `lib.rs`, `main.rs`, or a file of
//! `src/bin`, `tests`, `examples` and `benches`.

use super::{Files, Target, join, parent};
use crate::base::ir::Import;

/// Steps upward that one path may take.
const MOST_SUPERS: usize = 64;

impl Files {
    pub(super) fn rust(&self, from: &str, import: &Import) -> Target {
        let mut names: Vec<&str> = import.module.split("::").collect();
        names.extend(import.name.as_deref());
        let Some((first, rest)) = names.split_first() else { return Target::Missing };
        if let Some(file) = first.strip_prefix("path:") {
            let found = normal(&join(parent(from), file)).filter(|path| self.contains(path));
            return found.map_or(Target::Missing, |file| self.rust_below(&file, rest));
        }
        match *first {
            "crate" => self.rust_below(&self.rust_root(from), rest),
            "self" => self.rust_below(from, rest),
            "super" => {
                let mut file = self.rust_parent(from);
                let mut rest = rest;
                for _ in 0..MOST_SUPERS {
                    match rest.split_first() {
                        Some((name, tail)) if *name == "super" => {
                            file = file.and_then(|f| self.rust_parent(&f));
                            rest = tail;
                        }
                        _ => break,
                    }
                }
                file.map_or(Target::Missing, |file| self.rust_below(&file, rest))
            }
            name => match self.crate_root(name) {
                Some(root) if self.contains(root) => self.rust_below(root, rest),
                _ => Target::External(names.join("::")),
            },
        }
    }

    /// As far as the names are modules in files of their own; the rest is a name in the last one.
    fn rust_below(&self, file: &str, names: &[&str]) -> Target {
        let mut file = file.to_owned();
        let mut names = names;
        while let Some((first, rest)) = names.split_first() {
            // A module that the file writes itself can hold one in a file: `mod a { mod b; }`.
            let deeper = (1..=names.len().min(3)).find_map(|count| {
                let inner = names.get(..count)?.join("/");
                let base = join(&self.rust_folder(&file), &inner);
                let found = [format!("{base}.rs"), join(&base, "mod.rs")];
                found.into_iter().find(|path| self.contains(path)).map(|path| (path, count))
            });
            let _ = (first, rest);
            match deeper {
                Some((path, count)) if path != file => {
                    file = path;
                    names = names.get(count..).unwrap_or(&[]);
                }
                _ => return Target::Name(file, names.join("::")),
            }
        }
        Target::File(file)
    }

    /// The folder in which a file's modules lie.
    fn rust_folder(&self, file: &str) -> String {
        let (folder, name) = (parent(file), file.rsplit('/').next().unwrap_or(file));
        if matches!(name, "mod.rs" | "lib.rs" | "main.rs" | "build.rs") || self.is_rust_root(file) {
            return folder.to_owned();
        }
        join(folder, name.strip_suffix(".rs").unwrap_or(name))
    }

    /// Whether a file is a crate's root though its name does not say so.
    fn is_rust_root(&self, file: &str) -> bool {
        let folder = parent(file);
        let is_target = matches!(folder.rsplit('/').next(), Some("bin" | "tests" | "examples" | "benches"))
            && !self.contains(&join(folder, "mod.rs"));
        is_target && (!folder.ends_with("bin") || !self.contains(&format!("{folder}.rs")))
            || self.rust_library(parent(folder)).is_none()
                && self.rust_library(folder).is_none()
                && !self.has_rust_parent(file)
    }

    fn has_rust_parent(&self, file: &str) -> bool {
        let folder = parent(file);
        self.contains(&join(folder, "mod.rs")) || self.contains(&format!("{folder}.rs"))
    }

    /// The root in a folder itself.
    fn rust_library(&self, folder: &str) -> Option<String> {
        ["lib.rs", "main.rs"].into_iter().map(|name| join(folder, name)).find(|path| self.contains(path))
    }

    /// The root of the crate that a file belongs to.
    fn rust_root(&self, file: &str) -> String {
        let name = file.rsplit('/').next().unwrap_or(file);
        if matches!(name, "lib.rs" | "main.rs" | "build.rs") || self.is_rust_root(file) {
            return file.to_owned();
        }
        let mut folder = parent(file);
        loop {
            if let Some(root) = self.rust_library(folder) {
                return root;
            }
            if folder.is_empty() {
                return file.to_owned();
            }
            folder = parent(folder);
        }
    }

    /// The file of the module around a file's own.
    fn rust_parent(&self, file: &str) -> Option<String> {
        let (folder, name) = (parent(file), file.rsplit('/').next().unwrap_or(file));
        let around = if name == "mod.rs" { parent(folder) } else { folder };
        let beside = || {
            [join(around, "mod.rs"), format!("{around}.rs")]
                .into_iter()
                .find(|path| self.contains(path) && path != file)
        };
        beside().or_else(|| self.rust_library(around)).filter(|found| found != file)
    }
}

/// A relative path without `.` and `..`; `None` if it leaves the tree.
fn normal(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::facts::Language;

    fn resolve(files: &Files, from: &str, module: &str, name: Option<&str>) -> Target {
        let import = Import { module: module.to_owned(), name: name.map(str::to_owned) };
        files.resolve(Language::Rust, from, &import)
    }

    #[test]
    fn modules_are_found_by_both_layouts_and_from_every_root() {
        let mut files = Files::new(
            [
                "src/lib.rs",
                "src/main.rs",
                "src/ops.rs",
                "src/ops/stop.rs",
                "src/sys/mod.rs",
                "src/sys/unix.rs",
                "src/bin/tool.rs",
                "tests/common/mod.rs",
                "tests/it.rs",
                "crates/core/src/lib.rs",
                "src/odd/x.rs",
                "crates/core/src/deep/down.rs",
            ]
            .map(str::to_owned),
            &[],
        );
        files.add_crate("core_ops".to_owned(), "crates/core/src/lib.rs".to_owned());
        let name = |file: &str, name: &str| Target::Name(file.to_owned(), name.to_owned());
        let file = |file: &str| Target::File(file.to_owned());
        assert_eq!(resolve(&files, "src/main.rs", "self::ops", None), file("src/ops.rs"));
        assert_eq!(resolve(&files, "src/ops.rs", "self", Some("stop")), file("src/ops/stop.rs"));
        assert_eq!(resolve(&files, "src/ops/stop.rs", "super", Some("halt")), name("src/ops.rs", "halt"));
        assert_eq!(
            resolve(&files, "src/ops/stop.rs", "super::super::sys", Some("f")),
            name("src/sys/mod.rs", "f")
        );
        assert_eq!(
            resolve(&files, "src/sys/unix.rs", "crate::ops::stop", Some("now")),
            name("src/ops/stop.rs", "now")
        );
        assert_eq!(resolve(&files, "src/sys/unix.rs", "super", Some("x")), name("src/sys/mod.rs", "x"));
        assert_eq!(resolve(&files, "src/bin/tool.rs", "crate", Some("f")), name("src/bin/tool.rs", "f"));
        assert_eq!(resolve(&files, "tests/it.rs", "self::common", None), file("tests/common/mod.rs"));
        assert_eq!(
            resolve(&files, "src/main.rs", "core_ops::inner", Some("f")),
            name("crates/core/src/lib.rs", "inner::f")
        );
        assert_eq!(
            resolve(&files, "crates/core/src/lib.rs", "self::deep", Some("down")),
            file("crates/core/src/deep/down.rs")
        );
        assert_eq!(resolve(&files, "src/main.rs", "path:odd/x.rs", None), file("src/odd/x.rs"));
        assert_eq!(resolve(&files, "src/main.rs", "path:odd/x.rs", Some("f")), name("src/odd/x.rs", "f"));
        assert_eq!(resolve(&files, "src/main.rs", "path:../../x.rs", None), Target::Missing);
        assert_eq!(
            resolve(&files, "src/main.rs", "std::process", Some("abort")),
            Target::External("std::process::abort".into())
        );
    }
}
