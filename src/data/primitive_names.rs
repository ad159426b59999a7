//! Every name under which the built-in catalogues report a primitive, for what people write. Pure.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::commands::CommandCatalogue;
use super::primitives::Catalogue;
use crate::base::facts::Language;

/// The names of all languages, and of commands with their verbs (`systemctl restart`) and without. Collected once.
pub fn all() -> &'static BTreeSet<String> {
    static ALL: LazyLock<BTreeSet<String>> = LazyLock::new(collected);
    &ALL
}

fn collected() -> BTreeSet<String> {
    let catalogues = Language::ALL.map(|language| Catalogue::embedded(language).ok());
    let entries = catalogues.iter().flatten().flat_map(Catalogue::primitives);
    let mut names: BTreeSet<String> = entries
        .flat_map(|entry| entry.names.iter().flat_map(|name| [entry.reported(name), plain(name)]))
        .collect();
    for rule in CommandCatalogue::shared().rules() {
        for name in &rule.names {
            let name = rule.reported(name);
            names.insert(name.to_owned());
            names.extend(rule.verbs.iter().map(|verb| format!("{name} {verb}")));
        }
    }
    names
}

/// A catalogued path as people write it: without calls and subscripts.
pub fn plain(name: &str) -> String {
    name.replace("()", "").replace("[]", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs_and_commands_are_known() {
        let names = all();
        for name in ["os.execv", "process.kill", "syscall.Exec", "pkill", "systemctl", "systemctl restart"] {
            assert!(names.contains(name), "{name}");
        }
    }
}
