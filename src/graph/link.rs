//! From an import, as written, to the file of the tree that it means.

mod go;
mod javascript;
mod rust;

use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;

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
    /// Folders that hold at least one file, for namespace packages; whether they are Python packages.
    folders: FxHashMap<String, bool>,
    /// Hashes of the names that a Python module or package of the tree may begin with: its folders' and
    /// its Python files'. Most imports name none of them, and need no look at any root.
    heads: FxHashSet<u64>,
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
            let mut folder = parent(&path);
            while !folder.is_empty() && !files.folders.contains_key(folder) {
                files.folders.insert(folder.to_owned(), false);
                files.heads.insert(head_hash(last(folder)));
                folder = parent(folder);
            }
            if let Some(module) = last(&path).strip_suffix(".py") {
                files.heads.insert(head_hash(module));
                if module == "__init__"
                    && let Some(package) = files.folders.get_mut(parent(&path))
                {
                    *package = true;
                }
            }
            if path.ends_with(".go") {
                files.go_files.entry(parent(&path).to_owned()).or_default().push(path.clone());
            }
            files.paths.insert(path);
        }
        files.roots = roots.iter().map(|r| r.trim_matches('/').trim_start_matches("./").to_owned()).collect();
        files.roots.push(String::new());
        if files.folders.contains_key("src") {
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
            Language::Python => self.python(from, &import.module, import.name.as_deref()),
            Language::Javascript => javascript::resolve(self, from, import),
            Language::Go => go::resolve(self, from, import),
            Language::Rust => self.rust(from, import),
            _ => Target::Missing,
        }
    }

    /// What a Python import of a module, or of a name in it, means in the file `from`.
    pub fn python(&self, from: &str, module: &str, name: Option<&str>) -> Target {
        let dots = module.len() - module.trim_start_matches('.').len();
        if dots > 0 {
            let mut folder = parent(from);
            for _ in 1..dots {
                folder = parent(folder);
            }
            let rest = module[dots..].replace('.', "/");
            return self.python_at(&join(folder, &rest), name).unwrap_or(Target::Missing);
        }
        let head = module.split('.').next().unwrap_or(module);
        if self.may_begin_with(head) && !ALWAYS_LOADED.contains(&head) {
            let relative = module.replace('.', "/");
            for root in self.python_roots(from) {
                if let Some(target) = self.python_at(&join(root, &relative), name) {
                    return target;
                }
            }
        }
        Target::External(match name {
            Some(name) => [module, ".", name].concat(),
            None => module.to_owned(),
        })
    }

    /// Whether an absolute import of a Python file may mean a folder of the tree, which need not have a file of its own.
    pub fn is_python_folder(&self, from: &str, module: &str) -> bool {
        let relative = module.replace('.', "/");
        self.may_begin_with(module.split('.').next().unwrap_or(module))
            && self.python_roots(from).iter().any(|root| self.folders.contains_key(&join(root, &relative)))
    }

    /// Whether a root may hold a module of that first name. What is no name is not told apart.
    fn may_begin_with(&self, head: &str) -> bool {
        head.is_empty() || head.contains('/') || self.heads.contains(&head_hash(head))
    }

    /// The file's own folder where it is no package (a script puts it on the path first), then the
    /// configured roots, then the folder above the file's own top package.
    fn python_roots<'r>(&'r self, from: &'r str) -> SmallVec<[&'r str; 6]> {
        let own = parent(from);
        let mut roots: SmallVec<[&str; 6]> = SmallVec::new();
        let is_package = self.is_package(own);
        if !is_package {
            roots.push(own);
        }
        roots.extend(self.roots.iter().map(String::as_str).filter(|root| is_package || *root != own));
        for root in [self.above_packages(own), own] {
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
        roots
    }

    fn is_package(&self, folder: &str) -> bool {
        match folder {
            "" => self.paths.contains("__init__.py"),
            _ => self.folders.get(folder).is_some_and(|is_package| *is_package),
        }
    }

    /// The nearest folder upward that is no package; the root has none above it that is known.
    fn above_packages<'p>(&self, folder: &'p str) -> &'p str {
        let mut folder = folder;
        while !folder.is_empty() && self.is_package(folder) {
            folder = parent(folder);
        }
        folder
    }

    /// The module at a path without its ending, or a name in it.
    fn python_at(&self, base: &str, name: Option<&str>) -> Option<Target> {
        let module = self.python_module(base);
        let Some(name) = name else { return module.map(Target::File) };
        // `from package import name`: a submodule, unless the package's own file binds the name;
        // the solver looks into the file first, so the name wins where both exist.
        if let Some(file) = module {
            return Some(Target::Name(file, name.to_owned()));
        }
        if !base.is_empty() && !self.folders.contains_key(base) {
            return None;
        }
        match self.python_module(&join(base, name)) {
            Some(file) => Some(Target::File(file)),
            None => (!base.is_empty()).then_some(Target::Missing),
        }
    }

    fn python_module(&self, base: &str) -> Option<String> {
        let mut path = String::with_capacity(base.len() + "/__init__.py".len());
        path.push_str(base);
        path.push_str(".py");
        if self.paths.contains(&path) {
            return Some(path);
        }
        self.is_package(base).then(|| join(base, "__init__.py"))
    }

    /// The dotted name of a Python file, from its top package on.
    pub fn python_dotted(&self, path: &str) -> String {
        let folder = self.above_packages(parent(path));
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
        while !folder.is_empty() && self.is_package(folder) {
            let init = join(folder, "__init__.py");
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
        _ => [folder, "/", rest].concat(),
    }
}

/// The last part of a path.
fn last(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

fn head_hash(head: &str) -> u64 {
    FxBuildHasher.hash_one(head)
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
