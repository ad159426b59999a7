//! The lines of a notebook's cell: which are Python, which a shell runs, and which are
//! neither. Knows IPython's marks and the names of its magics; knows no notebook format.

/// How one line is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Python from this byte on; what stands before it is its indentation and a magic.
    Python(usize),
    /// A shell command from this byte on, with `{x}` filled in by Python.
    Escape(usize),
    /// The line before goes on here.
    Continued,
    /// A line of a script for a shell, from this byte on.
    Script(usize),
    /// A magic or a question: no code that is read. It stands for a statement.
    Other,
    /// No code, and no statement either: part of a cell in another language.
    Nothing,
}

/// Cell magics whose cell is a shell's script.
const SHELL_CELLS: &[&str] = &["bash", "sh", "zsh", "ksh", "dash", "!", "sx", "system"];
/// Magics around Python code.
const PYTHON: &[&str] =
    &["time", "timeit", "capture", "prun", "memit", "mprun", "lprun", "snakeviz", "pyinstrument", "scalene"];
/// Line magics that run a command.
const SHELL_LINES: &[&str] = &["sx", "system", "sh", "bash", "sc"];
/// Shells that `%%script` can name.
const SHELLS: &[&str] = &["bash", "sh", "zsh", "ksh", "dash"];

/// How each line of a cell is read. Lines come with their line ends.
pub(super) fn readings(lines: &[&str]) -> Vec<Reading> {
    let first = lines.iter().position(|line| !line.trim().is_empty()).unwrap_or(0);
    let head = lines.get(first).map_or("", |line| line.trim());
    let mut found = vec![Reading::Python(0); first.min(lines.len())];
    let Some(rest) = lines.get(first + 1..) else { return found };
    let line = lines.get(first).copied().unwrap_or("");
    if let Some(magic) = head.strip_prefix("%%") {
        let (name, arguments) = word(magic);
        if SHELL_CELLS.contains(&name) {
            // `%%!ls` has a command on its first line too, `%%bash --bg` options.
            let command = matches!(name, "!" | "sx" | "system") && !arguments.trim().is_empty();
            found.push(if command { Reading::Script(offset(line, arguments)) } else { Reading::Nothing });
            found.extend(rest.iter().map(|_| Reading::Script(0)));
        } else if name == "script" && names_shell(arguments) {
            found.push(Reading::Nothing);
            found.extend(rest.iter().map(|_| Reading::Script(0)));
        } else if PYTHON.contains(&name) {
            found.push(Reading::Nothing);
            plain(rest, &mut found);
        } else {
            found.push(Reading::Nothing);
            found.extend(rest.iter().map(|_| Reading::Nothing));
        }
        return found;
    }
    // Other notebooks write a shell's cell with one mark.
    if let Some(magic) = head.strip_prefix('%') {
        let (name, arguments) = word(magic);
        if matches!(name, "sh" | "bash") && (arguments.trim().is_empty() || !rest.is_empty()) {
            found.push(Reading::Script(offset(line, arguments)));
            found.extend(rest.iter().map(|_| Reading::Script(0)));
            return found;
        }
    }
    plain(lines.get(first..).unwrap_or(&[]), &mut found);
    found
}

fn plain(lines: &[&str], found: &mut Vec<Reading>) {
    let mut goes_on = false;
    for line in lines {
        let reading = if goes_on { Reading::Continued } else { one(line) };
        goes_on = matches!(reading, Reading::Escape(_) | Reading::Continued)
            && line.trim_end_matches(['\n', '\r']).ends_with('\\');
        found.push(reading);
    }
}

/// How a line outside a cell magic is read.
fn one(line: &str) -> Reading {
    let body = line.trim();
    if let Some(command) = body.strip_prefix("!!").or_else(|| body.strip_prefix('!')) {
        return Reading::Escape(offset(line, command));
    }
    if let Some(magic) = body.strip_prefix('%') {
        // `% (x)` goes on with an expression of the line before.
        return if starts_name(magic) { line_magic(line, magic) } else { Reading::Python(0) };
    }
    if body.starts_with('?') || (body.ends_with('?') && !body.contains(['#', '"', '\''])) {
        return Reading::Other;
    }
    match assigned(body) {
        Some(value) if value.starts_with('!') => Reading::Escape(offset(line, value.trim_start_matches('!'))),
        Some(value) => match value.strip_prefix('%') {
            Some(magic) if starts_name(magic) => line_magic(line, magic),
            _ => Reading::Python(0),
        },
        None => Reading::Python(0),
    }
}

