//! The command catalogue: TOML in, a checked [`CommandCatalogue`] out.
//!
//! Knows the shape of `rules/shell.toml` and of user additions to it. Knows nothing
//! of shells or grammars; `crate::command` applies it. Must not import `command`.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::base::effect::Effect;
use crate::base::site::TargetKind;

/// The catalogue that ships with the program.
pub const BUILT_IN: &str = include_str!("../../rules/shell.toml");

/// Why a catalogue cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// The text is no TOML, or has an unknown or wrongly typed key.
    #[error("{0}")]
    Syntax(#[from] toml::de::Error),
    /// The schema number is not known.
    #[error("schema {0} of the command catalogue is not known; this version reads schema 1")]
    Schema(u32),
    /// An entry can never match.
    #[error("the entry for `{name}` of the command catalogue {fault}")]
    Entry {
        /// The entry's first name.
        name: String,
        /// What is wrong with it.
        fault: &'static str,
    },
}

/// How a command writes its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OptionStyle {
    /// `-x`, clusters (`-xy`), `--long`, `--long=value`.
    #[default]
    Gnu,
    /// `/X`, `//X` or `-X`, letter case ignored.
    Slash,
    /// `-Name value`, letter case ignored, unique prefixes allowed.
    Powershell,
}

/// A command that acts on processes.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CommandRule {
    /// Names, compared with the last path component; a second word must follow as first operand.
    pub names: Vec<String>,
    /// The name to report, if not the one written.
    #[serde(default)]
    pub canonical: Option<String>,
    /// What it does.
    pub effect: Effect,
    /// How it writes options.
    #[serde(default)]
    pub style: OptionStyle,
    /// Operands that select the action, each one or more words; empty: the command itself acts.
    #[serde(default)]
    pub verbs: Vec<String>,
    /// Which operand the verb is, from 0.
    #[serde(default)]
    pub verb_at: usize,
    /// A verb that is not known counts as an action (with confidence `possible`).
    #[serde(default)]
    pub free_verb: bool,
    /// Options of which one must be given.
    #[serde(default)]
    pub with: Vec<String>,
    /// Options of which one must be given with a value that matches (`*` at the end: any rest).
    #[serde(default)]
    pub with_values: std::collections::BTreeMap<String, String>,
    /// Texts of which one must stand in the operands joined by blanks.
    #[serde(default)]
    pub with_text: Vec<String>,
    /// Options that make it do nothing to processes.
    #[serde(default)]
    pub without: Vec<String>,
    /// Options that take a value.
    #[serde(default)]
    pub value_options: Vec<String>,
    /// Options end at the first operand that is no verb.
    #[serde(default)]
    pub options_first: bool,
    /// `-9`, `-KILL` and their like name a signal.
    #[serde(default)]
    pub dash_signals: bool,
    /// Options whose value is a signal; signal 0 is a probe.
    #[serde(default)]
    pub signal_options: Vec<String>,
    /// What its operands name.
    #[serde(default)]
    pub target: Option<TargetKind>,
    /// Options whose value is a target too.
    #[serde(default)]
    pub target_options: Vec<String>,
    /// Without a target it acts on all that it manages.
    #[serde(default)]
    pub whole_without_target: bool,
    /// Only the guard counts it: in a file it is no site.
    #[serde(default)]
    pub guard_only: bool,
}

impl CommandRule {
    /// The reported name of the command when written as `name`.
    pub fn reported<'a>(&'a self, name: &'a str) -> &'a str {
        self.canonical.as_deref().unwrap_or(name)
    }
}

/// What a prefix does with its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrefixForm {
    /// They are a command.
    #[default]
    Words,
    /// A string option holds a script; else a file or standard input does.
    Shell,
    /// A string option holds a script; nothing else is run.
    StringOption,
    /// Joined by blanks they are a script.
    Joined,
    /// What follows a string option, joined by blanks, is a script.
    JoinedOption,
    /// Each is a script.
    Each,
    /// They are a command that gets words from standard input.
    Xargs,
    /// `-exec` and its like introduce commands.
    Find,
    /// They replace the shell.
    Exec,
    /// The first is a script that runs on a signal.
    Trap,
    /// `name=script` definitions.
    Alias,
    /// A module option names the command; another operand is a script file.
    Module,
    /// The first operand is a file of commands for this very shell.
    Source,
    /// Standard input is a script, or a file that an option names.
    Input,
    /// As `Xargs`; operands may follow `:::`, and without a command each of them is a script.
    Parallel,
    /// With one of the string options, what later names mean is not known.
    Opaque,
}

