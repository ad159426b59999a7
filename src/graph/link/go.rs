//! What a Go import means: a package of the tree by the name of its module, the file's own
//! package, or something outside. The files of a folder are one package.

use super::{Files, Target, join, parent};
use crate::base::ir::Import;

/// What `import` means in the file `from`.
pub(super) fn resolve(files: &Files, from: &str, import: &Import) -> Target {
    let package = |folder: &str, tests: bool| {
        let mut found: Vec<String> = files.go_files.get(folder).cloned().unwrap_or_default();
        found.retain(|file| file != from && (tests || !file.ends_with("_test.go")));
        found.sort();
        Target::Package(found, import.name.clone())
    };
    if import.module == "." {
        return package(parent(from), from.ends_with("_test.go"));
    }
    for (folder, module) in &files.go_modules {
        let Some(rest) = import.module.strip_prefix(module.as_str()) else { continue };
        if rest.is_empty() || rest.starts_with('/') {
            return match package(&join(folder, rest.trim_start_matches('/')), false) {
                Target::Package(files, _) if files.is_empty() => Target::Missing,
                found => found,
            };
        }
    }
    Target::External(match &import.name {
        Some(name) => format!("{}.{name}", import.module),
        None => import.module.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::facts::Language;

    #[test]
    fn a_package_is_the_files_of_its_folder() {
        let paths = ["main.go", "die.go", "die_test.go", "ops/a.go", "ops/b.go", "tools/go/x/x.go"];
        let mut files = Files::new(paths.map(str::to_owned), &[]);
        files.add_go_module("", "example.com/m".to_owned());
        files.add_go_module("tools/go", "example.com/m/tools".to_owned());
        let resolve = |from: &str, module: &str, name: Option<&str>| {
            let import = Import { module: module.to_owned(), name: name.map(str::to_owned) };
            files.resolve(Language::Go, from, &import)
        };
        let package = |files: &[&str], name: Option<&str>| {
            Target::Package(files.iter().map(|f| (*f).to_owned()).collect(), name.map(str::to_owned))
        };
        assert_eq!(resolve("main.go", ".", Some("die")), package(&["die.go"], Some("die")));
        assert_eq!(resolve("main.go", "example.com/m/ops", None), package(&["ops/a.go", "ops/b.go"], None));
        assert_eq!(resolve("main.go", "example.com/m/tools/x", None), package(&["tools/go/x/x.go"], None));
        assert_eq!(resolve("main.go", "example.com/m/nowhere", None), Target::Missing);
        assert_eq!(resolve("main.go", "os/exec", None), Target::External("os/exec".into()));
    }
}
