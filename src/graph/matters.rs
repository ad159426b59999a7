//! Which programs can matter: whether a file can hold a site at all, told by the names that its
//! expressions begin with, before anything is solved.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::ir::{Expr, ExprId, Import, Program};
use crate::data::primitives::Catalogue;

/// Whether a program names anything that leads to a primitive or to an operation that runs commands.
/// Where it does not, it has no site of its own, and need not be solved alone. `resolve` tells the
/// path of what an import brings from outside. For languages whose lookups by name are members.
pub fn can_hold_sites(
    program: &Program,
    catalogue: &Catalogue,
    resolve: impl Fn(&Import) -> Option<String>,
) -> bool {
    // Where a thing is only read a member of, that member decides; `None`: a member by a free name.
    let mut members: FxHashMap<ExprId, Option<&str>> = FxHashMap::default();
    let mut names: FxHashSet<&str> = FxHashSet::default();
    let mut things: Vec<(ExprId, String)> = Vec::new();
    for (id, node) in program.exprs.iter().enumerate() {
        let path = match &node.expr {
            Expr::Attr { base, name } => {
                members
                    .entry(*base)
                    .and_modify(|known| *known = known.filter(|k| k == name))
                    .or_insert(Some(name));
                names.insert(name);
                continue;
            }
            Expr::Index { base, key } => {
                let name = match &program.exprs[*key as usize].expr {
                    Expr::Str(name) => Some(name.as_str()),
                    _ => None,
                };
                members.insert(*base, name);
                names.extend(name);
                continue;
            }
            Expr::External(path) => Some(path.clone()),
            Expr::Import(import) => resolve(import),
            _ => None,
        };
        if let Some(path) = path {
            things.push((id as ExprId, catalogue.canonical_path(&path).into_owned()));
        }
    }
    let ways = Ways { catalogue, names: &names };
    let mut kept: FxHashSet<&str> = FxHashSet::default();
    things.iter().any(|(id, path)| match members.get(id) {
        Some(Some(name)) => ways.through(path, name, STEPS),
        // A member by a name that is not written out.
        Some(None) => catalogue.is_stage(path),
        // Kept under another name, or called: any member that the program reads may be its.
        None => kept.insert(path) && ways.from(path, STEPS),
    })
}

/// The longest way from a thing to a primitive, in members and calls.
const STEPS: usize = 5;

/// The ways that a program can take with the names that it writes.
struct Ways<'a> {
    catalogue: &'a Catalogue,
    names: &'a FxHashSet<&'a str>,
}

impl Ways<'_> {
    /// Whether a thing is, or leads by written names to, what matters.
    fn from(&self, path: &str, steps: usize) -> bool {
        if self.catalogue.matters(path) {
            return true;
        }
        if steps == 0 || !self.catalogue.is_stage(path) {
            return false;
        }
        let called = ["()", "()[]", "[]"].iter().any(|step| {
            let next = format!("{path}{step}");
            self.catalogue.is_stage(&next) && self.from(&self.catalogue.canonical_path(&next), steps - 1)
        });
        called || self.names.iter().any(|name| self.through(path, name, steps - 1))
    }

    /// Whether a member of a thing is, or leads to, what matters.
    fn through(&self, path: &str, name: &str, steps: usize) -> bool {
        [format!("{path}.{name}"), format!("{path}[{name}]")].iter().any(|member| {
            let next = self.catalogue.canonical_path(member);
            next != path
                && (self.catalogue.matters(&next) || self.catalogue.is_stage(&next))
                && self.from(&next, steps)
        })
    }
}
