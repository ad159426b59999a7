//! A word of a text and what stands around it: whether it stands there as what it would count as.

/// Methods of many objects that count as members of `sys` alone.
pub(super) const FOUND_IN_SYS: [&str; 2] = ["exit", "quit"];

/// Bytes of a call in which its keywords are looked for.
const MOST_ARGUMENTS: usize = 4096;

/// A word in its text.
pub(super) struct Around<'t> {
    pub(super) text: &'t str,
    /// Its first byte.
    pub(super) start: usize,
    /// The byte behind it.
    pub(super) end: usize,
    pub(super) word: &'t str,
}

impl Around<'_> {
    pub(super) fn before(&self) -> &str {
        &self.text[..self.start]
    }

    pub(super) fn byte_before(&self) -> Option<u8> {
        self.start.checked_sub(1).map(|at| self.text.as_bytes()[at])
    }

    pub(super) fn byte_after(&self) -> Option<u8> {
        self.text.as_bytes().get(self.end).copied()
    }

    /// The name before the dot before the word.
    pub(super) fn qualifier(&self) -> Option<&str> {
        let before = self.before().strip_suffix('.')?;
        let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        before.get(start..)
    }

    pub(super) fn after_dot(&self) -> bool {
        self.before().trim_end_matches([' ', '\t', '\\', '\n', '\r']).ends_with('.')
    }

    /// A builtin that is called or handed on, not one that a text speaks of.
    pub(super) fn is_a_value(&self) -> bool {
        let before = self.before().trim_end_matches([' ', '\t', '\n', '\r', '\\']);
        let follows = |word: &str| before.ends_with(word);
        if before.ends_with('.') {
            return false;
        }
        self.byte_after() == Some(b'(')
            || before.ends_with(['=', '(', ',', '[', ':', '{'])
            || ["raise", "return", "or", "and", "else", "in", "if", "yield", "except", "not"]
                .into_iter()
                .any(follows)
    }

    pub(super) fn is_member(&self) -> bool {
        // `sys.exit` is a member that matters; other objects' `exit` and `quit` are not, where `sys` has no
        // other name.
        if FOUND_IN_SYS.contains(&self.word) {
            let object = self.before().trim_end().trim_end_matches('\\').trim_end();
            let object = object.strip_suffix('.').map(str::trim_end);
            return object.is_some_and(|object| object.ends_with("sys") || self.renames_its_module());
        }
        matches!(self.byte_before(), Some(b'"' | b'\'')) || self.after_dot()
    }

    /// Whether the text gives the module of `exit` another name, or gets it by name.
    pub(super) fn renames_its_module(&self) -> bool {
        let text = self.text.as_bytes();
        ["sys as ", "builtins as ", "= sys\n", "=sys\n", "\"sys\"", "'sys'", "\"builtins\"", "'builtins'"]
            .iter()
            .any(|form| memchr::memmem::find(text, form.as_bytes()).is_some())
    }

    /// Whether a name after a `=` is all that is assigned, or given, there.
    pub(super) fn is_kept(&self) -> bool {
        let compares = matches!(self.byte_before(), Some(b'=' | b'!' | b'<' | b'>'));
        let after = self.text[self.end..].trim_start_matches([' ', '\t', '\r']);
        !compares && (after.is_empty() || after.starts_with(['\n', ',', ')', ';', '#', ']', '}']))
    }

    /// Whether an argument is given something that may hold: `debug=value`, not `debug=False`, which is
    /// also what a parameter has by default; or, in quotes, it may be a key: not where it is itself what an
    /// argument is given (`level="debug"`).
    pub(super) fn may_be_set(&self) -> bool {
        let after = &self.text[self.end..];
        if self.word.ends_with('=') {
            let fails = ["False", "None", "0"].iter().filter_map(|value| after.strip_prefix(value));
            return !after.starts_with('=')
                && !fails.map(str::trim_start).any(|rest| rest.starts_with([',', ')']));
        }
        let quote = &self.word[self.word.len() - 1..];
        self.before().strip_suffix(quote).is_some_and(|before| !before.ends_with('='))
    }

    /// Whether a call by the word may give one of the keywords. What is not called here may be called
    /// elsewhere with them.
    pub(super) fn may_be_given(&self, keywords: &[String]) -> bool {
        let Some(arguments) = self.text[self.end..].trim_start().strip_prefix('(') else { return true };
        let Some(given) = closing(arguments).and_then(|end| arguments.get(..end)) else { return true };
        given.contains("**") || keywords.iter().any(|keyword| given.contains(keyword.as_str()))
    }

    /// In a string's place for a command: after a quote, a blank, a slash or a shell operator, and not
    /// followed by what only code has.
    pub(super) fn stands_like_a_command(&self) -> bool {
        let opens = matches!(
            self.byte_before(),
            None | Some(
                b'"' | b'\''
                    | b' '
                    | b'/'
                    | b'\n'
                    | b'('
                    | b'`'
                    | b';'
                    | b'|'
                    | b'&'
                    | b'{'
                    | b'}'
                    | b'\\'
                    | b'\t'
            )
        );
        let is_program = self.text[self.end..].starts_with(".exe");
        let escaped = matches!(self.byte_before(), Some(b'n' | b't' | b'r'))
            && self.start.checked_sub(2).is_some_and(|at| self.text.as_bytes()[at] == b'\\');
        let opens = opens || escaped;
        let closes =
            is_program || !matches!(self.byte_after(), Some(b'.' | b'=' | b':' | b'[' | b'(' | b','));
        opens && closes
    }
}

/// Where the bracket closes that stands before a text; none where that is far, or a comment stands between.
fn closing(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0usize);
    while at < MOST_ARGUMENTS {
        match *bytes.get(at)? {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => return Some(at),
            b')' | b']' | b'}' => depth -= 1,
            b'#' => return None,
            quote @ (b'"' | b'\'') => {
                at += 1;
                while *bytes.get(at)? != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_counts_where_it_may_hold() {
        let counts = |text: &str, word: &str| {
            let start = text.find(word).unwrap();
            Around { text, start, end: start + word.len(), word }.may_be_set()
        };
        for text in ["run(debug=True)", "run(debug=flag)", "run(debug=0 or flag)", "run(debug=None is x)"] {
            assert!(counts(text, "debug="), "{text}");
        }
        for text in ["run(debug=False)", "run(debug=None , x=1)", "run(debug=0, x=1)", "if debug== 1: pass"] {
            assert!(!counts(text, "debug="), "{text}");
        }
        assert!(counts("f(**{\"debug\": True})", "debug\""));
        assert!(counts("f[\"debug\"] = True", "debug\""));
        assert!(!counts("f(level=\"debug\", x=1)", "debug\""));
        assert!(!counts("f(\"to debug\")", "debug\""));
    }

    #[test]
    fn a_call_counts_where_it_may_give_the_keyword() {
        let keywords = ["debug".to_owned()];
        let counts = |text: &str| Around { text, start: 0, end: 3, word: "App" }.may_be_given(&keywords);
        for text in [
            "App(a, debug=b)",
            "App(**a)",
            "App(f(1), *a, **b)",
            "g(App, 1)",
            "App (\"(\", debug=1)",
            "App(a",
        ] {
            assert!(counts(text), "{text}");
        }
        for text in
            ["App()", "App([(\"/\", f)], 1).run(debug=1)", "App(')', '\\'', a)\ndebug = 1", "App(x[1], {})"]
        {
            assert!(!counts(text), "{text}");
        }
    }
}
