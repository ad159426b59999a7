//! What a Python file imports, kept small for every file of a tree: enough to tell which files can
//! use a module's names, without opening them again.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::graph::link::{Files, Target};
use crate::lang::python::imports::{imports, stars};

/// The places of files in the list of all files, by path.
pub(super) type Places<'l> = FxHashMap<&'l str, u32>;

/// What a file imports.
#[derive(Debug, Clone, Default)]
pub(super) struct Imported {
    /// The files, as places in the list of all, sorted.
    files: Box<[u32]>,
    /// Hashes of the names that become the file's own, sorted; a clash costs a look at a file, no more.
    bound: Box<[u32]>,
    /// Those of them that may be packages of the tree, or what lies in one.
    packages: Box<[u32]>,
    /// A star import may bring any name.
    has_star: bool,
}

impl Imported {
    /// What the text of a path imports.
    pub(super) fn of(path: &str, text: &str, files: &Files, places: &Places<'_>) -> Imported {
        let (mut found, mut bound, mut packages) = (Vec::new(), Vec::new(), Vec::new());
        let imports = imports(text);
        let mut module: Option<(&str, Target)> = None;
        for (at, import) in imports.iter().enumerate() {
            if module.as_ref().is_none_or(|(name, _)| *name != import.module) {
                let target = files.python(path, &import.module, None);
                if let Target::File(file) | Target::Name(file, _) = &target {
                    found.extend(places.get(file.as_str()));
                }
                module = Some((&imports[at].module, target));
            }
            let is_foreign =
                matches!(&module, Some((name, Target::External(_))) if !files.is_python_folder(path, name));
            match (&import.name, &module) {
                (Some(name), Some((_, target))) => {
                    bound.push(hash(name));
                    if !is_foreign {
                        packages.push(hash(name));
                    }
                    match target {
                        Target::File(package) if package.ends_with("__init__.py") => {
                            let file = files.python_submodule(package, name);
                            found.extend(file.and_then(|file| places.get(file.as_str())));
                        }
                        Target::File(_) => {}
                        // A folder without a file of its own may be a package.
                        _ => match files.python(path, &import.module, import.name.as_deref()) {
                            Target::File(file) | Target::Name(file, _) => {
                                found.extend(places.get(file.as_str()));
                            }
                            _ => {}
                        },
                    }
                }
                // The module of a `from` stands before its names, and is no name of the file.
                (None, _)
                    if imports.get(at + 1).is_some_and(|n| n.name.is_some() && n.module == import.module) => {
                }
                _ => {
                    let parts = || import.module.split('.').map(hash);
                    bound.extend(parts());
                    packages.extend(parts().filter(|_| !is_foreign));
                }
            }
        }
        Imported {
            files: packed(found),
            bound: packed(bound),
            packages: packed(packages),
            has_star: stars(text).next().is_some(),
        }
    }

    /// Places of the files that are imported.
    pub(super) fn files(&self) -> &[u32] {
        &self.files
    }

    /// Whether an import may have brought a name.
    pub(super) fn brings(&self, name: &str) -> bool {
        self.has_star || self.bound.binary_search(&hash(name)).is_ok()
    }

    /// Whether a star import may bring any name.
    pub(super) fn has_star(&self) -> bool {
        self.has_star
    }

    /// The hashes of the names that the imports bind and that may be packages of the tree, or lie in one.
    pub(super) fn packages(&self) -> &[u32] {
        &self.packages
    }
}

fn packed(mut hashes: Vec<u32>) -> Box<[u32]> {
    hashes.sort_unstable();
    hashes.dedup();
    hashes.into_boxed_slice()
}

/// The hash under which a name is kept.
#[allow(clippy::cast_possible_truncation)] // A hash may lose bits.
pub(super) fn hash(name: &str) -> u32 {
    let mut hasher = FxHasher::default();
    name.hash(&mut hasher);
    (hasher.finish() >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_names_are_known_again() {
        let listed = ["app/__init__.py", "app/helpers.py", "tools/image.py", "x.py"];
        let files = Files::new(listed.map(str::to_owned), &[]);
        let places: Places<'_> = listed.iter().zip(0..).map(|(path, at)| (*path, at)).collect();
        let of = |text| Imported::of("x.py", text, &files, &places);
        let imported =
            of("import tools.image, os\nfrom app import helpers as h\nfrom app.helpers import entity\n");
        assert_eq!(imported.files(), [0, 1, 2]);
        let may_be = |name| imported.packages().contains(&hash(name));
        assert!(imported.brings("entity") && !imported.brings("other"));
        assert!(of("from tools import *\n").brings("other"));
        assert!(may_be("tools") && may_be("entity") && may_be("helpers"));
        assert!(!may_be("h") && !may_be("os") && imported.brings("os"));
        assert_eq!(of("from tools import image\n").files(), [2]);
    }
}
