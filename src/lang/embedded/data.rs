//! YAML, JSON and TOML as one tree of values with places, in an arena.
//!
//! The arena has no recursion in building, walking or dropping, so that nesting costs
//! no stack. Knows no format that is written in these languages.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::base::span::Span;
use crate::lang::fragment::Spelling;

/// Index of a value.
pub type Id = usize;

/// How many values a file may have.
const MAX_NODES: usize = 1 << 21;
/// How deep mappings and lists may nest.
const MAX_DEPTH: usize = 512;

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A scalar, as text.
    Text(String),
    /// A list.
    List(Vec<Id>),
    /// A mapping, in order; keys are values too.
    Map(Vec<(Id, Id)>),
    /// Another value of the tree.
    Alias(Id),
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub span: Span,
    /// How it is spelled.
    pub spelling: Spelling,
}

/// A file's values.
#[derive(Debug, Clone, Default)]
pub struct Data {
    nodes: Vec<Node>,
    /// The top value of each document.
    pub roots: Vec<Id>,
    /// Where and why reading stopped, if it did.
    pub fault: Option<(Span, String)>,
}

impl Data {
    /// Reads YAML: as many documents as are sound.
    pub fn yaml(text: &str) -> Data {
        let mut data = Data::default();
        let index = CharIndex::new(text);
        let mut open: Vec<(Id, Option<Id>)> = Vec::new();
        let mut anchors: HashMap<usize, Id> = HashMap::new();
        for event in Parser::new_from_str(text) {
            let (event, place) = match event {
                Ok(event) => event,
                Err(error) => {
                    let at = index.byte(error.marker().index());
                    data.fault = Some((Span::new(at, at), error.info().to_owned()));
                    break;
                }
            };
            let span = Span::new(index.byte(place.start.index()), index.byte(place.end.index()));
            let (kind, spelling, anchor) = match event {
                Event::Scalar(value, style, anchor, _) => {
                    let spelling = match style {
                        ScalarStyle::DoubleQuoted => Spelling::Escaped,
                        _ => Spelling::Plain,
                    };
                    (Kind::Text(value.into_owned()), spelling, anchor)
                }
                Event::SequenceStart(anchor, _) => (Kind::List(Vec::new()), Spelling::Plain, anchor),
                Event::MappingStart(anchor, _) => (Kind::Map(Vec::new()), Spelling::Plain, anchor),
                Event::Alias(anchor) => match anchors.get(&anchor) {
                    Some(&target) => (Kind::Alias(target), Spelling::Plain, 0),
                    None => (Kind::Text(String::new()), Spelling::Plain, 0),
                },
                Event::SequenceEnd | Event::MappingEnd => {
                    if let Some((id, _)) = open.pop()
                        && let Some(node) = data.nodes.get_mut(id)
                    {
                        node.span.end = node.span.end.max(span.end);
                    }
                    continue;
                }
                _ => continue,
            };
            let nests = matches!(kind, Kind::List(_) | Kind::Map(_));
            let id = data.push(Node { kind, span, spelling });
            if data.nodes.len() > MAX_NODES || open.len() > MAX_DEPTH {
                data.fault = Some((span, "it is too large or nests too deep".to_owned()));
                break;
            }
            if anchor > 0 {
                anchors.insert(anchor, id);
            }
            data.place(&mut open, id);
            if nests {
                open.push((id, None));
            }
        }
        data
    }

    /// Changes every text, in keys too.
    pub fn retext(&mut self, change: impl Fn(&str) -> Option<String>) {
        for node in &mut self.nodes {
            if let Kind::Text(text) = &mut node.kind
                && let Some(new) = change(text)
            {
                *text = new;
            }
        }
    }

    /// Puts a value into the list or mapping that is open.
    fn place(&mut self, open: &mut [(Id, Option<Id>)], id: Id) {
        let Some((parent, key)) = open.last_mut() else {
            self.roots.push(id);
            return;
        };
        match self.nodes.get_mut(*parent).map(|n| &mut n.kind) {
            Some(Kind::List(items)) => items.push(id),
            Some(Kind::Map(entries)) => match key.take() {
                Some(key) => entries.push((key, id)),
                None => *key = Some(id),
            },
            _ => {}
        }
    }

