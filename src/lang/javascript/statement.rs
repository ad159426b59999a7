//! Statements: control flow, as far as it decides which bindings and conditions reach a call.

use tree_sitter::Node;

use super::bindings;
use super::lower::Lowering;
use crate::base::ir::{BinaryOp, Expr, GuardKind};
use crate::lang::builder::Lookup;
use crate::lang::syntax::named_children;

impl<'s, 't> Lowering<'s, 't> {
    /// The statements of a block in order, in the scope that is open: first what is hoisted, then the
    /// rest. What follows a statement that leaves under a condition is guarded by that condition.
    pub(super) fn statements(&mut self, block: Node<'t>) {
        let outer = self.builder.guard;
        let statements = named_children(block);
        for statement in &statements {
            self.hoist(*statement);
        }
        for statement in statements {
            if !matches!(statement.kind(), "import_statement" | "hash_bang_line") {
                self.deeper(statement, |this| this.statement(statement));
            }
        }
        self.builder.guard = outer;
    }

    /// Imports and function declarations are bound before the code around them runs.
    fn hoist(&mut self, statement: Node<'t>) {
        match statement.kind() {
            "import_statement" => self.import_statement(statement),
            "function_declaration" | "generator_function_declaration" => self.function_declaration(statement),
            "export_statement" => {
                if let Some(declaration) = statement.child_by_field_name("declaration")
                    && declaration.kind().ends_with("function_declaration")
                    && declaration.child_by_field_name("name").is_some()
                {
                    self.function_declaration(declaration);
                }
            }
            _ => {}
        }
    }

    fn function_declaration(&mut self, node: Node<'t>) {
        let Some(name) = node.child_by_field_name("name") else { return };
        let name = self.slice(name);
        let value = if self.prototype_owners.contains(name) {
            self.prototype_class(node, name)
        } else {
            self.function_value(node, None)
        };
        self.builder.bind(name, value);
    }

    /// A block in a scope of its own, if it declares anything.
    fn block(&mut self, node: Node<'t>) {
        let outer = self.open_block(bindings::lexical_names(node, self.text));
        self.statements(node);
        self.builder.scope = outer;
    }

    /// One statement. May add guards for what follows in the same block.
    pub(super) fn statement(&mut self, node: Node<'t>) {
        match node.kind() {
            "statement_block" => self.block(node),
            "expression_statement" => {
                for child in named_children(node) {
                    self.expression(child);
                }
            }
            "variable_declaration" | "lexical_declaration" => self.declarations(node),
            // Bound by hoisting.
            "function_declaration" | "generator_function_declaration" => {}
            "class_declaration" | "abstract_class_declaration" => {
                let name = node.child_by_field_name("name").map_or("", |n| self.slice(n));
                let value = self.class_value(node, name);
                self.builder.bind(name, value);
            }
            "if_statement" => self.if_statement(node),
            "for_statement" => self.for_statement(node),
            "for_in_statement" => self.for_in_statement(node),
            "while_statement" | "do_statement" => self.while_statement(node),
            "try_statement" => self.try_statement(node),
            "switch_statement" => self.switch_statement(node),
            "labeled_statement" => {
                if let Some(body) = node.child_by_field_name("body") {
                    self.deeper(body, |this| this.statement(body));
                }
            }
            "return_statement" => {
                if let Some(value) = named_children(node).first() {
                    let value = self.expression(*value);
                    let function = self.builder.function as usize;
                    self.builder.program.functions[function].returns.push(value);
                }
            }
            "throw_statement" => {
                for child in named_children(node) {
                    self.expression(child);
                }
            }
            "with_statement" => {
                if let Some(object) = node.child_by_field_name("object") {
                    self.expression(object);
                }
                if let Some(body) = node.child_by_field_name("body") {
                    self.deeper(body, |this| this.statement(body));
                }
            }
            "import_statement" => self.import_statement(node),
            "export_statement" => self.export_statement(node),
            "internal_module" | "module" => self.namespace(node),
            "enum_declaration" => self.enumeration(node),
            "program" | "ERROR" => self.statements(node),
            "ambient_declaration"
            | "interface_declaration"
            | "type_alias_declaration"
            | "function_signature"
            | "import_alias"
            | "break_statement"
            | "continue_statement"
            | "debugger_statement"
            | "empty_statement"
            | "statement_identifier"
            | "hash_bang_line" => {}
            _ => {
                self.expression(node);
            }
        }
    }

