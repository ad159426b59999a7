//! Constants of a file that are commands: for the files that import them and run them.

use super::solve::Solver;
use super::value::{UnitId, Value};
use crate::base::ir::{CellId, Expr, ExprId, Program, Slot};
use crate::data::commands::CommandCatalogue;
use crate::data::primitives::ValueKind;

/// Expressions that one constant is looked into for.
const MOST_EXPRESSIONS: usize = 256;
/// Cells that one name's values are looked for in.
const MOST_CELLS: usize = 32;

/// Calls that give back what they are called on, or given, in another form.
const HANDS_ON: [&str; 8] = ["split", "list", "tuple", "dict", "copy", "format", "join", "get"];

/// The names under which a program keeps a command or gives one back: of module constants, of members of
/// classes and of their objects, of functions. Tables of commands count as well, and what a copy of this
/// program is made of.
pub(super) fn names_of_commands<'p>(
    solver: &Solver<'p>,
    unit: UnitId,
    commands: &CommandCatalogue,
) -> Vec<&'p str> {
    let program = solver.program(unit);
    let constants = Constants { solver, unit, program, commands };
    let exported = program.exports.iter().filter(|(_, cell)| constants.any(constants.values_of(*cell)));
    let mut names: Vec<&str> = exported.map(|(name, _)| name.as_str()).collect();
    let members = program.classes.iter().flat_map(|class| &class.members);
    names.extend(members.filter(|(_, value)| constants.any(vec![*value])).map(|(name, _)| name.as_str()));
    for store in &program.stores {
        if let Slot::Attr(name) = &store.slot
            && constants.any(vec![store.value])
        {
            names.push(name);
        }
    }
    let functions = program.functions.iter().filter(|function| !function.name.is_empty());
    names.extend(
        functions.filter(|function| constants.any(function.returns.clone())).map(|f| f.name.as_str()),
    );
    names
}

struct Constants<'f, 'p> {
    solver: &'f Solver<'p>,
    unit: UnitId,
    program: &'p Program,
    commands: &'f CommandCatalogue,
}

impl Constants<'_, '_> {
    /// Whether one of some expressions is a command, or holds one.
    fn any(&self, mut waiting: Vec<ExprId>) -> bool {
        let mut seen = Vec::new();
        while let Some(id) = waiting.pop() {
            if seen.len() > MOST_EXPRESSIONS || seen.contains(&id) {
                continue;
            }
            seen.push(id);
            match &self.program.exprs[id as usize].expr {
                Expr::Str(text) if self.is_command(text.split_whitespace(), false) => return true,
                Expr::Seq(items) => {
                    if self.is_command(items.iter().map(|(item, _)| self.text(*item)), true) {
                        return true;
                    }
                    // A list of commands, or of what this program is made of.
                    let tells = |item: &ExprId| match &self.program.exprs[*item as usize].expr {
                        // A single word is a word of this list.
                        Expr::Str(text) => text.contains(' '),
                        Expr::Seq(_) | Expr::Map(_) | Expr::Attr { .. } | Expr::Cell(_) => true,
                        Expr::Template(_) | Expr::Binary { .. } => true,
                        _ => false,
                    };
                    waiting.extend(items.iter().map(|(item, _)| *item).filter(tells));
                }
                Expr::Map(entries) => waiting.extend(entries.iter().map(|(_, value)| *value)),
                Expr::Union(values) => waiting.extend(values),
                Expr::Template(parts) => waiting.extend(parts.first()),
                Expr::Binary { left, right, .. } => waiting.extend([*left, *right]),
                // `[sys.executable, *sys.argv]`.
                Expr::Attr { .. } if self.is_own(id) => return true,
                Expr::Call(call) => match &self.program.exprs[call.callee as usize].expr {
                    // `"pkill -f x".split()`, `shlex.split("pkill -f x")`.
                    Expr::Attr { base, name } if HANDS_ON.contains(&name.as_str()) => {
                        waiting.push(*base);
                        waiting.extend(call.args.iter().map(|arg| arg.value));
                    }
                    Expr::External(path)
                        if path.rsplit('.').next().is_some_and(|name| HANDS_ON.contains(&name)) =>
                    {
                        waiting.extend(call.args.iter().map(|arg| arg.value));
                    }
                    // `shutil.which("pkill")`.
                    _ if self.gives_back(call.callee) => {
                        waiting.extend(call.args.iter().map(|arg| arg.value));
                    }
                    _ => {}
                },
                Expr::Cell(cell) => waiting.extend(self.values_of(*cell)),
                _ => {}
            }
        }
        false
    }

    /// What a variable may hold, and what is put into the list in it.
    fn values_of(&self, cell: CellId) -> Vec<ExprId> {
        let mut values = self.program.bound_values(cell, MOST_CELLS);
        for grows in self.solver.growth_behind(self.unit, cell) {
            if let Expr::Call(call) = &self.program.exprs[*grows as usize].expr {
                values.extend(call.args.iter().map(|arg| arg.value));
            }
        }
        values
    }

    /// Whether a call of something from outside gives back what it is given.
    fn gives_back(&self, callee: ExprId) -> bool {
        let catalogue = self.solver.catalogue(self.unit);
        self.solver.values_of(self.unit, callee).any(|value| match value {
            Value::External { path, .. } => matches!(
                catalogue.value(self.solver.interner.text(path)),
                Some(ValueKind::FirstArgument | ValueKind::Split)
            ),
            _ => false,
        })
    }

    /// Whether an expression is the interpreter, or what it was started with.
    fn is_own(&self, id: ExprId) -> bool {
        let catalogue = self.solver.catalogue(self.unit);
        self.solver.values_of(self.unit, id).any(|value| match value {
            Value::External { path, .. } => matches!(
                catalogue.value(self.solver.interner.text(path)),
                Some(
                    ValueKind::Interpreter
                        | ValueKind::OwnScript
                        | ValueKind::OwnArgv
                        | ValueKind::RuntimeArgv
                )
            ),
            _ => false,
        })
    }

    /// The text of an expression; nothing of what is no literal.
    fn text(&self, id: ExprId) -> &str {
        match &self.program.exprs[id as usize].expr {
            Expr::Str(text) => text,
            _ => "",
        }
    }

    /// Whether a command stands where words have one: first, after an operator of the shell, or behind a
    /// command that runs another (`sudo`). A list of such a one with nothing but options is the `half` of a command.
    fn is_command<'w>(&self, words: impl Iterator<Item = &'w str>, half: bool) -> bool {
        let (mut starts, mut is_behind, mut is_open) = (true, false, false);
        for word in words {
            let name = word.rsplit('/').next().unwrap_or(word).trim_matches(['"', '\'', '(', ';']);
            if (starts || is_behind) && self.commands.commands(name).next().is_some() {
                return true;
            }
            is_open = if is_behind { is_open && word.starts_with('-') } else { starts };
            is_behind |= starts && self.commands.prefixes(name).next().is_some();
            starts = matches!(word, "&&" | "||" | "|" | ";") || word.ends_with(';');
            is_behind &= !starts;
        }
        half && is_behind && is_open
    }
}
