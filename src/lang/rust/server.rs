//! Whether a file builds or runs a stdio server: it calls one by a catalogued path, as its
//! imports are written, or implements the trait of one.

use crate::base::ir::{CellId, Expr, ExprId, Program};
use crate::data::primitives::Catalogue;

/// Steps that following one name may take.
const STEPS: usize = 64;

/// Why the file is a daemon module, if it is one.
pub fn reason(program: &Program, catalogue: &Catalogue) -> Option<String> {
    program.exprs.iter().find_map(|node| {
        let Expr::Call(call) = &node.expr else { return None };
        let function = program.functions.get(node.function as usize)?;
        if function.test_only {
            return None;
        }
        written_paths(program, call.callee).into_iter().find_map(|path| {
            let server = catalogue.servers.iter().find(|s| s.names.contains(&path))?;
            Some(format!("{} ({path})", server.reason))
        })
    })
}

/// The paths that an expression may name.
fn written_paths(program: &Program, expr: ExprId) -> Vec<String> {
    let mut found = Vec::new();
    let mut stack: Vec<(ExprId, String)> = vec![(expr, String::new())];
    let mut steps = 0;
    while let Some((expr, tail)) = stack.pop() {
        steps += 1;
        if steps > STEPS {
            break;
        }
        match program.exprs.get(expr as usize).map(|n| &n.expr) {
            Some(Expr::Import(import)) => found.push(match &import.name {
                Some(name) => format!("{}::{name}{tail}", import.module),
                None => format!("{}{tail}", import.module),
            }),
            Some(Expr::Attr { base, name }) if name.starts_with("::") => {
                stack.push((*base, format!("{name}{tail}")));
            }
            Some(Expr::Union(options)) => stack.extend(options.iter().map(|o| (*o, tail.clone()))),
            Some(Expr::Cell(cell)) => {
                let values = values_of(program, *cell);
                stack.extend(values.into_iter().map(|v| (v, tail.clone())));
            }
            _ => {}
        }
    }
    found
}

fn values_of(program: &Program, cell: CellId) -> Vec<ExprId> {
    program.cells.get(cell as usize).map_or_else(Vec::new, |c| c.values.clone())
}
