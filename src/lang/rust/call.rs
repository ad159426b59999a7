//! Calls and method calls: which methods leave a value what it is, and which give a closure
//! the value's content.

use syn::punctuated::Punctuated;
use syn::{Expr as Syntax, Lit};

use super::lower::Lowering;
use crate::base::ir::{BinaryOp, CallKind, Expr, ExprId, GuardKind};
use crate::base::span::Span;

/// Methods after which a value is still what it was, as far as calls and commands go.
const SAME: [&str; 42] = [
    "unwrap",
    "expect",
    "unwrap_or_default",
    "as_ref",
    "as_mut",
    "as_deref",
    "as_deref_mut",
    "clone",
    "cloned",
    "copied",
    "to_owned",
    "into",
    "try_into",
    "as_str",
    "as_os_str",
    "as_path",
    "to_path_buf",
    "to_str",
    "to_string_lossy",
    "into_owned",
    "to_string",
    "into_os_string",
    "into_string",
    "display",
    "canonicalize",
    "as_bytes",
    "collect",
    "map_err",
    "ok_or",
    "ok_or_else",
    "unwrap_or",
    "unwrap_or_else",
    "or_else",
    "ok",
    "to_vec",
    "as_slice",
    "by_ref",
    "into_boxed_path",
    "or",
    "unwrap_unchecked",
    "into_path_buf",
    "into_report",
];

/// Methods that may be anything, but of the standard types leave a value what it was.
const OFTEN_SAME: [&str; 27] = [
    "lock",
    "read",
    "write",
    "borrow",
    "borrow_mut",
    "get_mut",
    "take",
    "filter",
    "iter",
    "iter_mut",
    "into_iter",
    "into_inner",
    "context",
    "with_context",
    "peekable",
    "rev",
    "inspect",
    "inspect_err",
    "fuse",
    "boxed",
    "wrap_err",
    "replace",
    "insert",
    "get_or_insert_with",
    "get_or_init",
    "into_diagnostic",
    "await_now",
];

/// Methods that call a closure with what the value holds; the result is the closure's.
const MAPPING: [&str; 12] = [
    "map",
    "and_then",
    "filter_map",
    "flat_map",
    "map_or",
    "map_or_else",
    "then",
    "is_some_and",
    "is_ok_and",
    "find_map",
    "is_none_or",
    "map_while",
];

/// Methods that call a closure with what the value holds, or with nothing, and give something else.
const VISITING: [&str; 13] = [
    "for_each",
    "any",
    "all",
    "find",
    "position",
    "filter",
    "inspect",
    "retain",
    "take_while",
    "skip_while",
    "inspect_err",
    "unwrap_or_else",
    "or_else",
];

/// Calls of the library that give their argument back, written without a path.
const HOLDERS: [&str; 3] = ["Some", "Ok", "Err"];

/// The trait whose method replaces the process, and the modules whose glob brings it.
const EXEC_TRAIT: &str = "CommandExt";
const EXEC_GLOBS: [&str; 3] = ["std::os::unix::process", "std::os::unix::prelude", "rustix::process"];

