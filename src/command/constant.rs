//! Substitutions whose output the text itself fixes: `$(echo x)`, `$(which x)`,
//! `echo … | base64 -d`, and here-documents that `cat` passes on.

use std::ops::Range;

use base64::Engine as _;

use super::engine::Engine;
use super::script::{Input, Simple};
use super::word::Word;

/// How many pipeline stages or substitutions are followed, one in the other.
const MAX_DEPTH: u32 = 6;

impl Engine<'_> {
    /// What the commands of a range print, if the text says so. The last command of the
    /// range prints; those before it must be its own pipeline.
    pub(super) fn constant(&self, scene: u32, commands: &Range<u32>, depth: u32) -> Option<String> {
        if depth > MAX_DEPTH {
            return None;
        }
        let script = &self.scene(scene)?.script;
        let (last, before) = script.slice(commands).split_last()?;
        // Commands that the last one reads from, or whose output stands in its words, print nothing else.
        let mut first = before.len();
        while let Some(earlier) = script
            .slice(commands)
            .get(first..)
            .and_then(|used| used.iter().filter_map(earliest).min())
            .and_then(|at| (at as usize).checked_sub(commands.start as usize))
            && earlier < first
        {
            first = earlier;
        }
        if !before.get(..first)?.iter().all(is_silent) {
            return None;
        }
        self.prints(scene, last, depth)
    }

    fn prints(&self, scene: u32, command: &Simple, depth: u32) -> Option<String> {
        let words = self.known_words(scene, command, depth)?;
        let (name, arguments) = words.split_first()?;
        let name = name.rsplit('/').next().unwrap_or(name);
        match name {
            "echo" => {
                let skip =
                    arguments.iter().take_while(|a| matches!(a.as_str(), "-n" | "-e" | "-E" | "-ne")).count();
                let escapes = arguments.iter().take(skip).any(|a| a.contains('e'));
                let text = arguments.get(skip..)?.join(" ");
                Some(if escapes { super::quote::ansi_c(&text) } else { text } + "\n")
            }
            "printf" => {
                let (format, values) = arguments.split_first()?;
                let format = super::quote::ansi_c(format);
                match values {
                    [] if !format.contains('%') => Some(format),
                    _ if matches!(format.trim_end_matches('\n'), "%s" | "%b") => {
                        let end = if format.ends_with('\n') { "\n" } else { "" };
                        Some(values.iter().map(|v| format!("{v}{end}")).collect())
                    }
                    _ => None,
                }
            }
            "which" | "type" | "command" | "whence" => {
                let name = arguments.iter().rfind(|a| !a.starts_with('-'))?;
                Some(name.clone())
            }
            "cat" | "tee" if arguments.is_empty() || name == "tee" => {
                self.input_text(scene, &command.input, depth + 1)
            }
            "base64" if arguments.iter().any(|a| matches!(a.as_str(), "-d" | "-D" | "--decode" | "-di")) => {
                let text = self.input_text(scene, &command.input, depth + 1)?;
                let packed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
                let bytes = base64::engine::general_purpose::STANDARD.decode(packed).ok()?;
                String::from_utf8(bytes).ok()
            }
            _ => None,
        }
    }

    /// What a command reads, if the text says so.
    pub(super) fn input_text(&self, scene: u32, input: &Input, depth: u32) -> Option<String> {
        match input {
            Input::Pipe(range) => self.constant(scene, range, depth + 1),
            Input::Text(word) => self.known(scene, word, None, depth).map(|words| words.join(" ")),
            Input::Inherited | Input::File(_) => None,
        }
    }

    fn known_words(&self, scene: u32, command: &Simple, depth: u32) -> Option<Vec<String>> {
        let mut out = Vec::new();
        for word in &command.words {
            out.extend(self.known(scene, word, command.flow.function, depth)?);
        }
        Some(out)
    }

    /// A word's only alternative, if it has one and that is known.
    fn known(&self, scene: u32, word: &Word, function: Option<u32>, depth: u32) -> Option<Vec<String>> {
        let environment = &self.scene(scene)?.environment;
        let [words] = environment.expand(word, function).try_into().ok()?;
        let mut out = Vec::new();
        for word in words {
            let mut text = String::new();
            for piece in &word.parts {
                match &piece.part {
                    super::word::Part::Literal(literal) => text.push_str(literal),
                    super::word::Part::Output { scene, commands, .. } => {
                        text.push_str(self.constant(*scene, commands, depth + 1)?.trim_end_matches('\n'));
                    }
                    _ => return None,
                }
            }
            out.push(text);
        }
        Some(out)
    }
}

/// The first command that a command's words or input refer to.
fn earliest(command: &Simple) -> Option<u32> {
    let words = command.words.iter().flat_map(|w| &w.parts).filter_map(|p| match &p.part {
        super::word::Part::Output { commands, .. } | super::word::Part::File { commands, .. } => {
            Some(commands.start)
        }
        _ => None,
    });
    let input = match &command.input {
        Input::Pipe(range) => Some(range.start),
        _ => None,
    };
    words.chain(input).min()
}

fn is_silent(command: &Simple) -> bool {
    matches!(
        command.words.first().and_then(Word::text).as_deref(),
        Some("cd" | "true" | ":" | "set" | "umask")
    )
}
