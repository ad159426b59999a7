//! A syntax tree of the shell grammar becomes a flat list of simple commands.
//!
//! The depth of recursion is bounded and long lists are walked in a loop; what lies
//! deeper is reported by [`Script::gave_up`]. Knows the grammar's node kinds and no catalogue.

use tree_sitter::{Node, Tree};

use crate::base::span::Span;

use super::peel::{alias_parts, alias_value};
use super::quote::{self, Escapes};
use super::script::{Assignment, Flow, Function, Input, Script, Simple, Value};
use super::word::{Placeholders, Word};

/// How deep statements, words and substitutions may nest.
pub(super) const MAX_DEPTH: u32 = 60;

/// The statements of a tree of `text`, taken apart.
pub(super) fn statements(tree: &Tree, text: &str, placeholders: &Placeholders, scene: u32) -> Script {
    let script = Script { scene, ..Script::default() };
    let mut lowering = Lowering { text, placeholders, script, depth: 0 };
    lowering.children(tree.root_node(), &Context::default());
    lowering.script
}

pub(super) fn span(node: Node<'_>) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

/// Where a statement stands.
#[derive(Clone, Default)]
pub(super) struct Context {
    flow: Flow,
    input: Input,
    background: bool,
    writes: Vec<Word>,
}

impl Context {
    fn conditional(&self) -> Context {
        Context { flow: Flow { conditional: true, branch: true, ..self.flow }, ..self.clone() }
    }

    fn subshell(&self) -> Context {
        Context { flow: Flow { subshell: true, ..self.flow }, ..self.clone() }
    }
}

/// The work in progress.
pub(super) struct Lowering<'a> {
    pub(super) text: &'a str,
    pub(super) placeholders: &'a Placeholders,
    pub(super) script: Script,
    pub(super) depth: u32,
}

