//! A draft of an inventory: every site that was found, grouped by file and primitive,
//! each entry unclassified until a person decides. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::{Classification, RestartPath};
use crate::base::effect::Effect;
use crate::base::site::TOP_LEVEL;
use crate::base::terminal::one_line;

/// The guard of a draft.
pub const GUARD: &str = "Not decided yet.";
/// The reference of a draft.
pub const REFERENCE: &str = "restartlint init";

/// The keys of a path that still say what its draft said.
pub fn left(path: &RestartPath) -> Vec<&'static str> {
    let mut left = Vec::new();
    if path.classification.value == Classification::Unclassified {
        left.push("classification");
    }
    if path.guard.trim() == GUARD {
        left.push("guard");
    }
    if path.references.iter().any(|r| r.trim() == REFERENCE) {
        left.push("references");
    }
    left
}

/// A site that is to be drafted.
#[derive(Debug, Clone, Copy)]
pub struct Drafted<'a> {
    /// Its file, relative to the root.
    pub path: &'a str,
    /// Its canonical primitive.
    pub primitive: &'a str,
    /// What it does.
    pub effect: Effect,
    /// Its enclosing symbol.
    pub symbol: &'a str,
    /// Whether the daemon reaches it.
    pub in_reach: bool,
}

/// One group of sites.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group {
    /// The file, relative to the root.
    pub path: String,
    /// The canonical primitive.
    pub primitive: String,
    /// What it does.
    pub effect: Effect,
    /// The enclosing symbols, `<module>` among them.
    pub symbols: BTreeSet<String>,
    /// Those in which the daemon reaches a site.
    pub reached: BTreeSet<String>,
    /// How many sites.
    pub count: usize,
}

/// Groups sites by file and primitive.
pub fn group<'a>(sites: impl IntoIterator<Item = Drafted<'a>>) -> Vec<Group> {
    let mut groups: BTreeMap<(&str, &str), Group> = BTreeMap::new();
    for Drafted { path, primitive, effect, symbol, in_reach } in sites {
        let group = groups.entry((path, primitive)).or_insert_with(|| Group {
            path: path.to_owned(),
            primitive: primitive.to_owned(),
            effect,
            symbols: BTreeSet::new(),
            reached: BTreeSet::new(),
            count: 0,
        });
        group.symbols.insert(symbol.to_owned());
        if in_reach {
            group.reached.insert(symbol.to_owned());
        }
        group.count += 1;
    }
    groups.into_values().collect()
}

/// The draft as a file.
pub fn write(groups: &[Group]) -> String {
    let mut out = String::from(
        "# The registered ways to restart, reload, reconnect or kill. Drafted by `restartlint init`.\n\
         # Decide on each entry: set `classification` to sanctioned_narrow_recovery (it may stay as it is),\n\
         # guarded_fail_closed (it only exits), forbidden, or removed (once the code is gone), and say in\n\
         # `guard` and `references` why. Until all three are decided, RL308 stands against it.\n\
         # `restartlint explain RL308` says what each class covers.\nschema = 1\n",
    );
    out += &entries(groups, &[]);
    out
}

/// The entries alone, to stand behind those of an inventory that has these ids.
pub fn entries(groups: &[Group], taken: &[&str]) -> String {
    let mut ids: BTreeSet<String> = taken.iter().map(|id| (*id).to_owned()).collect();
    groups.iter().map(|group| entry(group, &mut ids)).collect()
}

fn entry(group: &Group, ids: &mut BTreeSet<String>) -> String {
    let id = unique(&slug(&format!("{} {}", group.path, group.primitive)), ids);
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let sites = if group.count == 1 { "one site".to_owned() } else { format!("{} sites", group.count) };
    let mechanism = format!("{sites} of {} ({}){}", group.primitive, group.effect, within(&group.symbols));
    let title = format!("{} in {}", group.primitive, group.path);
    format!(
        "\n[[path]]\nid = {}\ntitle = {}\nclassification = \"unclassified\"\nmechanism = {}\n\
         guard = {}\nlocations = [{}]\nprimitives = [{}]\nreferences = [{}]\n{}",
        quoted(&id),
        quoted(&title),
        quoted(&mechanism),
        quoted(GUARD),
        quoted(&glob_escaped(&group.path)),
        quoted(&group.primitive),
        quoted(REFERENCE),
        exception(group)
    )
}

/// What an entry needs for the sites that the daemon reaches, as a comment: to take it up is a person's decision.
/// An exit needs none of it, since `guarded_fail_closed` covers it there too.
fn exception(group: &Group) -> String {
    if group.reached.is_empty() || group.effect == Effect::Exit {
        return String::new();
    }
    let place = |symbol: &String| toml::Value::String(format!("{}::{symbol}", group.path)).to_string();
    let places: Vec<String> = group.reached.iter().map(place).collect();
    format!(
        "# The daemon reaches it, where only an exception with a location `file::symbol` sanctions it. Better, remove the site.\n\
         # In place of the `locations` above:\n# {}\n# daemon_exception = true\n",
        one_line(&format!("locations = [{}]", places.join(", ")))
    )
}

