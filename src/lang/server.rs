//! Whether a file builds or runs a stdio server: it imports one by a catalogued name and
//! calls it. By bindings alone, so that it holds wherever the library itself lies.

use crate::base::ir::{Expr, ExprId, Import, Program};
use crate::data::primitives::Catalogue;

/// Why the file is a daemon module, if it is one.
pub fn reason(program: &Program, catalogue: &Catalogue) -> Option<String> {
    for node in &program.exprs {
        let Expr::Call(call) = &node.expr else { continue };
        if let Some(class) = written_class(program, call.callee)
            && let Some(server) = catalogue.servers.iter().find(|s| s.bundled.contains(&class))
        {
            return Some(format!("{} ({class}, bundled)", server.reason));
        }
        let Some(path) = written_path(program, call.callee, 0) else { continue };
        if let Some(server) = catalogue.servers.iter().find(|s| s.names.contains(&path)) {
            return Some(format!("{} ({path})", server.reason));
        }
    }
    None
}

/// The name of the class of the file, or of a file beside it, that an expression names.
fn written_class(program: &Program, expr: ExprId) -> Option<String> {
    let mut at = expr;
    for _ in 0..8 {
        match &program.exprs[at as usize].expr {
            Expr::Class(class) => return Some(program.classes[*class as usize].name.clone()),
            Expr::Import(import) if import.module.starts_with('.') => return import.name.clone(),
            Expr::Cell(cell) => {
                let mut cell = &program.cells[*cell as usize];
                for _ in 0..8 {
                    match (cell.values.is_empty(), cell.from.first()) {
                        (true, Some(next)) => cell = &program.cells[*next as usize],
                        _ => break,
                    }
                }
                at = *cell.values.first()?;
            }
            _ => return None,
        }
    }
    None
}

/// Why an expression names what builds a server.
pub fn named(program: &Program, catalogue: &Catalogue, expr: ExprId) -> Option<String> {
    let path = written_path(program, expr, 0)?;
    let server = catalogue.servers.iter().find(|s| s.names.contains(&path))?;
    Some(server.reason.clone())
}

/// The import that an expression names; of a member of an imported module, that of the member.
pub fn import_of(program: &Program, expr: ExprId) -> Option<Import> {
    let mut at = expr;
    for _ in 0..8 {
        match &program.exprs[at as usize].expr {
            Expr::Import(import) => return Some(Import::clone(import)),
            Expr::Attr { base, name } => {
                let of = import_of_module(program, *base)?;
                return Some(Import { module: of, name: Some(name.clone()) });
            }
            Expr::Cell(cell) => at = only_value(program, *cell)?,
            _ => return None,
        }
    }
    None
}

/// The module that an expression names.
fn import_of_module(program: &Program, expr: ExprId) -> Option<String> {
    let at = match &program.exprs[expr as usize].expr {
        Expr::Cell(cell) => only_value(program, *cell)?,
        _ => expr,
    };
    let Expr::Import(import) = &program.exprs[at as usize].expr else { return None };
    Some(match &import.name {
        None => import.module.clone(),
        Some(name) if import.module.ends_with('.') => format!("{}{name}", import.module),
        Some(name) => format!("{}.{name}", import.module),
    })
}

/// The first value that a cell holds, through joins.
pub fn only_value(program: &Program, cell: u32) -> Option<ExprId> {
    let mut cell = &program.cells[cell as usize];
    for _ in 0..8 {
        if let Some(value) = cell.values.first() {
            return Some(*value);
        }
        cell = &program.cells[*cell.from.first()? as usize];
    }
    None
}

/// The dotted path that an expression names, as its imports are written.
fn written_path(program: &Program, expr: ExprId, depth: usize) -> Option<String> {
    if depth > 12 {
        return None;
    }
    match &program.exprs[expr as usize].expr {
        Expr::Import(import) => Some(match &import.name {
            Some(name) => format!("{}.{name}", import.module),
            None => import.module.clone(),
        }),
        Expr::Attr { base, name } => Some(format!("{}.{name}", written_path(program, *base, depth + 1)?)),
        Expr::Index { base, .. } => written_path(program, *base, depth + 1),
        Expr::Cell(cell) => {
            let mut at = &program.cells[*cell as usize];
            for _ in 0..8 {
                if let Some(found) = at.values.iter().find_map(|v| written_path(program, *v, depth + 1)) {
                    return Some(found);
                }
                at = &program.cells[*at.from.first()? as usize];
            }
            None
        }
        Expr::Class(class) => {
            // A server class of one's own is built when it is called.
            program.classes[*class as usize].bases.iter().find_map(|b| written_path(program, *b, depth + 1))
        }
        _ => None,
    }
}
