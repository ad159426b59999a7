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
    let leads = |path: &str, name: &str| {
        let dotted = format!("{path}.{name}");
        catalogue.is_stage(&catalogue.canonical_path(&dotted))
            || catalogue.is_stage(&format!("{path}[{name}]"))
    };
    things.iter().any(|(id, path)| match members.get(id) {
        Some(Some(name)) => leads(path, name),
        Some(None) => catalogue.is_stage(path),
        // Kept under another name, or called: any member that the program reads may be its.
        None => {
            catalogue.matters(path)
                || catalogue.is_stage(&format!("{path}()"))
                || catalogue.is_stage(path) && names.iter().any(|n| leads(path, n))
        }
    })
}