    /// TypeScript's `namespace X { … }`: its code runs where it stands, and what it exports is an object.
    fn namespace(&mut self, node: Node<'t>) {
        let Some(body) = node.child_by_field_name("body") else { return };
        let outer = self.open_block(bindings::lexical_names(body, self.text));
        let before = self.late_exports.len();
        self.statements(body);
        let mut entries = Vec::new();
        for (name, exported, span) in self.late_exports.split_off(before) {
            if let Lookup::Cell(cell) = self.builder.lookup(name) {
                let key = self.builder.expr(Expr::Str(exported), span);
                entries.push((Some(key), self.builder.expr(Expr::Cell(cell), span)));
            }
        }
        self.builder.scope = outer;
        if let Some(name) = node.child_by_field_name("name").filter(|n| n.kind() == "identifier") {
            let value = self.builder.expr(Expr::Map(entries), Self::span(node));
            self.builder.bind(self.slice(name), value);
        }
    }

    fn enumeration(&mut self, node: Node<'t>) {
        let (Some(name), Some(body)) = (node.child_by_field_name("name"), node.child_by_field_name("body"))
        else {
            return;
        };
        let mut entries = Vec::new();
        for member in named_children(body) {
            if let (Some(key), Some(value)) =
                (member.child_by_field_name("name"), member.child_by_field_name("value"))
            {
                let (key, _) = self.property_key(key);
                entries.push((Some(key), self.expression(value)));
            }
        }
        let value = self.builder.expr(Expr::Map(entries), Self::span(node));
        self.builder.bind(self.slice(name), value);
    }

    fn if_statement(&mut self, node: Node<'t>) {
        let outer = self.builder.guard;
        let mut ends = Vec::new();
        let mut leaving = Vec::new();
        let mut falls_through = true;
        let mut current = node;
        while let Some(condition) = current.child_by_field_name("condition") {
            let condition = self.expression(condition);
            if let Some(then) = current.child_by_field_name("consequence") {
                let saved = self.builder.guard;
                self.builder.push_guard(GuardKind::Branch(condition, true));
                let mark = self.builder.mark();
                self.deeper(then, |this| this.statement(then));
                let end = self.builder.rollback(mark);
                self.builder.guard = saved;
                if self.leaves(then) {
                    leaving.push((condition, false));
                } else {
                    ends.push(end);
                }
            }
            // What follows runs where this condition did not hold.
            self.builder.push_guard(GuardKind::Branch(condition, false));
            let otherwise = current
                .child_by_field_name("alternative")
                .and_then(|clause| named_children(clause).first().copied());
            match otherwise {
                Some(next) if next.kind() == "if_statement" => current = next,
                Some(last) => {
                    falls_through = false;
                    let mark = self.builder.mark();
                    self.deeper(last, |this| this.statement(last));
                    let end = self.builder.rollback(mark);
                    if self.leaves(last) {
                        leaving.push((condition, true));
                    } else {
                        ends.push(end);
                    }
                    break;
                }
                None => break,
            }
        }
        self.builder.guard = outer;
        self.builder.join(&ends, falls_through);
        for (condition, holds) in leaving {
            self.builder.push_guard(GuardKind::AfterLeaving(condition, holds));
        }
    }

    /// The names that a loop's body may change, with the scopes that they belong to.
    fn looped_names(&self, node: Node<'t>) -> Vec<(usize, &'s str)> {
        bindings::assigned_names(node, self.text)
            .into_iter()
            .filter_map(|name| self.builder.owner(name).map(|scope| (scope, name)))
            .collect()
    }

