//! Expressions. Left-deep chains (`a + b + c …`, `a.b().c() …`) are lowered in a loop, so
//! that only real nesting counts against the depth limit.

use smallvec::{SmallVec, smallvec};

use super::literal;
use super::lower::{Body, Lowering, Pending};
use super::tree::{Field, Kind, Node};
use crate::base::ir::{Arg, BinaryOp, Call, CallKind, Expr, ExprId, FunctionKind, GuardKind, Param, Spread};
use crate::base::span::Span;
use crate::lang::builder::{ScopeKind, function};

impl<'s, 't> Lowering<'s, 't> {
    /// Lowers an expression and gives its value.
    pub(super) fn expression(&mut self, node: Node<'t>) -> ExprId {
        match node.kind() {
            Kind::Call | Kind::Attribute | Kind::Subscript => self.chain(node),
            Kind::Binary | Kind::Boolean => self.operators(node),
            _ => match self.deeper(node, |this| this.simple(node)) {
                Some(id) => id,
                None => self.unknown(node),
            },
        }
    }

    fn simple(&mut self, node: Node<'t>) -> ExprId {
        let span = Self::span(node);
        match node.kind() {
            Kind::Identifier => self.name(node),
            Kind::String => self.string(node),
            Kind::ConcatenatedString => {
                let parts = node.children().map(|part| self.expression(part)).collect();
                self.builder.expr(Expr::Template(parts), span)
            }
            Kind::Integer => match literal::integer(self.slice(node)) {
                Some(value) => self.builder.expr(Expr::Int(value), span),
                None => self.unknown(node),
            },
            Kind::True => self.builder.expr(Expr::Bool(true), span),
            Kind::False => self.builder.expr(Expr::Bool(false), span),
            Kind::None => self.builder.expr(Expr::Null, span),
            Kind::Parenthesized => match node.children().next() {
                Some(inner) => self.expression(inner),
                None => self.unknown(node),
            },
            Kind::Await => match node.children().next() {
                Some(inner) => {
                    let value = self.expression(inner);
                    self.builder.expr(Expr::Same(value), span)
                }
                None => self.unknown(node),
            },
            Kind::List | Kind::Tuple | Kind::Set | Kind::ExpressionList | Kind::PatternList => {
                self.sequence(node)
            }
            Kind::Dictionary => self.dictionary(node),
            Kind::Conditional => self.conditional(node),
            Kind::Not => match node.field(Field::Argument) {
                Some(argument) => {
                    let value = self.expression(argument);
                    self.builder.expr(Expr::Not(value), span)
                }
                None => self.unknown(node),
            },
            Kind::Unary => self.unary(node),
            Kind::Comparison => self.comparison(node),
            Kind::NamedExpression => self.walrus(node),
            Kind::Lambda => self.lambda(node),
            Kind::ListComprehension
            | Kind::SetComprehension
            | Kind::Generator
            | Kind::DictionaryComprehension => self.comprehension(node),
            Kind::Yield => self.yielded(node),
            Kind::ListSplat | Kind::DictionarySplat | Kind::ParenthesizedListSplat => {
                match node.children().next() {
                    Some(inner) => {
                        let value = self.expression(inner);
                        self.builder.expr(Expr::Same(value), span)
                    }
                    None => self.unknown(node),
                }
            }
            Kind::KeywordArgument => match node.field(Field::Value) {
                Some(value) => self.expression(value),
                None => self.unknown(node),
            },
            Kind::Assignment | Kind::Augmented => {
                self.statement(node);
                self.unknown(node)
            }
            // Types in annotations name things, they call nothing.
            Kind::Type => self.unknown(node),
            _ => {
                for child in node.children() {
                    self.expression(child);
                }
                self.unknown(node)
            }
        }
    }

