//! The configuration: raw TOML in, a valid [`Config`] or every fault of it out.
//!
//! Reads the same keys from `restartlint.toml`, from `[tool.restartlint]` of
//! `pyproject.toml` and from `[package.metadata.restartlint]` or
//! `[workspace.metadata.restartlint]` of `Cargo.toml`. Touches no file: who finds it
//! hands over its text. Authority is never configurable, so no key grants any.

use std::collections::BTreeMap;
use std::ops::Range;

use super::checks;
use super::config_entries as entries;
use super::coordinator::CoordinatorConfig;
use super::fault::{Fault, Faults};
use super::fleet::FleetConfig;
use super::guard::GuardConfig;
use super::primitives::PrimitiveEntry;
use super::suggest;
use super::table::{self, At, View};
use crate::base::effect::Effect;
use crate::base::facts::Language;
use crate::base::finding::Severity;

/// The default name of the inventory, in the project's root.
pub const INVENTORY: &str = "restart-paths.toml";
/// The assertion function whose constant argument must be a registered id, unless configured.
pub const ASSERT_FUNCTION: &str = "assert_restart_attempt_registered";
/// The size in bytes above which a file is not parsed, unless configured.
pub const MAX_FILE_SIZE: u64 = 16 * 1024 * 1024;

/// Every key of the top level.
pub const KEYS: [&str; 14] = [
    "daemon",
    "inventory",
    "inventory-doc",
    "exclude",
    "include",
    "source-roots",
    "assert-functions",
    "rules",
    "primitive",
    "guard",
    "fleet",
    "coordinator",
    "store",
    "max-file-size",
];

/// A rule's severity as configured; `None` is off.
pub type Level = Option<Severity>;

/// A primitive that the user adds.
#[derive(Debug, Clone, PartialEq)]
pub struct UserPrimitive {
    /// The language whose catalogue it extends.
    pub language: Language,
    /// Its canonical name.
    pub name: String,
    /// What it does.
    pub effect: Effect,
    /// The whole entry, for the catalogue's own argument tests.
    pub entry: toml::Table,
    /// Where it stands.
    pub span: Range<usize>,
}

impl UserPrimitive {
    /// The entry as the primitive catalogues hold it; `None` for a command.
    pub fn catalogued(&self) -> Option<Result<PrimitiveEntry, toml::de::Error>> {
        if self.is_command() {
            return None;
        }
        let mut table = self.entry.clone();
        table.remove("language");
        table.remove("name");
        table.insert("names".to_owned(), toml::Value::Array(vec![toml::Value::String(self.name.clone())]));
        Some(table.try_into())
    }

    /// Whether it is a command of scripts rather than a name of a program.
    pub fn is_command(&self) -> bool {
        matches!(self.language, Language::Shell | Language::Windows | Language::Embedded | Language::Document)
    }

    /// Why the entry cannot be used.
    pub fn fault(&self) -> Option<String> {
        match self.catalogued() {
            None => {
                let more =
                    self.entry.keys().find(|k| !["language", "name", "effect"].contains(&k.as_str()))?;
                Some(format!(
                    "unknown key `{more}` in [[primitive]]: a command has `language`, `name` and `effect`"
                ))
            }
            Some(Ok(_)) => None,
            Some(Err(error)) => Some(format!("this [[primitive]] cannot be used: {}", error.message())),
        }
    }
}

/// The file that a configuration came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file as output names it, relative to the root.
    pub file: String,
    /// Its text.
    pub text: String,
}

/// A valid configuration. [`Config::default`] is that of a project without one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    /// The file; `None` where there is none.
    pub origin: Option<Origin>,
    /// Declared daemon modules: names and globs, relative to the root.
    pub daemon: Vec<At<String>>,
    /// The inventory's file, if configured.
    pub inventory: Option<At<String>>,
    /// The inventory's document, if configured.
    pub inventory_doc: Option<At<String>>,
    /// What is not read, as lines of a `.gitignore` in the root.
    pub exclude: Vec<At<String>>,
    /// Globs of what is read although discovery would skip it.
    pub include: Vec<At<String>>,
    /// Folders that absolute imports start from.
    pub source_roots: Vec<At<String>>,
    /// Functions whose constant argument must be a registered path id.
    pub assert_functions: Vec<At<String>>,
    /// Severities by rule code.
    pub rules: BTreeMap<&'static str, Level>,
    /// Primitives beside the embedded ones.
    pub primitives: Vec<UserPrimitive>,
    /// The store of the passes, relative to the root.
    pub store: Option<At<String>>,
    /// Bytes above which a file is not parsed.
    pub max_file_size: Option<u64>,
    /// `[guard]`.
    pub guard: GuardConfig,
    /// `[fleet]`.
    pub fleet: FleetConfig,
    /// `[coordinator]`.
    pub coordinator: CoordinatorConfig,
}

