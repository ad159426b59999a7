//! Tasks of a project as shell text: a make target's recipe, a package's script. Pure.
//!
//! A variable that the file gives one value is put in its place; any other stays one that the
//! shell would expand, so that nothing is taken for certain.

use std::collections::{BTreeMap, BTreeSet};

/// How many targets are followed from one.
const MOST_TARGETS: usize = 256;
/// How long a text may become, in bytes.
const MOST_TEXT: usize = 1 << 18;
/// How deep variables are put into variables.
const MOST_DEPTH: u32 = 6;
/// What stands for a value that the file does not fix: a variable that the shell does not know either.
const UNKNOWN: &str = "$UNKNOWN";
/// Functions of make that give names of files.
const OF_NAMES: &[&str] = &[
    "wildcard",
    "patsubst",
    "subst",
    "filter",
    "filter-out",
    "sort",
    "word",
    "wordlist",
    "firstword",
    "lastword",
    "dir",
    "notdir",
    "suffix",
    "basename",
    "addsuffix",
    "addprefix",
    "realpath",
    "abspath",
    "strip",
];
/// Variables that make itself sets.
const DEFAULTS: &[(&str, &str)] = &[
    ("MAKE", "make"),
    ("CC", "cc"),
    ("CXX", "c++"),
    ("CPP", "cc -E"),
    ("AR", "ar"),
    ("AS", "as"),
    ("LD", "ld"),
    ("FC", "f77"),
    ("RM", "rm -f"),
    ("SHELL", "sh"),
    ("CURDIR", "."),
    ("MAKEFLAGS", ""),
    ("MFLAGS", ""),
    ("CFLAGS", ""),
    ("CXXFLAGS", ""),
    ("CPPFLAGS", ""),
    ("LDFLAGS", ""),
    ("LDLIBS", ""),
    ("ARFLAGS", "rv"),
    ("ARGS", "made"),
];

/// What `make NAME` runs: the recipes of the target and of what it needs, in the file's order.
/// `None` if the file includes others or does not define it. An empty name is the first target.
pub fn recipe(makefile: &str, name: &str) -> Option<String> {
    let file = File::read(makefile)?;
    let first = if name.is_empty() { file.first.clone()? } else { name.to_owned() };
    let mut wanted = vec![first];
    let mut seen = BTreeSet::new();
    let mut out = String::new();
    while let Some(target) = wanted.pop() {
        if !seen.insert(target.clone()) {
            continue;
        }
        if seen.len() > MOST_TARGETS || out.len() > MOST_TEXT {
            return None;
        }
        let Some(rules) = file.rules.get(&target) else {
            // A file that is there already; but the target that was asked for must be defined.
            if seen.len() == 1 {
                return None;
            }
            continue;
        };
        for rule in rules {
            wanted.extend(rule.needs.iter().rev().cloned());
            for line in &rule.lines {
                out.push_str(&file.expand(line, 0));
                out.push('\n');
            }
        }
    }
    Some(out)
}

/// What `npm run NAME` runs, with the scripts before and after it. `None` if the package does not define it.
pub fn package_script(package: &str, name: &str) -> Option<String> {
    let package: serde_json::Value = serde_json::from_str(package).ok()?;
    let scripts = package.get("scripts")?.as_object()?;
    let of = |name: String| scripts.get(&name).and_then(serde_json::Value::as_str);
    let restart = name == "restart" && !scripts.contains_key("restart");
    let names = if restart { vec!["stop".to_owned(), "start".to_owned()] } else { vec![name.to_owned()] };
    let mut lines = Vec::new();
    for name in names {
        lines.extend(of(format!("pre{name}")));
        lines.push(of(name.clone())?);
        lines.extend(of(format!("post{name}")));
    }
    Some(lines.join("\n"))
}

#[derive(Default)]
struct Rule {
    needs: Vec<String>,
    lines: Vec<String>,
}

#[derive(Default)]
struct File {
    rules: BTreeMap<String, Vec<Rule>>,
    variables: BTreeMap<String, Option<String>>,
    first: Option<String>,
}

impl File {
    /// Reads a file; `None` if another file belongs to it, or if it holds what is not followed.
    fn read(text: &str) -> Option<File> {
        let mut file = File::default();
        let text = text.replace("\\\r\n", " ").replace("\\\n", " ");
        let mut targets: Vec<String> = Vec::new();
        for line in text.lines() {
            if let Some(recipe) = line.strip_prefix('\t') {
                for target in &targets {
                    if let Some(rule) = file.rules.get_mut(target).and_then(|rules| rules.last_mut()) {
                        rule.lines.push(recipe.trim_start_matches(['@', '-', '+', ' ', '\t']).to_owned());
                    }
                }
                continue;
            }
            let line = line.split(" #").next().unwrap_or(line).trim_end();
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let word = line.split_whitespace().next().unwrap_or("");
            if matches!(word, "include" | "-include" | "sinclude" | "define")
                || line.starts_with(".RECIPEPREFIX")
            {
                return None;
            }
            if let Some((name, value)) = assignment(line) {
                file.variables.entry(name).and_modify(|known| *known = None).or_insert(Some(value));
                continue;
            }
            let Some((names, rest)) = line.split_once(':') else { continue };
            if names.contains(['%', '$']) {
                return None;
            }
            let rest = rest.trim_start_matches(':');
            let (needs, inline) = match rest.split_once(';') {
                Some((needs, inline)) => (needs, Some(inline.trim().to_owned())),
                None => (rest, None),
            };
            targets = names.split_whitespace().map(str::to_owned).collect();
            for target in &targets {
                if !target.starts_with('.') {
                    file.first.get_or_insert_with(|| target.clone());
                }
                let needs = needs.split_whitespace().filter(|n| *n != "|").map(str::to_owned).collect();
                file.rules
                    .entry(target.clone())
                    .or_default()
                    .push(Rule { needs, lines: inline.iter().cloned().collect() });
            }
        }
        Some(file)
    }

