//! How messages put a command into words. Pure.

/// The words of a command on one line, shortened where it is long.
pub fn command(words: &[String]) -> String {
    const LIMIT: usize = 60;
    let text = words.join(" ").replace(['\n', '\r', '\t', '`'], " ");
    if text.chars().count() <= LIMIT { text } else { text.chars().take(LIMIT).chain(['…']).collect() }
}
