//! Files that a command line runs: those that it writes itself, those that were given with
//! the text, and those that nothing is known of.
//!
//! Only the guard's strict mode comes here. Reads no file: the caller gives their texts.

use std::rc::Rc;

use super::action::Runs;
use super::analysis::{Inline, UndecidedReason};
use super::engine::{Engine, Nested, Run, Scene};
use super::follow::program_name;
use super::script::Simple;
use super::word::Word;

/// Commands that make a file out of what cannot be told from the text, under the name of their last operand.
const COPIES: &[&str] = &["cp", "mv", "ln", "install", "rsync", "scp", "mkfifo"];
/// Commands that do so under the name that an option gives.
const FETCHES: &[&str] = &["curl", "wget", "base64", "xxd", "openssl", "gpg", "unzip", "tar"];

/// A file that the text writes.
#[derive(Debug, Clone)]
pub(super) struct Made {
    path: String,
    /// The command that prints what is written: its script and its number there. `None`: not known.
    by: Option<(u32, u32)>,
}

impl Engine<'_> {
    /// Notes the files that a script's commands write.
    pub(super) fn note_made(&mut self, id: u32, scene: &Rc<Scene>) {
        for (command, index) in scene.script.commands.iter().zip(0u32..) {
            let prints = Some((id, index));
            for word in &command.writes {
                self.made.push(Made { path: plain(&word.display()), by: prints });
            }
            let words: Vec<Word> = command
                .words
                .iter()
                .skip_while(|w| program_name(w).is_some_and(|n| n == "sudo" || n == "command"))
                .cloned()
                .collect();
            let Some(name) = words.first().and_then(program_name) else { continue };
            let operands =
                || words.iter().skip(1).filter(|w| !w.leading().starts_with('-')).map(Word::display);
            match name.as_str() {
                "tee" => {
                    self.made.extend(operands().map(|path| Made { path: plain(&path), by: prints }));
                }
                "dd" => {
                    let files = operands().filter_map(|w| w.strip_prefix("of=").map(plain));
                    self.made.extend(files.map(|path| Made { path, by: None }));
                }
                _ if COPIES.contains(&name.as_str()) => {
                    self.made
                        .extend(operands().next_back().map(|path| Made { path: plain(&path), by: None }));
                }
                _ if FETCHES.contains(&name.as_str()) => {
                    let named = words.windows(2).filter(|pair| {
                        let option = pair.first().map(Word::leading).unwrap_or_default();
                        option.starts_with('-') && option.to_ascii_lowercase().contains('o')
                    });
                    let named = named.filter_map(|pair| pair.get(1)).map(Word::display);
                    self.made.extend(named.map(|path| Made { path: plain(&path), by: None }));
                }
                _ => {}
            }
        }
    }

    /// Whether the text writes one of these files.
    pub(super) fn makes(&self, names: &[String]) -> bool {
        self.made.iter().any(|m| names.iter().any(|n| *n == base(&m.path)))
    }

    /// What the text writes into a file: each text that it may hold, `None` for one that is not known.
    fn written(&self, path: &str) -> Vec<Option<String>> {
        let path = plain(path);
        let of = |made: &Made| {
            let (scene, index) = made.by?;
            self.constant(scene, &(index..index.saturating_add(1)), 0)
        };
        self.made.iter().filter(|m| m.path == path).map(of).collect()
    }

    /// Follows a file of shell commands.
    pub(super) fn script_file(&mut self, run: &Run, by: &str, word: &Word, child: bool) {
        let Some(path) = word.text() else {
            self.undecided(UndecidedReason::UnreadableInput, run.span);
            return;
        };
        let by = format!("{by} {path}");
        if run.nested_in.contains(&by) {
            return;
        }
        let written = self.written(&path);
        if !written.is_empty() {
            for text in written {
                match text {
                    Some(text) => self.script_text(run, &by, text, child),
                    None => self.undecided(UndecidedReason::UnreadableInput, run.span),
                }
            }
            return;
        }
        if !child && self.catalogue.names.settings_files.iter().any(|n| n == base(&path)) {
            return;
        }
        match self.given(run, &path) {
            Some(text) => self.script_text(run, &by, text, child),
            None => self.undecided(UndecidedReason::UnreadableInput, run.span),
        }
    }

    fn script_text(&mut self, run: &Run, by: &str, text: String, child: bool) {
        let script = Word::literal(text, run.span);
        self.nest(run, &Nested { words: &[script], by, child, own_places: false });
    }

    /// The given text of a file; else the caller is told that it is wanted.
    fn given(&mut self, run: &Run, path: &str) -> Option<String> {
        let folder = self.folder.as_deref()?;
        if run.remote.is_some() {
            return None;
        }
        let path = if path.starts_with(['/', '~']) { path.to_owned() } else { join(folder, path) };
        let runs = Runs::File(path);
        let text = self.context.scripts.get(&runs).cloned();
        if text.is_none() {
            self.analysis.wanted.push(runs);
        }
        text
    }

    /// A program that is given by its path, or a script that an interpreter is given.
    pub(super) fn program_file(&mut self, run: &Run, interpreter: Option<&str>) {
        let word = match interpreter {
            None => run.words.first(),
            Some(_) => run.words.iter().skip(1).find(|w| !w.leading().starts_with('-')),
        };
        let Some(path) = word.and_then(Word::text) else { return };
        if interpreter.is_none() && !path.contains('/') {
            return;
        }
        let written = self.written(&path);
        if written.is_empty() {
            let shell = [".sh", ".bash", ".zsh", ".ksh"].iter().any(|end| path.ends_with(end));
            let speaks = self.catalogue.speaks_of_ending(base(&path)) && !path.starts_with('/');
            if interpreter.is_none() && (shell || speaks) {
                let word = Word::literal(path, run.span);
                self.script_file(run, "", &word, true);
            }
            return;
        }
        for text in written {
            let Some(text) = text else {
                self.undecided(UndecidedReason::UnreadableInput, run.span);
                continue;
            };
            let first = text.lines().next().unwrap_or("").to_owned();
            let named = first.strip_prefix("#!").and_then(|l| l.split(['/', ' ']).next_back());
            match interpreter.or(named).filter(|n| !n.ends_with("sh")) {
                Some(interpreter) => self.analysis.inline.push(Inline {
                    interpreter: interpreter.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned(),
                    code: Some(text),
                    span: run.span,
                    nested_in: run.nested_in.clone(),
                    remote: run.remote.clone(),
                }),
                None => self.script_text(run, &path, text, true),
            }
        }
    }

    /// `cd FOLDER`: from here on relative paths mean something else.
    pub(super) fn change_folder(&mut self, command: &Simple) {
        let name = command.words.first().and_then(Word::text);
        match name.as_deref() {
            Some("cd") => {
                let plain = !command.flow.conditional
                    && !command.flow.subshell
                    && command.flow.function.is_none()
                    && command.words.len() == 2;
                let to = command
                    .words
                    .get(1)
                    .and_then(Word::text)
                    .filter(|t| plain && !t.starts_with(['-', '~', '/']));
                self.folder = self.folder.take().zip(to).map(|(folder, to)| join(&folder, &to));
            }
            Some("pushd" | "popd") => self.folder = None,
            _ => {}
        }
    }
}

/// A path without what means the same folder.
fn plain(path: &str) -> String {
    let mut path = path;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    path.to_owned()
}

/// A path seen from where `folder` is seen from.
pub(super) fn join(folder: &str, path: &str) -> String {
    let path = plain(path);
    if folder.is_empty() { path } else { format!("{folder}/{path}") }
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
