//! Blocks, statements and what decides which of them run.

use syn::{Block, Expr as Syntax, Pat, Stmt};

use super::lower::Lowering;
use crate::base::ir::{Expr, ExprId, GuardKind};
use crate::base::span::Span;

/// Calls that do not come back, by their last name.
const NO_RETURN: [&str; 7] = ["exit", "abort", "_exit", "panic", "unreachable", "bail", "todo"];

impl Lowering<'_> {
    /// A block in a scope of its own; its value is that of its last expression.
    pub(super) fn block(&mut self, block: Block) -> ExprId {
        let outer = self.scope;
        self.scope = self.scopes.open(outer);
        let value = self.statements(block.stmts);
        self.scope = outer;
        value.unwrap_or_else(|| {
            let span = self.place(block.brace_token.span.close());
            self.unknown(span)
        })
    }

    /// Statements in the present scope. Guards that a statement leaves behind hold to the end.
    pub(super) fn statements(&mut self, statements: Vec<Stmt>) -> Option<ExprId> {
        let guard = self.builder.guard;
        let (mut items, mut rest) = (Vec::new(), Vec::new());
        for statement in statements {
            match statement {
                Stmt::Item(item) => items.push(item),
                other => rest.push(other),
            }
        }
        if !items.is_empty() {
            self.items(items);
        }
        let mut last = None;
        for statement in rest {
            self.afterwards = None;
            last = None;
            match statement {
                Stmt::Local(local) => self.local(local),
                Stmt::Expr(expr, semicolon) => {
                    let branches = matches!(
                        expr,
                        Syntax::If(_)
                            | Syntax::While(_)
                            | Syntax::ForLoop(_)
                            | Syntax::Loop(_)
                            | Syntax::Await(_)
                            | Syntax::Try(_)
                            | Syntax::MethodCall(_)
                    );
                    let value = self.expression(expr);
                    if !branches {
                        self.afterwards = None;
                    }
                    last = semicolon.is_none().then_some(value);
                }
                Stmt::Macro(statement) => {
                    let semicolon = statement.semi_token.is_some();
                    let value = self.macro_call(statement.mac);
                    last = (!semicolon).then_some(value);
                    self.afterwards = None;
                }
                Stmt::Item(_) => {}
            }
            if let Some(kind) = self.afterwards.take() {
                self.builder.push_guard(kind);
            }
        }
        self.builder.guard = guard;
        last
    }

    fn local(&mut self, local: syn::Local) {
        let span = self.place(local.let_token.span);
        let Some(init) = local.init else {
            let value = self.unknown(span);
            self.declared_later(local.pat, value);
            return;
        };
        let value = self.expression(*init.expr);
        self.afterwards = None;
        if let Some((_, otherwise)) = init.diverge {
            let guard = self.builder.guard;
            self.builder.push_guard(GuardKind::Branch(value, false));
            self.expression(*otherwise);
            self.builder.guard = guard;
            self.afterwards = Some(GuardKind::AfterLeaving(value, true));
        }
        self.pattern(local.pat, value);
    }

    /// `let x;`: its values come with the assignments.
    fn declared_later(&mut self, pattern: Pat, value: ExprId) {
        match pattern {
            Pat::Ident(ident) => {
                let name = self.name(&ident.ident);
                let cell = self.cell(&name, None);
                self.bind_here(&name, cell);
            }
            Pat::Type(typed) => {
                let instance = self.type_value(&typed.ty, 0);
                match (*typed.pat, instance) {
                    (Pat::Ident(ident), instance) => {
                        let name = self.name(&ident.ident);
                        let cell = self.cell(&name, instance);
                        self.bind_here(&name, cell);
                    }
                    (other, _) => self.pattern(other, value),
                }
            }
            other => self.pattern(other, value),
        }
    }

    /// A condition; `let` in it binds in the present scope. Gives what to test and the truth wanted.
    fn condition(&mut self, condition: Syntax) -> (ExprId, bool) {
        match condition {
            Syntax::Let(test) => {
                let value = self.expression(*test.expr);
                let tested = self.tested(&test.pat, value);
                self.pattern(*test.pat, value);
                tested
            }
            Syntax::Binary(binary) if matches!(binary.op, syn::BinOp::And(_)) => {
                // A chain: each link sees what those before it bound, and runs where they hold.
                let mut links = vec![*binary.right];
                let mut left = *binary.left;
                loop {
                    match left {
                        Syntax::Binary(inner) if matches!(inner.op, syn::BinOp::And(_)) => {
                            links.push(*inner.right);
                            left = *inner.left;
                        }
                        other => {
                            links.push(other);
                            break;
                        }
                    }
                }
                let guard = self.builder.guard;
                let mut whole: Option<(ExprId, bool)> = None;
                while let Some(link) = links.pop() {
                    let (test, holds) = self.condition(link);
                    self.builder.push_guard(GuardKind::Branch(test, holds));
                    whole = Some(match whole {
                        None => (test, holds),
                        Some((before, before_holds)) => {
                            let left = self.as_true(before, before_holds);
                            let right = self.as_true(test, holds);
                            let span = self.span_of(right);
                            let both = Expr::Binary { op: crate::base::ir::BinaryOp::And, left, right };
                            (self.builder.expr(both, span), true)
                        }
                    });
                }
                self.builder.guard = guard;
                whole.unwrap_or_else(|| (self.unknown(Span::default()), true))
            }
            Syntax::Paren(inner) => self.condition(*inner.expr),
            other => (self.expression(other), true),
        }
    }

    fn as_true(&mut self, test: ExprId, holds: bool) -> ExprId {
        if holds {
            return test;
        }
        let span = self.span_of(test);
        self.builder.expr(Expr::Not(test), span)
    }

    /// `if`, with all its `else if`s, without a stack for them.
    pub(super) fn if_(&mut self, first: syn::ExprIf) -> ExprId {
        let span = self.place(first.if_token.span);
        let (outer_guard, outer_scope) = (self.builder.guard, self.scope);
        let mut values = Vec::new();
        let mut afterwards = None;
        let mut next = Some(Syntax::If(first));
        let mut is_first = true;
        while let Some(branch) = next.take() {
            match branch {
                Syntax::If(branch) => {
                    self.scope = self.scopes.open(outer_scope);
                    let (test, holds) = self.condition(*branch.cond);
                    let guard = self.builder.guard;
                    let leaves = diverges(&branch.then_branch);
                    self.builder.push_guard(GuardKind::Branch(test, holds));
                    values.push(self.block(branch.then_branch));
                    self.builder.guard = guard;
                    self.scope = outer_scope;
                    if is_first && leaves {
                        afterwards = Some(GuardKind::AfterLeaving(test, !holds));
                    }
                    self.builder.push_guard(GuardKind::Branch(test, !holds));
                    next = branch.else_branch.map(|(_, otherwise)| *otherwise);
                }
                other => values.push(self.expression(other)),
            }
            is_first = false;
        }
        self.builder.guard = outer_guard;
        self.afterwards = afterwards;
        self.builder.expr(Expr::Union(values), span)
    }

    pub(super) fn match_(&mut self, matched: syn::ExprMatch) -> ExprId {
        let span = self.place(matched.match_token.span);
        let value = self.expression(*matched.expr);
        let (outer_guard, outer_scope) = (self.builder.guard, self.scope);
        let mut values = Vec::new();
        for mut arm in matched.arms {
            self.scope = self.scopes.open(outer_scope);
            let (test, holds) = self.tested(&arm.pat, value);
            let condition = match &mut arm.pat {
                Pat::Guard(guard) => {
                    let unit = Syntax::Tuple(syn::ExprTuple {
                        attrs: Vec::new(),
                        paren_token: syn::token::Paren::default(),
                        elems: syn::punctuated::Punctuated::new(),
                    });
                    Some(std::mem::replace(&mut *guard.guard, unit))
                }
                _ => None,
            };
            self.pattern(arm.pat, value);
            self.builder.push_guard(GuardKind::Branch(test, holds));
            if let Some(condition) = condition {
                let (test, holds) = self.condition(condition);
                self.builder.push_guard(GuardKind::Branch(test, holds));
            }
            values.push(self.expression(*arm.body));
            self.builder.guard = outer_guard;
        }
        self.scope = outer_scope;
        self.afterwards = None;
        self.builder.expr(Expr::Union(values), span)
    }

    pub(super) fn while_(&mut self, whole: syn::ExprWhile) -> ExprId {
        let span = self.place(whole.while_token.span);
        let (outer_guard, outer_scope) = (self.builder.guard, self.scope);
        self.scope = self.scopes.open(outer_scope);
        let (test, holds) = self.condition(*whole.cond);
        self.builder.push_guard(GuardKind::Branch(test, holds));
        self.block(whole.body);
        (self.builder.guard, self.scope) = (outer_guard, outer_scope);
        self.afterwards = Some(GuardKind::AfterLoop(test));
        self.unknown(span)
    }

    pub(super) fn for_(&mut self, whole: syn::ExprForLoop) -> ExprId {
        let span = self.place(whole.for_token.span);
        let iterable = self.expression(*whole.expr);
        let outer_scope = self.scope;
        self.scope = self.scopes.open(outer_scope);
        let element_span = self.span_of(iterable);
        let element = self.builder.expr(Expr::Element(iterable), element_span);
        self.pattern(*whole.pat, element);
        self.block(whole.body);
        self.scope = outer_scope;
        self.afterwards = Some(GuardKind::AfterLoop(iterable));
        self.unknown(span)
    }
}

/// Whether a block always leaves what is around it.
fn diverges(block: &Block) -> bool {
    let last = match block.stmts.last() {
        Some(Stmt::Expr(expr, _)) => expr,
        Some(Stmt::Macro(statement)) => return names_no_return(&statement.mac.path),
        _ => return false,
    };
    match last {
        Syntax::Return(_) | Syntax::Break(_) | Syntax::Continue(_) => true,
        Syntax::Macro(expr) => names_no_return(&expr.mac.path),
        Syntax::Call(call) => matches!(&*call.func, Syntax::Path(path) if names_no_return(&path.path)),
        _ => false,
    }
}

fn names_no_return(path: &syn::Path) -> bool {
    path.segments.last().is_some_and(|s| NO_RETURN.iter().any(|name| s.ident == name))
}
