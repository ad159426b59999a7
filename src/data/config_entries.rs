//! The entries of the configuration's lists, and why one of them can never match.
//!
//! An entry that cannot match anything is a typing mistake that would leave somebody
//! believing in a protection that is not there, so it is refused.

use std::path::{Component, Path};

use super::config::UserPrimitive;
use super::fault::Fault;
use super::suggest;
use super::table::{At, View, list};
use crate::base::effect::Effect;
use crate::base::facts::Language;

/// Globs over relative paths.
pub(super) fn globs(view: &View<'_, '_>, key: &str, faults: &mut Vec<Fault>) -> Vec<At<String>> {
    let mut found = view.texts(key, faults);
    found.retain_mut(|glob| {
        let plain = plain_path(&glob.value);
        let fault = path_fault(&plain)
            .or_else(|| globset::Glob::new(&plain).err().map(|e| format!("is no valid glob: {}", e.kind())));
        glob.value = plain;
        keep(key, glob, fault, faults)
    });
    found
}

/// Lines of a `.gitignore`.
pub(super) fn excludes(view: &View<'_, '_>, faults: &mut Vec<Fault>) -> Vec<At<String>> {
    let key = "exclude";
    let mut found = view.texts(key, faults);
    found.retain(|glob| {
        let text = glob.value.trim();
        let fault = if text.starts_with('#') {
            Some("can never match: a leading `#` makes it a comment".to_owned())
        } else if text.starts_with('!') {
            Some("re-includes; use `include` for what must be read".to_owned())
        } else if text.trim_matches('/').is_empty() {
            Some("can never match: it names no file".to_owned())
        } else {
            let line = text.trim_end_matches('/');
            // A leading slash anchors a pattern to the root; an absolute path of the machine cannot be told
            // apart from it, but a path of several well-known folders can.
            let absolute = ["/home/", "/etc/", "/usr/", "/var/", "/tmp/", "/root/", "/opt/"];
            if absolute.iter().any(|a| line.starts_with(a)) {
                Some("can never match: paths are relative to the project's root".to_owned())
            } else {
                path_fault(line.trim_start_matches('/')).or_else(|| {
                    ignore::gitignore::GitignoreBuilder::new("")
                        .add_line(None, text)
                        .err()
                        .map(|e| format!("is no valid pattern: {e}"))
                })
            }
        };
        keep(key, glob, fault, faults)
    });
    found
}

/// Folders.
pub(super) fn folders(view: &View<'_, '_>, key: &str, faults: &mut Vec<Fault>) -> Vec<At<String>> {
    let mut found = view.texts(key, faults);
    found.retain_mut(|folder| {
        let plain = plain_path(folder.value.trim_end_matches('/'));
        let fault = if plain.is_empty() || plain == "." { None } else { path_fault(&plain) };
        folder.value = if plain.is_empty() { ".".to_owned() } else { plain };
        keep(key, folder, fault, faults)
    });
    found
}

/// One file.
pub(super) fn file(view: &View<'_, '_>, key: &str, faults: &mut Vec<Fault>) -> Option<At<String>> {
    let mut found = view.text(key, faults)?;
    let plain = plain_path(&found.value);
    let fault = path_fault(&plain).map(|_| "must name a file inside the project".to_owned());
    found.value = plain;
    keep(key, &found, fault, faults).then_some(found)
}

/// Dotted function names.
pub(super) fn functions(view: &View<'_, '_>, key: &str, faults: &mut Vec<Fault>) -> Vec<At<String>> {
    let mut found = view.texts(key, faults);
    found.retain(|name| {
        let fault = (!is_dotted(&name.value, &["."])).then(|| {
            "can never match: it is no function's name, such as `assert_registered` or `paths.check`"
                .to_owned()
        });
        keep(key, name, fault, faults)
    });
    found
}

/// A size in bytes.
pub(super) fn size(view: &View<'_, '_>, key: &str, faults: &mut Vec<Fault>) -> Option<u64> {
    let found = view.integer(key, faults)?;
    match u64::try_from(found.value) {
        Ok(n) if n > 0 && n <= 1 << 30 => Some(n),
        _ => {
            faults.push(Fault::new(
                found.span,
                format!("`{key}` must be between 1 and {} bytes", 1u64 << 30),
                "here",
            ));
            None
        }
    }
}

