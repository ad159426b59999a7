//! Statements: control flow, as far as it decides which bindings and conditions reach a call.

use tree_sitter::Node;

use super::bindings;
use super::lower::{Body, Lowering, Pending};
use crate::base::ir::{Arg, BinaryOp, Call, CallKind, Expr, FunctionKind, GuardKind};
use crate::lang::builder::{ScopeKind, function};
use crate::lang::syntax::named_children;

impl<'s, 't> Lowering<'s, 't> {
    /// The statements of a block in order. What follows a statement that leaves under a
    /// condition is guarded by that condition.
    pub(super) fn block(&mut self, node: Node<'t>) {
        let outer = self.builder.guard;
        for statement in named_children(node) {
            self.deeper(statement, |this| this.statement(statement));
        }
        self.builder.guard = outer;
    }

    /// One statement. May add guards for what follows in the same block.
    pub(super) fn statement(&mut self, node: Node<'t>) {
        match node.kind() {
            "expression_statement" | "print_statement" | "exec_statement" => {
                for child in named_children(node) {
                    self.statement(child);
                }
            }
            "assert_statement" => {
                for child in named_children(node) {
                    self.statement(child);
                    self.narrow(child);
                }
            }
            "assignment" => self.assignment(node),
            "augmented_assignment" => self.augmented(node),
            "if_statement" => self.if_statement(node),
            "for_statement" | "while_statement" => self.loop_statement(node),
            "try_statement" => self.try_statement(node),
            "with_statement" => self.with_statement(node),
            "match_statement" => self.match_statement(node),
            "function_definition" | "class_definition" => self.definition(node, &[]),
            "decorated_definition" => self.decorated(node),
            "import_statement" => self.import(node),
            "import_from_statement" => self.import_from(node),
            "return_statement" => {
                if let Some(value) = named_children(node).first() {
                    let value = self.expression(*value);
                    let function = self.builder.function as usize;
                    self.builder.program.functions[function].returns.push(value);
                }
            }
            "raise_statement" => self.raise(node),
            "delete_statement" => self.delete(node),
            "block" | "module" | "ERROR" => self.block(node),
            "global_statement"
            | "nonlocal_statement"
            | "pass_statement"
            | "break_statement"
            | "continue_statement"
            | "future_import_statement"
            | "type_alias_statement"
            | "comment" => {}
            _ => {
                self.expression(node);
            }
        }
    }

    fn assignment(&mut self, node: Node<'t>) {
        let Some(left) = node.child_by_field_name("left") else { return };
        let Some(right) = node.child_by_field_name("right") else {
            // A bare annotation declares, it binds nothing.
            if left.kind() == "identifier" {
                self.watch(self.slice(left), Self::span(left));
                if let Some(declared) = node.child_by_field_name("type") {
                    self.declared_alone(left, declared);
                    self.field(left, declared);
                }
            }
            return;
        };
        // `a = b = value`: assign from the right.
        let mut targets = vec![left];
        let mut value_node = right;
        while value_node.kind() == "assignment" {
            let (Some(left), Some(right)) =
                (value_node.child_by_field_name("left"), value_node.child_by_field_name("right"))
            else {
                break;
            };
            targets.push(left);
            value_node = right;
        }
        let value = self.expression(value_node);
        for target in targets.into_iter().rev() {
            if self.at_module_level() && self.slice(target) == "__all__" {
                self.public_names(value_node);
            }
            self.assign(target, value);
        }
        if let Some(declared) = node.child_by_field_name("type") {
            self.declared_target(left, declared);
            self.field(left, declared);
        }
    }

    /// An annotated name in a class body: a parameter of the constructor, where one is made of them.
    fn field(&mut self, target: Node<'t>, declared: Node<'t>) {
        if target.kind() == "identifier"
            && self.builder.scope_kind(self.builder.scope) == ScopeKind::Class
            && !self.slice(declared).contains("ClassVar")
            && let Some(class) = self.class
        {
            let name = self.slice(target).to_owned();
            self.builder.program.classes[class as usize].fields.push(name);
        }
    }

    /// `__all__`: what a star import of this file brings, and a use of each watched name in it.
    fn public_names(&mut self, node: Node<'t>) {
        let mut names = Vec::new();
        for item in named_children(node) {
            if item.kind() == "string" {
                let text = self.slice(item);
                let name = text.trim_matches(|c: char| c == '"' || c == '\'').to_owned();
                self.watch(&name, Self::span(item));
                names.push(name);
            }
        }
        self.builder.program.public = Some(names);
    }