fn line_magic(line: &str, magic: &str) -> Reading {
    let (name, arguments) = word(magic);
    if SHELL_LINES.contains(&name) {
        // `%sc name=command`.
        let command = match (name, arguments.split_once('=')) {
            ("sc", Some((_, command))) => command,
            _ => arguments,
        };
        return Reading::Escape(offset(line, command));
    }
    let code = arguments.trim_start();
    if !PYTHON.contains(&name) || code.is_empty() || code.starts_with('-') {
        return Reading::Other;
    }
    match code.strip_prefix('!') {
        Some(command) => Reading::Escape(offset(line, command)),
        None => Reading::Python(offset(line, code)),
    }
}

/// What stands after the `=` of `name = …`, where the left side is names alone.
fn assigned(body: &str) -> Option<&str> {
    let (names, value) = body.split_once('=')?;
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | ',' | ' ' | '.' | '*' | '(' | ')');
    let value = value.trim_start();
    (names.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '*' | '('))
        && names.chars().all(plain)
        && !value.starts_with("!="))
    .then_some(value)
}

fn starts_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '%')
}

/// A magic's name and what follows it.
fn word(magic: &str) -> (&str, &str) {
    let end = match magic.strip_prefix('!') {
        Some(_) => 1,
        None => magic.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(magic.len()),
    };
    magic.split_at(end)
}

fn names_shell(arguments: &str) -> bool {
    arguments.split_whitespace().any(|w| w.rsplit('/').next().is_some_and(|name| SHELLS.contains(&name)))
}

/// Where a part of a line begins in it.
fn offset(line: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize).min(line.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_magics_and_python_are_told_apart() {
        for (line, want) in [
            ("!pkill x\n", Reading::Escape(1)),
            ("  !!pkill x\n", Reading::Escape(4)),
            ("out = !pkill x\n", Reading::Escape(7)),
            ("out = %sx pkill x\n", Reading::Escape(9)),
            ("%sc out=pkill x\n", Reading::Escape(8)),
            ("%time !pkill x\n", Reading::Escape(7)),
            ("%time f()\n", Reading::Python(6)),
            ("%matplotlib inline\n", Reading::Other),
            ("%timeit -n 5 f()\n", Reading::Other),
            ("os.kill?\n", Reading::Other),
            ("?os.kill\n", Reading::Other),
            ("x != y\n", Reading::Python(0)),
            ("if x != 'a': pass\n", Reading::Python(0)),
            ("x = 'a?'\n", Reading::Python(0)),
            ("  % (a, b))\n", Reading::Python(0)),
            ("f(x=1)\n", Reading::Python(0)),
        ] {
            assert_eq!(readings(&[line]), [want], "{line}");
        }
    }

    #[test]
    fn a_cell_magic_decides_for_its_cell() {
        let cell = |head: &'static str| readings(&["\n", head, "a\n"]);
        for head in ["%%bash\n", "%%sh --no-raise\n", "%%script /bin/bash\n", "%%!\n"] {
            assert_eq!(cell(head), [Reading::Python(0), Reading::Nothing, Reading::Script(0)], "{head}");
        }
        assert_eq!(cell("%sh ls\n"), [Reading::Python(0), Reading::Script(3), Reading::Script(0)]);
        assert_eq!(cell("%%time\n"), [Reading::Python(0), Reading::Nothing, Reading::Python(0)]);
        assert_eq!(cell("%%html\n"), [Reading::Python(0), Reading::Nothing, Reading::Nothing]);
        assert_eq!(cell("%%script perl\n"), [Reading::Python(0), Reading::Nothing, Reading::Nothing]);
        assert_eq!(
            readings(&["!a \\\n", "b\n", "c\n"]),
            [Reading::Escape(1), Reading::Continued, Reading::Python(0)]
        );
        assert_eq!(readings(&[]), []);
    }
}
