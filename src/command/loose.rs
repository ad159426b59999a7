//! Programs that no rule knows. One of them may run what its arguments say: a command among
//! them is followed as if it did, and all its texts are noted for whoever knows the names of daemons.
//!
//! Only strict mode comes here.

use super::analysis::{Loose, UndecidedReason};
use super::engine::{Engine, Run};
use super::follow::program_name;
use super::script::Input;
use super::word::{Part, Word};

/// How many arguments are looked at.
const MAX_ARGUMENTS: usize = 256;

impl Engine<'_> {
    /// Looks at a command that neither a rule nor a prefix took.
    pub(super) fn unmodelled(&mut self, run: &Run, name: &str) {
        if !self.strict || run.words.len() > MAX_ARGUMENTS {
            return;
        }
        let rest = run.words.get(1..).unwrap_or(&[]);
        let options: Vec<String> = rest.iter().map(Word::leading).filter(|w| w.starts_with('-')).collect();
        let operand = self.first_operand(name, rest);
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        if self.catalogue.only_text(name, operand.as_deref(), &options) {
            return;
        }
        match name {
            "git" => self.git_values(run, rest),
            "sed" | "gsed" if !rest.iter().any(|w| sed_runs(&w.display())) => return,
            "awk" | "gawk" | "mawk" | "nawk" if !rest.iter().any(|w| awk_runs(&w.display())) => return,
            _ => {}
        }
        let mut texts: Vec<String> = rest.iter().map(Word::display).collect();
        texts.insert(0, run.words.first().map(Word::display).unwrap_or_default());
        texts.extend(run.sets.iter().cloned());
        match &run.input {
            Some((scene, input @ Input::Pipe(_))) => texts.extend(self.input_text(*scene, input, 0)),
            Some((_, Input::Text(word))) => texts.push(word.display()),
            _ => {}
        }
        self.note_loose(run, name, texts);
        self.command_among(run, name, rest);
    }

    /// Notes the texts of a program.
    pub(super) fn note_loose(&mut self, run: &Run, name: &str, texts: Vec<String>) {
        if !self.strict || texts.is_empty() {
            return;
        }
        self.analysis.loose.push(Loose {
            program: name.to_owned(),
            texts,
            span: run.span,
            nested_in: run.nested_in.clone(),
            remote: run.remote.clone(),
        });
    }

    /// The first word that is no option, with the values of git's own options left out.
    fn first_operand(&self, name: &str, rest: &[Word]) -> Option<String> {
        let mut skip = false;
        for word in rest {
            let text = word.leading();
            if std::mem::take(&mut skip) {
                continue;
            }
            if !text.starts_with('-') {
                return word.text();
            }
            skip = name == "git" && matches!(text.as_str(), "-C" | "-c" | "--git-dir" | "--work-tree");
        }
        None
    }

    /// `-c alias.x='!CMD'`, `config alias.x '!CMD'`, `-c core.pager=CMD`.
    fn git_values(&mut self, run: &Run, rest: &[Word]) {
        for word in rest.iter().take(MAX_ARGUMENTS) {
            let text = word.display();
            let value = text.split_once('=').map_or(text.as_str(), |(_, value)| value);
            if self.catalogue.named_in(value) && value.trim_start_matches('!').contains(' ') {
                let by = format!("{} {}", "git", "-c");
                let script = Word::literal(value.trim_start_matches('!'), run.span);
                let words = &[script];
                self.nest(run, &super::engine::Nested { words, by: &by, child: true, own_places: false });
            }
        }
    }

    /// `firejail pkill x`: a command stands among the arguments.
    fn command_among(&mut self, run: &Run, name: &str, rest: &[Word]) {
        if run.depth >= 64 {
            return;
        }
        let shell = |word: &Word, next: Option<&Word>| {
            let known = program_name(word);
            let shell = matches!(known.as_deref(), Some("sh" | "bash" | "zsh" | "dash" | "ksh" | "fish"));
            shell && next.is_some_and(|n| n.leading().starts_with('-') && n.leading().contains('c'))
        };
        let at = rest.iter().enumerate().position(|(i, word)| {
            let next = rest.get(i + 1);
            let known = word.text().and(program_name(word)).is_some_and(|n| self.catalogue.ends_others(&n));
            (known && next.is_some()) || shell(word, next)
        });
        let Some(at) = at else { return };
        let mut nested_in = run.nested_in.clone();
        nested_in.push(name.to_owned());
        self.follow(Run {
            words: rest.get(at..).unwrap_or(&[]).to_vec(),
            nested_in,
            function: run.function.clone(),
            remote: run.remote.clone(),
            prefixed: true,
            depth: run.depth + 1,
            expands: run.expands,
            ..Run::bare_at(run.scene, run.span)
        });
    }

    /// Words that hold code in quotes, for commands that evaluate them: `let`, `test -v`, `unset`.
    pub(super) fn evaluated(&mut self, run: &Run, name: &str) {
        let evaluates = ["let", "test", "[", "[[", "unset", "declare", "typeset", "local", "printf", "read"]
            .contains(&name);
        if !self.strict || !evaluates {
            return;
        }
        let hidden = run.words.iter().skip(1).flat_map(|w| &w.parts).any(|piece| match &piece.part {
            Part::Literal(text) => {
                text.contains('[') && text.contains(['$', '`']) && self.catalogue.named_in(text)
            }
            _ => false,
        });
        if hidden {
            self.undecided(UndecidedReason::HiddenCode, run.span);
        }
    }
}

/// Whether a text of sed has the command `e`, or the flag of `s` that runs what it makes.
fn sed_runs(script: &str) -> bool {
    script.split([';', '\n', '{', '}']).any(|command| {
        let command = command.trim_start();
        if let Some(delimiter) = command.strip_prefix('s').and_then(|rest| rest.chars().next())
            && !delimiter.is_alphanumeric()
        {
            let flags = command.rsplit(delimiter).next().unwrap_or("");
            return flags.split_whitespace().next().unwrap_or("").contains('e');
        }
        let address = command
            .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | '!' | '~' | ' '));
        let rest = match address.strip_prefix('/') {
            Some(pattern) => pattern.rsplit('/').next().unwrap_or(pattern),
            None => address,
        };
        let rest = rest.trim_start_matches([' ', '!', 'I', 'M']);
        // Part of an address that holds a `;` looks so too: then it counts.
        rest == "e" || rest.starts_with("e ")
    })
}

/// Whether a text of awk runs commands: `system`, a pipe to or from one, a file of its own.
fn awk_runs(program: &str) -> bool {
    program.contains("system")
        || program.contains("getline")
        || program.starts_with("-f")
        || program.starts_with("@")
        || program.replace("||", "").contains('|')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_text_tools_that_run_commands() {
        for script in
            ["1e pkill x", "e", "$!e ls", "/a/e ls", "s/.*/ls/e", "s|a|b|ge", "p;e ls", "s/a/b/;s/x/y/Ie"]
        {
            assert!(sed_runs(script), "{script}");
        }
        for script in ["s/pkill/x/", "1,40p", "/kill/d", "s/a/be/g", "-i", "$!N;P;D", "s,kill,die,w f"] {
            assert!(!sed_runs(script), "{script}");
        }
        assert!(awk_runs("{ print $2 | \"sh\" }") && awk_runs("BEGIN { system(\"x\") }"));
        assert!(!awk_runs("/kill/ || /x/ {print $2}"));
    }
}
