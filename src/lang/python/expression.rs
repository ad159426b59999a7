//! Expressions. Left-deep chains (`a + b + c …`, `a.b().c() …`) are lowered in a loop, so
//! that only real nesting counts against the depth limit.

use tree_sitter::Node;

use super::literal;
use super::lower::{Body, Lowering, Pending};
use crate::base::ir::{Arg, BinaryOp, Call, CallKind, Expr, ExprId, FunctionKind, GuardKind, Param, Spread};
use crate::base::span::Span;
use crate::lang::builder::{ScopeKind, function};
use crate::lang::syntax::named_children;

impl<'s, 't> Lowering<'s, 't> {
    /// Lowers an expression and gives its value.
    pub(super) fn expression(&mut self, node: Node<'t>) -> ExprId {
        match node.kind() {
            "call" | "attribute" | "subscript" => self.chain(node),
            "binary_operator" | "boolean_operator" => self.operators(node),
            _ => match self.deeper(node, |this| this.simple(node)) {
                Some(id) => id,
                None => self.unknown(node),
            },
        }
    }

    fn simple(&mut self, node: Node<'t>) -> ExprId {
        let span = Self::span(node);
        match node.kind() {
            "identifier" => self.name(node),
            "string" => self.string(node),
            "concatenated_string" => {
                let parts = named_children(node).into_iter().map(|part| self.expression(part)).collect();
                self.builder.expr(Expr::Template(parts), span)
            }
            "integer" => match literal::integer(self.slice(node)) {
                Some(value) => self.builder.expr(Expr::Int(value), span),
                None => self.unknown(node),
            },
            "true" => self.builder.expr(Expr::Bool(true), span),
            "false" => self.builder.expr(Expr::Bool(false), span),
            "none" => self.builder.expr(Expr::Null, span),
            "parenthesized_expression" => match named_children(node).first() {
                Some(inner) => self.expression(*inner),
                None => self.unknown(node),
            },
            "await" => match named_children(node).first() {
                Some(inner) => {
                    let value = self.expression(*inner);
                    self.builder.expr(Expr::Same(value), span)
                }
                None => self.unknown(node),
            },
            "list" | "tuple" | "set" | "expression_list" | "pattern_list" => self.sequence(node),
            "dictionary" => self.dictionary(node),
            "conditional_expression" => self.conditional(node),
            "not_operator" => match node.child_by_field_name("argument") {
                Some(argument) => {
                    let value = self.expression(argument);
                    self.builder.expr(Expr::Not(value), span)
                }
                None => self.unknown(node),
            },
            "unary_operator" => self.unary(node),
            "comparison_operator" => self.comparison(node),
            "named_expression" => self.walrus(node),
            "lambda" => self.lambda(node),
            "list_comprehension"
            | "set_comprehension"
            | "generator_expression"
            | "dictionary_comprehension" => self.comprehension(node),
            "yield" => self.yielded(node),
            "list_splat" | "dictionary_splat" | "parenthesized_list_splat" => {
                match named_children(node).first() {
                    Some(inner) => {
                        let value = self.expression(*inner);
                        self.builder.expr(Expr::Same(value), span)
                    }
                    None => self.unknown(node),
                }
            }
            "keyword_argument" => match node.child_by_field_name("value") {
                Some(value) => self.expression(value),
                None => self.unknown(node),
            },
            "assignment" | "augmented_assignment" => {
                self.statement(node);
                self.unknown(node)
            }
            // Types in annotations name things, they call nothing.
            "type" => self.unknown(node),
            _ => {
                for child in named_children(node) {
                    self.expression(child);
                }
                self.unknown(node)
            }
        }
    }

