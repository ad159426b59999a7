//! Windows scripts, line by line: no grammar, so every site is `possible`.
//!
//! A line is cut into commands at `&`, `|`, `;` and brackets; words that only lead to a
//! command (`call`, `start`, `if …`, `for … do`) are skipped.

use crate::base::facts::{FileFacts, Language};
use crate::base::site::Confidence;
use crate::base::source::Source;
use crate::base::span::Span;
use crate::base::text::{Origin, Piece, Text};
use crate::data::commands::CommandCatalogue;

use super::collect::{Collector, Comments};

/// The facts of a PowerShell or batch script.
pub fn facts(path: &str, source: &Source, catalogue: &CommandCatalogue) -> FileFacts {
    let mut collector = Collector::new(path, Language::Windows, source, catalogue);
    collector.confidence = Confidence::Possible;
    let powershell = path.to_ascii_lowercase().rsplit_once('.').is_none_or(|(_, e)| e.starts_with("ps"));
    script(&mut collector, &source.text, powershell, &|at| at);
    let comments = if powershell { Comments { line: &["#"], block: Some(("<#", "#>")) } } else { BATCH };
    collector.annotations(&comments);
    collector.finish()
}

/// Reads a script that stands in a file; `place` maps its lines' offsets. Without a grammar, a site is `possible`.
pub(super) fn script(
    collector: &mut Collector<'_>,
    text: &str,
    powershell: bool,
    place: &dyn Fn(usize) -> usize,
) {
    let surest = std::mem::replace(&mut collector.confidence, Confidence::Possible);
    let mut at = 0;
    let mut comment = false;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if powershell {
            if comment {
                comment = !line.contains("#>");
                continue;
            }
            comment = line.contains("<#") && !line.contains("#>");
        }
        if comment || is_comment(line, powershell) {
            continue;
        }
        for command in commands(line, place(start), powershell) {
            run(collector, &command, powershell);
        }
    }
    collector.confidence = surest;
}

const BATCH: Comments = Comments { line: &["REM", "rem", "::"], block: None };

fn is_comment(line: &str, powershell: bool) -> bool {
    let body = line.trim_start().trim_start_matches('@').to_ascii_lowercase();
    if powershell {
        body.starts_with('#')
    } else {
        body.starts_with("::")
            || body == "rem"
            || body.starts_with("rem ")
            || body.starts_with("rem\t")
            || body.starts_with(':')
    }
}

type Words = Vec<(Text, Span)>;

/// The commands of a line, each as its words.
fn commands(line: &str, start: usize, powershell: bool) -> Vec<Words> {
    let mut found: Vec<Words> = vec![Vec::new()];
    let mut word: Option<(String, usize)> = None;
    let mut quote: Option<char> = None;
    let place = |from: usize, to: usize| Span::new(start + from, start + to);
    let mut end = line.trim_end().len();
    for (i, c) in line.char_indices() {
        if i >= line.trim_end().len() {
            break;
        }
        if let Some(q) = quote {
            if c == q {
                quote = None;
            } else {
                word.get_or_insert((String::new(), i)).0.push(c);
            }
            continue;
        }
        let separator = matches!(c, '&' | '|' | '(' | ')' | '{' | '}') || (powershell && c == ';');
        let quotes = c == '"' || (powershell && c == '\'');
        if powershell && c == '#' && word.is_none() {
            end = i;
            break;
        }
        if separator || c.is_whitespace() {
            if let (Some((text, from)), Some(words)) = (word.take(), found.last_mut()) {
                words.push((partly(&text, powershell), place(from, i)));
            }
            if separator && found.last().is_some_and(|w| !w.is_empty()) {
                found.push(Vec::new());
            }
        } else if quotes {
            quote = Some(c);
            word.get_or_insert((String::new(), i));
        } else if c != '^' || powershell {
            word.get_or_insert((String::new(), i)).0.push(c);
        }
    }
    if let (Some((text, from)), Some(words)) = (word, found.last_mut()) {
        words.push((partly(&text, powershell), place(from, end)));
    }
    for words in &mut found {
        without_redirections(words);
    }
    found
}

