//! `--format text`: excerpts for people, with labels into the source and the inventory,
//! the chain's steps, and what to do next.

use std::collections::BTreeMap;
use std::ops::Range;

use codespan_reporting::diagnostic::{Diagnostic, Label, Severity as Level};
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term::{self, Config, StylesWriter, termcolor};

use super::{Look, concise};
use crate::base::finding::{Finding, Place, Severity};
use crate::base::terminal::{one_line, same_length, visible};
use crate::report::{Report, ReportedFinding};

/// A line longer than this is not shown: it is generated, and nobody reads it in a terminal.
const LONGEST_LINE: usize = 400;

/// A chain of more steps than this is shown by its first and last ones: all are in the other formats.
const LONGEST_CHAIN: usize = 48;
/// The first and the last steps that are shown of a longer one.
const SHOWN_OF_A_LONG_CHAIN: usize = 12;

/// A help of more bytes than this is not repeated for each finding of a rule.
const LONGEST_REPEATED_HELP: usize = 120;

/// The report.
pub fn render(report: &Report, look: &Look<'_>) -> String {
    let mut shown = Shown::default();
    let mut out = Vec::new();
    for reported in &report.findings {
        let diagnostic = diagnostic(reported, look, &mut shown);
        let config = Config::default();
        let written = if look.color {
            let styles = term::Styles::default();
            let mut writer = StylesWriter::new(termcolor::Ansi::new(&mut out), &styles);
            term::emit_to_write_style(&mut writer, &config, &shown, &diagnostic)
        } else {
            term::emit_to_io_write(&mut out, &config, &shown, &diagnostic)
        };
        if written.is_err() {
            // The excerpt could not be made; the finding must still be seen.
            out.extend_from_slice(plain(reported).as_bytes());
        }
    }
    let mut text = String::from_utf8_lossy(&out).into_owned();
    text += &concise::closing(report, look);
    text
}

fn plain(reported: &ReportedFinding) -> String {
    let f = &reported.finding;
    one_line(&format!("{}: {} {}", at(&f.place), f.code, f.message)) + "\n\n"
}

fn at(place: &Place) -> String {
    format!("{}:{}:{}", place.path, place.start.line, place.start.column)
}

fn diagnostic(reported: &ReportedFinding, look: &Look<'_>, shown: &mut Shown) -> Diagnostic<usize> {
    let f = &reported.finding;
    let mut labels = Vec::new();
    let mut notes = Vec::new();
    match shown.label(&f.place, look) {
        Some((file, range)) => {
            labels.push(Label::primary(file, range).with_message(visible(&primary(f))));
        }
        None => notes.push(format!("at {}", one_line(&at(&f.place)))),
    }
    // The last step of a chain is the site itself, which is the primary label.
    let steps = f.chain.len().saturating_sub(1);
    let left_out = left_out(steps);
    for (number, step) in f.chain.iter().take(steps).enumerate() {
        if left_out.contains(&number) {
            continue;
        }
        let message = format!("step {} of {}: in `{}`", number + 1, f.chain.len(), step.symbol);
        match shown.label(&step.place, look) {
            Some((file, range)) => labels.push(Label::secondary(file, range).with_message(visible(&message))),
            None => notes.push(one_line(&format!("{message}, {}", at(&step.place)))),
        }
    }
    if !left_out.is_empty() {
        let (first, last) = (left_out.start + 1, left_out.end);
        let count = left_out.len();
        notes.push(format!(
            "steps {first} to {last} are not shown here ({count} steps; `--format json` has all)"
        ));
    }
    for related in &f.related {
        match shown.label(&related.place, look) {
            Some((file, range)) => {
                labels.push(Label::secondary(file, range).with_message(visible(&related.message)));
            }
            None => notes.push(one_line(&format!("{}: {}", at(&related.place), related.message))),
        }
    }
    if !f.help.is_empty() {
        notes.push(format!("help: {}", shown.help(f)));
    }
    let level = match f.severity {
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
        Severity::Note => Level::Note,
    };
    Diagnostic::new(level)
        .with_code(format!("{} {}", f.code, reported.name))
        .with_message(one_line(&f.message))
        .with_labels(labels)
        .with_notes(notes)
}

