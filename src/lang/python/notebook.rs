//! Notebooks: the code cells of a `.ipynb` file as one Python text, their shell lines as
//! commands, and the way back from both to the places of the JSON file.

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use rustc_hash::FxHashSet;

use super::cell::{Reading, readings};
use super::facts::read_into;
use crate::base::facts::{FileFacts, Language, Problem, ProblemKind};
use crate::base::ir::Program;
use crate::base::site::Site;
use crate::base::source::Source;
use crate::base::span::Span;
use crate::data::commands::CommandCatalogue;
use crate::data::primitives::Catalogue;
use crate::lang::collect::Collector;
use crate::lang::fragment::Fragment;

/// A piece of code: where it stands in the joined text, and where in the file.
struct Piece {
    code: u32,
    file: u32,
    length: u32,
}

/// Reads a notebook's code cells.
pub(super) fn facts(
    path: &str,
    source: &Source,
    catalogue: &Catalogue,
    watch: &FxHashSet<String>,
) -> FileFacts {
    let mut facts = FileFacts::new(path, Language::Python);
    let parsed = parse_to_ast(&source.text, &CollectOptions::default(), &ParseOptions::default());
    let value = match parsed {
        Ok(result) => result.value,
        Err(error) => {
            facts.problems.push(Problem {
                kind: ProblemKind::Syntax,
                span: Span::new(error.range().start, error.range().end),
                message: format!("is no valid notebook: {}", error.kind()),
            });
            return facts;
        }
    };
    let mut code = String::new();
    let mut pieces = Vec::new();
    for source in sources(&value) {
        add_cell(source, &mut code, &mut pieces);
    }
    read_into(&mut facts, &code, catalogue, watch);
    let back = |span: &mut Span| {
        *span = Span { start: to_file(&pieces, span.start, false), end: to_file(&pieces, span.end, true) };
    };
    if let Some(program) = &mut facts.program {
        move_program(program, &back);
    }
    facts.watched.iter_mut().for_each(|w| back(&mut w.span));
    facts.annotations.iter_mut().for_each(|a| back(&mut a.span));
    facts.problems.iter_mut().for_each(|p| back(&mut p.span));
    facts
}

/// The texts of a cell's source and the byte ranges of their literals, quotes left out.
fn texts<'v>(source: &'v ObjectProp<'_>) -> Vec<(&'v str, std::ops::Range<usize>)> {
    let inner = |range: jsonc_parser::common::Range| range.start + 1..range.end.saturating_sub(1);
    match &source.value {
        Value::Array(lines) => lines
            .elements
            .iter()
            .filter_map(|line| match line {
                Value::StringLit(text) => Some((text.value.as_ref(), inner(text.range))),
                _ => None,
            })
            .collect(),
        Value::StringLit(text) => vec![(text.value.as_ref(), inner(text.range))],
        _ => Vec::new(),
    }
}

/// One line of a cell: its text, the literal that it stands in, and where it begins in that one's value.
struct Line<'v> {
    text: &'v str,
    literal: std::ops::Range<usize>,
    at: usize,
}

fn lines<'v>(source: &'v ObjectProp<'_>) -> Vec<Line<'v>> {
    let mut found = Vec::new();
    for (text, literal) in texts(source) {
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            found.push(Line { text: line, literal: literal.clone(), at });
            at += line.len();
        }
    }
    found
}

