//! Whether a command line runs one of the named servers. An editor, a search or a
//! shell that only mentions the file does not; an interpreter that runs it does.

/// Programs that run the script they are given, in their own process. A version may follow (`python3.12`).
const INTERPRETERS: [&str; 12] =
    ["python", "pypy", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "tsx", "ts-node", "pythonw"];
/// Shells: they run a script that they are given, and `-c` names none.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];
/// Scripts and modules that run a further file in the same process.
const RUNNERS: [&str; 12] = [
    "debugpy",
    "coverage",
    "pdb",
    "cProfile",
    "trace",
    "mcp",
    "fastmcp",
    "uvicorn",
    "gunicorn",
    "hypercorn",
    "runpy",
    "viztracer",
];
/// Words of runners and interpreters that stand before the file.
const SUBCOMMANDS: [&str; 3] = ["run", "dev", "serve"];

/// The names to look for: the configured processes, and the file names of the daemon modules.
/// A wildcard names no process, and a package's entry file runs under the package's name.
pub fn server_names(processes: &[String], daemon_modules: &[&str]) -> Vec<String> {
    let mut names = processes.to_vec();
    for module in daemon_modules {
        let (folder, file) = module.rsplit_once('/').unwrap_or(("", module));
        let name = match file {
            "__main__.py" | "__init__.py" => last_part(folder),
            file => file,
        };
        if !name.is_empty() && !name.contains(['*', '?', '[', '{']) {
            names.push(name.to_owned());
        }
    }
    names.sort();
    names.dedup();
    names
}

/// The first of the named servers that this command line runs. A name is a file name
/// (`mcp_server.py`) or a program's (`gitea-mcp`); paths are compared by their last part.
///
/// ```
/// use restartlint::pass::fleet::server_name;
///
/// let names = vec!["mcp_server.py".to_string()];
/// let words = |line: &str| line.split(' ').map(str::to_string).collect::<Vec<_>>();
/// assert_eq!(server_name(&words("/usr/bin/python3 -u /srv/mcp_server.py"), &names), Some("mcp_server.py"));
/// assert_eq!(server_name(&words("python3 -m mcp_server"), &names), Some("mcp_server.py"));
/// assert_eq!(server_name(&words("vim mcp_server.py"), &names), None);
/// ```
pub fn server_name<'n>(argv: &[String], names: &'n [String]) -> Option<&'n str> {
    // A server that set its own title has one word with blanks in it.
    let titled: Vec<&str> = match argv {
        [title] => title.split_whitespace().collect(),
        words => words.iter().map(String::as_str).collect(),
    };
    let (program, rest) = titled.split_first()?;
    let program = last_part(program.trim_start_matches('-').trim_end_matches(':'));
    let of = |word: &str| names.iter().map(String::as_str).find(|name| same_file(word, name));
    if let Some(name) = of(program) {
        return Some(name);
    }
    let shell = SHELLS.contains(&program);
    if !shell && !is_interpreter(program) && !RUNNERS.contains(&program) {
        return None;
    }
    script_words(rest, shell).into_iter().find_map(|word| match word {
        Word::File(word) => of(word),
        Word::Module(word) => names.iter().map(String::as_str).find(|name| same_module(word, name)),
    })
}

enum Word<'w> {
    File(&'w str),
    Module(&'w str),
}

/// The words that may name what an interpreter runs. Which options take a value is not known
/// for every interpreter, so a word after an option may be the value or the file: both count.
fn script_words<'w>(words: &[&'w str], shell: bool) -> Vec<Word<'w>> {
    let mut found = Vec::new();
    let mut after_option = false;
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "-c" | "-e" | "--eval" | "-p" | "--print" => break,
            "-m" => {
                let Some(module) = words.next() else { break };
                found.push(Word::Module(module));
                if !RUNNERS.contains(&module) {
                    break;
                }
                after_option = false;
            }
            _ if word.starts_with('-') => {
                // `bash -lc TEXT` is `-c` as well.
                if shell && !word.starts_with("--") && word.contains('c') {
                    break;
                }
                after_option = !word.contains('=');
            }
            _ => {
                found.push(Word::File(word));
                if word.contains(':') {
                    found.push(Word::Module(word.split(':').next().unwrap_or(word)));
                }
                let goes_on = RUNNERS.contains(&last_part(word)) || SUBCOMMANDS.contains(&word);
                if !after_option && !goes_on {
                    break;
                }
                after_option = false;
            }
        }
    }
    found
}

fn is_interpreter(program: &str) -> bool {
    let program = program.strip_suffix(".exe").unwrap_or(program);
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&bare)
}

fn last_part(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or(word)
}

fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

fn same_file(word: &str, name: &str) -> bool {
    let (word, name) = (last_part(word), last_part(name));
    !name.is_empty() && (word == name || stem(word) == name)
}

fn same_module(module: &str, name: &str) -> bool {
    let plain = |text: &str| text.replace('-', "_");
    let last = module.rsplit('.').next().unwrap_or(module);
    let name = stem(last_part(name));
    !name.is_empty()
        && (plain(last) == plain(name)
            || module.split('.').next().is_some_and(|first| plain(first) == plain(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(line: &str) -> bool {
        let names = ["mcp_server.py".to_owned(), "gitea-mcp".to_owned()];
        let argv: Vec<String> = line.split('|').map(str::to_owned).collect();
        server_name(&argv, &names).is_some()
    }

    #[test]
    fn servers_are_seen() {
        for line in [
            "python3|mcp_server.py",
            "/usr/bin/python3.12|-u|/srv/tools/mcp_server.py|--profile|author",
            "python3|-W|ignore|mcp_server.py",
            "python|-m|mcp_server",
            "python|-m|tools.mcp_server",
            "python|-m|gitea_mcp.server",
            "python3|/venv/bin/gitea-mcp",
            "node|--require|x|/opt/gitea-mcp.js",
            "deno|run|--allow-all|gitea-mcp.ts",
            "/usr/local/bin/gitea-mcp|--stdio",
            "gitea-mcp.exe",
            "gitea-mcp: idle",
            "bash|gitea-mcp",
            "python3|/venv/bin/fastmcp|run|mcp_server.py",
            "python|-m|debugpy|--listen|5678|mcp_server.py",
            "/venv/bin/python|/venv/bin/uvicorn|mcp_server:app",
        ] {
            assert!(runs(line), "{line}");
        }
    }

    #[test]
    fn names_come_from_the_configuration() {
        let daemons = ["mcp_server.py", "src/tools/__main__.py", "servers/*.py", "servers/router.py"];
        let names = server_names(&["gitea-mcp".to_owned(), "mcp_server.py".to_owned()], &daemons);
        assert_eq!(names, ["gitea-mcp", "mcp_server.py", "router.py", "tools"]);
        assert!(server_names(&[], &["**/*.py"]).is_empty());
    }

    #[test]
    fn mentions_are_not() {
        for line in [
            "",
            "vim|mcp_server.py",
            "grep|-rn|mcp_server.py|.",
            "tail|-f|mcp_server.py",
            "bash|-c|python3 mcp_server.py",
            "sh|-lc|exec gitea-mcp",
            "python3|-c|import mcp_server.py",
            "python3|-m|pytest|tests/mcp_server.py",
            "python3|/usr/bin/black|mcp_server.py",
            "python3|my_mcp_server.py",
            "restartlint|guard|command|--|pkill -f mcp_server.py",
            "uv|run|mcp_server.py",
        ] {
            assert!(!runs(line), "{line}");
        }
    }
}
