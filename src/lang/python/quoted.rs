//! Code in a string literal that `exec` or `eval` runs: its imports and its plain calls, one a
//! statement. They stand at the call. Whatever else such a string holds is not read.

use rustc_hash::FxHashMap;

use super::literal;
use super::lower::Lowering;
use crate::base::ir::{Arg, Call, CallKind, Expr, ExprId, Import};
use crate::base::span::Span;
use crate::lang::builder::Lookup;

/// Longer strings are generated code, and more statements than this a program.
const LONGEST: usize = 2000;
const MOST: usize = 32;

impl<'s, 't> Lowering<'s, 't> {
    /// Lowers the code and gives the value of its last expression.
    pub(super) fn quoted(&mut self, code: &str, span: Span) -> Option<ExprId> {
        if code.len() > LONGEST {
            return None;
        }
        let mut bound: FxHashMap<String, ExprId> = FxHashMap::default();
        let mut value = None;
        for statement in code.split(['\n', ';']).map(str::trim).filter(|s| !s.is_empty()).take(MOST) {
            if let Some(modules) = statement.strip_prefix("import ") {
                for module in modules.split(',') {
                    let (name, alias) = aliased(module);
                    let head = name.split('.').next().unwrap_or(name);
                    let module = if alias.is_some() { name } else { head };
                    let import = Import { module: module.to_owned(), name: None };
                    let import = self.builder.expr(Expr::Import(Box::new(import)), span);
                    bound.insert(alias.unwrap_or(head).to_owned(), import);
                }
            } else if let Some((module, names)) =
                statement.strip_prefix("from ").and_then(|rest| rest.split_once(" import "))
            {
                for name in names.split(',') {
                    let (name, alias) = aliased(name);
                    let import = Import { module: module.trim().to_owned(), name: Some(name.to_owned()) };
                    let import = self.builder.expr(Expr::Import(Box::new(import)), span);
                    bound.insert(alias.unwrap_or(name).to_owned(), import);
                }
            } else {
                value = self.quoted_expression(statement, &bound, span);
            }
        }
        value
    }

    /// `a.b.c` or `a.b.c(…)`.
    fn quoted_expression(
        &mut self,
        text: &str,
        bound: &FxHashMap<String, ExprId>,
        span: Span,
    ) -> Option<ExprId> {
        let (path, arguments) = match text.split_once('(') {
            Some((path, rest)) => (path.trim(), Some(rest.strip_suffix(')')?)),
            None => (text, None),
        };
        let is_name = |part: &str| {
            !part.is_empty()
                && part.chars().all(|c| c.is_alphanumeric() || c == '_')
                && !part.starts_with(|c: char| c.is_ascii_digit())
        };
        let mut parts = path.split('.').map(str::trim);
        let head = parts.next().filter(|head| is_name(head))?;
        let known = bound.get(head).copied();
        let mut value = match known {
            Some(value) => value,
            None => match self.known_name(head) {
                Some(cell) => self.builder.expr(Expr::Cell(cell), span),
                None => self.builder.expr(Expr::External(format!("builtins.{head}")), span),
            },
        };
        for part in parts {
            if !is_name(part) {
                return None;
            }
            value = self.builder.expr(Expr::Attr { base: value, name: part.to_owned() }, span);
        }
        let Some(arguments) = arguments else { return Some(value) };
        let mut args = Vec::new();
        for argument in arguments.split(',').map(str::trim).filter(|a| !a.is_empty()) {
            let quoted = argument.len() >= 2
                && argument.starts_with(['"', '\''])
                && argument.ends_with(['"', '\''])
                && !argument[1..argument.len() - 1].contains(['"', '\'']);
            let expr = match (literal::integer(argument), quoted) {
                (Some(number), _) => Expr::Int(number),
                (None, true) => Expr::Str(argument[1..argument.len() - 1].to_owned()),
                (None, false) => Expr::Unknown,
            };
            args.push(Arg::positional(self.builder.expr(expr, span)));
        }
        Some(
            self.builder
                .expr(Expr::Call(Call { callee: value, args: args.into(), kind: CallKind::Plain }), span),
        )
    }

    /// The cell of a name that the file binds: the text of the string is not the file's own.
    fn known_name(&mut self, name: &str) -> Option<u32> {
        let owned = self
            .builder
            .owner(name)
            .and_then(|scope| self.builder.names_of(scope).into_iter().find(|known| *known == name))?;
        match self.builder.lookup(owned) {
            Lookup::Cell(cell) => Some(cell),
            Lookup::Unbound | Lookup::Free => None,
        }
    }
}

/// `name as alias`.
fn aliased(text: &str) -> (&str, Option<&str>) {
    match text.split_once(" as ") {
        Some((name, alias)) => (name.trim(), Some(alias.trim())),
        None => (text.trim(), None),
    }
}
