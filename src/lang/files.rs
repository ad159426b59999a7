//! Which file is read as what: names, folders, shebangs and, where a name says too
//! little, the first lines.

use std::collections::BTreeSet;

use crate::base::facts::Language;

/// How many bytes of a file are looked at to tell what it is.
pub const HEAD: usize = 64 << 10;

/// Endings of data, markup, pictures, archives and built things: such a file is taken for no program,
/// whatever its first line says, and it is of no format that is read.
const LIFELESS: [&str; 43] = [
    "7z", "a", "bmp", "bz2", "class", "css", "csv", "dll", "dylib", "eot", "gif", "gz", "htm", "html", "ico",
    "jar", "jpeg", "jpg", "map", "mo", "mp3", "mp4", "npy", "o", "parquet", "pdf", "pickle", "png", "po",
    "pot", "pyc", "pyi", "scss", "so", "svg", "tar", "tgz", "ttf", "wasm", "webp", "woff", "woff2", "zip",
];
/// Endings of data that may be of a host format.
const DATA: [&str; 4] = ["json", "toml", "yaml", "yml"];

/// Whether a file of that name may be read as one of the languages (none given: any), whatever stands in it.
pub fn may_be(path: &str, languages: Option<&BTreeSet<Language>>) -> bool {
    let wants = |language: Language| languages.is_none_or(|languages| languages.contains(&language));
    match extension(path).as_str() {
        ending if LIFELESS.binary_search(&ending).is_ok() => false,
        ending if DATA.contains(&ending) => wants(Language::Embedded),
        _ => true,
    }
}

/// The host formats that hold commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Make rules.
    Make,
    /// A justfile.
    Just,
    /// `Taskfile.yml`.
    Taskfile,
    /// `tox.ini`.
    Tox,
    /// `package.json`.
    PackageJson,
    /// `pyproject.toml`.
    Pyproject,
    /// `Procfile`.
    Procfile,
    /// A Dockerfile.
    Dockerfile,
    /// A compose file.
    Compose,
    /// Kubernetes manifests.
    Kubernetes,
    /// A systemd unit.
    Unit,
    /// A launchd property list.
    Plist,
    /// A supervisord configuration.
    Supervisord,
    /// A workflow or composite action of Gitea or GitHub.
    Workflow,
    /// `.gitlab-ci.yml`.
    Gitlab,
    /// `.pre-commit-config.yaml`.
    PreCommit,
    /// VS Code tasks.
    VscodeTasks,
    /// The configuration of an MCP client, or of an agent with hooks.
    McpClient,
    /// The same, in TOML.
    McpToml,
}

/// What a file is read as, by its path (with `/`) and its first bytes. A shebang decides
/// before an extension.
pub fn language_of(path: &str, first_bytes: &[u8]) -> Option<Language> {
    let head = first_bytes.get(..HEAD.min(first_bytes.len())).unwrap_or(&[]);
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let name = name_of(path);
    if is_declaration(name) {
        return None;
    }
    if !may_be(path, None) {
        return None;
    }
    if format_of(path, head).is_some() {
        return Some(Language::Embedded);
    }
    if let Some(language) = shebang(head).filter(|_| !DATA.contains(&extension(path).as_str())) {
        return Some(language);
    }
    match extension(path).as_str() {
        "py" | "ipynb" => Some(Language::Python),
        "rs" => Some(Language::Rust),
        "sh" | "bash" | "zsh" | "bats" => Some(Language::Shell),
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => Some(Language::Javascript),
        "go" => Some(Language::Go),
        "ps1" | "bat" | "cmd" | "psm1" => Some(Language::Windows),
        "md" | "mdc" | "rst" => Some(Language::Document),
        _ => is_hook(path).then_some(Language::Shell),
    }
}

/// What stands after the last dot of a file's name, in small letters; nothing for a name that begins with it.
fn extension(path: &str) -> String {
    let name = name_of(path);
    let (_, ending) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).unwrap_or_default();
    ending.to_ascii_lowercase()
}

/// A file that only declares types, of TypeScript as of Python: nothing in it runs.
fn is_declaration(name: &str) -> bool {
    let Some((stem, "ts" | "mts" | "cts")) = name.rsplit_once('.') else { return false };
    // `app.d.ts`, and `style.d.css.ts` for a module of another kind.
    stem.split('.').skip(1).any(|part| part == "d")
}

/// Whether a file is a template that another program fills in (`x.tpl.js`), so that a fault of its
/// syntax says nothing of the file that it becomes.
pub fn is_template(path: &str) -> bool {
    let parts: Vec<&str> = name_of(path).split('.').collect();
    let inner = parts.get(1..parts.len().saturating_sub(1)).unwrap_or(&[]);
    inner.iter().any(|part| matches!(*part, "tpl" | "tmpl" | "template"))
}

