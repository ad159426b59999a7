//! From an import, as written, to the file of the tree that it means.

mod go;
mod javascript;
mod rust;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::facts::Language;
use crate::base::ir::Import;

/// Python's modules that are built in, or loaded before any program runs: a file of the tree with
/// such a name never stands in for them.
const ALWAYS_LOADED: &[&str] = &[
    "_codecs",
    "_imp",
    "_io",
    "_signal",
    "_thread",
    "_weakref",
    "abc",
    "atexit",
    "builtins",
    "codecs",
    "errno",
    "faulthandler",
    "gc",
    "io",
    "itertools",
    "marshal",
    "nt",
    "os",
    "posix",
    "posixpath",
    "pwd",
    "site",
    "stat",
    "sys",
    "time",
    "zipimport",
];

/// What an import means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A file of the tree.
    File(String),
    /// A name of a file of the tree.
    Name(String, String),
    /// A package of several files of the tree, or a name of it.
    Package(Vec<String>, Option<String>),
    /// Something outside, by canonical dotted path.
    External(String),
    /// Inside the tree by its form, but no such file.
    Missing,
}

/// The files of the tree, indexed for imports.
#[derive(Debug, Default)]
pub struct Files {
    paths: FxHashSet<String>,
    roots: Vec<String>,
    /// Folders that hold at least one file, for namespace packages.
    folders: FxHashSet<String>,
    /// Folders of Go modules with their names, the longest name first.
    go_modules: Vec<(String, String)>,
    /// Go files by folder.
    go_files: FxHashMap<String, Vec<String>>,
    crate_roots: FxHashMap<String, String>,
    packages: FxHashMap<String, String>,
}

impl Files {
    /// Indexes `paths` (relative, with `/`). `roots` are the configured source roots; the tree's own
    /// root and, if it exists, `src` are always roots.
    pub fn new(paths: impl IntoIterator<Item = String>, roots: &[String]) -> Files {
        let mut files = Files::default();
        for path in paths {
            let mut folder = path.as_str();
            while let Some((parent, _)) = folder.rsplit_once('/') {
                if !files.folders.insert(parent.to_owned()) {
                    break;
                }
                folder = parent;
            }
            if path.ends_with(".go") {
                files.go_files.entry(parent(&path).to_owned()).or_default().push(path.clone());
            }
            files.paths.insert(path);
        }
        files.roots = roots.iter().map(|r| r.trim_matches('/').trim_start_matches("./").to_owned()).collect();
        files.roots.push(String::new());
        if files.folders.contains("src") {
            files.roots.push("src".to_owned());
        }
        files
    }

    /// Tells the name of the Go module whose `go.mod` lies in a folder.
    pub fn add_go_module(&mut self, folder: &str, name: String) {
        self.go_modules.push((folder.to_owned(), name));
        self.go_modules.sort_by(|a, b| (b.1.len(), &a.1, &a.0).cmp(&(a.1.len(), &b.1, &b.0)));
    }

    /// Tells the library root of a crate of the tree, by the crate's name in code.
    pub fn add_crate(&mut self, name: String, root: String) {
        self.crate_roots.insert(name, root);
    }

    /// The library root of a crate of the tree.
    pub fn crate_root(&self, name: &str) -> Option<&str> {
        self.crate_roots.get(name).map(String::as_str)
    }

    /// Tells the entry file of a JavaScript package of the tree, by the package's name.
    pub fn add_package(&mut self, name: String, entry: &str) {
        if let Some(file) = javascript::file_at(self, entry) {
            self.packages.insert(name, file);
        }
    }

    /// The entry file of a JavaScript package of the tree.
    pub fn package_file(&self, name: &str) -> Option<&str> {
        self.packages.get(name).map(String::as_str)
    }

