//! Reading TOML tables key by key: every value keeps its place, every fault is
//! collected, nothing stops at the first. Knows no key of any file itself.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::fault::Fault;
use super::suggest;

/// A value and its byte range in the file's text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Range<usize>,
}

/// Parses a whole document. Syntax errors become faults; what could be read is still given.
pub fn document<'i>(text: &'i str, faults: &mut Vec<Fault>) -> toml::Spanned<DeTable<'i>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        faults.push(Fault::new(span, format!("this is no valid TOML: {}", error.message()), "here"));
    }
    table
}

/// A table that is being read.
#[derive(Debug, Clone)]
pub struct View<'a, 'i> {
    /// The table.
    pub table: &'a DeTable<'i>,
    /// Its place, to report what is missing.
    pub span: Range<usize>,
    /// How messages call it, such as `[[path]]`.
    pub name: String,
}

impl<'a, 'i> View<'a, 'i> {
    /// A view of a table.
    pub fn new(table: &'a DeTable<'i>, span: Range<usize>, name: impl Into<String>) -> View<'a, 'i> {
        View { table, span, name: name.into() }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&'a toml::Spanned<DeValue<'i>>> {
        self.table.iter().find(|(k, _)| k.get_ref() == key).map(|(_, v)| v)
    }

    /// The place of a key, else of the table.
    pub fn key_span(&self, key: &str) -> Range<usize> {
        self.table.iter().find(|(k, _)| k.get_ref() == key).map_or(self.span.clone(), |(k, _)| k.span())
    }

    /// Reports every key that is not among `known`, with the nearest known one.
    pub fn refuse_unknown(&self, known: &[&str], faults: &mut Vec<Fault>) {
        for (key, _) in self.table {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                let near = suggest::did_you_mean(name, known.iter().copied());
                let help = if near.is_empty() { format!("the known keys are {}", list(known)) } else { near };
                faults.push(
                    Fault::new(key.span(), format!("unknown key `{name}` in {}", self.name), "unknown key")
                        .help(help),
                );
            }
        }
    }

    /// A string.
    pub fn text(&self, key: &str, faults: &mut Vec<Fault>) -> Option<At<String>> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::String(text) => Some(At { value: text.to_string(), span: value.span() }),
            other => {
                faults.push(wrong_type(key, "a string", other, value.span()));
                None
            }
        }
    }

    /// A Boolean.
    pub fn flag(&self, key: &str, faults: &mut Vec<Fault>) -> Option<At<bool>> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::Boolean(flag) => Some(At { value: *flag, span: value.span() }),
            other => {
                faults.push(wrong_type(key, "true or false", other, value.span()));
                None
            }
        }
    }

    /// A whole number.
    pub fn integer(&self, key: &str, faults: &mut Vec<Fault>) -> Option<At<i64>> {
        let value = self.get(key)?;
        let number = match value.get_ref() {
            DeValue::Integer(n) => i64::from_str_radix(n.as_str(), n.radix()).ok(),
            _ => None,
        };
        if number.is_none() {
            faults.push(wrong_type(key, "a whole number", value.get_ref(), value.span()));
        }
        number.map(|n| At { value: n, span: value.span() })
    }

    /// A list of strings; absent is empty.
    pub fn texts(&self, key: &str, faults: &mut Vec<Fault>) -> Vec<At<String>> {
        let Some(value) = self.get(key) else { return Vec::new() };
        let DeValue::Array(items) = value.get_ref() else {
            faults.push(wrong_type(key, "a list of strings", value.get_ref(), value.span()));
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in items.iter() {
            match item.get_ref() {
                DeValue::String(text) => texts.push(At { value: text.to_string(), span: item.span() }),
                other => faults.push(wrong_type(key, "a list of strings", other, item.span())),
            }
        }
        texts
    }

    /// A sub-table.
    pub fn table(&self, key: &str, name: &str, faults: &mut Vec<Fault>) -> Option<View<'a, 'i>> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::Table(table) => Some(View::new(table, self.key_span(key), name)),
            other => {
                faults.push(wrong_type(key, "a table", other, value.span()));
                None
            }
        }
    }

    /// A list of tables; absent is empty.
    pub fn tables(&self, key: &str, name: &str, faults: &mut Vec<Fault>) -> Vec<View<'a, 'i>> {
        let Some(value) = self.get(key) else { return Vec::new() };
        let DeValue::Array(items) = value.get_ref() else {
            faults.push(wrong_type(
                key,
                &format!("a list of tables ({name})"),
                value.get_ref(),
                value.span(),
            ));
            return Vec::new();
        };
        let mut views = Vec::new();
        for item in items.iter() {
            match item.get_ref() {
                DeValue::Table(table) => views.push(View::new(table, item.span(), name)),
                other => {
                    faults.push(wrong_type(key, &format!("a list of tables ({name})"), other, item.span()))
                }
            }
        }
        views
    }
}

fn wrong_type(key: &str, wanted: &str, got: &DeValue<'_>, span: Range<usize>) -> Fault {
    Fault::new(
        span,
        format!("`{key}` must be {wanted}, not {} {}", article(got.type_str()), got.type_str()),
        "here",
    )
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

/// `a`, `b` and `c`, in backquotes.
pub fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(|n| format!("`{n}`")).collect();
            format!("{} and `{last}`", first.join(", "))
        }
    }
}
