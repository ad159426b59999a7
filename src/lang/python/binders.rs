//! The names that may stand for what a place of a text names: those that its statement binds, stores or
//! fills, or gives back. The text alone is looked at.

use super::cut::Kind;
use super::leaves::{Leaves, given_back, identifiers, offset_in};
use super::stores::{filled, is_import, line_of, named_in_quotes, segment_of, simple_part, stored};

impl<'c> Leaves<'c> {
    /// The names that may stand for what a place of a leaf names.
    pub(super) fn bound_at(&self, at: usize, place: usize) -> Vec<&'c str> {
        let (leaves, leaf) = (self, &self.all[at]);
        let text = leaves.text_of(at);
        let start = leaf.statement.span.start;
        let logical = |place: usize| leaves.lines(at).map_or("", |lines| lines.line_at(place - start));
        match leaf.statement.kind {
            Kind::Function => {
                let mut names = Vec::new();
                if leaf.gives_back(text) {
                    names.push(&leaves.text[leaf.statement.name.clone()]);
                }
                let line = logical(place);
                let part = simple_part(line, place - offset_in(leaves.text, line).min(place));
                if is_import(line) {
                    names
                        .extend(leaves.alias(place, identifiers(&leaves.text[place..]).next().unwrap_or("")));
                }
                let bound = leaves.bound();
                let kept = stored(part).into_iter().filter(|name| {
                    part.contains(&format!(".{name}"))
                        || bound.foreign.get(name).is_some_and(|b| !b.is_empty())
                });
                names.extend(kept);
                // What a function keeps for itself counts with the function.
                let is_kept =
                    |name: &&str| bound.names.contains_key(name) || part.contains(&format!(".{name}."));
                names.extend(filled(part).filter(is_kept));
                names
            }
            Kind::Import => match segment_of(text, place - start) {
                segment if is_import(segment) => {
                    let name = identifiers(&leaves.text[place..]).next().unwrap_or("");
                    leaves.alias(place, name).into_iter().collect()
                }
                segment => stored(segment),
            },
            Kind::Simple => {
                let part = simple_part(text, place - start);
                stored(part).into_iter().chain(filled(part)).collect()
            }
            Kind::Class | Kind::Compound => {
                let line = logical(place);
                let part = simple_part(line, place - offset_in(leaves.text, line).min(place));
                let alias = is_import(part)
                    .then(|| leaves.alias(place, identifiers(&leaves.text[place..]).next().unwrap_or("")));
                stored(part).into_iter().chain(filled(part)).chain(alias.flatten()).collect()
            }
        }
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
