//! Statements: control flow, as far as it decides which bindings and conditions reach a call.

use super::bindings;
use super::lower::{Body, Lowering, Pending};
use super::tree::{Field, Kind, Node};
use crate::base::ir::{BinaryOp, Call, CallKind, Expr, FunctionKind, GuardKind};
use crate::lang::builder::{ScopeKind, function};

impl<'s, 't> Lowering<'s, 't> {
    /// The statements of a block in order. What follows a statement that leaves under a
    /// condition is guarded by that condition.
    pub(super) fn block(&mut self, node: Node<'t>) {
        let outer = self.builder.guard;
        for statement in node.children() {
            self.deeper(statement, |this| this.statement(statement));
        }
        self.builder.guard = outer;
    }

    /// One statement. May add guards for what follows in the same block.
    pub(super) fn statement(&mut self, node: Node<'t>) {
        match node.kind() {
            Kind::ExpressionStatement | Kind::Print | Kind::Exec => {
                for child in node.children() {
                    self.statement(child);
                }
            }
            Kind::Assert => {
                for child in node.children() {
                    self.statement(child);
                    self.narrow(child);
                }
            }
            Kind::Assignment => self.assignment(node),
            Kind::Augmented => self.augmented(node),
            Kind::If => self.if_statement(node),
            Kind::For | Kind::While => self.loop_statement(node),
            Kind::Try => self.try_statement(node),
            Kind::With => self.with_statement(node),
            Kind::Match => self.match_statement(node),
            Kind::Function | Kind::Class => self.definition(node, &[]),
            Kind::Decorated => self.decorated(node),
            Kind::Import => self.import(node),
            Kind::ImportFrom => self.import_from(node),
            Kind::Return => {
                if let Some(value) = node.children().next() {
                    let value = self.expression(value);
                    let function = self.builder.function as usize;
                    self.builder.program.functions[function].returns.push(value);
                }
            }
            Kind::Raise => self.raise(node),
            Kind::Delete => self.delete(node),
            Kind::Block | Kind::Module | Kind::Error => self.block(node),
            Kind::Global
            | Kind::Nonlocal
            | Kind::Pass
            | Kind::Break
            | Kind::Continue
            | Kind::FutureImport
            | Kind::TypeAlias => {}
            _ => {
                self.expression(node);
            }
        }
    }

