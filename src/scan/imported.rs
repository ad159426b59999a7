//! What a Python file imports, kept small for every file of a tree: enough to tell which files can
//! use a module's names, without opening them again.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::lang::python::imports::imports;

/// Hashes of what a file imports; a clash costs a look at a file, no more.
#[derive(Debug, Clone, Default)]
pub(super) struct Imported {
    /// Of the last components of modules, and of names, sorted.
    named: Box<[u32]>,
    /// Of the names that become the file's own, sorted.
    bound: Box<[u32]>,
}

impl Imported {
    /// What a text imports.
    pub(super) fn of(text: &str) -> Imported {
        let (mut named, mut bound) = (Vec::new(), Vec::new());
        let imports = imports(text);
        for (at, import) in imports.iter().enumerate() {
            let next = imports.get(at + 1);
            match &import.name {
                Some(name) => {
                    named.push(hash(name));
                    bound.push(hash(name));
                }
                // The module of a `from` stands before its names, and is no name of the file.
                None if next.is_some_and(|n| n.name.is_some() && n.module == import.module) => {}
                None => bound.extend(import.module.split('.').map(hash)),
            }
            named.extend(import.module.rsplit('.').next().map(hash));
        }
        Imported { named: packed(named), bound: packed(bound) }
    }

    /// The hashes of modules' last components and of names that are imported.
    pub(super) fn named(&self) -> &[u32] {
        &self.named
    }

    /// The hashes of the names that the imports bind.
    pub(super) fn bound(&self) -> &[u32] {
        &self.bound
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
    fn modules_names_and_packages_are_known_again() {
        let imported = Imported::of("import tools.image\nfrom app.helpers import entity as e\n");
        let named = |name| imported.named().contains(&hash(name));
        let bound = |name| imported.bound().contains(&hash(name));
        assert!(named("image") && named("helpers") && named("entity") && !named("app") && !named("e"));
        assert!(bound("tools") && bound("entity") && !bound("helpers"));
    }
}