impl Lowering<'_> {
    /// Arguments or elements, in order.
    pub(super) fn arguments<P>(&mut self, args: Punctuated<Syntax, P>) -> Vec<ExprId> {
        args.into_iter().map(|arg| self.expression(arg)).collect()
    }

    /// A call whose callee is a path.
    pub(super) fn call(&mut self, call: syn::ExprCall) -> ExprId {
        let close = call.paren_token.span.close();
        if let Syntax::Path(path) = &*call.func
            && let Some(ident) = path.path.get_ident()
            && HOLDERS.iter().any(|holder| ident == holder)
            && call.args.len() == 1
        {
            let span = self.between(ident.span(), close);
            let args = self.arguments(call.args);
            return match args.first() {
                Some(only) => self.builder.expr(Expr::Same(*only), span),
                None => self.unknown(span),
            };
        }
        let waits = matches!(&*call.func, Syntax::Path(path)
            if path.path.segments.last().is_some_and(|s| s.ident == "ctrl_c"));
        let callee = self.expression(*call.func);
        let span = self.up_to(callee, close);
        let args = self.arguments(call.args);
        let value = self.call_of(callee, args, CallKind::Plain, span);
        if waits {
            // What follows runs when the host has said stop.
            self.afterwards = Some(GuardKind::AfterLoop(value));
        }
        value
    }

    /// A method call on a value. `is_name`: the receiver is a variable, not something just made.
    pub(super) fn method_call(&mut self, call: syn::ExprMethodCall, base: ExprId, is_name: bool) -> ExprId {
        let method = self.name(&call.method);
        let span = self.up_to(base, call.paren_token.span.close());
        let first = call.args.first();
        let number = match first {
            Some(Syntax::Lit(syn::ExprLit { lit: Lit::Int(number), .. })) => {
                number.base10_parse::<u32>().ok()
            }
            _ => None,
        };
        let text = match first {
            Some(Syntax::Lit(syn::ExprLit { lit: Lit::Str(text), .. })) => Some(text.value()),
            _ => None,
        };
        let waiting = self.afterwards.take();
        let args = self.arguments(call.args);
        self.afterwards = waiting;
        match (method.as_str(), args.as_slice()) {
            ("exec", []) if !self.scopes.has_trait(self.scope, EXEC_TRAIT, &EXEC_GLOBS) => {
                // Some other type's method: a command has none of that name here.
                self.method_of(base, "exec without its trait", args, span)
            }
            ("nth" | "get", [_]) if number.is_some() => {
                let key = self.builder.expr(Expr::Int(i64::from(number.unwrap_or(0))), span);
                self.builder.expr(Expr::Index { base, key }, span)
            }
            ("next" | "first", []) if !is_name => {
                let key = self.builder.expr(Expr::Int(0), span);
                self.builder.expr(Expr::Index { base, key }, span)
            }
            ("is_empty" | "is_none" | "is_err", []) => {
                self.method_of(base, &method, args, span);
                self.builder.expr(Expr::Not(base), span)
            }
            ("skip", [_]) if number.is_some() => self.builder.expr(Expr::Slice(base, number), span),
            ("join", [separator]) if text.as_ref().is_some_and(|t| t.trim().is_empty()) => {
                // `["a", "b"].join(" ")` is the separator's method where lists have none.
                self.method_of(*separator, "join", vec![base], span)
            }
            ("join", [part]) => {
                let slash = Expr::Binary { op: BinaryOp::Slash, left: base, right: *part };
                self.builder.expr(slash, span)
            }
            _ => self.plain_method(base, &method, args, span),
        }
    }

    fn method_of(&mut self, base: ExprId, name: &str, args: Vec<ExprId>, span: Span) -> ExprId {
        let callee = self.builder.expr(Expr::Attr { base, name: name.to_owned() }, span);
        self.call_of(callee, args, CallKind::Plain, span)
    }

    fn plain_method(&mut self, base: ExprId, method: &str, args: Vec<ExprId>, span: Span) -> ExprId {
        let closures: Vec<ExprId> = args.iter().copied().filter(|a| self.is_closure(*a)).collect();
        let call = self.method_of(base, method, args, span);
        let has = |list: &[&str]| list.contains(&method);
        let mut results = Vec::new();
        if has(&MAPPING) || has(&VISITING) {
            for closure in closures {
                self.give(closure, base, span);
                let place = self.span_of(closure);
                let result = self.call_of(closure, Vec::new(), CallKind::Plain, place);
                results.push(result);
            }
        }
        if has(&SAME) {
            return self.builder.expr(Expr::Same(base), span);
        }
        if has(&MAPPING) && !results.is_empty() {
            results.push(call);
            return self.builder.expr(Expr::Union(results), span);
        }
        if has(&OFTEN_SAME) {
            let same = self.builder.expr(Expr::Same(base), span);
            return self.builder.expr(Expr::Union(vec![same, call]), span);
        }
        call
    }

    fn is_closure(&self, expr: ExprId) -> bool {
        matches!(self.builder.program.exprs.get(expr as usize).map(|n| &n.expr), Some(Expr::Func(_)))
    }

    /// A closure's first parameter is what a value holds: itself, or one of its elements.
    fn give(&mut self, closure: ExprId, value: ExprId, span: Span) {
        let Some(Expr::Func(function)) = self.builder.program.exprs.get(closure as usize).map(|n| &n.expr)
        else {
            return;
        };
        let function = self.builder.program.functions.get(*function as usize);
        let Some(cell) = function.and_then(|f| f.params.first()).map(|p| p.cell) else { return };
        let element = self.builder.expr(Expr::Element(value), span);
        let same = self.builder.expr(Expr::Same(value), span);
        self.add_value(cell, element);
        self.add_value(cell, same);
    }
}
