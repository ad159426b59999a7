//! Prefixes: commands that only run another one. Each takes its own options and
//! operands off, or hands a script to [`Engine::nest`].

use rustc_hash::FxHashMap;

use crate::base::text::Origin;
use crate::data::commands::{OptionStyle, PrefixForm, PrefixRule};

use super::analysis::UndecidedReason;
use super::arguments::{self, Arguments, Reading};
use super::engine::{Engine, Nested, Run};
use super::script::Input;
use super::word::{Part, Word};

/// What is left after a prefix.
pub(super) enum Peeled {
    /// These words are the command.
    Words(Vec<Word>),
    /// Everything was followed, or nothing is run.
    Done,
    /// The rule does not hold here.
    No,
}

impl Engine<'_> {
    /// Takes one prefix off.
    pub(super) fn peel(&mut self, run: &mut Run, name: &str, rule: &PrefixRule) -> Peeled {
        let verb: Vec<&str> = rule.verb.as_deref().map(|v| v.split(' ').collect()).unwrap_or_default();
        let rest = run.words.get(1..).unwrap_or(&[]).to_vec();
        match rule.form {
            PrefixForm::Find => return self.find(run, name, &rest),
            PrefixForm::Module => return self.module(run, name, rule, &rest),
            PrefixForm::JoinedOption => return self.joined_option(run, name, rule, &rest),
            _ => {}
        }
        let reading = Reading {
            style: OptionStyle::Gnu,
            value_options: &rule.value_options,
            options_end: match rule.form {
                PrefixForm::StringOption => None,
                _ => Some(verb.len() + 1),
            },
            ..Reading::default()
        };
        // Options whose value is a script or a command's words take a value too; a shell's `-c` is a mere flag.
        let mut takes = rule.value_options.clone();
        if rule.form != PrefixForm::Shell {
            takes.extend(rule.string_options.iter().cloned());
        }
        takes.extend(rule.split_options.iter().chain(&rule.module_options).cloned());
        let given = arguments::read(&rest, &Reading { value_options: &takes, ..reading });
        if !verb.is_empty() {
            let words = given.operands.get(..verb.len()).unwrap_or(&[]);
            let holds = words.len() == verb.len()
                && words.iter().zip(&verb).all(|(w, v)| w.text().as_deref() == Some(v));
            if !holds {
                return Peeled::No;
            }
        }
        if given.has(&rule.query_options) {
            return Peeled::Done;
        }
        if rule.form == PrefixForm::Opaque {
            if given.has(&rule.string_options) {
                self.undecided(UndecidedReason::Renamed, run.span);
                return Peeled::Done;
            }
            return Peeled::No;
        }
        if rule.remote && self.strict {
            // `-o ProxyCommand=…` runs here.
            let values: Vec<String> =
                given.options.iter().filter_map(|o| o.value.as_ref()).map(Word::display).collect();
            self.note_loose(run, name, values);
        }
        let by = if verb.is_empty() { name.to_owned() } else { format!("{name} {}", verb.join(" ")) };
        self.apply(run, &by, rule, &given, verb.len())
    }

    fn apply(
        &mut self,
        run: &mut Run,
        by: &str,
        rule: &PrefixRule,
        given: &Arguments,
        verbs: usize,
    ) -> Peeled {
        if given.has(&rule.folder_options) {
            // Relative paths mean something else there; from here on none is followed.
            self.folder = None;
        }
        let scripts: Vec<Word> = given.values(&rule.string_options).map(|(_, w)| w.clone()).collect();
        if rule.form != PrefixForm::Shell && !scripts.is_empty() {
            for script in scripts {
                self.nest(
                    run,
                    &Nested { words: &[script], by: &format!("{by} -c"), child: true, own_places: false },
                );
            }
            return Peeled::Done;
        }
        let mut words: Vec<Word> = given.operands.get(verbs..).unwrap_or(&[]).to_vec();
        if let Some((_, split)) = given.values(&rule.split_options).next() {
            let joined: Vec<Word> = std::iter::once(split.clone()).chain(words).collect();
            self.nest(run, &Nested { words: &joined, by, child: true, own_places: false });
            return Peeled::Done;
        }
        if let Some((_, module)) = given.values(&rule.module_options).next() {
            words.insert(0, module.clone());
            return step(run, by, words);
        }
        match rule.form {
            PrefixForm::Words | PrefixForm::Exec => {
                if rule.assignments {
                    let first = words.iter().position(|w| !is_assignment(w)).unwrap_or(words.len());
                    for word in words.drain(..first) {
                        if self.strict {
                            self.set_by_word(run, &word);
                            run.sets.push(word.display());
                        }
                    }
                }
                words.drain(..rule.skip.min(words.len()));
                separator(&mut words);
                // `flock FILE -c SCRIPT`.
                let script = words.first().and_then(Word::text);
                if script.is_some_and(|t| rule.string_options.contains(&t)) && words.len() > 1 {
                    self.nest(
                        run,
                        &Nested {
                            words: words.get(1..2).unwrap_or(&[]),
                            by: &format!("{by} -c"),
                            child: true,
                            own_places: false,
                        },
                    );
                    return Peeled::Done;
                }
                if by == "coproc" && words.get(1).and_then(Word::text).as_deref() == Some("{") {
                    words.drain(..1);
                }
                if words.is_empty() && self.strict && by != "exec" {
                    // A shell of another user reads what stands before it.
                    return self.standard_input(run, by);
                }
                if rule.form == PrefixForm::Exec {
                    // `exec {fd}<file` only redirects; the grammar gives the name as a word.
                    words.retain(|w| !is_descriptor_name(w));
                    run.exec |= run.may_exec && !words.is_empty();
                }
                if rule.joined_if_one && words.len() == 1 && words.iter().any(|w| w.leading().contains(' ')) {
                    self.nest(run, &Nested { words: &words, by, child: true, own_places: false });
                    return Peeled::Done;
                }
                if rule.elsewhere {
                    run.remote.get_or_insert_with(|| "another namespace".to_owned());
                }
                step(run, by, words)
            }
            PrefixForm::Shell => self.shell(run, by, rule, given, words),
            PrefixForm::StringOption if self.strict && by == "su" => self.standard_input(run, by),
            PrefixForm::StringOption => Peeled::Done,
            PrefixForm::Source => self.source(run, by, words),
            PrefixForm::Input => self.script_input(run, by, given, &words),
            PrefixForm::Parallel => self.parallel(run, by, words),
            PrefixForm::Joined => {
                let hosts: Vec<Word> = words.drain(..rule.skip.min(words.len())).collect();
                separator(&mut words);
                if rule.remote {
                    run.remote = hosts.first().and_then(remote_host).or(run.remote.take());
                    if words.is_empty() {
                        return self.standard_input(run, by);
                    }
                }
                let child = rule.remote || by == "watch";
                self.risky(run, &words);
                self.nest(run, &Nested { words: &words, by, child, own_places: false });
                Peeled::Done
            }
            PrefixForm::Each => {
                for word in &words {
                    self.nest(
                        run,
                        &Nested { words: std::slice::from_ref(word), by, child: true, own_places: false },
                    );
                }
                Peeled::Done
            }
            PrefixForm::Xargs => {
                let replaced = given.options.iter().find(|o| matches!(o.name.as_str(), "-I" | "-i" | "-J"));
                let more = match &run.input {
                    Some((scene, Input::Pipe(range))) => {
                        let commands = range.clone();
                        Word::of(Part::Output { scene: *scene, commands, quoted: true }, run.span)
                    }
                    Some((_, Input::Text(word))) => word.clone(),
                    _ => Word::of(Part::Free(Origin::Unknown), run.span),
                };
                match replaced
                    .map(|o| o.value.as_ref().and_then(Word::text).unwrap_or_else(|| "{}".to_owned()))
                {
                    Some(mark) => {
                        for word in &mut words {
                            *word = filled(word, &mark, &more);
                        }
                    }
                    None if words.is_empty() => {}
                    None => words.push(more),
                }
                step(run, by, words)
            }
            PrefixForm::Trap => {
                if let Some(handler) = words.first()
                    && !matches!(handler.text().as_deref(), Some("-" | ""))
                    && words.len() > 1
                {
                    self.nest(
                        run,
                        &Nested { words: std::slice::from_ref(handler), by, child: false, own_places: false },
                    );
                }
                Peeled::Done
            }
            PrefixForm::Alias => {
                for word in &words {
                    if let Some(value) = alias_value(word) {
                        self.nest(run, &Nested { words: &[value], by, child: false, own_places: false });
                    }
                }
                Peeled::Done
            }
            PrefixForm::Find | PrefixForm::Module | PrefixForm::JoinedOption | PrefixForm::Opaque => {
                Peeled::No
            }
        }
    }

    /// A script made of text that the caller's environment decides may be anything.
    pub(super) fn risky(&mut self, run: &Run, words: &[Word]) {
        let unknown = words.iter().flat_map(|w| &w.parts).any(|p| match &p.part {
            Part::Free(Origin::Unknown | Origin::Parameter(_)) | Part::Rest(_) => true,
            Part::Output { .. } => run.nested_in.is_empty() && matches!(words, [one] if one.only().is_some()),
            _ => false,
        });
        if unknown {
            self.undecided(UndecidedReason::FreeText, run.span);
        }
    }

    /// `find … -exec CMD {} ;`: every command among the operands.
    fn find(&mut self, run: &mut Run, name: &str, rest: &[Word]) -> Peeled {
        let mut i = 0;
        while let Some(word) = rest.get(i) {
            i += 1;
            let text = word.text().unwrap_or_default();
            let introduces = match name {
                "find" => matches!(text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"),
                _ => matches!(text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch"),
            };
            if !introduces {
                continue;
            }
            let mut words = Vec::new();
            while let Some(word) = rest.get(i) {
                i += 1;
                match word.text().as_deref() {
                    Some(";" | "+") => break,
                    Some("{}") => words.push(Word::of(Part::Free(Origin::Unknown), word.span)),
                    _ => words.push(word.clone()),
                }
            }
            let mut nested_in = run.nested_in.clone();
            nested_in.push(format!("{name} {text}"));
            if run.depth < 64 {
                self.follow(Run {
                    scene: run.scene,
                    words,
                    nested_in,
                    span: run.span,
                    function: run.function.clone(),
                    input: None,
                    remote: run.remote.clone(),
                    prefixed: true,
                    exec: false,
                    may_exec: false,
                    confidence: run.confidence,
                    depth: run.depth + 1,
                    expands: run.expands,
                    sets: Vec::new(),
                });
            }
        }
        Peeled::Done
    }

    /// `python -m NAME …`, `python -c CODE`, `python FILE`.
    fn module(&mut self, run: &mut Run, name: &str, rule: &PrefixRule, rest: &[Word]) -> Peeled {
        let mut i = 0;
        while let Some(word) = rest.get(i) {
            let text = word.leading();
            if text.starts_with('-') && text.ends_with('m') && !text.starts_with("--") && !word.is_free() {
                return step(run, &format!("{name} -m"), rest.get(i + 1..).unwrap_or(&[]).to_vec());
            }
            if !text.starts_with('-') || text == "-" || (text.ends_with('c') && !text.starts_with("--")) {
                break;
            }
            i += if rule.value_options.contains(&text) { 2 } else { 1 };
        }
        Peeled::No
    }

    /// `powershell -Command …`, `cmd /c …`.
    fn joined_option(&mut self, run: &mut Run, name: &str, rule: &PrefixRule, rest: &[Word]) -> Peeled {
        let at = rest.iter().position(|w| {
            w.text().is_some_and(|t| rule.string_options.iter().any(|o| o.eq_ignore_ascii_case(&t)))
        });
        if name.starts_with('p') {
            self.encoded(run, rest);
        }
        let words = match at {
            Some(at) => rest.get(at + 1..).unwrap_or(&[]),
            // PowerShell takes a bare word as a command too.
            None if name.starts_with('p') && rest.first().is_some_and(|w| !w.leading().starts_with('-')) => {
                rest
            }
            None => return Peeled::Done,
        };
        self.risky(run, words);
        self.nest(run, &Nested { words, by: name, child: true, own_places: false });
        Peeled::Done
    }

    /// PowerShell takes a whole program in base 64, and a file.
    fn encoded(&mut self, run: &Run, rest: &[Word]) {
        let hides = rest.iter().any(|w| {
            let text = w.leading().to_ascii_lowercase();
            ["-e", "-ec", "-enc", "-f", "-file"].contains(&text.as_str()) || text.starts_with("-encoded")
        });
        if hides {
            self.undecided(UndecidedReason::UnreadableInput, run.span);
        }
    }
}

fn step(run: &mut Run, by: &str, words: Vec<Word>) -> Peeled {
    run.nested_in.push(by.to_owned());
    run.prefixed = true;
    Peeled::Words(words)
}

/// Drops a `--` that introduces the command.
fn separator(words: &mut Vec<Word>) {
    let dashes = words.iter().position(|w| w.text().as_deref() == Some("--"));
    if let Some(at) = dashes
        && words.iter().take(at).all(|w| w.leading().starts_with('-') || at == 0)
    {
        words.drain(..=at);
    }
}

/// A word with what stands for its mark.
fn filled(word: &Word, mark: &str, more: &Word) -> Word {
    let mut out = Word { parts: Vec::new(), span: word.span };
    for piece in &word.parts {
        let Part::Literal(text) = &piece.part else {
            out.parts.push(piece.clone());
            continue;
        };
        for (i, part) in text.split(mark).enumerate() {
            if i > 0 {
                out.parts.extend(more.parts.iter().cloned());
            }
            out.push(Part::Literal(part.to_owned()), piece.at);
        }
    }
    // Empty texts only mark where the word was split.
    if out.parts.len() > 1 {
        out.parts.retain(|p| !matches!(&p.part, Part::Literal(text) if text.is_empty()));
    }
    out
}

fn is_descriptor_name(word: &Word) -> bool {
    let text = word.text().unwrap_or_default();
    text.strip_prefix('{')
        .and_then(|t| t.strip_suffix('}'))
        .is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

fn is_assignment(word: &Word) -> bool {
    let text = word.leading();
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// The value of an alias definition `name=value`.
pub(super) fn alias_value(word: &Word) -> Option<Word> {
    let (name, _) = alias_parts(word)?;
    let mut left = name.len() + 1;
    let mut value = Word { parts: Vec::new(), span: word.span };
    for piece in &word.parts {
        match &piece.part {
            Part::Literal(text) if left >= text.len() => left -= text.len(),
            Part::Literal(text) => {
                let rest = text.get(left..).unwrap_or("").to_owned();
                value.push(Part::Literal(rest), piece.at.saturating_add(u32::try_from(left).unwrap_or(0)));
                left = 0;
            }
            part => value.push(part.clone(), piece.at),
        }
    }
    Some(value)
}

/// The name of an alias definition, and the word that defines it.
pub(super) fn alias_parts(word: &Word) -> Option<(String, &Word)> {
    let text = word.leading();
    let (name, _) = text.split_once('=')?;
    (!name.is_empty()).then(|| (name.to_owned(), word))
}

/// The aliases that a script defines: the last definition of each name.
pub(super) fn aliases(commands: &[super::script::Simple]) -> FxHashMap<String, Word> {
    commands
        .iter()
        .filter(|c| c.words.first().and_then(Word::text).as_deref() == Some("alias"))
        .flat_map(|c| c.words.iter().skip(1))
        .filter_map(|w| Some((alias_parts(w)?.0, alias_value(w)?)))
        .collect()
}

/// The host of an `ssh` operand, unless it is this one.
fn remote_host(word: &Word) -> Option<String> {
    let Some(text) = word.text() else { return Some(word.display()) };
    let host = text.strip_prefix("ssh://").unwrap_or(&text);
    let host = host.rsplit('@').next().unwrap_or(host);
    let host = host.trim_start_matches('[').split(']').next().unwrap_or(host);
    let local = matches!(
        host,
        "localhost" | "127.0.0.1" | "::1" | "localhost.localdomain" | "ip6-localhost" | "0.0.0.0"
    ) || host.starts_with("127.")
        || host.strip_prefix("localhost:").is_some_and(|p| p.chars().all(|c| c.is_ascii_digit()));
    (!local).then(|| host.to_owned())
}
