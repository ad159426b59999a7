//! What a path says of primitives and commands: names, globs, effects, words.

use globset::{GlobBuilder, GlobMatcher};

use crate::base::effect::Effect;
use crate::data::suggest;
use crate::data::table::list;

/// A pattern over primitives.
#[derive(Debug, Clone)]
pub struct PrimitivePattern {
    /// As written.
    pub text: String,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Effect(Effect),
    Name(GlobMatcher),
}

impl PrimitivePattern {
    /// Reads a pattern, or says what is wrong with it and what was meant.
    pub fn read(text: &str) -> Result<PrimitivePattern, (String, String)> {
        let text = text.trim();
        if text.is_empty() {
            return Err(("a primitive must not be empty".to_owned(), String::new()));
        }
        let kind = if let Some(name) = text.strip_prefix("effect:") {
            let known = Effect::ALL.map(Effect::name);
            Kind::Effect(Effect::from_name(name.trim()).ok_or_else(|| {
                let near = suggest::did_you_mean(name, known);
                let help = if near.is_empty() { format!("the effects are {}", list(&known)) } else { near };
                (format!("`{name}` is no effect"), help)
            })?)
        } else {
            // `*` runs over dots: a name has no folders.
            let glob = GlobBuilder::new(text).literal_separator(false).build();
            let glob = glob.or_else(|_| GlobBuilder::new(&globset::escape(text)).build());
            let glob =
                glob.map_err(|e| (format!("`{text}` is no valid glob: {}", e.kind()), String::new()))?;
            Kind::Name(glob.compile_matcher())
        };
        Ok(PrimitivePattern { text: text.to_owned(), kind })
    }

    /// Whether it is one name, neither a glob nor an effect.
    pub fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Name(_)) && !self.text.contains(['*', '?', '[', '{'])
    }

    /// Whether it means this primitive.
    pub fn matches(&self, primitive: &str, effect: Effect) -> bool {
        match &self.kind {
            Kind::Effect(wanted) => *wanted == effect,
            Kind::Name(glob) => self.text == primitive || glob.is_match(primitive),
        }
    }
}

/// A command that a path names, as words after quoting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    /// As written.
    pub text: String,
    /// Its words.
    pub words: Vec<String>,
}

impl CommandPattern {
    /// Reads a command, or says what is wrong with it.
    pub fn read(text: &str) -> Result<CommandPattern, String> {
        match shlex::split(text) {
            Some(words) if words.iter().any(|w| !w.is_empty()) => {
                Ok(CommandPattern { text: text.to_owned(), words })
            }
            Some(_) => Err("a command must not be empty".to_owned()),
            None => Err(format!("the command `{text}` has an open quote")),
        }
    }

    /// Whether a command's words are those that this names: the same program, and every
    /// further word of the pattern among the command's, in order. `None` if they are not;
    /// otherwise whether the pattern names the program alone and says nothing of a target.
    pub fn matches(&self, words: &[String], primitive: &str) -> Option<bool> {
        let (program, rest) = self.words.split_first()?;
        let (called, arguments) = words.split_first()?;
        if base_name(program) != base_name(called) {
            return None;
        }
        let mut arguments = arguments.iter();
        rest.iter()
            .all(|wanted| arguments.any(|word| word == wanted))
            .then(|| rest.is_empty() || self.words.iter().map(String::as_str).eq(primitive.split(' ')))
    }
}

/// The last part of a path.
fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn names_globs_and_effects() {
        let matches = |pattern: &str, name: &str| {
            PrimitivePattern::read(pattern).unwrap().matches(name, Effect::Replace)
        };
        assert!(matches("os.execv", "os.execv"));
        assert!(!matches("os.execv", "os.execve"));
        assert!(matches("os.exec*", "os.execvpe"));
        assert!(matches("effect:replace", "nix::unistd::execv"));
        assert!(!matches("effect:kill", "os.execv"));
        assert!(PrimitivePattern::read("effect:kil").unwrap_err().1.contains("`kill`"));
    }

    #[test]
    fn commands_match_by_words_and_a_bare_one_says_so() {
        let full = CommandPattern::read("pkill -f mcp_server.py").unwrap();
        assert_eq!(full.matches(&words("/usr/bin/pkill -f mcp_server.py"), "pkill"), Some(false));
        assert_eq!(full.matches(&words("pkill -9 -f mcp_server.py"), "pkill"), Some(false));
        assert_eq!(full.matches(&words("pkill -f vite"), "pkill"), None);
        let bare = CommandPattern::read("pkill").unwrap();
        assert_eq!(bare.matches(&words("pkill -f vite"), "pkill"), Some(true));
        let unit = CommandPattern::read("systemctl restart").unwrap();
        assert_eq!(unit.matches(&words("systemctl --user restart x"), "systemctl restart"), Some(true));
        assert!(CommandPattern::read("pkill 'x").is_err());
    }
}
