//! How messages put a site into words. Pure.

use crate::base::site::Site;

/// A site: its primitive or its whole command, and the symbol that it stands in.
pub fn subject(site: &Site) -> String {
    let what = if site.command.is_empty() { site.primitive.clone() } else { command(&site.command) };
    if site.symbol == "<module>" { format!("`{what}`") } else { format!("`{what}` in `{}`", site.symbol) }
}

/// The words of a command on one line, shortened where it is long.
fn command(words: &[String]) -> String {
    const LIMIT: usize = 60;
    let text = words.join(" ").replace(['\n', '\r', '\t', '`'], " ");
    if text.chars().count() <= LIMIT { text } else { text.chars().take(LIMIT).chain(['…']).collect() }
}