/// `[[primitive]]` entries.
pub(super) fn primitives(
    view: &View<'_, '_>,
    plain: &toml::Table,
    faults: &mut Vec<Fault>,
) -> Vec<UserPrimitive> {
    let plain = plain.get("primitive").and_then(|v| v.as_array()).cloned().unwrap_or_default();
    let mut found = Vec::new();
    for (at, entry) in view.tables("primitive", "[[primitive]]", faults).iter().enumerate() {
        let mut required = |key: &str| {
            let text = entry.text(key, faults);
            if text.is_none() && entry.get(key).is_none() {
                faults.push(Fault::new(
                    entry.span.clone(),
                    format!("this [[primitive]] lacks `{key}`"),
                    "needs `language`, `name` and `effect`",
                ));
            }
            text
        };
        let (language, name, effect) = (required("language"), required("name"), required("effect"));
        let language = language.and_then(|l| choice(&l, "language", &languages(), faults, language_of));
        let effects = Effect::ALL.map(Effect::name);
        let effect = effect.and_then(|e| choice(&e, "effect", &effects, faults, Effect::from_name));
        let name = name.filter(|n| {
            let fault = (!is_primitive_name(&n.value, language)).then(|| {
                "can never match: a primitive is a canonical name such as `ops.restart_all`".to_owned()
            });
            keep("name", n, fault, faults)
        });
        if let (Some(language), Some(name), Some(effect)) = (language, name, effect) {
            let plain = plain.get(at).and_then(|v| v.as_table()).cloned().unwrap_or_default();
            let made =
                UserPrimitive { language, name: name.value, effect, entry: plain, span: entry.span.clone() };
            match made.fault() {
                Some(why) => faults.push(Fault::new(entry.span.clone(), why, "this entry")),
                None => found.push(made),
            }
        }
    }
    found
}

fn languages() -> Vec<&'static str> {
    Language::ALL.map(Language::name).to_vec()
}

/// The language of that name, as the command line and the configuration spell it.
pub fn language_of(name: &str) -> Option<Language> {
    let name = match name {
        "js" | "ts" | "typescript" => "javascript",
        "py" => "python",
        "rs" => "rust",
        "sh" | "bash" => "shell",
        "markdown" | "md" => "document",
        other => other,
    };
    Language::ALL.into_iter().find(|l| l.name() == name)
}

fn choice<T>(
    text: &At<String>,
    what: &str,
    known: &[&str],
    faults: &mut Vec<Fault>,
    find: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    let found = find(&text.value);
    if found.is_none() {
        let near = suggest::did_you_mean(&text.value, known.iter().copied());
        let help = if near.is_empty() { format!("one of {}", list(known)) } else { near };
        faults.push(
            Fault::new(text.span.clone(), format!("unknown {what} `{}`", text.value), "here").help(help),
        );
    }
    found
}

fn keep(key: &str, entry: &At<String>, fault: Option<String>, faults: &mut Vec<Fault>) -> bool {
    match fault {
        Some(why) => {
            faults.push(Fault::new(
                entry.span.clone(),
                format!("`{key}` entry `{}` {why}", entry.value),
                "here",
            ));
            false
        }
        None => true,
    }
}

/// The path without `.`, empty parts and `folder/..`; one that leaves the root keeps its `..`.
fn plain_path(path: &str) -> String {
    let path = path.trim();
    let mut parts: Vec<&str> = Vec::new();
    for (at, part) in path.split('/').enumerate() {
        let before = parts.last().copied();
        match part {
            "." => {}
            // A leading slash and a closing one say what kind of path it is.
            "" if at > 0 && !path.ends_with('/') => {}
            ".." if before
                .is_some_and(|b| !b.is_empty() && b != ".." && !b.contains(['*', '?', '[', '{'])) =>
            {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Why a relative path cannot lie in the project.
fn path_fault(path: &str) -> Option<String> {
    if path.is_empty() {
        return Some("can never match: it is empty".to_owned());
    }
    if path.contains('\\') {
        return Some("can never match: paths are written with `/`".to_owned());
    }
    let path = Path::new(path);
    if path.is_absolute() {
        return Some("can never match: paths are relative to the project's root".to_owned());
    }
    path.components()
        .any(|c| matches!(c, Component::ParentDir))
        .then(|| "can never match: nothing outside the project's root is read".to_owned())
}

/// Identifiers joined by one of the separators.
fn is_dotted(name: &str, separators: &[&str]) -> bool {
    let mut parts = vec![name];
    for separator in separators {
        parts = parts.into_iter().flat_map(|p| p.split(separator)).collect();
    }
    parts.iter().all(|part| {
        let mut chars = part.chars();
        chars.next().is_some_and(|c| c.is_alphabetic() || c == '_' || c == '$')
            && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '$')
    })
}

/// A name that the language's catalogue can hold: the words of a command, else a dotted or
/// `::` access path with calls and subscripts (`flask.Flask().run`); `*` in a part.
fn is_primitive_name(name: &str, language: Option<Language>) -> bool {
    let command = matches!(
        language,
        Some(Language::Shell | Language::Windows | Language::Embedded | Language::Document)
    );
    if command {
        let plain = |c: char| c.is_alphanumeric() || "._-+@:".contains(c);
        return !name.trim().is_empty() && name.split(' ').all(|w| !w.is_empty() && w.chars().all(plain));
    }
    let plain = name.replace("()", "").replace("[]", "").replace(['*', '-', '@'], "x").replace('/', ".");
    is_dotted(&plain, &["::", "."]) && !name.trim_matches(['*', '.', ':']).is_empty()
}