fn readings_of(lines: &[Line<'_>]) -> Vec<Reading> {
    readings(&lines.iter().map(|line| line.text).collect::<Vec<_>>())
}

/// The sources of the code cells.
fn sources<'v, 't>(value: &'v Option<Value<'t>>) -> Vec<&'v ObjectProp<'t>> {
    let Some(Value::Object(notebook)) = value else { return Vec::new() };
    let cells = notebook.get_array("cells").map(|a| a.elements.as_slice()).unwrap_or_default();
    cells
        .iter()
        .filter_map(|cell| match cell {
            Value::Object(cell) if cell.get_string("cell_type").is_some_and(|t| t.value == "code") => {
                cell.get("source")
            }
            _ => None,
        })
        .collect()
}

/// Adds a cell's Python. A line that is none stands as `pass`, so that the block around it stays whole.
fn add_cell(source: &ObjectProp<'_>, code: &mut String, pieces: &mut Vec<Piece>) {
    let lines = lines(source);
    for (line, reading) in lines.iter().zip(readings_of(&lines)) {
        let indent = line.text.len() - line.text.trim_start_matches([' ', '\t']).len();
        let statement = match reading {
            Reading::Python(from) => line.text.get(from..).unwrap_or(""),
            Reading::Escape(_) | Reading::Other => "pass\n",
            Reading::Continued | Reading::Script(_) | Reading::Nothing => "\n",
        };
        let whole = reading == Reading::Python(0);
        for part in [if whole { "" } else { line.text.get(..indent).unwrap_or("") }, statement] {
            // Places count to the column as long as no escape stands before them.
            let skipped = match reading {
                Reading::Python(from) if !part.is_empty() && part.len() == statement.len() => from,
                _ => 0,
            };
            let file = (line.literal.start + line.at + skipped).min(line.literal.end);
            pieces.push(Piece {
                code: code.len() as u32,
                file: file as u32,
                length: (part.len() as u32).min((line.literal.end - file) as u32).max(1),
            });
            code.push_str(part);
        }
    }
    if !code.ends_with('\n') {
        code.push('\n');
    }
}

/// The commands of a notebook's shell lines and cells, as sites of the file.
pub fn commands(path: &str, source: &Source, catalogue: &CommandCatalogue) -> Vec<Site> {
    let mut collector = Collector::new(path, Language::Python, source, catalogue);
    let parsed = parse_to_ast(&source.text, &CollectOptions::default(), &ParseOptions::default());
    let Ok(result) = parsed else { return Vec::new() };
    for cell in sources(&result.value) {
        let lines = lines(cell);
        let mut fragment: Option<Fragment> = None;
        for (line, reading) in lines.iter().zip(readings_of(&lines)) {
            let here = fragment.is_some();
            match reading {
                Reading::Escape(from) => {
                    run(&mut collector, &mut fragment);
                    append(&mut fragment, &source.text, line, from, true);
                }
                Reading::Continued => append(&mut fragment, &source.text, line, 0, true),
                Reading::Script(from) => append(&mut fragment, &source.text, line, from, false),
                _ if here => run(&mut collector, &mut fragment),
                _ => {}
            }
        }
        run(&mut collector, &mut fragment);
    }
    collector.finish().sites
}

fn run(collector: &mut Collector<'_>, fragment: &mut Option<Fragment>) {
    if let Some(fragment) = fragment.take() {
        collector.shell(&fragment);
    }
}

/// Appends a line from a byte on. `filled` says whether `{x}` stands for a value of Python.
fn append(fragment: &mut Option<Fragment>, host: &str, line: &Line<'_>, from: usize, filled: bool) {
    let span = Span::new(line.literal.start, line.literal.end);
    let fragment = fragment.get_or_insert_with(|| Fragment::at(span));
    let places = places(host, &line.literal);
    let text = line.text.trim_end_matches(['\n', '\r']);
    // The line end ends the command, but for a script's and a line that goes on.
    let text = if filled && !text.ends_with('\\') { text } else { line.text };
    let place = |at: usize| places.get(line.at + at).copied().unwrap_or(span.end);
    let mut start = from;
    let mut at = from;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or("");
        let free = if filled && c == '{' { filling(text, at) } else { None };
        let next = at + free.unwrap_or(c.len_utf8());
        // An escape is longer in the file than in the value: what follows it has a place of its own.
        let linear = place(next).saturating_sub(place(at)) as usize == c.len_utf8();
        if free.is_some() || !linear || rest.len() == c.len_utf8() {
            let end = if free.is_some() { at } else { next };
            fragment.literal(text.get(start..end).unwrap_or(""), place(start));
            start = next;
        }
        if free.is_some() {
            fragment.free();
        }
        at = next;
    }
}

/// The length of `{x}` at a byte, where Python fills it in; not of `${x}`, `{a,b}` and `{{`.
fn filling(line: &str, at: usize) -> Option<usize> {
    let before = line.get(..at).and_then(|b| b.chars().next_back());
    let end = line.get(at..)?.find('}')?;
    let inner = line.get(at + 1..at + end)?;
    let name = inner.starts_with(|c: char| c.is_alphabetic() || c == '_') && !inner.contains([',', '{', '.']);
    let member = inner.starts_with(|c: char| c.is_alphabetic())
        && !inner.contains([',', '{'])
        && !inner.contains("..");
    (!matches!(before, Some('$' | '{')) && (name || member)).then_some(end + 1)
}

