//! Programs of other languages that stand in a command line: where their text is.

use super::analysis::Inline;
use super::engine::{Engine, Run};
use super::script::Input;
use super::word::{Part, Word};

impl Engine<'_> {
    /// Notes a program of another language that the command line holds.
    /// True if it does.
    pub(super) fn inline(&mut self, run: &Run, name: &str) -> bool {
        let options: &[&str] = match name {
            "python" | "python2" | "python3" | "pypy3" | "py" | "pypy" => &["-c"],
            "node" | "nodejs" | "bun" => &["-e", "--eval", "-p", "--print", "-pe"],
            "deno" => &["eval"],
            "perl" => &["-e", "-E"],
            "ruby" => &["-e"],
            "php" => &["-r"],
            "lua" | "luajit" | "julia" | "Rscript" | "elixir" | "groovy" | "scala" => &["-e", "-E", "--eval"],
            _ => return false,
        };
        let rest = run.words.get(1..).unwrap_or(&[]);
        let found = rest.iter().position(|w| {
            let text = w.text().unwrap_or_default();
            if options
                .iter()
                .any(|o| o.starts_with("--") && text.strip_prefix(o).is_some_and(|t| t.starts_with('=')))
            {
                return true;
            }
            let bundled = text.len() > 2 && text.starts_with('-') && !text.starts_with("--");
            options.iter().any(|o| text == *o || (bundled && o.len() == 2 && text.ends_with(&o[1..])))
        });
        let script_first = rest.iter().position(|w| !w.leading().starts_with('-') && !w.is_free());
        let reads_input = rest.is_empty() || rest.first().and_then(Word::text).as_deref() == Some("-");
        let code = match found {
            Some(at) if script_first.is_none_or(|first| first >= at) => {
                let option = rest.get(at).and_then(Word::text).unwrap_or_default();
                match option.strip_prefix("--").and_then(|o| o.split_once('=')) {
                    Some((_, code)) => Some(code.to_owned()),
                    None => rest.get(at + 1).and_then(code_text),
                }
            }
            _ if reads_input => match &run.input {
                Some((scene, input @ (Input::Pipe(_) | Input::Text(_)))) => self.input_text(*scene, input, 0),
                Some((_, Input::File(_))) => None,
                _ => return false,
            },
            _ => return false,
        };
        self.analysis.inline.push(Inline {
            interpreter: name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned(),
            code,
            span: run.span,
            nested_in: run.nested_in.clone(),
            remote: run.remote.clone(),
        });
        true
    }
}

/// A program's text; a variable that the system sets stands for a path in it.
fn code_text(word: &Word) -> Option<String> {
    let mut out = String::new();
    for piece in &word.parts {
        match &piece.part {
            Part::Literal(text) => out.push_str(text),
            // Folding leaves only variables whose values hold no program.
            Part::Variable { .. } => out.push_str("/x"),
            _ => return None,
        }
    }
    Some(out)
}