/// `>nul`, `2> file`: no words of the command.
fn without_redirections(words: &mut Words) {
    let mut file = false;
    words.retain(|(word, _)| {
        let text = word.as_literal().unwrap_or("");
        let operator =
            text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '*').starts_with(['>', '<']);
        let keep = !operator && !file;
        file = operator && text.ends_with(['>', '<']);
        keep
    });
}

/// `$name` and `%name%` are not known.
fn partly(text: &str, powershell: bool) -> Text {
    let mut out = Text::default();
    let mut rest = text;
    let mark = if powershell { '$' } else { '%' };
    while let Some((before, after)) = rest.split_once(mark) {
        out.push(Piece::Literal(before.to_owned()));
        out.push(Piece::Free(Origin::Unknown));
        let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':');
        let end = after.find(|c: char| !name(c)).unwrap_or(after.len());
        let tail = after.get(end..).unwrap_or("");
        rest = tail.strip_prefix('%').unwrap_or(tail);
    }
    out.push(Piece::Literal(rest.to_owned()));
    out
}

/// Classifies one command; words that lead to it are skipped.
fn run(collector: &mut Collector<'_>, words: &Words, powershell: bool) {
    let mut rest: &[(Text, Span)] = words;
    loop {
        let Some((first, tail)) = rest.split_first() else { return };
        let name = first.0.as_literal().unwrap_or("").trim_start_matches('@').to_ascii_lowercase();
        let skip = match name.as_str() {
            "call" | "else" | "do" | "return" => 1,
            "start" => {
                tail.iter()
                    .take_while(|(w, _)| w.as_literal().is_some_and(|w| w.is_empty() || w.starts_with('/')))
                    .count()
                    + 1
            }
            "if" | "for" if !powershell => return after_header(collector, tail),
            "" if first.0.as_literal().is_some() => 1,
            _ => break,
        };
        rest = rest.get(skip..).unwrap_or(&[]);
    }
    let mut command: Words = rest.to_vec();
    if let Some((first, _)) = command.first_mut() {
        let text = first.as_literal().unwrap_or("").trim_start_matches(['@', '&']).to_owned();
        if powershell && text.eq_ignore_ascii_case("kill") {
            // PowerShell's own alias.
            *first = Text::literal("Stop-Process");
        } else if first.as_literal().is_some() {
            *first = Text::literal(text);
        }
    }
    collector.argv(&command);
}

/// `if … COMMAND`, `for … do COMMAND`: the command begins at the first word that is one.
fn after_header(collector: &mut Collector<'_>, words: &[(Text, Span)]) {
    for at in 0..words.len().min(8) {
        if collector.argv(words.get(at..).unwrap_or(&[])) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sites(path: &str, text: &str) -> Vec<String> {
        let source = Source::new(text);
        let facts = facts(path, &source, &CommandCatalogue::built_in());
        assert!(facts.sites.iter().all(|s| s.confidence == Confidence::Possible));
        facts
            .sites
            .iter()
            .map(|s| format!("{} {} {}", source.position(s.span.start).line, s.effect, s.primitive))
            .collect()
    }

    #[test]
    fn batch_files() {
        let text = "@echo off\nREM taskkill /IM a\n:: taskkill\necho taskkill /IM a.exe\n@taskkill /F /IM node.exe >nul 2>&1\n\
                    if exist a taskkill /PID %P%\ncd x && sc stop svc\nfor %%i in (1 2) do taskkill /PID %%i\n";
        assert_eq!(
            sites("a.bat", text),
            ["5 kill taskkill", "6 kill taskkill", "7 supervise sc stop", "8 kill taskkill"]
        );
    }

    #[test]
    fn powershell_scripts() {
        let text = "# Stop-Process -Name a\n<#\nStop-Process\n#>\nWrite-Host \"Stop-Process\"\nGet-Process node | Stop-Process -Force\n\
                    kill -Name node\nif ($x) { Restart-Service svc }\nstop-process -id $p # no\n";
        assert_eq!(
            sites("a.ps1", text),
            [
                "6 kill Stop-Process",
                "7 kill Stop-Process",
                "8 supervise Restart-Service",
                "9 kill Stop-Process"
            ]
        );
    }
}
