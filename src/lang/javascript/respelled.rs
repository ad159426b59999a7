//! What TypeScript allows and the grammar does not take, spelled so that it does. Only types
//! change, offsets stay, and names are read from the text as it was written.
//!
//! Knows the gaps of tree-sitter-typescript; nothing of what a program does.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// `interface Box<in out T>`: whether a type parameter goes in or out says nothing of what runs.
static VARIANCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"([<,]\s*(?:/\*[^*]*(?:\*+[^*/][^*]*)*\*+/\s*|//[^\n]*\n\s*)*)((?:in\s+)?out\s|in\s)(\s*[A-Za-z_$][\w$]*\s*(?:[,>=]|extends\b))").ok()
});
/// `import("m").Name`, which is a type: a promise has no such members.
static IMPORTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?:typeof\s+)?import\(\s*(?:"[^"\\\n]*"|'[^'\\\n]*')\s*\)\s*\.\s*([A-Za-z_$][\w$]*)"#).ok()
});
/// A line that can only begin a signature: no argument of a call has a type.
static SIGNATURE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^[ \t]*(?:<[A-Za-z_$][^()]*>\s*)?\(\s*(?:\.\.\.)?[A-Za-z_$][\w$]*\??\s*:").ok()
});
/// How much of a text is looked at for the beginning of a signature, in bytes.
const HEAD: usize = 400;
/// Members of a promise, after which an import is a call.
const OF_PROMISES: [&str; 3] = ["then", "catch", "finally"];
/// How far before a template its type arguments may begin, in bytes.
const LONGEST: usize = 2_000;

/// The text as the grammar of TypeScript is given it; as long as the text itself.
pub(super) fn for_grammar(text: &str) -> Cow<'_, str> {
    let mut out = without_variance(text);
    if let Cow::Owned(new) = without_imported(&out) {
        out = Cow::Owned(new);
    }
    if let Cow::Owned(new) = without_template_types(&out) {
        out = Cow::Owned(new);
    }
    if let Cow::Owned(new) = with_signatures_parted(&out) {
        out = Cow::Owned(new);
    }
    out
}

/// Parts the signatures of a type that stand on lines of their own: the grammar takes the next one's
/// brackets for a part of the last one's type. The line end becomes the separator.
fn with_signatures_parted(text: &str) -> Cow<'_, str> {
    let Some(signature) = SIGNATURE.as_ref() else { return text.into() };
    let mut ends = Vec::new();
    // The end of the last line with code, if a type may end there.
    let mut last = None;
    let mut comment = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let body = line.trim();
        if comment || body.is_empty() || body.starts_with("//") || body.starts_with("/*") {
            comment = (comment || body.starts_with("/*")) && !body.contains("*/");
            continue;
        }
        let mut head = text.len().min(start + HEAD);
        while !text.is_char_boundary(head) {
            head -= 1;
        }
        if let Some(end) = last
            && body.starts_with(['<', '('])
            && text.get(start..head).is_some_and(|text| signature.is_match(text))
        {
            ends.push(end);
        }
        let closes =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '>' | ']' | '}' | ')' | '"' | '\'');
        let may_end = body.ends_with(closes) && !body.ends_with("=>") && !body.contains("//");
        last = (may_end && line.ends_with('\n')).then(|| at - 1);
    }
    if ends.is_empty() {
        return text.into();
    }
    let mut bytes = text.as_bytes().to_vec();
    for end in ends {
        if let Some(byte) = bytes.get_mut(end) {
            *byte = b';';
        }
    }
    String::from_utf8(bytes).map_or(text.into(), Cow::Owned)
}

/// A string may hold a NUL byte, which is the end of the text to the grammar.
pub(super) fn without_nul(text: &str) -> Cow<'_, str> {
    if memchr::memchr(0, text.as_bytes()).is_some() {
        text.replace('\0', "\u{1}").into()
    } else {
        text.into()
    }
}

