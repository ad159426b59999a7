//! Rust's scopes: items are visible in their whole block, a `let` from its place on, and
//! values and types live in two namespaces. A scope that runs later (a closure's) remembers
//! up to which binding it sees.

use rustc_hash::FxHashMap;

use crate::base::ir::CellId;

/// Index of a scope.
pub type ScopeId = usize;

/// Most glob imports that one lookup passes through.
const MOST_GLOBS: usize = 32;

/// What a name of the type namespace stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// A type, a crate, a module of another file.
    Cell(CellId),
    /// A module written in this file.
    Module(ScopeId),
}

/// A glob import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Star {
    /// Of a module written in this file.
    Inside(ScopeId),
    /// Of anything else, as the linker reads it.
    Outside(String),
}

/// One scope.
#[derive(Debug, Default)]
pub struct Scope {
    parent: Option<(ScopeId, u32)>,
    values: FxHashMap<String, Vec<(u32, CellId)>>,
    types: FxHashMap<String, Entry>,
    /// Glob imports in order.
    pub stars: Vec<Star>,
    /// The paths that were imported, whatever they were renamed to.
    pub imported: Vec<String>,
    /// The module that the scope lies in.
    pub module: ScopeId,
    /// For a module: the one around it, and the names from the file's own module on.
    pub outer: Option<ScopeId>,
    /// See [`Scope::outer`].
    pub names: Vec<String>,
}

/// All scopes of a file; 0 is the file's own module.
#[derive(Debug)]
pub struct Scopes {
    all: Vec<Scope>,
    now: u32,
}

impl Scopes {
    /// The file's own module and nothing else.
    pub fn new() -> Scopes {
        Scopes { all: vec![Scope::default()], now: 1 }
    }

    /// A scope of code: a block, a function, a closure.
    pub fn open(&mut self, parent: ScopeId) -> ScopeId {
        self.open_at(parent, self.now)
    }

    /// A scope that sees of `parent` only its items: that of an item function.
    pub fn open_items(&mut self, parent: ScopeId) -> ScopeId {
        self.open_at(parent, 0)
    }

    fn open_at(&mut self, parent: ScopeId, seen: u32) -> ScopeId {
        let module = self.all.get(parent).map_or(0, |p| p.module);
        self.all.push(Scope { parent: Some((parent, seen)), module, ..Scope::default() });
        self.all.len() - 1
    }

    /// A module written in this file.
    pub fn open_module(&mut self, outer: ScopeId, name: &str) -> ScopeId {
        let id = self.all.len();
        let mut names = self.get(outer).names.clone();
        names.push(name.to_owned());
        self.all.push(Scope { module: id, outer: Some(outer), names, ..Scope::default() });
        id
    }

    /// A scope.
    pub fn get(&self, scope: ScopeId) -> &Scope {
        &self.all[scope]
    }

    /// A scope, to add globs and imports to.
    pub fn get_mut(&mut self, scope: ScopeId) -> &mut Scope {
        &mut self.all[scope]
    }

    /// The number of scopes.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Binds an item's name: visible in the whole scope.
    pub fn declare(&mut self, scope: ScopeId, name: &str, cell: CellId) {
        self.all[scope].values.entry(name.to_owned()).or_default().insert(0, (0, cell));
    }

    /// Binds a name of the type namespace.
    pub fn declare_type(&mut self, scope: ScopeId, name: &str, entry: Entry) {
        self.all[scope].types.insert(name.to_owned(), entry);
    }

    /// Binds a variable from here on.
    pub fn bind(&mut self, scope: ScopeId, name: &str, cell: CellId) {
        self.now = self.now.saturating_add(1);
        let now = self.now;
        self.all[scope].values.entry(name.to_owned()).or_default().push((now, cell));
    }

    /// The value of a name, seen from a scope.
    pub fn value(&self, scope: ScopeId, name: &str) -> Option<CellId> {
        let (mut at, mut seen) = (scope, u32::MAX);
        loop {
            let scope = self.all.get(at)?;
            if let Some(found) = scope.values.get(name).and_then(|all| {
                let after = all.partition_point(|(when, _)| *when <= seen);
                after.checked_sub(1).and_then(|last| all.get(last))
            }) {
                return Some(found.1);
            }
            (at, seen) = scope.parent.map(|(parent, limit)| (parent, limit.min(seen)))?;
        }
    }

