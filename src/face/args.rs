//! Which command a command line means: `check` is the default, so `restartlint src/`
//! and `restartlint --format json` are checks. Pure.

use std::ffi::OsString;

/// Global options that take a value of their own.
const WITH_VALUE: [&str; 2] = ["--config", "--color"];
/// Global options without a value.
const FLAGS: [&str; 4] = ["-q", "--quiet", "-v", "--verbose"];
/// Options that answer by themselves.
const ANSWERS: [&str; 4] = ["-h", "--help", "-V", "--version"];

/// The arguments with `check` put in where no command is named. `commands` are all known names.
pub fn with_default_command(args: Vec<OsString>, commands: &[String]) -> Vec<OsString> {
    let mut at = 1;
    while let Some(arg) = args.get(at) {
        let text = arg.to_string_lossy();
        if ANSWERS.contains(&text.as_ref()) {
            return args;
        }
        if WITH_VALUE.contains(&text.as_ref()) {
            at += 2;
        } else if FLAGS.contains(&text.as_ref())
            || WITH_VALUE.iter().any(|o| text.strip_prefix(o).is_some_and(|rest| rest.starts_with('=')))
            || is_short_flags(&text)
        {
            at += 1;
        } else if commands.iter().any(|c| *c == text) {
            return args;
        } else {
            break;
        }
    }
    let at = at.min(args.len());
    let mut with = args;
    with.insert(at, OsString::from("check"));
    with
}

/// Several short global flags in one, such as `-vv`.
fn is_short_flags(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c == 'q' || c == 'v'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        let args = text.split(' ').map(OsString::from).collect();
        let commands = ["check", "sites", "inventory", "help"].map(str::to_owned);
        let with = with_default_command(args, &commands);
        with.iter().map(|a| a.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn check_is_put_in_only_where_no_command_stands() {
        assert_eq!(line("rl src/"), "rl check src/");
        assert_eq!(line("rl"), "rl check");
        assert_eq!(line("rl --format json ."), "rl check --format json .");
        assert_eq!(line("rl --config x.toml -q src"), "rl --config x.toml -q check src");
        assert_eq!(line("rl --color=never"), "rl --color=never check");
        assert_eq!(line("rl -v sites ."), "rl -v sites .");
        assert_eq!(line("rl --help"), "rl --help");
        assert_eq!(line("rl -"), "rl check -");
    }
}
