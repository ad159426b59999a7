//! Whether a command starts this very program again.

use crate::base::text::Origin;

use super::engine::Engine;
use super::follow::program_name;
use super::word::{Part, Word};

/// A new copy of this program: the program itself, or an interpreter with the own
/// script, the own arguments or the own package.
pub(super) fn is_respawn(words: &[Word], engine: &Engine<'_>) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    match program.origin() {
        Some(Origin::OwnProgram | Origin::OwnScript | Origin::OwnArgv) => return true,
        Some(Origin::Interpreter) => return runs_own(rest, engine),
        Some(_) => return false,
        None => {}
    }
    if names_own_script(program, engine) {
        return true;
    }
    program_name(program).is_some_and(|name| engine.catalogue.is_interpreter(&name)) && runs_own(rest, engine)
}

/// An interpreter's operands: its own options, then a script or `-m` and a module.
fn runs_own(rest: &[Word], engine: &Engine<'_>) -> bool {
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        match word.origin() {
            Some(Origin::OwnScript | Origin::OwnArgv) => return true,
            // Words that some list holds, before the own script: the interpreter's options.
            Some(Origin::Unknown | Origin::Parameter(_)) if matches!(word.only(), Some(Part::Rest(_))) => {
                continue;
            }
            Some(_) => return false,
            None => {}
        }
        let text = word.leading();
        // `-W{what}` is an option with its value; `-W` takes the next word.
        let is_whole = word.text().is_some();
        match text.as_str() {
            "-m" if is_whole => {
                let Some(module) = words.next() else { return false };
                return match module.origin() {
                    Some(Origin::OwnModule) => true,
                    Some(Origin::OwnPackage) => {
                        is_package_itself(engine) || asks_for_nothing_else(words.as_slice())
                    }
                    _ => module.text().is_some_and(|name| is_own_module(&name, words.as_slice(), engine)),
                };
            }
            "-c" | "-e" | "--eval" | "-p" | "-r" => return false,
            "-W" | "-X" | "--require" | "--import" | "--loader" if is_whole => {
                words.next();
            }
            "run" => {}
            _ if text.starts_with('-') => {}
            _ => return names_own_script(word, engine),
        }
    }
    false
}

/// Whether a module is the own one, or a package around it that starts as this program may have been
/// started.
fn is_own_module(name: &str, arguments: &[Word], engine: &Engine<'_>) -> bool {
    engine.context.own_module.as_deref() == Some(name)
        || engine.context.own_packages.iter().any(|own| own == name) && asks_for_nothing_else(arguments)
}

/// Whether a package is given no words of its own, which would ask it for something else
/// (`-m package migrate`).
fn asks_for_nothing_else(arguments: &[Word]) -> bool {
    // What a parameter holds, the callers decide.
    arguments.iter().all(|word| !matches!(word.origin(), None | Some(Origin::Parameter(_))))
}

/// Whether the calling file is what `-m` runs of its package, or the package's own code.
fn is_package_itself(engine: &Engine<'_>) -> bool {
    matches!(engine.context.own_script.as_deref(), Some("__main__.py" | "__init__.py"))
}

fn names_own_script(word: &Word, engine: &Engine<'_>) -> bool {
    let Some(own) = engine.context.own_script.as_deref() else { return false };
    let Some(text) = word.text() else { return false };
    text == own || text.strip_suffix(own).is_some_and(|dir| dir.ends_with(['/', '\\']))
}

/// Whether an `exec` hands the process to the script itself.
pub(super) fn starts_own_script(words: &[Word], engine: &Engine<'_>) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    if is_own_script(program, engine) {
        return true;
    }
    let interpreter = match program_name(program) {
        Some(name) => engine.catalogue.is_interpreter(&name),
        // `exec "$SHELL" "$0"`.
        None => program.origin() == Some(Origin::Unknown),
    };
    let script = rest.iter().find(|w| !w.leading().starts_with('-'));
    interpreter && script.is_some_and(|w| is_own_script(w, engine))
}

fn is_own_script(word: &Word, engine: &Engine<'_>) -> bool {
    if names_own_script(word, engine) || word.origin() == Some(Origin::OwnScript) {
        return true;
    }
    // `$(readlink -f "$0")`, `$(cd "$(dirname "$0")" && pwd)/script`.
    match word.only() {
        Some(Part::Output { scene, commands, .. }) => engine.scene(*scene).is_some_and(|scene| {
            scene.script.slice(commands).iter().any(|c| {
                let resolves = c.words.first().and_then(Word::text);
                matches!(resolves.as_deref(), Some("readlink" | "realpath" | "which" | "command"))
                    && c.words.iter().any(|w| {
                        w.parts.iter().any(|p| {
                            matches!(&p.part, Part::Variable { name, .. } if name == "0" || name == "BASH_SOURCE")
                        })
                    })
            })
        }),
        _ => false,
    }
}