/// A command that runs another one.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PrefixRule {
    /// Names, compared with the last path component.
    pub names: Vec<String>,
    /// First operands that make it a prefix, separated by blanks.
    #[serde(default)]
    pub verb: Option<String>,
    /// What its operands are.
    #[serde(default)]
    pub form: PrefixForm,
    /// How many operands stand before the command.
    #[serde(default)]
    pub skip: usize,
    /// `NAME=value` operands stand before the command.
    #[serde(default)]
    pub assignments: bool,
    /// A single operand is a script.
    #[serde(default)]
    pub joined_if_one: bool,
    /// The command runs on the host that the last skipped operand names.
    #[serde(default)]
    pub remote: bool,
    /// Only the guard sees through it: in a file it is no site.
    #[serde(default)]
    pub guard_only: bool,
    /// The command sees other processes than those of this host, or under other numbers.
    #[serde(default)]
    pub elsewhere: bool,
    /// Options that take a value.
    #[serde(default)]
    pub value_options: Vec<String>,
    /// Options whose value is a script.
    #[serde(default)]
    pub string_options: Vec<String>,
    /// Options that name the folder that the command runs in.
    #[serde(default)]
    pub folder_options: Vec<String>,
    /// Options whose value is split into the command's words.
    #[serde(default)]
    pub split_options: Vec<String>,
    /// Options whose value is the command's name, the rest its arguments.
    #[serde(default)]
    pub module_options: Vec<String>,
    /// Options with which nothing is run.
    #[serde(default)]
    pub query_options: Vec<String>,
}

/// A command whose output is process ids.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SelectorRule {
    /// Names, compared with the last path component.
    pub names: Vec<String>,
    /// What its operands name.
    pub target: TargetKind,
    /// How it writes options.
    #[serde(default)]
    pub style: OptionStyle,
    /// Selects lines of its input rather than processes of its own.
    #[serde(default)]
    pub lines: bool,
    /// Options that take a value.
    #[serde(default)]
    pub value_options: Vec<String>,
    /// Options whose value is a target.
    #[serde(default)]
    pub target_options: Vec<String>,
}

/// A program whose arguments are text, names of files or questions: it runs none of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TextRule {
    /// Names, compared with the last path component; a second word must be the first operand.
    pub names: Vec<String>,
    /// Options with which it does run something; a longer option that begins so counts too.
    #[serde(default)]
    pub unless: Vec<String>,
}

/// A program that runs a task which a file of the project defines.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TaskRule {
    /// Names, compared with the last path component.
    pub names: Vec<String>,
    /// The files that may define its tasks.
    pub files: Vec<String>,
    /// Operands of which one must stand before the task's name; empty: none does.
    #[serde(default)]
    pub verbs: Vec<String>,
    /// Operands that are themselves the name of a task.
    #[serde(default)]
    pub tasks: Vec<String>,
    /// Any operand that is no command of the program is the name of a task.
    #[serde(default)]
    pub bare: bool,
    /// Options that take a value.
    #[serde(default)]
    pub value_options: Vec<String>,
    /// Options that give the tasks themselves, or name another file for them.
    #[serde(default)]
    pub file_options: Vec<String>,
    /// Options that name the folder.
    #[serde(default)]
    pub folder_options: Vec<String>,
}

