//! What a module specifier means: a file of the tree for a relative one, as Node, bundlers
//! and TypeScript find it; else something outside.

use super::{Files, Target, join, parent};
use crate::base::ir::Import;

/// Endings that a specifier may leave out, in the order in which they are tried.
const ENDINGS: [&str; 8] = [".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs", ".jsx"];

/// TypeScript sources are imported by the names of what they are compiled to.
const COMPILED: [(&str, &[&str]); 4] =
    [(".js", &[".ts", ".tsx", ".jsx"]), (".mjs", &[".mts"]), (".cjs", &[".cts"]), (".jsx", &[".tsx"])];

/// Prefixes that build tools are commonly set to read as the source folder.
const SOURCE_ALIASES: [&str; 3] = ["@/", "~/", "#/"];

/// What `import` means in the file `from`.
pub(super) fn resolve(files: &Files, from: &str, import: &Import) -> Target {
    let specifier = import.module.as_str();
    let bare = specifier.split(['?', '#']).next().unwrap_or(specifier);
    let bare = if bare.is_empty() { specifier } else { bare };
    if bare == "." || bare == ".." || bare.starts_with("./") || bare.starts_with("../") {
        let Some(path) = normalise(parent(from), bare) else { return Target::Missing };
        return match file_at(files, &path) {
            Some(file) => in_file(file, import),
            None => Target::Missing,
        };
    }
    for alias in SOURCE_ALIASES {
        if let Some(rest) = bare.strip_prefix(alias)
            && let Some(file) = near_source(files, from, rest)
        {
            return in_file(file, import);
        }
    }
    if let Some(file) = files.package_file(bare).filter(|file| *file != from) {
        return in_file(file.to_owned(), import);
    }
    let module = specifier.strip_prefix("node:").unwrap_or(specifier);
    Target::External(match import.name.as_deref() {
        // A CommonJS module's default is the module itself.
        None | Some("default") => module.to_owned(),
        Some(name) => format!("{module}.{name}"),
    })
}

fn in_file(file: String, import: &Import) -> Target {
    match &import.name {
        Some(name) => Target::Name(file, name.clone()),
        None => Target::File(file),
    }
}

/// The file at a path: itself, with an ending, as TypeScript's source, or a folder's index.
pub(super) fn file_at(files: &Files, path: &str) -> Option<String> {
    if files.contains(path) {
        return Some(path.to_owned());
    }
    let found = ENDINGS.iter().map(|e| format!("{path}{e}")).find(|p| files.contains(p));
    if found.is_some() {
        return found;
    }
    for (ending, sources) in COMPILED {
        if let Some(stem) = path.strip_suffix(ending) {
            let found = sources.iter().map(|e| format!("{stem}{e}")).find(|p| files.contains(p));
            if found.is_some() {
                return found;
            }
        }
    }
    ENDINGS.iter().map(|e| join(path, &format!("index{e}"))).find(|p| files.contains(p))
}

/// `@/x`: in the nearest `src` folder upward, else in the nearest folder that has it.
fn near_source(files: &Files, from: &str, rest: &str) -> Option<String> {
    let mut folder = parent(from);
    loop {
        for base in [join(folder, "src"), folder.to_owned()] {
            if let Some(file) = file_at(files, &join(&base, rest)) {
                return Some(file);
            }
        }
        if folder.is_empty() {
            return None;
        }
        folder = parent(folder);
    }
}

/// A relative specifier from a folder, without `.` and `..`; `None` if it leaves the tree.
fn normalise(folder: &str, specifier: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty()).collect();
    for part in specifier.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::facts::Language;

    #[test]
    fn specifiers_find_files_endings_indexes_and_sources() {
        let files = Files::new(
            ["lib/index.mjs", "lib/ops.ts", "src/util/halt.tsx", "a.mjs", "lib/b.js"].map(str::to_owned),
            &[],
        );
        let resolve = |from: &str, module: &str, name: Option<&str>| {
            let import = Import { module: module.to_owned(), name: name.map(str::to_owned) };
            files.resolve(Language::Javascript, from, &import)
        };
        assert_eq!(resolve("a.mjs", "./lib", None), Target::File("lib/index.mjs".into()));
        assert_eq!(resolve("lib/b.js", "./ops.js", Some("x")), Target::Name("lib/ops.ts".into(), "x".into()));
        assert_eq!(resolve("lib/b.js", "..", None), Target::Missing);
        assert_eq!(resolve("lib/b.js", "../../x", None), Target::Missing);
        assert_eq!(resolve("lib/b.js", "@/util/halt", None), Target::File("src/util/halt.tsx".into()));
        assert_eq!(resolve("a.mjs", "node:process", Some("exit")), Target::External("process.exit".into()));
        assert_eq!(resolve("a.mjs", "tree-kill", Some("default")), Target::External("tree-kill".into()));
    }
}
