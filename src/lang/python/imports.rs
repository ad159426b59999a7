//! The imports of a text without parsing it: lines that begin with `import` or `from`, wherever
//! they stand. One too many (in a string) costs a look at a file, no more.

use crate::base::ir::Import;

/// Every import that the text may hold, in order.
pub fn imports(text: &str) -> Vec<Import> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    for hit in memchr::memmem::find_iter(bytes, b"import") {
        if hit < at {
            continue;
        }
        let line_start = memchr::memrchr(b'\n', &bytes[..hit]).map_or(0, |n| n + 1);
        // `if x: import y`, `try: import y`, `a; import b`: the statement starts after the mark.
        let before = &text[line_start..hit];
        if let Some(name) = by_name(&text[hit..], before) {
            found.push(Import { module: name.to_owned(), name: None });
            continue;
        }
        let is_name = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        // `importlib`, `reimport`.
        if is_name(bytes.get(hit + 6)) || is_name(hit.checked_sub(1).and_then(|b| bytes.get(b))) {
            continue;
        }
        let statement = before.rsplit([':', ';']).next().unwrap_or(before).trim_start();
        if statement.is_empty() {
            at = direct(text, hit + 6, &mut found);
        } else if let Some(module) =
            statement.strip_prefix("from").filter(|m| m.starts_with([' ', '.', '\t']))
        {
            let module: String = module.chars().filter(|c| !c.is_whitespace() && *c != '\\').collect();
            at = names(text, hit + 6, &module, &mut found);
        }
    }
    found
}

/// The places of `import *`, however it is spaced.
pub fn stars(text: &str) -> impl Iterator<Item = usize> + '_ {
    memchr::memmem::find_iter(text.as_bytes(), b"import")
        .filter(|at| text[at + 6..].trim_start_matches([' ', '\t', '\\', '\n']).starts_with('*'))
}

/// `import_module("a.b")`, `__import__("a.b")`: the module that a literal names.
fn by_name<'s>(text: &'s str, before: &str) -> Option<&'s str> {
    let rest = match text.strip_prefix("import_module") {
        Some(rest) => rest,
        None => text.strip_prefix("import__").filter(|_| before.ends_with("__"))?,
    };
    let rest = rest.trim_start().strip_prefix('(')?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let name = rest[1..].split(quote).next()?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    is_name.then_some(name)
}

/// `import a.b as c, d`.
fn direct(text: &str, from: usize, found: &mut Vec<Import>) -> usize {
    let end = logical_end(&text[from..]).map_or(text.len(), |n| from + n);
    if !text[from..].starts_with([' ', '\t']) {
        return from;
    }
    let listed = text[from..end].split('#').next().unwrap_or("");
    for part in listed.split(',') {
        if let Some(module) = part.split_whitespace().find(|word| *word != "\\") {
            found.push(Import { module: module.to_owned(), name: None });
        }
    }
    end
}

/// The names of `from module import …`, in brackets or not.
fn names(text: &str, from: usize, module: &str, found: &mut Vec<Import>) -> usize {
    let rest = &text[from..];
    let open = rest.trim_start_matches([' ', '\t']).starts_with('(');
    let end = if open { rest.find(')') } else { logical_end(rest) }.map_or(text.len(), |n| from + n);
    found.push(Import { module: module.to_owned(), name: None });
    for line in text[from..end].lines() {
        let line = line.split('#').next().unwrap_or("");
        for part in line.trim_matches(['(', ' ', '\\', '\t', '\r']).split(',') {
            let name = part.trim_matches(['(', ' ', '\t', '\\']).split_whitespace().next().unwrap_or("");
            if !name.is_empty() && name != "*" && name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                found.push(Import { module: module.to_owned(), name: Some(name.to_owned()) });
            }
        }
    }
    end
}

/// The end of a line that no backslash continues.
fn logical_end(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text[from..].find(['\n', ';'])?;
        if !text[..at].trim_end_matches('\r').ends_with('\\') {
            return Some(at);
        }
        from = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_found_without_a_parser() {
        let text = "from importlib import r\nimport os, a.b as c\nfrom . import x\nfrom ..u import (y as z,  # c\n  w)\ntry: import q\nfrom m import *\nimportant = 1\nfrom p import a, \\\n  b\nx = importlib.import_module('r.s')\ny = __import__(\"t\")\nz = import_module(name)\nimportlib.import_module('u')\n";
        let got: Vec<String> = imports(text)
            .into_iter()
            .map(|i| format!("{}:{}", i.module, i.name.unwrap_or_default()))
            .collect();
        assert_eq!(
            got,
            [
                "importlib:",
                "importlib:r",
                "os:",
                "a.b:",
                ".:",
                ".:x",
                "..u:",
                "..u:y",
                "..u:w",
                "q:",
                "m:",
                "p:",
                "p:a",
                "p:b",
                "r.s:",
                "t:",
                "u:"
            ]
        );
    }
}