/// Where each byte of a literal's value stands in the file; one more place for its end.
fn places(host: &str, literal: &std::ops::Range<usize>) -> Vec<u32> {
    let raw = host.get(literal.clone()).unwrap_or("");
    let mut found = Vec::with_capacity(raw.len() + 1);
    let mut at = 0;
    while let Some(c) = raw.get(at..).and_then(|rest| rest.chars().next()) {
        let (spelled, bytes) = match c {
            '\\' => escape(raw.get(at..).unwrap_or("")),
            c => (c.len_utf8(), c.len_utf8()),
        };
        let here = (literal.start + at) as u32;
        let plain = spelled == bytes;
        found.extend((0..bytes as u32).map(|byte| if plain { here + byte } else { here }));
        at += spelled;
    }
    found.push((literal.start + at) as u32);
    found
}

/// How long an escape is spelled, and how many bytes its character has.
fn escape(raw: &str) -> (usize, usize) {
    let unit = |at: usize| raw.get(at..at + 4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    if !raw.starts_with("\\u") {
        let next = raw.chars().nth(1).map_or(0, char::len_utf8);
        return (1 + next, 1);
    }
    match unit(2) {
        Some(0xd800..=0xdbff) if raw.get(6..8) == Some("\\u") => (12, 4),
        Some(code) => (6, char::from_u32(code).map_or(3, char::len_utf8)),
        None => (2, 1),
    }
}

/// The place in the file of an offset in the joined code.
fn to_file(pieces: &[Piece], offset: u32, is_end: bool) -> u32 {
    let at = pieces.partition_point(|p| if is_end { p.code < offset } else { p.code <= offset });
    match at.checked_sub(1).and_then(|at| pieces.get(at)) {
        Some(piece) => piece.file + (offset - piece.code).min(piece.length.saturating_sub(1)),
        None => pieces.first().map_or(0, |p| p.file),
    }
}

fn move_program(program: &mut Program, back: &impl Fn(&mut Span)) {
    program.exprs.iter_mut().for_each(|n| back(&mut n.span));
    program.functions.iter_mut().for_each(|f| back(&mut f.span));
    program.classes.iter_mut().for_each(|c| back(&mut c.span));
    program.imports.iter_mut().for_each(|i| back(&mut i.span));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let source = Source::new(text);
        commands("a.ipynb", &source, &CommandCatalogue::built_in())
            .iter()
            .map(|s| {
                let at = source.position(s.span.start);
                format!("{}:{} {} {}", at.line, at.column, s.primitive, source.slice(s.span))
            })
            .collect()
    }

    #[test]
    fn shell_lines_and_cells_are_commands_at_their_places() {
        let text = r#"{"cells": [
{"cell_type": "code", "source": ["!pkill -f a\n", "x = !echo \"é\"; killall b\n", "y = 1\n"]},
{"cell_type": "code", "source": "%%bash\nif true; then\n  systemctl restart c\nfi\n"},
{"cell_type": "code", "source": ["!sudo kill -9 \\\n", "  $(pgrep d)\n", "if x:\n", "    !pkill {name}\n"]},
{"cell_type": "markdown", "source": ["!pkill e\n"]},
{"cell_type": "code", "source": ["%%writefile x.sh\n", "pkill f\n"]}
]}"#;
        assert_eq!(
            found(text),
            [
                "2:36 pkill pkill -f a",
                "2:69 killall killall b",
                "3:59 systemctl restart systemctl restart c",
                "4:36 kill sudo kill -9 \\\\\\n\", \"  $(pgrep d)",
                "4:91 pkill pkill {",
            ]
        );
    }

    #[test]
    fn every_byte_of_a_value_has_its_place() {
        let host = r#""a\n\u00e9\ud83d\ude00é""#;
        let places = places(host, &(1..host.len() - 1));
        assert_eq!(places, [1, 2, 4, 4, 10, 10, 10, 10, 22, 23, 24]);
    }
}