    /// The type, crate or module of a name, seen from a scope.
    pub fn entry(&self, scope: ScopeId, name: &str) -> Option<Entry> {
        let mut at = scope;
        loop {
            let scope = self.all.get(at)?;
            if let Some(found) = scope.types.get(name) {
                return Some(*found);
            }
            at = scope.parent?.0;
        }
    }

    /// What a module of this file binds under a name, its globs of other such modules included:
    /// value and type.
    pub fn member(&self, module: ScopeId, name: &str) -> (Option<CellId>, Option<Entry>) {
        let mut modules = vec![module];
        let mut read = 0;
        while let Some(at) = modules.get(read).copied() {
            read += 1;
            let Some(scope) = self.all.get(at) else { continue };
            let value = scope.values.get(name).and_then(|all| all.last()).map(|(_, cell)| *cell);
            let entry = scope.types.get(name).copied();
            if value.is_some() || entry.is_some() {
                return (value, entry);
            }
            for star in &scope.stars {
                if let Star::Inside(inside) = star
                    && modules.len() < MOST_GLOBS
                    && !modules.contains(inside)
                {
                    modules.push(*inside);
                }
            }
        }
        (None, None)
    }

    /// The globs that a name nobody binds may come from: of modules of this file, then of others.
    pub fn globs(&self, scope: ScopeId) -> (Vec<ScopeId>, Vec<String>) {
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        let mut at = Some(scope);
        while let Some(scope) = at.and_then(|id| self.all.get(id)) {
            self.stars_of(scope, &mut inside, &mut outside);
            at = scope.parent.map(|(parent, _)| parent);
        }
        let mut read = 0;
        while let Some(module) = inside.get(read).copied() {
            read += 1;
            if let Some(scope) = self.all.get(module) {
                self.stars_of(scope, &mut inside, &mut outside);
            }
        }
        (inside, outside)
    }

    fn stars_of(&self, scope: &Scope, inside: &mut Vec<ScopeId>, outside: &mut Vec<String>) {
        for star in &scope.stars {
            match star {
                Star::Inside(module) if inside.len() < MOST_GLOBS && !inside.contains(module) => {
                    inside.push(*module);
                }
                Star::Outside(module) if outside.len() < MOST_GLOBS && !outside.contains(module) => {
                    outside.push(module.clone());
                }
                _ => {}
            }
        }
    }

    /// Whether a trait of that name may be in scope: imported here or further out, under any name, or
    /// brought by a glob of the modules that `globs` names, or of the crate's own.
    pub fn has_trait(&self, scope: ScopeId, name: &str, globs: &[&str]) -> bool {
        let named = |scope: &Scope| {
            scope.types.contains_key(name)
                || scope.imported.iter().any(|path| path.rsplit("::").next() == Some(name))
        };
        let mut at = Some(scope);
        while let Some(scope) = at.and_then(|id| self.all.get(id)) {
            if named(scope) {
                return true;
            }
            at = scope.parent.map(|(parent, _)| parent);
        }
        let (inside, outside) = self.globs(scope);
        inside.iter().filter_map(|id| self.all.get(*id)).any(named)
            || outside.iter().any(|module| {
                globs.contains(&module.as_str())
                    || ["crate", "self", "super"].iter().any(|own| {
                        module.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
                    })
            })
    }

    /// The values and types of a module, sorted by name.
    pub fn bindings(&self, module: ScopeId) -> Vec<(String, Option<CellId>, Option<Entry>)> {
        let Some(scope) = self.all.get(module) else { return Vec::new() };
        let mut names: Vec<&String> = scope.values.keys().chain(scope.types.keys()).collect();
        names.sort_unstable();
        names.dedup();
        names
            .into_iter()
            .map(|name| {
                let value = scope.values.get(name).and_then(|all| all.last()).map(|(_, cell)| *cell);
                (name.clone(), value, scope.types.get(name).copied())
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closure_sees_the_bindings_before_it_and_every_item() {
        let mut scopes = Scopes::new();
        scopes.bind(0, "x", 1);
        let closure = scopes.open(0);
        scopes.bind(0, "x", 2);
        scopes.declare(0, "f", 3);
        assert_eq!(scopes.value(closure, "x"), Some(1));
        assert_eq!(scopes.value(0, "x"), Some(2));
        assert_eq!(scopes.value(closure, "f"), Some(3));
        let item = scopes.open_items(0);
        assert_eq!(scopes.value(item, "x"), None);
        assert_eq!(scopes.value(item, "f"), Some(3));
    }
}
