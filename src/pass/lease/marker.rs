//! The marker: its grammar inside a comment's body.
//!
//! Knows lines and `key: value` members; nothing of claims, chains or time. A marker in
//! a code fence, in indented code or in a quoted reply is text about a marker, not one.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::active::LeaseKind;
use crate::base::json::{self, JsonFault};

/// One comment, in the order of the list. Members beside these are the forge's own.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct Comment {
    /// The text.
    pub body: String,
}

impl Comment {
    /// Reads a JSON array of comments.
    ///
    /// ```
    /// use restartlint::pass::lease::Comment;
    /// assert_eq!(Comment::list_from_json(r#"[{"body":"hello","author":"x"}]"#).unwrap().len(), 1);
    /// assert!(Comment::list_from_json(r#"{"body":"hello"}"#).is_err());
    /// ```
    pub fn list_from_json(text: &str) -> Result<Vec<Comment>, JsonFault> {
        json::read_objects(text)
    }
}

/// A marker as it stands, blank values left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// The comment's index in the list.
    pub index: usize,
    /// What it claims or ends.
    pub kind: LeaseKind,
    /// Its version; only 1 is known.
    pub version: String,
    members: BTreeMap<String, Member>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Member {
    Value(String),
    Conflicting(Vec<String>),
}

impl Marker {
    /// The member's value; `None` if it is missing, blank, or there twice with different values.
    pub fn get(&self, key: &str) -> Option<&str> {
        match self.members.get(key) {
            Some(Member::Value(value)) => Some(value),
            _ => None,
        }
    }

    /// The pull request's number; `None` if there is none that can be read.
    pub fn pr(&self) -> Option<u64> {
        pr_number(self.get("pr")?)
    }

    /// Whether the marker names that pull request, if only as one of several.
    pub fn may_name(&self, pr: u64) -> bool {
        match self.members.get("pr") {
            Some(Member::Value(value)) => pr_number(value) == Some(pr),
            Some(Member::Conflicting(values)) => values.iter().any(|value| pr_number(value) == Some(pr)),
            None => false,
        }
    }

    /// The keys that are there twice with different values.
    pub fn conflicting(&self) -> impl Iterator<Item = &str> {
        self.members.iter().filter(|(_, m)| matches!(m, Member::Conflicting(_))).map(|(key, _)| key.as_str())
    }

    fn add(&mut self, key: &str, value: &str) {
        if value.is_empty() {
            return;
        }
        match self.members.get_mut(key) {
            None => {
                self.members.insert(key.to_owned(), Member::Value(value.to_owned()));
            }
            Some(Member::Conflicting(values)) => values.push(value.to_owned()),
            Some(member) => {
                if let Member::Value(first) = member
                    && first != value
                {
                    *member = Member::Conflicting(vec![first.clone(), value.to_owned()]);
                }
            }
        }
    }
}

/// The markers in the comments, in order.
pub fn markers(comments: &[Comment]) -> Vec<Marker> {
    let mut found = Vec::new();
    for (index, comment) in comments.iter().enumerate() {
        markers_in(index, &comment.body, &mut found);
    }
    found
}

fn markers_in(index: usize, body: &str, found: &mut Vec<Marker>) {
    let mut fence: Option<Fence> = None;
    let mut open: Option<Marker> = None;
    let lines = body.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'));
    for line in lines {
        let text = line.trim();
        if let Some(current) = fence {
            if current.is_closed_by(line) {
                fence = None;
            }
            continue;
        }
        // The line that opens a fence, and a quoted one, are neither a marker's line nor a member: they end one.
        fence = Fence::opened_by(line);
        if let Some((kind, version)) = marker_line(line) {
            found.extend(open.take());
            open = Some(Marker { index, kind, version: version.to_owned(), members: BTreeMap::new() });
            continue;
        }
        let Some(marker) = &mut open else { continue };
        match text.split_once(':') {
            Some((key, value)) if is_key(key) => marker.add(&key.to_ascii_lowercase(), value.trim()),
            // A blank line between the marker's line and its first member is no end.
            _ if text.is_empty() && marker.members.is_empty() => {}
            _ => found.extend(open.take()),
        }
    }
    found.extend(open);
}

/// The kind and version that a marker's line names.
fn marker_line(line: &str) -> Option<(LeaseKind, &str)> {
    let unindented = unindented(line)?;
    let inner = unindented.trim_end().strip_prefix("<!--")?.strip_suffix("-->")?.trim();
    let (name, version) = inner.split_once(":v")?;
    let kind = LeaseKind::ALL.into_iter().find(|kind| kind.marker() == name)?;
    Some((kind, version))
}

/// The line without its indentation; `None` if that makes it indented code.
fn unindented(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    (line.len() - text.len() <= 3 && !text.starts_with('\t')).then_some(text)
}