/// The steps, counted from 0, that lie between the shown ones of a chain.
fn left_out(steps: usize) -> Range<usize> {
    if steps <= LONGEST_CHAIN { 0..0 } else { SHOWN_OF_A_LONG_CHAIN..steps - SHOWN_OF_A_LONG_CHAIN }
}

/// What stands under the finding's own place.
fn primary(f: &Finding) -> String {
    let confidence = match f.confidence {
        crate::base::site::Confidence::Certain => "",
        crate::base::site::Confidence::Likely => " (likely)",
        crate::base::site::Confidence::Possible => " (possible)",
    };
    match f.effect {
        Some(effect) => format!("{effect}{confidence}"),
        None => confidence.trim().to_owned(),
    }
}

/// The excerpts' files: their texts without anything that steers a terminal.
#[derive(Default)]
struct Shown {
    files: Vec<ShownFile>,
    numbers: BTreeMap<String, Option<usize>>,
    /// The long help that each rule gave last.
    helps: BTreeMap<&'static str, String>,
}

struct ShownFile {
    name: String,
    text: String,
    lines: Vec<usize>,
}

impl Shown {
    /// What to do next. A long help that the rule's finding above has too is not shown again.
    fn help(&mut self, f: &Finding) -> String {
        let long = f.help.len() > LONGEST_REPEATED_HELP;
        if long && self.helps.insert(f.code, f.help.clone()).as_ref() == Some(&f.help) {
            return format!("as for the {} above", f.code);
        }
        visible(&f.help)
    }

    /// The file's number and the byte range of a place, if it can be shown.
    fn label(&mut self, place: &Place, look: &Look<'_>) -> Option<(usize, Range<usize>)> {
        let number = *self.numbers.entry(place.path.clone()).or_insert_with(|| {
            let source = look.sources.get(&place.path)?;
            let lines = (1..=source.lines().len())
                .map(|line| source.lines().line_span(&source.text, line as u32).start as usize)
                .collect();
            self.files.push(ShownFile {
                name: one_line(&place.path),
                text: same_length(&source.text),
                lines,
            });
            Some(self.files.len() - 1)
        });
        let number = number?;
        let start = look.sources.offset(&place.path, place.start)?;
        let end = look.sources.offset(&place.path, place.end)?.max(start);
        let file = self.files.get(number)?;
        let first = file.line_of(start);
        let last = file.line_of(end);
        // A long extent is shown by its first line.
        let end = if last > first + 8 { file.line_end(first).max(start) } else { end };
        let long = (first..=file.line_of(end))
            .any(|line| file.line_range_of(line).is_none_or(|range| range.len() > LONGEST_LINE));
        (!long).then_some((number, start..end))
    }
}

impl ShownFile {
    fn line_of(&self, byte: usize) -> usize {
        self.lines.partition_point(|&start| start <= byte).saturating_sub(1)
    }

    fn line_range_of(&self, line: usize) -> Option<Range<usize>> {
        let start = *self.lines.get(line)?;
        Some(start..self.lines.get(line + 1).copied().unwrap_or(self.text.len()))
    }

    fn line_end(&self, line: usize) -> usize {
        let Some(range) = self.line_range_of(line) else { return 0 };
        let body = self.text.get(range.clone()).unwrap_or("").trim_end_matches(['\n', '\r']);
        range.start + body.len()
    }
}

impl<'a> Files<'a> for Shown {
    type FileId = usize;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: usize) -> Result<&'a str, Error> {
        self.files.get(id).map(|f| f.name.as_str()).ok_or(Error::FileMissing)
    }

    fn source(&'a self, id: usize) -> Result<&'a str, Error> {
        self.files.get(id).map(|f| f.text.as_str()).ok_or(Error::FileMissing)
    }

    fn line_index(&'a self, id: usize, byte: usize) -> Result<usize, Error> {
        self.files.get(id).map(|f| f.line_of(byte)).ok_or(Error::FileMissing)
    }

    fn line_range(&'a self, id: usize, line: usize) -> Result<Range<usize>, Error> {
        let file = self.files.get(id).ok_or(Error::FileMissing)?;
        file.line_range_of(line).ok_or(Error::LineTooLarge { given: line, max: file.lines.len() })
    }
}