    /// A chain of calls, attributes and subscripts, from its innermost base outward.
    fn chain(&mut self, node: Node<'t>) -> ExprId {
        let mut links: SmallVec<[Node<'t>; 8]> = smallvec![node];
        let mut base = node;
        loop {
            let inner = match base.kind() {
                Kind::Call => base.field(Field::Function),
                Kind::Attribute => base.field(Field::Object),
                Kind::Subscript => base.field(Field::Value),
                _ => None,
            };
            match inner {
                Some(inner) if matches!(inner.kind(), Kind::Call | Kind::Attribute | Kind::Subscript) => {
                    links.push(inner);
                    base = inner;
                }
                Some(inner) => {
                    base = inner;
                    break;
                }
                None => break,
            }
        }
        let mut value = match base.kind() {
            Kind::Call | Kind::Attribute | Kind::Subscript => self.unknown(base),
            _ => self.expression(base),
        };
        while let Some(link) = links.pop() {
            value = match self.deeper(link, |this| this.link(link, value)) {
                Some(value) => value,
                None => self.unknown(link),
            };
        }
        value
    }

    fn link(&mut self, node: Node<'t>, base: ExprId) -> ExprId {
        let span = Self::span(node);
        match node.kind() {
            Kind::Attribute => {
                let Some(attribute) = node.field(Field::Attribute) else {
                    return self.unknown(node);
                };
                let name = self.slice(attribute);
                self.watch(name, Self::span(attribute));
                self.builder.expr(Expr::Attr { base, name: name.to_owned() }, span)
            }
            Kind::Subscript => {
                let keys: SmallVec<[Node<'t>; 2]> = node.fields(Field::Subscript).collect();
                match keys.as_slice() {
                    [key] if key.kind() == Kind::Slice => self.slice_of(*key, base, span),
                    [key] => {
                        let value = self.expression(*key);
                        self.watch_constant_key(base, value);
                        self.builder.expr(Expr::Index { base, key: value }, span)
                    }
                    _ => {
                        let items = keys.into_iter().map(|key| (self.expression(key), Spread::No)).collect();
                        // `Literal["start", "stop"]`: what else is asked for several keys says nothing.
                        let names_choices = node
                            .field(Field::Value)
                            .is_some_and(|of| matches!(self.slice(of).rsplit('.').next(), Some("Literal")));
                        if !names_choices {
                            return self.unknown(node);
                        }
                        let key = self.builder.expr(Expr::Seq(items), span);
                        self.builder.expr(Expr::Index { base, key }, span)
                    }
                }
            }
            _ => self.call(node, base),
        }
    }

    /// `globals()["name"]` uses a watched name as an attribute would.
    fn watch_constant_key(&mut self, base: ExprId, key: ExprId) {
        if self.watch.is_empty() {
            return;
        }
        let program = &self.builder.program;
        let Expr::Str(name) = &program.exprs[key as usize].expr else { return };
        let Expr::Call(call) = &program.exprs[base as usize].expr else { return };
        if let Expr::External(path) = &program.exprs[call.callee as usize].expr
            && matches!(path.as_str(), "builtins.globals" | "builtins.vars" | "builtins.locals")
        {
            let (name, span) = (name.clone(), program.exprs[key as usize].span);
            self.watch(&name, span);
        }
    }

    fn slice_of(&mut self, node: Node<'t>, base: ExprId, span: Span) -> ExprId {
        let text = self.slice(node);
        for bound in node.children() {
            self.expression(bound);
        }
        if let Expr::Str(whole) = &self.builder.program.exprs[base as usize].expr
            && let Some(part) = literal::sliced(whole, text)
        {
            return self.builder.expr(Expr::Str(part), span);
        }
        let (start, rest) = text.split_once(':').unwrap_or((text, ""));
        let start = start.trim();
        let from = if start.is_empty() { Some(0) } else { start.parse().ok() };
        // A slice with an end or a step is not the rest of the sequence.
        let whole = rest.trim().is_empty() || rest.trim() == ":";
        self.builder.expr(Expr::Slice(base, from.filter(|_| whole)), span)
    }

    fn call(&mut self, node: Node<'t>, callee: ExprId) -> ExprId {
        let span = Self::span(node);
        let mut args = Vec::new();
        if let Some(arguments) = node.field(Field::Arguments) {
            if arguments.kind() == Kind::Generator {
                args.reserve_exact(1);
                args.push(Arg::positional(self.expression(arguments)));
            } else {
                // Most calls have few: the room that a list takes for itself would be four.
                args.reserve_exact(arguments.children().count());
                for argument in arguments.children() {
                    args.push(self.argument(argument));
                }
            }
        }
        if let Expr::External(path) = &self.builder.program.exprs[callee as usize].expr {
            match path.as_str() {
                "builtins.super" => {
                    if let Some(class) = self.class {
                        return self.builder.expr(Expr::Super(class), span);
                    }
                }
                "builtins.exec" | "builtins.eval" => {
                    let code = args.first().map(|arg| &self.builder.program.exprs[arg.value as usize].expr);
                    if let Some(Expr::Str(code)) = code {
                        let (code, is_eval) = (code.clone(), path == "builtins.eval");
                        if let Some(value) = self.quoted(&code, span).filter(|_| is_eval) {
                            return value;
                        }
                    }
                }
                "builtins.setattr" | "builtins.getattr" | "builtins.delattr" => {
                    if let Some(arg) = args.get(1)
                        && let Expr::Str(name) = &self.builder.program.exprs[arg.value as usize].expr
                    {
                        let (name, at) = (name.clone(), self.builder.program.exprs[arg.value as usize].span);
                        self.watch(&name, at);
                    }
                }
                _ => {}
            }
        }
        self.builder.expr(Expr::Call(Call { callee, args: args.into(), kind: CallKind::Plain }), span)
    }

    fn argument(&mut self, node: Node<'t>) -> Arg {
        let spread = match node.kind() {
            Kind::ListSplat | Kind::ParenthesizedListSplat => Spread::Sequence,
            Kind::DictionarySplat => Spread::Mapping,
            _ => Spread::No,
        };
        let name = match node.kind() {
            Kind::KeywordArgument => node.field(Field::Name).map(|n| self.slice(n).to_owned()),
            _ => None,
        };
        let value = match (spread, node.children().next()) {
            (Spread::Sequence | Spread::Mapping, Some(inner)) => self.expression(inner),
            _ => self.expression(node),
        };
        Arg { value, name, spread }
    }

    fn string(&mut self, node: Node<'t>) -> ExprId {
        let span = Self::span(node);
        let prefix = node.children().next().map_or("", |start| self.slice(start));
        let (raw, formatted) = (prefix.contains(['r', 'R']), prefix.contains(['f', 'F']));
        let mut parts: SmallVec<[ExprId; 4]> = SmallVec::new();
        for child in node.children() {
            match child.kind() {
                Kind::StringContent => {
                    // `{{` and `}}` of an f-string are one brace each.
                    let mut content = literal::unescape(self.slice(child), raw);
                    if formatted && content.contains(['{', '}']) {
                        content = content.replace("{{", "{").replace("}}", "}");
                    }
                    parts.push(self.builder.expr(Expr::Str(content), Self::span(child)));
                }
                Kind::Interpolation => {
                    let Some(inner) = child.field(Field::Expression) else { continue };
                    let value = self.expression(inner);
                    let altered = child.field(Field::TypeConversion).is_some_and(|c| self.slice(c) != "!s");
                    parts.push(if altered { self.unknown(child) } else { value });
                    if let Some(specifier) = child.field(Field::FormatSpecifier) {
                        for nested in specifier.children() {
                            self.expression(nested);
                        }
                    }
                }
                _ => {}
            }
        }
        match parts.as_slice() {
            [] => self.builder.expr(Expr::Str(String::new()), span),
            [only] => match &self.builder.program.exprs[*only as usize].expr {
                Expr::Str(text) => {
                    let text = text.clone();
                    self.builder.expr(Expr::Str(text), span)
                }
                _ => self.builder.expr(Expr::Template(parts.into_vec()), span),
            },
            _ => self.builder.expr(Expr::Template(parts.into_vec()), span),
        }
    }

    fn sequence(&mut self, node: Node<'t>) -> ExprId {
        let mut items = Vec::with_capacity(node.children().count());
        for child in node.children() {
            match (child.kind(), child.children().next()) {
                (Kind::ListSplat | Kind::ParenthesizedListSplat, Some(inner)) => {
                    items.push((self.expression(inner), Spread::Sequence));
                }
                _ => items.push((self.expression(child), Spread::No)),
            }
        }
        self.builder.expr(Expr::Seq(items), Self::span(node))
    }

    fn dictionary(&mut self, node: Node<'t>) -> ExprId {
        let mut entries = Vec::with_capacity(node.children().count());
        for child in node.children() {
            match child.kind() {
                Kind::Pair => {
                    let (Some(key), Some(value)) = (child.field(Field::Key), child.field(Field::Value))
                    else {
                        continue;
                    };
                    let key = self.expression(key);
                    entries.push((Some(key), self.expression(value)));
                }
                _ => {
                    let value = self.expression(child);
                    entries.push((None, value));
                }
            }
        }
        self.builder.expr(Expr::Map(entries), Self::span(node))
    }

    fn conditional(&mut self, node: Node<'t>) -> ExprId {
        let parts: SmallVec<[Node<'t>; 3]> = node.children().collect();
        let [then, condition, otherwise] = parts.as_slice() else {
            for part in parts {
                self.expression(part);
            }
            return self.unknown(node);
        };
        let condition = self.expression(*condition);
        let outer = self.builder.guard;
        self.builder.push_guard(GuardKind::Branch(condition, true));
        let then = self.expression(*then);
        self.builder.guard = outer;
        self.builder.push_guard(GuardKind::Branch(condition, false));
        let otherwise = self.expression(*otherwise);
        self.builder.guard = outer;
        self.builder.expr(Expr::Union(vec![then, otherwise]), Self::span(node))
    }

    /// Binary and Boolean operators, the left spine in a loop.
    fn operators(&mut self, node: Node<'t>) -> ExprId {
        let mut spine: SmallVec<[Node<'t>; 4]> = smallvec![node];
        let mut left = node.field(Field::Left);
        while let Some(inner) = left.filter(|n| matches!(n.kind(), Kind::Binary | Kind::Boolean)) {
            spine.push(inner);
            left = inner.field(Field::Left);
        }
        let mut value = match left {
            Some(left) => self.expression(left),
            None => self.unknown(node),
        };
        let outer = self.builder.guard;
        while let Some(link) = spine.pop() {
            let op = match link.field(Field::Operator).map(Node::kind) {
                Some(Kind::Add) => BinaryOp::Add,
                Some(Kind::Percent) => BinaryOp::Percent,
                Some(Kind::Slash) => BinaryOp::Slash,
                Some(Kind::Union) => BinaryOp::Union,
                Some(Kind::And) => BinaryOp::And,
                Some(Kind::Or) => BinaryOp::Or,
                _ => BinaryOp::Other,
            };
            // The right side of `and` runs where the left holds, of `or` where it does not.
            match op {
                BinaryOp::And => self.builder.push_guard(GuardKind::Branch(value, true)),
                BinaryOp::Or => self.builder.push_guard(GuardKind::Branch(value, false)),
                _ => {}
            }
            let right = match link.field(Field::Right) {
                Some(right) => match self.deeper(right, |this| this.expression(right)) {
                    Some(right) => right,
                    None => self.unknown(right),
                },
                None => self.unknown(link),
            };
            self.builder.guard = outer;
            let is_table = [value, right].iter().any(|side| self.builder.is_table(*side));
            let sides = vec![(None, value), (None, right)];
            value = self.builder.expr(Expr::Binary { op, left: value, right }, Self::span(link));
            // The right table stands in the place of the left; the operator may be a class's own as well.
            if op == BinaryOp::Union && is_table {
                value = self.builder.expr(Expr::Map(sides), Self::span(link));
            }
        }
        value
    }

    fn unary(&mut self, node: Node<'t>) -> ExprId {
        let Some(argument) = node.field(Field::Argument) else { return self.unknown(node) };
        let value = self.expression(argument);
        match node.field(Field::Operator).map(Node::kind) {
            Some(Kind::Subtract) => self.builder.expr(Expr::Neg(value), Self::span(node)),
            Some(Kind::Add) => value,
            _ => self.unknown(node),
        }
    }

    fn comparison(&mut self, node: Node<'t>) -> ExprId {
        let span = Self::span(node);
        let operands: Vec<ExprId> = node.children().map(|n| self.expression(n)).collect();
        let [left, right] = operands.as_slice() else { return self.unknown(node) };
        let op = match node.field(Field::Operators).map(Node::kind) {
            Some(Kind::EqualTo | Kind::Is) => BinaryOp::Equal,
            Some(Kind::NotEqualTo | Kind::Unequal | Kind::IsNot) => BinaryOp::NotEqual,
            Some(Kind::Greater) => BinaryOp::Greater,
            Some(Kind::Less) => BinaryOp::Less,
            Some(Kind::In) => BinaryOp::In,
            Some(Kind::NotIn) => BinaryOp::NotIn,
            _ => BinaryOp::Other,
        };
        self.builder.expr(Expr::Binary { op, left: *left, right: *right }, span)
    }

    fn walrus(&mut self, node: Node<'t>) -> ExprId {
        let (Some(name), Some(value)) = (node.field(Field::Name), node.field(Field::Value)) else {
            return self.unknown(node);
        };
        let value = self.expression(value);
        let name_text = self.slice(name);
        self.watch(name_text, Self::span(name));
        // An assignment expression binds in the function around any comprehension.
        let mut scope = self.builder.scope;
        while self.builder.scope_kind(scope) == ScopeKind::Block {
            match self.builder.scope_parent(scope) {
                Some(parent) => scope = parent,
                None => break,
            }
        }
        self.builder.bind_in(scope, name_text, Some(value));
        value
    }

    fn lambda(&mut self, node: Node<'t>) -> ExprId {
        let span = Self::span(node);
        let Some(body) = node.field(Field::Body) else { return self.unknown(node) };
        let scope = self.builder.push_scope(ScopeKind::Function, Some(self.builder.scope));
        let params = match node.field(Field::Parameters) {
            Some(parameters) => self.parameters(parameters, scope),
            None => Vec::new(),
        };
        let mut lambda = function("", &self.symbol_or_module(), span, FunctionKind::Plain);
        lambda.parent = Some(self.builder.function);
        lambda.params = params;
        let id = self.builder.add_function(lambda);
        self.pending.push_back(Pending {
            function: id,
            scope,
            body: Body::Expression(body),
            definition: None,
            class: self.class,
            symbol: self.symbol.clone(),
        });
        self.builder.expr(Expr::Func(id), span)
    }

    /// The parameters of a function or lambda, bound in `scope`; defaults are evaluated here.
    pub(super) fn parameters(&mut self, node: Node<'t>, scope: crate::lang::builder::ScopeId) -> Vec<Param> {
        let mut params: Vec<Param> = Vec::with_capacity(node.children().count());
        let mut keyword_only = false;
        for child in node.children() {
            let name;
            let (mut spread, mut default) = (Spread::No, None);
            match child.kind() {
                Kind::Identifier => name = Some(child),
                Kind::DefaultParameter | Kind::TypedDefaultParameter => {
                    name = child.field(Field::Name);
                    default = child.field(Field::Value);
                }
                Kind::TypedParameter => {
                    let inner = child.children().next();
                    match inner.map(Node::kind) {
                        Some(Kind::ListSplatPattern) => spread = Spread::Sequence,
                        Some(Kind::DictionarySplatPattern) => spread = Spread::Mapping,
                        _ => {}
                    }
                    name = match inner {
                        Some(pattern) if spread != Spread::No => pattern.children().next(),
                        other => other,
                    };
                }
                Kind::ListSplatPattern => {
                    spread = Spread::Sequence;
                    name = child.children().next();
                }
                Kind::DictionarySplatPattern => {
                    spread = Spread::Mapping;
                    name = child.children().next();
                }
                Kind::KeywordSeparator => {
                    keyword_only = true;
                    continue;
                }
                _ => continue,
            }
            let value = default.map(|default| self.expression(default));
            let Some(name) = name else { continue };
            let text = self.slice(name);
            self.builder.scope_mut(scope).locals.insert(text);
            let cell = self.builder.bind_in(scope, text, value);
            params.push(Param { name: text.to_owned(), cell, spread, keyword_only });
            if spread == Spread::Sequence {
                keyword_only = true;
            }
        }
        params
    }

    fn comprehension(&mut self, node: Node<'t>) -> ExprId {
        let span = Self::span(node);
        let outer_scope = self.builder.scope;
        let outer_guard = self.builder.guard;
        let scope = self.builder.push_scope(ScopeKind::Block, Some(outer_scope));
        for child in node.children() {
            match child.kind() {
                Kind::ForIn => {
                    let (Some(left), Some(right)) = (child.field(Field::Left), child.field(Field::Right))
                    else {
                        continue;
                    };
                    let iterable = self.expression(right);
                    self.builder.scope = scope;
                    let element = self.builder.expr(Expr::Element(iterable), Self::span(right));
                    self.assign(left, element);
                }
                Kind::IfClause => {
                    for condition in child.children() {
                        let value = self.expression(condition);
                        self.builder.push_guard(GuardKind::Branch(value, true));
                    }
                }
                _ => {}
            }
        }
        let value = match node.field(Field::Body) {
            Some(body) if body.kind() == Kind::Pair => {
                let key = body.field(Field::Key).map(|k| self.expression(k));
                let value = body.field(Field::Value).map(|v| self.expression(v));
                match value {
                    Some(value) => self.builder.expr(Expr::Map(vec![(key, value)]), span),
                    None => self.unknown(node),
                }
            }
            Some(body) => {
                let element = self.expression(body);
                self.builder.expr(Expr::Seq(vec![(element, Spread::No)]), span)
            }
            None => self.unknown(node),
        };
        self.builder.scope = outer_scope;
        self.builder.guard = outer_guard;
        value
    }

    fn yielded(&mut self, node: Node<'t>) -> ExprId {
        let from = node.has(Kind::From);
        let value = match node.children().next() {
            Some(inner) => {
                let value = self.expression(inner);
                if from { self.builder.expr(Expr::Element(value), Self::span(node)) } else { value }
            }
            None => self.unknown(node),
        };
        let function = self.builder.function as usize;
        self.builder.program.functions[function].yields.push(value);
        self.unknown(node)
    }
}
