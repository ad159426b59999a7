//! Statements: control flow, as far as it decides which bindings and conditions reach a call.

use tree_sitter::Node;

use super::bindings;
use super::lower::Lowering;
use crate::base::ir::{BinaryOp, Expr, ExprId, GuardKind, Slot, Spread, Store};
use crate::lang::builder::{Bindings, ScopeKind};
use crate::lang::syntax::named_children;

impl<'s, 't> Lowering<'s, 't> {
    /// The statements of a block in order, in the scope that is open.
    pub(super) fn statements(&mut self, block: Node<'t>) {
        let outer = self.builder.guard;
        // Blocks nest their statements in lists.
        let mut stack = named_children(block);
        stack.reverse();
        while let Some(statement) = stack.pop() {
            if statement.kind() == "statement_list" {
                stack.extend(named_children(statement).into_iter().rev());
            } else {
                self.deeper(statement, |this| this.statement(statement));
            }
        }
        self.builder.guard = outer;
    }

    /// Opens a scope of its own; gives the one to restore.
    fn open(&mut self) -> usize {
        let outer = self.builder.scope;
        self.builder.scope = self.builder.push_scope(ScopeKind::Block, Some(outer));
        outer
    }

    fn block(&mut self, node: Node<'t>) {
        let outer = self.open();
        self.statements(node);
        self.builder.scope = outer;
    }

    /// One statement. May add guards for what follows in the same block.
    pub(super) fn statement(&mut self, node: Node<'t>) {
        match node.kind() {
            "block" => self.block(node),
            "expression_statement" => {
                for child in named_children(node) {
                    self.expression(child);
                }
            }
            "var_declaration" | "const_declaration" => self.variables(node),
            "type_declaration" => self.types(node),
            "short_var_declaration" => self.short_declaration(node),
            "assignment_statement" => self.assignment(node),
            "if_statement" => self.if_statement(node),
            "for_statement" => self.for_statement(node),
            "expression_switch_statement" | "type_switch_statement" | "select_statement" => {
                self.switch_statement(node);
            }
            "go_statement" | "defer_statement" => self.deferred(node),
            "return_statement" => self.return_statement(node),
            "labeled_statement" => {
                for child in named_children(node).into_iter().filter(|c| c.kind() != "label_name") {
                    self.deeper(child, |this| this.statement(child));
                }
            }
            "receive_statement" => self.receive(node),
            "ERROR" | "source_file" | "statement_list" => self.statements(node),
            "break_statement"
            | "continue_statement"
            | "goto_statement"
            | "fallthrough_statement"
            | "empty_statement" => {}
            _ => {
                self.expression(node);
            }
        }
    }

    fn return_statement(&mut self, node: Node<'t>) {
        let span = Self::span(node);
        let mut values: Vec<ExprId> = Vec::new();
        for list in named_children(node) {
            for value in named_children(list) {
                values.push(self.expression(value));
            }
        }
        if values.is_empty() {
            for cell in self.results.clone() {
                values.push(self.builder.expr(Expr::Cell(cell), span));
            }
        }
        let value = match values.as_slice() {
            [] => return,
            [only] => *only,
            _ => {
                let items = values.into_iter().map(|v| (v, Spread::No)).collect();
                self.builder.expr(Expr::Seq(items), span)
            }
        };
        let function = self.builder.function as usize;
        self.builder.program.functions[function].returns.push(value);
    }