/// What the guard alone needs to know of names.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Names {
    /// Words that, beside a daemon's name, say that it is to be ended.
    #[serde(default)]
    pub ending: Vec<String>,
    /// Variables whose value is run as a command.
    #[serde(default)]
    pub code_variables: Vec<String>,
    /// Variables whose value names a file that is run.
    #[serde(default)]
    pub file_variables: Vec<String>,
    /// Units and containers that are known to hold no agent's daemon.
    #[serde(default)]
    pub known_units: Vec<String>,
    /// Files that are commonly sourced and only set variables.
    #[serde(default)]
    pub settings_files: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Broad {
    #[serde(default)]
    names: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Raw {
    schema: u32,
    #[serde(default)]
    prefix_variables: Vec<String>,
    #[serde(default)]
    interpreters: Vec<String>,
    #[serde(default)]
    broad: Broad,
    #[serde(default)]
    prefix: Vec<PrefixRule>,
    #[serde(default)]
    command: Vec<CommandRule>,
    #[serde(default)]
    selector: Vec<SelectorRule>,
    #[serde(default)]
    text: Vec<TextRule>,
    #[serde(default)]
    task: Vec<TaskRule>,
    #[serde(default)]
    names: Names,
}

/// A use of a program that takes its arguments for text: its first operand, and the options that make it another use.
type TextUse = (Option<String>, Vec<String>);

/// Commands, prefixes and selectors, by name.
#[derive(Debug, Clone, Default)]
pub struct CommandCatalogue {
    commands: Vec<CommandRule>,
    prefixes: Vec<PrefixRule>,
    selectors: Vec<SelectorRule>,
    by_command: FxHashMap<String, Vec<usize>>,
    by_prefix: FxHashMap<String, Vec<usize>>,
    by_selector: FxHashMap<String, usize>,
    texts: FxHashMap<String, Vec<TextUse>>,
    tasks: Vec<TaskRule>,
    /// What the guard alone needs to know of names.
    pub names: Names,
    /// Variables that by convention hold a prefix.
    pub prefix_variables: Vec<String>,
    /// Programs that run a script given as operand.
    pub interpreters: Vec<String>,
    /// Process names under which many unrelated programs run.
    pub broad: Vec<String>,
}

impl CommandCatalogue {
    /// The catalogue that ships with the program. A fault in it is caught by a test.
    pub fn built_in() -> CommandCatalogue {
        CommandCatalogue::shared().clone()
    }

    /// The embedded catalogue, read once for the whole process.
    pub fn shared() -> &'static CommandCatalogue {
        static SHARED: LazyLock<CommandCatalogue> =
            LazyLock::new(|| CommandCatalogue::parse(BUILT_IN).unwrap_or_default());
        &SHARED
    }

    /// Reads a catalogue.
    ///
    /// # Errors
    /// If the text is no TOML, has an unknown key or schema, or an entry that can never match.
    pub fn parse(text: &str) -> Result<CommandCatalogue, CatalogueError> {
        let raw: Raw = toml::from_str(text)?;
        if raw.schema != 1 {
            return Err(CatalogueError::Schema(raw.schema));
        }
        let mut catalogue = CommandCatalogue {
            prefix_variables: raw.prefix_variables,
            interpreters: raw.interpreters,
            broad: raw.broad.names,
            names: raw.names,
            tasks: raw.task,
            ..CommandCatalogue::default()
        };
        for rule in raw.text {
            check_names(&rule.names)?;
            for name in &rule.names {
                let (first, second) = match name.split_once(' ') {
                    Some((first, second)) => (first, Some(second.to_owned())),
                    None => (name.as_str(), None),
                };
                catalogue.texts.entry(first.to_owned()).or_default().push((second, rule.unless.clone()));
            }
        }
        for rule in raw.prefix {
            check_names(&rule.names)?;
            catalogue.push_prefix(rule);
        }
        for rule in raw.command {
            check_names(&rule.names)?;
            catalogue.push_command(rule);
        }
        for rule in raw.selector {
            check_names(&rule.names)?;
            let at = catalogue.selectors.len();
            for name in &rule.names {
                catalogue.by_selector.entry(name.to_ascii_lowercase()).or_insert(at);
            }
            catalogue.selectors.push(rule);
        }
        Ok(catalogue)
    }

    /// Adds a command, as from a user's `[[primitive]]` of language `shell`: `name` is the
    /// command with the verb words that it needs, separated by blanks.
    pub fn add(&mut self, name: &str, effect: Effect) {
        let mut words = name.split_whitespace();
        let Some(first) = words.next() else { return };
        let verb = words.collect::<Vec<_>>().join(" ");
        self.push_command(CommandRule {
            names: vec![first.to_owned()],
            canonical: None,
            effect,
            style: OptionStyle::Gnu,
            verbs: if verb.is_empty() { Vec::new() } else { vec![verb] },
            verb_at: 0,
            free_verb: false,
            with: Vec::new(),
            with_values: std::collections::BTreeMap::new(),
            with_text: Vec::new(),
            without: Vec::new(),
            value_options: Vec::new(),
            options_first: false,
            dash_signals: false,
            signal_options: Vec::new(),
            target: Some(TargetKind::Name),
            target_options: Vec::new(),
            whole_without_target: false,
            guard_only: false,
        });
    }

    fn push_prefix(&mut self, rule: PrefixRule) {
        let at = self.prefixes.len();
        for name in &rule.names {
            self.by_prefix.entry(name.to_ascii_lowercase()).or_default().push(at);
        }
        self.prefixes.push(rule);
    }

    fn push_command(&mut self, rule: CommandRule) {
        let at = self.commands.len();
        for name in &rule.names {
            let first = name.split(' ').next().unwrap_or(name);
            self.by_command.entry(first.to_ascii_lowercase()).or_default().push(at);
        }
        self.commands.push(rule);
    }

    /// The rules for a command of that name (the first word of a rule's name). Letter case
    /// counts, but for the commands of Windows.
    pub fn commands<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a CommandRule> {
        let at = self.by_command.get(&name.to_ascii_lowercase()).map_or(&[][..], Vec::as_slice);
        at.iter().filter_map(|&i| self.commands.get(i)).filter(move |rule| {
            rule.style != OptionStyle::Gnu || rule.names.iter().any(|n| n.split(' ').next() == Some(name))
        })
    }

    /// The prefix rules for a command of that name. Letter case counts, but for the shells of Windows.
    pub fn prefixes<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a PrefixRule> {
        let at = self.by_prefix.get(&name.to_ascii_lowercase()).map_or(&[][..], Vec::as_slice);
        at.iter()
            .filter_map(|&i| self.prefixes.get(i))
            .filter(move |rule| rule.form == PrefixForm::JoinedOption || rule.names.iter().any(|n| n == name))
    }

    /// The selector of that name.
    pub fn selector(&self, name: &str) -> Option<&SelectorRule> {
        self.by_selector.get(&name.to_ascii_lowercase()).and_then(|&i| self.selectors.get(i))
    }

    /// Whether a program of that name, with these operands and options, takes its arguments for text.
    pub fn only_text(&self, name: &str, operand: Option<&str>, options: &[&str]) -> bool {
        self.texts.get(name).is_some_and(|rules| {
            rules.iter().any(|(second, unless)| {
                second.as_deref().is_none_or(|second| operand == Some(second))
                    && !unless.iter().any(|u| options.iter().any(|o| o.starts_with(u.as_str())))
            })
        })
    }

    /// The rule of a program that runs a project's tasks.
    pub fn task(&self, name: &str) -> Option<&TaskRule> {
        self.tasks.iter().find(|rule| rule.names.iter().any(|n| n == name))
    }

    /// Whether some command of that name ends others.
    pub fn ends_others(&self, name: &str) -> bool {
        self.commands(name).any(|rule| matches!(rule.effect, Effect::Kill | Effect::Supervise))
    }

    /// Whether the name of a command that ends others stands anywhere in a text, quoted or not, or taken
    /// apart by expansions that are empty.
    pub fn named_in(&self, text: &str) -> bool {
        let mut bare: String = text.chars().filter(|c| !matches!(c, '\'' | '"' | '\\' | '`')).collect();
        for empty in ["$()", "$@", "$*"] {
            bare = bare.replace(empty, "");
        }
        [text, &bare].iter().any(|text| {
            text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))).any(|word| {
                self.by_command.contains_key(&word.to_ascii_lowercase()) && self.ends_others(word)
            })
        })
    }

    /// Whether a text holds a word that, beside a daemon's name, says that it is to be ended.
    pub fn speaks_of_ending(&self, text: &str) -> bool {
        text.split(|c: char| !c.is_alphanumeric())
            .any(|word| self.names.ending.iter().any(|known| known.eq_ignore_ascii_case(word)))
    }

    /// The first words of all command names, sorted: a text without any of them (letter
    /// case ignored) runs no catalogued command by a literal name.
    pub fn command_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .commands
            .iter()
            .flat_map(|rule| rule.names.iter().map(|n| n.split(' ').next().unwrap_or(n)))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Every command rule, in the order of the file.
    pub fn rules(&self) -> &[CommandRule] {
        &self.commands
    }

    /// Whether that name is a program that runs a script.
    pub fn is_interpreter(&self, name: &str) -> bool {
        let stem = version_stem(name);
        self.interpreters.iter().any(|known| known == name || known == stem)
    }
}