    /// Whether the tree holds the file.
    pub fn contains(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// What `import` means in the file `from`.
    pub fn resolve(&self, language: Language, from: &str, import: &Import) -> Target {
        match language {
            Language::Python => self.python(from, import),
            Language::Javascript => javascript::resolve(self, from, import),
            Language::Go => go::resolve(self, from, import),
            Language::Rust => self.rust(from, import),
            _ => Target::Missing,
        }
    }

    fn python(&self, from: &str, import: &Import) -> Target {
        let (module, name) = (import.module.as_str(), import.name.as_deref());
        let dots = module.len() - module.trim_start_matches('.').len();
        if dots > 0 {
            let mut folder = parent(from);
            for _ in 1..dots {
                folder = parent(folder);
            }
            let rest = module[dots..].replace('.', "/");
            return self.python_at(&join(folder, &rest), name).unwrap_or(Target::Missing);
        }
        let relative = module.replace('.', "/");
        let always = ALWAYS_LOADED.contains(&module.split('.').next().unwrap_or(module));
        for root in self.python_roots(from).into_iter().filter(|_| !always) {
            if let Some(target) = self.python_at(&join(&root, &relative), name) {
                return target;
            }
        }
        Target::External(match name {
            Some(name) => format!("{module}.{name}"),
            None => module.to_owned(),
        })
    }

    /// The file's own folder where it is no package (a script puts it on the path first), then the
    /// configured roots, then the folder above the file's own top package.
    fn python_roots(&self, from: &str) -> Vec<String> {
        let mut roots = self.roots.clone();
        let own = parent(from);
        if !self.paths.contains(&join(own, "__init__.py")) {
            roots.retain(|root| root != own);
            roots.insert(0, own.to_owned());
        }
        let mut folder = parent(from);
        // The root has no folder above it that is known.
        while !folder.is_empty() && self.paths.contains(&join(folder, "__init__.py")) {
            folder = parent(folder);
        }
        for root in [folder, parent(from)] {
            if !roots.iter().any(|r| r == root) {
                roots.push(root.to_owned());
            }
        }
        roots
    }

    /// The module at a path without its ending, or a name in it.
    fn python_at(&self, base: &str, name: Option<&str>) -> Option<Target> {
        let module = self.python_module(base);
        let Some(name) = name else { return module.map(Target::File) };
        // `from package import name`: a submodule, unless the package's own file binds the name;
        // the solver looks into the file first, so the name wins where both exist.
        let submodule = self.python_module(&join(base, name));
        match (module, submodule) {
            (Some(file), _) => Some(Target::Name(file, name.to_owned())),
            (None, Some(file)) => Some(Target::File(file)),
            (None, None) => {
                self.folders.contains(base).then_some(Target::Missing).filter(|_| !base.is_empty())
            }
        }
    }

    fn python_module(&self, base: &str) -> Option<String> {
        [format!("{base}.py"), join(base, "__init__.py")].into_iter().find(|path| self.paths.contains(path))
    }

    /// The dotted name of a Python file, from its top package on.
    pub fn python_dotted(&self, path: &str) -> String {
        let mut folder = parent(path);
        while !folder.is_empty() && self.paths.contains(&join(folder, "__init__.py")) {
            folder = parent(folder);
        }
        let rest = path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/');
        let module = rest.strip_suffix(".py").unwrap_or(rest);
        module.strip_suffix("/__init__").unwrap_or(module).replace('/', ".")
    }

    /// The submodule `name` of the package whose `__init__.py` is `package`.
    pub fn python_submodule(&self, package: &str, name: &str) -> Option<String> {
        let folder = package.strip_suffix("__init__.py")?.trim_end_matches('/');
        self.python_module(&join(folder, name))
    }

    /// The `__init__.py` files that run when a module is imported, the outermost first.
    pub fn python_packages(&self, module: &str) -> Vec<String> {
        let mut packages = Vec::new();
        let mut folder = parent(module);
        loop {
            let init = join(folder, "__init__.py");
            if folder.is_empty() || !self.paths.contains(&init) {
                break;
            }
            if init != module {
                packages.push(init);
            }
            folder = parent(folder);
        }
        packages.reverse();
        packages
    }
}

/// The folder of a path; the root is the empty string.
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Joins two relative paths.
pub fn join(folder: &str, rest: &str) -> String {
    match (folder.is_empty(), rest.is_empty()) {
        (true, _) => rest.to_owned(),
        (_, true) => folder.to_owned(),
        _ => format!("{folder}/{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(module: &str, name: Option<&str>) -> Import {
        Import { module: module.to_owned(), name: name.map(str::to_owned) }
    }

    #[test]
    fn a_root_that_is_a_package_itself_has_no_folder_above() {
        let files = Files::new(["__init__.py", "a.py"].map(str::to_owned), &[]);
        let found = files.resolve(Language::Python, "a.py", &import("os", None));
        assert_eq!(found, Target::External("os".into()));
        let found = files.resolve(Language::Python, "a.py", &import(".", Some("a")));
        assert_eq!(found, Target::Name("__init__.py".into(), "a".into()));
    }

    #[test]
    fn a_file_of_the_tree_stands_in_for_no_module_that_is_always_loaded() {
        let files = Files::new(["os.py", "pty.py", "pkg/__init__.py", "pkg/os.py"].map(str::to_owned), &[]);
        let resolve = |from: &str, wanted: Import| files.resolve(Language::Python, from, &wanted);
        assert_eq!(resolve("a.py", import("os", None)), Target::External("os".into()));
        assert_eq!(resolve("a.py", import("os", Some("fork"))), Target::External("os.fork".into()));
        assert_eq!(resolve("a.py", import("pty", None)), Target::File("pty.py".into()));
        assert_eq!(resolve("a.py", import("pkg.os", None)), Target::File("pkg/os.py".into()));
        assert_eq!(
            resolve("pkg/a.py", import(".os", Some("f"))),
            Target::Name("pkg/os.py".into(), "f".into())
        );
    }

    #[test]
    fn python_imports_find_packages_relatives_and_source_roots() {
        let files = Files::new(
            ["pkg/__init__.py", "pkg/server/main.py", "pkg/util.py", "src/lib_a/__init__.py", "ns/x/y.py"]
                .map(str::to_owned),
            &[],
        );
        let resolve =
            |from: &str, module: &str, name| files.resolve(Language::Python, from, &import(module, name));
        assert_eq!(
            resolve("pkg/server/main.py", "..util", Some("halt")),
            Target::Name("pkg/util.py".into(), "halt".into())
        );
        assert_eq!(resolve("pkg/util.py", ".server.main", None), Target::File("pkg/server/main.py".into()));
        assert_eq!(resolve("a.py", "lib_a", None), Target::File("src/lib_a/__init__.py".into()));
        assert_eq!(resolve("a.py", "ns.x", Some("y")), Target::File("ns/x/y.py".into()));
        assert_eq!(resolve("a.py", "os", Some("execv")), Target::External("os.execv".into()));
        assert_eq!(resolve("pkg/util.py", "..nowhere", None), Target::Missing);
    }
}
