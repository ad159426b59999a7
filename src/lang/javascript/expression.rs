//! Expressions. Left-deep chains (`a + b + c …`, `a.b().c() …`) are lowered in a loop, so
//! that only real nesting counts against the depth limit.

use tree_sitter::Node;

use super::literal;
use super::lower::Lowering;
use crate::base::ir::{Arg, BinaryOp, Call, CallKind, Expr, ExprId, GuardKind, Import, Spread};
use crate::lang::builder::ScopeKind;
use crate::lang::syntax::named_children;

/// What makes up a chain, from its innermost base outward.
fn chained(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "call_expression" => node.child_by_field_name("function"),
        "member_expression" | "subscript_expression" => node.child_by_field_name("object"),
        "non_null_expression" | "parenthesized_expression" => only_child(node),
        "as_expression" | "satisfies_expression" | "instantiation_expression" => {
            named_children(node).first().copied()
        }
        _ => None,
    }
}

fn only_child(node: Node<'_>) -> Option<Node<'_>> {
    match named_children(node).as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

impl<'s, 't> Lowering<'s, 't> {
    /// Lowers an expression and gives its value.
    pub(super) fn expression(&mut self, node: Node<'t>) -> ExprId {
        match node.kind() {
            "binary_expression" => self.operators(node),
            _ if chained(node).is_some() => self.chain(node),
            _ => match self.deeper(node, |this| this.simple(node)) {
                Some(id) => id,
                None => self.unknown(node),
            },
        }
    }

    fn simple(&mut self, node: Node<'t>) -> ExprId {
        let span = Self::span(node);
        match node.kind() {
            "identifier" | "shorthand_property_identifier" => self.name(node),
            "undefined" | "null" => self.builder.expr(Expr::Null, span),
            "true" => self.builder.expr(Expr::Bool(true), span),
            "false" => self.builder.expr(Expr::Bool(false), span),
            "number" => match literal::integer(self.slice(node)) {
                Some(value) => self.builder.expr(Expr::Int(value), span),
                None => self.unknown(node),
            },
            "string" => {
                let text = self.slice(node);
                let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
                self.builder.expr(Expr::Str(literal::unescape(inner)), span)
            }
            "template_string" => self.template(node),
            "this" => match self.context.this {
                Some(cell) => self.builder.expr(Expr::Cell(cell), span),
                None => self.unknown(node),
            },
            "super" => match self.context.class {
                Some(class) => self.builder.expr(Expr::Super(class), span),
                None => self.unknown(node),
            },
            "meta_property" => {
                let text: String = self.slice(node).split_whitespace().collect();
                if text == "import.meta" {
                    self.builder.expr(Expr::External(text), span)
                } else {
                    self.unknown(node)
                }
            }
            // `(a, b)`, and a pair of parentheses around a comma.
            "parenthesized_expression" | "sequence_expression" => self.last_of(node),
            "await_expression" => match only_child(node) {
                Some(inner) => {
                    let value = self.expression(inner);
                    self.builder.expr(Expr::Same(value), span)
                }
                None => self.unknown(node),
            },
            "type_assertion" => match named_children(node).last() {
                Some(inner) => self.expression(*inner),
                None => self.unknown(node),
            },
            "array" => self.array(node),
            "object" => self.object(node, None),
            "ternary_expression" => self.ternary(node),
            "unary_expression" => self.unary(node),
            "update_expression" => {
                if let Some(argument) = node.child_by_field_name("argument") {
                    self.expression(argument);
                }
                self.unknown(node)
            }
            "assignment_expression" => self.assignment(node),
            "augmented_assignment_expression" => self.augmented(node),
            "new_expression" => self.construction(node),
            "arrow_function" | "function_expression" | "generator_function" => {
                self.function_value(node, None)
            }
            "class" => self.class_expression(node, None),
            "yield_expression" => self.yielded(node),
            "internal_module" => {
                self.statement(node);
                self.unknown(node)
            }
            "spread_element" => match only_child(node) {
                Some(inner) => self.expression(inner),
                None => self.unknown(node),
            },
            kind if kind.ends_with("_type") || kind.starts_with("type_") => self.unknown(node),
            _ => {
                for child in named_children(node) {
                    self.expression(child);
                }
                self.unknown(node)
            }
        }
    }

    fn last_of(&mut self, node: Node<'t>) -> ExprId {
        // A long comma sequence is nested on one side: walk it, do not recurse.
        let mut rest = vec![node];
        let mut last = None;
        while let Some(part) = rest.pop() {
            if matches!(part.kind(), "sequence_expression" | "parenthesized_expression")
                && part.named_child_count() > 1
                || part.id() == node.id()
            {
                rest.extend(named_children(part).into_iter().rev());
            } else {
                last = Some(self.expression(part));
            }
        }
        match last {
            Some(value) => value,
            None => self.unknown(node),
        }
    }

    /// A chain of calls, members and elements, from its innermost base outward.
    fn chain(&mut self, node: Node<'t>) -> ExprId {
        let mut links = vec![node];
        let mut base = node;
        while let Some(inner) = chained(base) {
            if chained(inner).is_some() {
                links.push(inner);
            }
            base = inner;
        }
        let mut value = match base.kind() {
            "import" => self.unknown(base),
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
            "member_expression" => {
                let Some(property) = node.child_by_field_name("property") else {
                    return self.unknown(node);
                };
                let name = self.slice(property);
                self.watch(name, Self::span(property));
                if let Some(whole) = self.whole_module(base, name) {
                    return self.builder.expr(Expr::Cell(whole), span);
                }
                self.builder.expr(Expr::Attr { base, name: name.to_owned() }, span)
            }
            "subscript_expression" => {
                let Some(index) = node.child_by_field_name("index") else { return self.unknown(node) };
                let key = self.expression(index);
                if let Expr::Str(name) = &self.builder.program.exprs[key as usize].expr {
                    let name = name.clone();
                    self.watch(&name, Self::span(index));
                }
                self.builder.expr(Expr::Index { base, key }, span)
            }
            "call_expression" => self.call(node, base),
            _ => base,
        }
    }

    /// A template's text: the parts between `start` and `end` and the substitutions in it.
    pub(super) fn template(&mut self, node: Node<'t>) -> ExprId {
        let span = Self::span(node);
        let (mut at, end) = (node.start_byte() + 1, node.end_byte().saturating_sub(1));
        let mut parts = Vec::new();
        for child in named_children(node).into_iter().filter(|c| c.kind() == "template_substitution") {
            self.template_text(at, child.start_byte(), &mut parts);
            at = child.end_byte();
            parts.push(match named_children(child).first() {
                Some(inner) => self.expression(*inner),
                None => self.unknown(child),
            });
        }
        self.template_text(at, end, &mut parts);
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

    fn template_text(&mut self, from: usize, to: usize, parts: &mut Vec<ExprId>) {
        if let Some(text) = self.text.get(from..to).filter(|t| !t.is_empty()) {
            let span = crate::base::span::Span::new(from, to);
            parts.push(self.builder.expr(Expr::Str(literal::unescape(text)), span));
        }
    }

    fn array(&mut self, node: Node<'t>) -> ExprId {
        let mut items = Vec::new();
        for child in named_children(node) {
            let spread = if child.kind() == "spread_element" { Spread::Sequence } else { Spread::No };
            items.push((self.expression(child), spread));
        }
        self.builder.expr(Expr::Seq(items), Self::span(node))
    }

    /// An object literal. Its functions are named after it, if it has a name.
    pub(super) fn object(&mut self, node: Node<'t>, name: Option<&str>) -> ExprId {
        let mut entries = Vec::new();
        for child in named_children(node) {
            match child.kind() {
                "pair" => {
                    let (Some(key), Some(value)) =
                        (child.child_by_field_name("key"), child.child_by_field_name("value"))
                    else {
                        continue;
                    };
                    let (key_id, key_name) = self.property_key(key);
                    let hint = key_name.map(|key| member_name(name, &key));
                    entries.push((Some(key_id), self.named_value(value, hint.as_deref())));
                }
                "method_definition" => {
                    let Some(key) = child.child_by_field_name("name") else { continue };
                    let (key_id, key_name) = self.property_key(key);
                    let hint = key_name.map(|key| member_name(name, &key));
                    let function = self.function_value(child, hint.as_deref());
                    let accessor = child.child(0).map(|c| c.kind());
                    match accessor {
                        // What a getter gives is what the member is.
                        Some("get") => {
                            let call = Call { callee: function, args: Box::default(), kind: CallKind::Plain };
                            let value = self.builder.expr(Expr::Call(call), Self::span(child));
                            entries.push((Some(key_id), value));
                        }
                        Some("set") => {}
                        _ => entries.push((Some(key_id), function)),
                    }
                }
                "shorthand_property_identifier" => {
                    let key = self.builder.expr(Expr::Str(self.slice(child).to_owned()), Self::span(child));
                    entries.push((Some(key), self.name(child)));
                }
                "spread_element" => {
                    let value = self.expression(child);
                    entries.push((None, value));
                }
                _ => {
                    self.expression(child);
                }
            }
        }
        self.builder.expr(Expr::Map(entries), Self::span(node))
    }

    /// A property's key as a value, and its name if it is a constant one.
    pub(super) fn property_key(&mut self, key: Node<'t>) -> (ExprId, Option<String>) {
        let span = Self::span(key);
        let text = self.slice(key);
        match key.kind() {
            "property_identifier" | "private_property_identifier" | "number" => {
                self.watch(text, span);
                (self.builder.expr(Expr::Str(text.to_owned()), span), Some(text.to_owned()))
            }
            "computed_property_name" => {
                let value = match named_children(key).first() {
                    Some(inner) => self.expression(*inner),
                    None => self.unknown(key),
                };
                let name = match &self.builder.program.exprs[value as usize].expr {
                    Expr::Str(name) => Some(name.clone()),
                    _ => None,
                };
                (value, name)
            }
            _ => {
                let value = self.expression(key);
                let name = match &self.builder.program.exprs[value as usize].expr {
                    Expr::Str(name) => Some(name.clone()),
                    _ => None,
                };
                (value, name)
            }
        }
    }

    /// A value that gets a name: functions and classes are called by it.
    pub(super) fn named_value(&mut self, node: Node<'t>, name: Option<&str>) -> ExprId {
        let mut inner = node;
        while inner.kind() == "parenthesized_expression" {
            match only_child(inner) {
                Some(child) => inner = child,
                None => break,
            }
        }
        let lowered = match inner.kind() {
            "arrow_function" | "function_expression" | "generator_function" => {
                self.deeper(inner, |this| this.function_value(inner, name))
            }
            "class" => self.deeper(inner, |this| this.class_expression(inner, name)),
            "object" => self.deeper(inner, |this| this.object(inner, name)),
            _ => return self.expression(node),
        };
        match lowered {
            Some(value) => value,
            None => self.unknown(node),
        }
    }

    fn ternary(&mut self, node: Node<'t>) -> ExprId {
        let parts = ["condition", "consequence", "alternative"].map(|f| node.child_by_field_name(f));
        let [Some(condition), Some(then), Some(otherwise)] = parts else { return self.unknown(node) };
        let condition = self.expression(condition);
        let outer = self.builder.guard;
        self.builder.push_guard(GuardKind::Branch(condition, true));
        let then = self.expression(then);
        self.builder.guard = outer;
        self.builder.push_guard(GuardKind::Branch(condition, false));
        let otherwise = self.expression(otherwise);
        self.builder.guard = outer;
        self.builder.expr(Expr::Union(vec![then, otherwise]), Self::span(node))
    }

    /// Binary operators, the left spine in a loop.
    fn operators(&mut self, node: Node<'t>) -> ExprId {
        let mut spine = vec![node];
        let mut left = node.child_by_field_name("left");
        while let Some(inner) = left.filter(|n| n.kind() == "binary_expression") {
            spine.push(inner);
            left = inner.child_by_field_name("left");
        }
        let mut value = match left {
            Some(left) => match self.deeper(left, |this| this.expression(left)) {
                Some(value) => value,
                None => self.unknown(left),
            },
            None => self.unknown(node),
        };
        let outer = self.builder.guard;
        while let Some(link) = spine.pop() {
            let op = match link.child_by_field_name("operator").map(|o| o.kind()) {
                Some("+") => BinaryOp::Add,
                Some("==" | "===") => BinaryOp::Equal,
                Some("!=" | "!==") => BinaryOp::NotEqual,
                Some(">") => BinaryOp::Greater,
                Some("<") => BinaryOp::Less,
                Some("&&") => BinaryOp::And,
                Some("||" | "??") => BinaryOp::Or,
                _ => BinaryOp::Other,
            };
            // The right side of `&&` runs where the left holds, of `||` where it does not.
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
        let span = Self::span(node);
        match node.child_by_field_name("operator").map(|o| o.kind()) {
            Some("delete") => self.deletion(node, argument),
            Some("-") => {
                let value = self.expression(argument);
                self.builder.expr(Expr::Neg(value), span)
            }
            Some("+") => self.expression(argument),
            Some("!") => {
                let value = self.expression(argument);
                self.builder.expr(Expr::Not(value), span)
            }
            Some("void") => {
                self.expression(argument);
                self.builder.expr(Expr::Null, span)
            }
            _ => {
                self.expression(argument);
                self.unknown(node)
            }
        }
    }

    /// `delete object[key]` is a call of the object's member `[delete]`, so that the catalogue can name it.
    fn deletion(&mut self, node: Node<'t>, argument: Node<'t>) -> ExprId {
        let span = Self::span(node);
        let value = self.expression(argument);
        let base = match &self.builder.program.exprs[value as usize].expr {
            Expr::Attr { base, .. } | Expr::Index { base, .. } => *base,
            _ => return self.unknown(node),
        };
        let key = self.builder.expr(Expr::Str("delete".to_owned()), span);
        let callee = self.builder.expr(Expr::Index { base, key }, span);
        self.builder.expr(Expr::Call(Call { callee, args: Box::default(), kind: CallKind::Plain }), span)
    }

    fn augmented(&mut self, node: Node<'t>) -> ExprId {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return self.unknown(node);
        };
        let span = Self::span(node);
        let old = self.expression(left);
        let right_value = self.expression(right);
        let value = match node.child_by_field_name("operator").map(|o| o.kind()) {
            Some("||=" | "&&=" | "??=") => self.builder.expr(Expr::Union(vec![old, right_value]), span),
            Some("+=") => {
                self.builder.expr(Expr::Binary { op: BinaryOp::Add, left: old, right: right_value }, span)
            }
            _ => self.builder.expr(Expr::Binary { op: BinaryOp::Other, left: old, right: right_value }, span),
        };
        self.assign(left, value, None);
        value
    }

    fn yielded(&mut self, node: Node<'t>) -> ExprId {
        let delegates = {
            let mut cursor = node.walk();
            node.children(&mut cursor).any(|c| c.kind() == "*")
        };
        let value = match named_children(node).first() {
            Some(inner) => {
                let value = self.expression(*inner);
                if delegates { self.builder.expr(Expr::Element(value), Self::span(node)) } else { value }
            }
            None => self.unknown(node),
        };
        let function = self.builder.function as usize;
        self.builder.program.functions[function].yields.push(value);
        self.unknown(node)
    }

    /// `new X(…)`.
    fn construction(&mut self, node: Node<'t>) -> ExprId {
        let Some(constructor) = node.child_by_field_name("constructor") else { return self.unknown(node) };
        let callee = self.expression(constructor);
        let args = match node.child_by_field_name("arguments") {
            Some(arguments) => self.arguments(arguments),
            None => Vec::<Arg>::new(),
        };
        if self.slice(constructor).rsplit('.').next() == Some("Worker")
            && let Some(file) = args.first().and_then(|first| self.worker_file(first.value))
        {
            // A worker is a thread: its file runs in this process.
            self.import(Import { module: file, name: None }, Self::span(node));
        }
        self.builder
            .expr(Expr::Call(Call { callee, args: args.into(), kind: CallKind::New }), Self::span(node))
    }

    /// The file that a worker's first argument names: a constant, or one beside this file.
    fn worker_file(&self, argument: ExprId) -> Option<String> {
        let exprs = &self.builder.program.exprs;
        let text = |id: ExprId| match &exprs.get(id as usize)?.expr {
            Expr::Str(text) => Some(text.as_str()),
            _ => None,
        };
        let parts: Vec<&str> = match &exprs.get(argument as usize)?.expr {
            Expr::Str(text) => vec![text],
            // `new URL("./worker.js", import.meta.url)`, `path.join(__dirname, "worker.js")`.
            Expr::Call(call) => call.args.iter().filter_map(|a| text(a.value)).collect(),
            _ => return None,
        };
        let file = parts.iter().map(|p| p.trim_start_matches("./").trim_matches('/')).collect::<Vec<_>>();
        let is_name = !file.is_empty() && parts.iter().all(|p| !p.contains(':') && !p.starts_with('/'));
        is_name.then(|| format!("./{}", file.join("/")))
    }

    /// Opens a block scope for names that a construct declares for itself; gives the scope to restore.
    pub(super) fn open_block(&mut self, names: Vec<&'s str>) -> usize {
        let outer = self.builder.scope;
        if !names.is_empty() {
            let scope = self.builder.push_scope(ScopeKind::Block, Some(outer));
            self.declare(scope, names);
            self.builder.scope = scope;
        }
        outer
    }
}

/// The name of a member's function: the object's with the member's, or the member's alone.
fn member_name(object: Option<&str>, member: &str) -> String {
    match object {
        Some(object) if !object.is_empty() => format!("{object}.{member}"),
        _ => member.to_owned(),
    }
}
