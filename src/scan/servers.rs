//! Files that build a server by a class of another file: `S` where that file says `class S(FastMCP)`.

use rustc_hash::{FxHashMap, FxHashSet};

use super::catalogues::Catalogues;
use crate::base::facts::{FileFacts, Language, Tree};
use crate::base::ir::{Expr, ExprId, Import, Program};
use crate::graph::link::{Files, Target};
use crate::lang::server;

/// Classes of classes of other files, at most.
const ROUNDS: usize = 4;

/// Server classes, also under the names that other files export them by.
#[derive(Default)]
struct Classes {
    /// Why each is one, by file and name.
    reasons: FxHashMap<(String, String), String>,
    names: FxHashSet<String>,
}

impl Classes {
    fn extend(&mut self, found: Vec<((String, String), String)>) {
        self.names.extend(found.iter().map(|((_, name), _)| name.clone()));
        self.reasons.extend(found);
    }
}

/// Marks the files that call a server class of another file.
pub(super) fn across(tree: &mut Tree, files: &Files, catalogues: &Catalogues) {
    let mut classes = Classes::default();
    for _ in 0..ROUNDS {
        let known = classes.reasons.len();
        let found: Vec<((String, String), String)> = programs(tree)
            .flat_map(|(facts, program)| kinds(facts, program, files, catalogues, &classes))
            .collect();
        classes.extend(found);
        if classes.reasons.len() == known {
            break;
        }
    }
    if classes.reasons.is_empty() {
        return;
    }
    for facts in tree.files.iter_mut().filter(|facts| facts.server.is_none()) {
        let Some(program) = facts.program.as_ref().filter(|_| facts.language == Language::Python) else {
            continue;
        };
        let built = program.exprs.iter().find_map(|node| match &node.expr {
            Expr::Call(call) => own(facts, program, &classes, call.callee)
                .or_else(|| elsewhere(facts, program, files, &classes, call.callee)),
            _ => None,
        });
        facts.server = built.map(|((path, name), reason)| format!("{reason} ({name} of {path})"));
    }
}

fn programs(tree: &Tree) -> impl Iterator<Item = (&FileFacts, &Program)> {
    let python = tree.files.iter().filter(|facts| facts.language == Language::Python);
    python.filter_map(|facts| Some((facts, facts.program.as_ref()?)))
}

/// The server classes of a file.
fn kinds(
    facts: &FileFacts,
    program: &Program,
    files: &Files,
    catalogues: &Catalogues,
    classes: &Classes,
) -> Vec<((String, String), String)> {
    let catalogue = catalogues.of(facts.language);
    let of = |base: &ExprId| {
        server::named(program, catalogue, *base)
            .or_else(|| Some(elsewhere(facts, program, files, classes, *base)?.1.clone()))
    };
    let own = program.classes.iter().filter_map(|class| {
        let reason = class.bases.iter().find_map(of)?;
        Some(((facts.path.clone(), class.name.clone()), reason))
    });
    let again = program.exports.iter().filter_map(|(name, cell)| {
        let value = server::only_value(program, *cell)?;
        Some(((facts.path.clone(), name.clone()), of(&value)?))
    });
    own.chain(again).collect()
}

/// The server class of the file itself that an expression names: a kind of one of another file.
fn own<'c>(
    facts: &FileFacts,
    program: &Program,
    classes: &'c Classes,
    expr: ExprId,
) -> Option<(&'c (String, String), &'c String)> {
    let mut at = expr;
    if let Expr::Cell(cell) = &program.exprs[at as usize].expr {
        at = server::only_value(program, *cell)?;
    }
    let Expr::Class(class) = program.exprs[at as usize].expr else { return None };
    classes.reasons.get_key_value(&(facts.path.clone(), program.classes[class as usize].name.clone()))
}

/// The server class of another file that an expression names.
fn elsewhere<'c>(
    facts: &FileFacts,
    program: &Program,
    files: &Files,
    classes: &'c Classes,
    expr: ExprId,
) -> Option<(&'c (String, String), &'c String)> {
    if classes.names.is_empty() {
        return None;
    }
    let Import { module, name: Some(name) } = server::import_of(program, expr)? else { return None };
    if !classes.names.contains(&name) {
        return None;
    }
    let import = Import { module, name: Some(name) };
    match files.resolve(facts.language, &facts.path, &import) {
        Target::Name(path, name) => classes.reasons.get_key_value(&(path, name)),
        _ => None,
    }
}
