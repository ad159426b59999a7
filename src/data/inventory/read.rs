//! Raw inventory → valid inventory, or every fault of it with its place.

use std::collections::BTreeMap;
use std::ops::Range;

use super::pattern::{CommandPattern, PrimitivePattern};
use super::{Classification, Inventory, Location, RestartPath};
use crate::data::fault::{Fault, Faults};
use crate::data::suggest;
use crate::data::table::{self, At, View, list};

/// The schema that this reads.
const SCHEMA: i64 = 1;
const TOP: [&str; 2] = ["schema", "path"];
/// Every key of a `[[path]]`.
pub const KEYS: [&str; 16] = [
    "id",
    "title",
    "classification",
    "mechanism",
    "guard",
    "locations",
    "primitives",
    "commands",
    "symbols",
    "processes",
    "guarded_by",
    "scope",
    "references",
    "daemon_exception",
    "residual_host",
    "notes",
];

/// Reads an inventory. `file` is its name in output, relative to the root.
pub fn read(file: &str, text: &str) -> Result<Inventory, Faults> {
    let mut faults = Vec::new();
    let document = table::document(text, &mut faults);
    let top = View::new(document.get_ref(), 0..first_line(text), "the inventory");
    // Where the file is no TOML, what could be read of it would only repeat that.
    if let Some(faults) = Faults::collect(file, text, std::mem::take(&mut faults)) {
        return Err(faults);
    }
    top.refuse_unknown(&TOP, &mut faults);
    schema(&top, &mut faults);
    let entries = top.tables("path", "[[path]]", &mut faults);
    let paths: Vec<RestartPath> = entries.iter().map(|view| path(view, &mut faults)).collect();
    duplicates(&paths, &mut faults);
    match Faults::collect(file, text, faults) {
        Some(faults) => Err(faults),
        None => Ok(Inventory { file: file.to_owned(), text: text.to_owned(), paths }),
    }
}