/// A program name without a version suffix: `python3.12` gives `python3`.
pub fn version_stem(name: &str) -> &str {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if stem.len() == name.len() || stem.is_empty() {
        return name;
    }
    // Keep the major version: catalogues list `python3`.
    let digits = name[stem.len()..].find('.').map_or(name.len(), |at| stem.len() + at);
    name.get(..digits).unwrap_or(name)
}

fn check_names(names: &[String]) -> Result<(), CatalogueError> {
    let Some(first) = names.first() else {
        return Err(CatalogueError::Entry { name: String::new(), fault: "has no name" });
    };
    if names.iter().any(|name| name.trim().is_empty() || name.contains('/')) {
        return Err(CatalogueError::Entry {
            name: first.clone(),
            fault: "has an empty name or one with a path, which can never match",
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_catalogue_is_well_formed() {
        let catalogue = CommandCatalogue::parse(BUILT_IN).unwrap();
        assert!(catalogue.commands("pkill").next().is_some());
        assert!(catalogue.prefixes("sudo").next().is_some());
        assert!(catalogue.command_names().contains(&"systemctl"));
    }

    #[test]
    fn an_unknown_key_and_a_name_that_never_matches_are_refused() {
        assert!(
            CommandCatalogue::parse("schema = 1\n[[command]]\nnames=['x']\neffect='kill'\nverb=1\n").is_err()
        );
        assert!(
            CommandCatalogue::parse("schema = 1\n[[command]]\nnames=['/bin/x']\neffect='kill'\n").is_err()
        );
        assert!(CommandCatalogue::parse("schema = 2\n").is_err());
    }

    #[test]
    fn versions_are_cut_from_program_names() {
        assert_eq!(version_stem("python3.12"), "python3");
        assert_eq!(version_stem("python3"), "python3");
        assert_eq!(version_stem("node"), "node");
    }
}
