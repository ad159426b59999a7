//! Notebooks: the code cells of a `.ipynb` file as one text, and the way back from that
//! text to the places of the JSON file.

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use rustc_hash::FxHashSet;

use super::facts::read_into;
use crate::base::facts::{FileFacts, Language, Problem, ProblemKind};
use crate::base::ir::Program;
use crate::base::source::Source;
use crate::base::span::Span;
use crate::data::primitives::Catalogue;

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
    let Some(Value::Object(notebook)) = value else { return facts };
    let mut code = String::new();
    let mut pieces = Vec::new();
    for cell in notebook.get_array("cells").map(|a| a.elements.as_slice()).unwrap_or_default() {
        let Value::Object(cell) = cell else { continue };
        let is_code = cell.get_string("cell_type").is_some_and(|t| t.value == "code");
        if is_code && let Some(lines) = cell.get("source") {
            add_cell(lines, &mut code, &mut pieces);
        }
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

/// Adds a cell's lines. Magics and shell escapes are no Python: they are blanked.
fn add_cell(lines: &ObjectProp<'_>, code: &mut String, pieces: &mut Vec<Piece>) {
    let texts: Vec<(&str, usize)> = match &lines.value {
        Value::Array(lines) => lines
            .elements
            .iter()
            .filter_map(|line| match line {
                Value::StringLit(text) => Some((text.value.as_ref(), text.range.start + 1)),
                _ => None,
            })
            .collect(),
        Value::StringLit(text) => vec![(text.value.as_ref(), text.range.start + 1)],
        _ => Vec::new(),
    };
    let whole_cell_magic = texts.first().is_some_and(|(text, _)| text.trim_start().starts_with("%%"));
    for (text, file) in texts {
        for line in text.split_inclusive('\n') {
            let offset = line.as_ptr() as usize - text.as_ptr() as usize;
            pieces.push(Piece {
                code: code.len() as u32,
                file: (file + offset.min(1)) as u32,
                length: line.len() as u32,
            });
            let is_magic = whole_cell_magic || line.trim_start().starts_with(['%', '!', '?']);
            if is_magic {
                code.extend(line.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
                if let Some(piece) = pieces.last_mut() {
                    piece.length = (code.len() as u32) - piece.code;
                }
            } else {
                code.push_str(line);
            }
        }
    }
    if !code.ends_with('\n') {
        code.push('\n');
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
