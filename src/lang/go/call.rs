//! Calls, and what the language's own functions make.

use tree_sitter::Node;

use super::lower::Lowering;
use crate::base::ir::{Arg, BinaryOp, Call, CallKind, Expr, ExprId, Spread};
use crate::lang::syntax::named_children;

impl<'s, 't> Lowering<'s, 't> {
    /// A call expression whose callee was lowered.
    pub(super) fn call(&mut self, node: Node<'t>, callee: ExprId, kind: CallKind) -> ExprId {
        let span = Self::span(node);
        let arguments = node.child_by_field_name("arguments").map(named_children).unwrap_or_default();
        let builtin = match &self.builder.program.exprs[callee as usize].expr {
            Expr::External(path) => path.strip_prefix("builtin.").map(str::to_owned),
            _ => None,
        };
        match builtin.as_deref() {
            Some("make") => {
                let is_map = arguments.first().is_some_and(|a| a.kind() == "map_type");
                let empty = if is_map { Expr::Map(Vec::new()) } else { Expr::Seq(Vec::new()) };
                return self.builder.expr(empty, span);
            }
            Some("new") => {
                let made = arguments.first().and_then(|declared| self.instance_of(*declared));
                return match made {
                    Some(made) => made,
                    None => self.unknown(node),
                };
            }
            _ => {}
        }
        let mut args = Vec::new();
        for argument in &arguments {
            let spread = if argument.kind() == "variadic_argument" { Spread::Sequence } else { Spread::No };
            args.push(Arg { value: self.expression(*argument), name: None, spread });
        }
        if builtin.as_deref() == Some("append")
            && let Some((list, more)) = args.split_first()
        {
            let more = more.iter().map(|a| (a.value, a.spread)).collect();
            let more = self.builder.expr(Expr::Seq(more), span);
            let sum = Expr::Binary { op: BinaryOp::Add, left: list.value, right: more };
            return self.builder.expr(sum, span);
        }
        self.builder.expr(Expr::Call(Call { callee, args: args.into(), kind }), span)
    }

    /// `go f(…)`, `defer f(…)`.
    pub(super) fn deferred(&mut self, node: Node<'t>) {
        let Some(call) = named_children(node).first().copied() else { return };
        match call.child_by_field_name("function").filter(|_| call.kind() == "call_expression") {
            Some(function) => {
                let callee = self.expression(function);
                self.call(call, callee, CallKind::Deferred);
            }
            None => {
                self.expression(call);
            }
        }
    }
}