    fn loop_names(&mut self, declaration: Option<Node<'t>>) -> usize {
        let mut names = Vec::new();
        if let Some(declaration) = declaration {
            match declaration.kind() {
                "lexical_declaration" => {
                    for declarator in named_children(declaration) {
                        if let Some(name) = declarator.child_by_field_name("name") {
                            bindings::pattern_names(name, self.text, &mut names);
                        }
                    }
                }
                "variable_declaration" => {}
                _ => bindings::pattern_names(declaration, self.text, &mut names),
            }
        }
        self.open_block(names)
    }

    fn for_statement(&mut self, node: Node<'t>) {
        let outer = self.builder.guard;
        let initializer = node.child_by_field_name("initializer");
        let scope = self.loop_names(initializer.filter(|i| i.kind() == "lexical_declaration"));
        if let Some(initializer) = initializer {
            self.statement(initializer);
        }
        let mark = self.builder.mark();
        let open_names = self.looped_names(node);
        let open = self.builder.open_loop_at(&open_names);
        let condition = node.child_by_field_name("condition").map(|c| self.loop_condition(c));
        if let Some(condition) = condition {
            self.builder.push_guard(GuardKind::Branch(condition, true));
        }
        if let Some(body) = node.child_by_field_name("body") {
            self.deeper(body, |this| this.statement(body));
        }
        if let Some(increment) = node.child_by_field_name("increment") {
            self.expression(increment);
        }
        self.builder.close_loop(&open);
        self.builder.guard = outer;
        let end = self.builder.rollback(mark);
        self.builder.join(&[end], true);
        self.builder.scope = scope;
        if let Some(condition) = condition {
            self.builder.push_guard(GuardKind::AfterLoop(condition));
        }
    }

    fn loop_condition(&mut self, node: Node<'t>) -> u32 {
        match node.kind() {
            "expression_statement" => match named_children(node).first() {
                Some(inner) => self.expression(*inner),
                None => self.unknown(node),
            },
            _ => self.expression(node),
        }
    }

    fn for_in_statement(&mut self, node: Node<'t>) {
        let (Some(left), Some(right), Some(body)) = (
            node.child_by_field_name("left"),
            node.child_by_field_name("right"),
            node.child_by_field_name("body"),
        ) else {
            return;
        };
        let outer = self.builder.guard;
        let iterable = self.expression(right);
        let kind = node.child_by_field_name("kind").map(|k| k.kind());
        let is_block = matches!(kind, Some("let" | "const"));
        let scope = self.loop_names(Some(left).filter(|_| is_block));
        let mark = self.builder.mark();
        let open_names = self.looped_names(node);
        let open = self.builder.open_loop_at(&open_names);
        let keys = node.child_by_field_name("operator").is_some_and(|o| o.kind() == "in");
        let element = if keys {
            self.unknown(right)
        } else {
            self.builder.expr(Expr::Element(iterable), Self::span(right))
        };
        let declare = match kind {
            Some("var") => Some(self.builder.variable_scope(self.builder.scope)),
            Some(_) => Some(self.builder.scope),
            None => None,
        };
        self.assign(left, element, declare);
        self.deeper(body, |this| this.statement(body));
        self.builder.close_loop(&open);
        self.builder.guard = outer;
        let end = self.builder.rollback(mark);
        self.builder.join(&[end], true);
        self.builder.scope = scope;
        self.builder.push_guard(GuardKind::AfterLoop(iterable));
    }

    fn while_statement(&mut self, node: Node<'t>) {
        let (Some(condition), Some(body)) =
            (node.child_by_field_name("condition"), node.child_by_field_name("body"))
        else {
            return;
        };
        let outer = self.builder.guard;
        let mark = self.builder.mark();
        let open_names = self.looped_names(node);
        let open = self.builder.open_loop_at(&open_names);
        let first = node.kind() == "while_statement";
        let mut value = None;
        if first {
            let condition = self.expression(condition);
            self.builder.push_guard(GuardKind::Branch(condition, true));
            value = Some(condition);
        }
        self.deeper(body, |this| this.statement(body));
        let value = match value {
            Some(value) => value,
            None => self.expression(condition),
        };
        self.builder.close_loop(&open);
        self.builder.guard = outer;
        let end = self.builder.rollback(mark);
        self.builder.join(&[end], first);
        self.builder.push_guard(GuardKind::AfterLoop(value));
    }