/// A member's key is one word; a sentence with a colon is none.
fn is_key(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// `#818` or `818`.
fn pr_number(text: &str) -> Option<u64> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// A code fence that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    fn opened_by(line: &str) -> Option<Fence> {
        let text = unindented(line)?;
        let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let rest = text.trim_start_matches(mark);
        let length = text.len() - rest.len();
        (length >= 3 && !(mark == '`' && rest.contains('`'))).then_some(Fence { mark, length })
    }

    fn is_closed_by(self, line: &str) -> bool {
        unindented(line).is_some_and(|text| {
            let rest = text.trim_start_matches(self.mark);
            text.len() - rest.len() >= self.length && rest.trim().is_empty()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "<!-- mcp-conflict-fix-lease:v1 -->";

    fn read(body: &str) -> Vec<Marker> {
        markers(&[Comment { body: body.to_owned() }])
    }

    #[test]
    fn a_marker_ends_where_its_members_do() {
        let found = read(&format!(
            "Hello.\n\n{LINE}\n\npr: #818\nPhase: claimed\nexpires_at: 2026-07-23T07:12:13Z\n\nphase: released"
        ));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].pr(), found[0].get("phase")), (Some(818), Some("claimed")));
        assert_eq!(found[0].get("expires_at"), Some("2026-07-23T07:12:13Z"));
        let ended = read(&format!("{LINE}\npr: 1\nThis note: it ends here\nphase: done"));
        assert_eq!(ended[0].get("phase"), None);
    }

    #[test]
    fn text_about_a_marker_is_none() {
        for body in [
            format!("> {LINE}\n> pr: 1"),
            format!("```\n{LINE}\npr: 1\n```"),
            format!("~~~text\n```\n{LINE}\npr: 1\n~~~"),
            format!("````\n```\n{LINE}\npr: 1\n````"),
            format!("```\n``    \n{LINE}\npr: 1\n```"),
            format!("    {LINE}\n    pr: 1"),
            format!("\t{LINE}\npr: 1"),
            format!("`{LINE}`\npr: 1"),
            format!("```\n{LINE}\npr: 1"),
            "<!-- mcp-conflict-fix-lease -->\npr: 1".to_owned(),
            "<!-- mcp-other-lease:v1 -->\npr: 1".to_owned(),
        ] {
            assert_eq!(read(&body), [], "{body}");
        }
        assert_eq!(read(&format!("```\nx\n```\n{LINE}\npr: 1")).len(), 1);
        assert_eq!(read(&format!("```yaml\nx\n```\n{LINE}\npr: 1")).len(), 1);
        assert_eq!(read(&format!("``` a`b\n{LINE}\npr: 1")).len(), 1);
        assert_eq!(read(&format!("~~ struck out ~~\n{LINE}\npr: 1")).len(), 1);
        assert_eq!(read("   <!--mcp-reviewer-lease:v1-->  \r\npr: 1\r\n")[0].kind, LeaseKind::Reviewer);
    }

    #[test]
    fn a_fence_or_a_quote_ends_the_members() {
        for interruption in ["```\npr: 2\n```", "> pr: 2"] {
            let found = read(&format!("{LINE}\npr: 1\n{interruption}\nphase: done"));
            assert_eq!((found[0].pr(), found[0].get("phase")), (Some(1), None));
        }
    }

    #[test]
    fn the_same_value_twice_is_one_and_two_values_are_none() {
        let found =
            read(&format!("{LINE}\npr: 1\npr: 1\nphase: claimed\nphase: done\nphase: blocked\nbranch:  \n"));
        assert_eq!(found[0].pr(), Some(1));
        assert_eq!(found[0].get("phase"), None);
        assert_eq!(found[0].get("branch"), None);
        assert_eq!(found[0].conflicting().collect::<Vec<_>>(), ["phase"]);
        let two = read(&format!("{LINE}\npr: 1\npr: 2"));
        assert_eq!(two[0].pr(), None);
        assert!(two[0].may_name(1) && two[0].may_name(2) && !two[0].may_name(3));
    }

    #[test]
    fn a_number_is_digits() {
        for (text, number) in
            [("#818", Some(818)), ("818", Some(818)), ("", None), ("#", None), ("+8", None), ("8a", None)]
        {
            assert_eq!(pr_number(text), number, "{text:?}");
        }
        assert_eq!(pr_number("99999999999999999999999"), None);
    }

    #[test]
    fn two_markers_of_one_body_both_count() {
        let found = read(&format!("{LINE}\npr: 1\n{LINE}\npr: 2"));
        assert_eq!(found.iter().map(Marker::pr).collect::<Vec<_>>(), [Some(1), Some(2)]);
    }
}
