//! How a project's modules are started: as programs that its metadata names (the scripts of a `pyproject.toml`,
//! `bin` of a `package.json`), and by an interpreter. Of text alone; what cannot be read names nothing.

/// A program that a Python project installs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The name of its command.
    pub name: String,
    /// The dotted module that it starts.
    pub module: String,
    /// The function that it calls there.
    pub function: String,
}

/// The scripts of a `pyproject.toml`, those of Poetry among them.
pub fn scripts(text: &str) -> Vec<Script> {
    let Ok(manifest) = text.parse::<toml::Table>() else { return Vec::new() };
    let project = |key: &str| manifest.get("project").and_then(|p| p.get(key));
    let poetry = manifest.get("tool").and_then(|t| t.get("poetry")).and_then(|p| p.get("scripts"));
    [project("scripts"), project("gui-scripts"), poetry]
        .into_iter()
        .flatten()
        .filter_map(|table| table.as_table())
        .flatten()
        .filter_map(|(name, value)| {
            let (module, function) = value.as_str()?.split_once(':')?;
            let function = function.split('[').next().unwrap_or(function).trim();
            Some(Script {
                name: name.clone(),
                module: module.trim().to_owned(),
                function: function.to_owned(),
            })
        })
        .collect()
}

/// The programs of a `package.json`: the name of the command, and the file. One that has no name of its own
/// has the package's.
pub fn bins(text: &str) -> Vec<(String, String)> {
    let Ok(manifest) = serde_json::from_str::<serde_json::Value>(text) else { return Vec::new() };
    let package = manifest.get("name").and_then(|name| name.as_str()).unwrap_or("");
    // `@scope/name` is installed as `name`.
    let package = package.rsplit('/').next().unwrap_or(package);
    let named: Vec<(&str, &str)> = match manifest.get("bin") {
        Some(serde_json::Value::String(file)) => vec![(package, file)],
        Some(serde_json::Value::Object(named)) => {
            named.iter().filter_map(|(name, file)| Some((name.as_str(), file.as_str()?))).collect()
        }
        _ => Vec::new(),
    };
    let plain = |file: &str| file.trim_start_matches("./").to_owned();
    named.into_iter().map(|(name, file)| (name.to_owned(), plain(file))).collect()
}

/// The dotted name of a Python module's file, by its path from the root.
pub fn dotted(module: &str) -> Option<String> {
    let module = module.strip_suffix(".py")?;
    let own = ["/__main__", "/__init__"].iter().find_map(|own| module.strip_suffix(own));
    Some(own.unwrap_or(module).replace('/', "."))
}

/// What stands behind the interpreter where a module's file is started: its path, and `-m` with its dotted name, from
/// the root or from a folder that holds the package.
pub fn started_as(module: &str) -> Vec<String> {
    let mut forms = vec![module.to_owned()];
    let dotted = dotted(module).unwrap_or_default();
    let mut rest = dotted.as_str();
    while !rest.is_empty() {
        forms.push(format!("-m {rest}"));
        rest = rest.split_once('.').map_or("", |(_, rest)| rest);
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_started_by_its_path_and_by_its_dotted_name() {
        assert_eq!(
            started_as("src/pkg/app.py"),
            ["src/pkg/app.py", "-m src.pkg.app", "-m pkg.app", "-m app"]
        );
        assert_eq!(started_as("pkg/__main__.py"), ["pkg/__main__.py", "-m pkg"]);
        assert_eq!(started_as("bin/server.js"), ["bin/server.js"]);
    }

    #[test]
    fn manifests_name_their_programs() {
        let pair = |name: &str, file: &str| (name.to_owned(), file.to_owned());
        assert_eq!(bins(r#"{"name": "@a/relay", "bin": "./cli.js"}"#), [pair("relay", "cli.js")]);
        assert_eq!(bins(r#"{"bin": {"a": "bin/a.js", "b": 1}}"#), [pair("a", "bin/a.js")]);
        assert!(bins("{").is_empty());
        let text = "[project.scripts]\na = \"pkg.cli:main\"\nb = \"x\"\n[tool.poetry.scripts]\nc = \"pkg:run [extra]\"\n";
        let script = |name: &str, module: &str, function: &str| Script {
            name: name.to_owned(),
            module: module.to_owned(),
            function: function.to_owned(),
        };
        assert_eq!(scripts(text), [script("a", "pkg.cli", "main"), script("c", "pkg", "run")]);
    }
}