fn first_line(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

fn schema(top: &View<'_, '_>, faults: &mut Vec<Fault>) {
    if top.get("schema").is_none() {
        faults.push(Fault::new(top.span.clone(), "the inventory lacks `schema`", "begin with `schema = 1`"));
    } else if let Some(schema) = top.integer("schema", faults)
        && schema.value != SCHEMA
    {
        let message =
            format!("schema {} is not known to this version; it reads schema {SCHEMA}", schema.value);
        faults.push(Fault::new(schema.span, message, "unknown schema"));
    }
}

fn duplicates(paths: &[RestartPath], faults: &mut Vec<Fault>) {
    let mut first: BTreeMap<&str, &Range<usize>> = BTreeMap::new();
    for path in paths.iter().filter(|p| !p.id.value.is_empty()) {
        if first.insert(path.id.value.as_str(), &path.id.span).is_some() {
            faults.push(
                Fault::new(
                    path.id.span.clone(),
                    format!("the id `{}` is given twice", path.id.value),
                    "already used above",
                )
                .help("an id names one path: rename this one, or merge the two"),
            );
        }
    }
}

fn path(view: &View<'_, '_>, faults: &mut Vec<Fault>) -> RestartPath {
    view.refuse_unknown(&KEYS, faults);
    let id = id(view, faults);
    let name = if id.value.is_empty() { "this path".to_owned() } else { format!("`{}`", id.value) };
    let classification = classification(view, &name, faults);
    let path = RestartPath {
        title: filled(view, "title", &name, faults),
        mechanism: filled(view, "mechanism", &name, faults),
        guard: filled(view, "guard", &name, faults),
        locations: locations(view, &name, faults),
        primitives: primitives(view, faults),
        commands: commands(view, faults),
        symbols: names(view, "symbols", faults),
        processes: names(view, "processes", faults),
        guarded_by: names(view, "guarded_by", faults),
        import_scope: scope(view, faults),
        references: references(view, &name, faults),
        daemon_exception: view.flag("daemon_exception", faults).is_some_and(|f| f.value),
        residual_host: view.flag("residual_host", faults).is_some_and(|f| f.value),
        notes: notes(view, faults),
        span: view.span.clone(),
        id,
        classification,
    };
    agreement(view, &path, &name, faults);
    path
}

fn id(view: &View<'_, '_>, faults: &mut Vec<Fault>) -> At<String> {
    let Some(id) = view.text("id", faults) else {
        if view.get("id").is_none() {
            faults.push(Fault::new(view.span.clone(), "a path lacks `id`", "this one"));
        }
        return At { value: String::new(), span: view.span.clone() };
    };
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if id.value.is_empty() || !id.value.chars().all(fits) {
        faults.push(
            Fault::new(id.span.clone(), format!("`{}` is no id", id.value), "here")
                .help("an id is made of lower-case letters, digits and `_`"),
        );
    }
    id
}

fn classification(view: &View<'_, '_>, name: &str, faults: &mut Vec<Fault>) -> At<Classification> {
    let known = Classification::ALL.map(Classification::name);
    let undecided = |span| At { value: Classification::Unclassified, span };
    let Some(text) = view.text("classification", faults) else {
        if view.get("classification").is_none() {
            faults.push(
                Fault::new(view.span.clone(), format!("{name} lacks `classification`"), "this path")
                    .help(format!("one of {}", list(&known))),
            );
        }
        return undecided(view.span.clone());
    };
    match Classification::from_name(&text.value) {
        Some(value) => At { value, span: text.span },
        None => {
            let near = suggest::did_you_mean(&text.value, known);
            let help = if near.is_empty() { format!("one of {}", list(&known)) } else { near };
            let message = format!("`{}` is no classification", text.value);
            faults.push(Fault::new(text.span.clone(), message, "here").help(help));
            undecided(text.span)
        }
    }
}

/// A string that must be there and say something.
fn filled(view: &View<'_, '_>, key: &str, name: &str, faults: &mut Vec<Fault>) -> String {
    match view.text(key, faults) {
        Some(text) if !text.value.trim().is_empty() => text.value,
        Some(text) => {
            faults.push(Fault::new(
                text.span,
                format!("the `{key}` of {name} is empty"),
                "must say something",
            ));
            String::new()
        }
        None => {
            lacking(view, key, name, faults);
            String::new()
        }
    }
}

fn lacking(view: &View<'_, '_>, key: &str, name: &str, faults: &mut Vec<Fault>) {
    if view.get(key).is_none() {
        faults.push(Fault::new(view.span.clone(), format!("{name} lacks `{key}`"), "this path"));
    }
}

fn locations(view: &View<'_, '_>, name: &str, faults: &mut Vec<Fault>) -> Vec<At<Location>> {
    let texts = view.texts("locations", faults);
    if view.get("locations").is_none() {
        lacking(view, "locations", name, faults);
    } else if texts.is_empty() {
        let message = format!("the `locations` of {name} are empty");
        faults.push(Fault::new(view.key_span("locations"), message, "must name at least one place"));
    }
    let mut found = Vec::new();
    for text in texts {
        match Location::read(&text.value) {
            Ok(value) => found.push(At { value, span: text.span }),
            Err(message) => faults.push(Fault::new(text.span, message, "here")),
        }
    }
    found
}

fn primitives(view: &View<'_, '_>, faults: &mut Vec<Fault>) -> Vec<At<PrimitivePattern>> {
    let mut found = Vec::new();
    for text in view.texts("primitives", faults) {
        match PrimitivePattern::read(&text.value) {
            Ok(value) => found.push(At { value, span: text.span }),
            Err((message, help)) => faults.push(Fault::new(text.span, message, "here").help(help)),
        }
    }
    found
}

fn commands(view: &View<'_, '_>, faults: &mut Vec<Fault>) -> Vec<At<CommandPattern>> {
    let mut found = Vec::new();
    for text in view.texts("commands", faults) {
        match CommandPattern::read(&text.value) {
            Ok(value) => found.push(At { value, span: text.span }),
            Err(message) => faults.push(Fault::new(text.span, message, "here")),
        }
    }
    found
}

/// Names that must not be empty.
fn names(view: &View<'_, '_>, key: &str, faults: &mut Vec<Fault>) -> Vec<At<String>> {
    let mut found = view.texts(key, faults);
    found.retain(|name| {
        let empty = name.value.trim().is_empty();
        if empty {
            faults.push(Fault::new(name.span.clone(), format!("`{key}` holds an empty name"), "here"));
        }
        !empty
    });
    found
}

fn scope(view: &View<'_, '_>, faults: &mut Vec<Fault>) -> bool {
    match view.text("scope", faults) {
        None => false,
        Some(scope) if scope.value == "import" => true,
        Some(scope) => {
            faults.push(
                Fault::new(scope.span, format!("`{}` is no scope", scope.value), "here")
                    .help("the only scope is `import`; leave the key out otherwise"),
            );
            false
        }
    }
}

fn references(view: &View<'_, '_>, name: &str, faults: &mut Vec<Fault>) -> Vec<String> {
    let texts = names(view, "references", faults);
    if view.get("references").is_none() {
        lacking(view, "references", name, faults);
    } else if texts.is_empty() {
        let message = format!("the `references` of {name} are empty");
        faults.push(
            Fault::new(view.key_span("references"), message, "must name where this was decided")
                .help("an issue, a pull request or a document, such as `#657`"),
        );
    }
    texts.into_iter().map(|t| t.value).collect()
}

/// A string or a list of them.
fn notes(view: &View<'_, '_>, faults: &mut Vec<Fault>) -> Vec<String> {
    match view.get("notes").map(|v| v.get_ref()) {
        Some(toml::de::DeValue::Array(_)) => {
            view.texts("notes", faults).into_iter().map(|t| t.value).collect()
        }
        Some(_) => view.text("notes", faults).into_iter().map(|t| t.value).collect(),
        None => Vec::new(),
    }
}

/// What the classification demands of the other keys.
fn agreement(view: &View<'_, '_>, path: &RestartPath, name: &str, faults: &mut Vec<Fault>) {
    // A classification that could not be read demands nothing.
    let Some(classification) =
        view.get("classification").and_then(|v| v.get_ref().as_str()).and_then(Classification::from_name)
    else {
        return;
    };
    if classification == Classification::HostResidual {
        if !path.residual_host {
            faults.push(Fault::new(
                path.classification.span.clone(),
                format!("{name} is `host_residual` and lacks `residual_host = true`"),
                "needs `residual_host = true`",
            ));
        }
        for location in path.locations.iter().filter(|l| l.value.files().is_some()) {
            faults.push(Fault::new(
                location.span.clone(),
                format!(
                    "{name} is `host_residual`, and `{}` is no place of the host",
                    location.value.display()
                ),
                "must begin with `host:`",
            ));
        }
    } else if path.residual_host {
        faults.push(Fault::new(
            view.key_span("residual_host"),
            format!("`residual_host` stands on {name}, which is `{}`", classification.name()),
            "belongs to `host_residual` alone",
        ));
    }
    if classification == Classification::Removed && path.symbols.is_empty() && path.primitives.is_empty() {
        faults.push(
            Fault::new(
                path.classification.span.clone(),
                format!("{name} is `removed` and lists neither `symbols` nor `primitives`"),
                "nothing could ever match it",
            )
            .help("list the `symbols` that were deleted, or the `primitives` that must not return"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r##"schema = 1

[[path]]
id = "boot"
title = "Boot"
classification = "sanctioned_narrow_recovery"
mechanism = "Re-execs."
guard = "One-shot."
locations = ["a.py::boot", "scripts/*.py"]
primitives = ["os.exec*"]
guarded_by = ["sys.executable"]
scope = "import"
references = ["#1"]
"##;

    fn faults(text: &str) -> Vec<String> {
        let text_of = |f: &Fault| format!("{} {} {}", f.message, f.label, f.help.clone().unwrap_or_default());
        match read("restart-paths.toml", text) {
            Ok(_) => Vec::new(),
            Err(faults) => faults.faults.iter().map(text_of).collect(),
        }
    }

    #[test]
    fn a_good_one_is_read_whole() {
        let inventory = read("restart-paths.toml", GOOD).unwrap();
        let path = inventory.get("boot").unwrap();
        assert_eq!(path.locations.len(), 2);
        assert!(path.import_scope && !path.daemon_exception);
        assert_eq!(&GOOD[path.id.span.clone()], "\"boot\"");
    }

    #[test]
    fn ten_faults_are_ten_messages() {
        let text = r##"schema = 99
paths = 1

[[path]]
id = "Bad-Id"
title = ""
classification = "forbiden"
mechanism = "x"
locations = ["a.py:12", "/abs"]
scope = "module"
references = []
primitives = ["effect:repalce"]
locatons = ["b.py"]
"##;
        let found = faults(text);
        for (at, part) in [
            "schema 99",
            "`path`",
            "Bad-Id",
            "`title`",
            "`forbidden`",
            "a.py:12",
            "/abs",
            "`module`",
            "references",
            "`replace`",
            "`locations`",
            "`guard`",
        ]
        .iter()
        .enumerate()
        {
            assert!(found.iter().any(|f| f.contains(part)), "{at} {part}: {found:#?}");
        }
    }

    #[test]
    fn a_classification_demands_its_keys() {
        let host = |extra: &str| {
            GOOD.replace("sanctioned_narrow_recovery", "host_residual").replace("scope = \"import\"", extra)
        };
        let found = faults(&host(""));
        assert!(found.iter().any(|f| f.contains("residual_host = true")), "{found:?}");
        assert_eq!(found.iter().filter(|f| f.contains("host:")).count(), 2);
        let good =
            host("residual_host = true").replace("[\"a.py::boot\", \"scripts/*.py\"]", "[\"host:IDE\"]");
        assert!(faults(&good).is_empty());
        let wrong = GOOD.replace("scope = \"import\"", "residual_host = true");
        assert!(faults(&wrong)[0].contains("residual_host"));
        let removed = GOOD
            .replace("sanctioned_narrow_recovery", "removed")
            .replace("primitives = [\"os.exec*\"]", "primitives = []");
        assert!(faults(&removed)[0].contains("symbols"));
    }

    #[test]
    fn ids_are_unique_and_toml_faults_have_a_place() {
        let twice = format!("{GOOD}{}", GOOD.trim_start_matches("schema = 1\n"));
        assert!(faults(&twice)[0].contains("given twice"));
        assert!(!faults("schema = 1\n\n[[path]\nid = \"x\"\n").is_empty());
        assert!(faults("").iter().any(|f| f.contains("schema")));
        assert!(faults("schema = 1\npath = 3\n").iter().any(|f| f.contains("list of tables")));
    }
}
