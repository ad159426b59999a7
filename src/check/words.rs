//! How messages put a site into words. Pure.

use crate::base::site::{Site, TOP_LEVEL};

/// A site: its primitive or its whole command, and the symbol that it stands in.
pub fn subject(site: &Site) -> String {
    // Of a command whose words are all free, its primitive says more.
    let known = site.command.iter().any(|word| word.contains(char::is_alphanumeric));
    let what = if known { command(&site.command) } else { site.primitive.clone() };
    if site.symbol == TOP_LEVEL { format!("`{what}`") } else { format!("`{what}` in `{}`", site.symbol) }
}

/// The words of a command on one line, shortened where it is long.
fn command(words: &[String]) -> String {
    const LIMIT: usize = 60;
    let text = words.join(" ").replace(['\n', '\r', '\t', '`'], " ");
    if text.chars().count() <= LIMIT { text } else { text.chars().take(LIMIT).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::effect::Effect;
    use crate::base::span::Span;

    #[test]
    fn a_command_is_named_by_what_is_known_of_it() {
        let mut site = Site::new(Span::default(), "subprocess.Popen", Effect::Respawn);
        assert_eq!(subject(&site), "`subprocess.Popen`");
        site.command = vec!["…".into(), "…".into()];
        assert_eq!(subject(&site), "`subprocess.Popen`");
        site.command = vec!["…".into(), "-m".into(), "server".into()];
        site.symbol = "again".into();
        assert_eq!(subject(&site), "`… -m server` in `again`");
    }
}