    fn push(&mut self, node: Node) -> Id {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Reads JSON with comments and trailing commas.
    pub fn json(text: &str) -> Data {
        let mut data = Data::default();
        let options = jsonc_parser::CollectOptions::default();
        let parsed = jsonc_parser::parse_to_ast(text, &options, &jsonc_parser::ParseOptions::default());
        let value = match parsed {
            Ok(result) => result.value,
            Err(error) => {
                let range = error.range();
                data.fault = Some((Span::new(range.start, range.end), error.kind().to_string()));
                return data;
            }
        };
        // The parser bounds nesting; the tree is copied with a stack of its own.
        let Some(value) = &value else { return data };
        let root = data.push(Node {
            kind: Kind::List(Vec::new()),
            span: Span::default(),
            spelling: Spelling::Escaped,
        });
        let mut pending = vec![(value, root)];
        data.roots.push(root);
        while let Some((value, id)) = pending.pop() {
            use jsonc_parser::ast::Value;
            use jsonc_parser::common::Ranged;
            let range = value.range();
            let kind = match value {
                Value::StringLit(lit) => Kind::Text(lit.value.clone().into_owned()),
                Value::NumberLit(lit) => Kind::Text(lit.value.to_owned()),
                Value::BooleanLit(lit) => Kind::Text(lit.value.to_string()),
                Value::NullKeyword(_) => Kind::Text(String::new()),
                Value::Array(array) => {
                    let mut items = Vec::new();
                    for item in &array.elements {
                        let child = data.blank();
                        items.push(child);
                        pending.push((item, child));
                    }
                    Kind::List(items)
                }
                Value::Object(object) => {
                    let mut entries = Vec::new();
                    for property in &object.properties {
                        let range = property.name.range();
                        let key = data.push(Node {
                            kind: Kind::Text(property.name.as_str().to_owned()),
                            span: Span::new(range.start, range.end),
                            spelling: Spelling::Escaped,
                        });
                        let child = data.blank();
                        entries.push((key, child));
                        pending.push((&property.value, child));
                    }
                    Kind::Map(entries)
                }
            };
            if let Some(node) = data.nodes.get_mut(id) {
                node.kind = kind;
                node.span = Span::new(range.start, range.end);
            }
        }
        data
    }

    /// Reads TOML.
    pub fn toml(text: &str) -> Data {
        let mut data = Data::default();
        let document = match toml_edit::Document::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let span = error.span().map_or(Span::default(), |s| Span::new(s.start, s.end));
                data.fault = Some((span, error.message().to_owned()));
                return data;
            }
        };
        let root = data.blank();
        data.roots.push(root);
        let mut pending = vec![(Toml::Table(document.as_table()), root)];
        while let Some((value, id)) = pending.pop() {
            let (kind, span) = data.toml_node(value, &mut pending);
            if let Some(node) = data.nodes.get_mut(id) {
                node.kind = kind;
                node.span = span.map_or(node.span, |s| Span::new(s.start, s.end));
            }
        }
        data
    }

    fn toml_node<'t>(
        &mut self,
        value: Toml<'t>,
        pending: &mut Vec<(Toml<'t>, Id)>,
    ) -> (Kind, Option<std::ops::Range<usize>>) {
        match value {
            Toml::Table(table) => {
                let mut entries = Vec::new();
                for (key, item) in table.iter() {
                    let span = table.key(key).and_then(toml_edit::Key::span);
                    let value = match item {
                        toml_edit::Item::Value(value) => Toml::Value(value),
                        toml_edit::Item::Table(table) => Toml::Table(table),
                        toml_edit::Item::ArrayOfTables(tables) => Toml::Tables(tables),
                        toml_edit::Item::None => continue,
                    };
                    self.entry(key, span, value, &mut entries, pending);
                }
                (Kind::Map(entries), table.span())
            }
            Toml::Tables(tables) => {
                let mut items = Vec::new();
                for table in tables {
                    let child = self.blank();
                    items.push(child);
                    pending.push((Toml::Table(table), child));
                }
                (Kind::List(items), tables.span())
            }
            Toml::Value(value) => {
                let kind = match value {
                    toml_edit::Value::String(text) => Kind::Text(text.value().clone()),
                    toml_edit::Value::Array(array) => {
                        let mut items = Vec::new();
                        for item in array {
                            let child = self.blank();
                            items.push(child);
                            pending.push((Toml::Value(item), child));
                        }
                        Kind::List(items)
                    }
                    toml_edit::Value::InlineTable(table) => {
                        let mut entries = Vec::new();
                        for (key, item) in table.iter() {
                            let span = table.key(key).and_then(toml_edit::Key::span);
                            self.entry(key, span, Toml::Value(item), &mut entries, pending);
                        }
                        Kind::Map(entries)
                    }
                    other => Kind::Text(other.to_string().trim().to_owned()),
                };
                (kind, value.span())
            }
        }
    }

    fn entry<'t>(
        &mut self,
        key: &str,
        span: Option<std::ops::Range<usize>>,
        value: Toml<'t>,
        entries: &mut Vec<(Id, Id)>,
        pending: &mut Vec<(Toml<'t>, Id)>,
    ) {
        let span = span.map_or(Span::default(), |s| Span::new(s.start, s.end));
        let key = self.push(Node { kind: Kind::Text(key.to_owned()), span, spelling: Spelling::Plain });
        let child = self.blank();
        entries.push((key, child));
        pending.push((value, child));
    }

    fn blank(&mut self) -> Id {
        self.push(Node {
            kind: Kind::Text(String::new()),
            span: Span::default(),
            spelling: Spelling::Escaped,
        })
    }

    /// The value at an id, aliases followed.
    pub fn node(&self, id: Id) -> Option<&Node> {
        let mut at = id;
        for _ in 0..32 {
            match self.nodes.get(at) {
                Some(Node { kind: Kind::Alias(target), .. }) => at = *target,
                found => return found,
            }
        }
        None
    }

    /// A scalar's text.
    pub fn text(&self, id: Id) -> Option<&str> {
        match self.node(id).map(|n| &n.kind) {
            Some(Kind::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A list's items; nothing for another value.
    pub fn items(&self, id: Id) -> &[Id] {
        match self.node(id).map(|n| &n.kind) {
            Some(Kind::List(items)) => items,
            _ => &[],
        }
    }

    /// A mapping's entries by their keys' texts, those of `<<` merges after its own.
    pub fn entries(&self, id: Id) -> Vec<(&str, Id)> {
        let mut found = Vec::new();
        let mut pending = vec![id];
        let mut seen = 0;
        while let Some(id) = pending.pop() {
            seen += 1;
            let Some(Kind::Map(entries)) = self.node(id).map(|n| &n.kind) else { continue };
            for &(key, value) in entries {
                match self.text(key) {
                    Some("<<") if seen < 16 => {
                        pending.extend(self.items(value).iter().copied());
                        pending.push(value);
                    }
                    Some(key) if seen == 1 || !found.iter().any(|&(k, _)| k == key) => {
                        found.push((key, value))
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// A mapping's value of that key; of several that it writes itself the last, as their readers have it.
    pub fn get(&self, id: Id, key: &str) -> Option<Id> {
        if let Some(Kind::Map(own)) = self.node(id).map(|n| &n.kind)
            && let Some((_, value)) = own.iter().rev().find(|(k, _)| self.text(*k) == Some(key))
        {
            return Some(*value);
        }
        self.entries(id).into_iter().find(|&(k, _)| k == key).map(|(_, v)| v)
    }

    /// The place of a mapping's key.
    pub fn key_span(&self, id: Id, key: &str) -> Option<Span> {
        let Some(Kind::Map(entries)) = self.node(id).map(|n| &n.kind) else { return None };
        let (key, _) = entries.iter().find(|(k, _)| self.text(*k) == Some(key))?;
        self.node(*key).map(|n| n.span)
    }

    /// Whether a value is a mapping.
    pub fn is_map(&self, id: Id) -> bool {
        matches!(self.node(id).map(|n| &n.kind), Some(Kind::Map(_)))
    }

    /// Every mapping, in the order of the text.
    pub fn maps(&self) -> impl Iterator<Item = Id> + '_ {
        (0..self.nodes.len())
            .filter(|&id| matches!(self.nodes.get(id), Some(Node { kind: Kind::Map(_), .. })))
    }
}

enum Toml<'t> {
    Table(&'t toml_edit::Table),
    Tables(&'t toml_edit::ArrayOfTables),
    Value(&'t toml_edit::Value),
}

/// Byte offsets of a text's characters, for parsers that count characters.
struct CharIndex<'t> {
    text: &'t str,
    /// Byte offset of every 64th character; empty if the text is ASCII.
    steps: Vec<usize>,
}

impl<'t> CharIndex<'t> {
    fn new(text: &'t str) -> CharIndex<'t> {
        let steps = if text.is_ascii() {
            Vec::new()
        } else {
            text.char_indices().enumerate().filter(|(n, _)| n % 64 == 0).map(|(_, (at, _))| at).collect()
        };
        CharIndex { text, steps }
    }

    fn byte(&self, index: usize) -> usize {
        if self.steps.is_empty() {
            return index.min(self.text.len());
        }
        let Some(&start) = self.steps.get(index / 64) else { return self.text.len() };
        let rest = self.text.get(start..).unwrap_or("");
        rest.char_indices().nth(index % 64).map_or(self.text.len(), |(at, _)| start + at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_languages_give_one_tree() {
        for (data, text) in [
            (Data::yaml("é: 1\na:\n  - x: pkill\n"), "é: 1\na:\n  - x: pkill\n"),
            (Data::json("{\"a\": [{\"x\": \"pkill\"},], // c\n}"), "{\"a\": [{\"x\": \"pkill\"},], // c\n}"),
            (Data::toml("[[a]]\nx = \"pkill\"\n"), "[[a]]\nx = \"pkill\"\n"),
        ] {
            let list = data.get(data.roots[0], "a").unwrap();
            let value = data.get(data.items(list)[0], "x").unwrap();
            assert_eq!(data.text(value), Some("pkill"));
            let span = data.node(value).unwrap().span;
            assert!(text[span.range()].contains("pkill"), "{text}: {span:?}");
        }
    }

    #[test]
    fn merges_and_aliases_are_followed() {
        let data = Data::yaml("base: &b\n  command: pkill\nx:\n  <<: *b\n  image: y\n");
        let x = data.get(data.roots[0], "x").unwrap();
        assert_eq!(data.text(data.get(x, "command").unwrap()), Some("pkill"));
    }

    #[test]
    fn nesting_and_faults_are_survived() {
        assert!(Data::yaml(&"[".repeat(100_000)).fault.is_some());
        assert!(Data::json(&"[".repeat(100_000)).fault.is_some());
        assert!(Data::toml(&format!("a = {}", "[".repeat(100_000))).fault.is_some());
        assert!(Data::yaml("a: [1\nb: }").fault.is_some());
        let deep: String = (0..2000).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
        assert!(Data::yaml(&deep).fault.is_some());
    }
}