    fn assignment(&mut self, node: Node<'t>) {
        let Some(left) = node.field(Field::Left) else { return };
        let Some(right) = node.field(Field::Right) else {
            // A bare annotation declares, it binds nothing.
            if left.kind() == Kind::Identifier {
                self.watch(self.slice(left), Self::span(left));
                if let Some(declared) = node.field(Field::Type) {
                    self.declared_alone(left, declared);
                    self.field(left, declared);
                }
            }
            return;
        };
        // `a = b = value`: assign from the right.
        let mut targets = vec![left];
        let mut value_node = right;
        while value_node.kind() == Kind::Assignment {
            let (Some(left), Some(right)) = (value_node.field(Field::Left), value_node.field(Field::Right))
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
        if let Some(declared) = node.field(Field::Type) {
            self.declared_target(left, declared);
            self.field(left, declared);
        }
    }

    /// An annotated name in a class body: a parameter of the constructor, where one is made of them.
    fn field(&mut self, target: Node<'t>, declared: Node<'t>) {
        if target.kind() == Kind::Identifier
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
        for item in node.children() {
            if item.kind() == Kind::String {
                let text = self.slice(item);
                let name = text.trim_matches(|c: char| c == '"' || c == '\'').to_owned();
                self.watch(&name, Self::span(item));
                names.push(name);
            }
        }
        self.builder.program.public = Some(names);
    }

    fn augmented(&mut self, node: Node<'t>) {
        let (Some(left), Some(right)) = (node.field(Field::Left), node.field(Field::Right)) else {
            return;
        };
        let op = match node.field(Field::Operator).map(Node::kind) {
            Some(Kind::AddAssign) => BinaryOp::Add,
            Some(Kind::PercentAssign) => BinaryOp::Percent,
            Some(Kind::SlashAssign) => BinaryOp::Slash,
            Some(Kind::UnionAssign) => BinaryOp::Union,
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
        let Some(condition) = node.field(Field::Condition) else { return };
        if self.is_main_guard(condition) {
            self.main_guard(node);
            return;
        }
        if self.is_type_checking(condition) {
            // Never runs: its imports bind nothing that code could call.
            for child in node.children() {
                if matches!(child.kind(), Kind::Else | Kind::Elif) {
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
        let mut consequence = node.field(Field::Consequence);
        let mut rest: std::collections::VecDeque<Node<'t>> =
            node.children().filter(|c| matches!(c.kind(), Kind::Elif | Kind::Else)).collect();
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
                Some(arm) if arm.kind() == Kind::Elif => {
                    tested = arm.field(Field::Condition);
                    condition = match tested {
                        Some(c) => self.expression(c),
                        None => self.unknown(arm),
                    };
                    consequence = arm.field(Field::Consequence);
                }
                Some(arm) => {
                    falls_through = false;
                    let mark = self.builder.mark();
                    self.arm_body(arm);
                    let end = self.builder.rollback(mark);
                    if arm.field(Field::Body).is_some_and(|b| self.leaves(b)) {
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
        if first.kind() == Kind::Not
            && ends.is_empty()
            && falls_through
            && let Some(negated) = first.field(Field::Argument)
        {
            self.narrow(negated);
        }
        for (condition, holds) in leaving {
            self.builder.push_guard(GuardKind::AfterLeaving(condition, holds));
        }
    }

    fn arm_body(&mut self, arm: Node<'t>) {
        if let Some(block) = arm.field(Field::Body).or_else(|| arm.field(Field::Consequence)) {
            self.block(block);
        }
    }

    /// The main guard's code is a function of its own: it runs only where the file is the program.
    fn main_guard(&mut self, node: Node<'t>) {
        if let Some(block) = node.field(Field::Consequence) {
            let mut guard = function("", "<module>", Self::span(block), FunctionKind::MainGuard);
            guard.parent = Some(self.builder.function);
            let id = self.builder.add_function(guard);
            self.main_guards.push_back(Pending {
                function: id,
                scope: self.builder.scope,
                body: Body::MainGuard(block),
                definition: None,
                class: None,
                symbol: String::new(),
            });
        }
        for child in node.children() {
            if matches!(child.kind(), Kind::Else | Kind::Elif) {
                self.arm_body(child);
            }
        }
    }

    fn is_main_guard(&self, condition: Node<'t>) -> bool {
        let mut condition = condition;
        while condition.kind() == Kind::Parenthesized {
            match condition.children().next() {
                Some(inner) => condition = inner,
                None => return false,
            }
        }
        let text = self.slice(condition);
        self.at_module_level()
            && condition.kind() == Kind::Comparison
            && text.contains("__name__")
            && text.contains("__main__")
            && text.contains("==")
    }

    fn is_type_checking(&self, condition: Node<'t>) -> bool {
        let text = self.slice(condition);
        text == "TYPE_CHECKING" || (condition.kind() == Kind::Attribute && text.ends_with(".TYPE_CHECKING"))
    }

    fn loop_statement(&mut self, node: Node<'t>) {
        let outer = self.builder.guard;
        let (subject, is_for) = match node.kind() {
            Kind::For => (node.field(Field::Right), true),
            _ => (node.field(Field::Condition), false),
        };
        let Some(subject) = subject else { return };
        let Some(body) = node.field(Field::Body) else { return };
        let iterable = is_for.then(|| self.expression(subject));
        let mark = self.builder.mark();
        let names = bindings::bound_names(node, self.text);
        let open = self.builder.open_loop(&names);
        let after = match iterable {
            Some(iterable) => {
                let element = self.builder.expr(Expr::Element(iterable), Self::span(subject));
                if let Some(left) = node.field(Field::Left) {
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
        if let Some(alternative) = node.field(Field::Alternative) {
            self.arm_body(alternative);
        }
    }

    fn try_statement(&mut self, node: Node<'t>) {
        let outer = self.builder.guard;
        let mark = self.builder.mark();
        if let Some(body) = node.field(Field::Body) {
            self.block(body);
        }
        let children = node.children();
        let body_leaves = node.field(Field::Body).is_some_and(|b| self.leaves(b));
        let after_body = self.builder.rollback(mark);
        let mut ends = Vec::new();
        let mut finally = None;
        let mark = self.builder.mark();
        self.builder.join(std::slice::from_ref(&after_body), false);
        for child in children.clone().filter(|c| c.kind() == Kind::Else) {
            self.arm_body(child);
        }
        let end = self.builder.rollback(mark);
        if !body_leaves {
            ends.push(end);
        }
        for child in children {
            match child.kind() {
                Kind::Except => {
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
                    for part in child.children() {
                        match part.kind() {
                            Kind::Block => {
                                self.block(part);
                                leaves = self.leaves(part);
                            }
                            Kind::AsPattern => self.as_pattern(part),
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
                Kind::Finally => finally = Some(child),
                _ => {}
            }
        }
        self.builder.join(&ends, ends.is_empty());
        if let Some(finally) = finally {
            for part in finally.children() {
                self.block(part);
            }
        }
    }

    /// Whether a handler is for the interrupt that the host sends, and for nothing else.
    fn catches_interrupt(&self, clause: Node<'t>) -> bool {
        let Some(mut caught) = clause.children().next() else { return false };
        if caught.kind() == Kind::AsPattern {
            match caught.children().next() {
                Some(kind) => caught = kind,
                None => return false,
            }
        }
        caught.kind() == Kind::Identifier && self.slice(caught) == "KeyboardInterrupt"
    }

    /// `expression as target` of an exception handler: the target is an instance, no callable.
    fn as_pattern(&mut self, node: Node<'t>) {
        for part in node.children() {
            if part.kind() == Kind::AsPatternTarget {
                let value = self.unknown(part);
                self.assign(part, value);
            } else {
                self.expression(part);
            }
        }
    }

    fn with_statement(&mut self, node: Node<'t>) {
        let is_async = node.has(Kind::Async);
        let (enter, exit) = if is_async { ("__aenter__", "__aexit__") } else { ("__enter__", "__exit__") };
        for clause in node.children().filter(|c| c.kind() == Kind::WithClause) {
            for item in clause.children() {
                self.with_item(item, enter, exit);
            }
        }
        if let Some(body) = node.field(Field::Body) {
            self.block(body);
        }
    }

    fn with_item(&mut self, item: Node<'t>, enter: &str, exit: &str) {
        let Some(value) = item.field(Field::Value) else { return };
        let (context, target) = if value.kind() == Kind::AsPattern {
            let mut children = value.children();
            (children.next(), children.next())
        } else {
            (Some(value), None)
        };
        let Some(context) = context else { return };
        let span = Self::span(context);
        let context = self.expression(context);
        for name in [enter, exit] {
            let callee = self.builder.expr(Expr::Attr { base: context, name: name.to_owned() }, span);
            self.builder.expr(Expr::Call(Call { callee, args: Box::default(), kind: CallKind::Plain }), span);
        }
        if let Some(target) = target {
            let entered = self.builder.expr(Expr::Enter(context), span);
            self.assign(target, entered);
        }
    }

    fn match_statement(&mut self, node: Node<'t>) {
        let Some(subject) = node.field(Field::Subject) else { return };
        let subject = self.expression(subject);
        let Some(body) = node.field(Field::Body) else { return };
        let mut ends = Vec::new();
        for case in body.children().filter(|c| c.kind() == Kind::CaseClause) {
            let mark = self.builder.mark();
            for name in bindings::bound_names(case, self.text) {
                let value = self.builder.expr(Expr::Same(subject), Self::span(case));
                self.builder.bind(name, value);
            }
            if let Some(guard) = case.field(Field::Guard) {
                for condition in guard.children() {
                    self.expression(condition);
                }
            }
            if let Some(block) = case.field(Field::Consequence) {
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
        for (at, child) in node.children().enumerate() {
            let mut child = child;
            // `raise SystemExit, 1`, as Python 2 has it.
            if child.kind() == Kind::ExpressionList
                && let Some(first) = child.children().next()
            {
                child.children().skip(1).for_each(|more| {
                    self.expression(more);
                });
                child = first;
            }
            let value = self.expression(child);
            // Raising a class makes an instance of it; a call already did.
            if at == 0 && !matches!(self.builder.program.exprs[value as usize].expr, Expr::Call(_)) {
                let call = Call { callee: value, args: Box::default(), kind: CallKind::Raise };
                self.builder.expr(Expr::Call(call), Self::span(child));
            }
        }
    }

    fn delete(&mut self, node: Node<'t>) {
        for child in node.children() {
            match child.kind() {
                Kind::Identifier => self.builder.unbind(self.slice(child)),
                Kind::ExpressionList => {
                    for name in child.children().filter(|n| n.kind() == Kind::Identifier) {
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
            let Some(last) = block.children().last() else { return false };
            match last.kind() {
                Kind::Return | Kind::Raise | Kind::Break | Kind::Continue => {
                    return true;
                }
                Kind::ExpressionStatement => {
                    let text = self.slice(last);
                    return ["sys.exit(", "os._exit(", "exit(", "quit(", "os.abort(", "os.exec"]
                        .iter()
                        .any(|call| text.starts_with(call));
                }
                Kind::With => match last.field(Field::Body) {
                    Some(body) => block = body,
                    None => return false,
                },
                _ => return false,
            }
        }
        false
    }
}