    /// A recipe's line with make's variables in their place.
    fn expand(&self, line: &str, depth: u32) -> String {
        let mut out = String::new();
        let mut rest = line;
        while let Some(at) = rest.find('$') {
            out.push_str(rest.get(..at).unwrap_or(""));
            rest = rest.get(at + 1..).unwrap_or("");
            let Some(first) = rest.chars().next() else { break };
            let after = rest.get(first.len_utf8()..).unwrap_or("");
            match first {
                '$' => out.push('$'),
                '(' | '{' => {
                    let Some(end) = closing(rest) else {
                        out.push_str(UNKNOWN);
                        return out;
                    };
                    self.reference(rest.get(1..end).unwrap_or(""), depth, &mut out);
                    rest = rest.get(end + 1..).unwrap_or("");
                    continue;
                }
                // `$@`, `$<`: the name of a file.
                _ => out.push_str("made"),
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }

    fn reference(&self, name: &str, depth: u32, out: &mut String) {
        if depth >= MOST_DEPTH || out.len() > MOST_TEXT {
            out.push_str(UNKNOWN);
            return;
        }
        let (function, arguments) = name.split_once(' ').unwrap_or((name, ""));
        match (function, self.variables.get(name)) {
            (_, Some(Some(value))) => out.push_str(&self.expand(value, depth + 1)),
            (_, Some(None)) => out.push_str(UNKNOWN),
            ("shell", None) => out.push_str(&format!("$({})", self.expand(arguments, depth + 1))),
            (function, None) if !arguments.is_empty() && OF_NAMES.contains(&function) => out.push_str("made"),
            (name, None) => match DEFAULTS.iter().find(|(known, _)| *known == name) {
                Some((_, value)) => out.push_str(value),
                None => out.push_str(UNKNOWN),
            },
        }
    }
}

/// Where the bracket closes that a text begins with.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn assignment(line: &str) -> Option<(String, String)> {
    let line = line.trim_start();
    let line = line.strip_prefix("export ").or(line.strip_prefix("override ")).unwrap_or(line);
    let at = line.find('=')?;
    let name = line.get(..at)?.trim_end_matches([':', '?', '+', '!', ' ', '\t']);
    let plain =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    plain.then(|| (name.to_owned(), line.get(at + 1..).unwrap_or("").trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAKEFILE: &str = "NAME = relay\nKILL ?= pkill\nall: build\n\nbuild: gen\n\t@cc -o $@ x.c\ngen: ; touch y\n\
                            restart: build\n\t-pkill -f $(NAME)\n\t$(KILL) $$PID $(OTHER)\n";

    #[test]
    fn a_recipe_is_that_of_the_target_and_of_what_it_needs() {
        assert_eq!(recipe(MAKEFILE, "build").unwrap(), "cc -o made x.c\ntouch y\n");
        assert_eq!(recipe(MAKEFILE, "").unwrap(), recipe(MAKEFILE, "build").unwrap());
        let restart = recipe(MAKEFILE, "restart").unwrap();
        assert!(restart.starts_with("pkill -f relay\npkill $PID $UNKNOWN\n"), "{restart}");
        assert_eq!(recipe(MAKEFILE, "gone"), None);
        assert_eq!(
            recipe("A = $(B)x\nB = y\na:\n\t$(CC) $(A) $(shell ls $(B)) $(wildcard *.c)\n", "a").unwrap(),
            "cc yx $(ls y) made\n"
        );
        assert_eq!(recipe("include x.mk\na:\n\tls\n", "a"), None);
        assert_eq!(recipe("a: b\nb: a\n\tls\n", "a").unwrap(), "ls\n");
    }

    #[test]
    fn a_package_script_brings_what_runs_around_it() {
        let package =
            r#"{"scripts":{"build":"tsc","prebuild":"rm -rf dist","stop":"pkill x","start":"node y"}}"#;
        assert_eq!(package_script(package, "build").unwrap(), "rm -rf dist\ntsc");
        assert_eq!(package_script(package, "restart").unwrap(), "pkill x\nnode y");
        assert_eq!(package_script(package, "gone"), None);
        assert_eq!(package_script("{", "build"), None);
    }
}
