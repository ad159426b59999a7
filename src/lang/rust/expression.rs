//! Expressions. What stands to the left is taken apart in a loop, since chains are long;
//! everything else recurses, as deep as the count before parsing allows.

use syn::{Expr as Syntax, Lit, Member, UnOp};

use super::lower::{Body, Lowering, Pending};
use super::path::Wanted;
use crate::base::ir::{
    BinaryOp, CallKind, Expr, ExprId, FunctionKind, GuardKind, Param, Slot, Spread, Store,
};
use crate::lang::builder::function;

impl Lowering<'_> {
    /// Lowers an expression.
    pub(super) fn expression(&mut self, expr: Syntax) -> ExprId {
        let mut spine = Vec::new();
        let mut expr = expr;
        loop {
            let inner = match &mut expr {
                Syntax::MethodCall(e) => &mut e.receiver,
                Syntax::Field(e) => &mut e.base,
                Syntax::Try(e) => &mut e.expr,
                Syntax::Await(e) => &mut e.base,
                Syntax::Index(e) => &mut e.expr,
                Syntax::Cast(e) => &mut e.expr,
                Syntax::Binary(e) => &mut e.left,
                Syntax::Call(e) if !matches!(*e.func, Syntax::Path(_)) => &mut e.func,
                _ => break,
            };
            let hole = Syntax::Continue(syn::ExprContinue {
                attrs: Vec::new(),
                continue_token: Default::default(),
                label: None,
            });
            let inner = std::mem::replace(&mut **inner, hole);
            spine.push(std::mem::replace(&mut expr, inner));
        }
        let mut is_name = matches!(expr, Syntax::Path(_));
        let mut value = self.innermost(expr);
        while let Some(link) = spine.pop() {
            value = self.link(link, value, is_name);
            is_name = false;
        }
        value
    }

    /// One step outwards: `value` is what the link's left side gave.
    fn link(&mut self, link: Syntax, value: ExprId, is_name: bool) -> ExprId {
        match link {
            Syntax::MethodCall(call) => self.method_call(call, value, is_name),
            Syntax::Call(call) => {
                let span = self.up_to(value, call.paren_token.span.close());
                let args = self.arguments(call.args);
                self.call_of(value, args, CallKind::Plain, span)
            }
            Syntax::Field(field) => {
                let (name, end) = match &field.member {
                    Member::Named(ident) => (self.name(ident), ident.span()),
                    Member::Unnamed(index) => (index.index.to_string(), index.span),
                };
                let span = self.up_to(value, end);
                self.builder.expr(Expr::Attr { base: value, name }, span)
            }
            Syntax::Try(_) => value,
            Syntax::Await(e) => {
                let span = self.up_to(value, e.await_token.span);
                self.builder.expr(Expr::Same(value), span)
            }
            Syntax::Cast(_) => value,
            Syntax::Index(index) => self.index(index, value),
            Syntax::Binary(binary) => self.binary(binary, value),
            _ => value,
        }
    }

    fn index(&mut self, index: syn::ExprIndex, base: ExprId) -> ExprId {
        let span = self.up_to(base, index.bracket_token.span.close());
        if let Syntax::Range(range) = &*index.index {
            let start = match range.start.as_deref() {
                None => Some(0),
                Some(Syntax::Lit(syn::ExprLit { lit: Lit::Int(start), .. })) => start.base10_parse().ok(),
                Some(_) => None,
            };
            return self.builder.expr(Expr::Slice(base, start), span);
        }
        let key = self.expression(*index.index);
        self.builder.expr(Expr::Index { base, key }, span)
    }

    fn binary(&mut self, binary: syn::ExprBinary, left: ExprId) -> ExprId {
        use syn::BinOp;
        let op = match binary.op {
            BinOp::Add(_) => BinaryOp::Add,
            BinOp::Eq(_) => BinaryOp::Equal,
            BinOp::Ne(_) => BinaryOp::NotEqual,
            BinOp::Gt(_) => BinaryOp::Greater,
            BinOp::Lt(_) => BinaryOp::Less,
            BinOp::And(_) => BinaryOp::And,
            BinOp::Or(_) => BinaryOp::Or,
            _ => BinaryOp::Other,
        };
        let outer = self.builder.guard;
        match op {
            BinaryOp::And => self.builder.push_guard(GuardKind::Branch(left, true)),
            BinaryOp::Or => self.builder.push_guard(GuardKind::Branch(left, false)),
            _ => {}
        }
        let right = self.expression(*binary.right);
        self.builder.guard = outer;
        let start = self.span_of(left);
        let end = self.span_of(right);
        let span = crate::base::span::Span::new(start.start as usize, end.end.max(start.end) as usize);
        self.builder.expr(Expr::Binary { op, left, right }, span)
    }

    /// An expression that does not begin with another one.
    fn innermost(&mut self, expr: Syntax) -> ExprId {
        match expr {
            Syntax::Path(path) => self.path_expression(path),
            Syntax::Call(call) => self.call(call),
            Syntax::Lit(literal) => self.literal(&literal.lit),
            Syntax::Reference(e) => self.expression(*e.expr),
            Syntax::RawAddr(e) => self.expression(*e.expr),
            Syntax::Paren(e) => self.expression(*e.expr),
            Syntax::Group(e) => self.expression(*e.expr),
            Syntax::Block(e) => self.block(e.block),
            Syntax::Unsafe(e) => self.block(e.block),
            Syntax::Const(e) => self.block(e.block),
            Syntax::TryBlock(e) => self.block(e.block),
            Syntax::Async(e) => self.block(e.block),
            Syntax::If(e) => self.if_(e),
            Syntax::Match(e) => self.match_(e),
            Syntax::While(e) => self.while_(e),
            Syntax::ForLoop(e) => self.for_(e),
            Syntax::Loop(e) => {
                let span = self.place(e.loop_token.span);
                self.block(e.body);
                self.afterwards = None;
                self.unknown(span)
            }
            Syntax::Closure(closure) => self.closure(closure),
            Syntax::Macro(e) => self.macro_call(e.mac),
            Syntax::Struct(e) => self.struct_literal(e),
            Syntax::Array(e) => {
                let span = self.between(e.bracket_token.span.open(), e.bracket_token.span.close());
                let items = self.arguments(e.elems);
                self.builder.expr(Expr::Seq(items.into_iter().map(|i| (i, Spread::No)).collect()), span)
            }
            Syntax::Tuple(e) => {
                let span = self.between(e.paren_token.span.open(), e.paren_token.span.close());
                let items = self.arguments(e.elems);
                self.builder.expr(Expr::Seq(items.into_iter().map(|i| (i, Spread::No)).collect()), span)
            }
            Syntax::Repeat(e) => {
                let span = self.place(e.bracket_token.span.open());
                let value = self.expression(*e.expr);
                self.expression(*e.len);
                self.builder.expr(Expr::Seq(vec![(value, Spread::No)]), span)
            }
            Syntax::Unary(e) => self.unary(e),
            Syntax::Assign(e) => self.assign(e),
            Syntax::Return(e) => {
                let span = self.place(e.return_token.span);
                if let Some(value) = e.expr {
                    let value = self.expression(*value);
                    self.returned(value);
                }
                self.unknown(span)
            }
            Syntax::Break(e) => {
                let span = self.place(e.break_token.span);
                if let Some(value) = e.expr {
                    self.expression(*value);
                }
                self.unknown(span)
            }
            Syntax::Yield(e) => {
                let span = self.place(e.yield_token.span);
                if let Some(value) = e.expr {
                    self.expression(*value);
                }
                self.unknown(span)
            }
            Syntax::Range(e) => {
                for side in [e.start, e.end].into_iter().flatten() {
                    self.expression(*side);
                }
                self.unknown(Default::default())
            }
            Syntax::Let(e) => {
                // Outside of a condition's own chain: `(let …) || …`, matched for its value alone.
                let value = self.expression(*e.expr);
                self.pattern(*e.pat, value);
                value
            }
            _ => self.unknown(Default::default()),
        }
    }

    fn path_expression(&mut self, path: syn::ExprPath) -> ExprId {
        if path.path.is_ident("None") && self.scopes.value(self.scope, "None").is_none() {
            let span = self.type_span(&path.path);
            return self.builder.expr(Expr::Null, span);
        }
        match path.qself {
            Some(qself) if qself.position == 0 => {
                let span = self.type_span(&path.path);
                let names = self.components(&path.path);
                let base = match &*qself.ty {
                    syn::Type::Path(ty) => self.path(&ty.path, Wanted::Type),
                    _ => self.unknown(span),
                };
                self.members(base, &names, span)
            }
            _ => self.path(&path.path, Wanted::Value),
        }
    }

    /// A literal's value.
    pub(super) fn literal(&mut self, literal: &Lit) -> ExprId {
        let span = self.place(literal.span());
        let expr = match literal {
            Lit::Str(text) => Expr::Str(text.value()),
            Lit::ByteStr(bytes) => Expr::Str(String::from_utf8_lossy(&bytes.value()).into_owned()),
            Lit::CStr(text) => Expr::Str(text.value().to_string_lossy().into_owned()),
            Lit::Char(c) => Expr::Str(c.value().to_string()),
            Lit::Int(number) => number.base10_parse().map_or(Expr::Unknown, Expr::Int),
            Lit::Bool(value) => Expr::Bool(value.value),
            _ => Expr::Unknown,
        };
        self.builder.expr(expr, span)
    }

    fn unary(&mut self, unary: syn::ExprUnary) -> ExprId {
        let value = self.expression(*unary.expr);
        let span = self.span_of(value);
        match unary.op {
            UnOp::Not(_) => self.builder.expr(Expr::Not(value), span),
            UnOp::Neg(_) => self.builder.expr(Expr::Neg(value), span),
            _ => value,
        }
    }

    fn assign(&mut self, assign: syn::ExprAssign) -> ExprId {
        let span = self.place(assign.eq_token.span);
        let value = self.expression(*assign.right);
        match *assign.left {
            Syntax::Path(path) => {
                if let Some(ident) = path.path.get_ident() {
                    let name = self.name(ident);
                    if let Some(cell) = self.scopes.value(self.scope, &name) {
                        self.add_value(cell, value);
                    }
                }
            }
            Syntax::Field(field) => {
                let base = self.expression(*field.base);
                let name = match &field.member {
                    Member::Named(ident) => self.name(ident),
                    Member::Unnamed(index) => index.index.to_string(),
                };
                self.store(base, name, value);
            }
            Syntax::Index(index) => {
                let base = self.expression(*index.expr);
                let key = self.expression(*index.index);
                self.builder.program.stores.push(Store { base, slot: Slot::Key(key), value });
            }
            other => {
                self.expression(other);
            }
        }
        self.unknown(span)
    }

    /// A closure; its body is lowered later, and sees what is bound now.
    pub(super) fn closure(&mut self, closure: syn::ExprClosure) -> ExprId {
        let start = closure.capture.map_or(closure.inputs_begin.spans[0], |c| c.span);
        let end = closure.inputs_end.spans[0];
        let span = self.between(start, end);
        let scope = self.scopes.open(self.scope);
        let mut new = function("", &self.symbol_or_module(), span, FunctionKind::Plain);
        new.parent = Some(self.builder.function);
        new.test_only = self.test_only;
        let mut patterns = Vec::new();
        for input in closure.inputs {
            let cell = self.cell("", None);
            new.params.push(Param { name: String::new(), cell, spread: Spread::No, keyword_only: false });
            patterns.push((input, cell));
        }
        let id = self.builder.add_function(new);
        self.pending.push_back(Pending {
            function: id,
            scope,
            body: Body::Closure(patterns, closure.body),
            class: self.class,
            symbol: self.symbol.clone(),
        });
        self.builder.expr(Expr::Func(id), span)
    }

    /// `Type { field: value, … }`: makes an instance, and keeps the values in it.
    fn struct_literal(&mut self, literal: syn::ExprStruct) -> ExprId {
        let start = self.type_span(&literal.path);
        let span = crate::base::span::Span::new(
            start.start as usize,
            self.place(literal.brace_token.span.close()).end as usize,
        );
        let class = self.path(&literal.path, Wanted::Type);
        let instance = self.call_of(class, Vec::new(), CallKind::New, span);
        for field in literal.fields {
            let name = match &field.member {
                Member::Named(ident) => syn::ext::IdentExt::unraw(ident).to_string(),
                Member::Unnamed(index) => index.index.to_string(),
            };
            let value = self.expression(field.expr);
            self.store(instance, name, value);
        }
        if let Some(rest) = literal.rest {
            self.expression(*rest);
        }
        instance
    }
}