    fn augmented(&mut self, node: Node<'t>) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return;
        };
        let op = match node.child_by_field_name("operator").map(|o| o.kind()) {
            Some("+=") => BinaryOp::Add,
            Some("%=") => BinaryOp::Percent,
            Some("/=") => BinaryOp::Slash,
            _ => BinaryOp::Other,
        };
        if self.at_module_level() && self.slice(left) == "__all__" && self.builder.program.public.is_some() {
            let before = self.builder.program.public.take().unwrap_or_default();
            self.public_names(right);
            let after = self.builder.program.public.get_or_insert_default();
            after.splice(0..0, before);
        }
        let old = self.expression(left);
        let right = self.expression(right);
        let value = self.builder.expr(Expr::Binary { op, left: old, right }, Self::span(node));
        self.assign(left, value);
    }

    fn if_statement(&mut self, node: Node<'t>) {
        let Some(condition) = node.child_by_field_name("condition") else { return };
        if self.is_main_guard(condition) {
            self.main_guard(node);
            return;
        }
        if self.is_type_checking(condition) {
            // Never runs: its imports bind nothing that code could call.
            for child in named_children(node) {
                if matches!(child.kind(), "else_clause" | "elif_clause") {
                    self.arm_body(child);
                }
            }
            return;
        }
        let outer = self.builder.guard;
        let mut ends = Vec::new();
        let mut leaving = Vec::new();
        let mut falls_through = true;
        let first = condition;
        let mut tested = Some(condition);
        let mut condition = self.expression(condition);
        let mut consequence = node.child_by_field_name("consequence");
        let mut rest: std::collections::VecDeque<Node<'t>> = named_children(node)
            .into_iter()
            .filter(|c| matches!(c.kind(), "elif_clause" | "else_clause"))
            .collect();
        loop {
            if let Some(block) = consequence {
                let saved = self.builder.guard;
                self.builder.push_guard(GuardKind::Branch(condition, true));
                let mark = self.builder.mark();
                if let Some(tested) = tested {
                    self.narrow(tested);
                }
                self.block(block);
                let end = self.builder.rollback(mark);
                self.builder.guard = saved;
                if self.leaves(block) {
                    leaving.push((condition, false));
                } else {
                    ends.push(end);
                }
            }
            // What follows runs where this condition did not hold.
            self.builder.push_guard(GuardKind::Branch(condition, false));
            match rest.pop_front() {
                Some(arm) if arm.kind() == "elif_clause" => {
                    tested = arm.child_by_field_name("condition");
                    condition = match tested {
                        Some(c) => self.expression(c),
                        None => self.unknown(arm),
                    };
                    consequence = arm.child_by_field_name("consequence");
                }
                Some(arm) => {
                    falls_through = false;
                    let mark = self.builder.mark();
                    self.arm_body(arm);
                    let end = self.builder.rollback(mark);
                    if arm.child_by_field_name("body").is_some_and(|b| self.leaves(b)) {
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
        // `if not isinstance(x, C): return`: what follows is about a C.
        if first.kind() == "not_operator"
            && ends.is_empty()
            && falls_through
            && let Some(negated) = first.child_by_field_name("argument")
        {
            self.narrow(negated);
        }
        for (condition, holds) in leaving {
            self.builder.push_guard(GuardKind::AfterLeaving(condition, holds));
        }
    }

    fn arm_body(&mut self, arm: Node<'t>) {
        if let Some(block) =
            arm.child_by_field_name("body").or_else(|| arm.child_by_field_name("consequence"))
        {
            self.block(block);
        }
    }

    /// The main guard's code is a function of its own: it runs only where the file is the program.
    fn main_guard(&mut self, node: Node<'t>) {
        if let Some(block) = node.child_by_field_name("consequence") {
            let mut guard = function("", "<module>", Self::span(block), FunctionKind::MainGuard);
            guard.parent = Some(self.builder.function);
            let id = self.builder.add_function(guard);
            self.pending.push_back(Pending {
                function: id,
                scope: self.builder.scope,
                body: Body::MainGuard(block),
                definition: None,
                class: None,
                symbol: String::new(),
            });
        }
        for child in named_children(node) {
            if matches!(child.kind(), "else_clause" | "elif_clause") {
                self.arm_body(child);
            }
        }
    }

    fn is_main_guard(&self, condition: Node<'t>) -> bool {
        let mut condition = condition;
        while condition.kind() == "parenthesized_expression" {
            match named_children(condition).first() {
                Some(inner) => condition = *inner,
                None => return false,
            }
        }
        let text = self.slice(condition);
        self.at_module_level()
            && condition.kind() == "comparison_operator"
            && text.contains("__name__")
            && text.contains("__main__")
            && text.contains("==")
    }

    fn is_type_checking(&self, condition: Node<'t>) -> bool {
        let text = self.slice(condition);
        text == "TYPE_CHECKING" || (condition.kind() == "attribute" && text.ends_with(".TYPE_CHECKING"))
    }

    fn loop_statement(&mut self, node: Node<'t>) {
        let outer = self.builder.guard;
        let (subject, is_for) = match node.kind() {
            "for_statement" => (node.child_by_field_name("right"), true),
            _ => (node.child_by_field_name("condition"), false),
        };
        let Some(subject) = subject else { return };
        let Some(body) = node.child_by_field_name("body") else { return };
        let iterable = is_for.then(|| self.expression(subject));
        let mark = self.builder.mark();
        let names = bindings::bound_names(node, self.text);
        let open = self.builder.open_loop(&names);
        let after = match iterable {
            Some(iterable) => {
                let element = self.builder.expr(Expr::Element(iterable), Self::span(subject));
                if let Some(left) = node.child_by_field_name("left") {
                    self.assign(left, element);
                }
                iterable
            }
            None => {
                let condition = self.expression(subject);
                self.builder.push_guard(GuardKind::Branch(condition, true));
                condition
            }
        };
        self.block(body);
        self.builder.close_loop(&open);
        self.builder.guard = outer;
        let end = self.builder.rollback(mark);
        self.builder.join(&[end], true);
        self.builder.push_guard(GuardKind::AfterLoop(after));
        if let Some(alternative) = node.child_by_field_name("alternative") {
            self.arm_body(alternative);
        }
    }

    fn try_statement(&mut self, node: Node<'t>) {
        let outer = self.builder.guard;
        let mark = self.builder.mark();
        if let Some(body) = node.child_by_field_name("body") {
            self.block(body);
        }
        let children = named_children(node);
        let body_leaves = node.child_by_field_name("body").is_some_and(|b| self.leaves(b));
        let after_body = self.builder.rollback(mark);
        let mut ends = Vec::new();
        let mut finally = None;
        let mark = self.builder.mark();
        self.builder.join(std::slice::from_ref(&after_body), false);
        for child in children.iter().filter(|c| c.kind() == "else_clause") {
            self.arm_body(*child);
        }
        let end = self.builder.rollback(mark);
        if !body_leaves {
            ends.push(end);
        }
        for child in children {
            match child.kind() {
                "except_clause" | "except_group_clause" => {
                    let mark = self.builder.mark();
                    // A handler runs after any part of the body.
                    self.builder.join(std::slice::from_ref(&after_body), true);
                    let interrupt = self.catches_interrupt(child);
                    self.builder.push_guard(if interrupt {
                        GuardKind::Interrupted
                    } else {
                        GuardKind::Handler
                    });
                    let mut leaves = false;
                    for part in named_children(child) {
                        match part.kind() {
                            "block" => {
                                self.block(part);
                                leaves = self.leaves(part);
                            }
                            "as_pattern" => self.as_pattern(part),
                            _ => {
                                self.expression(part);
                            }
                        }
                    }
                    self.builder.guard = outer;
                    let end = self.builder.rollback(mark);
                    if !leaves {
                        ends.push(end);
                    }
                }
                "finally_clause" => finally = Some(child),
                _ => {}
            }
        }
        self.builder.join(&ends, ends.is_empty());
        if let Some(finally) = finally {
            for part in named_children(finally) {
                self.block(part);
            }
        }
    }

    /// Whether a handler is for the interrupt that the host sends, and for nothing else.
    fn catches_interrupt(&self, clause: Node<'t>) -> bool {
        let Some(mut caught) = named_children(clause).first().copied() else { return false };
        if caught.kind() == "as_pattern" {
            match caught.named_child(0) {
                Some(kind) => caught = kind,
                None => return false,
            }
        }
        caught.kind() == "identifier" && self.slice(caught) == "KeyboardInterrupt"
    }

    /// `expression as target` of an exception handler: the target is an instance, no callable.
    fn as_pattern(&mut self, node: Node<'t>) {
        for part in named_children(node) {
            if part.kind() == "as_pattern_target" {
                let value = self.unknown(part);
                self.assign(part, value);
            } else {
                self.expression(part);
            }
        }
    }

    fn with_statement(&mut self, node: Node<'t>) {
        let is_async = node.child(0).is_some_and(|c| c.kind() == "async");
        let (enter, exit) = if is_async { ("__aenter__", "__aexit__") } else { ("__enter__", "__exit__") };
        for clause in named_children(node).into_iter().filter(|c| c.kind() == "with_clause") {
            for item in named_children(clause) {
                self.with_item(item, enter, exit);
            }
        }
        if let Some(body) = node.child_by_field_name("body") {
            self.block(body);
        }
    }

    fn with_item(&mut self, item: Node<'t>, enter: &str, exit: &str) {
        let Some(value) = item.child_by_field_name("value") else { return };
        let (context, target) = if value.kind() == "as_pattern" {
            let children = named_children(value);
            (children.first().copied(), children.get(1).copied())
        } else {
            (Some(value), None)
        };
        let Some(context) = context else { return };
        let span = Self::span(context);
        let context = self.expression(context);
        for name in [enter, exit] {
            let callee = self.builder.expr(Expr::Attr { base: context, name: name.to_owned() }, span);
            self.builder.expr(Expr::Call(Call { callee, args: Vec::new(), kind: CallKind::Plain }), span);
        }
        if let Some(target) = target {
            let entered = self.builder.expr(Expr::Enter(context), span);
            self.assign(target, entered);
        }
    }

    fn match_statement(&mut self, node: Node<'t>) {
        let Some(subject) = node.child_by_field_name("subject") else { return };
        let subject = self.expression(subject);
        let Some(body) = node.child_by_field_name("body") else { return };
        let mut ends = Vec::new();
        for case in named_children(body).into_iter().filter(|c| c.kind() == "case_clause") {
            let mark = self.builder.mark();
            for name in bindings::bound_names(case, self.text) {
                let value = self.builder.expr(Expr::Same(subject), Self::span(case));
                self.builder.bind(name, value);
            }
            if let Some(guard) = case.child_by_field_name("guard") {
                for condition in named_children(guard) {
                    self.expression(condition);
                }
            }
            if let Some(block) = case.child_by_field_name("consequence") {
                self.block(block);
                let end = self.builder.rollback(mark);
                if !self.leaves(block) {
                    ends.push(end);
                }
            } else {
                self.builder.rollback(mark);
            }
        }
        self.builder.join(&ends, true);
    }

    fn raise(&mut self, node: Node<'t>) {
        for (at, child) in named_children(node).into_iter().enumerate() {
            let value = self.expression(child);
            // Raising a class makes an instance of it; a call already did.
            if at == 0 && !matches!(self.builder.program.exprs[value as usize].expr, Expr::Call(_)) {
                let call = Call { callee: value, args: Vec::<Arg>::new(), kind: CallKind::Raise };
                self.builder.expr(Expr::Call(call), Self::span(child));
            }
        }
    }

    fn delete(&mut self, node: Node<'t>) {
        for child in named_children(node) {
            match child.kind() {
                "identifier" => self.builder.unbind(self.slice(child)),
                "expression_list" => {
                    for name in named_children(child).into_iter().filter(|n| n.kind() == "identifier") {
                        self.builder.unbind(self.slice(name));
                    }
                }
                _ => {
                    self.expression(child);
                }
            }
        }
    }

    /// Whether a block always leaves the code around it: its last statement returns, raises,
    /// breaks, continues or calls an exit by a well-known name.
    pub(super) fn leaves(&self, block: Node<'t>) -> bool {
        let mut block = block;
        for _ in 0..16 {
            let Some(last) = named_children(block).last().copied() else { return false };
            match last.kind() {
                "return_statement" | "raise_statement" | "break_statement" | "continue_statement" => {
                    return true;
                }
                "expression_statement" => {
                    let text = self.slice(last);
                    return ["sys.exit(", "os._exit(", "exit(", "quit(", "os.abort(", "os.exec"]
                        .iter()
                        .any(|call| text.starts_with(call));
                }
                "with_statement" => match last.child_by_field_name("body") {
                    Some(body) => block = body,
                    None => return false,
                },
                _ => return false,
            }
        }
        false
    }
}