/// Blanks the words `in` and `out` before a type parameter.
fn without_variance(text: &str) -> Cow<'_, str> {
    let Some(variance) = VARIANCE.as_ref() else { return text.into() };
    let mut text = Cow::Borrowed(text);
    // A parameter's end is the next one's beginning: each pass takes every other one.
    for _ in 0..2 {
        let new = variance.replace_all(&text, |found: &Captures<'_>| {
            let part = |i: usize| found.get(i).map_or("", |m| m.as_str());
            format!("{}{}{}", part(1), blank(part(2)), part(3))
        });
        match new {
            Cow::Borrowed(_) => break,
            Cow::Owned(new) => text = Cow::Owned(new),
        }
    }
    text
}

/// Makes `import("m").Name` one long name.
fn without_imported(text: &str) -> Cow<'_, str> {
    let Some(imported) = IMPORTED.as_ref() else { return text.into() };
    imported.replace_all(text, |found: &Captures<'_>| {
        let whole = found.get(0).map_or("", |m| m.as_str());
        let name = found.get(1).map_or("", |m| m.as_str());
        if OF_PROMISES.contains(&name) || !whole.is_ascii() {
            return whole.to_owned();
        }
        format!("{}{name}", "_".repeat(whole.len() - name.len()))
    })
}

/// Blanks type arguments that stand between a tag and its template: `` sql<{ n: number }>`…` ``.
fn without_template_types(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out: Option<Vec<u8>> = None;
    for close in memchr::memmem::find_iter(bytes, b">`") {
        let Some(open) = opening(bytes, close) else { continue };
        let out = out.get_or_insert_with(|| bytes.to_vec());
        for byte in out.get_mut(open..=close).unwrap_or(&mut []) {
            if !matches!(*byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    match out {
        Some(bytes) => String::from_utf8(bytes).map_or(text.into(), Cow::Owned),
        None => text.into(),
    }
}

/// The bracket that the one at `close` closes, if a name stands right before it.
fn opening(bytes: &[u8], close: usize) -> Option<usize> {
    let mut depth = 0usize;
    for at in (close.saturating_sub(LONGEST)..=close).rev() {
        let before = at.checked_sub(1).and_then(|i| bytes.get(i)).copied().unwrap_or(b' ');
        match bytes.get(at)? {
            // An arrow is no bracket.
            b'>' if before == b'=' => {}
            b'>' => depth += 1,
            b'<' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    let name = before.is_ascii_alphanumeric() || matches!(before, b'_' | b'$' | b')' | b']');
                    return name.then_some(at);
                }
            }
            b'`' => return None,
            _ => {}
        }
    }
    None
}

fn blank(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_types_change_and_offsets_stay() {
        for (text, like) in [
            (
                "interface A<in T, out U, in out V extends B = C> {}",
                "interface A<   T,     U,        V extends B = C> {}",
            ),
            ("class A</** @ts-ignore */ out T> {}", "class A</** @ts-ignore */     T> {}"),
            (
                "type A = {\n  (a: B): C<D>\n  /** x */\n  <E>(\n a?: B): F\n}",
                "type A = {\n  (a: B): C<D>;  /** x */\n  <E>(\n a?: B): F\n}",
            ),
            (
                "process.kill\n(pid)\na = b\n<C>(d)\nf(\n(a: B) => c)",
                "process.kill\n(pid)\na = b\n<C>(d)\nf(\n(a: B) => c)",
            ),
            ("type F<out extends X> = 1", "type F<out extends X> = 1"),
            ("let a: import(\"./b\").C<D> | undefined", "let a: ______________C<D> | undefined"),
            ("import(\"./b\").then(f)", "import(\"./b\").then(f)"),
            ("await sql<{ n: number }>`x`", "await sql               `x`"),
            ("a = b > `x`", "a = b > `x`"),
            ("a < f(() =>`x`)", "a < f(() =>`x`)"),
        ] {
            assert_eq!(for_grammar(text), like);
            assert_eq!(for_grammar(text).len(), text.len());
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_keeps_its_length(text in "(<|>|`|in |out |é|A|,|=>|\n|/\\*|\\*/|//|\\(a: B\\)|import\\(\"x\"\\)\\.|then|:){0,24}") {
            proptest::prop_assert_eq!(for_grammar(&text).len(), text.len());
        }
    }
}