/// Which table of a file holds the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// The whole file.
    Own,
    /// `[tool.restartlint]`.
    Pyproject,
    /// `[package.metadata.restartlint]` or `[workspace.metadata.restartlint]`.
    Cargo,
}

impl Host {
    /// What a file name says.
    pub fn of(file_name: &str) -> Host {
        match file_name {
            "pyproject.toml" => Host::Pyproject,
            "Cargo.toml" => Host::Cargo,
            _ => Host::Own,
        }
    }

    fn tables(self) -> &'static [&'static [&'static str]] {
        match self {
            Host::Own => &[&[]],
            Host::Pyproject => &[&["tool", "restartlint"]],
            Host::Cargo => {
                &[&["package", "metadata", "restartlint"], &["workspace", "metadata", "restartlint"]]
            }
        }
    }
}

impl Config {
    /// Reads a configuration. `Ok(None)`: the file holds none (or, for another tool's
    /// file, is no TOML: that is its own tool's message). `Err`: every fault at once.
    pub fn read(file: &str, text: &str, host: Host) -> Result<Option<Config>, Faults> {
        let mut faults = Vec::new();
        let document = table::document(text, &mut faults);
        let found = host.tables().iter().find_map(|path| descend(&document, path));
        let Some(view) = found else {
            // Another tool's file that is no TOML is that tool's message, unless our name stands in it.
            return match Faults::collect(file, text, faults) {
                Some(faults) if host == Host::Own || text.contains("restartlint") => Err(faults),
                _ => Ok(None),
            };
        };
        let whole = toml::from_str::<toml::Table>(text).unwrap_or_default();
        let plain = host.tables().iter().find_map(|path| descend_plain(&whole, path)).unwrap_or_default();
        let config = read_view(&view, &plain, &mut faults);
        match Faults::collect(file, text, faults) {
            Some(faults) => Err(faults),
            None => Ok(Some(Config {
                origin: Some(Origin { file: file.to_owned(), text: text.to_owned() }),
                ..config
            })),
        }
    }

    /// The assertion functions, the default among them if none is configured.
    pub fn assertions(&self) -> Vec<String> {
        if self.assert_functions.is_empty() {
            vec![ASSERT_FUNCTION.to_owned()]
        } else {
            self.assert_functions.iter().map(|f| f.value.clone()).collect()
        }
    }
}

fn descend<'a, 'i>(
    document: &'a toml::Spanned<toml::de::DeTable<'i>>,
    path: &[&str],
) -> Option<View<'a, 'i>> {
    let mut view = View::new(document.get_ref(), document.span(), "the configuration");
    for key in path {
        let span = view.key_span(key);
        let table = view.get(key)?.get_ref().as_table()?;
        view = View::new(table, span, format!("[{}]", path.join(".")));
    }
    Some(view)
}

fn descend_plain(whole: &toml::Table, path: &[&str]) -> Option<toml::Table> {
    let mut table = whole;
    for key in path {
        table = table.get(*key)?.as_table()?;
    }
    Some(table.clone())
}

fn read_view(view: &View<'_, '_>, plain: &toml::Table, faults: &mut Vec<Fault>) -> Config {
    view.refuse_unknown(&KEYS, faults);
    Config {
        origin: None,
        daemon: entries::globs(view, "daemon", faults),
        inventory: entries::file(view, "inventory", faults),
        inventory_doc: entries::file(view, "inventory-doc", faults),
        exclude: entries::excludes(view, faults),
        include: entries::globs(view, "include", faults),
        source_roots: entries::folders(view, "source-roots", faults),
        assert_functions: entries::functions(view, "assert-functions", faults),
        rules: rules(view, faults),
        primitives: entries::primitives(view, plain, faults),
        store: entries::file(view, "store", faults),
        max_file_size: entries::size(view, "max-file-size", faults),
        guard: GuardConfig::read(view, faults),
        fleet: FleetConfig::read(view, faults),
        coordinator: CoordinatorConfig::read(view, faults),
    }
}