    /// `a, b := x, y`: new names are the block's own, the others are assigned.
    fn short_declaration(&mut self, node: Node<'t>) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return;
        };
        let targets = named_children(left);
        let values = self.values(&named_children(right), targets.len());
        for (target, value) in targets.into_iter().zip(values) {
            self.bind_new(target, value);
        }
    }

    fn bind_new(&mut self, target: Node<'t>, value: ExprId) {
        if target.kind() != "identifier" {
            self.assign(target, value);
            return;
        }
        let name = self.slice(target);
        if name != "_" {
            self.watch(name, Self::span(target));
            self.declare(self.builder.scope, name, Some(value));
        }
    }

    fn assignment(&mut self, node: Node<'t>) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return;
        };
        let targets = named_children(left);
        match node.child_by_field_name("operator").map(|o| o.kind()) {
            Some("=") | None => {
                let values = self.values(&named_children(right), targets.len());
                for (target, value) in targets.into_iter().zip(values) {
                    self.assign(target, value);
                }
            }
            Some(operator) => {
                let (Some(target), Some(value)) =
                    (targets.first().copied(), named_children(right).first().copied())
                else {
                    return;
                };
                let op = if operator == "+=" { BinaryOp::Add } else { BinaryOp::Other };
                let left = self.expression(target);
                let right = self.expression(value);
                let value = self.builder.expr(Expr::Binary { op, left, right }, Self::span(node));
                self.assign(target, value);
            }
        }
    }

    /// Assigns a value to a name, a field or an element.
    fn assign(&mut self, target: Node<'t>, value: ExprId) {
        match target.kind() {
            "identifier" => {
                let name = self.slice(target);
                if name != "_" {
                    self.watch(name, Self::span(target));
                    if let Some(scope) = self.builder.owner(name) {
                        self.builder.bind_in(scope, name, Some(value));
                    }
                }
            }
            "selector_expression" => {
                let (Some(operand), Some(field)) =
                    (target.child_by_field_name("operand"), target.child_by_field_name("field"))
                else {
                    return;
                };
                let base = self.expression(operand);
                let name = self.slice(field);
                self.watch(name, Self::span(field));
                self.builder.program.stores.push(Store { base, slot: Slot::Attr(name.to_owned()), value });
            }
            "index_expression" => {
                let (Some(operand), Some(index)) =
                    (target.child_by_field_name("operand"), target.child_by_field_name("index"))
                else {
                    return;
                };
                let base = self.expression(operand);
                let key = self.expression(index);
                self.builder.program.stores.push(Store { base, slot: Slot::Key(key), value });
            }
            "parenthesized_expression" => {
                if let Some(inner) = named_children(target).first().copied() {
                    self.deeper(inner, |this| this.assign(inner, value));
                }
            }
            _ => {
                self.expression(target);
            }
        }
    }

    fn receive(&mut self, node: Node<'t>) {
        let Some(right) = node.child_by_field_name("right") else { return };
        let value = self.expression(right);
        let Some(left) = node.child_by_field_name("left") else { return };
        let declares = self.slice(node).contains(":=");
        for (at, target) in named_children(left).into_iter().enumerate() {
            let value = if at == 0 { value } else { self.unknown(target) };
            if declares {
                self.bind_new(target, value);
            } else {
                self.assign(target, value);
            }
        }
    }

    fn if_statement(&mut self, node: Node<'t>) {
        let outer = self.builder.guard;
        let scope = self.open();
        let mut ends: Vec<Bindings<'s>> = Vec::new();
        let mut leaving = Vec::new();
        let mut falls_through = true;
        let mut current = node;
        loop {
            if let Some(initializer) = current.child_by_field_name("initializer") {
                self.statement(initializer);
            }
            let condition = match current.child_by_field_name("condition") {
                Some(condition) => self.expression(condition),
                None => self.unknown(current),
            };
            if let Some(then) = current.child_by_field_name("consequence") {
                let saved = self.builder.guard;
                self.builder.push_guard(GuardKind::Branch(condition, true));
                let mark = self.builder.mark();
                self.block(then);
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
            match current.child_by_field_name("alternative") {
                Some(next) if next.kind() == "if_statement" => current = next,
                Some(last) => {
                    falls_through = false;
                    let mark = self.builder.mark();
                    self.block(last);
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
        self.builder.scope = scope;
        for (condition, holds) in leaving {
            self.builder.push_guard(GuardKind::AfterLeaving(condition, holds));
        }
    }

    fn for_statement(&mut self, node: Node<'t>) {
        let Some(body) = node.child_by_field_name("body") else { return };
        let outer = self.builder.guard;
        let scope = self.open();
        let head = named_children(node).into_iter().find(|c| c.id() != body.id());
        let clause = head.filter(|h| h.kind() == "for_clause");
        if let Some(initializer) = clause.and_then(|c| c.child_by_field_name("initializer")) {
            self.statement(initializer);
        }
        let range = head.filter(|h| h.kind() == "range_clause");
        let right = range.and_then(|r| r.child_by_field_name("right"));
        let iterable = right.map(|right| self.expression(right));
        let mark = self.builder.mark();
        let names: Vec<(usize, &'s str)> = bindings::assigned_names(node, self.text)
            .into_iter()
            .filter_map(|name| self.builder.owner(name).map(|scope| (scope, name)))
            .collect();
        let open = self.builder.open_loop_at(&names);
        let mut subject = iterable;
        if let (Some(range), Some(right), Some(iterable)) = (range, right, iterable) {
            self.range_names(range, right, iterable);
            self.received(right);
        } else {
            let condition = match clause {
                Some(clause) => clause.child_by_field_name("condition"),
                None => head,
            };
            if let Some(condition) = condition {
                let condition = self.expression(condition);
                self.builder.push_guard(GuardKind::Branch(condition, true));
                subject = Some(condition);
            }
        }
        self.block(body);
        if let Some(update) = clause.and_then(|c| c.child_by_field_name("update")) {
            self.statement(update);
        }
        self.builder.close_loop(&open);
        self.builder.guard = outer;
        let end = self.builder.rollback(mark);
        self.builder.join(&[end], true);
        self.builder.scope = scope;
        if let Some(subject) = subject {
            self.builder.push_guard(GuardKind::AfterLoop(subject));
        }
    }

    fn range_names(&mut self, range: Node<'t>, right: Node<'t>, iterable: ExprId) {
        let Some(left) = range.child_by_field_name("left") else { return };
        let declares = self.slice(range).contains(":=");
        for (at, target) in named_children(left).into_iter().enumerate() {
            // The second name is the element, the first its position or key.
            let value = if at == 1 {
                self.builder.expr(Expr::Element(iterable), Self::span(right))
            } else {
                self.unknown(right)
            };
            if declares {
                self.bind_new(target, value);
            } else {
                self.assign(target, value);
            }
        }
    }

    fn switch_statement(&mut self, node: Node<'t>) {
        let scope = self.open();
        let outer = self.builder.guard;
        if let Some(initializer) = node.child_by_field_name("initializer") {
            self.statement(initializer);
        }
        let value = node.child_by_field_name("value").map(|value| self.expression(value));
        let mut ends = Vec::new();
        for case in named_children(node) {
            let is_case = matches!(
                case.kind(),
                "expression_case" | "default_case" | "type_case" | "communication_case"
            );
            if !is_case {
                continue;
            }
            let mark = self.builder.mark();
            let case_scope = self.open();
            self.case_head(node, case, value);
            let heads: Vec<usize> = ["value", "communication"]
                .iter()
                .filter_map(|field| case.child_by_field_name(field))
                .map(|n| n.id())
                .collect();
            let mut statements: Vec<Node<'t>> = named_children(case)
                .into_iter()
                .filter(|c| {
                    !heads.contains(&c.id()) && !c.kind().ends_with("_type") && c.kind() != "type_identifier"
                })
                .collect();
            statements.reverse();
            while let Some(statement) = statements.pop() {
                if statement.kind() == "statement_list" {
                    statements.extend(named_children(statement).into_iter().rev());
                } else {
                    self.deeper(statement, |this| this.statement(statement));
                }
            }
            self.builder.scope = case_scope;
            ends.push(self.builder.rollback(mark));
            self.builder.guard = outer;
        }
        self.builder.join(&ends, true);
        self.builder.scope = scope;
    }

    /// What a case tests or receives, and the name that a type switch gives the value.
    fn case_head(&mut self, switch: Node<'t>, case: Node<'t>, value: Option<ExprId>) {
        let span = Self::span(case);
        if let Some(communication) = case.child_by_field_name("communication") {
            self.statement(communication);
            return;
        }
        if let (Some(alias), Some(value)) = (switch.child_by_field_name("alias"), value) {
            for name in named_children(alias) {
                let same = self.builder.expr(Expr::Same(value), span);
                self.bind_new(name, same);
            }
        }
        let Some(tests) = case.child_by_field_name("value") else { return };
        for test in named_children(tests) {
            let test = self.expression(test);
            let tested = match value {
                Some(value) => {
                    let expr = Expr::Binary { op: BinaryOp::Equal, left: value, right: test };
                    self.builder.expr(expr, span)
                }
                None => test,
            };
            self.builder.push_guard(GuardKind::Branch(tested, true));
        }
    }

    /// Whether a block always leaves the code around it.
    fn leaves(&self, block: Node<'t>) -> bool {
        let mut last = block;
        while matches!(last.kind(), "block" | "statement_list") {
            match named_children(last).last() {
                Some(inner) => last = *inner,
                None => return false,
            }
        }
        match last.kind() {
            "return_statement" | "break_statement" | "continue_statement" | "goto_statement" => true,
            "expression_statement" => {
                let text = self.slice(last);
                ["os.Exit(", "log.Fatal", "panic("].iter().any(|call| text.starts_with(call))
            }
            _ => false,
        }
    }
}