/// The interpreter that a shebang names.
fn shebang(head: &[u8]) -> Option<Language> {
    let line = head.strip_prefix(b"#!")?.split(|&b| b == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_whitespace();
    let mut program = base(words.next()?);
    if program == "env" {
        program = base(words.find(|w| !w.starts_with('-') && !w.contains('='))?);
    }
    let stem = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match stem {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "mksh" | "ash" | "bats" | "rbash" | "openrc-run"
        | "runscript" => Some(Language::Shell),
        "python" | "pypy" | "uv" => Some(Language::Python),
        "node" | "nodejs" | "deno" | "bun" | "tsx" | "ts-node" => Some(Language::Javascript),
        "pwsh" => Some(Language::Windows),
        // `make -f`: debian/rules, which the table of formats knows by name.
        _ => None,
    }
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn name_of(path: &str) -> &str {
    base(path)
}

/// A git hook: known by its folder, a file without an extension.
fn is_hook(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or("");
    let folder = parts.next().unwrap_or("");
    let plain = !name.contains('.') && !name.is_empty();
    plain
        && match folder {
            ".githooks" | ".husky" | "githooks" => true,
            "hooks" => HOOKS.contains(&name),
            _ => false,
        }
}

const HOOKS: &[&str] = &[
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "post-index-change",
];

/// The host format of a file, by its path and its first bytes.
pub fn format_of(path: &str, head: &[u8]) -> Option<Format> {
    let name = name_of(path);
    let lower = name.to_ascii_lowercase();
    let folders: Vec<&str> = path.split('/').rev().skip(1).collect();
    let within = |folder: &str| folders.contains(&folder);
    let parent = folders.first().copied().unwrap_or("");
    let extension = lower.rsplit_once('.').map_or("", |(_, e)| e);
    let yaml = matches!(extension, "yml" | "yaml");
    match lower.as_str() {
        "makefile" | "gnumakefile" | "bsdmakefile" => return Some(Format::Make),
        "justfile" | ".justfile" => return Some(Format::Just),
        "taskfile.yml" | "taskfile.yaml" | "taskfile.dist.yml" | "taskfile.dist.yaml" => {
            return Some(Format::Taskfile);
        }
        "tox.ini" => return Some(Format::Tox),
        "package.json" => return Some(Format::PackageJson),
        "pyproject.toml" => return Some(Format::Pyproject),
        "dockerfile" | "containerfile" => return Some(Format::Dockerfile),
        ".pre-commit-config.yaml" | ".pre-commit-config.yml" | ".pre-commit-hooks.yaml" => {
            return Some(Format::PreCommit);
        }
        "supervisord.conf" => return Some(Format::Supervisord),
        "mcp.json"
        | ".mcp.json"
        | "claude_desktop_config.json"
        | "mcp_config.json"
        | "cline_mcp_settings.json"
        | "mcp-config.json"
        | "mcp_settings.json" => {
            return Some(Format::McpClient);
        }
        "settings.json" | "settings.local.json" | "hooks.json" => return Some(Format::McpClient),
        "config.toml" if parent == ".codex" => return Some(Format::McpToml),
        _ => {}
    }
    if name == "rules" && parent == "debian" {
        return Some(Format::Make);
    }
    if lower == "tasks.json" && parent == ".vscode" {
        return Some(Format::VscodeTasks);
    }
    if lower == "procfile" || lower.starts_with("procfile.") {
        return Some(Format::Procfile);
    }
    if lower.starts_with("dockerfile.")
        || lower.ends_with(".dockerfile")
        || lower.starts_with("containerfile.")
    {
        return Some(Format::Dockerfile);
    }
    match extension {
        "mk" | "mak" => return Some(Format::Make),
        "just" => return Some(Format::Just),
        "service" | "socket" | "timer" | "mount" | "automount" | "swap" | "path"
            if !lower.starts_with('.') =>
        {
            return Some(Format::Unit);
        }
        // A drop-in of a unit: `x.service.d/override.conf`.
        "conf" if unit_folder(parent) => return Some(Format::Unit),
        "plist" => return Some(Format::Plist),
        "conf" | "ini"
            if parent == "supervisor"
                || within("supervisor")
                || within("supervisord")
                || is_supervisord(head) =>
        {
            return Some(Format::Supervisord);
        }
        _ => {}
    }
    if extension == "json" && is_manifest(head) {
        return Some(Format::Kubernetes);
    }
    if !yaml {
        return None;
    }
    let workflows = parent == "workflows"
        && folders.get(1).is_some_and(|f| matches!(*f, ".github" | ".gitea" | ".forgejo"));
    if workflows || ((lower == "action.yml" || lower == "action.yaml") && contains(head, b"runs:")) {
        return Some(Format::Workflow);
    }
    if lower.ends_with(".gitlab-ci.yml") || lower.ends_with(".gitlab-ci.yaml") || within(".gitlab-ci") {
        return Some(Format::Gitlab);
    }
    if lower.contains("compose") {
        return Some(Format::Compose);
    }
    is_manifest(head).then_some(Format::Kubernetes)
}

/// Whether a file says what an API calls it, in YAML or in JSON's spelling.
fn is_manifest(head: &[u8]) -> bool {
    let head = head.get(..HEAD.min(head.len())).unwrap_or(&[]);
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    if !contains(head, b"apiVersion") {
        return false;
    }
    let plain = has_line(head, b"apiVersion:") && has_line(head, b"kind:");
    let quoted = |start: &[u8]| {
        head.split(|&b| b == b'\n').any(|line| {
            let line = line.trim_ascii_start();
            let line = line.strip_prefix(b"{").map_or(line, <[u8]>::trim_ascii_start);
            line.starts_with(start)
        })
    };
    plain || (quoted(b"\"apiVersion\"") && contains(head, b"\"kind\""))
}

fn unit_folder(parent: &str) -> bool {
    [".service.d", ".socket.d", ".timer.d"].iter().any(|end| parent.ends_with(end))
}

fn is_supervisord(head: &[u8]) -> bool {
    head.split(|&b| b == b'\n').any(|line| {
        line.starts_with(b"[program:")
            || line.starts_with(b"[supervisord]")
            || line.starts_with(b"[eventlistener:")
    })
}

fn contains(head: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(head, needle).is_some()
}

fn has_line(head: &[u8], start: &[u8]) -> bool {
    head.split(|&b| b == b'\n').any(|line| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(path: &str, head: &str, want: Option<Language>) {
        assert_eq!(language_of(path, head.as_bytes()), want, "{path}");
    }

    #[test]
    fn a_name_tells_what_need_not_be_opened() {
        let python = BTreeSet::from([Language::Python]);
        for (path, any, asked) in [
            ("a.py", true, true),
            ("bin/tool", true, true),
            ("deploy.json", true, false),
            ("logo.PNG", false, false),
            (".png", true, true),
            ("notes.txt", true, true),
        ] {
            assert_eq!(may_be(path, None), any, "{path}");
            assert_eq!(may_be(path, Some(&python)), asked, "{path}");
        }
        assert!(LIFELESS.is_sorted());
    }

    #[test]
    fn names_shebangs_and_folders_decide() {
        reads("a.py", "", Some(Language::Python));
        reads("bin/tool", "#!/usr/bin/env python3\n", Some(Language::Python));
        reads("bin/tool.py", "#!/bin/sh\n", Some(Language::Shell));
        reads("bin/tool", "#!/usr/bin/env -S bash -e\n", Some(Language::Shell));
        reads("bin/tool", "#!/usr/bin/awk -f\n", None);
        reads(".githooks/pre-push", "pkill x\n", Some(Language::Shell));
        reads("hooks/pre-push", "pkill x\n", Some(Language::Shell));
        reads("src/hooks/useThing", "", None);
        reads("debian/rules", "#!/usr/bin/make -f\n", Some(Language::Embedded));
        reads("a.pyi", "", None);
        for path in ["a.d.ts", "a.d.mts", "b.c.d.cts", "style.d.css.ts"] {
            reads(path, "", None);
        }
        reads("d.ts", "", Some(Language::Javascript));
        reads("x.ts", "", Some(Language::Javascript));
        reads("README", "", None);
        reads("run.PS1", "", Some(Language::Windows));
        reads("strings.json", "#!/usr/bin/env python3\n", None);
        reads("logo.png", "#!/bin/sh\n", None);
        reads("install.bin", "#!/bin/sh\n", Some(Language::Shell));
    }

    #[test]
    fn templates_are_known_by_their_names() {
        for (path, want) in [
            ("a/config.tpl.js", true),
            ("x.template.yaml", true),
            ("tpl.js", false),
            ("a.tpl", false),
            ("a", false),
        ] {
            assert_eq!(is_template(path), want, "{path}");
        }
    }

    #[test]
    fn formats_are_told_apart() {
        for (path, head, want) in [
            ("Makefile", "", Format::Make),
            ("x/docker-compose.prod.yaml", "", Format::Compose),
            ("k8s/a.yaml", "---\napiVersion: v1\nkind: Pod\n", Format::Kubernetes),
            ("k8s/a.json", "{\n \"apiVersion\": \"v1\",\n \"kind\": \"Pod\"}", Format::Kubernetes),
            ("k8s/b.yaml", "\"apiVersion\": v1\n\"kind\": Pod\n", Format::Kubernetes),
            (".gitea/workflows/a.yaml", "", Format::Workflow),
            ("ci/action.yml", "runs:\n", Format::Workflow),
            ("deploy/a.service", "", Format::Unit),
            ("a.service.d/limits.conf", "", Format::Unit),
            ("etc/supervisor/conf.d/a.conf", "", Format::Supervisord),
            ("a.ini", "[program:a]\n", Format::Supervisord),
            (".claude/settings.json", "", Format::McpClient),
            (".vscode/tasks.json", "", Format::VscodeTasks),
            ("Dockerfile.dev", "", Format::Dockerfile),
        ] {
            assert_eq!(format_of(path, head.as_bytes()), Some(want), "{path}");
        }
        for path in ["a.yaml", "a.json", "nginx.conf", "tasks.json"] {
            assert_eq!(format_of(path, b""), None, "{path}");
        }
    }
}