fn rules(view: &View<'_, '_>, faults: &mut Vec<Fault>) -> BTreeMap<&'static str, Level> {
    let mut levels = BTreeMap::new();
    let Some(table) = view.table("rules", "[rules]", faults) else { return levels };
    for (key, _) in table.table {
        let name: &str = key.get_ref();
        let Some(rule) = checks::find(name) else {
            let help = suggest::did_you_mean(name, checks::words());
            faults.push(Fault::new(key.span(), format!("unknown rule `{name}`"), "no such rule").help(help));
            continue;
        };
        let Some(text) = table.text(name, faults) else { continue };
        match level(&text.value) {
            Some(level) => {
                levels.insert(rule.code.as_str(), level);
            }
            None => faults.push(severity_fault(&text, &["error", "warning", "note", "off"])),
        }
    }
    levels
}

fn severity_fault(text: &At<String>, known: &[&str]) -> Fault {
    Fault::new(text.span.clone(), format!("`{}` is not one of {}", text.value, table::list(known)), "here")
        .help(suggest::did_you_mean(&text.value, known.iter().copied()))
}

fn level(name: &str) -> Option<Level> {
    match name {
        "error" => Some(Some(Severity::Error)),
        "warning" => Some(Some(Severity::Warning)),
        "note" => Some(Some(Severity::Note)),
        "off" => Some(None),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        match Config::read("restartlint.toml", text, Host::Own) {
            Ok(_) => Vec::new(),
            Err(faults) => faults
                .faults
                .into_iter()
                .map(|f| format!("{}{}", f.message, f.help.map(|h| format!(" ({h})")).unwrap_or_default()))
                .collect(),
        }
    }

    #[test]
    fn every_fault_is_reported_at_its_place() {
        let text = "damon = [\"a.py\"]\nexclude = [\"\", \"/etc/x\", \"ok/**\"]\n[rules]\nRL30l = \"error\"\nRL301 = \"warn\"\n";
        let found = faults(text);
        assert_eq!(found.len(), 5, "{found:#?}");
        assert!(found[0].contains("unknown key `damon`") && found[0].contains("`daemon`"));
        assert!(found[3].contains("unknown rule `RL30l`") && found[3].contains("`RL301`"));
        assert!(found[4].contains("`warn`") && found[4].contains("`warning`"));
    }

    #[test]
    fn the_three_hosts_hold_the_same_keys() {
        let body = "daemon = [\"srv.py\"]\n";
        for (file, text) in [
            ("restartlint.toml", body.to_owned()),
            ("pyproject.toml", format!("[project]\nname = \"x\"\n[tool.restartlint]\n{body}")),
            ("Cargo.toml", format!("[package.metadata.restartlint]\n{body}")),
            ("Cargo.toml", format!("[workspace.metadata.restartlint]\n{body}")),
        ] {
            let config = Config::read(file, &text, Host::of(file)).unwrap().unwrap();
            assert_eq!(config.daemon[0].value, "srv.py", "{text}");
            assert_eq!(&text[config.daemon[0].span.clone()], "\"srv.py\"");
        }
        assert_eq!(Config::read("pyproject.toml", "[project]\n", Host::Pyproject).unwrap(), None);
    }

    #[test]
    fn primitives_need_a_language_a_name_and_an_effect() {
        let text = "[[primitive]]\nlanguage = \"pyton\"\nname = \"a b\"\neffect = \"kil\"\n[[primitive]]\n";
        let found = faults(text);
        assert!(found.iter().any(|f| f.contains("`python`")), "{found:?}");
        assert!(found.iter().any(|f| f.contains("can never match")), "{found:?}");
        assert!(found.iter().any(|f| f.contains("`kill`")), "{found:?}");
        assert!(found.iter().filter(|f| f.contains("lacks")).count() == 3, "{found:?}");
        let text =
            "[[primitive]]\nlanguage = \"python\"\nname = \"ops.restart_all\"\neffect = \"supervise\"\n";
        let config = Config::read("restartlint.toml", text, Host::Own).unwrap().unwrap();
        assert_eq!(config.primitives[0].effect, Effect::Supervise);
    }

    #[test]
    fn off_is_a_level_and_names_are_taken_for_codes() {
        let text = "[rules]\nRL108 = \"off\"\ndaemon-kill = \"note\"\n";
        let config = Config::read("restartlint.toml", text, Host::Own).unwrap().unwrap();
        assert_eq!(config.rules["RL108"], None);
        assert_eq!(config.rules["RL103"], Some(Severity::Note));
    }
}
