//! The words of the shell grammar: quoting is taken off, expansions stay apart.
//!
//! The second half of [`Lowering`]: what stands inside a statement.

use std::ops::Range;

use tree_sitter::Node;

use crate::base::text::Origin;

use super::lower::{Context, Lowering, MAX_DEPTH, named, span};
use super::quote::{self, Escapes};
use super::word::{Anchored, Part, Word};

impl Lowering<'_> {
    pub(super) fn literal(&self, word: &mut Word, start: usize, end: usize, escapes: Escapes) {
        let place = |i: usize| u32::try_from(i).unwrap_or(u32::MAX);
        let mut from = start;
        if escapes != Escapes::Raw {
            // `-$$`: the grammar leaves the shell's own pid inside the word.
            for (i, _) in self.slice(start, end).match_indices("$$") {
                let at = start + i;
                if at < from || self.slice(from, at).ends_with('\\') {
                    continue;
                }
                quote::append(word, self.placeholders, self.slice(from, at), place(from), escapes);
                let quoted = escapes == Escapes::Double;
                word.push(
                    Part::Variable { name: "$".to_owned(), quoted, all: false, default: None },
                    place(at),
                );
                from = at + 2;
            }
        }
        quote::append(word, self.placeholders, self.slice(from, end), place(from), escapes);
    }

    /// The inside of double quotes or of a here-document: everything between expansions is literal.
    pub(super) fn quoted_parts(
        &mut self,
        word: &mut Word,
        node: Node<'_>,
        start: usize,
        end: usize,
        context: &Context,
    ) {
        let mut at = start;
        for child in named(node) {
            if matches!(child.kind(), "string_content" | "heredoc_content") || child.start_byte() < at {
                continue;
            }
            self.literal(word, at, child.start_byte(), Escapes::Double);
            self.part(word, child, context, true);
            at = child.end_byte();
        }
        if at < end {
            self.literal(word, at, end, Escapes::Double);
        }
    }

    pub(super) fn word(&mut self, node: Node<'_>, context: &Context) -> Word {
        let mut word = Word { parts: Vec::new(), span: span(node) };
        self.part(&mut word, node, context, false);
        word
    }

    /// A word whose substitutions are among the commands already.
    pub(super) fn word_again(&mut self, node: Node<'_>, context: &Context) -> Word {
        let commands = self.script.commands.len();
        let word = self.word(node, context);
        self.script.commands.truncate(commands);
        let free = |piece: &Anchored| matches!(piece.part, Part::Output { .. } | Part::File { .. });
        let parts = word.parts.into_iter().map(|piece| match piece {
            piece if free(&piece) => Anchored { part: Part::Free(Origin::Unknown), at: piece.at },
            piece => piece,
        });
        Word { parts: parts.collect(), span: word.span }
    }

    fn part(&mut self, word: &mut Word, node: Node<'_>, context: &Context, quoted: bool) {
        if self.depth >= MAX_DEPTH {
            self.script.gave_up = true;
            word.push(Part::Free(Origin::Unknown), span(node).start);
            return;
        }
        self.depth += 1;
        self.part_inner(word, node, context, quoted);
        self.depth -= 1;
    }

    fn part_inner(&mut self, word: &mut Word, node: Node<'_>, context: &Context, quoted: bool) {
        let (start, end) = (node.start_byte(), node.end_byte());
        let at = span(node).start;
        match node.kind() {
            "string" => {
                let source = self.source(node);
                let opening = usize::from(source.starts_with('"'));
                let closing = usize::from(source.len() > 1 && source.ends_with('"'));
                if end - start > opening + closing {
                    self.quoted_parts(word, node, start + opening, end - closing, context);
                } else {
                    // `""` is a word, though an empty one.
                    word.push(Part::Literal(String::new()), at);
                }
            }
            "raw_string" => {
                if end - start <= 2 {
                    word.push(Part::Literal(String::new()), at);
                } else {
                    self.literal(word, start + 1, end - 1, Escapes::Raw);
                }
            }
            "ansi_c_string" => {
                let inner = self.source(node).trim_start_matches("$'").trim_end_matches('\'');
                self.placeholders.append(word, &quote::ansi_c(inner), at + 2);
            }
            "translated_string" => {
                for child in named(node) {
                    self.part(word, child, context, quoted);
                }
            }
            "concatenation" => {
                // Parts are adjacent; a gap is a stretch that the grammar did not name.
                let mut from = start;
                for child in named(node) {
                    if child.start_byte() > from {
                        self.literal(word, from, child.start_byte(), Escapes::Bare);
                    }
                    self.part(word, child, context, quoted);
                    from = child.end_byte();
                }
                if from < end {
                    self.literal(word, from, end, Escapes::Bare);
                }
            }
            "simple_expansion" => {
                let source = self.source(node);
                let name = source.strip_prefix('$').unwrap_or(source).to_owned();
                let all = name == "@" || name == "*";
                word.push(Part::Variable { name, quoted, all, default: None }, at);
            }
            "expansion" => self.expansion(word, node, context, quoted),
            "command_substitution" | "process_substitution" => {
                let from = self.count();
                self.statement(node, context);
                let commands: Range<u32> = from..self.count();
                let scene = self.script.scene;
                let part = match node.kind() {
                    "process_substitution" => Part::File { scene, commands },
                    _ => Part::Output { scene, commands, quoted },
                };
                word.push(part, at);
            }
            "arithmetic_expansion" | "brace_expression" => {
                self.substitutions(node, context);
                word.push(Part::Free(Origin::Unknown), at);
            }
            "word"
            | "number"
            | "variable_name"
            | "special_variable_name"
            | "file_descriptor"
            | "test_operator" => {
                self.literal(word, start, end, Escapes::Bare);
            }
            _ => {
                self.substitutions(node, context);
                self.literal(word, start, end, Escapes::Bare);
            }
        }
    }

    /// `${…}`: a plain name, an array's elements and a default value are kept; any other form is unknown.
    fn expansion(&mut self, word: &mut Word, node: Node<'_>, context: &Context, quoted: bool) {
        let at = span(node).start;
        let source = self.source(node);
        let inner = source.trim_start_matches("${").trim_end_matches('}');
        let name_end = inner
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .or_else(|| inner.is_empty().then_some(0))
            .unwrap_or(inner.len());
        let (name, rest) = match name_end {
            0 => inner.split_at(inner.chars().next().map_or(0, char::len_utf8)),
            end => inner.split_at(end),
        };
        let variable = |all: bool, default| Part::Variable { name: name.to_owned(), quoted, all, default };
        let part = match rest {
            "" => variable(name == "@" || name == "*", None),
            "[@]" | "[*]" => variable(true, None),
            _ if rest.starts_with('[') && rest.ends_with(']') => {
                // A subscript is evaluated, and a substitution in it runs.
                self.substitutions(node, context);
                variable(true, None)
            }
            _ if rest.starts_with(":-")
                || rest.starts_with(":=")
                || rest.starts_with('-')
                || rest.starts_with(":+") =>
            {
                let value = named(node).into_iter().next_back().filter(|n| n.kind() != "variable_name");
                let default = value.map(|n| Box::new(self.word(n, context)));
                let empty = || Box::new(Word { parts: Vec::new(), span: span(node) });
                Part::Variable {
                    name: name.to_owned(),
                    quoted,
                    all: false,
                    default: Some(default.unwrap_or_else(empty)),
                }
            }
            _ if rest.starts_with(":?") || rest.starts_with('?') => {
                self.substitutions(node, context);
                variable(false, None)
            }
            _ => {
                self.substitutions(node, context);
                Part::Free(Origin::Unknown)
            }
        };
        word.push(part, at);
    }
}