impl<'a> Lowering<'a> {
    pub(super) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or("")
    }

    pub(super) fn source(&self, node: Node<'_>) -> &'a str {
        self.slice(node.start_byte(), node.end_byte())
    }

    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.script.commands.len()).unwrap_or(u32::MAX)
    }

    /// Statements among a node's children, in order; `&` after one puts it in the background.
    fn children(&mut self, node: Node<'_>, context: &Context) {
        // Asking a node for its next sibling costs its place among them: the list is made once.
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        for (i, &child) in children.iter().enumerate() {
            if !child.is_named() {
                continue;
            }
            if children.get(i + 1).is_some_and(|n| n.kind() == "&") {
                self.script.background = true;
                self.statement(child, &Context { background: true, ..context.subshell() });
            } else {
                self.statement(child, context);
            }
        }
    }

    pub(super) fn statement(&mut self, node: Node<'_>, context: &Context) {
        if self.depth >= MAX_DEPTH {
            self.script.gave_up = true;
            return;
        }
        self.depth += 1;
        self.statement_inner(node, context);
        self.depth -= 1;
    }

    fn statement_inner(&mut self, node: Node<'_>, context: &Context) {
        if node.kind() == "compound_statement" && self.source(node).starts_with("((") {
            self.script.doubled.push(span(node));
        }
        match node.kind() {
            "comment" | "heredoc_body" | "heredoc_start" | "heredoc_end" => {}
            "list" => self.list(node, context, &[]),
            "pipeline" => {
                let input = context.input.clone();
                self.pipeline(node, context, input, &[]);
            }
            "subshell" => self.children(node, &context.subshell()),
            "command_substitution" | "process_substitution" => {
                let outside = Context { input: Input::Inherited, writes: Vec::new(), ..context.subshell() };
                self.children(node, &outside);
            }
            "redirected_statement" => self.redirected(node, context),
            "command" => self.command(node, context, &[]),
            "declaration_command" => self.declaration(node, context),
            "unset_command" => {
                for child in named(node) {
                    let name = self.source(child).to_owned();
                    self.assign(name, Value::Unknown, false, context, child);
                }
            }
            "variable_assignment" => self.assignment(node, context),
            "function_definition" => self.function(node, context),
            "for_statement" => self.for_loop(node, context),
            "case_statement"
            | "case_item"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "while_statement"
            | "do_group"
            | "c_style_for_statement" => self.children(node, &context.conditional()),
            "program" | "compound_statement" | "negated_command" | "variable_assignments" | "ERROR" => {
                self.children(node, context);
            }
            _ => {
                let source = self.source(node);
                if source.contains('\'') && source.contains(['$', '`']) {
                    self.script.hidden.push(span(node));
                }
                self.substitutions(node, context);
            }
        }
    }

    /// `a && b || c` nests to the left, as deep as it is long: walked in a loop.
    /// A statement whose last command has more words than its own: those behind the target of a redirection, which
    /// the grammar puts around the whole of a list or a pipeline.
    fn statement_with(&mut self, node: Node<'_>, context: &Context, more: &[Node<'_>]) {
        match node.kind() {
            _ if more.is_empty() => self.statement(node, context),
            "command" => self.command_with_depth(node, context, more),
            "list" => self.list(node, context, more),
            "pipeline" => self.pipeline(node, context, context.input.clone(), more),
            "negated_command" => {
                named(node).into_iter().for_each(|negated| self.statement_with(negated, context, more));
            }
            // What is no command takes no words.
            _ => self.statement(node, context),
        }
    }

    fn list(&mut self, node: Node<'_>, context: &Context, more: &[Node<'_>]) {
        let mut rights = Vec::new();
        let mut at = node;
        loop {
            let children = named(at);
            let Some((&first, rest)) = children.split_first() else { break };
            rights.extend(rest.iter().rev().copied());
            if first.kind() == "list" {
                at = first;
            } else {
                self.statement(first, context);
                break;
            }
        }
        let conditional = context.conditional();
        while let Some(right) = rights.pop() {
            let more = if rights.is_empty() { more } else { &[] };
            self.statement_with(right, &conditional, more);
        }
    }

    /// Stages in order; each reads what the one before it writes.
    fn pipeline(&mut self, node: Node<'_>, context: &Context, first: Input, more: &[Node<'_>]) {
        let mut input = first;
        let mut stages = named(node).into_iter().peekable();
        while let Some(stage) = stages.next() {
            let start = self.count();
            let more = if stages.peek().is_none() { more } else { &[] };
            self.statement_with(stage, &Context { input, ..context.subshell() }, more);
            input = Input::Pipe(start..self.count());
        }
    }

    fn redirected(&mut self, node: Node<'_>, context: &Context) {
        let mut inner = context.clone();
        let mut extra = Vec::new();
        let mut after: Vec<Node<'_>> = Vec::new();
        let mut body = None;
        for child in named(node) {
            match child.kind() {
                "file_redirect" => {
                    self.file_redirect(child, context, &mut inner);
                    extra.extend(behind_target(child));
                }
                "herestring_redirect" => self.here_string(child, context, &mut inner),
                "heredoc_redirect" => {
                    for part in named(child) {
                        match part.kind() {
                            "heredoc_start" | "heredoc_end" => {}
                            "heredoc_body" => inner.input = Input::Text(self.heredoc(child, part, context)),
                            "file_redirect" => {
                                self.file_redirect(part, context, &mut inner);
                                extra.extend(behind_target(part));
                            }
                            "herestring_redirect" => {}
                            "word" | "string" | "raw_string" | "number" | "concatenation"
                            | "simple_expansion" | "expansion" => extra.push(part),
                            _ => after.push(part),
                        }
                    }
                }
                _ => body = body.or(Some(child)),
            }
        }
        let start = self.count();
        if let Some(body) = body {
            self.statement_with(body, &inner, &extra);
        }
        let written = start..self.count();
        for part in after {
            if part.kind() == "pipeline" {
                self.pipeline(part, context, Input::Pipe(written.clone()), &[]);
            } else {
                self.statement(part, &context.conditional());
            }
        }
    }

    fn command_with_depth(&mut self, node: Node<'_>, context: &Context, extra: &[Node<'_>]) {
        self.depth += 1;
        self.command(node, context, extra);
        self.depth -= 1;
    }

    fn file_redirect(&mut self, node: Node<'_>, context: &Context, inner: &mut Context) {
        let reads = node.child(0).is_some_and(|c| c.kind().starts_with('<'))
            || node.child(1).is_some_and(|c| c.kind().starts_with('<'));
        let mut from = None;
        let mut name = None;
        for child in named(node) {
            if child.kind() == "process_substitution" {
                let start = self.count();
                self.statement(child, context);
                from = Some(start..self.count());
            } else if reads && name.is_none() && child.kind() != "file_descriptor" {
                name = Some(self.word(child, context));
            }
        }
        if reads {
            inner.input = from.map_or(Input::File(name), Input::Pipe);
        } else if let Some(target) = node.child_by_field_name("destination")
            && target.kind() != "process_substitution"
            && target.kind() != "number"
        {
            let target = self.word(target, context);
            inner.writes.push(target);
        }
    }

    fn here_string(&mut self, node: Node<'_>, context: &Context, inner: &mut Context) {
        if let Some(word) = named(node).into_iter().last() {
            inner.input = Input::Text(self.word(word, context));
        }
    }

    fn heredoc(&mut self, redirect: Node<'_>, body: Node<'_>, context: &Context) -> Word {
        let start = named(redirect).into_iter().find(|n| n.kind() == "heredoc_start");
        let quoted = start.is_some_and(|n| self.source(n).contains(['\'', '"', '\\']));
        let mut word = Word { parts: Vec::new(), span: span(body) };
        if quoted {
            self.literal(&mut word, body.start_byte(), body.end_byte(), Escapes::Raw);
        } else {
            self.quoted_parts(&mut word, body, body.start_byte(), body.end_byte(), context);
        }
        word
    }

    fn command(&mut self, node: Node<'_>, context: &Context, extra: &[Node<'_>]) {
        let mut inner = context.clone();
        let mut words: Vec<Word> = Vec::new();
        let mut assignments = Vec::new();
        // An empty substitution is no part of a word, and the grammar keeps it as text.
        let mut expands = self.source(node).contains("``");
        for child in named(node) {
            expands |= matches!(child.kind(), "command_name" | "word" | "concatenation" | "brace_expression")
                && quote::expands(self.source(child));
            match child.kind() {
                "variable_assignment" => assignments.push(child),
                "file_redirect" => {
                    self.file_redirect(child, context, &mut inner);
                    words.extend(behind_target(child).into_iter().map(|word| self.word(word, context)));
                }
                "herestring_redirect" => self.here_string(child, context, &mut inner),
                "command_name" => {
                    let name = named(child).into_iter().next().unwrap_or(child);
                    words.push(self.word(name, context));
                }
                "comment" => {}
                "subshell" | "compound_statement" => self.statement(child, context),
                _ => {
                    let mut word = self.word(child, context);
                    match words.last_mut() {
                        // Without a blank between them, two nodes are one word.
                        Some(last) if last.span.end == word.span.start => {
                            last.parts.append(&mut word.parts);
                            last.span.end = word.span.end;
                        }
                        _ => words.push(word),
                    }
                }
            }
        }
        for &argument in extra {
            words.push(self.word(argument, context));
        }
        let mut sets = Vec::new();
        for assignment in assignments {
            if words.is_empty() {
                self.assignment(assignment, context);
            } else {
                // It holds for this command alone, and only after its words were expanded.
                self.substitutions(assignment, context);
                let name = assignment.child_by_field_name("name");
                let value = assignment.child_by_field_name("value");
                if let (Some(name), Some(value)) = (name, value) {
                    let set = (self.source(name).to_owned(), self.word_again(value, context));
                    sets.push(set);
                }
            }
        }
        if words.is_empty() {
            return;
        }
        let mut at = span(node);
        // A backslash that the grammar was not shown.
        if node.start_byte().checked_sub(1).is_some_and(|i| self.text.as_bytes().get(i) == Some(&b'\\')) {
            at.start -= 1;
        }
        self.script.commands.push(Simple {
            words,
            span: at,
            flow: inner.flow,
            input: inner.input,
            background: inner.background,
            sets,
            writes: inner.writes,
            expands,
        });
    }

    fn declaration(&mut self, node: Node<'_>, context: &Context) {
        // A name that stands for another variable, or one that is not known, may change any of them.
        let refers = named(node).into_iter().any(|n| {
            let source = self.source(n);
            let plain = matches!(n.kind(), "variable_assignment" | "variable_name");
            !plain && (source.starts_with('-') && source.contains('n') || source.contains(['$', '=', '`']))
        });
        if refers {
            self.script.openers.push(u32::MAX);
        }
        for child in named(node) {
            match child.kind() {
                "variable_assignment" => self.assignment(child, context),
                "variable_name" => {}
                _ => {
                    // `export "$x"`: an assignment whose name is not known changes nothing that is folded.
                    let word = self.word(child, context);
                    if let (Some((name, _)), Some(value)) = (alias_parts(&word), alias_value(&word)) {
                        self.assign(name, Value::Scalar(value), false, context, child);
                    }
                }
            }
        }
    }

    fn assignment(&mut self, node: Node<'_>, context: &Context) {
        let Some(name) = node.child_by_field_name("name") else { return };
        self.substitutions(name, context);
        let name_text = self.source(name);
        let name_text = name_text.split('[').next().unwrap_or(name_text).to_owned();
        let append =
            self.source(node).get(name.end_byte() - node.start_byte()..).is_some_and(|s| s.starts_with("+="));
        let value = match node.child_by_field_name("value") {
            None => Value::Scalar(Word { parts: Vec::new(), span: span(node) }),
            Some(array) if array.kind() == "array" => {
                Value::Array(named(array).into_iter().map(|n| self.word(n, context)).collect())
            }
            Some(value) => Value::Scalar(self.word(value, context)),
        };
        self.assign(name_text, value, append, context, node);
    }

    fn assign(&mut self, name: String, value: Value, append: bool, context: &Context, node: Node<'_>) {
        let at = span(node).start;
        self.script.assignments.push(Assignment { name, value, append, flow: context.flow, at });
    }

    fn function(&mut self, node: Node<'_>, context: &Context) {
        let Some(name) = node.child_by_field_name("name") else { return };
        let index = u32::try_from(self.script.functions.len()).unwrap_or(u32::MAX);
        self.script.functions.push(Function { name: self.source(name).to_owned(), span: span(node) });
        let flow = Flow { function: Some(index), conditional: true, branch: false, ..context.flow };
        let inner = Context { flow, ..Context::default() };
        for child in named(node) {
            if child.id() != name.id() {
                self.statement(child, &inner);
            }
        }
    }

    fn for_loop(&mut self, node: Node<'_>, context: &Context) {
        let mut values = Vec::new();
        let variable = node.child_by_field_name("variable");
        for child in named(node) {
            if variable.is_some_and(|v| v.id() == child.id()) {
                continue;
            }
            if child.kind() == "do_group" || child.kind() == "compound_statement" {
                if let Some(variable) = variable {
                    let name = self.source(variable).to_owned();
                    let value = if values.is_empty() {
                        Value::Unknown
                    } else {
                        Value::AnyOf(std::mem::take(&mut values))
                    };
                    // The loop's variable is always set where the body reads it.
                    self.assign(name, value, false, context, node);
                }
                self.statement(child, &context.conditional());
            } else {
                values.push(self.word(child, context));
            }
        }
    }

    /// Finds the substitutions inside a node that is no statement, and lowers them.
    pub(super) fn substitutions(&mut self, node: Node<'_>, context: &Context) {
        let mut cursor = node.walk();
        let mut depth = 0u32;
        loop {
            let at = cursor.node();
            let statement = matches!(at.kind(), "command_substitution" | "process_substitution");
            if statement {
                self.statement(at, context);
            }
            if !statement && cursor.goto_first_child() {
                depth += 1;
                continue;
            }
            while depth > 0 && !cursor.goto_next_sibling() {
                cursor.goto_parent();
                depth -= 1;
            }
            if depth == 0 {
                return;
            }
        }
    }
}

pub(super) fn named(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

/// The words behind the target of a redirection: the grammar takes them for more targets, and a shell for
/// arguments of the command before (`sudo >log pkill x`). A descriptor that is closed has no target.
fn behind_target(redirect: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = redirect.walk();
    let closes = redirect.children(&mut cursor).any(|child| matches!(child.kind(), ">&-" | "<&-"));
    let words = named(redirect).into_iter().filter(|child| child.kind() != "file_descriptor");
    words.skip(usize::from(!closes)).collect()
}
