//! What is still to be had from a text that the grammar does not take: the lines of
//! its faulty regions, each read on its own, so that one construct of another shell
//! does not hide the commands after it.

use tree_sitter::{Node, Tree};

use crate::base::span::Span;

use super::grammar::parse_tree;
use super::lower;
use super::script::{Flow, Input, Script, Value};
use super::word::{Part, Placeholders, Word};

/// How many faulty regions are looked at.
const MAX_REGIONS: usize = 64;
/// How many bytes of a faulty region are read again.
const MAX_REGION: usize = 1 << 16;

/// Notes the tree's errors in the script, and adds the commands of their lines.
pub(super) fn by_lines(script: &mut Script, tree: &Tree, text: &str, placeholders: &Placeholders) {
    let regions = regions(tree);
    script.errors = regions.iter().map(|r| r.error).take(8).collect();
    let mut read_to = 0usize;
    for region in regions {
        let start =
            text.get(..region.whole.start as usize).and_then(|s| s.rfind('\n')).map_or(0, |at| at + 1);
        let start = start.max(read_to);
        let end = (region.whole.end as usize).max(start);
        if end - start > MAX_REGION {
            script.gave_up = true;
        }
        let mut at = start;
        for line in text.get(start..end.min(start + MAX_REGION)).unwrap_or("").split_inclusive('\n') {
            let from = at;
            at += line.len();
            // A whole line, even if the region ends inside it.
            let to = if line.ends_with('\n') {
                at
            } else {
                text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |more| at + more + 1)
            };
            read_line(script, text.get(from..to).unwrap_or(""), from, region.whole, placeholders);
            read_to = to;
        }
    }
}

struct Region {
    error: Span,
    /// The statement that the error spoils.
    whole: Span,
}

fn regions(tree: &Tree) -> Vec<Region> {
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            found.push(Region { error: lower::span(node), whole: lower::span(spoiled(node)) });
            if found.len() >= MAX_REGIONS {
                return found;
            }
        }
        if node.has_error() && !node.is_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

/// The outermost word or simple command around an error.
fn spoiled(node: Node<'_>) -> Node<'_> {
    let mut at = node;
    for _ in 0..lower::MAX_DEPTH {
        let Some(parent) = at.parent() else { break };
        match parent.kind() {
            "string"
            | "concatenation"
            | "command_name"
            | "command"
            | "expansion"
            | "simple_expansion"
            | "command_substitution"
            | "array"
            | "variable_assignment"
            | "redirected_statement"
            | "ERROR" => {
                at = parent;
            }
            _ => break,
        }
    }
    at
}

fn read_line(script: &mut Script, line: &str, from: usize, spoiled: Span, placeholders: &Placeholders) {
    if line.trim().is_empty() {
        return;
    }
    let range = from..from + line.len();
    let known = script.commands.iter().any(|c| {
        range.contains(&(c.span.start as usize))
            && !(c.span.start <= spoiled.start && spoiled.end <= c.span.end)
            && (c.span.end as usize) <= range.end
    });
    if known {
        return;
    }
    let Some(tree) = parse_tree(line) else { return };
    let mut inner = lower::statements(&tree, line, placeholders, script.scene);
    if tree.root_node().has_error() {
        // Only the command that the line begins with, and only if it is sound itself.
        let faults = regions(&tree);
        let indent = u32::try_from(line.len() - line.trim_start().len()).unwrap_or(0);
        let sound = inner.commands.first().is_some_and(|c| {
            c.span.start == indent
                && faults.iter().all(|r| r.error.start >= c.span.end || r.error.end <= c.span.start)
        });
        inner.commands.truncate(usize::from(sound));
    }
    let first = u32::try_from(script.commands.len()).unwrap_or(u32::MAX);
    shift(&mut inner, u32::try_from(from).unwrap_or(u32::MAX), first);
    for command in &mut inner.commands {
        command.flow = Flow { conditional: true, ..Flow::default() };
    }
    script.commands.append(&mut inner.commands);
    script.assignments.append(&mut inner.assignments);
    script.background |= inner.background;
    script.openers.append(&mut inner.openers);
}

/// Moves a script that was parsed on its own to offset `by` and command index `first`.
fn shift(script: &mut Script, by: u32, first: u32) {
    fn shift_word(word: &mut Word, by: u32, first: u32) {
        let mut pending = vec![word];
        while let Some(word) = pending.pop() {
            word.span =
                Span { start: word.span.start.saturating_add(by), end: word.span.end.saturating_add(by) };
            for piece in &mut word.parts {
                piece.at = piece.at.saturating_add(by);
                match &mut piece.part {
                    Part::Output { commands, .. } | Part::File { commands, .. } => {
                        *commands = commands.start.saturating_add(first)..commands.end.saturating_add(first);
                    }
                    Part::Variable { default: Some(default), .. } => pending.push(default),
                    _ => {}
                }
            }
        }
    }
    for at in &mut script.openers {
        *at = at.saturating_add(by);
    }
    for assignment in &mut script.assignments {
        assignment.at = assignment.at.saturating_add(by);
        match &mut assignment.value {
            Value::Scalar(word) => shift_word(word, by, first),
            Value::Array(words) | Value::AnyOf(words) => {
                for word in words {
                    shift_word(word, by, first);
                }
            }
            Value::Unknown => {}
        }
    }
    for command in &mut script.commands {
        command.span =
            Span { start: command.span.start.saturating_add(by), end: command.span.end.saturating_add(by) };
        for word in &mut command.words {
            shift_word(word, by, first);
        }
        for word in command.writes.iter_mut().chain(command.sets.iter_mut().map(|(_, word)| word)) {
            shift_word(word, by, first);
        }
        match &mut command.input {
            Input::Pipe(range) => {
                *range = range.start.saturating_add(first)..range.end.saturating_add(first);
            }
            Input::Text(word) | Input::File(Some(word)) => shift_word(word, by, first),
            Input::Inherited | Input::File(None) => {}
        }
    }
}