    fn try_statement(&mut self, node: Node<'t>) {
        let outer = self.builder.guard;
        let mark = self.builder.mark();
        let body = node.child_by_field_name("body");
        if let Some(body) = body {
            self.block(body);
        }
        let after_body = self.builder.rollback(mark);
        let mut ends = Vec::new();
        if !body.is_some_and(|b| self.leaves(b)) {
            ends.push(after_body.clone());
        }
        if let Some(handler) = node.child_by_field_name("handler") {
            let mark = self.builder.mark();
            // A handler runs after any part of the body.
            self.builder.join(std::slice::from_ref(&after_body), true);
            self.builder.push_guard(GuardKind::Handler);
            let mut names = Vec::new();
            let parameter = handler.child_by_field_name("parameter");
            if let Some(parameter) = parameter {
                bindings::pattern_names(parameter, self.text, &mut names);
            }
            let scope = self.open_block(names);
            if let Some(parameter) = parameter {
                let value = self.unknown(parameter);
                let declared = self.builder.scope;
                self.assign(parameter, value, Some(declared));
            }
            let mut leaves = false;
            if let Some(block) = handler.child_by_field_name("body") {
                self.block(block);
                leaves = self.leaves(block);
            }
            self.builder.scope = scope;
            self.builder.guard = outer;
            let end = self.builder.rollback(mark);
            if !leaves {
                ends.push(end);
            }
        }
        self.builder.join(&ends, ends.is_empty());
        if let Some(finalizer) = node.child_by_field_name("finalizer")
            && let Some(block) = finalizer.child_by_field_name("body")
        {
            self.block(block);
        }
    }

    fn switch_statement(&mut self, node: Node<'t>) {
        let (Some(subject), Some(body)) =
            (node.child_by_field_name("value"), node.child_by_field_name("body"))
        else {
            return;
        };
        let subject = self.expression(subject);
        let scope = self.open_block(bindings::lexical_names(body, self.text));
        let outer = self.builder.guard;
        let mut ends = Vec::new();
        for case in named_children(body) {
            let span = Self::span(case);
            let value = case.child_by_field_name("value");
            let tested = value.map(|value| {
                let value = self.expression(value);
                let expr = Expr::Binary { op: BinaryOp::Equal, left: subject, right: value };
                self.builder.expr(expr, span)
            });
            if let Some(tested) = tested {
                self.builder.push_guard(GuardKind::Branch(tested, true));
            }
            let mark = self.builder.mark();
            let statements: Vec<Node<'t>> = named_children(case)
                .into_iter()
                .filter(|child| Some(child.id()) != value.map(|v| v.id()))
                .collect();
            for statement in &statements {
                self.hoist(*statement);
            }
            for statement in statements {
                self.deeper(statement, |this| this.statement(statement));
            }
            ends.push(self.builder.rollback(mark));
            self.builder.guard = outer;
        }
        self.builder.join(&ends, true);
        self.builder.scope = scope;
    }

    /// Whether a statement always leaves the code around it: its last statement returns, throws,
    /// breaks, continues or calls an exit by a well-known name.
    fn leaves(&self, statement: Node<'t>) -> bool {
        let mut statement = statement;
        for _ in 0..16 {
            match statement.kind() {
                "return_statement" | "throw_statement" | "break_statement" | "continue_statement" => {
                    return true;
                }
                "expression_statement" => {
                    let text = self.slice(statement);
                    return text.starts_with("process.exit(") || text.starts_with("process.abort(");
                }
                "statement_block" => match named_children(statement).last() {
                    Some(last) => statement = *last,
                    None => return false,
                },
                _ => return false,
            }
        }
        false
    }
}