    /// A chain of calls, attributes and subscripts, from its innermost base outward.
    fn chain(&mut self, node: Node<'t>) -> ExprId {
        let mut links = vec![node];
        let mut base = node;
        loop {
            let inner = match base.kind() {
                "call" => base.child_by_field_name("function"),
                "attribute" => base.child_by_field_name("object"),
                "subscript" => base.child_by_field_name("value"),
                _ => None,
            };
            match inner {
                Some(inner) if matches!(inner.kind(), "call" | "attribute" | "subscript") => {
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
            "call" | "attribute" | "subscript" => self.unknown(base),
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
            "attribute" => {
                let Some(attribute) = node.child_by_field_name("attribute") else {
                    return self.unknown(node);
                };
                let name = self.slice(attribute);
                self.watch(name, Self::span(attribute));
                self.builder.expr(Expr::Attr { base, name: name.to_owned() }, span)
            }
            "subscript" => {
                let keys: Vec<Node<'t>> = {
                    let mut cursor = node.walk();
                    node.children_by_field_name("subscript", &mut cursor).collect()
                };
                match keys.as_slice() {
                    [key] if key.kind() == "slice" => self.slice_of(*key, base, span),
                    [key] => {
                        let value = self.expression(*key);
                        self.watch_constant_key(base, value);
                        self.builder.expr(Expr::Index { base, key: value }, span)
                    }
                    _ => {
                        for key in keys {
                            self.expression(key);
                        }
                        self.unknown(node)
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
        for bound in named_children(node) {
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
        if let Some(arguments) = node.child_by_field_name("arguments") {
            if arguments.kind() == "generator_expression" {
                args.push(Arg::positional(self.expression(arguments)));
            } else {
                for argument in named_children(arguments) {
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
        self.builder.expr(Expr::Call(Call { callee, args, kind: CallKind::Plain }), span)
    }

    fn argument(&mut self, node: Node<'t>) -> Arg {
        let spread = match node.kind() {
            "list_splat" | "parenthesized_list_splat" => Spread::Sequence,
            "dictionary_splat" => Spread::Mapping,
            _ => Spread::No,
        };
        let name = match node.kind() {
            "keyword_argument" => node.child_by_field_name("name").map(|n| self.slice(n).to_owned()),
            _ => None,
        };
        let value = match (spread, named_children(node).first()) {
            (Spread::Sequence | Spread::Mapping, Some(inner)) => self.expression(*inner),
            _ => self.expression(node),
        };
        Arg { value, name, spread }
    }

    fn string(&mut self, node: Node<'t>) -> ExprId {
        let span = Self::span(node);
        let children = named_children(node);
        let prefix = children.first().map_or("", |start| self.slice(*start)).to_ascii_lowercase();
        let raw = prefix.contains('r');
        let mut parts = Vec::new();
        for child in children {
            match child.kind() {
                "string_content" => {
                    // `{{` and `}}` of an f-string are one brace each.
                    let mut content = literal::unescape(self.slice(child), raw);
                    if prefix.contains('f') {
                        content = content.replace("{{", "{").replace("}}", "}");
                    }
                    parts.push(self.builder.expr(Expr::Str(content), Self::span(child)));
                }
                "interpolation" => {
                    let Some(inner) = child.child_by_field_name("expression") else { continue };
                    let value = self.expression(inner);
                    let altered =
                        child.child_by_field_name("type_conversion").is_some_and(|c| self.slice(c) != "!s");
                    parts.push(if altered { self.unknown(child) } else { value });
                    if let Some(specifier) = child.child_by_field_name("format_specifier") {
                        for nested in named_children(specifier) {
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
                _ => self.builder.expr(Expr::Template(parts), span),
            },
            _ => self.builder.expr(Expr::Template(parts), span),
        }
    }

    fn sequence(&mut self, node: Node<'t>) -> ExprId {
        let mut items = Vec::new();
        for child in named_children(node) {
            match (child.kind(), named_children(child).first()) {
                ("list_splat" | "parenthesized_list_splat", Some(inner)) => {
                    items.push((self.expression(*inner), Spread::Sequence));
                }
                _ => items.push((self.expression(child), Spread::No)),
            }
        }
        self.builder.expr(Expr::Seq(items), Self::span(node))
    }

    fn dictionary(&mut self, node: Node<'t>) -> ExprId {
        let mut entries = Vec::new();
        for child in named_children(node) {
            match child.kind() {
                "pair" => {
                    let (Some(key), Some(value)) =
                        (child.child_by_field_name("key"), child.child_by_field_name("value"))
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
        let parts = named_children(node);
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
        let mut spine = vec![node];
        let mut left = node.child_by_field_name("left");
        while let Some(inner) = left.filter(|n| matches!(n.kind(), "binary_operator" | "boolean_operator")) {
            spine.push(inner);
            left = inner.child_by_field_name("left");
        }
        let mut value = match left {
            Some(left) => self.expression(left),
            None => self.unknown(node),
        };
        let outer = self.builder.guard;
        while let Some(link) = spine.pop() {
            let op = match link.child_by_field_name("operator").map(|o| o.kind()) {
                Some("+") => BinaryOp::Add,
                Some("%") => BinaryOp::Percent,
                Some("/") => BinaryOp::Slash,
                Some("and") => BinaryOp::And,
                Some("or") => BinaryOp::Or,
                _ => BinaryOp::Other,
            };
            // The right side of `and` runs where the left holds, of `or` where it does not.
            match op {
                BinaryOp::And => self.builder.push_guard(GuardKind::Branch(value, true)),
                BinaryOp::Or => self.builder.push_guard(GuardKind::Branch(value, false)),
                _ => {}
            }
            let right = match link.child_by_field_name("right") {
                Some(right) => match self.deeper(right, |this| this.expression(right)) {
                    Some(right) => right,
                    None => self.unknown(right),
                },
                None => self.unknown(link),
            };
            self.builder.guard = outer;
            value = self.builder.expr(Expr::Binary { op, left: value, right }, Self::span(link));
        }
        value
    }

    fn unary(&mut self, node: Node<'t>) -> ExprId {
        let Some(argument) = node.child_by_field_name("argument") else { return self.unknown(node) };
        let value = self.expression(argument);
        match node.child_by_field_name("operator").map(|o| o.kind()) {
            Some("-") => self.builder.expr(Expr::Neg(value), Self::span(node)),
            Some("+") => value,
            _ => self.unknown(node),
        }
    }

    fn comparison(&mut self, node: Node<'t>) -> ExprId {
        let span = Self::span(node);
        let operands: Vec<ExprId> = named_children(node).into_iter().map(|n| self.expression(n)).collect();
        let operator = node.child_by_field_name("operators").map(|o| self.slice(o));
        let [left, right] = operands.as_slice() else { return self.unknown(node) };
        let op = match operator {
            Some("==" | "is") => BinaryOp::Equal,
            Some("!=" | "<>") => BinaryOp::NotEqual,
            Some(">") => BinaryOp::Greater,
            Some("<") => BinaryOp::Less,
            Some(text) if text.starts_with("is") => BinaryOp::NotEqual,
            _ => BinaryOp::Other,
        };
        self.builder.expr(Expr::Binary { op, left: *left, right: *right }, span)
    }

    fn walrus(&mut self, node: Node<'t>) -> ExprId {
        let (Some(name), Some(value)) = (node.child_by_field_name("name"), node.child_by_field_name("value"))
        else {
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
        let Some(body) = node.child_by_field_name("body") else { return self.unknown(node) };
        let scope = self.builder.push_scope(ScopeKind::Function, Some(self.builder.scope));
        let params = match node.child_by_field_name("parameters") {
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
        let mut params: Vec<Param> = Vec::new();
        let mut keyword_only = false;
        for child in named_children(node) {
            let name;
            let (mut spread, mut default) = (Spread::No, None);
            match child.kind() {
                "identifier" => name = Some(child),
                "default_parameter" | "typed_default_parameter" => {
                    name = child.child_by_field_name("name");
                    default = child.child_by_field_name("value");
                }
                "typed_parameter" => {
                    let inner = named_children(child).first().copied();
                    match inner.map(|n| n.kind()) {
                        Some("list_splat_pattern") => spread = Spread::Sequence,
                        Some("dictionary_splat_pattern") => spread = Spread::Mapping,
                        _ => {}
                    }
                    name = match inner {
                        Some(pattern) if spread != Spread::No => named_children(pattern).first().copied(),
                        other => other,
                    };
                }
                "list_splat_pattern" => {
                    spread = Spread::Sequence;
                    name = named_children(child).first().copied();
                }
                "dictionary_splat_pattern" => {
                    spread = Spread::Mapping;
                    name = named_children(child).first().copied();
                }
                "keyword_separator" => {
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
        for child in named_children(node) {
            match child.kind() {
                "for_in_clause" => {
                    let (Some(left), Some(right)) =
                        (child.child_by_field_name("left"), child.child_by_field_name("right"))
                    else {
                        continue;
                    };
                    let iterable = self.expression(right);
                    self.builder.scope = scope;
                    let element = self.builder.expr(Expr::Element(iterable), Self::span(right));
                    self.assign(left, element);
                }
                "if_clause" => {
                    for condition in named_children(child) {
                        let value = self.expression(condition);
                        self.builder.push_guard(GuardKind::Branch(value, true));
                    }
                }
                _ => {}
            }
        }
        let value = match node.child_by_field_name("body") {
            Some(body) if body.kind() == "pair" => {
                let key = body.child_by_field_name("key").map(|k| self.expression(k));
                let value = body.child_by_field_name("value").map(|v| self.expression(v));
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
        let from = node.child(1).is_some_and(|c| c.kind() == "from");
        let value = match named_children(node).first() {
            Some(inner) => {
                let value = self.expression(*inner);
                if from { self.builder.expr(Expr::Element(value), Self::span(node)) } else { value }
            }
            None => self.unknown(node),
        };
        let function = self.builder.function as usize;
        self.builder.program.functions[function].yields.push(value);
        self.unknown(node)
    }
}
