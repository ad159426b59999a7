//! Where a path lies: a file, a glob, `file::symbol`, or `host:NAME`. A line number is
//! refused, since lines move.

use globset::{GlobBuilder, GlobMatcher};

/// A location.
#[derive(Debug, Clone)]
pub enum Location {
    /// Something of the host, by name.
    Host(String),
    /// Files of the checkout.
    Files(Files),
}

/// The files of a location, with a symbol in them or without.
#[derive(Debug, Clone)]
pub struct Files {
    /// The file part as written.
    pub glob: String,
    /// Names exactly one file.
    pub literal: bool,
    /// The symbol, `function` or `Class.method`.
    pub symbol: Option<String>,
    matcher: GlobMatcher,
}

impl Files {
    /// Whether the location includes the file.
    pub fn holds(&self, path: &str) -> bool {
        if self.literal { self.glob == path } else { self.matcher.is_match(path) }
    }

    /// Whether the location includes a symbol of the file: the symbol itself, or one inside it.
    pub fn holds_symbol(&self, path: &str, symbol: &str) -> bool {
        self.holds(path)
            && self.symbol.as_ref().is_none_or(|wanted| {
                symbol == wanted
                    || symbol.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.starts_with('.'))
            })
    }
}

impl Location {
    /// Reads a location, or says what is wrong with it.
    pub fn read(text: &str) -> Result<Location, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("a location must not be empty".to_owned());
        }
        if let Some(name) = text.strip_prefix("host:") {
            let name = name.trim();
            if name.is_empty() {
                return Err("`host:` must be followed by a name, such as `host:IDE`".to_owned());
            }
            return Ok(Location::Host(name.to_owned()));
        }
        let (files, symbol) = match text.split_once("::") {
            Some((files, symbol)) => (files, Some(symbol)),
            None => (text, None),
        };
        if let Some(place) = line_number(files).or_else(|| symbol.and_then(line_number)) {
            return Err(format!(
                "the location `{text}` has a line number (`{place}`), and lines move; name the symbol instead: `{}::SYMBOL`",
                files.split([':', '#']).next().unwrap_or(files)
            ));
        }
        if symbol.is_some_and(|s| s.trim().is_empty() || s.contains(char::is_whitespace)) {
            return Err(format!("the location `{text}` names no symbol after `::`"));
        }
        let files = files.strip_prefix("./").unwrap_or(files);
        if files.is_empty() {
            return Err(format!("the location `{text}` names no file"));
        }
        if files.contains('\\') {
            return Err(format!("the location `{text}` is written with `\\`; paths are written with `/`"));
        }
        if files.starts_with('/') || files.split('/').any(|part| part == "..") {
            return Err(format!("the location `{text}` leaves the project; it must be relative to its root"));
        }
        let matcher = GlobBuilder::new(files)
            .literal_separator(true)
            .build()
            .map_err(|e| format!("the location `{text}` is no valid glob: {}", e.kind()))?
            .compile_matcher();
        Ok(Location::Files(Files {
            glob: files.to_owned(),
            literal: !files.contains(['*', '?', '[', '{']),
            symbol: symbol.map(str::to_owned),
            matcher,
        }))
    }

    /// The files, unless it is the host's.
    pub fn files(&self) -> Option<&Files> {
        match self {
            Location::Host(_) => None,
            Location::Files(files) => Some(files),
        }
    }

    /// As written in the inventory.
    pub fn display(&self) -> String {
        match self {
            Location::Host(name) => format!("host:{name}"),
            Location::Files(Files { glob, symbol: Some(symbol), .. }) => format!("{glob}::{symbol}"),
            Location::Files(files) => files.glob.clone(),
        }
    }
}

/// The line number in a text: `:12`, `:12:3`, `:~12 (where)`, `#L12`.
fn line_number(text: &str) -> Option<&str> {
    if let Some((_, after)) = text.split_once("#L")
        && after.starts_with(|c: char| c.is_ascii_digit())
    {
        return Some(after);
    }
    text.match_indices(':').find_map(|(at, _)| {
        let after = &text[at + 1..];
        let digits = after.trim_start_matches(['~', 'L']);
        let end = digits.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(digits.len());
        let ends = digits[end..].chars().next().is_none_or(|c| c == ':' || c == '(' || c.is_whitespace());
        (end > 0 && ends && !text[..at].ends_with(':')).then_some(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &str) -> Files {
        Location::read(text).unwrap().files().unwrap().clone()
    }

    #[test]
    fn a_star_stays_in_its_folder_and_two_cross() {
        assert!(files("scripts/*.py").holds("scripts/a.py"));
        assert!(!files("scripts/*.py").holds("scripts/sub/a.py"));
        assert!(files("tools/**/*.py").holds("tools/x/y/c.py"));
        assert!(files("tools/**/*.py").holds("tools/c.py"));
        assert!(files("./a.py").holds("a.py"));
    }

    #[test]
    fn a_symbol_holds_itself_and_what_lies_in_it() {
        let boot = files("a.py::boot");
        assert!(boot.holds_symbol("a.py", "boot"));
        assert!(boot.holds_symbol("a.py", "boot.inner"));
        assert!(!boot.holds_symbol("a.py", "bootstrap"));
        assert!(!boot.holds_symbol("b.py", "boot"));
        assert!(files("a.py::Svc").holds_symbol("a.py", "Svc.swap"));
        assert!(files("a.py").holds_symbol("a.py", "<module>"));
    }

    #[test]
    fn lines_and_ways_out_are_refused() {
        for bad in [
            "a.py:12",
            "a.py:12:3",
            "a.py#L7",
            "a.py::f:12",
            "",
            "host:",
            "/etc/x",
            "../x",
            "a\\b",
            "a.py::",
            "[",
            "::f",
        ] {
            assert!(Location::read(bad).is_err(), "{bad}");
        }
        assert!(matches!(Location::read("host:IDE"), Ok(Location::Host(n)) if n == "IDE"));
    }
}
