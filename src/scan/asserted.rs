//! Path ids that code hands to an assertion function as constants: RL302's other half.
//! Works on a file's own program; a value that is no constant of the file says nothing.

use crate::base::facts::{FileFacts, WatchKind, WatchedUse};
use crate::base::ir::{BinaryOp, CallKind, Expr, ExprId, Program};

/// How far a name is followed through the cells of its file.
const DEPTH: usize = 16;

/// Adds the constants given to one of the functions to the file's watched uses.
pub fn mark(facts: &mut FileFacts, functions: &[String]) {
    let Some(program) = &facts.program else { return };
    let mut found = Vec::new();
    for node in &program.exprs {
        let Expr::Call(call) = &node.expr else { continue };
        let Some(argument) = call.args.first() else { continue };
        if call.kind != CallKind::Plain || !names(program, call.callee, functions) {
            continue;
        }
        for id in constants(program, argument.value, DEPTH) {
            let symbol =
                program.functions.get(node.function as usize).map_or("<module>", |f| f.symbol.as_str());
            found.push(WatchedUse {
                kind: WatchKind::AssertedId,
                name: id,
                span: node.span,
                symbol: symbol.to_owned(),
            });
        }
    }
    facts.watched.extend(found);
}

/// Whether an expression is one of the functions: by its whole dotted name, or by its last part.
fn names(program: &Program, callee: ExprId, functions: &[String]) -> bool {
    let mut todo = vec![(callee, DEPTH)];
    while let Some((expr, depth)) = todo.pop() {
        let Some(node) = program.exprs.get(expr as usize) else { continue };
        let is = |name: &str| {
            functions.iter().any(|f| {
                name == f || (!f.contains('.') && name.rsplit(['.', ':']).next() == Some(f.as_str()))
            })
        };
        let hit = match &node.expr {
            Expr::External(path) => is(path),
            Expr::Import(import) => {
                import.name.as_ref().is_some_and(|name| is(&format!("{}.{name}", import.module)))
            }
            Expr::Attr { base, name } => match dotted(program, *base, depth) {
                Some(base) => is(&format!("{base}.{name}")),
                None => is(name),
            },
            Expr::Func(function) => program.functions.get(*function as usize).is_some_and(|f| is(&f.name)),
            Expr::Cell(cell) => {
                if depth > 0 {
                    let cell = program.cells.get(*cell as usize);
                    todo.extend(cell.into_iter().flat_map(|c| c.values.iter().map(|v| (*v, depth - 1))));
                }
                program.cells.get(*cell as usize).is_some_and(|c| c.values.is_empty() && is(&c.name))
            }
            _ => false,
        };
        if hit {
            return true;
        }
    }
    false
}

/// The dotted name of a module or of a member of one.
fn dotted(program: &Program, expr: ExprId, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    match &program.exprs.get(expr as usize)?.expr {
        Expr::External(path) => Some(path.clone()),
        Expr::Import(import) => Some(match &import.name {
            Some(name) => format!("{}.{name}", import.module),
            None => import.module.clone(),
        }),
        Expr::Attr { base, name } => Some(format!("{}.{name}", dotted(program, *base, depth)?)),
        Expr::Cell(cell) => match program.cells.get(*cell as usize)?.values.as_slice() {
            [one] => dotted(program, *one, depth),
            _ => None,
        },
        _ => None,
    }
}

/// The constant strings that an expression may be.
fn constants(program: &Program, expr: ExprId, depth: usize) -> Vec<String> {
    let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
    let Some(node) = program.exprs.get(expr as usize) else { return Vec::new() };
    match &node.expr {
        Expr::Str(text) => vec![text.clone()],
        Expr::Cell(cell) => program
            .cells
            .get(*cell as usize)
            .into_iter()
            .flat_map(|c| c.values.iter().take(DEPTH).flat_map(|v| constants(program, *v, depth)))
            .collect(),
        Expr::Union(values) => {
            values.iter().take(DEPTH).flat_map(|v| constants(program, *v, depth)).collect()
        }
        Expr::Binary { op: BinaryOp::Add, left, right } => {
            match (constants(program, *left, depth).as_slice(), constants(program, *right, depth).as_slice())
            {
                ([left], [right]) => vec![format!("{left}{right}")],
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}
