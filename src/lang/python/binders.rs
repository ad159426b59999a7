//! The names that may stand for what a place of a text names: those that its statement binds, stores or
//! fills, or gives back. The text alone is looked at.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use super::cut::Kind;
use super::leaves::{Leaves, given_back, identifiers, offset_in};
use super::stores::{filled, is_import, line_of, named_in_quotes, segment_of, simple_parts, stored};

/// A logical line as its simple statements, with the names that each binds. A name may stand in it as often
/// as it likes: they are found once.
pub(super) struct Statements<'c> {
    line: &'c str,
    parts: Vec<Range<usize>>,
    bound: Vec<OnceCell<Vec<&'c str>>>,
}

impl<'c> Statements<'c> {
    fn of(line: &'c str) -> Statements<'c> {
        let parts = simple_parts(line);
        Statements { line, bound: parts.iter().map(|_| OnceCell::new()).collect(), parts }
    }

    /// The statement that a place of the line lies in, and where its names are kept.
    fn at(&self, place: usize) -> (&'c str, &OnceCell<Vec<&'c str>>) {
        let at = self.parts.partition_point(|part| part.start <= place).saturating_sub(1);
        (self.line[self.parts[at].clone()].trim_start(), &self.bound[at])
    }
}

impl<'c> Leaves<'c> {
    /// The names that may stand for what a place of a leaf names.
    pub(super) fn bound_at(&self, at: usize, place: usize) -> Vec<&'c str> {
        let leaf = &self.all[at];
        let start = leaf.statement.span.start;
        let alias = || self.alias(place, identifiers(&self.text[place..]).next().unwrap_or(""));
        if leaf.statement.kind == Kind::Import {
            return match segment_of(self.text_of(at), place - start) {
                segment if is_import(segment) => alias().into_iter().collect(),
                segment => stored(segment),
            };
        }
        let statements = self.statements(at, place);
        let (part, bound) = statements.at(place - offset_in(self.text, statements.line).min(place));
        let mut names = bound.get_or_init(|| self.bound_by(at, part)).clone();
        let line = if leaf.is_function() { statements.line } else { part };
        if leaf.statement.kind != Kind::Simple && is_import(line) {
            names.extend(alias());
        }
        names
    }

    /// The logical line of a leaf that a place lies in.
    fn statements(&self, at: usize, place: usize) -> Rc<Statements<'c>> {
        let leaf = &self.all[at];
        let line = match leaf.statement.kind {
            Kind::Simple => self.text_of(at),
            _ => self.lines(at).map_or("", |lines| lines.line_at(place - leaf.statement.span.start)),
        };
        let mut known = leaf.statements.borrow_mut();
        Rc::clone(known.entry(line.as_ptr() as usize).or_insert_with(|| Rc::new(Statements::of(line))))
    }

    /// The names that a simple statement of a leaf binds.
    fn bound_by(&self, at: usize, part: &'c str) -> Vec<&'c str> {
        let leaf = &self.all[at];
        if !leaf.is_function() {
            return stored(part).into_iter().chain(filled(part)).collect();
        }
        let mut names = Vec::new();
        if leaf.gives_back(self.text_of(at)) {
            names.push(&self.text[leaf.statement.name.clone()]);
        }
        let bound = self.bound();
        let kept = stored(part).into_iter().filter(|name| {
            part.contains(&format!(".{name}")) || bound.foreign.get(name).is_some_and(|b| !b.is_empty())
        });
        names.extend(kept);
        // What a function keeps for itself counts with the function.
        let is_kept = |name: &&str| bound.names.contains_key(name) || part.contains(&format!(".{name}."));
        names.extend(filled(part).filter(is_kept));
        names
    }

    /// Whether a leaf is one simple statement.
    pub(super) fn is_one_statement(&self, at: usize) -> bool {
        self.all[at].statement.kind == Kind::Simple && !self.text_of(at).contains(';')
    }

    /// The names that stand for what a place of a leaf names, as a value: of a function its own only where it
    /// gives that back, directly or under one more name.
    pub(super) fn aliases_at(&self, at: usize, place: usize) -> Vec<&'c str> {
        let mut names = self.bound_at(at, place);
        let leaf = &self.all[at];
        let line = line_of(self.text, place);
        names.extend(named_in_quotes(line));
        let Some(lines) = self.lines(at).filter(|_| leaf.is_function()) else { return names };
        let own = &self.text[leaf.statement.name.clone()];
        let line = lines.line_at(place - leaf.statement.span.start);
        let kept = stored(line);
        let text = self.text_of(at);
        let is_given_back = given_back(text)
            .into_iter()
            .map(|place| lines.line_at(place))
            .any(|given| std::ptr::eq(given, line) || identifiers(given).any(|name| kept.contains(&name)));
        names.retain(|name| is_given_back || *name != own);
        names
    }
}
