//! Whether a text is nested so little that its tree may be walked by recursion. Looks at bytes alone, before
//! anything is parsed: what it takes for nested need not be.

use super::super::cut::string_end;
use super::super::leaves::IN_NAMES;

/// Open brackets, and operators in one statement, at most: one of either is at most a few levels of the tree.
const MOST: usize = 2000;

/// Whether no statement has more open brackets, or more of what joins expressions, than is allowed.
pub(super) fn is_shallow(code: &str) -> bool {
    let bytes = code.as_bytes();
    let (mut at, mut open, mut joints) = (0, 0usize, 0usize);
    while let Some(&byte) = bytes.get(at) {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before)).copied().unwrap_or(b'\n');
        match byte {
            b'#' => at = memchr::memchr2(b'\n', b'\r', &bytes[at..]).map_or(bytes.len(), |end| at + end) - 1,
            b'"' | b'\'' => {
                let Some(end) = string_end(bytes, at) else { return false };
                // What stands in the braces of a formatted string is code.
                let is_raw = matches!(before, b'r' | b'R');
                let prefix = if is_raw { at.checked_sub(2).map_or(b'\n', |at| bytes[at]) } else { before };
                if matches!(prefix, b'f' | b'F' | b't' | b'T') {
                    joints += 1 + bytes[at..end].iter().filter(|b| joins_in_string(**b)).count();
                }
                at = end - 1;
            }
            b'(' | b'[' | b'{' => {
                open += 1;
                // A call, or an element.
                joints += usize::from(is_word(before) || matches!(before, b')' | b']' | b'}' | b'"' | b'\''));
            }
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            b'\n' | b'\r' if open == 0 && before != b'\\' => joints = 0,
            b' ' | b'\n' | b'\r' | b'\t' | b'\x0c' | b'\\' => joints += usize::from(is_word(before)),
            b'+' | b'-' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^' | b'~' | b'.' | b':' | b'!'
            | b'<' | b'>' | b'=' => joints += 1,
            _ => {}
        }
        if open > MOST || joints > MOST {
            return false;
        }
        at += 1;
    }
    true
}

/// Bytes of a formatted string that may join expressions; text has some of them as well.
fn joins_in_string(byte: u8) -> bool {
    !is_word(byte) && !matches!(byte, b',' | b'"' | b'\'')
}

fn is_word(byte: u8) -> bool {
    IN_NAMES[usize::from(byte)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nests_is_told_from_what_only_goes_on() {
        let many = 50_000;
        for deep in [
            "(".repeat(many),
            "[".repeat(many) + &"]".repeat(many),
            format!("x = {}1", "not ".repeat(many)),
            format!("x = {}1", "-".repeat(many)),
            format!("x = {}1", "lambda:".repeat(many)),
            format!("x = f{}", "()".repeat(many)),
            format!("x = a{}", ".a".repeat(many)),
            format!("x = {}1", "a if b else ".repeat(many)),
            format!("x = {}1", "await\n".repeat(many).replace("x = ", "x = (")),
            format!("x = {}", "f\"{".repeat(many)),
            format!("x = f\"{{a{}}}\"", ".a".repeat(many)),
            format!("x = f'{{{}a}}'", "not ".repeat(many)),
            format!("x = fr'{{{}a}}'", "not ".repeat(many)),
            format!("x = {}a", "not\x0c".repeat(many)),
            format!("{}a", "a=".repeat(many)),
            format!("# c\rx = a{}\r", ".a".repeat(many)),
            format!("x = \\\n{}1", "not \\\n".repeat(many)),
        ] {
            let deep = if deep.contains("await") { deep.replace("x = ", "x = (") } else { deep };
            assert!(!is_shallow(&deep), "{}", &deep[..40]);
        }
        for flat in [
            "x = (1, 2)\n".repeat(many),
            format!("x = [{}]", "(1, 'a'), ".repeat(many)),
            "f(a.b + c) # ((((\n".repeat(many),
            format!("x = '''{}'''", "((((.-".repeat(many)),
            format!("r'''{}'''", "((((.-".repeat(many)),
        ] {
            assert!(is_shallow(&flat), "{}", &flat[..20]);
        }
    }
}