/// Where in the file, for people. What lies in no function has no name of its own: many files have no others.
fn within(symbols: &BTreeSet<String>) -> String {
    let named: Vec<&str> = symbols.iter().map(String::as_str).filter(|s| *s != TOP_LEVEL).collect();
    match (named.as_slice(), symbols.contains(TOP_LEVEL)) {
        ([], _) => String::new(),
        (named, false) => format!(" in {}", named.join(", ")),
        (named, true) => format!(" in {} and at the top level", named.join(", ")),
    }
}

/// A file name as a location: what would be a wildcard in it is escaped.
fn glob_escaped(path: &str) -> String {
    if path.contains(['*', '?', '[', ']', '{', '}']) { globset::escape(path) } else { path.to_owned() }
}

/// Lower-case letters, digits and `_`.
fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.ends_with('_') && !out.is_empty() {
            out.push('_');
        }
    }
    let out = out.trim_end_matches('_');
    if out.is_empty() { "path".to_owned() } else { out.to_owned() }
}

fn unique(id: &str, ids: &mut BTreeSet<String>) -> String {
    let mut name = id.to_owned();
    let mut number = 2;
    while !ids.insert(name.clone()) {
        name = format!("{id}_{number}");
        number += 1;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::inventory::read::read;

    #[test]
    fn a_draft_is_well_formed_and_undecided() {
        let site =
            |path, primitive, effect, symbol| Drafted { path, primitive, effect, symbol, in_reach: false };
        let sites = [
            site("a b.py", "os.execv", Effect::Replace, "f"),
            site("a b.py", "os.execv", Effect::Replace, "g"),
            site("a-b.py", "os.execv", Effect::Replace, "<module>"),
            site("x[1].js", "delete require.cache[…]", Effect::Reload, "\"odd\""),
        ];
        let text = write(&group(sites));
        let inventory = read("restart-paths.toml", &text).unwrap();
        assert_eq!(inventory.paths.len(), 3);
        assert!(inventory.paths.iter().all(|p| p.classification.value == Classification::Unclassified));
        assert_eq!(left(&inventory.paths[0]), ["classification", "guard", "references"]);
        let decided = read("restart-paths.toml", &text.replace("unclassified", "forbidden")).unwrap();
        assert_eq!(left(&decided.paths[0]), ["guard", "references"]);
        let decided =
            text.replace("unclassified", "forbidden").replace(GUARD, "Never.").replace(REFERENCE, "#1");
        assert!(left(&read("restart-paths.toml", &decided).unwrap().paths[0]).is_empty());
        assert_eq!(inventory.paths[0].mechanism, "2 sites of os.execv (replace) in f, g");
        assert_eq!(inventory.paths[1].mechanism, "one site of os.execv (replace)");
        let more = entries(&group(sites), &["a_b_py_os_execv", "x"]);
        let more = read("restart-paths.toml", &format!("schema = 1\n{more}")).unwrap();
        assert_eq!(more.paths[0].id.value, "a_b_py_os_execv_2");
        let odd = &inventory.paths[2];
        assert!(odd.locations[0].value.files().unwrap().holds("x[1].js"));
        assert!(
            odd.primitives[0].value.matches("delete require.cache[…]", crate::base::effect::Effect::Reload)
        );
    }

    #[test]
    fn a_draft_of_a_site_in_the_daemons_reach_shows_the_exception_and_takes_none() {
        let site = |symbol, effect, in_reach| Drafted {
            path: "server.py",
            primitive: "os.execv",
            effect,
            symbol,
            in_reach,
        };
        let sites = [site("a", Effect::Replace, true), site("b", Effect::Replace, false)];
        let text = write(&group(sites));
        assert!(text.contains("# locations = [\"server.py::a\"]\n# daemon_exception = true\n"), "{text}");
        assert!(!read("restart-paths.toml", &text).unwrap().paths[0].daemon_exception);
        // What the comment shows is well-formed where it is taken up.
        let taken = text
            .replace("locations = [\"server.py\"]\n", "")
            .replace("# locations", "locations")
            .replace("# daemon_exception", "daemon_exception");
        let taken = read("restart-paths.toml", &taken).unwrap();
        assert!(taken.paths[0].daemon_exception);
        assert!(taken.paths[0].locations[0].value.files().unwrap().holds_symbol("server.py", "a"));
        // A name that would end the comment stays in its line; an exit is covered without an exception.
        let odd = write(&group([site("x\ny = 1", Effect::Replace, true)]));
        assert!(read("restart-paths.toml", &odd).is_ok(), "{odd}");
        assert!(!write(&group([site("a", Effect::Exit, true)])).contains("daemon_exception"));
    }
}
